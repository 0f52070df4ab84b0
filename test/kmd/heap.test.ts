import { describe, expect, it } from "vitest";
import { Heap } from "../../src/kmd/heap.ts";

const PAGE = 4096;
const heapOf = (pages: number) => {
  const memory = new SharedArrayBuffer((pages + 4) * PAGE);
  return { memory, heap: new Heap(memory, 4 * PAGE, pages * PAGE) };
};

describe("heap", () => {
  it("gives the first extent that is long enough", () => {
    const { heap } = heapOf(8);
    const a = heap.alloc(2 * PAGE) as number;
    const b = heap.alloc(PAGE) as number;
    expect([a, b]).toEqual([4 * PAGE, 6 * PAGE]);
    heap.free(a, 2 * PAGE);
    expect(heap.alloc(3 * PAGE)).toBe(7 * PAGE);
    expect(heap.alloc(2 * PAGE)).toBe(a);
    expect(heap.alloc(3 * PAGE)).toBeUndefined();
    expect(heap.freeBytes).toBe(2 * PAGE);
  });

  it("merges neighbours on free, in any order", () => {
    const { heap } = heapOf(3);
    const extents = [0, 1, 2].map(() => heap.alloc(PAGE) as number);
    for (const at of [1, 0, 2]) heap.free(extents[at] as number, PAGE);
    expect(heap.extents).toBe(1);
    expect(heap.alloc(3 * PAGE)).toBe(4 * PAGE);
  });

  it("zeroes what it gives out again", () => {
    const { memory, heap } = heapOf(2);
    const at = heap.alloc(PAGE) as number;
    new Uint8Array(memory, at, PAGE).fill(7);
    heap.free(at, PAGE);
    heap.alloc(2 * PAGE);
    expect(new Uint8Array(memory, at, 2 * PAGE).every((byte) => byte === 0)).toBe(true);
  });

  it("refuses a double free", () => {
    const { heap } = heapOf(4);
    const at = heap.alloc(2 * PAGE) as number;
    heap.free(at, 2 * PAGE);
    expect(() => heap.free(at, PAGE)).toThrow(/double free/);
    expect(() => heap.free(at + PAGE, PAGE)).toThrow(/double free/);
  });

  it("never hands out overlapping extents and leaks nothing over 20000 random steps", () => {
    const { heap } = heapOf(64);
    let state = 1;
    const random = (n: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state % n;
    };
    const live: { at: number; pages: number }[] = [];
    const owner = new Array<boolean>(68).fill(false);
    for (let step = 0; step < 20_000; step++) {
      if (random(2) === 0) {
        const pages = 1 + random(5);
        const at = heap.alloc(pages * PAGE);
        if (at === undefined) continue;
        for (let p = 0; p < pages; p++) {
          if (owner[at / PAGE + p]) throw new Error("overlap");
          owner[at / PAGE + p] = true;
        }
        live.push({ at, pages });
      } else if (live.length > 0) {
        const [gone] = live.splice(random(live.length), 1);
        if (gone === undefined) continue;
        for (let p = 0; p < gone.pages; p++) owner[gone.at / PAGE + p] = false;
        heap.free(gone.at, gone.pages * PAGE);
      }
    }
    for (const { at, pages } of live) heap.free(at, pages * PAGE);
    expect([heap.freeBytes, heap.extents]).toEqual([64 * PAGE, 1]);
  });
});
