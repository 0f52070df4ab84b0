import type {
  CodeObjectEntry,
  CompileRecord,
  Reflection,
  SourceMapEntry,
  Statistics,
} from "../../src/codeobj/index.ts";

export const reflection: Reflection = {
  workgroupSize: [64, 2, 1],
  sets: [
    {
      set: 0,
      sizeBytes: 32,
      bindings: [
        { binding: 0, type: "storageBuffer", count: 1, offsetBytes: 0, strideBytes: 16 },
        { binding: 3, type: "uniformBuffer", count: 1, offsetBytes: 16, strideBytes: 16 },
      ],
    },
  ],
  resources: [
    {
      set: 0,
      binding: 0,
      type: "storageBuffer",
      count: 1,
      offsetBytes: 0,
      strideBytes: 16,
      name: "données",
      runtimeArrayStrideBytes: 4,
      readonly: false,
      writeonly: true,
    },
    {
      set: 0,
      binding: 3,
      type: "uniformBuffer",
      count: 1,
      offsetBytes: 16,
      strideBytes: 16,
      name: "params",
      blockSizeBytes: 48,
      readonly: true,
      writeonly: false,
    },
  ],
  pushConstantBytes: 8,
  userData: [
    { kind: "ringPointer", sgpr: 0, count: 2 },
    { kind: "descriptorSet", sgpr: 2, count: 1, set: 0 },
    { kind: "inlinePushConstants", sgpr: 3, count: 2, offsets: [0, 4] },
  ],
  specializationConstants: [{ id: 7, name: "size" }],
};

export const stats: Statistics = {
  instructions: 3,
  codeSizeBytes: 12,
  sgprs: 8,
  vgprs: 5,
  sgprsAllocated: 128,
  vgprsAllocated: 16,
  spilledSgprs: 0,
  spilledVgprs: 0,
  ldsBytes: 1500,
  scratchBytes: 0,
  occupancyWaves: 16,
  branches: 0,
  waits: 0,
  salu: 2,
  valu: 1,
  smem: 0,
  vmem: 0,
  lds: 0,
  exports: 0,
  estimatedCycles: 3.5,
  contractions: 1,
};

/** s_mov_b32 s0, 1; v_mov_b32 v0, s0; s_endpgm. Encodings: llvm-mc. */
export const code = Uint32Array.of(0xbe800381, 0x7e000200, 0xbf810000);

export const sourceMap: readonly SourceMapEntry[] = [
  { offset: 0, file: "a.comp", line: 3, column: 5 },
  { offset: 4, file: "inc/b.glsl", line: 9, column: 1 },
  { offset: 8, file: "a.comp", line: 4, column: 1 },
];

export const entry: CodeObjectEntry = {
  name: "main",
  stage: "compute",
  code,
  hardware: {
    vgprs: 5,
    sgprs: 8,
    userSgprs: 5,
    usesWorkgroupId: [true, false, true],
    threadIdComponents: 1,
    ldsBytes: 1500,
    scratchBytes: 0,
  },
  reflection,
  stats,
  sourceMap,
};

export const record: CompileRecord = {
  elf: Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 0, 255),
  stage: "compute",
  entryPoint: "main",
  diagnostics: [
    {
      severity: "warning",
      code: "GLSL_UNUSED",
      message: "‘x’ is never read",
      file: "a.comp",
      line: 1,
      column: 2,
      endLine: 1,
      endColumn: 3,
      notes: [{ message: "declared here", file: "a.comp", line: 1, column: 1, endLine: 1, endColumn: 1 }],
    },
  ],
  stats,
  reflection,
  sourceMap,
};
