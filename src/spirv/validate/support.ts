import { type Annotations, type EntryPoint, entryInstruction } from "../annotations.ts";
import { AddressingModel, Decoration, MemoryModel, Op, StorageClass } from "../enums.ts";
import { forEachId, functionsOf, reachableFunctions } from "../functions.ts";
import { enumerantName, glslInstruction, opcodeTable } from "../grammar.ts";
import { decodeString } from "../literals.ts";
import { type Instruction, type Module, operand } from "../module.ts";
import type { ShaderStage } from "../reflect.ts";
import type { Reports } from "../reports.ts";
import { glslRules, instructionRules } from "./rules.ts";
import {
  builtIns,
  executionModes,
  fragmentInstructions,
  fragmentOnly,
  glslFragment,
  glslSpecial,
  imageInstructions,
  instructions,
  storageClasses,
} from "./supported.ts";

/** Instructions whose result may be a pointer that the code has to keep as a value. */
const pointerMakers = [
  Op.OpPhi,
  Op.OpSelect,
  Op.OpFunctionCall,
  Op.OpLoad,
  Op.OpUndef,
  Op.OpConstantNull,
  Op.OpPtrAccessChain,
  Op.OpInBoundsPtrAccessChain,
] as const;

/** Instructions that no code refers to. */
const silent = [
  Op.OpCapability,
  Op.OpExtension,
  Op.OpEntryPoint,
  Op.OpExecutionMode,
  Op.OpExecutionModeId,
  Op.OpSource,
  Op.OpSourceExtension,
  Op.OpSourceContinued,
  Op.OpName,
  Op.OpMemberName,
  Op.OpModuleProcessed,
  Op.OpDecorate,
  Op.OpDecorateId,
  Op.OpDecorateString,
  Op.OpMemberDecorate,
  Op.OpMemberDecorateString,
] as const;

/** What `isPlain` asks of an instruction beyond its opcode. */
const Look = { unknown: 0, fine: 1, width: 2, pointer: 3, variable: 4, value: 5, set: 6, extended: 7 } as const;

const looks = (stage: ShaderStage): Uint8Array => {
  const table = opcodeTable([
    ...[...instructions, ...imageInstructions, ...instructionRules.keys()].map((op) => [op, Look.fine] as const),
    ...[...fragmentOnly].map((op) => [op, stage === "fragment" ? Look.fine : Look.unknown] as const),
    ...(stage === "fragment" ? [...fragmentInstructions].map((op) => [op, Look.fine] as const) : []),
    [Op.OpTypeInt, Look.width],
    [Op.OpTypeFloat, Look.width],
    [Op.OpTypePointer, Look.pointer],
    [Op.OpVariable, Look.variable],
    [Op.OpExtInstImport, Look.set],
    [Op.OpExtInst, Look.extended],
  ]);
  for (const op of pointerMakers) table[op] = Look.value;
  // what stands before the declarations and declares nothing is never reached
  for (const op of silent) table[op] = Look.fine;
  return table;
};
const looksOf = new Map<ShaderStage, Uint8Array>();

/**
 * True where nothing in the whole module, reached or not, is beyond the compiler: then there is no need to find out what
 * is reached. False says nothing.
 */
function isPlain(module: Module, entry: EntryPoint, stage: ShaderStage): boolean {
  const { words, index, annotations } = module;
  const table = looksOf.get(stage) ?? looks(stage);
  looksOf.set(stage, table);
  for (const at of index.modes) if (words[at + 1] !== entry.fn || !executionModes.has(words[at + 2]!)) return false;
  let standardSet = 0;
  for (let at = 5; at < words.length; at += words[at]! >>> 16) {
    const opcode = words[at]! & 0xffff;
    switch (table[opcode]) {
      case Look.fine:
        break;
      case Look.width: {
        const width = words[at + 2];
        if (width !== 32 && width !== 16 && width !== 64 && !(width === 8 && opcode === Op.OpTypeInt)) return false;
        break;
      }
      case Look.pointer:
        if (!storageClasses.has(words[at + 2]!) || index.opcode(words[at + 3]!) === Op.OpTypePointer) return false;
        break;
      case Look.variable: {
        const builtIn = annotations.value(words[at + 2]!, Decoration.BuiltIn);
        if (builtIn === undefined) {
          if (stage === "compute" && words[at + 3] === StorageClass.Input) return false;
        } else if (!builtIns[stage].has(builtIn)) return false;
        break;
      }
      case Look.value:
        if (index.opcode(words[at + 1]!) === Op.OpTypePointer) return false;
        break;
      case Look.set:
        if (decodeString(words, at + 2, at + (words[at]! >>> 16)) !== "GLSL.std.450") return false;
        standardSet = words[at + 1]!;
        break;
      case Look.extended: {
        const number = words[at + 4]!;
        const known =
          glslRules.has(number) || glslSpecial.has(number) || (stage === "fragment" && glslFragment.has(number));
        if (words[at + 3] !== standardSet || !known) return false;
        break;
      }
      default:
        // The one thing said about a whole module has its rule.
        if (opcode !== Op.OpMemoryModel || memoryModelRule(words[at + 1]!, words[at + 2]!) !== undefined) return false;
    }
  }
  return true;
}

/**
 * Says what the code that an entry point reaches needs and the compiler does not have: instructions, types, storage
 * classes, built-ins, execution modes. Code and types that the entry point does not reach may be anything valid.
 */
export function checkSupport(module: Module, entry: EntryPoint, reports: Reports): void {
  const { stage } = entry;
  if (stage === undefined) {
    reports.unsupported(
      entryInstruction(module, entry),
      `execution model ${enumerantName("ExecutionModel", entry.model)}`,
    );
    return;
  }
  if (isPlain(module, entry, stage)) return;
  const { annotations } = module;
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

function memoryModelRule(addressing: number, memory: number): string | undefined {
  if (addressing !== AddressingModel.Logical && addressing !== AddressingModel.PhysicalStorageBuffer64)
    return `addressing model ${enumerantName("AddressingModel", addressing)}`;
  const known = memory === MemoryModel.GLSL450 || memory === MemoryModel.Simple || memory === MemoryModel.Vulkan;
  return known ? undefined : `memory model ${enumerantName("MemoryModel", memory)}`;
}

function declarationRule(module: Module, instruction: Instruction, entry: EntryPoint): string | undefined {
  switch (instruction.opcode) {
    case Op.OpMemoryModel:
      return memoryModelRule(operand(module, instruction, 0), operand(module, instruction, 1));
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
