import { describe, expect, it } from "vitest";
import { createKmd } from "../../src/kmd/index.ts";
import { ContextState, Errno, encodePacket, PacketValue, SyncobjKind } from "../../src/uapi/index.ts";
import { FakeClock, FakeGpu, HANG_MARK } from "./fake-gpu.ts";
import { Process } from "./process.ts";

const HANG = encodePacket("NOP", {}, [HANG_MARK]);
const store = (address: bigint, ...data: number[]) =>
  encodePacket("WRITE_DATA", { dstSel: PacketValue.DST_MEMORY, writeConfirm: 1, address }, data);
const { BINARY, TIMELINE } = SyncobjKind;

function machine() {
  const gpu = new FakeGpu(0x0600_0000);
  const clock = new FakeClock();
  return { gpu, clock, kmd: createKmd({ gpu, clock }) };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

function job(p: Process, va = 0x10_0000n) {
  return { context: p.context(100), ib: p.buffer(va, 4096), data: p.buffer(va + 0x1_0000n, 4096) };
}

const query = (p: Process, handle: number) => {
  const { value, submitted } = p.call("SYNCOBJ_QUERY", { handle }).out;
  return [value, submitted];
};

describe("sync objects", () => {
  it("a binary one: unsignalled, promised by a submission, signalled by its end, reset", async () => {
    const { gpu, kmd } = machine();
    const p = new Process(kmd, "p");
    const { context, ib, data } = job(p);
    const handle = p.syncobj();
    expect(query(p, handle)).toEqual([0n, 0n]);
    gpu.paused = true;
    p.submitSync(context, ib, store(data.va, 7), [], [[handle, 0n]], [data.handle]);
    expect(query(p, handle)).toEqual([0n, 1n]);
    gpu.paused = false;
    gpu.doorbell();
    expect(await p.waitPoints([[handle, 0n]])).toBe(0);
    expect([query(p, handle), data.words[0]]).toEqual([[1n, 1n], 7]);
    expect(p.call("SYNCOBJ_RESET", { handle }).result).toBe(0);
    expect(query(p, handle)).toEqual([0n, 0n]);
    expect(query(p, p.syncobj(BINARY, 1n))).toEqual([1n, 1n]);
  });

  it("a job waits for a job of another context; one of a third context overtakes it", async () => {
    const { kmd, clock } = machine();
    const p = new Process(kmd, "p");
    const slow = new Process(kmd, "slow");
    const first = job(slow);
    const second = job(p);
    const third = job(p, 0x40_0000n);
    const gate = slow.syncobj();
    slow.submitSync(first.context, first.ib, HANG, [], [[gate, 0n]]);
    const shared = kmd.exportSyncobj(slow.fd, gate);
    if (typeof shared === "number") throw new Error(`export: ${shared}`);
    const imported = kmd.importSyncobj(p.fd, shared);
    p.submitSync(second.context, second.ib, store(second.data.va, 1), [[imported, 0n]], [], [second.data.handle]);
    await settle();
    clock.advance(101);
    p.submitSync(third.context, third.ib, store(third.data.va, 3), [], [], [third.data.handle]);
    expect(await p.wait(third.context, 1n)).toBe(0);
    // The slow job was lost to the watchdog; its end signals all the same, so that others go on.
    expect(await p.wait(second.context, 1n)).toBe(0);
    expect([second.data.words[0], third.data.words[0]]).toEqual([1, 3]);
    expect(slow.call("CTX_QUERY", { context: first.context }).out.state).toBe(ContextState.GUILTY);
  });

  it("a timeline: jobs wait for points before anybody has submitted them, and run in the order of the points", async () => {
    const { kmd } = machine();
    const p = new Process(kmd, "p");
    const timeline = p.syncobj(TIMELINE, 10n);
    const jobs = [0x10_0000n, 0x40_0000n, 0x80_0000n].map((va) => job(p, va));
    const order: number[] = [];
    for (const [i, j] of jobs.entries()) {
      p.submitSync(j.context, j.ib, store(j.data.va, 1), [[timeline, BigInt(11 + i)]], [], [j.data.handle]);
      void p.wait(j.context, 1n).then(() => order.push(i));
    }
    await settle();
    expect(order).toEqual([]);
    p.call("SYNCOBJ_SIGNAL", { handle: timeline, point: 11n });
    await settle();
    expect(order).toEqual([0]);
    p.call("SYNCOBJ_SIGNAL", { handle: timeline, point: 1n << 40n });
    await settle();
    expect([order, query(p, timeline)]).toEqual([
      [0, 1, 2],
      [1n << 40n, 1n << 40n],
    ]);
  });

  it("a timeline's points rise: a submission's point counts at once, its value when the job ends", async () => {
    const { gpu, kmd } = machine();
    const p = new Process(kmd, "p");
    const { context, ib, data } = job(p);
    const handle = p.syncobj(TIMELINE);
    gpu.paused = true;
    p.submitSync(context, ib, store(data.va, 1), [], [[handle, 4n]], [data.handle]);
    expect(query(p, handle)).toEqual([0n, 4n]);
    expect(p.call("SYNCOBJ_SIGNAL", { handle, point: 3n }).result).toBe(0);
    expect(p.call("SYNCOBJ_SIGNAL", { handle, point: 3n }).result).toBe(Errno.EINVAL);
    expect(query(p, handle)).toEqual([3n, 4n]);
    gpu.paused = false;
    gpu.doorbell();
    expect(await p.waitPoints([[handle, 4n]])).toBe(0);
    expect(query(p, handle)).toEqual([4n, 4n]);
  });

  it("waits for any and for all, with timeouts that leave nothing behind", async () => {
    const { clock, kmd } = machine();
    const p = new Process(kmd, "p");
    const [a, b] = [p.syncobj(TIMELINE), p.syncobj(BINARY)];
    const any = p.waitPoints(
      [
        [a, 1n],
        [b, 0n],
      ],
      { flags: 0, timeoutMs: 100 },
    );
    const all = p.waitPoints(
      [
        [a, 1n],
        [b, 0n],
      ],
      { timeoutMs: 200 },
    );
    await settle();
    const started = clock.pending;
    p.call("SYNCOBJ_SIGNAL", { handle: b });
    expect(await any).toBe(0);
    expect(clock.pending).toBe(started - 1);
    clock.advance(200);
    expect(await all).toBe(Errno.ETIME);
    p.call("SYNCOBJ_SIGNAL", { handle: a, point: 1n });
    expect(
      await p.waitPoints(
        [
          [a, 1n],
          [b, 0n],
        ],
        { timeoutMs: 0 },
      ),
    ).toBe(0);
  });

  it("is shared by processes of two machines; destroying one handle leaves the other", async () => {
    const [here, there] = [machine(), machine()];
    const p = new Process(here.kmd, "here");
    const q = new Process(there.kmd, "there");
    const handle = p.syncobj(TIMELINE);
    const shared = here.kmd.exportSyncobj(p.fd, handle);
    if (typeof shared === "number") throw new Error(`export: ${shared}`);
    const remote = there.kmd.importSyncobj(q.fd, shared);
    const mine = job(p);
    const theirs = job(q);
    q.submitSync(
      theirs.context,
      theirs.ib,
      store(theirs.data.va, 2),
      [[remote, 1n]],
      [[remote, 2n]],
      [theirs.data.handle],
    );
    p.submitSync(mine.context, mine.ib, store(mine.data.va, 1), [], [[handle, 1n]], [mine.data.handle]);
    expect(await p.waitPoints([[handle, 2n]])).toBe(0);
    expect([mine.data.words[0], theirs.data.words[0]]).toEqual([1, 2]);
    q.call("SYNCOBJ_DESTROY", { handle: remote });
    expect(query(p, handle)).toEqual([2n, 2n]);
    expect(here.kmd.exportSyncobj(p.fd, 77)).toBe(Errno.ENOENT);
    expect(here.kmd.importSyncobj(p.fd, { kind: "syncobj", timeline: false })).toBe(Errno.EINVAL);
    expect(here.kmd.importSyncobj(999, shared)).toBe(Errno.EBADF);
  });

  it("a machine that closes lets go of what others wait for; a closed file's waits end", async () => {
    const [here, there] = [machine(), machine()];
    const p = new Process(here.kmd, "here");
    const q = new Process(there.kmd, "there");
    const handle = p.syncobj();
    const { context, ib } = job(p);
    p.submitSync(context, ib, HANG, [], [[handle, 0n]]);
    const shared = here.kmd.exportSyncobj(p.fd, handle);
    if (typeof shared === "number") throw new Error(`export: ${shared}`);
    const wait = q.waitPoints([[there.kmd.importSyncobj(q.fd, shared), 0n]]);
    await settle();
    here.kmd.shutdown();
    expect(await wait).toBe(0);
    const forever = q.waitPoints([[q.syncobj(), 0n]]);
    await settle();
    there.kmd.close(q.fd);
    expect(await forever).toBe(Errno.EBADF);
  });
});
