import { describe, expect, it } from "vitest";
import { AddressSpace } from "../../src/kmd/address-space.ts";
import { Heap } from "../../src/kmd/heap.ts";
import { VaFlag } from "../../src/uapi/index.ts";

const PAGE = 4096;

function space(pages: number) {
  const memory = new SharedArrayBuffer(pages * PAGE + PAGE);
  const heap = new Heap(memory, PAGE, pages * PAGE);
  const made = AddressSpace.create(heap, memory, (table) => heap.free(table, PAGE));
  if (made === undefined) throw new Error("no root");
  return { heap, made, view: new DataView(memory) };
}

describe("page tables", () => {
  it("index the four levels by bits 47:39, 38:30, 29:21, 20:12 of the address", () => {
    const { made, view } = space(16);
    // 0x0000_1234_5678_9000: indices 36, 209, 179, 393 by hand.
    expect(
      made.map(0x1234_5678_9000n, PAGE, { physical: 0x0070_0000, flags: VaFlag.READ | VaFlag.WRITE, system: false }),
    ).toBe(true);
    let table = made.root;
    for (const index of [36, 209, 179]) {
      const entry = view.getBigUint64(table + index * 8, true);
      expect(entry & 0xfffn).toBe(1n);
      table = Number(entry & 0xffff_ffff_f000n);
    }
    // V (0), R (5), W (6).
    expect(view.getBigUint64(table + 393 * 8, true)).toBe(0x0070_0000n | 0x61n);
    expect(made.translate(0x1234_5678_9abcn)).toBe(0x0070_0abc);
  });

  it("carry system, execute and read bits, and physical addresses from 2 GiB on", () => {
    const { made } = space(16);
    made.map(0xffff_8000_0000_0000n, PAGE, {
      physical: 0xb000_0000,
      flags: VaFlag.READ | VaFlag.EXECUTE,
      system: true,
    });
    expect(made.walk(0xffff_8000_0000_0000n).at(-1)).toEqual({ level: 0, entry: 0xb000_0000n | 0x33n });
  });

  it("give back tables that become empty, and only those", () => {
    const { heap, made } = space(32);
    const free = heap.freeBytes;
    made.map(0x1_0000n, 2 * PAGE, { physical: 0, flags: VaFlag.READ, system: false });
    made.map(0x4000_0000n, PAGE, { physical: 0, flags: VaFlag.READ, system: false });
    // 3 tables for the first, and 2 more for the second: they share level 2's.
    expect(free - heap.freeBytes).toBe(5 * PAGE);
    made.unmap(0x1_0000n, 2 * PAGE);
    expect(free - heap.freeBytes).toBe(3 * PAGE);
    expect(made.translate(0x1_0000n)).toBeUndefined();
    expect(made.translate(0x4000_0000n)).toBe(0);
    made.unmap(0x4000_0000n, PAGE);
    expect(heap.freeBytes).toBe(free);
    made.destroy();
    expect(heap.freeBytes).toBe(free + PAGE);
  });

  it("change nothing when memory for tables runs out in the middle", () => {
    // Root + 3 tables for the first range; the second needs a second level 0 table for its last page.
    const { heap, made } = space(4);
    expect(made.map(0x1f_f000n, 2 * PAGE, { physical: 0x0050_0000, flags: VaFlag.READ, system: false })).toBe(false);
    expect(heap.freeBytes).toBe(3 * PAGE);
    expect(made.translate(0x1f_f000n)).toBeUndefined();
    expect(made.map(0x1f_f000n, PAGE, { physical: 0x0050_0000, flags: VaFlag.READ, system: false })).toBe(true);
  });

  it("have 2 MiB entries at level 1 (bit 54), and fragment 4 (bits 11:7) on whole 64 KiB pages of level 0", () => {
    const { made } = space(16);
    const flags = VaFlag.READ;
    // 2 MiB at both addresses, then 64 KiB and a page: the last page begins no other 64 KiB.
    made.map(0x20_0000n, 0x20_0000 + 0x1_1000, { physical: 0x0040_0000, flags, system: false });
    expect(made.walk(0x2f_0000n)).toEqual([
      { level: 3, entry: expect.anything() },
      { level: 2, entry: expect.anything() },
      { level: 1, entry: 0x0040_0000n | 0x21n | (1n << 54n) },
    ]);
    expect(made.translate(0x3f_f123n)).toBe(0x0040_0000 + 0x1f_f123);
    const big = made.walk(0x40_f000n).at(-1)?.entry ?? 0n;
    expect(big).toBe(0x0060_f000n | 0x21n | (4n << 7n));
    expect(made.walk(0x41_0000n).at(-1)?.entry).toBe(0x0061_0000n | 0x21n);
    made.remap(0x20_0000n, 0x20_0000 + 0x1_1000, { physical: 0x0080_0000, flags, system: true });
    expect(made.translate(0x20_0004n)).toBe(0x0080_0004);
    expect(made.translate(0x41_0004n)).toBe(0x00a1_0004);
    made.unmap(0x20_0000n, 0x20_0000 + 0x1_1000);
    expect(made.tableBytes).toBe(PAGE);
  });

  it("have holes (bit 51, not valid) that pages are bound in", () => {
    const { made } = space(16);
    made.mapHoles(0x10_0000n, 3 * PAGE);
    expect(made.walk(0x10_1000n).at(-1)).toEqual({ level: 0, entry: 1n << 51n });
    made.bind(0x10_1000n, PAGE, { physical: 0x0070_0000, flags: VaFlag.READ, system: false });
    expect(made.translate(0x10_1010n)).toBe(0x0070_0010);
    made.bind(0x10_1000n, PAGE, undefined);
    expect(made.translate(0x10_1010n)).toBeUndefined();
    made.unmap(0x10_0000n, 3 * PAGE);
    expect(made.tableBytes).toBe(PAGE);
  });
});
