import { describe, expect, it } from "vitest";
import { VaHeap } from "../../src/umd/va-heap.ts";

const MIB = 1 << 20;

describe("virtual address heap", () => {
  it("leaves an unmapped page after each allocation", () => {
    const heap = new VaHeap(0x10_0000n, 0x20_0000n);
    expect([heap.alloc(1), heap.alloc(8192), heap.alloc(4096)]).toEqual([0x10_0000n, 0x10_2000n, 0x10_5000n]);
  });

  it("aligns on the address, not on the distance from the base", () => {
    const heap = new VaHeap(0x11_0000n, 0x100_0000n);
    expect(heap.alloc(4096, 0x10_0000)).toBe(0x20_0000n);
    expect(heap.alloc(4096)).toBe(0x11_0000n);
  });

  it("works in the high half of the address space", () => {
    const heap = new VaHeap(0xffff_8000_0001_0000n, 0xffff_8001_0000_0000n);
    expect(heap.alloc(4096)).toBe(0xffff_8000_0001_0000n);
    expect(heap.alloc(2 * MIB, 2 * MIB)).toBe(0xffff_8000_0020_0000n);
  });

  it("is full when no extent is long enough, and whole again when all is freed in any order", () => {
    const heap = new VaHeap(0n, 8n * 4096n);
    const parts = [heap.alloc(4096), heap.alloc(4096), heap.alloc(4096), heap.alloc(4096)] as bigint[];
    expect(heap.alloc(1)).toBeUndefined();
    for (const i of [2, 0, 3, 1]) heap.free(parts[i] as bigint, 4096);
    expect(heap.alloc(7 * 4096)).toBe(0n);
  });
});
