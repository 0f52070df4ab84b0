export type { CounterClass } from "./flags.ts";
export { Flag } from "./flags.ts";
export type { FormatName } from "./formats.ts";
export { formatNames, formats } from "./formats.ts";
export { SourceCode, sgprCount } from "./registers.ts";
export type { Op, Operand, OperandKind, ValueType } from "./table.ts";
export { opByCode, opByMnemonic, ops } from "./table.ts";
