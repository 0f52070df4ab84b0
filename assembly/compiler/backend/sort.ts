/** Sorting of index columns. */
import { U32Column } from "../../base/index.ts";

function key(keys: usize, shift: u32, item: u32): u32 {
  return load<u32>(keys + ((<usize>item) << shift));
}

/** Runs of this length are sorted by insertion. */
const RUN: u32 = 8;

/** Sorts `items[start .. end)` by insertion: little to do where they are nearly in order. */
function insertionSort(items: U32Column, start: u32, end: u32, keys: usize, shift: u32): void {
  for (let i = start + 1; i < end; i++) {
    const item = items[i];
    const k = key(keys, shift, item);
    let j = i;
    while (j > start && key(keys, shift, items[j - 1]) > k) {
      items[j] = items[j - 1];
      j--;
    }
    items[j] = item;
  }
}

/**
 * Sorts `items[0 .. count)` by the word at `keys + (item << shift)`, ascending and stable; `spare` holds as many. Bottom-up merge: O(n log n) and
 * no recursion.
 */
export function sortByKey(items: U32Column, spare: U32Column, count: u32, keys: usize, shift: u32): void {
  let from = items;
  let to = spare;
  for (let start: u32 = 0; start < count; start += RUN)
    insertionSort(items, start, min<u32>(start + RUN, count), keys, shift);
  for (let width = RUN; width < count; width <<= 1) {
    for (let start: u32 = 0; start < count; start += width << 1) {
      const middle = min<u32>(start + width, count);
      const end = min<u32>(start + (width << 1), count);
      if (middle >= end || key(keys, shift, from[middle - 1]) <= key(keys, shift, from[middle])) {
        memory.copy(to.at(start), from.at(start), (<usize>(end - start)) << 2);
        continue;
      }
      let a = start;
      let b = middle;
      for (let k = start; k < end; k++) {
        if (a < middle && (b >= end || key(keys, shift, from[a]) <= key(keys, shift, from[b]))) to[k] = from[a++];
        else to[k] = from[b++];
      }
    }
    const other = from;
    from = to;
    to = other;
  }
  if (changetype<usize>(from) != changetype<usize>(items)) {
    for (let i: u32 = 0; i < count; i++) items[i] = from[i];
  }
}
