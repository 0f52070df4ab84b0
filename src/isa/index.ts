export { type Assembly, type AssemblyMistake, assemble } from "./assemble.ts";
export { decode, type Instruction } from "./decode.ts";
export { branchTarget, type DisassemblyLine, disassemble } from "./disassemble.ts";
export { encode, type Parts } from "./encode.ts";
export type { CounterClass } from "./flags.ts";
export { counterClasses, Flag } from "./flags.ts";
export { type FlowGraph, flowGraph, type LiveCount, liveRegisters } from "./flow.ts";
export type { Field, FormatName, SecondDwordName } from "./formats.ts";
export { flatSegments, formatNames, formats, secondDwords } from "./formats.ts";
export { print } from "./print.ts";
export { SourceCode, sgprCount } from "./registers.ts";
export {
  classify,
  countInstructions,
  type InstructionClass,
  type InstructionCounts,
  issueCycles,
} from "./statistics.ts";
export type { Op, Operand, OperandKind, ValueType } from "./table.ts";
export { allOps, literalFields, opByCode, operandKinds, opsByMnemonic, valueTypes } from "./table.ts";
