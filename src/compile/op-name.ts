import { opName as nameOf } from "../spirv/index.ts";

/** `OpIAdd` for 128: what the core's messages need, for callers that load this folder when they first compile. */
export const opName = (opcode: number): string => nameOf(opcode);
