export { type ImmRange, immediateRanges, invariantRows } from "./invariants.ts";
export type { ImmName, InstrFlag, OpRow } from "./ops.ts";
export { atomicOps, dynamicSet, instrFlags, OpFlag, opNumbers, opRows } from "./ops.ts";
export { IrSyntaxError, parseIr } from "./parse.ts";
export { passNumbers, passRows } from "./passes.ts";
export { printIr } from "./print.ts";
export { algebraicRules } from "./rules.ts";
export type { IrBlock, IrIf, IrInstr, IrLoop, IrNode, IrShader } from "./shader.ts";
export { decodeSnapshot, encodeSnapshot } from "./snapshot.ts";
