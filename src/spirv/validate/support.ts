import type { Annotations, EntryPoint } from "../annotations.ts";
import {
  AddressingModel,
  BuiltIn,
  Decoration,
  ExecutionMode,
  GlslStd450,
  MemoryModel,
  Op,
  StorageClass,
} from "../enums.ts";
import { forEachId, functionsOf, reachableFunctions } from "../functions.ts";
import { enumerantName, glslInstruction } from "../grammar.ts";
import { decodeString } from "../literals.ts";
import { type Instruction, type Module, operand } from "../module.ts";
import type { ShaderStage } from "../reflect.ts";
import type { Reports } from "../reports.ts";
import { glslRules, instructionRules } from "./rules.ts";

/** Instructions that the core takes, next to those of `instructionRules`. */
const instructions: ReadonlySet<number> = new Set([
  Op.OpNop,
  Op.OpUndef,
  Op.OpLine,
  Op.OpNoLine,
  Op.OpString,
  Op.OpExtInst,
  Op.OpExtInstImport,
  Op.OpTypeVoid,
  Op.OpTypeBool,
  Op.OpTypeInt,
  Op.OpTypeFloat,
  Op.OpTypeVector,
  Op.OpTypeMatrix,
  Op.OpTypeArray,
  Op.OpTypeRuntimeArray,
  Op.OpTypeStruct,
  Op.OpTypePointer,
  Op.OpTypeForwardPointer,
  Op.OpConvertPtrToU,
  Op.OpConvertUToPtr,
  Op.OpTypeFunction,
  Op.OpConstantTrue,
  Op.OpConstantFalse,
  Op.OpConstant,
  Op.OpConstantComposite,
  Op.OpConstantNull,
  Op.OpSpecConstantTrue,
  Op.OpSpecConstantFalse,
  Op.OpSpecConstant,
  Op.OpSpecConstantComposite,
  Op.OpSpecConstantOp,
  Op.OpFunction,
  Op.OpFunctionParameter,
  Op.OpFunctionEnd,
  Op.OpFunctionCall,
  Op.OpVariable,
  Op.OpLoad,
  Op.OpStore,
  Op.OpCopyMemory,
  Op.OpAccessChain,
  Op.OpInBoundsAccessChain,
  Op.OpPtrAccessChain,
  Op.OpInBoundsPtrAccessChain,
  Op.OpPtrEqual,
  Op.OpPtrNotEqual,
  Op.OpPtrDiff,
  Op.OpArrayLength,
  Op.OpVectorExtractDynamic,
  Op.OpVectorInsertDynamic,
  Op.OpVectorShuffle,
  Op.OpCompositeConstruct,
  Op.OpCompositeExtract,
  Op.OpCompositeInsert,
  Op.OpCopyObject,
  Op.OpCopyLogical,
  Op.OpTranspose,
  Op.OpBitcast,
  Op.OpUConvert,
  Op.OpSConvert,
  Op.OpFConvert,
  Op.OpVectorTimesScalar,
  Op.OpMatrixTimesScalar,
  Op.OpVectorTimesMatrix,
  Op.OpMatrixTimesVector,
  Op.OpMatrixTimesMatrix,
  Op.OpOuterProduct,
  Op.OpDot,
  Op.OpIAddCarry,
  Op.OpISubBorrow,
  Op.OpUMulExtended,
  Op.OpSMulExtended,
  Op.OpAny,
  Op.OpAll,
  Op.OpSelect,
  Op.OpControlBarrier,
  Op.OpMemoryBarrier,
  Op.OpAtomicLoad,
  Op.OpAtomicStore,
  Op.OpAtomicExchange,
  Op.OpAtomicCompareExchange,
  Op.OpAtomicIIncrement,
  Op.OpAtomicIDecrement,
  Op.OpAtomicIAdd,
  Op.OpAtomicISub,
  Op.OpAtomicSMin,
  Op.OpAtomicUMin,
  Op.OpAtomicSMax,
  Op.OpAtomicUMax,
  Op.OpAtomicAnd,
  Op.OpAtomicOr,
  Op.OpAtomicXor,
  Op.OpGroupNonUniformElect,
  Op.OpGroupNonUniformAll,
  Op.OpGroupNonUniformAny,
  Op.OpGroupNonUniformAllEqual,
  Op.OpGroupNonUniformBroadcast,
  Op.OpGroupNonUniformBroadcastFirst,
  Op.OpGroupNonUniformBallot,
  Op.OpGroupNonUniformInverseBallot,
  Op.OpGroupNonUniformBallotBitExtract,
  Op.OpGroupNonUniformBallotBitCount,
  Op.OpGroupNonUniformBallotFindLSB,
  Op.OpGroupNonUniformBallotFindMSB,
  Op.OpGroupNonUniformShuffle,
  Op.OpGroupNonUniformShuffleXor,
  Op.OpGroupNonUniformShuffleUp,
  Op.OpGroupNonUniformShuffleDown,
  Op.OpGroupNonUniformIAdd,
  Op.OpGroupNonUniformFAdd,
  Op.OpGroupNonUniformIMul,
  Op.OpGroupNonUniformFMul,
  Op.OpGroupNonUniformSMin,
  Op.OpGroupNonUniformUMin,
  Op.OpGroupNonUniformFMin,
  Op.OpGroupNonUniformSMax,
  Op.OpGroupNonUniformUMax,
  Op.OpGroupNonUniformFMax,
  Op.OpGroupNonUniformBitwiseAnd,
  Op.OpGroupNonUniformBitwiseOr,
  Op.OpGroupNonUniformBitwiseXor,
  Op.OpGroupNonUniformLogicalAnd,
  Op.OpGroupNonUniformLogicalOr,
  Op.OpGroupNonUniformLogicalXor,
  Op.OpGroupNonUniformQuadBroadcast,
  Op.OpGroupNonUniformQuadSwap,
  Op.OpPhi,
  Op.OpLoopMerge,
  Op.OpSelectionMerge,
  Op.OpLabel,
  Op.OpBranch,
  Op.OpBranchConditional,
  Op.OpSwitch,
  Op.OpReturn,
  Op.OpReturnValue,
  Op.OpUnreachable,
]);

/** Images, in every stage. */
const imageInstructions: ReadonlySet<number> = new Set([
  Op.OpTypeImage,
  Op.OpTypeSampler,
  Op.OpTypeSampledImage,
  Op.OpSampledImage,
  Op.OpImage,
  Op.OpImageSampleImplicitLod,
  Op.OpImageSampleExplicitLod,
  Op.OpImageSampleDrefImplicitLod,
  Op.OpImageSampleDrefExplicitLod,
  Op.OpImageSampleProjImplicitLod,
  Op.OpImageSampleProjExplicitLod,
  Op.OpImageSampleProjDrefImplicitLod,
  Op.OpImageSampleProjDrefExplicitLod,
  Op.OpImageFetch,
  Op.OpImageGather,
  Op.OpImageDrefGather,
  Op.OpImageRead,
  Op.OpImageWrite,
  Op.OpImageQuerySizeLod,
  Op.OpImageQuerySize,
  Op.OpImageQueryLod,
  Op.OpImageQueryLevels,
  Op.OpImageQuerySamples,
  Op.OpImageTexelPointer,
]);

/** Instructions of the fragment stage, next to those of `instructionRules`. */
const fragmentInstructions: ReadonlySet<number> = new Set([
  Op.OpKill,
  Op.OpTerminateInvocation,
  Op.OpDemoteToHelperInvocation,
  Op.OpIsHelperInvocationEXT,
]);

/** Instructions of `instructionRules` that need the fragment stage. */
const fragmentOnly: ReadonlySet<number> = new Set([
  Op.OpDPdx,
  Op.OpDPdy,
  Op.OpFwidth,
  Op.OpDPdxFine,
  Op.OpDPdyFine,
  Op.OpFwidthFine,
  Op.OpDPdxCoarse,
  Op.OpDPdyCoarse,
  Op.OpFwidthCoarse,
]);

const storageClasses: ReadonlySet<number> = new Set([
  StorageClass.Input,
  StorageClass.Output,
  StorageClass.UniformConstant,
  StorageClass.Image,
  StorageClass.Uniform,
  StorageClass.Workgroup,
  StorageClass.Private,
  StorageClass.Function,
  StorageClass.PushConstant,
  StorageClass.StorageBuffer,
  StorageClass.PhysicalStorageBuffer,
]);

const subgroupBuiltIns = [
  BuiltIn.SubgroupSize,
  BuiltIn.SubgroupLocalInvocationId,
  BuiltIn.SubgroupEqMask,
  BuiltIn.SubgroupGeMask,
  BuiltIn.SubgroupGtMask,
  BuiltIn.SubgroupLeMask,
  BuiltIn.SubgroupLtMask,
];

const builtIns: Readonly<Record<ShaderStage, ReadonlySet<number>>> = {
  compute: new Set([
    BuiltIn.NumWorkgroups,
    BuiltIn.WorkgroupSize,
    BuiltIn.WorkgroupId,
    BuiltIn.LocalInvocationId,
    BuiltIn.GlobalInvocationId,
    BuiltIn.LocalInvocationIndex,
    BuiltIn.NumSubgroups,
    BuiltIn.SubgroupId,
    BuiltIn.DeviceIndex,
    ...subgroupBuiltIns,
  ]),
  vertex: new Set([
    BuiltIn.Position,
    BuiltIn.PointSize,
    BuiltIn.ClipDistance,
    BuiltIn.CullDistance,
    BuiltIn.Layer,
    BuiltIn.ViewportIndex,
    BuiltIn.VertexIndex,
    BuiltIn.InstanceIndex,
    BuiltIn.BaseVertex,
    BuiltIn.BaseInstance,
    BuiltIn.DrawIndex,
    BuiltIn.ViewIndex,
    BuiltIn.DeviceIndex,
    ...subgroupBuiltIns,
  ]),
  fragment: new Set([
    BuiltIn.FragCoord,
    BuiltIn.FrontFacing,
    BuiltIn.PointCoord,
    BuiltIn.SampleId,
    BuiltIn.SamplePosition,
    BuiltIn.SampleMask,
    BuiltIn.FragDepth,
    BuiltIn.FragStencilRefEXT,
    BuiltIn.HelperInvocation,
    BuiltIn.ClipDistance,
    BuiltIn.CullDistance,
    BuiltIn.Layer,
    BuiltIn.ViewportIndex,
    BuiltIn.PrimitiveId,
    BuiltIn.ViewIndex,
    BuiltIn.DeviceIndex,
    ...subgroupBuiltIns,
  ]),
};

/**
 * Code always keeps denormals, signed zeros, infinities and NaN, and rounds to nearest even. Lanes that parted meet again
 * at each merge, so uniform control flow of a subgroup is always what SubgroupUniformControlFlowKHR asks for.
 */
const executionModes: ReadonlySet<number> = new Set([
  ExecutionMode.OriginUpperLeft,
  ExecutionMode.EarlyFragmentTests,
  ExecutionMode.PostDepthCoverage,
  ExecutionMode.DepthReplacing,
  ExecutionMode.DepthGreater,
  ExecutionMode.DepthLess,
  ExecutionMode.DepthUnchanged,
  ExecutionMode.StencilRefReplacingEXT,
  ExecutionMode.LocalSize,
  ExecutionMode.LocalSizeId,
  ExecutionMode.DenormPreserve,
  ExecutionMode.SignedZeroInfNanPreserve,
  ExecutionMode.RoundingModeRTE,
  ExecutionMode.SubgroupUniformControlFlowKHR,
  // what is captured says the pipeline, and a shader does the same without
  ExecutionMode.Xfb,
]);

const G = GlslStd450;
const glslSpecial: ReadonlySet<number> = new Set([
  G.Modf,
  G.ModfStruct,
  G.Frexp,
  G.FrexpStruct,
  G.Determinant,
  G.MatrixInverse,
  G.PackSnorm4x8,
  G.PackUnorm4x8,
  G.PackSnorm2x16,
  G.PackUnorm2x16,
  G.PackHalf2x16,
  G.PackDouble2x32,
  G.UnpackDouble2x32,
  G.UnpackSnorm2x16,
  G.UnpackUnorm2x16,
  G.UnpackHalf2x16,
  G.UnpackSnorm4x8,
  G.UnpackUnorm4x8,
]);

/** Instructions of GLSL.std.450 of the fragment stage. */
const glslFragment: ReadonlySet<number> = new Set([
  G.InterpolateAtCentroid,
  G.InterpolateAtSample,
  G.InterpolateAtOffset,
]);

/**
 * Says what the code that an entry point reaches needs and the compiler does not have: instructions, types, storage
 * classes, built-ins, execution modes. Code and types that the entry point does not reach may be anything valid.
 */
export function checkSupport(module: Module, entry: EntryPoint, annotations: Annotations, reports: Reports): void {
  const { stage } = entry;
  if (stage === undefined) {
    reports.unsupported(entry.instruction, `execution model ${enumerantName("ExecutionModel", entry.model)}`);
    return;
  }
  for (const instruction of module.instructions) {
    if (instruction.opcode === Op.OpFunction) break;
    const rule = declarationRule(module, instruction, entry);
    if (rule !== undefined) reports.unsupported(instruction, rule);
  }
  const live = new Uint8Array(module.instructions.length);
  const work: Instruction[] = [];
  const add = (id: number): void => {
    const found = module.definitions[id];
    if (found === undefined || live[found.index] === 1) return;
    live[found.index] = 1;
    work.push(found);
  };
  const visit = (instruction: Instruction): void => {
    if (instruction.type !== 0) add(instruction.type);
    forEachId(module, instruction, add);
  };
  for (const fn of reachableFunctions(functionsOf(module), entry.fn)) {
    for (const instruction of fn.instructions) {
      live[instruction.index] = 1;
      visit(instruction);
    }
  }
  for (let instruction = work.pop(); instruction !== undefined; instruction = work.pop()) visit(instruction);
  for (const instruction of module.instructions) {
    if (reports.full) return;
    if (live[instruction.index] === 0) continue;
    const what = missing(module, instruction, annotations, stage);
    if (what !== undefined) reports.unsupported(instruction, what);
  }
}

function declarationRule(module: Module, instruction: Instruction, entry: EntryPoint): string | undefined {
  switch (instruction.opcode) {
    case Op.OpMemoryModel: {
      const [addressing, memory] = [operand(module, instruction, 0), operand(module, instruction, 1)];
      if (addressing !== AddressingModel.Logical && addressing !== AddressingModel.PhysicalStorageBuffer64)
        return `addressing model ${enumerantName("AddressingModel", addressing)}`;
      const known = memory === MemoryModel.GLSL450 || memory === MemoryModel.Simple || memory === MemoryModel.Vulkan;
      return known ? undefined : `memory model ${enumerantName("MemoryModel", memory)}`;
    }
    case Op.OpExecutionMode:
    case Op.OpExecutionModeId: {
      const mode = operand(module, instruction, 1);
      if (operand(module, instruction, 0) !== entry.fn || executionModes.has(mode)) return undefined;
      return `execution mode ${enumerantName("ExecutionMode", mode)}`;
    }
    default:
      return undefined;
  }
}

/** Pointers of the type may be values: loaded, selected, merged. Source: SPIR-V, capability VariablePointers. */
function isPointerValue(module: Module, type: Instruction): boolean {
  const storage = operand(module, type, 0);
  return (
    storage === StorageClass.StorageBuffer ||
    storage === StorageClass.Workgroup ||
    storage === StorageClass.PhysicalStorageBuffer
  );
}

function missing(
  module: Module,
  instruction: Instruction,
  annotations: Annotations,
  stage: ShaderStage,
): string | undefined {
  const { opcode } = instruction;
  const plain = instructionRules.has(opcode) && (stage === "fragment" || !fragmentOnly.has(opcode));
  if (
    !plain &&
    !instructions.has(opcode) &&
    !imageInstructions.has(opcode) &&
    !(stage === "fragment" && fragmentInstructions.has(opcode))
  )
    return instruction.row.name;
  switch (opcode) {
    case Op.OpTypeInt:
    case Op.OpTypeFloat: {
      const width = operand(module, instruction, 0);
      const isKnown = width === 32 || width === 16 || width === 64 || (width === 8 && opcode === Op.OpTypeInt);
      return isKnown ? undefined : `the type of ${width}-bit ${opcode === Op.OpTypeInt ? "integers" : "floats"}`;
    }
    case Op.OpTypePointer: {
      const storage = operand(module, instruction, 0);
      if (!storageClasses.has(storage)) return `storage class ${enumerantName("StorageClass", storage)}`;
      const inner = module.definitions[operand(module, instruction, 1)];
      return inner?.opcode === Op.OpTypePointer && !isPointerValue(module, inner)
        ? "a pointer to a pointer"
        : undefined;
    }
    case Op.OpVariable: {
      const storage = operand(module, instruction, 0);
      const builtIn = annotations.value(instruction.result, Decoration.BuiltIn);
      if (builtIn !== undefined)
        return builtIns[stage].has(builtIn) ? undefined : `built-in ${enumerantName("BuiltIn", builtIn)}`;
      return storage === StorageClass.Input && stage === "compute" ? "an input that is no built-in" : undefined;
    }
    case Op.OpPhi:
    case Op.OpSelect:
    case Op.OpFunctionCall:
    case Op.OpLoad:
    case Op.OpUndef:
    case Op.OpConstantNull:
    case Op.OpPtrAccessChain:
    case Op.OpInBoundsPtrAccessChain: {
      const type = module.definitions[instruction.type];
      return type?.opcode === Op.OpTypePointer && !isPointerValue(module, type) ? "a variable pointer" : undefined;
    }
    case Op.OpExtInstImport: {
      const name = decodeString(module.words, instruction.first, instruction.end);
      return name === "GLSL.std.450" || name.startsWith("NonSemantic.") ? undefined : `instruction set ${name}`;
    }
    case Op.OpExtInst: {
      const set = module.definitions[operand(module, instruction, 0)];
      if (set === undefined || decodeString(module.words, set.first, set.end) !== "GLSL.std.450") return undefined;
      const number = operand(module, instruction, 1);
      return glslRules.has(number) || glslSpecial.has(number) || (stage === "fragment" && glslFragment.has(number))
        ? undefined
        : `GLSL.std.450 ${glslInstruction(number)?.name}`;
    }
    default:
      return undefined;
  }
}
