import { beforeEach, describe, expect, it } from "vitest";
import { encodeSdma, InterruptSource, Pte, Queue, QueueKind } from "../../src/uapi/index.ts";
import { QUEUE, Rig, VMID } from "./rig.ts";

describe("the copy engine", () => {
  let rig: Rig;
  let from: { va: bigint; physical: number };
  let to: { va: bigint; physical: number };
  let ib: { va: bigint; physical: number };
  beforeEach(() => {
    rig = new Rig();
    rig.setQueue(Queue.KIND, QueueKind.SDMA);
    from = rig.alloc(65_536);
    to = rig.alloc(65_536);
    ib = rig.alloc(4096);
    for (let i = 0; i < 65_536; i++) rig.bytes[from.physical + i] = (i * 31 + (i >> 8)) & 255;
  });

  function submit(packets: readonly number[]): void {
    rig.u32(ib.physical, packets.length).set(packets);
    rig.ring(encodeSdma("INDIRECT", { vmid: VMID, address: ib.va, sizeDwords: packets.length }));
  }

  function ran(packets: readonly number[]) {
    submit(packets);
    return rig.drain();
  }

  it("COPY_LINEAR copies count + 1 bytes at any alignment", () => {
    expect(ran(encodeSdma("COPY_LINEAR", { count: 9999, src: from.va + 7n, dst: to.va + 1n }))).toBeUndefined();
    const expected = rig.bytes.slice(from.physical + 7, from.physical + 10_007);
    expect(rig.bytes.slice(to.physical + 1, to.physical + 10_001)).toEqual(expected);
    expect([rig.bytes[to.physical], rig.bytes[to.physical + 10_001]]).toEqual([0, 0]);
  });

  it("COPY_SUB_WINDOW copies a box of elements between images of different pitch", () => {
    const element = 2;
    const box = { x: 3, y: 2, z: 1, width: 5, height: 4, depth: 2 };
    const [srcPitch, srcSlice, dstPitch, dstSlice] = [20, 20 * 9, 16, 16 * 8];
    const packet = encodeSdma("COPY_SUB_WINDOW", {
      elementSize: 1,
      src: from.va,
      srcX: box.x,
      srcY: box.y,
      srcZ: box.z,
      srcPitch: srcPitch - 1,
      srcSlicePitch: srcSlice - 1,
      dst: to.va,
      dstX: 1,
      dstY: 0,
      dstZ: 2,
      dstPitch: dstPitch - 1,
      dstSlicePitch: dstSlice - 1,
      rectX: box.width - 1,
      rectY: box.height - 1,
      rectZ: box.depth - 1,
    });
    expect(ran(packet)).toBeUndefined();
    const expected = new Uint8Array(65_536);
    for (let z = 0; z < box.depth; z++) {
      for (let y = 0; y < box.height; y++) {
        for (let x = 0; x < box.width * element; x++) {
          const src = ((box.z + z) * srcSlice + (box.y + y) * srcPitch + box.x) * element + x;
          expected[((2 + z) * dstSlice + y * dstPitch + 1) * element + x] = rig.bytes[from.physical + src]!;
        }
      }
    }
    expect(rig.bytes.slice(to.physical, to.physical + 65_536)).toEqual(expected);
  });

  it("COPY_SUB_WINDOW of more rows than one turn does", () => {
    const rows = 3000;
    const shape = { srcPitch: 15, srcSlicePitch: 15, dstPitch: 7, dstSlicePitch: 7 };
    const rect = { rectX: 7, rectY: rows - 1, rectZ: 0 };
    expect(ran(encodeSdma("COPY_SUB_WINDOW", { src: from.va, dst: to.va, ...shape, ...rect }))).toBeUndefined();
    for (const row of [0, 1023, 1024, 2999]) {
      const [src, dst] = [from.physical + row * 16, to.physical + row * 8];
      expect(rig.bytes.slice(dst, dst + 8)).toEqual(rig.bytes.slice(src, src + 8));
    }
    expect(rig.bytes[to.physical + rows * 8]).toBe(0);
  });

  it("CONST_FILL by bytes, halfwords and dwords, WRITE_LINEAR, FENCE, TIMESTAMP_GET, TRAP", () => {
    const at = (offset: number) => to.va + BigInt(offset);
    const packets = [
      ...encodeSdma("NOP", {}, [1, 2, 3]),
      ...encodeSdma("CONST_FILL", { fillSize: 0, dst: at(1), data: 0x1234_56ab, count: 4 }),
      ...encodeSdma("CONST_FILL", { fillSize: 1, dst: at(10), data: 0x1234_5678, count: 3 }),
      ...encodeSdma("CONST_FILL", { fillSize: 2, dst: at(16), data: 0x1234_5678, count: 7 }),
      ...encodeSdma("WRITE_LINEAR", { dst: at(24) }, [5, 6]),
      ...encodeSdma("FENCE", { address: at(32), data: 0xfeed }),
      ...encodeSdma("TIMESTAMP_GET", { address: at(40) }),
      ...encodeSdma("TRAP", { contextId: 0x123 }),
    ];
    expect(ran(packets)).toBeUndefined();
    const bytes = [...rig.bytes.subarray(to.physical, to.physical + 16)];
    expect(bytes).toEqual([0, 0xab, 0xab, 0xab, 0xab, 0xab, 0, 0, 0, 0, 0x78, 0x56, 0x78, 0x56, 0, 0]);
    expect([...rig.u32(to.physical + 16, 5)]).toEqual([0x1234_5678, 0x1234_5678, 5, 6, 0xfeed]);
    expect(rig.interrupts()).toEqual([{ source: InterruptSource.TRAP, queue: QUEUE, data: 0x123 }]);
  });

  it("POLL_REGMEM waits; with a retry count it gives up and goes on", () => {
    const poll = (retryCount: number) =>
      encodeSdma("POLL_REGMEM", {
        function: 3,
        memPoll: 1,
        address: to.va,
        reference: 9,
        mask: 0xffff_ffff,
        retryCount,
      });
    submit([...poll(0xfff), ...encodeSdma("FENCE", { address: to.va + 4n, data: 1 })]);
    for (let i = 0; i < 5000; i++) rig.engine.run(1000);
    expect([rig.engine.waiting, rig.u32(to.physical, 2)[1]]).toEqual([true, 0]);
    rig.u32(to.physical, 1)[0] = 9;
    expect(rig.drain()).toBeUndefined();
    expect(rig.u32(to.physical, 2)[1]).toBe(1);
    rig.u32(to.physical, 1)[0] = 0;
    submit([...poll(3), ...encodeSdma("FENCE", { address: to.va + 4n, data: 2 })]);
    for (let i = 0; i < 3; i++) expect(rig.engine.run(1000)).toBe(true);
    expect(rig.drain()).toBeUndefined();
    expect(rig.u32(to.physical, 2)[1]).toBe(2);
  });

  it.each([
    ["UNKNOWN_PACKET", () => [0x0000_00ff]],
    ["UNKNOWN_PACKET", () => [0x0000_0701, 0, 0, 0, 0, 0, 0, 0]],
    ["MALFORMED_PACKET", () => encodeSdma("COPY_LINEAR", { src: from.va, dst: to.va }).slice(0, 5)],
    ["MALFORMED_PACKET", () => encodeSdma("WRITE_LINEAR", { dst: to.va }, [1, 2, 3]).slice(0, 6)],
    ["MALFORMED_PACKET", () => encodeSdma("FENCE", { address: to.va + 1n })],
    ["MALFORMED_PACKET", () => encodeSdma("CONST_FILL", { fillSize: 2, dst: to.va, count: 4 })],
    ["MALFORMED_PACKET", () => encodeSdma("CONST_FILL", { fillSize: 3, dst: to.va, count: 3 })],
    ["MALFORMED_PACKET", () => encodeSdma("POLL_REGMEM", { function: 3, address: to.va })],
    ["MALFORMED_PACKET", () => encodeSdma("POLL_REGMEM", { function: 7, memPoll: 1, address: to.va })],
    ["MALFORMED_PACKET", () => encodeSdma("COPY_SUB_WINDOW", { src: from.va, dst: to.va, rectX: 4 })],
    ["MALFORMED_PACKET", () => encodeSdma("COPY_SUB_WINDOW", { elementSize: 5, src: from.va, dst: to.va })],
    ["IB_DEPTH", () => encodeSdma("INDIRECT", { address: ib.va, sizeDwords: 8 })],
  ])("%s: %#", (name, packets) => {
    const words = packets();
    expect(ran(words)).toMatchObject({ name, header: words[0], packet: ib.va });
    rig.reset();
    expect(ran(encodeSdma("FENCE", { address: to.va, data: 3 }))).toBeUndefined();
    expect(rig.u32(to.physical, 1)[0]).toBe(3);
  });

  it("a copy that runs off its memory faults with the first address outside, and one to read-only memory", () => {
    const off = encodeSdma("COPY_LINEAR", { count: 8191, src: from.va + 65_536n - 4096n, dst: to.va });
    expect(ran(off)).toMatchObject({ name: "NOT_MAPPED", access: 1, address: from.va + 65_536n });
    rig.reset();
    const readOnly = rig.alloc(4096, Pte.READABLE);
    expect(ran(encodeSdma("COPY_LINEAR", { count: 3, src: from.va, dst: readOnly.va }))).toMatchObject({
      name: "NOT_WRITABLE",
      address: readOnly.va,
    });
  });
});
