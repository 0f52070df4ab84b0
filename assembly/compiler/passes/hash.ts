/** Open-addressed map from pairs of u32 to u32, for passes. Cleared at the start of a pass; grows, up to a bound. */
import { Fail, Field4, fail, Limit, U32Column } from "../../base/index.ts";
import { PASS_BASE } from "../memory-map.ts";

const SIZE: u32 = 1 << 21;
// Rows of key, key, value: what is looked at together stands together.
const keyA = changetype<Field4>(PASS_BASE);
const keyB = changetype<Field4>(PASS_BASE + 4);
const values = changetype<Field4>(PASS_BASE + 8);
/** Entries wait here while the map grows: those of half of a map a quarter or half as long as the longest. */
const spare = changetype<U32Column>(PASS_BASE + ((<usize>SIZE) << 4));
/** The rest of the pass region is the pass's own. */
export const MAP_END: usize = PASS_BASE + ((<usize>SIZE) << 4) + 3 * <usize>SIZE;

let used: u32 = 0;
let mask: u32 = 0;

function clearRows(size: u32): void {
  memory.fill(PASS_BASE, 0, (<usize>size) << 4);
}

/** Starts with an empty map with room for `entries` without growing; only that much is cleared. */
export function mapClear(entries: u32): void {
  let size: u32 = 1 << 7;
  while (size < SIZE && size >> 1 < entries) size <<= 1;
  mask = size - 1;
  clearRows(size);
  used = 0;
}

/**
 * Passes go through a long shader block by block: keys whose `a` are neighbours begin at neighbours, four `b` in a row
 * side by side. Where another key is, the way on is the key's own, so that a full stretch costs no more than elsewhere.
 */
function slotOf(a: u32, b: u32): u32 {
  const group = (b >> 2) * 0x9e3779b1;
  let h = (((a + (group ^ (group >> 15))) << 2) | (b & 3)) & mask;
  if (keyA[h] == 0 || (keyA[h] == a && keyB[h] == b)) return h;
  const mixed = (a * 0x9e3779b1) ^ (b * 0x85ebca6b);
  const step = (mixed ^ (mixed >> 15)) | 1;
  do h = (h + step) & mask;
  while (keyA[h] != 0 && (keyA[h] != a || keyB[h] != b));
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
      if (mask + 1 >= SIZE) {
        fail(Fail.LIMIT, Limit.VARIABLES, mask >> 1, 0);
        return;
      }
      grow();
      mapSet(a, b, value);
      return;
    }
    used++;
    keyA[h] = a;
    keyB[h] = b;
  }
  values[h] = value;
}

/** Four times the size: the cost over all growing is that of the entries. */
function grow(): void {
  const size = mask + 1;
  let count: u32 = 0;
  for (let h: u32 = 0; h < size; h++) {
    if (keyA[h] == 0) continue;
    spare[3 * count] = keyA[h];
    spare[3 * count + 1] = keyB[h];
    spare[3 * count + 2] = values[h];
    count++;
  }
  mask = min<u32>(4 * size, SIZE) - 1;
  clearRows(mask + 1);
  for (let k: u32 = 0; k < count; k++) {
    const h = slotOf(spare[3 * k], spare[3 * k + 1]);
    keyA[h] = spare[3 * k];
    keyB[h] = spare[3 * k + 1];
    values[h] = spare[3 * k + 2];
  }
}
