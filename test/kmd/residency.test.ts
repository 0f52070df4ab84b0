import { describe, expect, it } from "vitest";
import { createKmd, type Kmd } from "../../src/kmd/index.ts";
import { ContextState, Domain, Errno, encodePacket, PacketValue, VaFlag } from "../../src/uapi/index.ts";
import { FakeClock, FakeGpu, HANG_MARK } from "./fake-gpu.ts";
import { Process } from "./process.ts";

const MIB = 1 << 20;
const RW = VaFlag.READ | VaFlag.WRITE;
const VA = 0x1000_0000n;
/** 96 MiB of VRAM and 32 MiB of GTT behind the GPU's own 64. */
const MEMORY = 192 * MIB;

function setup() {
  const gpu = new FakeGpu(MEMORY);
  const kmd = createKmd({ gpu, clock: new FakeClock() });
  return { gpu, kmd, p: new Process(kmd, "one") };
}

async function settle(): Promise<void> {
  for (let i = 0; i < 40; i++) await Promise.resolve();
}

function create(p: Process, mib: number, domain: number = Domain.VRAM): number {
  const { result, out } = p.call("GEM_CREATE", { size: BigInt(mib * MIB), domain });
  if (result !== 0) throw new Error(`GEM_CREATE: ${result}`);
  return out.handle;
}

function map(p: Process, handle: number, va: bigint, bytes: number, flags: number = RW): void {
  const { result } = p.call("VA_MAP", { handle, flags, va, size: BigInt(bytes) });
  if (result !== 0) throw new Error(`VA_MAP: ${result}`);
}

const write = (address: bigint, value: number) =>
  encodePacket("WRITE_DATA", { dstSel: PacketValue.DST_MEMORY, address }, [value]);

/** Runs packets and answers the context's state. */
async function run(p: Process, packets: readonly number[], handles: readonly number[], ib = 0x20_0000n) {
  const buffer = p.buffer(ib, 4096, RW, Domain.GTT);
  const context = p.context();
  const { result } = p.submit(context, buffer, packets, handles);
  await settle();
  p.call("VA_UNMAP", { va: ib, size: 4096n });
  return result < 0 ? result : p.call("CTX_QUERY", { context }).out.state;
}

const info = (p: Process, handle: number) => p.call("GEM_INFO", { handle }).out;

function view(kmd: Kmd, p: Process, handle: number): Uint8Array {
  const { offset, size } = p.call("GEM_MMAP", { handle }).out;
  const bytes = kmd.mmap(p.fd, offset, Number(size));
  if (typeof bytes === "number") throw new Error(`mmap: ${bytes}`);
  return bytes;
}

describe("page sizes", () => {
  it("of 2 MiB where addresses allow need no table of their own", () => {
    const { kmd, p } = setup();
    const handle = create(p, 5);
    map(p, handle, VA, 5 * MIB);
    const vram = () => Number(p.call("QUERY_INFO", {}).out.vramFreeBytes);
    const before = vram();
    // Levels 3, 2 and 1, and one of level 0 for the last MiB.
    expect(kmd.usage()[0]?.tableBytes).toBe(4 * 4096);
    p.call("VA_UNMAP", { va: VA, size: BigInt(5 * MIB) });
    expect(vram() - before).toBe(3 * 4096);
  });
});

describe("eviction", () => {
  it("moves the least recently used BO to GTT under pressure, and back when a job lists it; contents go along", async () => {
    const { kmd, p } = setup();
    const a = create(p, 10);
    map(p, a, VA, 10 * MIB);
    expect(await run(p, write(VA + 4n, 0xabcd), [a])).toBe(ContextState.GOOD);
    const b = create(p, 76);
    map(p, b, VA + 0x1000_0000n, 76 * MIB);
    expect(await run(p, write(VA + 0x1000_0000n, 1), [b])).toBe(ContextState.GOOD);
    create(p, 9);
    expect([info(p, a).placement, info(p, b).placement]).toEqual([Domain.GTT, Domain.VRAM]);
    expect(kmd.usage()[0]).toMatchObject({ evictedBos: 1, vramBytes: 85 * MIB });
    expect(kmd.dmesg().some((line) => /evicts 10485760 bytes of one from VRAM to GTT/.test(line))).toBe(true);
    // The job reads and writes it at the same address, back in VRAM: the BO that no job ever listed goes.
    expect(await run(p, write(VA + 8n, 7), [a])).toBe(ContextState.GOOD);
    expect(info(p, a).placement).toBe(Domain.VRAM);
    const words = new Uint32Array(view(kmd, p, a).buffer, view(kmd, p, a).byteOffset, 4);
    expect([...words]).toEqual([0, 0xabcd, 7, 0]);
  });

  it("leaves alone what the CPU looks at and what a job lists; then memory is out", async () => {
    const { kmd, p } = setup();
    const a = create(p, 45);
    view(kmd, p, a);
    const b = create(p, 45);
    map(p, b, VA, 45 * MIB);
    const ib = p.buffer(0x20_0000n, 4096, RW, Domain.GTT);
    p.submit(p.context(), ib, encodePacket("NOP", {}, [HANG_MARK]), [b]);
    expect(p.call("GEM_CREATE", { size: BigInt(12 * MIB), domain: Domain.VRAM }).result).toBe(Errno.ENOMEM);
    expect([info(p, a).placement, info(p, b).placement]).toEqual([Domain.VRAM, Domain.VRAM]);
  });
});

describe("sharing between processes", () => {
  it("both map the same memory; it lives until the last one drops it, and its cost goes to who still has it", async () => {
    const { kmd, p } = setup();
    const q = new Process(kmd, "two");
    const handle = create(p, 1);
    const shared = kmd.exportBo(p.fd, handle);
    if (typeof shared === "number") throw new Error(`export: ${shared}`);
    const other = kmd.importBo(q.fd, shared);
    expect(kmd.importBo(q.fd, shared)).toBe(other);
    map(q, other, VA, MIB);
    expect(await run(q, write(VA, 99), [other])).toBe(ContextState.GOOD);
    expect(view(kmd, p, handle)[0]).toBe(99);
    expect(kmd.usage().map(({ vramBytes }) => vramBytes)).toEqual([MIB, 0]);
    kmd.close(p.fd);
    expect(kmd.usage().map(({ vramBytes }) => vramBytes)).toEqual([MIB]);
    expect(view(kmd, q, other)[0]).toBe(99);
    const { createKmd: make } = await import("../../src/kmd/index.ts");
    const elsewhere = make({ gpu: new FakeGpu(MEMORY), clock: new FakeClock() });
    expect(elsewhere.importBo(elsewhere.open("far"), shared)).toBe(Errno.EINVAL);
    expect(kmd.exportBo(q.fd, 999)).toBe(Errno.ENOENT);
    expect(kmd.importBo(q.fd, { kind: "bo" })).toBe(Errno.EINVAL);
  });
});

describe("clones", () => {
  it("share memory until one is written, then each has its own", async () => {
    const { kmd, p } = setup();
    const free = () => p.call("QUERY_INFO", {}).out.vramFreeBytes;
    const source = create(p, 4);
    map(p, source, VA, 4 * MIB);
    expect(await run(p, write(VA, 5), [source])).toBe(ContextState.GOOD);
    const before = free();
    const { clone } = p.call("GEM_CLONE", { handle: source }).out;
    expect(free()).toBe(before);
    expect(info(p, clone)).toMatchObject({ sharedBy: 2, size: BigInt(4 * MIB) });
    // A job that does not list the BO may not write through it.
    expect(await run(p, write(VA, 6), [])).toBe(ContextState.GUILTY);
    map(p, clone, VA + 0x1000_0000n, 4 * MIB);
    expect(await run(p, write(VA + 0x1000_0000n, 7), [clone])).toBe(ContextState.GOOD);
    expect(info(p, clone).sharedBy).toBe(1);
    expect(await run(p, write(VA + 4n, 8), [])).toBe(ContextState.GOOD);
    expect([...view(kmd, p, source).subarray(0, 5)]).toEqual([5, 0, 0, 0, 8]);
    expect([...view(kmd, p, clone).subarray(0, 5)]).toEqual([7, 0, 0, 0, 0]);
    expect(kmd.usage()[0]?.vramBytes).toBe(8 * MIB);
  });

  it("jobs that only read part nothing; without memory for the parting a job is refused, and the last one left is written in place", async () => {
    const { kmd, p } = setup();
    const source = create(p, 40);
    map(p, source, VA, 40 * MIB);
    expect(await run(p, write(VA, 5), [source])).toBe(ContextState.GOOD);
    const { clone } = p.call("GEM_CLONE", { handle: source }).out;
    const there = VA + 0x1000_0000n;
    map(p, clone, there, 4096, VaFlag.READ);
    // what the CPU looks at stays in VRAM: 16 of 96 MiB are left
    view(kmd, p, create(p, 40));
    expect(await run(p, encodePacket("NOP", {}, [0]), [clone])).toBe(ContextState.GOOD);
    expect(info(p, clone).sharedBy).toBe(2);
    expect(await run(p, write(there, 6), [clone])).toBe(ContextState.GUILTY);
    expect(await run(p, write(VA, 6), [source])).toBe(Errno.ENOMEM);
    expect(info(p, source).sharedBy).toBe(2);
    p.call("VA_UNMAP", { va: there, size: 4096n });
    expect(p.call("GEM_CLOSE", { handle: clone }).result).toBe(0);
    expect(await run(p, write(VA + 4n, 6), [source])).toBe(ContextState.GOOD);
    expect([...view(kmd, p, source).subarray(0, 5)]).toEqual([5, 0, 0, 0, 6]);
    expect(kmd.usage()[0]?.vramBytes).toBe(80 * MIB);
  });

  it("a CPU view parts them; closing one leaves the other whole", () => {
    const { kmd, p } = setup();
    const source = create(p, 1);
    const first = p.call("GEM_CLONE", { handle: source }).out.clone;
    const second = p.call("GEM_CLONE", { handle: source }).out.clone;
    view(kmd, p, first).fill(3);
    expect(info(p, source).sharedBy).toBe(2);
    p.call("GEM_CLOSE", { handle: source });
    expect(info(p, second).sharedBy).toBe(1);
    expect(view(kmd, p, second).every((byte) => byte === 0)).toBe(true);
    for (const handle of [first, second]) p.call("GEM_CLOSE", { handle });
    expect(kmd.usage()[0]?.vramBytes).toBe(2 * MIB);
  });
});

describe("memory of the process itself", () => {
  it("is wrapped as a BO at its place, and outlives its free while the BO is there", async () => {
    const { kmd, p } = setup();
    const block = kmd.allocateHeap(p.fd, 10_000);
    if (typeof block === "number") throw new Error(`heap: ${block}`);
    expect([block.view.length, kmd.usage()[0]?.gttBytes]).toEqual([12_288, 12_288]);
    const { result, out } = p.call("GEM_USERPTR", { address: block.address + 4096n, size: 4096n });
    expect(result).toBe(0);
    map(p, out.handle, VA, 4096);
    expect(await run(p, write(VA + 8n, 0x11), [out.handle])).toBe(ContextState.GOOD);
    expect(block.view[4096 + 8]).toBe(0x11);
    expect(kmd.freeHeap(p.fd, block.address)).toBe(0);
    expect(kmd.freeHeap(p.fd, block.address)).toBe(Errno.ENOENT);
    expect(await run(p, write(VA + 12n, 0x22), [out.handle])).toBe(ContextState.GOOD);
    expect(block.view[4096 + 12]).toBe(0x22);
    const gttFree = () => p.call("QUERY_INFO", {}).out.gttFreeBytes;
    const before = gttFree();
    p.call("GEM_CLOSE", { handle: out.handle });
    expect(gttFree() - before).toBe(12_288n);
  });
});

describe("sparse ranges", () => {
  it("pages are bound, replaced in the middle and taken out again; holes take writes and drop them", async () => {
    const { kmd, p } = setup();
    const SIZE = 16 * 4096;
    expect(p.call("VA_MAP", { flags: VaFlag.PRT, va: VA, size: BigInt(SIZE) }).result).toBe(0);
    expect(await run(p, write(VA, 1), [])).toBe(ContextState.GOOD);
    const a = p.call("GEM_CREATE", { size: BigInt(SIZE), domain: Domain.VRAM }).out.handle;
    const b = p.call("GEM_CREATE", { size: 4096n, domain: Domain.VRAM }).out.handle;
    const bind = (handle: number, page: number, pages: number, offset = 0) =>
      p.call("SPARSE_BIND", {
        handle,
        flags: handle === 0 ? 0 : RW,
        va: VA + BigInt(page * 4096),
        boOffset: BigInt(offset * 4096),
        size: BigInt(pages * 4096),
      }).result;
    // Pages 2 to 9 show pages 0 to 7 of a; then page 5 is b's, and page 7 a hole again.
    expect([bind(a, 2, 8), bind(b, 5, 1), bind(0, 7, 1)]).toEqual([0, 0, 0]);
    expect(info(p, a).mappings).toBe(3);
    const packets = [2, 4, 5, 6, 7, 8, 9, 10].flatMap((page) => write(VA + BigInt(page * 4096), page));
    expect(await run(p, packets, [a, b])).toBe(ContextState.GOOD);
    const bytes = view(kmd, p, a);
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8].map((page) => bytes[page * 4096])).toEqual([2, 0, 4, 0, 6, 0, 8, 9, 0]);
    expect(view(kmd, p, b)[0]).toBe(5);
    expect(p.call("VA_UNMAP", { va: VA, size: 4096n }).result).toBe(Errno.ENOENT);
    p.call("GEM_CLOSE", { handle: b });
    expect(await run(p, write(VA + 5n * 4096n, 1), [])).toBe(ContextState.GOOD);
    expect(p.call("VA_UNMAP", { va: VA, size: BigInt(SIZE) }).result).toBe(0);
    expect(await run(p, write(VA, 1), [])).toBe(ContextState.GUILTY);
  });
});
