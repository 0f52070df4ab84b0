export { ModuleBuilder } from "./builder.ts";
export * from "./enums.ts";
export type { EnumerantRow, EnumKind, InstructionRow, OperandRow } from "./grammar.ts";
export {
  allInstructions,
  enumerantName,
  enumKind,
  enumTables,
  glslInstruction,
  glslInstructionByName,
  glslStd450Table,
  instructionByName,
  instructionRow,
  opName,
} from "./grammar.ts";
export type { Id } from "./type-pool.ts";
export type { SpirvTarget } from "./version.ts";
