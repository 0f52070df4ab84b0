export { type Annotations, type EntryPoint, entryInstruction, entryPoints } from "./annotations.ts";
export { ModuleBuilder } from "./builder.ts";
export { spirvCodes } from "./codes.ts";
export { ConstantValues, type Specialization } from "./constants.ts";
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
  opcodeByName,
  opName,
} from "./grammar.ts";
export { definition, type Instruction, type Module, operand, operandCount, spanOf } from "./module.ts";
export { maxIdBound, ownModule, type ReadOptions, type ReadResult, readModule } from "./reader.ts";
export {
  type ModuleReflection,
  type ModuleResource,
  type ModuleSpecConstant,
  type ReflectResult,
  type ResourceType,
  reflectModule,
  type ShaderStage,
} from "./reflect.ts";
export { type InterfaceComponent, stageInterface } from "./stage-interface.ts";
export { type AssembleOptions, type AssembleResult, assemble } from "./text/assembler.ts";
export { disassemble, printInstruction, printModule } from "./text/disassembler.ts";
export type { Id } from "./type-pool.ts";
export { moduleSupport, type ValidateOptions, validateModule } from "./validate/index.ts";
export type { SpirvTarget } from "./version.ts";
export type { VertexInput } from "./vertex-inputs.ts";
export { InstructionTooLong, maxInstructionWords } from "./word-buffer.ts";
