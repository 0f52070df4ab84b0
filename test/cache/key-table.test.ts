import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyTable, keyBytes } from "../../src/cache/key-table.ts";

/** Few keys with few first words: they collide in the hash slots. */
const keyOf = (n: number) => {
  const key = Buffer.alloc(keyBytes);
  key.writeUInt32LE(n % 5, 0);
  key.writeUInt32LE(n, 12);
  return key;
};
const contents = (table: KeyTable) =>
  [...table.ids()].map((id) => [Buffer.from(table.hex(id), "hex").readUInt32LE(12), table.value(id)]);

describe("key table", () => {
  it("does what a Map does whose rows are set anew at each use", () => {
    const step = fc.tuple(fc.constantFrom("set", "touch", "remove"), fc.nat(200), fc.nat(0xffffffff));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
        const table = new KeyTable();
        const model = new Map<number, number>();
        for (const [what, n, value] of steps) {
          const id = table.find(keyOf(n));
          expect(id >= 0).toBe(model.has(n));
          if (what === "set") {
            model.delete(n);
            model.set(n, value);
            table.set(keyOf(n), 0, value);
          } else if (id >= 0) {
            const had = model.get(n) as number;
            model.delete(n);
            if (what === "touch") {
              model.set(n, had);
              table.touch(id);
            } else table.remove(id);
          }
          expect(table.size).toBe(model.size);
        }
        expect(contents(table)).toEqual([...model]);
        for (const n of model.keys()) expect(table.value(table.find(keyOf(n)))).toBe(model.get(n));
      }),
      { numRuns: 100 },
    );
  });

  it("reads keys from inside of a buffer, and is empty after clear", () => {
    const table = new KeyTable();
    const row = Buffer.concat([Buffer.alloc(7), keyOf(1), keyOf(2)]);
    table.set(row, 7, 11);
    table.set(row, 7 + keyBytes, 22);
    expect(table.value(table.find(keyOf(2)))).toBe(22);
    table.clear();
    expect(table.find(keyOf(1))).toBe(-1);
    expect(contents(table)).toEqual([]);
    table.set(keyOf(3), 0, 33);
    expect(contents(table)).toEqual([[3, 33]]);
  });

  it("keeps marks until an entry is unmarked or set", () => {
    const table = new KeyTable();
    for (let n = 0; n < 4; n++) table.set(keyOf(n), 0, n);
    table.markAll();
    table.unmark(table.find(keyOf(1)));
    table.set(keyOf(2), 0, 5);
    table.set(keyOf(9), 0, 9);
    const marked = [...table.ids()].filter((id) => table.isMarked(id)).map((id) => table.value(id));
    expect(marked).toEqual([0, 3]);
  });
});
