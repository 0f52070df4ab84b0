import { describe, expect, it } from "vitest";
import { decodeRecord, encodeRecord } from "../../src/codeobj/index.ts";
import { record } from "./sample.ts";

describe("cached record", () => {
  const stored = encodeRecord(record);

  it("gives back the record that was stored", () => {
    expect(decodeRecord(stored)).toEqual(record);
  });

  it("reads from a view into a larger buffer, as a cache tier hands it out", () => {
    const larger = new Uint8Array(stored.length + 20);
    larger.set(stored, 13);
    expect(decodeRecord(larger.subarray(13, 13 + stored.length))).toEqual(record);
  });

  it("is the same bytes for the same record", () => {
    expect(Buffer.from(encodeRecord(structuredClone(record))).equals(stored)).toBe(true);
  });

  it("is a miss after any flip of any byte", () => {
    for (let at = 0; at < stored.length; at++) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const damaged = stored.slice();
        damaged[at] = damaged[at]! ^ flip;
        expect(decodeRecord(damaged), `byte ${at}`).toBeUndefined();
      }
    }
  });

  it("is a miss when cut anywhere or grown", () => {
    for (let size = 0; size < stored.length; size++) expect(decodeRecord(stored.slice(0, size))).toBeUndefined();
    const grown = new Uint8Array(stored.length + 1);
    grown.set(stored);
    expect(decodeRecord(grown)).toBeUndefined();
  });
});
