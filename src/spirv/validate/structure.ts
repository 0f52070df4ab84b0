import { MemoryModel, Op } from "../enums.ts";
import { opcodeTable } from "../grammar.ts";
import type { Instruction, Module } from "../module.ts";
import { operand } from "../module.ts";
import type { Reports } from "../reports.ts";

/** A basic block. `instructions` are those between label and terminator, merge and lines among them. */
export interface Block {
  readonly label: Instruction;
  readonly instructions: Instruction[];
  merge: Instruction | undefined;
  terminator: Instruction;
}

export interface FunctionBody {
  readonly fn: Instruction;
  readonly parameters: Instruction[];
  readonly blocks: Block[];
  /** Label id → index in `blocks`. */
  readonly blockOf: Map<number, number>;
}

export interface Structure {
  /** Instructions before the first function. */
  readonly globals: readonly Instruction[];
  readonly functions: readonly FunctionBody[];
  readonly functionOf: ReadonlyMap<number, FunctionBody>;
}

/** Sections of the specification's chapter 2.4; what is not listed belongs to types, constants and globals. */
const globalSection = 10;
const sections = opcodeTable(
  [
    [Op.OpCapability, 0],
    [Op.OpExtension, 1],
    [Op.OpExtInstImport, 2],
    [Op.OpMemoryModel, 3],
    [Op.OpEntryPoint, 4],
    [Op.OpExecutionMode, 5],
    [Op.OpExecutionModeId, 5],
    [Op.OpString, 6],
    [Op.OpSourceExtension, 6],
    [Op.OpSource, 6],
    [Op.OpSourceContinued, 6],
    [Op.OpName, 7],
    [Op.OpMemberName, 7],
    [Op.OpModuleProcessed, 8],
    [Op.OpDecorate, 9],
    [Op.OpMemberDecorate, 9],
    [Op.OpDecorationGroup, 9],
    [Op.OpGroupDecorate, 9],
    [Op.OpGroupMemberDecorate, 9],
    [Op.OpDecorateId, 9],
    [Op.OpDecorateString, 9],
    [Op.OpMemberDecorateString, 9],
  ],
  globalSection,
);

const terminators = opcodeTable([
  [Op.OpBranch, 1],
  [Op.OpBranchConditional, 1],
  [Op.OpSwitch, 1],
  [Op.OpReturn, 1],
  [Op.OpReturnValue, 1],
  [Op.OpKill, 1],
  [Op.OpUnreachable, 1],
  [Op.OpTerminateInvocation, 1],
]);
const isTerminator = (opcode: number): boolean => terminators[opcode] === 1;

const lines = (opcode: number): boolean => opcode === Op.OpLine || opcode === Op.OpNoLine;

/** True for instructions that may stand among types, constants and globals. */
function isGlobal(instruction: Instruction): boolean {
  const { opcode, row } = instruction;
  if (lines(opcode) || opcode === Op.OpVariable || opcode === Op.OpUndef || opcode === Op.OpExtInst) return true;
  return row.isType || (row.isConstant && opcode !== Op.OpConstantSampler);
}

/** True for instructions that never stand in a block. */
function isEarly({ opcode, row }: Instruction): boolean {
  return row.isType || row.isConstant || opcode === Op.OpCapability || opcode === Op.OpName;
}

/**
 * Checks section order and the frame of each function and block; returns what it found, or undefined where the frame
 * is broken so that later checks would have nothing to stand on.
 */
export function checkStructure(module: Module, reports: Reports): Structure | undefined {
  const globals: Instruction[] = [];
  const functions: FunctionBody[] = [];
  const functionOf = new Map<number, FunctionBody>();
  const before = reports.diagnostics.length;
  let section = 0;
  let memoryModels = 0;
  let body: FunctionBody | undefined;
  let block: Block | undefined;
  const complain = (instruction: Instruction, rule: string): void => reports.rule("SPIRV_LAYOUT", instruction, rule);

  for (const instruction of module.instructions) {
    const { opcode } = instruction;
    if (reports.full) return undefined;
    if (opcode === Op.OpFunction) {
      if (body !== undefined) complain(instruction, "stands inside another function");
      body = { fn: instruction, parameters: [], blocks: [], blockOf: new Map() };
      block = undefined;
      continue;
    }
    if (body === undefined) {
      const own = sections[opcode]!;
      if (functions.length > 0 && !lines(opcode)) complain(instruction, "stands after the first function, outside one");
      else if (own < section) complain(instruction, "stands after a later section of the module");
      else if (own === globalSection && !isGlobal(instruction)) complain(instruction, "must stand in a block");
      section = Math.max(section, lines(opcode) ? section : own);
      if (opcode === Op.OpMemoryModel) memoryModels++;
      if (functions.length === 0) globals.push(instruction);
      continue;
    }
    if (opcode === Op.OpFunctionEnd) {
      if (block !== undefined) complain(instruction, "the last block has no terminator");
      else if (body.blocks.length === 0) complain(body.fn, "a function needs a block");
      functions.push(body);
      functionOf.set(body.fn.result, body);
      body = undefined;
      continue;
    }
    if (opcode === Op.OpFunctionParameter) {
      if (body.blocks.length > 0 || block !== undefined) complain(instruction, "stands after the first block");
      body.parameters.push(instruction);
      continue;
    }
    if (opcode === Op.OpLabel) {
      if (block !== undefined) complain(instruction, "the block before has no terminator");
      block = { label: instruction, instructions: [], merge: undefined, terminator: instruction };
      continue;
    }
    if (block === undefined) {
      if (!lines(opcode)) complain(instruction, "must stand in a block");
      continue;
    }
    checkPlace(body, block, instruction, complain);
    if (isTerminator(opcode)) {
      block.terminator = instruction;
      body.blockOf.set(block.label.result, body.blocks.length);
      body.blocks.push(block);
      block = undefined;
    } else {
      block.instructions.push(instruction);
    }
  }
  const last = module.instructions.at(-1);
  if (last !== undefined) {
    if (body !== undefined) complain(last, "the last function has no OpFunctionEnd");
    if (memoryModels !== 1) complain(last, "a module has exactly one OpMemoryModel");
  } else {
    reports.empty();
  }
  checkMemoryModel(module, globals, complain);
  return reports.diagnostics.length > before ? undefined : { globals, functions, functionOf };
}

/** Variables and phis come first, a merge comes right before the terminator. */
function checkPlace(
  body: FunctionBody,
  block: Block,
  instruction: Instruction,
  complain: (instruction: Instruction, rule: string) => void,
): void {
  const { opcode } = instruction;
  // what stands before, lines left out
  const previous = (): number => block.instructions.findLast((i) => !lines(i.opcode))?.opcode ?? opcode;
  if (block.merge !== undefined && !isTerminator(opcode)) complain(block.merge, "is not followed by a branch");
  if (opcode === Op.OpVariable) {
    if (body.blocks.length > 0) complain(instruction, "a function's variables stand in its first block");
    else if (previous() !== Op.OpVariable) complain(instruction, "stands after other code");
  } else if (opcode === Op.OpPhi) {
    if (body.blocks.length === 0) complain(instruction, "the first block has no phis");
    else if (previous() !== Op.OpPhi) complain(instruction, "stands after other code");
  } else if (opcode === Op.OpSelectionMerge || opcode === Op.OpLoopMerge) {
    block.merge = instruction;
  } else if (block.merge !== undefined && isTerminator(opcode)) {
    const conditional = opcode === Op.OpBranchConditional;
    const selection = block.merge.opcode === Op.OpSelectionMerge;
    const fits = selection ? conditional || opcode === Op.OpSwitch : conditional || opcode === Op.OpBranch;
    if (!fits) complain(block.merge, "is not followed by a branch of its kind");
  } else if (isEarly(instruction)) {
    complain(instruction, "must stand before the functions");
  }
}

function checkMemoryModel(
  module: Module,
  globals: readonly Instruction[],
  complain: (instruction: Instruction, rule: string) => void,
): void {
  const model = globals.find((g) => g.opcode === Op.OpMemoryModel);
  if (model !== undefined && operand(module, model, 1) === MemoryModel.OpenCL) {
    complain(model, "a shader's memory model is Simple, GLSL450 or Vulkan");
  }
}
