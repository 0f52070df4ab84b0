import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatReport, reportJson } from "../../src/debug/index.ts";
import { createMachine, type Machine } from "../../src/service/machine.ts";
import { type Buffer, type Device, DriverError } from "../../src/umd/index.ts";
import { assembleAll } from "../gpu/assembler.ts";
import { oracle } from "../oracles.ts";
import { compilerOf, record, request, userData } from "./shader.ts";

/** User SGPRs: s[0:1] ring, s2 set 0, s3 the push constant; then s4 workgroup id x. v0 is the thread id. */
const head = `
  s_mov_b32 s8, s2
  s_movk_i32 s9, 0x8000
  s_load_dwordx4 s[12:15], s[8:9], 0x0
  v_lshl_add_u32 v1, s4, 6, v0
  v_lshlrev_b32_e32 v3, 2, v1
  s_waitcnt lgkmcnt(0)`;
/** A 64-bit address in v[4:5]. */
const addressOf = (va: bigint) => `
  v_mov_b32_e32 v4, 0x${(va & 0xffff_ffffn).toString(16)}
  v_mov_b32_e32 v5, 0x${(va >> 32n).toString(16)}`;
const FAR = 0x1234_5678_0000n;
/** Where the driver's general heap starts: the ring page of every process. */
const FIRST = 0x1_0000_0000n;

const texts = {
  multiply: `${head}
    v_mul_lo_u32 v2, v1, s3
    buffer_store_dword v2, v3, s[12:15], 0 offen
    s_endpgm`,
  add: `${head}
    buffer_load_dword v2, v3, s[12:15], 0 offen
    s_waitcnt vmcnt(0)
    v_add_nc_u32_e32 v2, s3, v2
    buffer_store_dword v2, v3, s[12:15], 0 offen
    s_endpgm`,
  wild: `${addressOf(FAR)}
    s_nop 0
    global_store_dword v[4:5], v0, off offset:16
    s_endpgm`,
  readOnly: `${addressOf(FIRST)}
    global_store_dword v[4:5], v0, off
    s_endpgm`,
  peek: `${addressOf(FIRST + 0x10_0000n)}
    global_load_dword v6, v[4:5], off
    s_waitcnt vmcnt(0)
    s_endpgm`,
  early: `${head}
    buffer_load_dword v2, v3, s[12:15], 0 offen
    v_add_nc_u32_e32 v2, s3, v2
    s_endpgm`,
  endless: `
    s_nop 1
    s_branch 0xffff
    s_endpgm`,
  stuck: `
    v_cmp_gt_u32_e32 vcc_lo, 32, v0
    s_cbranch_vccz 2
    s_barrier
    s_endpgm
    s_nop 0
    s_branch 0xfffe
    s_endpgm`,
  runsOff: `s_nop 2`,
} as const;

const GROUPS = 3;
const THREADS = 64;

describe.skipIf(!oracle("llvm-mc-19"))("the whole machine", () => {
  let machine: Machine;
  let code: Record<keyof typeof texts, number[]>;

  beforeAll(() => {
    const names = Object.keys(texts) as (keyof typeof texts)[];
    const kernels = assembleAll(names.map((name) => texts[name]));
    code = Object.fromEntries(names.map((name, i) => [name, [...(kernels[i] ?? [])]])) as typeof code;
    machine = createMachine({ memoryBytes: 0x1000_0000 });
  });
  afterAll(() => machine.close());

  /** Loads a kernel; source lines are its dword numbers from 100 on. */
  function pipelineOf(device: Device, name: keyof typeof texts) {
    const words = code[name];
    const lines = words.map((_, i) => ({ offset: i * 4, line: 100 + i }));
    const answer = record({
      code: words,
      workgroupSize: [THREADS, 1, 1],
      buffers: [0],
      userData: userData([0]),
      pushConstantBytes: 4,
      lines,
    });
    return device.createComputePipeline({ compiler: compilerOf(answer), request: { ...request, filename: name } });
  }

  async function run(device: Device, name: keyof typeof texts, push: number, buffer?: Buffer) {
    const pipeline = await pipelineOf(device, name);
    const out = buffer ?? device.createBoundBuffer(GROUPS * THREADS * 4);
    const layout = device.createDescriptorSetLayout([{ binding: 0, type: "storageBuffer", count: 1 }]);
    const set = device.createDescriptorPool(4096).allocate(layout);
    set.write(0, { buffer: out });
    const command = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
    command
      .pushConstants(0, new Uint8Array(Uint32Array.of(push).buffer))
      .dispatch(GROUPS)
      .end();
    const fence = device.submit([command]);
    return { fence, out, pipeline };
  }

  function words(buffer: Buffer): number[] {
    const view = buffer.map();
    return [...new Uint32Array(view.buffer, view.byteOffset, buffer.sizeBytes / 4)];
  }

  /** Runs a kernel that must fault, then checks that another process still gets its answer. */
  async function faults(name: keyof typeof texts, timeoutMs = 60_000) {
    const device = machine.openProcess(`bad ${name}`, { timeoutMs });
    const other = machine.openProcess(`good beside ${name}`);
    const { fence } = await run(device, name, 1);
    const beside = await run(other, "multiply", 5);
    await expect(fence.wait()).rejects.toThrow(DriverError);
    expect(device.lost).toBe(true);
    expect(await beside.fence.wait()).toBe("SUCCESS");
    expect(words(beside.out)[7]).toBe(35);
    const report = machine.faultOf(device);
    device.destroy();
    other.destroy();
    if (report === undefined) throw new Error("no report");
    return report;
  }

  it("runs a kernel over several workgroups and reads the result back", async () => {
    const device = machine.openProcess("one");
    const { fence, out } = await run(device, "multiply", 7);
    expect(await fence.wait()).toBe("SUCCESS");
    expect(words(out)).toEqual(Array.from({ length: GROUPS * THREADS }, (_, i) => i * 7));
    device.destroy();
  });

  it("drops stores past the descriptor's range and keeps what lies behind", async () => {
    const device = machine.openProcess("bounds");
    const memory = device.allocateMemory({ sizeBytes: 4096, type: "device" });
    memory.map().fill(0xee);
    const { fence, out } = await run(device, "multiply", 1, device.createBuffer(402).bind(memory));
    await fence.wait();
    const all = new Uint32Array(out.map().buffer, memory.map().byteOffset, 256);
    // 402 bytes: dwords 0 to 99 fit; dword 100 begins inside but ends outside.
    expect([...all.subarray(98, 102)]).toEqual([98, 99, 0xeeee_eeee, 0xeeee_eeee]);
    device.destroy();
  });

  it("orders dispatches of one command buffer by barriers, and submissions by their queue", async () => {
    const device = machine.openProcess("chain");
    const first = await run(device, "multiply", 2);
    const pipeline = await pipelineOf(device, "add");
    const layout = device.createDescriptorSetLayout([{ binding: 0, type: "storageBuffer", count: 1 }]);
    const set = device.createDescriptorPool(4096).allocate(layout);
    set.write(0, { buffer: first.out });
    const command = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
    for (const push of [10, 200]) {
      command
        .pushConstants(0, new Uint8Array(Uint32Array.of(push).buffer))
        .dispatch(GROUPS)
        .pipelineBarrier();
    }
    const fence = device.submit([command.end(), command]);
    expect(await fence.wait()).toBe("SUCCESS");
    expect(words(first.out)).toEqual(Array.from({ length: GROUPS * THREADS }, (_, i) => i * 2 + 420));
    device.destroy();
  });

  it("runs two processes at the same addresses side by side", async () => {
    const devices = ["left", "right"].map((name) => machine.openProcess(name));
    const runs = await Promise.all(devices.map((device, i) => run(device, "multiply", 100 + i)));
    for (const { fence } of runs) expect(await fence.wait()).toBe("SUCCESS");
    expect(new Set(runs.map(({ out }) => out.va)).size).toBe(1);
    expect(runs.map(({ out }) => words(out)[1])).toEqual([100, 101]);
    for (const device of devices) device.destroy();
  });

  it("faults on a store to an unmapped address, naming address, instruction, line and packet", async () => {
    const report = await faults("wild");
    // Two moves with literals (4 dwords), s_nop, then the store: dword 5.
    expect(report).toMatchObject({
      kind: "NOT_MAPPED",
      address: FAR + 16n,
      codeOffset: 20,
      instruction: "global_store_dword v[4:5], v0, off offset:16",
      source: { file: "hand.comp", line: 105 },
      codeName: "wild:main",
    });
    expect(report.text).toBe("write of unmapped address 0x123456780010");
    expect(report.packet).toMatch(/^DISPATCH_DIRECT groups 3x1x1/);
    expect(report.missing).toEqual([]);
    const [descriptor] = report.descriptors;
    expect(descriptor).toMatchObject({ set: 0, binding: 0, type: "storageBuffer" });
    expect(descriptor?.buffer?.sizeBytes).toBe(GROUPS * THREADS * 4);
    expect(report.bos.some((bo) => bo.includes(descriptor?.buffer?.va.toString(16) ?? "none"))).toBe(true);
    const text = formatReport(report);
    expect(text).toMatch(/descriptor set 0 binding 0 b0 \(storageBuffer\): 0x0001[0-9a-f]{8}, 768 bytes/);
    expect(text).toMatch(/v4 lane 0: 0x56780000/);
    expect(JSON.parse(reportJson(report))).toMatchObject({ kind: "NOT_MAPPED", address: "0x123456780010" });
    expect(machine.dmesg().some((line) => line.includes("bad wild"))).toBe(true);
  });

  it("faults on a store to a page mapped read-only", async () => {
    const report = await faults("readOnly");
    expect(report).toMatchObject({ kind: "NOT_WRITABLE", address: FIRST });
    expect(report.nearest).toMatch(/^0 bytes into BO 1 .* r--/);
  });

  it("keeps a process from reading what another one has mapped at that address", async () => {
    const victim = machine.openProcess("victim");
    let secret: Buffer;
    do secret = victim.createBoundBuffer(0x1_0000);
    while (secret.va <= FIRST + 0x10_0000n);
    const report = await faults("peek");
    expect(report).toMatchObject({ kind: "NOT_MAPPED", address: FIRST + 0x10_0000n });
    victim.destroy();
  });

  it("faults on the use of a register whose load is outstanding", async () => {
    const report = await faults("early");
    expect(report.kind).toBe("PENDING_REGISTER");
    expect(report.text).toBe("register v2 used while its load is outstanding");
    expect(report.instruction).toBe("v_add_nc_u32_e32 v2, s3, v2");
  });

  it("halts an endless loop at its timeout and names the branch", async () => {
    const report = await faults("endless", 300);
    expect(report).toMatchObject({ kind: "HALTED", reason: "timeout", source: { file: "hand.comp" } });
    expect(report.instruction).toMatch(/^s_(branch|nop)/);
    expect(report.fields.waves.length).toBeGreaterThan(0);
  });

  it("a barrier that a live wave never reaches: the watchdog's dump names who waits and who runs, and where", async () => {
    const report = await faults("stuck", 300);
    expect(report).toMatchObject({ kind: "HALTED", reason: "timeout" });
    const [waits, runs] = report.fields.waves;
    expect([waits?.status, waits?.waveInGroup, runs?.status, runs?.waveInGroup]).toEqual(["barrier", 0, "running", 1]);
    const start = report.fields.program;
    // v_cmp and s_cbranch a dword each, s_barrier at 8: the wave that waits goes on at 12; the other loops from 16 to 20.
    expect(waits?.pc).toBe(start + 12n);
    expect([start + 16n, start + 20n]).toContain(runs?.pc);
    expect(machine.usage().find(({ processName }) => processName === "bad stuck")).toBeUndefined();
    expect(formatReport(report)).toMatch(/wave 0 barrier pc .*\n.*wave 1 running pc/);
  });

  it("accounts each process's memory, work, time and faults", async () => {
    const device = machine.openProcess("accounted");
    const { fence } = await run(device, "multiply", 1);
    await fence.wait();
    const bad = machine.openProcess("accounted bad");
    await expect((await run(bad, "wild", 1)).fence.wait()).rejects.toThrow(DriverError);
    const usage = (name: string) => machine.usage().find(({ processName }) => processName === name);
    // Two contexts: compute and transfer. Ring page, code, buffer, descriptor pool, commands.
    expect(usage("accounted")).toMatchObject({
      submits: 1,
      faults: 0,
      queuedJobs: 0,
      contexts: 2,
      lostContexts: 0,
      bos: 5,
    });
    expect(usage("accounted")?.vramBytes).toBe(2 * 4096);
    expect(usage("accounted")?.busyMs).toBeGreaterThan(0);
    expect(usage("accounted bad")).toMatchObject({ submits: 1, faults: 1, lastFault: "NOT_MAPPED", lostContexts: 1 });
    device.destroy();
    bad.destroy();
  });

  it("counts the same, simulated time too, in a thread of its own and in turns of the caller's loop", async () => {
    const reportOf = async (worker: boolean, seed: number) => {
      const other = createMachine({ memoryBytes: 0x1000_0000, worker, seed, counters: true, wgps: 2 });
      const device = other.openProcess("counted");
      const out = device.createBoundBuffer(GROUPS * THREADS * 4);
      // the second waits behind the first, or comes when it is over: the host's pace decides
      const first = await run(device, "add", 3, out);
      if (worker) await first.fence.wait();
      const second = await run(device, "add", 4, out);
      expect(await second.fence.wait()).toBe("SUCCESS");
      expect(words(out)).toEqual(new Array(GROUPS * THREADS).fill(7));
      const report = other.reportOf(device);
      await other.close();
      return report;
    };
    for (const seed of [1, 5]) {
      const threaded = await reportOf(true, seed);
      // two dispatches of three groups of two waves, each wave with one load and one store
      expect(threaded?.counters).toMatchObject({ dispatches: 2, waves: 12, vmem: 24, stores: 12 });
      expect(threaded?.counters.cycles).toBeGreaterThan(0);
      expect(await reportOf(false, seed)).toEqual(threaded);
    }
  });

  it("runs other processes beside an endless loop, long before its timeout", async () => {
    const slow = machine.openProcess("slow", { timeoutMs: 60_000 });
    const { fence } = await run(slow, "endless", 1);
    for (let i = 0; i < 5; i++) {
      const quick = machine.openProcess("quick");
      const { fence: done, out } = await run(quick, "multiply", i);
      expect(await done.wait(20_000)).toBe("SUCCESS");
      expect(words(out)[9]).toBe(9 * i);
      quick.destroy();
    }
    expect(await fence.wait(0)).toBe("TIMEOUT");
    slow.destroy();
  });

  it("faults when execution runs into s_code_end", async () => {
    const report = await faults("runsOff");
    expect(report.kind).toBe("ILLEGAL_INSTRUCTION");
    expect(report.instruction).toBe("s_code_end");
  });

  it("has nothing left of processes that are gone", async () => {
    expect(machine.usage()).toEqual([]);
    // The endless process was stopped by its close: its memory is back once the reset is done.
    const probe = machine.openProcess("probe");
    const free = () => probe.kernel.call("QUERY_INFO", {}).vramFreeBytes;
    const all = BigInt(probe.limits.vramBytes) - 4096n * 4n;
    for (let i = 0; i < 200 && free() < all; i++) await new Promise((resolve) => setTimeout(resolve, 10));
    // What is left out: this process's root table, and the three tables of its ring page.
    expect(free()).toBe(all);
    probe.destroy();
  });
});
