import { beforeEach, describe, expect, it } from "vitest";
import {
  Control,
  encodePacket,
  Fault,
  InterruptSource,
  PhysicalMap,
  Pte,
  Queue,
  QueueState,
} from "../../src/uapi/index.ts";
import { oracle } from "../oracles.ts";
import { assemble } from "./assembler.ts";
import { high, low, QUEUE, Rig, VMID } from "./rig.ts";

describe.skipIf(!oracle("llvm-mc-19"))("faults", () => {
  let rig: Rig;
  let good: { va: bigint; physical: number };
  beforeEach(() => {
    rig = new Rig();
    good = rig.alloc(4096);
  });

  /** Runs `text` with s[0:1] = a mapped page; the fault's PC is given as an offset into the code. */
  function run(text: string, user = [low(good.va), high(good.va)], extra: object = {}) {
    const code = rig.code(assemble(text));
    const fault = rig.run({ code, user, ...extra });
    return fault && { ...fault, offset: Number(fault.pc - code) };
  }

  /** After any fault the next dispatch works. */
  function stillAlive() {
    const fault = run("v_mov_b32_e32 v1, 0\n v_mov_b32_e32 v2, 42\n global_store_dword v1, v2, s[0:1]\n s_endpgm");
    expect(fault).toBeUndefined();
    expect(rig.u32(good.physical, 1)[0]).toBe(42);
  }

  const load = "v_mov_b32_e32 v1, 0\nglobal_load_dword v2, v1, s[0:1]\n";

  const pendingCases = [
    ["a read before the wait", `${load}v_add_nc_u32_e32 v3, v2, v2\ns_endpgm`, 12, [2, 1]],
    ["an overwrite before the wait", `${load}v_mov_b32_e32 v2, 0\ns_endpgm`, 12, [2, 1]],
    ["a store of the register before the wait", `${load}global_store_dword v1, v2, s[0:1]\ns_endpgm`, 12, [2, 1]],
    ["a wait for the other counter", `${load}s_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v3, v2\ns_endpgm`, 16, [2, 1]],
    [
      "a wait that leaves it outstanding",
      `${load}global_load_dword v3, v1, s[0:1]\ns_waitcnt vmcnt(1)\nv_mov_b32_e32 v4, v3\ns_endpgm`,
      24,
      [3, 1],
    ],
    ["a scalar load before its wait", "s_load_dword s4, s[0:1], null\ns_mov_b32 s5, s4\ns_endpgm", 8, [4, 0]],
    ["a pair that covers it", "s_load_dword s5, s[0:1], null\ns_mov_b64 s[8:9], s[4:5]\ns_endpgm", 8, [5, 0]],
    [
      "a wait for 1 with a scalar load out of order",
      "s_load_dword s4, s[0:1], null\ns_load_dword s5, s[0:1], null\ns_waitcnt lgkmcnt(1)\ns_mov_b32 s6, s4\ns_endpgm",
      20,
      [4, 0],
    ],
    [
      "an LDS load before its wait",
      "v_mov_b32_e32 v1, 0\nds_read_b32 v2, v1\nv_mov_b32_e32 v3, v2\ns_endpgm",
      12,
      [2, 1],
    ],
    ["a lane read of it", `${load}v_readlane_b32 s4, v2, 3\ns_endpgm`, 12, [2, 1]],
  ] as const;
  it.each(pendingCases)("PENDING_REGISTER: %s", (_, text, offset, detail) => {
    const fault = run(text, undefined, { ldsBytes: 512 });
    expect(fault).toMatchObject({ name: "PENDING_REGISTER", offset, detail });
    stillAlive();
  });

  it("no fault: waits in order, same-kind overwrite, other lanes of the register", () => {
    expect(
      run(`${load}global_load_dword v3, v1, s[0:1]\ns_waitcnt vmcnt(1)\nv_mov_b32_e32 v4, v2\ns_endpgm`),
    ).toBeUndefined();
    expect(
      run(`${load}global_load_dword v2, v1, s[0:1]\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v4, v2\ns_endpgm`),
    ).toBeUndefined();
    expect(
      run(
        "v_mov_b32_e32 v1, 0\ns_mov_b32 exec_lo, 0xffff\nglobal_load_dword v2, v1, s[0:1]\ns_not_b32 exec_lo, exec_lo\nv_mov_b32_e32 v2, 7\ns_endpgm",
      ),
    ).toBeUndefined();
    expect(
      run(
        "v_mov_b32_e32 v1, 0\nds_read_b32 v2, v1\nds_read_b32 v3, v1 offset:4\ns_waitcnt lgkmcnt(1)\nv_mov_b32_e32 v4, v2\ns_endpgm",
        undefined,
        { ldsBytes: 512 },
      ),
    ).toBeUndefined();
  });

  it("NOT_MAPPED names address, access, lane and instruction", () => {
    const fault = run("v_lshlrev_b32_e32 v1, 12, v0\nglobal_load_dword v2, v1, s[0:1]\ns_endpgm");
    expect(fault).toMatchObject({ name: "NOT_MAPPED", offset: 4, address: good.va + 4096n, lane: 1, access: 1 });
    stillAlive();
  });

  it("permissions: read-only, not executable, not canonical, a table entry into the GPU's own region", () => {
    const readOnly = rig.alloc(4096, Pte.READABLE);
    const store = "v_mov_b32_e32 v1, 0\nglobal_store_dword v1, v1, s[0:1]\ns_endpgm";
    expect(run(store, [low(readOnly.va), high(readOnly.va)])).toMatchObject({
      name: "NOT_WRITABLE",
      offset: 4,
      address: readOnly.va,
      access: 2,
    });
    expect(run("s_setpc_b64 s[0:1]")).toMatchObject({ name: "NOT_EXECUTABLE", address: good.va, pc: good.va });
    expect(run(store, [0, 0x12345678])).toMatchObject({ name: "NOT_CANONICAL", address: 0x1234567800000000n });
    rig.map(0x7000_0000n, PhysicalMap.CONTROL, 4096, Pte.READABLE | Pte.WRITABLE);
    expect(run(store, [0x7000_0000, 0])).toMatchObject({ name: "BAD_PTE", address: 0x7000_0000n });
    rig.map(0x7000_1000n, rig.bytes.length, 4096, Pte.READABLE | Pte.WRITABLE);
    expect(run(store, [0x7000_1000, 0])).toMatchObject({ name: "BAD_PTE" });
    const writeOnly = rig.alloc(4096, Pte.WRITABLE);
    expect(
      run("v_mov_b32_e32 v1, 0\nglobal_load_dword v1, v1, s[0:1]\ns_endpgm", [low(writeOnly.va), high(writeOnly.va)]),
    ).toMatchObject({ name: "NOT_READABLE" });
    expect(run("v_mov_b32_e32 v1, 2\nglobal_atomic_add v1, v1, s[0:1]\ns_endpgm")).toMatchObject({
      name: "MISALIGNED",
      access: 4,
    });
    stillAlive();
  });

  it("illegal and unmodelled instructions, registers out of the allocation", () => {
    expect(run(".long 0x7fffffff")).toMatchObject({ name: "ILLEGAL_INSTRUCTION", offset: 0 });
    expect(run("s_nop 0\nimage_load v0, v[0:1], s[4:11] dmask:0x1 dim:SQ_RSRC_IMG_2D unorm")).toMatchObject({
      name: "NOT_MODELLED",
      offset: 4,
    });
    expect(run("s_nop 0")).toMatchObject({ name: "ILLEGAL_INSTRUCTION", offset: 4 });
    expect(run("v_mov_b32_e32 v40, 0\ns_endpgm", undefined, { vgprs: 40 })).toMatchObject({
      name: "BAD_REGISTER",
      detail: [40, 1],
    });
    expect(run("v_mov_b32_e32 v39, 0\ns_endpgm", undefined, { vgprs: 40 })).toBeUndefined();
    expect(run("s_trap 2")).toMatchObject({ name: "TRAP" });
    expect(run("v_mov_b32_e32 v1, 2\nds_read_b32 v2, v1\ns_endpgm", undefined, { ldsBytes: 512 })).toMatchObject({
      name: "LDS_MISALIGNED",
      offset: 4,
    });
    stillAlive();
  });

  it("the record holds the faulting wave's registers", () => {
    const code = rig.code(
      assemble("v_add_nc_u32_e32 v3, 5, v0\ns_mov_b32 s9, 0x1234\ns_mov_b32 vcc_lo, 0x77\ns_trap 1"),
    );
    rig.submit(rig.packets({ code, user: [1, 2, 3], groups: [2, 3, 1], ids: [true, true, false] }));
    expect(rig.drain()?.name).toBe("TRAP");
    const record = PhysicalMap.FAULTS + QUEUE * Fault.SLOT_BYTES;
    expect([...rig.u32(record + Fault.SGPRS, 10)]).toEqual([1, 2, 3, 0, 0, 0, 0, 0, 0, 0x1234]);
    expect(rig.u32(record + Fault.SGPRS, 128)[106]).toBe(0x77);
    expect([...rig.u32(record + Fault.VGPRS + 3 * 128, 32)]).toEqual(Array.from({ length: 32 }, (_, l) => l + 5));
    expect([...rig.u32(record + Fault.GROUPS_X, 3)]).toEqual([2, 3, 1]);
    expect(rig.u32(record + Fault.WAVE_COUNT, 1)[0]).toBe(1);
    expect(rig.u32(record + Fault.VMID, 1)[0]).toBe(VMID);
    expect(rig.queue(Queue.STATE)).toBe(QueueState.HALTED);
    expect(rig.interrupts()).toContainEqual({ source: InterruptSource.FAULT, queue: QUEUE, data: 21 });
    rig.reset();
    expect(rig.queue(Queue.STATE)).toBe(QueueState.IDLE);
    stillAlive();
  });

  it("an endless loop stops on a halt request, with the instruction", () => {
    const code = rig.code(assemble("s_nop 0\nloop:\ns_add_u32 s5, s5, 1\ns_branch loop"));
    rig.submit(rig.packets({ code }));
    for (let i = 0; i < 5; i++) expect(rig.engine.run(10_000)).toBe(true);
    rig.setQueue(Queue.HALT_REQUEST, 1);
    expect(rig.engine.run(10_000)).toBe(false);
    const fault = rig.fault();
    expect(fault?.name).toBe("HALTED");
    expect([4, 8]).toContain(Number(fault!.pc - code));
    expect(rig.interrupts()).toContainEqual({ source: InterruptSource.HALTED, queue: QUEUE, data: 48 });
    rig.reset();
    stillAlive();
  });
});

describe("packets", () => {
  let rig: Rig;
  beforeEach(() => {
    rig = new Rig();
  });

  it("WRITE_DATA, nested and chained buffers, fillers, fence and interrupt", () => {
    const to = rig.alloc(4096);
    const write = (offset: number, value: number) =>
      encodePacket("WRITE_DATA", { dstSel: 5, writeConfirm: 1, address: to.va + BigInt(offset) }, [value]);
    const inner = rig.alloc(4096);
    const innerPackets = write(4, 22);
    rig.u32(inner.physical, 64).set(innerPackets);
    const chained = rig.alloc(4096);
    const chainedPackets = write(12, 44);
    rig.u32(chained.physical, 64).set(chainedPackets);
    rig.submit([
      0x80000000,
      ...write(0, 11),
      ...encodePacket("INDIRECT_BUFFER", { address: inner.va, sizeDwords: innerPackets.length, valid: 1 }),
      ...encodePacket("NOP", {}, [1, 2, 3]),
      0xffff1000,
      ...write(8, 33),
      ...encodePacket("INDIRECT_BUFFER", {
        address: chained.va,
        sizeDwords: chainedPackets.length,
        valid: 1,
        chain: 1,
      }),
    ]);
    expect(rig.drain()).toBeUndefined();
    expect([...rig.u32(to.physical, 5)]).toEqual([11, 22, 33, 44, 0]);
    expect(rig.interrupts()).toEqual([{ source: InterruptSource.END_OF_PIPE, queue: QUEUE, data: 77 }]);
    expect(rig.queue(Queue.STATE)).toBe(QueueState.IDLE);
    expect(rig.control(Control.GPU_STATE)).toBe(1);
  });

  it.each([
    ["UNKNOWN_PACKET", [0xc0009900, 0], 0],
    ["UNKNOWN_PACKET", [0x00001234], 0],
    ["MALFORMED_PACKET", [0xc0051500, 1, 1, 1, 1], 0],
    ["MALFORMED_PACKET", [0xc0021500, 1, 1, 1], 0],
    ["BAD_REGISTER_OFFSET", [0xc0017600, 0x3ff, 0], 0],
    [
      "BAD_DISPATCH",
      encodePacket("DISPATCH_DIRECT", {
        groupsX: 1,
        groupsY: 1,
        groupsZ: 1,
        computeShaderEn: 1,
        forceStartAt000: 1,
        csW32En: 1,
      }),
      0,
    ],
    [
      "BAD_DISPATCH",
      encodePacket("DISPATCH_DIRECT", { groupsX: 1, groupsY: 1, groupsZ: 1, computeShaderEn: 1, forceStartAt000: 1 }),
      0,
    ],
    ["NOT_MAPPED", encodePacket("WRITE_DATA", { dstSel: 5, address: 0x5000n }, [1]), 0],
    ["NOT_MAPPED", encodePacket("INDIRECT_BUFFER", { address: 0x9000n, sizeDwords: 4, valid: 1 }), 4],
  ] as const)("%s: %j", (name, packets, skipped) => {
    rig.submit([...packets]);
    const fault = rig.drain();
    expect(fault?.name).toBe(name);
    if (skipped === 0) expect(fault?.header).toBe(packets[0]);
    else expect(fault?.packet).toBe(0x9000n);
    rig.reset();
    const to = rig.alloc(4096);
    rig.submit(encodePacket("WRITE_DATA", { dstSel: 5, address: to.va }, [5]));
    expect(rig.drain()).toBeUndefined();
    expect(rig.u32(to.physical, 1)[0]).toBe(5);
  });

  it("IB_DEPTH where buffers nest a third time", () => {
    const a = rig.alloc(4096);
    const b = rig.alloc(4096);
    const call = (va: bigint) => [
      ...encodePacket("INDIRECT_BUFFER", { address: va, sizeDwords: 6, valid: 1 }),
      0x80000000,
      0x80000000,
    ];
    rig.u32(a.physical, 6).set(call(b.va));
    rig.u32(b.physical, 6).set(call(a.va));
    rig.submit([...call(a.va)]);
    expect(rig.drain()?.name).toBe("IB_DEPTH");
  });

  it("a dispatch of no groups ends at once", () => {
    rig.submit(rig.packets({ code: 0x1000n, groups: [4, 0, 1] }));
    expect(rig.drain()).toBeUndefined();
  });
});

describe.skipIf(!oracle("llvm-mc-19"))("launch state", () => {
  it("fills user SGPRs, workgroup ids, group size and thread ids in order", () => {
    const rig = new Rig();
    const groups = [2, 3, 2] as const;
    const threads = [5, 7, 2] as const;
    const to = rig.alloc(12 * 70 * 32);
    // Record of 8 dwords per thread: ids, local ids, tg_size, and EXEC.
    const code = rig.code(
      assemble(`
        v_mul_u32_u24_e32 v3, 5, v1
        v_add_nc_u32_e32 v3, v3, v0
        v_mad_u32_u24 v3, v2, 35, v3
        s_mul_i32 s8, s5, 3
        s_add_u32 s8, s8, s4
        s_lshl_b32 s8, s8, 1
        s_add_u32 s8, s8, s3
        s_mulk_i32 s8, 70
        v_add_nc_u32_e32 v3, s8, v3
        v_lshlrev_b32_e32 v3, 5, v3
        v_mov_b32_e32 v4, s3
        v_mov_b32_e32 v5, s4
        v_mov_b32_e32 v6, s5
        v_mov_b32_e32 v7, s6
        v_mov_b32_e32 v8, exec_lo
        global_store_dwordx3 v3, v[0:2], s[0:1]
        global_store_dwordx4 v3, v[4:7], s[0:1] offset:12
        global_store_dword v3, v8, s[0:1] offset:28
        s_endpgm`),
    );
    const user = [low(to.va), high(to.va), 0];
    expect(
      rig.run({ code, user, groups, threads, ids: [true, true, true], threadIds: 2, tgSize: true }),
    ).toBeUndefined();
    const out = rig.u32(to.physical, 12 * 70 * 8);
    for (let g = 0; g < 12; g++) {
      for (let t = 0; t < 70; t++) {
        const at = (g * 70 + t) * 8;
        const wave = t >> 5;
        expect([...out.subarray(at, at + 8)]).toEqual([
          t % 5,
          Math.floor(t / 5) % 7,
          Math.floor(t / 35),
          g % 2,
          Math.floor(g / 2) % 3,
          Math.floor(g / 6),
          3 | (wave << 6) | (wave << 20),
          wave < 2 ? 0xffffffff : 0x3f,
        ]);
      }
    }
    expect(rig.queue(Queue.WAVES_LO)).toBe(36);
    expect(rig.queue(Queue.DISPATCHES)).toBe(1);
    expect(rig.queue(Queue.INSTRUCTIONS_LO)).toBe(36 * 19);
  });
});
