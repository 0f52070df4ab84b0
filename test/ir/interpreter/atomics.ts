import { atomicOps } from "../../../src/ir/index.ts";

/** The new value of an atomic over words or pairs of them; `mine` is the operand. */
export function combined(op: number, old: bigint, mine: bigint, bits: number): bigint {
  const signed = (x: bigint) => BigInt.asIntN(bits, x);
  switch (atomicOps[op]) {
    case "add":
      return BigInt.asUintN(bits, old + mine);
    case "umin":
      return old < mine ? old : mine;
    case "umax":
      return old > mine ? old : mine;
    case "imin":
      return signed(old) < signed(mine) ? old : mine;
    case "imax":
      return signed(old) > signed(mine) ? old : mine;
    case "and":
      return old & mine;
    case "or":
      return old | mine;
    case "xor":
      return old ^ mine;
    default:
      return mine;
  }
}
