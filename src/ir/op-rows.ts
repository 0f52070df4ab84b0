import { opTable } from "./ops.ts";

/** Every op, for who lists them: row i is op number i + 1. */
export const opRows = opTable().rows;
/** Number of the op with this name, from 1. */
export const opNumbers = opTable().numbers;
