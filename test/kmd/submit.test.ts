import { describe, expect, it } from "vitest";
import { createKmd, type Kmd } from "../../src/kmd/index.ts";
import {
  ContextState,
  Domain,
  Errno,
  encodePacket,
  Fault,
  FaultKind,
  type IoctlTrace,
  PacketValue,
  PhysicalMap,
  Queue,
  queueWord,
  VaFlag,
} from "../../src/uapi/index.ts";
import { FakeClock, FakeGpu, HANG_MARK } from "./fake-gpu.ts";
import { Process } from "./process.ts";

const MEMORY = 0x0600_0000;
const HANG = encodePacket("NOP", {}, [HANG_MARK]);
const store = (address: bigint, ...data: number[]) =>
  encodePacket("WRITE_DATA", { dstSel: PacketValue.DST_MEMORY, writeConfirm: 1, address }, data);

function machine(computeQueues = 1, trace?: (event: IoctlTrace) => void) {
  const gpu = new FakeGpu(MEMORY);
  const clock = new FakeClock();
  const kmd = createKmd({ gpu, clock, computeQueues, ...(trace ? { trace } : {}) });
  return { gpu, clock, kmd };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

function free(kmd: Kmd): [bigint, bigint] {
  const { vramFreeBytes, gttFreeBytes } = new Process(kmd, "probe").call("QUERY_INFO", {}).out;
  return [vramFreeBytes, gttFreeBytes];
}

describe("submit", () => {
  it("runs an indirect buffer under the process's VMID and signals its fence", async () => {
    const { gpu, kmd } = machine();
    const p = new Process(kmd, "p");
    const context = p.context();
    const ib = p.buffer(0x10_0000n, 4096);
    const data = p.buffer(0x20_0000n, 4096);
    const { result, out } = p.submit(context, ib, store(data.va + 8n, 0x1234, 0x5678), [data.handle]);
    expect([result, out.fence]).toEqual([0, 1n]);
    expect(await p.wait(context, 1n)).toBe(0);
    expect([...data.words.subarray(0, 5)]).toEqual([0, 0, 0x1234, 0x5678, 0]);
    expect(gpu.ran.map((ran) => [ran.vmid, ran.packets.map((x) => x.name)])).toEqual([[1, ["WRITE_DATA"]]]);
    expect(p.call("CTX_QUERY", { context }).out).toMatchObject({ state: ContextState.GOOD, lastFence: 1n });
  });

  it("runs 100 jobs of a context in order across the ring's end", async () => {
    const { kmd } = machine();
    const p = new Process(kmd, "p");
    const context = p.context();
    const data = p.buffer(0x20_0000n, 4096);
    const ib = p.buffer(0x10_0000n, 0x1_0000);
    for (let i = 0; i < 100; i++) {
      const packets = store(data.va, i + 1);
      ib.words.set(packets, i * 16);
      p.call("SUBMIT", { context, queueKind: 1, ibVa: ib.va + BigInt(i * 64), ibDwords: packets.length }, [ib.handle]);
    }
    expect(await p.wait(context, 37n)).toBe(0);
    expect(await p.wait(context, 100n)).toBe(0);
    expect(data.words[0]).toBe(100);
  });

  it("gives one address in two processes two memories", async () => {
    const { kmd } = machine();
    const jobs = ["a", "b"].map((name, i) => {
      const p = new Process(kmd, name);
      const ib = p.buffer(0x10_0000n, 4096);
      const data = p.buffer(0x20_0000n, 4096);
      const context = p.context();
      p.submit(context, ib, store(0x20_0000n, 100 + i));
      return { p, data, context };
    });
    for (const { p, context } of jobs) await p.wait(context, 1n);
    expect(jobs.map(({ data }) => data.words[0])).toEqual([100, 101]);
  });

  it("shares 15 VMIDs among 40 processes", async () => {
    const { gpu, kmd } = machine();
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 40; i++) {
        const p = new Process(kmd, `p${i}`);
        const ib = p.buffer(0x10_0000n, 4096);
        const data = p.buffer(0x20_0000n, 4096);
        const context = p.context();
        p.submit(context, ib, store(data.va, i));
        expect(await p.wait(context, 1n)).toBe(0);
        expect(data.words[0]).toBe(i);
      }
    }
    expect(Math.max(...gpu.ran.map((ran) => ran.vmid))).toBe(15);
    // Each job's VMID was invalidated before it ran: a stolen VMID never shows the last owner's pages.
    expect(gpu.invalidated.length).toBeGreaterThanOrEqual(80);
  });

  it("keeps a context's jobs in order, one at a time, whatever queues are free; contexts run side by side", async () => {
    const { gpu, kmd } = machine(3);
    const p = new Process(kmd, "p");
    const data = p.buffer(0x20_0000n, 4096);
    const contexts = [p.context(), p.context()];
    gpu.paused = true;
    for (const [i, context] of contexts.entries()) {
      for (let job = 0; job < 3; job++) {
        const ib = p.buffer(BigInt(0x100_0000 + (i * 8 + job) * 0x1000), 4096);
        p.submit(context, ib, store(data.va, i * 10 + job));
      }
    }
    gpu.paused = false;
    gpu.doorbell();
    for (const context of contexts) expect(await p.wait(context, 3n)).toBe(0);
    const ran = gpu.ran.map(({ queue, packets }) => ({ queue, value: packets[0]?.tail[0] ?? -1 }));
    expect(ran.filter(({ value }) => value < 10).map(({ value }) => value)).toEqual([0, 1, 2]);
    expect(ran.filter(({ value }) => value >= 10).map(({ value }) => value)).toEqual([10, 11, 12]);
    expect(new Set(ran.map(({ queue }) => queue)).size).toBeGreaterThan(1);
  });

  it("prefers the higher priority, then the context served longest ago", async () => {
    const { gpu, kmd } = machine();
    const p = new Process(kmd, "p");
    const data = p.buffer(0x20_0000n, 4096);
    const contexts = [p.context(0, 0), p.context(0, 0), p.context(0, 1)];
    gpu.paused = true;
    for (let round = 0; round < 2; round++) {
      for (const [i, context] of contexts.entries()) {
        const ib = p.buffer(BigInt(0x100_0000 + (round * 8 + i) * 0x1000), 4096);
        p.submit(context, ib, store(data.va, i));
      }
    }
    gpu.paused = false;
    gpu.doorbell();
    await settle();
    // Job 0 was on the ring already; then the high priority context's two, then 1, 0, 1 by turns.
    expect(gpu.ran.map((ran) => ran.packets[0]?.tail[0])).toEqual([0, 2, 2, 1, 0, 1]);
  });
});

describe("faults", () => {
  it("lose the guilty context alone, leave a dump, and let another process go on", async () => {
    const { kmd } = machine();
    const bad = new Process(kmd, "bad");
    const good = new Process(kmd, "good");
    const badContext = bad.context();
    const spare = bad.context();
    const badIb = bad.buffer(0x10_0000n, 4096);
    const nextIb = bad.buffer(0x10_1000n, 4096);
    bad.submit(badContext, badIb, [...encodePacket("NOP", {}, [0]), ...store(0x6666_0000n, 1)]);
    bad.submit(badContext, nextIb, encodePacket("NOP", {}, [0]));
    const waits = [bad.wait(badContext, 1n), bad.wait(badContext, 2n)];
    const context = good.context();
    const ib = good.buffer(0x10_0000n, 4096);
    const data = good.buffer(0x20_0000n, 4096);
    good.submit(context, ib, store(data.va, 42));
    expect(await good.wait(context, 1n)).toBe(0);
    expect(data.words[0]).toBe(42);
    expect(await Promise.all(waits)).toEqual([Errno.ECANCELED, Errno.ECANCELED]);
    expect(bad.call("CTX_QUERY", { context: badContext }).out).toMatchObject({
      state: ContextState.GUILTY,
      faultKind: FaultKind.NOT_MAPPED,
    });
    expect(bad.call("CTX_QUERY", { context: spare }).out.state).toBe(ContextState.GOOD);
    const [dump] = kmd.dumps();
    const record = new DataView(dump?.record.buffer as ArrayBuffer);
    expect(record.getUint32(Fault.KIND, true)).toBe(FaultKind.NOT_MAPPED);
    expect(record.getBigUint64(Fault.ADDRESS_LO, true)).toBe(0x6666_0000n);
    expect(record.getBigUint64(Fault.PACKET_LO, true)).toBe(badIb.va + 8n);
    expect(dump).toMatchObject({ processName: "bad", context: badContext, fence: 1n, reason: "fault", missing: [] });
    expect(dump?.mappings.map((m) => m.va)).toEqual([0x10_0000n, 0x10_1000n]);
    expect(kmd.dmesg().some((line) => /bad .*fault, NOT_MAPPED; resets/.test(line))).toBe(true);
    expect(kmd.usage().map(({ processName, faults }) => [processName, faults])).toEqual([
      ["bad", 1],
      ["good", 0],
    ]);
  });

  it("come from packets that are no row, from read-only pages and from unreadable ones", async () => {
    const { kmd } = machine();
    const p = new Process(kmd, "p");
    const ib = p.buffer(0x10_0000n, 4096);
    p.buffer(0x20_0000n, 4096, VaFlag.READ);
    const kinds: number[] = [];
    for (const packets of [[0xc000_9900, 0], store(0x20_0000n, 1)]) {
      const context = p.context();
      p.submit(context, ib, packets);
      await p.wait(context, 1n);
      kinds.push(p.call("CTX_QUERY", { context }).out.faultKind);
    }
    expect(kinds).toEqual([FaultKind.UNKNOWN_PACKET, FaultKind.NOT_WRITABLE]);
  });
});

describe("watchdog", () => {
  it("halts a job that runs too long; its context is lost and others go on", async () => {
    const { gpu, clock, kmd } = machine();
    const slow = new Process(kmd, "slow");
    const other = new Process(kmd, "other");
    const slowContext = slow.context(500);
    slow.submit(slowContext, slow.buffer(0x10_0000n, 4096), HANG);
    // The halt's interrupt gets through, that of the reset comes late.
    gpu.deliveries = 1;
    const waiting = slow.wait(slowContext, 1n);
    const context = other.context();
    const data = other.buffer(0x20_0000n, 4096);
    other.submit(context, other.buffer(0x10_0000n, 4096), store(data.va, 7));
    await settle();
    clock.advance(499);
    await settle();
    expect(slow.call("CTX_QUERY", { context: slowContext }).out.state).toBe(ContextState.GOOD);
    clock.advance(1);
    expect(await waiting).toBe(Errno.ECANCELED);
    // Over for who waits, though the reset that takes the job off the hardware is still to come.
    expect(kmd.usage().find(({ fd }) => fd === slow.fd)?.runningJobs).toBe(1);
    expect(slow.call("CTX_DESTROY", { context: slowContext }).result).toBe(0);
    gpu.deliver();
    expect(await other.wait(context, 1n)).toBe(0);
    expect(data.words[0]).toBe(7);
    expect(kmd.dumps().map((dump) => dump.reason)).toEqual(["timeout"]);
    expect(clock.pending).toBe(0);
  });

  it("counts a job's time from when the GPU fetches it, and waits for that only so long", async () => {
    const { gpu, clock, kmd } = machine();
    const p = new Process(kmd, "p");
    const [late, never] = [p.context(500), p.context(500)];
    const data = p.buffer(0x20_0000n, 4096);
    gpu.paused = true;
    p.submit(late, p.buffer(0x10_0000n, 4096), store(data.va, 7));
    const waiting = p.wait(late, 1n);
    await settle();
    for (let i = 0; i < 3; i++) clock.advance(500);
    gpu.paused = false;
    gpu.doorbell();
    expect(await waiting).toBe(0);
    expect(data.words[0]).toBe(7);
    gpu.paused = true;
    p.submit(never, p.buffer(0x30_0000n, 4096), store(data.va, 8));
    await settle();
    for (let i = 0; i < 50; i++) clock.advance(500);
    expect(await p.wait(never, 1n)).toBe(Errno.ECANCELED);
    expect(kmd.dmesg().at(-1)).toMatch(/the machine is lost/);
  });

  it("declares the machine lost when the engine answers neither halt nor reset", async () => {
    const { gpu, clock, kmd } = machine();
    const p = new Process(kmd, "p");
    const q = new Process(kmd, "q");
    const [context, waiting] = [p.context(500), q.context()];
    p.submit(context, p.buffer(0x10_0000n, 4096), HANG);
    q.submit(waiting, q.buffer(0x10_0000n, 4096), HANG);
    gpu.deaf = true;
    await settle();
    clock.advance(500);
    clock.advance(10_000);
    expect(await p.wait(context, 1n)).toBe(Errno.ECANCELED);
    expect(await q.wait(waiting, 1n)).toBe(Errno.ECANCELED);
    expect(kmd.dmesg().at(-1)).toMatch(/the machine is lost/);
  });
});

describe("lifetimes", () => {
  it("a closed BO's memory waits for the job that lists it", async () => {
    const { gpu, kmd } = machine();
    const p = new Process(kmd, "p");
    const context = p.context();
    const ib = p.buffer(0x10_0000n, 4096);
    const { handle } = p.call("GEM_CREATE", { size: 4096n, domain: Domain.GTT }).out;
    p.call("VA_MAP", { handle, flags: VaFlag.READ | VaFlag.WRITE, va: 0x20_0000n, boOffset: 0n, size: 4096n });
    const [, before] = free(kmd);
    gpu.paused = true;
    p.submit(context, ib, store(0x20_0000n, 5), [handle]);
    expect(p.call("GEM_CLOSE", { handle }).result).toBe(0);
    expect(free(kmd)[1]).toBe(before);
    gpu.paused = false;
    gpu.doorbell();
    expect(await p.wait(context, 1n)).toBe(0);
    expect(free(kmd)[1]).toBe(before + 4096n);
    expect(p.call("VA_UNMAP", { va: 0x20_0000n, size: 4096n }).result).toBe(Errno.ENOENT);
  });

  it("mappings of a closed handle go with its job, also when the BO came back by another; the new ones stay", async () => {
    const { gpu, kmd } = machine();
    const p = new Process(kmd, "p");
    const context = p.context();
    const ib = p.buffer(0x10_0000n, 4096);
    const flags = VaFlag.READ | VaFlag.WRITE;
    const { handle } = p.call("GEM_CREATE", { size: 4096n, domain: Domain.GTT }).out;
    p.call("VA_MAP", { handle, flags, va: 0x20_0000n, size: 4096n });
    const shared = kmd.exportBo(p.fd, handle);
    if (typeof shared === "number") throw new Error(`export: ${shared}`);
    gpu.paused = true;
    p.submit(context, ib, store(0x20_0000n, 5), [handle]);
    expect(p.call("GEM_CLOSE", { handle }).result).toBe(0);
    const again = kmd.importBo(p.fd, shared);
    expect(p.call("VA_MAP", { handle: again, flags, va: 0x30_0000n, size: 4096n }).result).toBe(0);
    gpu.paused = false;
    gpu.doorbell();
    expect(await p.wait(context, 1n)).toBe(0);
    expect(p.call("VA_UNMAP", { va: 0x20_0000n, size: 4096n }).result).toBe(Errno.ENOENT);
    expect(p.call("VA_UNMAP", { va: 0x30_0000n, size: 4096n }).result).toBe(0);
  });

  it("pages unmapped while any job of the process runs are not given to others before it ends", async () => {
    const { gpu, kmd } = machine();
    const p = new Process(kmd, "p");
    const context = p.context();
    const ib = p.buffer(0x10_0000n, 4096);
    const { handle } = p.call("GEM_CREATE", { size: 4096n, domain: Domain.GTT }).out;
    p.call("VA_MAP", { handle, flags: VaFlag.READ, va: 0x20_0000n, boOffset: 0n, size: 4096n });
    const [, before] = free(kmd);
    gpu.paused = true;
    p.submit(context, ib, encodePacket("NOP", {}, [0]));
    p.call("GEM_CLOSE", { handle });
    expect(free(kmd)[1]).toBe(before);
    gpu.paused = false;
    gpu.doorbell();
    await p.wait(context, 1n);
    expect(free(kmd)[1]).toBe(before + 4096n);
  });

  it("close gives everything back: idle, with queued jobs, and with one that hangs", async () => {
    const { kmd } = machine();
    const probe = new Process(kmd, "probe");
    const bytes = () => {
      const { vramFreeBytes, gttFreeBytes } = probe.call("QUERY_INFO", {}).out;
      return [vramFreeBytes, gttFreeBytes];
    };
    const before = bytes();
    for (const jobs of [0, 3]) {
      const p = new Process(kmd, "p");
      const ib = p.buffer(0x10_0000n, 4096);
      p.buffer(0xffff_8000_0000_0000n, 0x4000, VaFlag.READ, Domain.GTT);
      const context = p.context();
      for (let i = 0; i < jobs; i++) p.submit(context, ib, HANG);
      await settle();
      const waiting = jobs > 0 ? p.wait(context, 3n) : undefined;
      expect(kmd.close(p.fd)).toBe(0);
      expect(kmd.close(p.fd)).toBe(Errno.EBADF);
      await settle();
      if (waiting) expect(await waiting).toBe(Errno.ECANCELED);
      expect(bytes()).toEqual(before);
    }
    expect(kmd.dumps()).toEqual([]);
  });

  it("close during the reset of a faulted job leaves the queue fit for the next process", async () => {
    const { gpu, clock, kmd } = machine();
    const bad = new Process(kmd, "bad");
    const context = bad.context();
    bad.submit(context, bad.buffer(0x10_0000n, 4096), store(0x6666_0000n, 1));
    // The fault's interrupt gets through, RESET_DONE does not yet.
    gpu.deliveries = 1;
    expect(await bad.wait(context, 1n)).toBe(Errno.ECANCELED);
    await settle();
    expect(kmd.close(bad.fd)).toBe(0);
    await settle();
    gpu.deliver();
    await settle();
    const good = new Process(kmd, "good");
    const data = good.buffer(0x20_0000n, 4096);
    const goodContext = good.context();
    good.submit(goodContext, good.buffer(0x10_0000n, 4096), store(data.va, 9));
    expect(await good.wait(goodContext, 1n)).toBe(0);
    expect(data.words[0]).toBe(9);
    expect(new DataView(gpu.memory).getUint32(PhysicalMap.CONTROL + queueWord(1, Queue.HALT_REQUEST), true)).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("a CPU view outlives its handle until munmap", () => {
    const { kmd } = machine();
    const p = new Process(kmd, "p");
    const { handle } = p.call("GEM_CREATE", { size: 4096n, domain: Domain.GTT }).out;
    const { offset } = p.call("GEM_MMAP", { handle }).out;
    const view = kmd.mmap(p.fd, offset, 4096) as Uint8Array;
    const [, before] = free(kmd);
    p.call("GEM_CLOSE", { handle });
    view[0] = 1;
    expect(free(kmd)[1]).toBe(before);
    expect(kmd.mmap(p.fd, offset, 4096)).toBe(Errno.ENOENT);
    expect(kmd.munmap(p.fd, offset)).toBe(0);
    expect(kmd.munmap(p.fd, offset)).toBe(Errno.ENOENT);
    expect(free(kmd)[1]).toBe(before + 4096n);
  });

  it("a mapping of another file's handle number reaches only one's own BO", () => {
    const { kmd } = machine();
    const a = new Process(kmd, "a");
    const b = new Process(kmd, "b");
    const bo = a.buffer(0x10_0000n, 4096);
    bo.words[0] = 0x5ec2e7;
    expect(b.call("GEM_MMAP", { handle: bo.handle }).result).toBe(Errno.ENOENT);
    expect(kmd.mmap(b.fd, BigInt(bo.handle) << 40n, 4096)).toBe(Errno.ENOENT);
    expect(kmd.mmap(a.fd, (BigInt(bo.handle) << 40n) + 4096n, 4096)).toBe(Errno.ENOENT);
    expect(kmd.mmap(a.fd, BigInt(bo.handle) << 40n, 8192)).toBe(Errno.EINVAL);
  });
});

it("a trace sees every call, its blocks before and after, and the result", async () => {
  const events: IoctlTrace[] = [];
  const { kmd } = machine(1, (event) => events.push(event));
  const p = new Process(kmd, "traced");
  p.context();
  await p.wait(1, 9n);
  expect(events.map(({ name, result, processName }) => [name, result, processName])).toEqual([
    ["CTX_CREATE", 0, "traced"],
    ["WAIT_FENCE", Errno.EINVAL, "traced"],
  ]);
  expect([events[0]?.before[4], events[0]?.after[4]]).toEqual([0, 1]);
});
