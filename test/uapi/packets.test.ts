import { describe, expect, it } from "vitest";
import {
  decodePacket,
  decodeSdma,
  encodePacket,
  encodeSdma,
  fixedDwords,
  type PacketName,
  type PacketRow,
  packetRows,
  rawBufferResource,
  registerAt,
  type SdmaName,
  type SdmaRow,
  sdmaRows,
  shRegisters,
} from "../../src/uapi/index.ts";

describe("packets", () => {
  it("DISPATCH_DIRECT 8x4x1, wave32, compute: header and body by hand", () => {
    // 3<<30 | 3<<16 | 0x15<<8 | shader_type 1<<1; initiator: enable, start at 0, wave32.
    expect(
      encodePacket("DISPATCH_DIRECT", {
        groupsX: 8,
        groupsY: 4,
        groupsZ: 1,
        computeShaderEn: 1,
        forceStartAt000: 1,
        csW32En: 1,
      }),
    ).toEqual([0xc003_1502, 8, 4, 1, 0x8005]);
  });

  it("INDIRECT_BUFFER carries size, valid bit and VMID as the kernel puts them", () => {
    const fields = { address: 0xffff_8000_1234_5678n, sizeDwords: 0x123, valid: 1, vmid: 5 };
    expect(encodePacket("INDIRECT_BUFFER", fields, [], false)).toEqual([
      0xc002_3f00, 0x1234_5678, 0xffff_8000, 0x0580_0123,
    ]);
  });

  it("RELEASE_MEM of a 64-bit fence with an interrupt", () => {
    const words = encodePacket("RELEASE_MEM", {
      eventType: 0x14,
      eventIndex: 5,
      gl2Wb: 1,
      intSel: 2,
      dataSel: 2,
      address: 0x1_0000_1000n,
      data: 0x2_0000_0003n,
      contextId: 9,
    });
    expect(words).toEqual([0xc006_4902, 0x0020_0514, 0x4200_0000, 0x1000, 1, 3, 2, 9]);
  });

  it("each row decodes to what was encoded, at every field's largest value", () => {
    for (const [name, row] of Object.entries(packetRows) as [PacketName, PacketRow][]) {
      const values: Record<string, number | bigint> = {};
      for (const [word, kind] of row.words) {
        if (kind === "u64") values[word] = 0xfedc_ba98_7654_3210n;
        else if (kind === "u32") values[word] = 0xffff_fffe;
        else for (const [field, , width] of kind) values[field] = 2 ** width - 1;
      }
      const tail = row.tail ? [1, 0xffff_ffff] : [];
      const words = encodePacket(name, values as never, tail);
      const decoded = decodePacket([0x8000_0000, ...words], 1);
      expect(decoded).toMatchObject({ name, values, tail, sizeDwords: 1 + fixedDwords(row) + tail.length });
    }
  });

  it("fields of a row don't overlap", () => {
    for (const row of Object.values(packetRows) as PacketRow[]) {
      for (const [, kind] of row.words) {
        if (typeof kind === "string") continue;
        let seen = 0n;
        for (const [name, lsb, width] of kind) {
          const mask = ((1n << BigInt(width)) - 1n) << BigInt(lsb);
          expect([name, seen & mask, mask >> 32n]).toEqual([name, 0n, 0n]);
          seen |= mask;
        }
      }
    }
  });

  it("refuse what does not fit: values, names, lengths", () => {
    expect(() => encodePacket("INDIRECT_BUFFER", { sizeDwords: 1 << 20 })).toThrow(/20 bits/);
    expect(() => encodePacket("NOP", { x: 1 } as never, [0])).toThrow(/has no x/);
    expect(() => encodePacket("SET_SH_REG", { offset: 0 })).toThrow(/0 dwords/);
    expect(() => encodePacket("ACQUIRE_MEM", {}, [1])).toThrow(/1 dwords/);
    expect(() => encodePacket("EVENT_WRITE", {}, [1, 2, 3])).toThrow(/3 dwords/);
    expect(() => encodePacket("NOP", {}, new Array(0x4000).fill(0))).toThrow(/dwords/);
  });

  it("malformed streams are told apart, with the place", () => {
    expect(decodePacket([0], 0)).toMatchObject({ reason: "not a type-3 packet", offsetDwords: 0 });
    expect(decodePacket([0xc000_9900, 0], 0)).toMatchObject({ reason: "unknown opcode 0x99" });
    expect(decodePacket([0xc003_1502, 1, 1], 0)).toMatchObject({ reason: expect.stringMatching(/runs past the end/) });
    expect(decodePacket([0xc001_1502, 1, 1], 0)).toMatchObject({ reason: "DISPATCH_DIRECT with 2 body dwords" });
    expect(decodePacket([0x8000_0000], 0)).toMatchObject({ name: "NOP", sizeDwords: 1 });
    expect(decodePacket([0xffff_1000], 0)).toMatchObject({ name: "NOP", sizeDwords: 1 });
  });
});

describe("registers", () => {
  it("have one row an offset, inside the SH space, user data at 0xb900", () => {
    const offsets = Object.values(shRegisters).map((row) => row.offset);
    expect(new Set(offsets).size).toBe(offsets.length);
    expect(registerAt(0xb848)?.[0]).toBe("COMPUTE_PGM_RSRC1");
    expect(registerAt(0xb93c)?.[0]).toBe("COMPUTE_USER_DATA_15");
    expect(registerAt(0xb940)).toBeUndefined();
  });
});

describe("buffer resources", () => {
  it("of a raw buffer hold the 48-bit base, the size, xyzw selects, 32_FLOAT and raw bounds", () => {
    // w3: selects 4,5,6,7 = 0xfac; format 22 << 12; resource level 1 << 24; oob 3 << 28; type 0.
    expect(rawBufferResource(0xffff_8000_0012_3400n, 1000)).toEqual([0x0012_3400, 0x8000, 1000, 0x3101_6fac]);
    expect(rawBufferResource(0x12_3456_7890n, 4)).toEqual([0x3456_7890, 0x12, 4, 0x3101_6fac]);
  });

  it("refuse a size that does not fit", () => {
    expect(() => rawBufferResource(0n, 2 ** 32)).toThrow(/32 bits/);
  });
});

describe("SDMA packets", () => {
  it("COPY_LINEAR: opcode 1, bytes less by 1, source before destination", () => {
    const words = encodeSdma("COPY_LINEAR", { count: 4095, src: 0x1_0000_0004n, dst: 0xffff_8000_0000_0010n });
    expect(words).toEqual([0x0000_0001, 4095, 0, 4, 1, 0x10, 0xffff_8000]);
  });

  it("headers: sub-opcode in [15:8], fields above", () => {
    expect(encodeSdma("COPY_SUB_WINDOW", { elementSize: 3 })[0]).toBe(0x6000_0401);
    expect(encodeSdma("INDIRECT", { vmid: 5 })[0]).toBe(0x0005_0004);
    expect(encodeSdma("CONST_FILL", { fillSize: 2 })[0]).toBe(0x8000_000b);
    expect(encodeSdma("POLL_REGMEM", { function: 3, memPoll: 1 })[0]).toBe(0xb000_0008);
    expect(encodeSdma("TIMESTAMP_GET", { address: 0n })[0]).toBe(0x0000_020d);
  });

  it("each row decodes to what was encoded, at every field's largest value, and its fields don't overlap", () => {
    for (const [name, row] of Object.entries(sdmaRows) as [SdmaName, SdmaRow][]) {
      const values: Record<string, number | bigint> = {};
      const fields = (rows: readonly (readonly [string, number, number])[], used: bigint) => {
        let seen = used;
        for (const [field, lsb, width] of rows) {
          values[field] = 2 ** width - 1;
          const mask = ((1n << BigInt(width)) - 1n) << BigInt(lsb);
          expect([name, field, seen & mask, mask >> 32n]).toEqual([name, field, 0n, 0n]);
          seen |= mask;
        }
      };
      fields(row.header, 0xffffn);
      for (const [word, kind] of row.words) {
        if (kind === "u64") values[word] = 0xfedc_ba98_7654_3210n;
        else if (kind === "u32") values[word] = 0xffff_fffe;
        else fields(kind, 0n);
      }
      const tail = row.tail ? [1, 0xffff_ffff] : [];
      if (row.tail) values[row.tail[1]] = 2 - row.tail[2];
      const words = encodeSdma(name, values as never, tail);
      expect(decodeSdma([0, ...words], 1)).toMatchObject({ name, values, tail, sizeDwords: words.length });
    }
  });

  it("malformed streams are told apart; values that do not fit are refused", () => {
    expect(decodeSdma([0xff], 0)).toMatchObject({ reason: "unknown SDMA packet 255.0" });
    expect(decodeSdma([1, 2], 0)).toMatchObject({ reason: "COPY_LINEAR runs past the end of the buffer" });
    expect(decodeSdma([2, 0, 0, 7, 0], 0)).toMatchObject({ reason: "WRITE_LINEAR runs past the end of the buffer" });
    expect(() => encodeSdma("COPY_LINEAR", { count: 1 << 22 })).toThrow(/22 bits/);
    expect(() => encodeSdma("TRAP", {}, [1])).toThrow(/takes no data/);
  });
});
