import type { Diagnostic } from "../base/index.ts";
import { type Annotations, type EntryPoint, entryInstruction, entryPoints } from "./annotations.ts";
import { ConstantValues, type Specialization } from "./constants.ts";
import { BuiltIn, Decoration, Dim, ExecutionMode, Op, StorageClass } from "./enums.ts";
import { enumerantName } from "./grammar.ts";
import type { Module } from "./module.ts";
import type { ModuleIndex } from "./module-index.ts";
import { Reports } from "./reports.ts";
import { TypeLayout } from "./type-layout.ts";
import { type VertexInput, vertexInputs } from "./vertex-inputs.ts";

export type ShaderStage = "compute" | "vertex" | "fragment";

export type ResourceType =
  | "uniformBuffer"
  | "storageBuffer"
  | "sampledImage"
  | "storageImage"
  | "sampler"
  | "combinedImageSampler"
  | "uniformTexelBuffer"
  | "storageTexelBuffer"
  | "inputAttachment";

/** A resource variable that the entry point's code refers to. */
export interface ModuleResource {
  readonly set: number;
  readonly binding: number;
  readonly type: ResourceType;
  /** Array length, all dimensions together; 1 for a plain binding, 0 for a runtime-sized array. */
  readonly count: number;
  /** The variable's name, or its block's where the variable has none. */
  readonly name: string;
  readonly blockName: string;
  /** Bytes from the block's start to the end of its last member of fixed size; buffers only. */
  readonly blockSizeBytes: number | undefined;
  readonly runtimeArrayStrideBytes: number | undefined;
  readonly readonly: boolean;
  readonly writeonly: boolean;
  readonly variable: number;
}

export interface ModuleSpecConstant {
  readonly id: number;
  readonly name: string;
  readonly type: "bool" | "int" | "uint" | "float";
  readonly widthBits: number;
}

/** What a module says about one entry point. Array counts and the workgroup size have the specialisation applied. */
export interface ModuleReflection {
  readonly stage: ShaderStage;
  readonly entryPoint: string;
  readonly function: number;
  /** [1, 1, 1] for stages other than compute. */
  readonly workgroupSize: readonly [number, number, number];
  /** Ascending (set, binding). */
  readonly resources: readonly ModuleResource[];
  /** Vertex stage: locations that the code refers to, ascending. */
  readonly vertexInputs: readonly VertexInput[];
  /** Fragment stage: the execution mode EarlyFragmentTests. */
  readonly earlyFragmentTests: boolean;
  /** Of a depth that is written: above or below that of the primitive. */
  readonly depthLayout: "any" | "less" | "greater";
  /** The sample mask input is what the early tests leave. */
  readonly postDepthCoverage: boolean;
  /** Bytes up to the end of the last push constant; 0 without a block. */
  readonly pushConstantBytes: number;
  readonly specializationConstants: readonly ModuleSpecConstant[];
  readonly entryPoints: readonly { readonly name: string; readonly stage: ShaderStage | undefined }[];
}

export type ReflectResult =
  | { readonly ok: true; readonly reflection: ModuleReflection }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Reflects the entry point named `entryPoint` (of `stage`, where names repeat) of a module that `validateModule` took.
 * Errors: SPIRV_NO_ENTRY_POINT; SPIRV_LAYOUT where its workgroup size is no positive constant.
 */
export function reflectModule(
  module: Module,
  entryPoint: string,
  stage?: ShaderStage,
  specialization: readonly Specialization[] = [],
): ReflectResult {
  const reports = new Reports(module);
  const { index, annotations } = module;
  const all = entryPoints(index);
  const found = findEntryPoint(all, entryPoint, stage, reports);
  if (found === undefined) return { ok: false, diagnostics: reports.diagnostics };
  const constants = new ConstantValues(index, annotations, specialization);
  const layout = new TypeLayout(index, annotations, constants);

  const workgroupSize = found.stage === "compute" ? localSize(index, found, annotations, constants) : [1, 1, 1];
  const [x, y, z] = workgroupSize ?? [];
  if (!x || !y || !z) {
    const instruction = entryInstruction(module, found);
    reports.rule("SPIRV_LAYOUT", instruction, "the workgroup size is not three positive constants");
    return { ok: false, diagnostics: reports.diagnostics };
  }

  const resources: ModuleResource[] = [];
  let pushConstantBytes = 0;
  const variables = usedVariables(index, found.fn);
  for (const variable of variables) {
    const storage = index.operand(variable, 0);
    const pointer = index.type(variable);
    const pointee = index.opcode(pointer) === Op.OpTypePointer ? index.operand(pointer, 1) : 0;
    if (storage === StorageClass.PushConstant) {
      pushConstantBytes = Math.max(pushConstantBytes, layout.sizeBytes(pointee));
      continue;
    }
    const resource = describeResource(index, variable, storage, pointee, annotations, layout, constants);
    if (resource !== undefined) resources.push(resource);
  }
  if (resources.length > 1) {
    resources.sort((a, b) => a.set - b.set || a.binding - b.binding || a.variable - b.variable);
  }
  const fragment = found.stage === "fragment";

  return {
    ok: true,
    reflection: {
      stage: found.stage!,
      entryPoint: found.name,
      function: found.fn,
      workgroupSize: [x, y, z],
      resources,
      vertexInputs: found.stage === "vertex" ? vertexInputs(index, variables, annotations, constants) : [],
      depthLayout: !fragment
        ? "any"
        : hasMode(index, found, ExecutionMode.DepthLess)
          ? "less"
          : hasMode(index, found, ExecutionMode.DepthGreater)
            ? "greater"
            : "any",
      earlyFragmentTests: fragment && hasMode(index, found, ExecutionMode.EarlyFragmentTests),
      postDepthCoverage: fragment && hasMode(index, found, ExecutionMode.PostDepthCoverage),
      pushConstantBytes,
      specializationConstants: specConstants(index, annotations),
      entryPoints: all.map((e) => ({ name: e.name, stage: e.stage })),
    },
  };
}

/** The entry point of that name and stage; says so in `reports` where there is none. */
export function findEntryPoint(
  all: readonly EntryPoint[],
  name: string,
  stage: ShaderStage | undefined,
  reports: Reports,
): EntryPoint | undefined {
  const found = all.find((e) => e.name === name && e.stage !== undefined && (stage === undefined || e.stage === stage));
  if (found === undefined) {
    const list = all.map((e) => `${e.name} (${e.stage ?? enumerantName("ExecutionModel", e.model)})`);
    reports.noEntryPoint(stage ?? "supported", name, list.length === 0 ? "none" : list.slice(0, 16).join(", "));
  }
  return found;
}

/** Module-level variables that the code reached from `fn` names, in order of declaration. */
function usedVariables(index: ModuleIndex, fn: number): number[] {
  const named = index.namedFrom(fn);
  const variables: number[] = [];
  for (const at of index.variables) {
    const id = index.words[at + 2]!;
    if (named[id] === 1) variables.push(id);
  }
  return variables;
}

function hasMode({ words, modes }: ModuleIndex, entry: EntryPoint, mode: number): boolean {
  return modes.some(
    (at) => (words[at]! & 0xffff) === Op.OpExecutionMode && words[at + 1] === entry.fn && words[at + 2] === mode,
  );
}

function localSize(
  index: ModuleIndex,
  entry: EntryPoint,
  annotations: Annotations,
  constants: ConstantValues,
): (number | undefined)[] | undefined {
  const { words, modes } = index;
  // the WorkgroupSize built-in goes before the execution modes
  const builtIn = annotations.builtInId(BuiltIn.WorkgroupSize) ?? 0;
  const opcode = index.opcode(builtIn);
  if (opcode === Op.OpConstantComposite || opcode === Op.OpSpecConstantComposite) {
    return [0, 1, 2].map((i) => constants.value(index.operand(builtIn, i)));
  }
  for (const at of modes) {
    if (words[at + 1] !== entry.fn) continue;
    const mode = words[at + 2];
    if (mode !== ExecutionMode.LocalSize && mode !== ExecutionMode.LocalSizeId) continue;
    const sizes = [words[at + 3]!, words[at + 4]!, words[at + 5]!];
    return mode === ExecutionMode.LocalSize ? sizes : sizes.map((id) => constants.value(id));
  }
  return undefined;
}

/** `variable`, `pointee`: ids. */
function describeResource(
  index: ModuleIndex,
  variable: number,
  storage: number,
  pointee: number,
  annotations: Annotations,
  layout: TypeLayout,
  constants: ConstantValues,
): ModuleResource | undefined {
  let type = pointee;
  let count = 1;
  for (let depth = 0; depth < 256; depth++) {
    const opcode = index.opcode(type);
    if (opcode === Op.OpTypeArray) count *= constants.value(index.operand(type, 1)) ?? 0;
    else if (opcode === Op.OpTypeRuntimeArray) count = 0;
    else break;
    type = index.operand(type, 0);
  }
  const kind = resourceType(index, type, storage, annotations);
  if (kind === undefined) return undefined;
  const blockName = annotations.name(type);
  const buffer = index.opcode(type) === Op.OpTypeStruct;
  const memberCount = buffer ? index.count(type) : 0;
  const everywhere = (decoration: number): boolean => {
    if (annotations.has(variable, decoration)) return true;
    for (let m = 0; m < memberCount; m++) if (!annotations.memberHas(type, m, decoration)) return false;
    return memberCount > 0;
  };
  const stride = buffer ? layout.runtimeArrayStrideBytes(type) : undefined;
  return {
    set: annotations.value(variable, Decoration.DescriptorSet) ?? 0,
    binding: annotations.value(variable, Decoration.Binding) ?? 0,
    type: kind,
    count,
    name: annotations.name(variable) || blockName,
    blockName,
    readonly: kind === "uniformBuffer" || everywhere(Decoration.NonWritable),
    writeonly: everywhere(Decoration.NonReadable),
    variable,
    blockSizeBytes: buffer ? layout.sizeBytes(type) : undefined,
    runtimeArrayStrideBytes: stride,
  };
}

function resourceType(
  index: ModuleIndex,
  type: number,
  storage: number,
  annotations: Annotations,
): ResourceType | undefined {
  switch (index.opcode(type)) {
    case Op.OpTypeStruct:
      if (storage === StorageClass.StorageBuffer) return "storageBuffer";
      if (storage !== StorageClass.Uniform) return undefined;
      return annotations.has(type, Decoration.BufferBlock) ? "storageBuffer" : "uniformBuffer";
    case Op.OpTypeSampler:
      return "sampler";
    case Op.OpTypeSampledImage: {
      const image = index.operand(type, 0);
      const texels = index.opcode(image) !== 0 && index.operand(image, 1) === Dim.Buffer;
      return texels ? "uniformTexelBuffer" : "combinedImageSampler";
    }
    case Op.OpTypeImage: {
      const dim = index.operand(type, 1);
      const storageImage = index.operand(type, 5) === 2;
      if (dim === Dim.SubpassData) return "inputAttachment";
      if (dim === Dim.Buffer) return storageImage ? "storageTexelBuffer" : "uniformTexelBuffer";
      return storageImage ? "storageImage" : "sampledImage";
    }
    default:
      return undefined;
  }
}

const noConstants: readonly ModuleSpecConstant[] = [];

function specConstants(index: ModuleIndex, annotations: Annotations): readonly ModuleSpecConstant[] {
  const { words } = index;
  if (index.specConstants.length === 0) return noConstants;
  // several constants may share an id: one row each id, a named one where there is one
  const list = new Map<number, ModuleSpecConstant>();
  for (const at of index.specConstants) {
    const isBool = (words[at]! & 0xffff) !== Op.OpSpecConstant;
    const result = words[at + 2]!;
    const id = annotations.value(result, Decoration.SpecId);
    if (id === undefined) continue;
    const type = words[at + 1]!;
    const widthBits = isBool || index.opcode(type) === 0 ? 1 : index.operand(type, 0);
    const signed = index.operand(type, 1) !== 0;
    const name = annotations.name(result);
    const kind = isBool ? "bool" : index.opcode(type) === Op.OpTypeFloat ? "float" : signed ? "int" : "uint";
    if (!list.get(id)?.name) list.set(id, { id, name, type: kind, widthBits });
  }
  return [...list.values()].sort((a, b) => a.id - b.id);
}
