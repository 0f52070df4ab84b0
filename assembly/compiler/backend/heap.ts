/** A heap of numbers by keys, the least key on top. One at a time; the passes' tables are dead. */
import { U32Column } from "../../base/index.ts";
import { PASS_BASE } from "../memory-map.ts";

/** Word 2n is a key, word 2n + 1 what has it. */
const heap = changetype<U32Column>(PASS_BASE + (16 << 20));
let size: u32 = 0;

export function emptyHeap(): void {
  size = 0;
}
export function heapSize(): u32 {
  return size;
}
/** The least key; there must be one. */
export function leastKey(): u32 {
  return heap[0];
}

export function pushHeap(key: u32, item: u32): void {
  let at = size++;
  while (at > 0) {
    const up = (at - 1) >> 1;
    if (heap[2 * up] <= key) break;
    heap[2 * at] = heap[2 * up];
    heap[2 * at + 1] = heap[2 * up + 1];
    at = up;
  }
  heap[2 * at] = key;
  heap[2 * at + 1] = item;
}

/** Takes off what has the least key; there must be one. */
export function popHeap(): u32 {
  const top = heap[1];
  const count = --size;
  const key = heap[2 * count];
  const item = heap[2 * count + 1];
  let at: u32 = 0;
  while (true) {
    let down: u32 = 2 * at + 1;
    if (down >= count) break;
    if (down + 1 < count && heap[2 * down + 2] < heap[2 * down]) down++;
    if (heap[2 * down] >= key) break;
    heap[2 * at] = heap[2 * down];
    heap[2 * at + 1] = heap[2 * down + 1];
    at = down;
  }
  heap[2 * at] = key;
  heap[2 * at + 1] = item;
  return top;
}
