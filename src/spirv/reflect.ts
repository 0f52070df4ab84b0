import type { Diagnostic } from "../base/index.ts";
import { Annotations, type EntryPoint, entryPoints } from "./annotations.ts";
import { ConstantValues, type Specialization } from "./constants.ts";
import { BuiltIn, Decoration, Dim, ExecutionMode, Op, StorageClass } from "./enums.ts";
import { forEachId, functionsOf, reachableFunctions } from "./functions.ts";
import { enumerantName } from "./grammar.ts";
import { type Instruction, type Module, operand, operandCount } from "./module.ts";
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
  readonly blockSizeBytes?: number;
  readonly runtimeArrayStrideBytes?: number;
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
  const found = findEntryPoint(module, entryPoint, stage, reports);
  if (found === undefined) return { ok: false, diagnostics: reports.diagnostics };
  const annotations = new Annotations(module);
  const constants = new ConstantValues(module, annotations, specialization);
  const layout = new TypeLayout(module, annotations, constants);

  const workgroupSize = found.stage === "compute" ? localSize(module, found, annotations, constants) : [1, 1, 1];
  const [x, y, z] = workgroupSize ?? [];
  if (!x || !y || !z) {
    reports.rule("SPIRV_LAYOUT", found.instruction, "the workgroup size is not three positive constants");
    return { ok: false, diagnostics: reports.diagnostics };
  }

  const resources: ModuleResource[] = [];
  let pushConstantBytes = 0;
  const variables = usedVariables(module, found.fn);
  for (const variable of variables) {
    const storage = operand(module, variable, 0);
    const pointee = pointeeOf(module, variable);
    if (storage === StorageClass.PushConstant) {
      pushConstantBytes = Math.max(pushConstantBytes, layout.sizeBytes(pointee));
      continue;
    }
    const resource = describeResource(module, variable, storage, pointee, annotations, layout, constants);
    if (resource !== undefined) resources.push(resource);
  }
  resources.sort((a, b) => a.set - b.set || a.binding - b.binding || a.variable - b.variable);

  return {
    ok: true,
    reflection: {
      stage: found.stage!,
      entryPoint: found.name,
      function: found.fn,
      workgroupSize: [x, y, z],
      resources,
      vertexInputs: found.stage === "vertex" ? vertexInputs(module, variables, annotations, constants) : [],
      earlyFragmentTests: hasMode(module, found, ExecutionMode.EarlyFragmentTests),
      postDepthCoverage: hasMode(module, found, ExecutionMode.PostDepthCoverage),
      pushConstantBytes,
      specializationConstants: specConstants(module, annotations),
      entryPoints: entryPoints(module).map((e) => ({ name: e.name, stage: e.stage })),
    },
  };
}

/** The entry point of that name and stage; says so in `reports` where there is none. */
export function findEntryPoint(
  module: Module,
  name: string,
  stage: ShaderStage | undefined,
  reports: Reports,
): EntryPoint | undefined {
  const all = entryPoints(module);
  const found = all.find((e) => e.name === name && e.stage !== undefined && (stage === undefined || e.stage === stage));
  if (found === undefined) {
    const list = all.map((e) => `${e.name} (${e.stage ?? enumerantName("ExecutionModel", e.model)})`);
    reports.noEntryPoint(stage ?? "supported", name, list.length === 0 ? "none" : list.slice(0, 16).join(", "));
  }
  return found;
}

/** Module-level variables that the code reached from `fn` names, in order of declaration. */
function usedVariables(module: Module, fn: number): Instruction[] {
  const used = new Uint8Array(module.bound);
  const note = (id: number): void => {
    used[id] = 1;
  };
  for (const info of reachableFunctions(functionsOf(module), fn)) {
    for (const instruction of info.instructions) forEachId(module, instruction, note);
  }
  const variables: Instruction[] = [];
  for (const instruction of module.instructions) {
    if (instruction.opcode === Op.OpFunction) break;
    if (instruction.opcode === Op.OpVariable && used[instruction.result] === 1) variables.push(instruction);
  }
  return variables;
}

function pointeeOf(module: Module, variable: Instruction): number {
  const pointer = module.definitions[variable.type];
  return pointer?.opcode === Op.OpTypePointer ? operand(module, pointer, 1) : 0;
}

function hasMode(module: Module, entry: EntryPoint, mode: number): boolean {
  for (const i of module.instructions) {
    if (i.opcode === Op.OpFunction) break;
    if (i.opcode !== Op.OpExecutionMode || operand(module, i, 0) !== entry.fn) continue;
    if (operand(module, i, 1) === mode) return true;
  }
  return false;
}

function localSize(
  module: Module,
  entry: EntryPoint,
  annotations: Annotations,
  constants: ConstantValues,
): (number | undefined)[] | undefined {
  // the WorkgroupSize built-in goes before the execution modes
  const builtIn = module.definitions[annotations.builtInId(BuiltIn.WorkgroupSize) ?? 0];
  if (builtIn?.opcode === Op.OpConstantComposite || builtIn?.opcode === Op.OpSpecConstantComposite) {
    return [0, 1, 2].map((i) => constants.value(operand(module, builtIn, i)));
  }
  for (const instruction of module.instructions) {
    if (instruction.opcode !== Op.OpExecutionMode && instruction.opcode !== Op.OpExecutionModeId) continue;
    if (operand(module, instruction, 0) !== entry.fn) continue;
    const mode = operand(module, instruction, 1);
    const words = [2, 3, 4].map((i) => operand(module, instruction, i));
    if (mode === ExecutionMode.LocalSize) return words;
    if (mode === ExecutionMode.LocalSizeId) return words.map((id) => constants.value(id));
  }
  return undefined;
}

function describeResource(
  module: Module,
  variable: Instruction,
  storage: number,
  pointee: number,
  annotations: Annotations,
  layout: TypeLayout,
  constants: ConstantValues,
): ModuleResource | undefined {
  let type = module.definitions[pointee];
  let count = 1;
  for (let depth = 0; depth < 256; depth++) {
    if (type?.opcode === Op.OpTypeArray) count *= constants.value(operand(module, type, 1)) ?? 0;
    else if (type?.opcode === Op.OpTypeRuntimeArray) count = 0;
    else break;
    type = module.definitions[operand(module, type, 0)];
  }
  if (type === undefined) return undefined;
  const kind = resourceType(module, type, storage, annotations);
  if (kind === undefined) return undefined;
  const id = variable.result;
  const blockName = annotations.name(type.result);
  const memberCount = type.opcode === Op.OpTypeStruct ? operandCount(type) : 0;
  const everywhere = (decoration: number): boolean => {
    if (annotations.has(id, decoration)) return true;
    for (let m = 0; m < memberCount; m++) if (!annotations.memberHas(type.result, m, decoration)) return false;
    return memberCount > 0;
  };
  const buffer = type.opcode === Op.OpTypeStruct;
  const stride = buffer ? layout.runtimeArrayStrideBytes(type.result) : undefined;
  const row = {
    set: annotations.value(id, Decoration.DescriptorSet) ?? 0,
    binding: annotations.value(id, Decoration.Binding) ?? 0,
    type: kind,
    count,
    name: annotations.name(id) || blockName,
    blockName,
    readonly: kind === "uniformBuffer" || everywhere(Decoration.NonWritable),
    writeonly: everywhere(Decoration.NonReadable),
    variable: id,
  };
  if (!buffer) return row;
  const blockSizeBytes = layout.sizeBytes(type.result);
  return stride === undefined
    ? { ...row, blockSizeBytes }
    : { ...row, blockSizeBytes, runtimeArrayStrideBytes: stride };
}

function resourceType(
  module: Module,
  type: Instruction,
  storage: number,
  annotations: Annotations,
): ResourceType | undefined {
  switch (type.opcode) {
    case Op.OpTypeStruct:
      if (storage === StorageClass.StorageBuffer) return "storageBuffer";
      if (storage !== StorageClass.Uniform) return undefined;
      return annotations.has(type.result, Decoration.BufferBlock) ? "storageBuffer" : "uniformBuffer";
    case Op.OpTypeSampler:
      return "sampler";
    case Op.OpTypeSampledImage: {
      const image = module.definitions[operand(module, type, 0)];
      const texels = image !== undefined && operand(module, image, 1) === Dim.Buffer;
      return texels ? "uniformTexelBuffer" : "combinedImageSampler";
    }
    case Op.OpTypeImage: {
      const dim = operand(module, type, 1);
      const storageImage = operand(module, type, 5) === 2;
      if (dim === Dim.SubpassData) return "inputAttachment";
      if (dim === Dim.Buffer) return storageImage ? "storageTexelBuffer" : "uniformTexelBuffer";
      return storageImage ? "storageImage" : "sampledImage";
    }
    default:
      return undefined;
  }
}

function specConstants(module: Module, annotations: Annotations): ModuleSpecConstant[] {
  // several constants may share an id: one row each id, a named one where there is one
  const list = new Map<number, ModuleSpecConstant>();
  for (const instruction of module.instructions) {
    const { opcode, result } = instruction;
    if (opcode === Op.OpFunction) break;
    const isBool = opcode === Op.OpSpecConstantTrue || opcode === Op.OpSpecConstantFalse;
    if (!isBool && opcode !== Op.OpSpecConstant) continue;
    const id = annotations.value(result, Decoration.SpecId);
    if (id === undefined) continue;
    const type = module.definitions[instruction.type];
    const widthBits = isBool || type === undefined ? 1 : operand(module, type, 0);
    const signed = type !== undefined && operand(module, type, 1) !== 0;
    const name = annotations.name(result);
    const kind = isBool ? "bool" : type?.opcode === Op.OpTypeFloat ? "float" : signed ? "int" : "uint";
    if (!list.get(id)?.name) list.set(id, { id, name, type: kind, widthBits });
  }
  return [...list.values()].sort((a, b) => a.id - b.id);
}
