import { decode, encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messageWriter, packMessage, unpackMessage } from "../../src/codeobj/message-pack.ts";

describe("packMessage", () => {
  it("writes what another MessagePack library reads as the same value", () => {
    const leaf = fc.oneof(
      fc.boolean(),
      fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
      fc.double({ noNaN: true }),
      fc.string(),
      fc.uint8Array(),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie("tree")),
        fc.dictionary(fc.string({ minLength: 1 }), tie("tree"), { noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(decode(packMessage(value as never))).toEqual(value);
      }),
      { numRuns: 500, seed: 2 },
    );
  });

  it("writes the shortest form, as the other library does, at every boundary of lengths and numbers", () => {
    const numbers = [0, 127, 128, 255, 256, 65535, 65536, 2 ** 32 - 1, -1, -32, 0.5];
    const sizes = [0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536];
    const values = [
      ...numbers,
      ...sizes.map((n) => "x".repeat(n)),
      ...sizes.map((n) => new Uint8Array(n)),
      ...sizes.map((n) => new Array<number>(n).fill(1)),
      ...sizes.map((n) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, i]))),
    ];
    for (const value of values) expect(Buffer.from(packMessage(value)).equals(encode(value))).toBe(true);
  });

  it("writes four numbers as a list in the shortest form, as the other library does, at every boundary", () => {
    const numbers = [0, 127, 128, 255, 256, 65535, 65536, 2 ** 24, 2 ** 32 - 1];
    for (const [k, a] of numbers.entries()) {
      const list = [a, numbers[(k + 1) % 9]!, numbers[(k + 3) % 9]!, numbers[(k + 6) % 9]!] as const;
      const out = messageWriter();
      out.four(...list);
      expect(Buffer.from(out.bytes()).equals(encode(list))).toBe(true);
    }
  });

  it("keeps integer keys and their order, and leaves absent members out", () => {
    expect([
      ...packMessage(
        new Map([
          [2, "a"],
          [1, undefined],
        ]),
      ),
    ]).toEqual([0x81, 0x02, 0xa1, 0x61]);
    expect([...packMessage({ b: 1, a: undefined })]).toEqual([0x81, 0xa1, 0x62, 0x01]);
  });
});

describe("unpackMessage", () => {
  it("refuses lengths beyond the input without reserving them", () => {
    // array 32 and map 32 of 2^32 - 1, string 32
    for (const tag of [0xdd, 0xdf, 0xdb]) expect(() => unpackMessage(Uint8Array.of(tag, 255, 255, 255, 255))).toThrow();
  });
});
