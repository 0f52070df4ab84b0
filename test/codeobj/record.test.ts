import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decodeRecord, encodeRecord, StoredRecord } from "../../src/codeobj/index.ts";
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

  it("gives each part as an answer takes it, without the others", () => {
    const opened = StoredRecord.open(stored)!;
    const json = (part: Parameters<StoredRecord["text"]>[0]) => JSON.parse(opened.text(part));
    expect(opened.bytes).toBe(stored);
    expect([opened.text("stage"), opened.text("entryPoint")]).toEqual([record.stage, record.entryPoint]);
    expect(Buffer.from(opened.elf)).toEqual(Buffer.from(record.elf));
    expect(Buffer.from(opened.codeBase64(), "base64")).toEqual(Buffer.from(record.elf));
    expect(opened.text("codeSha256")).toBe(createHash("sha256").update(record.elf).digest("hex"));
    expect(opened.text("codeSizeBytes")).toBe("12");
    expect(json("stats")).toEqual(record.stats);
    expect(json("reflection")).toEqual(record.reflection);
    expect(json("layout")).toEqual({
      sets: [
        {
          set: 0,
          bindings: [
            { binding: 0, type: "storageBuffer", count: 1 },
            { binding: 3, type: "uniformBuffer", count: 1 },
          ],
        },
      ],
      pushConstantBytes: 8,
    });
    expect(json("vertexAttributes")).toEqual([]);
    expect(json("diagnostics")).toEqual(record.diagnostics);
    expect(json("sourceMap")).toEqual(record.sourceMap);
    expect(opened.record).toEqual(record);
    expect(opened.isSound()).toBe(true);
  });

  it("is not opened where its lengths do not fit, and is not sound where a part says another thing than the rest", () => {
    for (const size of [0, 39, 40, 83, stored.length - 1])
      expect(StoredRecord.open(stored.slice(0, size))).toBeUndefined();
    const other = Buffer.from(stored);
    // The layout's; in the reflection other members follow.
    const at = other.indexOf('"pushConstantBytes":8}');
    expect(at).toBeGreaterThan(0);
    other[at + '"pushConstantBytes":'.length] = 0x39;
    createHash("sha256").update(other.subarray(40)).digest().copy(other, 8);
    expect(StoredRecord.open(other)?.isSound()).toBe(false);
    expect(decodeRecord(other)).toBeUndefined();
  });
});
