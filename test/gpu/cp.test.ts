import { beforeEach, describe, expect, it } from "vitest";
import { encodePacket, Queue } from "../../src/uapi/index.ts";
import { Rig } from "./rig.ts";

describe("the command processor's data packets", () => {
  let rig: Rig;
  let to: { va: bigint; physical: number };
  beforeEach(() => {
    rig = new Rig();
    to = rig.alloc(8192);
  });

  function ran(packets: readonly number[]) {
    rig.submit(packets);
    return rig.drain();
  }

  it("COPY_DATA: memory, a value of its own and the clock to memory, one or two dwords", () => {
    rig.u32(to.physical, 2).set([0x1111_1111, 0x2222_2222]);
    const copy = (srcSel: number, src: bigint, dst: number, countSel: number, dstSel = 5) =>
      encodePacket("COPY_DATA", { srcSel, dstSel, countSel, src, dst: to.va + BigInt(dst) });
    const packets = [
      ...copy(1, to.va, 16, 0),
      ...copy(2, to.va, 24, 1, 2),
      ...copy(5, 0xaaaa_aaaa_bbbb_bbbbn, 32, 1),
      ...copy(9, 0n, 40, 1),
    ];
    expect(ran(packets)).toBeUndefined();
    expect([...rig.u32(to.physical + 16, 6)]).toEqual([
      0x1111_1111, 0, 0x1111_1111, 0x2222_2222, 0xbbbb_bbbb, 0xaaaa_aaaa,
    ]);
  });

  it("COPY_DATA to a register: user data that a later copy can't see, and refuses registers that are none", () => {
    expect(ran(encodePacket("COPY_DATA", { srcSel: 5, dstSel: 0, src: 7n, dst: 0xb900n / 4n }))).toBeUndefined();
    const fault = ran(encodePacket("COPY_DATA", { srcSel: 5, dstSel: 0, src: 7n, dst: 0x8000n / 4n }));
    expect(fault).toMatchObject({ name: "BAD_REGISTER_OFFSET", detail: [0x8000, 0] });
  });

  it("SET_CONTEXT_REG and SET_UCONFIG_REG take registers of their spaces and refuse others, naming the offset", () => {
    const set = (name: "SET_CONTEXT_REG" | "SET_UCONFIG_REG", offset: number) => encodePacket(name, { offset }, [1, 2]);
    const after = encodePacket("WRITE_DATA", { dstSel: 5, address: to.va }, [7]);
    expect(ran([...set("SET_CONTEXT_REG", 0x3fe), ...set("SET_UCONFIG_REG", 0), ...after])).toBeUndefined();
    expect(rig.u32(to.physical, 1)[0]).toBe(7);
    expect(ran(set("SET_CONTEXT_REG", 0x3ff))).toMatchObject({ name: "BAD_REGISTER_OFFSET", detail: [0x29000, 0] });
    rig.reset();
    expect(ran(set("SET_UCONFIG_REG", 0x400))).toMatchObject({ name: "BAD_REGISTER_OFFSET", detail: [0x31000, 0] });
  });

  it("EVENT_WRITE of the three partial flushes, and RELEASE_MEM's clock: it does not go back", () => {
    const flush = (eventType: number) => encodePacket("EVENT_WRITE", { eventType, eventIndex: 4 });
    const stamp = (at: number) =>
      encodePacket("RELEASE_MEM", { eventType: 0x28, eventIndex: 5, dataSel: 3, address: to.va + BigInt(at) });
    const copy = encodePacket("DMA_DATA", { srcSel: 2, src: 0n, dst: to.va + 256n, byteCount: 1024 });
    expect(ran([...stamp(0), ...flush(7), ...flush(15), ...flush(16), ...copy, ...stamp(8)])).toBeUndefined();
    const [first, , second] = rig.u32(to.physical, 4);
    // A line of 64 bytes copied is a tick.
    expect(second! - first!).toBe(16);
  });

  it("EVENT_WRITE of the statistics: eleven counters, 0 before any dispatch; refuses other sizes and addresses", () => {
    rig.u32(to.physical, 24).fill(9);
    const sample = (at: bigint, eventIndex = 2) =>
      encodePacket("EVENT_WRITE", { eventType: 30, eventIndex }, [Number(at & 0xffff_ffffn), Number(at >> 32n)]);
    expect(ran(sample(to.va + 4096n - 48n + 8n))).toBeUndefined();
    expect(ran(sample(to.va))).toBeUndefined();
    expect([...rig.u32(to.physical, 24)]).toEqual([...new Array(22).fill(0), 9, 9]);
    const bad = [sample(to.va + 4n), sample(to.va, 4), encodePacket("EVENT_WRITE", { eventType: 30, eventIndex: 2 })];
    for (const packet of [...bad, encodePacket("EVENT_WRITE", { eventType: 7, eventIndex: 4 }, [0, 0])]) {
      expect(ran(packet)).toMatchObject({ name: "MALFORMED_PACKET" });
      rig.reset();
    }
  });

  it("DMA_DATA copies across pages at odd addresses and fills with dwords", () => {
    const from = rig.alloc(8192);
    for (let i = 0; i < 8192; i++) rig.bytes[from.physical + i] = (i * 7) & 255;
    const copy = encodePacket("DMA_DATA", { src: from.va + 5n, dst: to.va + 3n, byteCount: 6001 });
    expect(ran(copy)).toBeUndefined();
    const bytes = rig.bytes.subarray(to.physical, to.physical + 8192);
    expect([bytes[2], bytes[3], bytes[6003], bytes[6004]]).toEqual([0, 35, (6005 * 7) & 255, 0]);
    expect([...bytes.subarray(3, 6004)].every((byte, i) => byte === (((i + 5) * 7) & 255))).toBe(true);
    const fill = encodePacket("DMA_DATA", { srcSel: 2, src: 0x0102_0304n, dst: to.va + 4092n, byteCount: 8 });
    expect(ran(fill)).toBeUndefined();
    expect([...rig.u32(to.physical + 4092, 3)].slice(0, 2)).toEqual([0x0102_0304, 0x0102_0304]);
  });

  it("WAIT_REG_MEM holds the packets behind it until memory compares, each function", () => {
    const cases = [
      [1, 5, 4],
      [2, 6, 5],
      [3, 4, 5],
      [4, 5, 6],
      [5, 4, 5],
      [6, 5, 6],
    ] as const;
    for (const [index, [compare, before, after]] of cases.entries()) {
      const cell = to.physical + 64 * index;
      rig.u32(cell, 2).set([0xff00 | before, 0]);
      rig.submit([
        ...encodePacket("WAIT_REG_MEM", {
          function: compare,
          memSpace: 1,
          address: to.va + BigInt(64 * index),
          reference: 5,
          mask: 0xff,
        }),
        ...encodePacket("WRITE_DATA", { dstSel: 5, address: to.va + BigInt(64 * index + 4) }, [1]),
      ]);
      for (let i = 0; i < 3; i++) expect([rig.engine.run(1000), rig.engine.waiting]).toEqual([true, true]);
      expect(rig.u32(cell, 2)[1]).toBe(0);
      rig.u32(cell, 1)[0] = 0xff00 | after;
      expect(rig.drain()).toBeUndefined();
      expect(rig.u32(cell, 2)[1]).toBe(1);
      expect(rig.engine.waiting).toBe(false);
    }
  });

  it("a halt request stops a wait and names the packet", () => {
    const wait = encodePacket("WAIT_REG_MEM", { function: 3, memSpace: 1, address: to.va, reference: 5, mask: 255 });
    rig.submit(wait);
    rig.engine.run(1000);
    rig.setQueue(Queue.HALT_REQUEST, 1);
    expect(rig.drain()).toMatchObject({ name: "HALTED", header: wait[0] });
  });

  it.each([
    ["WAIT_REG_MEM of function 7", () => encodePacket("WAIT_REG_MEM", { function: 7, memSpace: 1, address: to.va })],
    ["WAIT_REG_MEM of a register", () => encodePacket("WAIT_REG_MEM", { function: 3, address: to.va })],
    ["WAIT_REG_MEM, misaligned", () => encodePacket("WAIT_REG_MEM", { function: 3, memSpace: 1, address: to.va + 2n })],
    ["WAIT_REG_MEM cut short", () => [0xc0003c00, 0]],
    ["COPY_DATA from GDS", () => encodePacket("COPY_DATA", { srcSel: 3, dstSel: 5, dst: to.va })],
    ["COPY_DATA to nothing", () => encodePacket("COPY_DATA", { srcSel: 5, dstSel: 4, dst: to.va })],
    ["COPY_DATA, misaligned", () => encodePacket("COPY_DATA", { srcSel: 1, dstSel: 5, src: to.va + 1n, dst: to.va })],
    ["DMA_DATA fill of 3 bytes", () => encodePacket("DMA_DATA", { srcSel: 2, dst: to.va, byteCount: 3 })],
    ["DMA_DATA from GDS", () => encodePacket("DMA_DATA", { srcSel: 1, dst: to.va, byteCount: 4 })],
    ["DISPATCH_INDIRECT, misaligned", () => encodePacket("DISPATCH_INDIRECT", { address: to.va + 2n })],
    ["SET_CONTEXT_REG without a value", () => [0xc0006900, 0]],
    ["SET_UCONFIG_REG without a value", () => [0xc0007900, 0]],
    ["SET_SH_REG without a value", () => [0xc0007600, 0]],
    ["ACQUIRE_MEM cut short", () => [0xc0015800, 0, 0]],
    ["RELEASE_MEM of an unknown value", () => encodePacket("RELEASE_MEM", { dataSel: 4, address: to.va })],
    ["WRITE_DATA to a register", () => encodePacket("WRITE_DATA", { dstSel: 0, address: to.va }, [1])],
    ["INDIRECT_BUFFER of nothing", () => encodePacket("INDIRECT_BUFFER", { address: to.va, valid: 1 })],
    ["EVENT_WRITE of an unknown event", () => encodePacket("EVENT_WRITE", { eventType: 63, eventIndex: 4 })],
  ])("MALFORMED_PACKET: %s", (_, packets) => {
    const words = packets();
    expect(ran(words)).toMatchObject({ name: "MALFORMED_PACKET", header: words[0] });
  });

  it("a copy that runs off its memory faults with the first address outside", () => {
    expect(ran(encodePacket("DMA_DATA", { src: to.va, dst: to.va + 4096n, byteCount: 4097 }))).toMatchObject({
      name: "NOT_MAPPED",
      access: 2,
      address: to.va + 8192n,
    });
  });
});
