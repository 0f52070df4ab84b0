export type { ImmName, InstrFlag, OpRow } from "./ops.ts";
export { atomicOps, instrFlags, OpFlag, opNumbers, opRows } from "./ops.ts";
