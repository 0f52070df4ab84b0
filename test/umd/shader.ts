import {
  type CompileRecord,
  type ComputeHardware,
  defaultRequest,
  layoutSets,
  type Reflection,
  type ResourceReflection,
  type ShaderCompiler,
  type Statistics,
  type UserDataEntry,
  userSgprCount,
  writeCodeObject,
} from "../../src/codeobj/index.ts";

const stats: Statistics = {
  instructions: 1,
  codeSizeBytes: 4,
  sgprs: 8,
  vgprs: 3,
  sgprsAllocated: 128,
  vgprsAllocated: 16,
  spilledSgprs: 0,
  spilledVgprs: 0,
  ldsBytes: 0,
  scratchBytes: 0,
  occupancyWaves: 16,
  branches: 0,
  waits: 0,
  salu: 1,
  valu: 0,
  smem: 0,
  vmem: 0,
  lds: 0,
  exports: 0,
  estimatedCycles: 1,
  contractions: 0,
};

/** What a hand-made shader says of itself. */
export interface ShaderOptions {
  readonly code: ArrayLike<number>;
  readonly workgroupSize: readonly [number, number, number];
  /** Storage buffers in set 0, binding numbers. */
  readonly buffers: readonly number[];
  readonly userData: readonly UserDataEntry[];
  readonly pushConstantBytes?: number;
  readonly hardware?: Partial<ComputeHardware>;
  /** Source line of each dword offset. */
  readonly lines?: readonly { readonly offset: number; readonly line: number }[];
}

/** A record around code that no compiler of ours made. */
export function record(options: ShaderOptions): CompileRecord {
  const sets = layoutSets([
    { set: 0, bindings: options.buffers.map((binding) => ({ binding, type: "storageBuffer", count: 1 })) },
  ]);
  const resources: ResourceReflection[] = (sets[0]?.bindings ?? []).map((row) => ({
    ...row,
    set: 0,
    name: `b${row.binding}`,
    readonly: false,
    writeonly: false,
  }));
  const reflection: Reflection = {
    workgroupSize: options.workgroupSize,
    sets,
    resources,
    pushConstantBytes: options.pushConstantBytes ?? 0,
    userData: options.userData,
    specializationConstants: [],
  };
  const sourceMap = (options.lines ?? []).map(({ offset, line }) => ({ offset, file: "hand.comp", line, column: 1 }));
  const hardware: ComputeHardware = {
    vgprs: 8,
    sgprs: 32,
    userSgprs: userSgprCount(options.userData),
    usesWorkgroupId: [true, false, false],
    threadIdComponents: 0,
    ldsBytes: 0,
    scratchBytes: 0,
    ...options.hardware,
  };
  const code = Uint32Array.from(options.code);
  const elf = writeCodeObject([{ name: "main", stage: "compute", code, hardware, reflection, stats, sourceMap }]);
  return { elf, stage: "compute", entryPoint: "main", diagnostics: [], stats, reflection, sourceMap };
}

/** A compiler that answers one record. */
export function compilerOf(answer: CompileRecord): ShaderCompiler {
  return { compile: async () => ({ ok: true, record: answer }) };
}

export const request = { ...defaultRequest, language: "glsl", source: "", stage: "compute", filename: "hand" } as const;

/** s[0:1] ring, s2 set 0, then inlined push constants. */
export function userData(pushOffsets: readonly number[]): UserDataEntry[] {
  const entries: UserDataEntry[] = [
    { kind: "ringPointer", sgpr: 0, count: 2 },
    { kind: "descriptorSet", sgpr: 2, count: 1, set: 0 },
  ];
  if (pushOffsets.length > 0) {
    entries.push({ kind: "inlinePushConstants", sgpr: 3, count: pushOffsets.length, offsets: pushOffsets });
  }
  return entries;
}
