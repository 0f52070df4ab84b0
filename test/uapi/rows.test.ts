import { describe, expect, it } from "vitest";
import { generate } from "../../scripts/generate/uapi.ts";
import {
  Control,
  decodeIoctl,
  decodeIoctlList,
  Errno,
  encodeIoctl,
  errnoName,
  Fault,
  faultKinds,
  Interrupt,
  type IoctlRow,
  ioctlRows,
  isCanonical,
  MachineLimits,
  PhysicalMap,
  splitMemory,
} from "../../src/uapi/index.ts";

describe("ioctl rows", () => {
  it("have their own numbers, aligned fields without overlap, and errors that are rows", () => {
    const numbers = new Set<number>();
    for (const [name, row] of Object.entries(ioctlRows) as [string, IoctlRow][]) {
      expect(numbers.has(row.number)).toBe(false);
      numbers.add(row.number);
      const used = new Set<number>();
      for (const [field, offset, type] of row.fields) {
        const bytes = type === "u64" ? 8 : 4;
        expect([name, field, offset % bytes]).toEqual([name, field, 0]);
        for (let i = offset; i < offset + bytes; i++) {
          expect([name, field, used.has(i), i < row.sizeBytes]).toEqual([name, field, false, true]);
          used.add(i);
        }
      }
      for (const errno of Object.keys(row.errors)) expect(Errno).toHaveProperty(errno);
      const answers = row.fields.some((field) => field[3] === "out");
      expect([name, row.direction.includes("r")]).toEqual([name, answers]);
    }
  });

  it("encode little-endian at their offsets, lists after the struct", () => {
    const arg = encodeIoctl("SUBMIT", { context: 3, queueKind: 1, ibVa: 0xffff_8000_0000_0000n, ibDwords: 7 }, [5, 6]);
    expect([...new Uint8Array(arg.buffer)]).toEqual([
      ...[3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0xff, 7, 0, 0, 0, 2, 0, 0, 0],
      ...new Array(16).fill(0),
      ...[5, 0, 0, 0, 6, 0, 0, 0],
    ]);
    expect(decodeIoctl("SUBMIT", arg)).toMatchObject({ boCount: 2, ibVa: 0xffff_8000_0000_0000n });
    expect(decodeIoctlList("SUBMIT", arg)).toEqual([5, 6]);
    expect(decodeIoctlList("SUBMIT", new DataView(arg.buffer, 0, 44))).toBeUndefined();
  });

  it("errno names are found by number", () => {
    expect([errnoName(-12), errnoName(-1234)]).toEqual(["ENOMEM", undefined]);
  });
});

describe("memory map", () => {
  it("regions follow each other without overlap up to VRAM, and tables fit in the control block", () => {
    const m = PhysicalMap;
    const regions = [
      [m.GPU_STATICS, m.GPU_STATICS_BYTES],
      [m.CONTROL, m.CONTROL_BYTES],
      [m.INTERRUPTS, m.INTERRUPTS_BYTES],
      [m.FAULTS, m.FAULTS_BYTES],
      [m.GPU_PRIVATE, m.GPU_PRIVATE_BYTES],
      [m.VRAM, 0],
    ] as const;
    for (let i = 1; i < regions.length; i++) {
      expect(regions[i]![0]).toBeGreaterThanOrEqual(regions[i - 1]![0] + regions[i - 1]![1]);
    }
    expect(Control.QUEUE_TABLE).toBeGreaterThanOrEqual(Control.VMID_TABLE + MachineLimits.VMIDS * Control.VMID_BYTES);
    expect(Control.QUEUE_TABLE + MachineLimits.QUEUES * Control.QUEUE_BYTES).toBeLessThanOrEqual(m.CONTROL_BYTES);
    expect(Interrupt.ENTRIES * Interrupt.ENTRY_BYTES).toBeLessThanOrEqual(m.INTERRUPTS_BYTES);
    expect(MachineLimits.QUEUES * Fault.SLOT_BYTES).toBeLessThanOrEqual(m.FAULTS_BYTES);
    expect(Fault.WAVES + Fault.MAX_WAVES * Fault.WAVE_BYTES).toBeLessThanOrEqual(Fault.SGPRS);
    expect(Fault.SGPRS + 128 * 4).toBeLessThanOrEqual(Fault.VGPRS);
    expect(Fault.VGPRS + 256 * 32 * 4).toBeLessThanOrEqual(Fault.SLOT_BYTES);
  });

  it("VRAM and GTT fill the rest, page aligned, at the smallest and largest machine", () => {
    for (const bytes of [MachineLimits.MIN_MEMORY_BYTES, MachineLimits.MAX_MEMORY_BYTES]) {
      const { vramBase, vramBytes, gttBase, gttBytes } = splitMemory(bytes);
      expect([vramBase, gttBase, gttBase + gttBytes]).toEqual([PhysicalMap.VRAM, vramBase + vramBytes, bytes]);
      expect(vramBytes % 4096).toBe(0);
      expect(gttBytes).toBeGreaterThan(0);
    }
  });

  it("addresses are canonical when bits 63:47 agree", () => {
    const all = [0x7fff_ffff_ffffn, 0x8000_0000_0000n, 0xffff_8000_0000_0000n, 0xffff_7fff_ffff_ffffn, 1n << 60n];
    expect(all.map(isCanonical)).toEqual([true, false, true, false, false]);
  });
});

describe("generated constants", () => {
  const [file] = generate();

  it("hold every fault kind, each number once", () => {
    expect(new Set(faultKinds.map((row) => row.kind)).size).toBe(faultKinds.length);
    for (const { name, kind } of faultKinds) expect(file?.text).toContain(`  ${name} = ${kind},`);
  });

  it("getters of packet fields read the right bits: WRITE_DATA dst_sel [11:8]", () => {
    expect(file?.text).toContain(
      "export function pm4WriteDataDstSel(word: u32): u32 {\n  return (word >> 8) & 0xf;\n}",
    );
  });
});
