import { describe, expect, it } from "vitest";
import { decodeDump, decodePackets, formatIoctl, formatReport, nearestMapping } from "../../src/debug/index.ts";
import {
  Errno,
  encodeIoctl,
  encodePacket,
  Fault,
  FaultAccess,
  FaultKind,
  type FaultName,
  faultKinds,
  type MappingRecord,
  QueueKind,
  type RawDump,
  RegisterClass,
  WaveRecord,
  WaveStatus,
} from "../../src/uapi/index.ts";

const PC = 0x1_0000_0108n;
const CODE = 0x1_0000_0100n;
const IB = 0x2_0000_0000n;

/** s_mov_b32 s0, 0; v_mov_b32 v1, s0; s_endpgm. Encodings: llvm-mc. */
const code = [0xbe80_0380, 0x7e02_0200, 0xbf81_0000];

function dumpOf(
  set: (put: (offset: number, value: number | bigint) => void) => void,
  more: Partial<RawDump> = {},
): RawDump {
  const record = new Uint8Array(Fault.SLOT_BYTES);
  const view = new DataView(record.buffer);
  view.setUint32(Fault.WAVE_INDEX, 0xffff_ffff, true);
  view.setUint32(Fault.LANE, 0xffff_ffff, true);
  set((offset, value) => {
    if (typeof value === "bigint") view.setBigUint64(offset, value, true);
    else view.setUint32(offset, value, true);
  });
  return {
    record,
    processName: "app",
    fd: 3,
    context: 1,
    fence: 4n,
    reason: "fault",
    timeMs: 12,
    ibVa: IB,
    ib: Uint32Array.from([
      ...encodePacket("NOP", {}, [0]),
      ...encodePacket("DISPATCH_DIRECT", { groupsX: 3, groupsY: 2, groupsZ: 1, computeShaderEn: 1 }),
    ]),
    queueKind: QueueKind.COMPUTE,
    window: [],
    ring: new Uint32Array(0),
    mappings: [
      { va: CODE & ~0xfffn, sizeBytes: 4096, flags: 5, handle: 7, boOffset: 0, unmapped: false },
      { va: 0x3_0000_0000n, sizeBytes: 8192, flags: 3, handle: 9, boOffset: 0, unmapped: false },
      { va: 0x4_0000_0000n, sizeBytes: 4096, flags: 3, handle: 8, boOffset: 0, unmapped: true },
    ],
    code: { va: CODE, bytes: new Uint8Array(Uint32Array.from(code).buffer) },
    walk: [],
    boList: [7, 9],
    missing: [],
    ...more,
  };
}

describe("fault reports", () => {
  it("of a halt between two waves name the shader by its first instruction, and say so", () => {
    const dump = dumpOf((put) => {
      put(Fault.KIND, FaultKind.HALTED);
      put(Fault.PROGRAM_LO, CODE);
    });
    const sourceMap = [{ offset: 0, file: "a.comp", line: 3, column: 1 }];
    const report = decodeDump(dump, [{ va: CODE, sizeBytes: 12, name: "a:main", sourceMap }]);
    expect(report).toMatchObject({ codeOffset: 0, instruction: "s_mov_b32 s0, 0", source: { line: 3 } });
    expect(report.missing).toEqual(["a running wave: the instruction is the first one of the shader"]);
    const { code: _code, ...rest } = dump;
    expect(formatReport(decodeDump({ ...rest, code: undefined }))).toContain(
      "instruction 0x000100000100: not recorded",
    );
  });

  it("of an unmapped write name instruction, line, address, nearest mapping, packet and wave", () => {
    const dump = dumpOf((put) => {
      put(Fault.KIND, FaultKind.NOT_MAPPED);
      put(Fault.ACCESS, FaultAccess.WRITE);
      put(Fault.ADDRESS_LO, 0x3_0000_2010n);
      put(Fault.PC_LO, 0x1_0000_0104n);
      put(Fault.PACKET_LO, IB + 8n);
      put(Fault.VMID, 2);
      put(Fault.QUEUE, 1);
      put(Fault.WAVE_COUNT, 1);
      put(Fault.WAVE_INDEX, 0);
      put(Fault.WAVES + WaveRecord.PC_LO, 0x1_0000_0104n);
      put(Fault.WAVES + WaveRecord.EXEC, 0xffff);
      put(Fault.WAVES + WaveRecord.STATUS, WaveStatus.RUNNING);
      put(Fault.WAVES + WaveRecord.WORKGROUP_X, 5);
      put(Fault.SGPRS + 4 * 4, 0x1234);
      put(Fault.VGPR_COUNT, 2);
      put(Fault.VGPRS + 128 + 8, 0xabcd);
    });
    const sourceMap = [
      { offset: 0, file: "a.comp", line: 3, column: 1 },
      { offset: 4, file: "a.comp", line: 9, column: 5 },
      { offset: 8, file: "a.comp", line: 11, column: 1 },
    ];
    const report = decodeDump(dump, [{ va: CODE, sizeBytes: 12, name: "a:main", sourceMap }]);
    expect(report).toMatchObject({
      kind: "NOT_MAPPED",
      text: "write of unmapped address 0x000300002010",
      codeOffset: 4,
      instruction: "v_mov_b32_e32 v1, s0",
      source: { line: 9, column: 5 },
      packet: "DISPATCH_DIRECT groups 3x2x1 computeShaderEn 1",
    });
    expect(report.nearest).toBe("16 bytes past the end of BO 9 0x000300000000-0x000300002000 rw- (8 KiB)");
    expect(report.fields.sgprs[4]).toBe(0x1234);
    expect(report.fields.vgprs[32 + 2]).toBe(0xabcd);
    expect(formatReport(report).split("\n")).toEqual([
      "GPU fault in app: write of unmapped address 0x000300002010 [NOT_MAPPED]",
      "  source a.comp:9:5",
      "  instruction 0x000100000104 (a:main + 0x4): v_mov_b32_e32 v1, s0",
      `  address 0x000300002010: ${report.nearest}`,
      "  packet 0x000200000008: DISPATCH_DIRECT groups 3x2x1 computeShaderEn 1",
      "  queue 1, context 1, fence 4, VMID 2",
      " > workgroup 5,0,0 wave 0 running pc 0x000100000104 exec 0x0000ffff",
      "  s0: 0x00000000 0x00000000 0x00000000 0x00000000 0x00001234 0x00000000 0x00000000 0x00000000",
      "  vcc 0x00000000 m0 0x00000000 exec 0x00000000",
      "  v1 lanes 0-7: 0x00000000 0x00000000 0x0000abcd 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000",
      "    0x000100000100  s_mov_b32 s0, 0",
      "  > 0x000100000104  v_mov_b32_e32 v1, s0",
      "    0x000100000108  s_endpgm",
      "  listed BO 7 0x000100000000-0x000100001000 r-x (4 KiB)",
      "  listed BO 9 0x000300000000-0x000300002000 rw- (8 KiB)",
    ]);
  });

  it("of a register used too early name the register", () => {
    const text = (number: number, kind: number) =>
      decodeDump(
        dumpOf((put) => {
          put(Fault.KIND, FaultKind.PENDING_REGISTER);
          put(Fault.PC_LO, PC);
          put(Fault.DETAIL_0, number);
          put(Fault.DETAIL_1, kind);
        }),
      ).text;
    expect(text(7, RegisterClass.VGPR)).toBe("register v7 used while its load is outstanding");
    expect(text(20, RegisterClass.SGPR)).toBe("register s20 used while its load is outstanding");
  });

  it("fill every hole of every kind's sentence", () => {
    for (const { name, kind } of faultKinds) {
      const report = decodeDump(
        dumpOf((put) => {
          put(Fault.KIND, kind);
          put(Fault.ACCESS, FaultAccess.READ);
          put(Fault.PC_LO, PC);
          put(Fault.PACKET_LO, IB);
        }),
      );
      expect(report.kind).toBe(name satisfies FaultName);
      expect(report.text).not.toMatch(/[{}]/);
    }
  });

  it("never break on noise in a record", () => {
    let state = 7;
    for (let round = 0; round < 50; round++) {
      const dump = dumpOf((put) => {
        for (let at = 0; at < 0x2000; at += 4) {
          state = (Math.imul(state, 1103515245) + 12345) >>> 0;
          put(at, state);
        }
      });
      expect(formatReport(decodeDump(dump)).length).toBeGreaterThan(0);
    }
  });

  it("say what they could not record", () => {
    const report = decodeDump(dumpOf((put) => put(Fault.PC_LO, PC), { code: undefined, missing: ["code"] }));
    expect(formatReport(report)).toContain("not recorded: code");
    expect(report.kind).toBe("UNKNOWN");
  });
});

describe("nearest mapping", () => {
  const mapping = (va: bigint, unmapped = false): MappingRecord => ({
    va,
    sizeBytes: 4096,
    flags: 1,
    handle: Number(va >> 12n),
    boOffset: 0,
    unmapped,
  });
  const all = [mapping(0x1000n), mapping(0x9000n), mapping(0x4000n, true)];

  it("prefers the mapping that holds the address, then one that did, then the closest edge", () => {
    expect(nearestMapping(all, 0x1008n)).toMatch(/^8 bytes into BO 1 /);
    expect(nearestMapping(all, 0x4010n)).toMatch(/^16 bytes into unmapped BO 4 /);
    expect(nearestMapping(all, 0x8000n)).toMatch(/^4096 bytes before the start of BO 9 /);
    expect(nearestMapping(all, 0x2000n)).toMatch(/^0 bytes past the end of BO 1 /);
    expect(nearestMapping([], 0n)).toBe("nothing is mapped");
  });
});

describe("packets as text", () => {
  it("name registers and their fields, one line a packet", () => {
    const words = [
      ...encodePacket("SET_SH_REG", { offset: (0xb84c - 0xb000) / 4 }, [(5 << 1) | (1 << 7)]),
      ...encodePacket("SET_SH_REG", { offset: 0x240 }, [1, 2]),
      ...encodePacket("WRITE_DATA", { dstSel: 5, address: 0xffff_8000_0000_1000n }, [7]),
      0x1234_5678,
      0x8000_0000,
    ];
    expect(decodePackets(words, 0x1000n).map(({ va, text, ok }) => [va, text, ok])).toEqual([
      [0x1000n, "SET_SH_REG COMPUTE_PGM_RSRC2 = 0x8a (USER_SGPR 5, TGID_X_EN 1)", true],
      [0x100cn, "SET_SH_REG COMPUTE_USER_DATA_0 = 0x1; COMPUTE_USER_DATA_1 = 0x2", true],
      [0x101cn, "WRITE_DATA dstSel 5 address 0xffff800000001000 data 0x7", true],
      [0x1030n, "0x12345678: not a type-3 packet", false],
      [0x1034n, "NOP 1 dwords", true],
    ]);
  });
});

describe("ioctls as text", () => {
  const event = (name: "SUBMIT" | "GEM_CREATE", arg: DataView, result: number, answer?: (view: DataView) => void) => {
    const before = new Uint8Array(arg.buffer).slice();
    answer?.(arg);
    const after = new Uint8Array(arg.buffer).slice();
    return {
      fd: 3,
      processName: "app",
      number: name === "SUBMIT" ? 9 : 1,
      name,
      before,
      after,
      result,
      microseconds: 42,
    };
  };

  it("show inputs, answers after an arrow, hex, the BO list, result and time", () => {
    const arg = encodeIoctl("SUBMIT", { context: 1, queueKind: 1, ibVa: 0x1000n, ibDwords: 2 }, [5, 6]);
    const line = formatIoctl(event("SUBMIT", arg, 0, (view) => view.setBigUint64(24, 9n, true)));
    expect(line).toBe(
      "[app] ioctl(3, SUBMIT, {context=1, queueKind=1, ibVa=0x1000, ibDwords=2, boCount=2, fence -> 9, handles=[5 6]} " +
        "0x01000000010000000010000000000000020000000200000009000000000000000000000000000000) = 0 <0.000042>",
    );
  });

  it("name the errno and leave out answers that were not given", () => {
    const line = formatIoctl(event("GEM_CREATE", encodeIoctl("GEM_CREATE", { size: 5n, domain: 1 }), Errno.ENOMEM));
    expect(line).toMatch(/GEM_CREATE, \{size=5, domain=1, flags=0\} 0x[0-9a-f]{48}\) = -12 ENOMEM/);
  });

  it("survive unknown numbers and short blocks", () => {
    const base = { fd: 3, processName: "x", before: new Uint8Array(2), after: new Uint8Array(2), microseconds: 0 };
    expect(formatIoctl({ ...base, number: 99, name: undefined, result: Errno.ENOTTY })).toMatch(
      /0x63, 2 bytes\) = -25 ENOTTY/,
    );
    expect(formatIoctl({ ...base, number: 9, name: "SUBMIT", result: Errno.EFAULT })).toMatch(
      /2 of 40 bytes\) = -14 EFAULT/,
    );
  });
});
