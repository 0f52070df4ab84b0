/** Open-addressed map from pairs of u32 to u32, for passes. Cleared at the start of a pass; bounded. */
import { Fail, fail, Limit, U32Column } from "../../base/index.ts";
import { PASS_BASE } from "../memory-map.ts";

const SIZE: u32 = 1 << 21;
const keyA = changetype<U32Column>(PASS_BASE);
const keyB = changetype<U32Column>(PASS_BASE + ((<usize>SIZE) << 2));
const values = changetype<U32Column>(PASS_BASE + ((<usize>SIZE) << 3));
/** The rest of the pass region is the pass's own. */
export const MAP_END: usize = PASS_BASE + 3 * ((<usize>SIZE) << 2);

let used: u32 = 0;
let mask: u32 = 0;

/**
 * Starts with an empty map: the size grows with `entries`, the most that will be put in, and only that much is cleared.
 */
export function mapClear(entries: u32): void {
  let size: u32 = 1 << 10;
  while (size < SIZE && size >> 1 < entries) size <<= 1;
  mask = size - 1;
  keyA.clear(0, size);
  used = 0;
}

function slotOf(a: u32, b: u32): u32 {
  let h = (a * 0x9e3779b1) ^ (b * 0x85ebca6b);
  h = (h ^ (h >> 15)) & mask;
  while (keyA[h] != 0 && (keyA[h] != a || keyB[h] != b)) h = (h + 1) & mask;
  return h;
}

/** Value of (a, b), 0 for none. a is not 0. */
export function mapGet(a: u32, b: u32): u32 {
  const h = slotOf(a, b);
  return keyA[h] == 0 ? 0 : values[h];
}

export function mapSet(a: u32, b: u32, value: u32): void {
  const h = slotOf(a, b);
  if (keyA[h] == 0) {
    if (used > mask >> 1) {
      fail(Fail.LIMIT, Limit.VARIABLES, mask >> 1, 0);
      return;
    }
    used++;
    keyA[h] = a;
    keyB[h] = b;
  }
  values[h] = value;
}
