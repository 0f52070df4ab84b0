import { describe, expect, it } from "vitest";
import { createKmd } from "../../src/kmd/index.ts";
import {
  commonErrors,
  Domain,
  Errno,
  type ErrnoName,
  encodeIoctl,
  encodePacket,
  type IoctlName,
  type IoctlRow,
  ioctlRows,
  QueueKind,
  SyncobjKind,
  VaFlag,
} from "../../src/uapi/index.ts";
import { FakeClock, FakeGpu, HANG_MARK } from "./fake-gpu.ts";
import { Process } from "./process.ts";

const MEMORY = 0x2000_0000;
const RW = VaFlag.READ | VaFlag.WRITE;
const GIB = 1n << 30n;
const HANG = encodePacket("NOP", {}, [HANG_MARK]);

function setup() {
  const gpu = new FakeGpu(MEMORY);
  const clock = new FakeClock();
  const kmd = createKmd({ gpu, clock });
  const process = new Process(kmd, "test");
  return { gpu, clock, kmd, process };
}
type Setup = ReturnType<typeof setup>;

async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

/** A context that was lost to a hang. */
async function lost({ process, clock }: Setup): Promise<{ context: number; ib: ReturnType<Process["buffer"]> }> {
  const context = process.context(100);
  const ib = process.buffer(0x10_0000n, 4096);
  process.submit(context, ib, HANG);
  await settle();
  clock.advance(101);
  await settle();
  return { context, ib };
}

/** A BO that had to leave VRAM for one that cannot leave: the CPU looks at it. */
function evicted({ process: p, kmd }: Setup): { handle: number; va: bigint } {
  const small = p.call("GEM_CREATE", { size: 64n << 20n, domain: Domain.VRAM }).out.handle;
  p.call("VA_MAP", { handle: small, flags: RW, va: 0x4000_0000n, size: 64n << 20n });
  const size = 300 << 20;
  const large = p.call("GEM_CREATE", { size: BigInt(size), domain: Domain.VRAM }).out.handle;
  kmd.mmap(p.fd, p.call("GEM_MMAP", { handle: large }).out.offset, size);
  return { handle: small, va: 0x4000_0000n };
}

/** Fills both domains with BOs. */
function exhaust({ process: p }: Setup): void {
  for (const domain of [Domain.VRAM, Domain.GTT]) {
    for (let size = GIB; size >= 4096n; ) {
      if (p.call("GEM_CREATE", { size, domain }).result !== 0) size /= 2n;
    }
  }
}

/** How to provoke each error that a row documents. */
const provoke: { [N in IoctlName]: { [E in keyof (typeof ioctlRows)[N]["errors"]]: (s: Setup) => unknown } } = {
  QUERY_INFO: {},
  GEM_CREATE: {
    EINVAL: ({ process: p }) => [
      p.call("GEM_CREATE", { size: 0n, domain: Domain.VRAM }).result,
      p.call("GEM_CREATE", { size: 1n, domain: 3 }).result,
      p.call("GEM_CREATE", { size: 1n, domain: Domain.GTT, flags: 1 }).result,
    ],
    ENOMEM: ({ process: p }) => [
      p.call("GEM_CREATE", { size: GIB, domain: Domain.VRAM }).result,
      p.call("GEM_CREATE", { size: (1n << 64n) - 1n, domain: Domain.GTT }).result,
    ],
    ENOSPC: ({ process: p }) => {
      const arg = encodeIoctl("GEM_CREATE", { size: 1n, domain: Domain.VRAM });
      for (let i = 0; i < 65_536; i++) p.raw("GEM_CREATE", arg);
      return p.raw("GEM_CREATE", arg);
    },
  },
  GEM_CLOSE: { ENOENT: ({ process: p }) => p.call("GEM_CLOSE", { handle: 77 }).result },
  GEM_MMAP: { ENOENT: ({ process: p }) => p.call("GEM_MMAP", { handle: 77 }).result },
  VA_MAP: {
    ENOENT: ({ process: p }) => p.call("VA_MAP", { handle: 9, flags: RW, va: 0x10_0000n, size: 4096n }).result,
    EINVAL: ({ process: p }) => {
      const { handle } = p.call("GEM_CREATE", { size: 8192n, domain: Domain.VRAM }).out;
      const good = { handle, flags: RW, va: 0x10_0000n, boOffset: 0n, size: 4096n };
      return [
        { ...good, va: 0x10_0010n },
        { ...good, boOffset: 1n },
        { ...good, size: 100n },
        { ...good, size: 0n },
        { ...good, size: 12288n },
        { ...good, boOffset: 8192n },
        { ...good, flags: 0 },
        { ...good, flags: 8 },
        { ...good, va: 0n },
        { ...good, va: 0x7fff_ffff_f000n, size: 8192n },
        { ...good, va: 0x8000_0000_0000n },
        { ...good, va: 0xffff_ffff_ffff_f000n, size: 8192n },
        { ...good, size: (1n << 64n) - 4096n },
      ].map((arg) => p.call("VA_MAP", arg).result);
    },
    EEXIST: ({ process: p }) => {
      const bo = p.buffer(0x10_0000n, 8192);
      const arg = { handle: bo.handle, flags: RW, boOffset: 0n };
      return [
        p.call("VA_MAP", { ...arg, va: 0x10_1000n, size: 4096n }).result,
        p.call("VA_MAP", { ...arg, va: 0x0f_f000n, size: 8192n }).result,
      ];
    },
    ENOMEM: ({ process: p }) => {
      const { handle } = p.call("GEM_CREATE", { size: 4096n, domain: Domain.GTT }).out;
      let page = p.call("QUERY_INFO", {}).out.vramFreeBytes;
      while (page >= 4096n) {
        if (p.call("GEM_CREATE", { size: page, domain: Domain.VRAM }).result !== 0) page /= 2n;
      }
      return p.call("VA_MAP", { handle, flags: RW, va: 0x10_0000n, size: 4096n }).result;
    },
  },
  VA_UNMAP: {
    EINVAL: ({ process: p }) => [
      p.call("VA_UNMAP", { va: 1n, size: 4096n }).result,
      p.call("VA_UNMAP", { va: 0n, size: 0n }).result,
      p.call("VA_UNMAP", { va: 0n, size: 5n }).result,
    ],
    ENOENT: ({ process: p }) => {
      p.buffer(0x10_0000n, 8192);
      return [
        p.call("VA_UNMAP", { va: 0x10_0000n, size: 4096n }).result,
        p.call("VA_UNMAP", { va: 0x10_1000n, size: 4096n }).result,
        p.call("VA_UNMAP", { va: 0x20_0000n, size: 4096n }).result,
      ];
    },
    EBUSY: ({ process: p }) => {
      const ib = p.buffer(0x10_0000n, 4096);
      p.submit(p.context(), ib, HANG);
      return p.call("VA_UNMAP", { va: ib.va, size: 4096n }).result;
    },
  },
  CTX_CREATE: {
    EPERM: ({ process: p }) => p.call("CTX_CREATE", { priority: 2 }).result,
    EINVAL: ({ process: p }) => [3, -2].map((priority) => p.call("CTX_CREATE", { priority }).result),
    ENOSPC: ({ process: p }) => {
      for (let i = 0; i < 256; i++) p.context();
      return p.call("CTX_CREATE", {}).result;
    },
  },
  CTX_DESTROY: {
    ENOENT: ({ process: p }) => p.call("CTX_DESTROY", { context: 1 }).result,
    EBUSY: ({ process: p }) => {
      const context = p.context();
      p.submit(context, p.buffer(0x10_0000n, 4096), HANG);
      return p.call("CTX_DESTROY", { context }).result;
    },
  },
  CTX_QUERY: { ENOENT: ({ process: p }) => p.call("CTX_QUERY", { context: 5 }).result },
  SUBMIT: {
    ENOENT: ({ process: p }) => {
      const ib = p.buffer(0x10_0000n, 4096);
      return [p.submit(99, ib, HANG).result, p.submit(p.context(), ib, HANG, [1234]).result];
    },
    EINVAL: ({ process: p }) => {
      const ib = p.buffer(0x10_0000n, 4096);
      const good = { context: p.context(), queueKind: 1, ibVa: ib.va, ibDwords: 2 };
      return [
        p.call("SUBMIT", { ...good, queueKind: 9 }, [ib.handle]).result,
        p.call("SUBMIT", { ...good, ibVa: ib.va + 2n }, [ib.handle]).result,
        p.call("SUBMIT", { ...good, ibDwords: 0 }, [ib.handle]).result,
        p.call("SUBMIT", { ...good, ibDwords: 1 << 20 }, [ib.handle]).result,
        p.call("SUBMIT", good, new Array(4097).fill(ib.handle)).result,
        p.call("SUBMIT", good, [ib.handle, p.call("GEM_CREATE", { size: 1n, domain: Domain.VRAM }).out.handle]).result,
      ];
    },
    ENOMEM: (s) => {
      const { handle } = evicted(s);
      return s.process.submit(s.process.context(), s.process.buffer(0x10_0000n, 4096), HANG, [handle]).result;
    },
    EPERM: ({ process: p }) => {
      const ib = p.buffer(0x10_0000n, 4096);
      const writeOnly = p.buffer(0x20_0000n, 4096, VaFlag.WRITE);
      const good = { context: p.context(), queueKind: 1, ibVa: ib.va, ibDwords: 2 };
      return [
        p.call("SUBMIT", good, []).result,
        p.call("SUBMIT", { ...good, ibVa: 0x30_0000n }, [ib.handle]).result,
        p.call("SUBMIT", { ...good, ibVa: ib.va + 4092n }, [ib.handle]).result,
        p.call("SUBMIT", { ...good, ibVa: ib.va - 4n }, [ib.handle]).result,
        p.call("SUBMIT", { ...good, ibVa: writeOnly.va }, [writeOnly.handle]).result,
      ];
    },
    ECANCELED: async (s) => {
      const { context, ib } = await lost(s);
      return s.process.submit(context, ib, HANG).result;
    },
    EBUSY: ({ process: p }) => {
      const context = p.context();
      const ib = p.buffer(0x10_0000n, 4096);
      for (let i = 0; i < 1024; i++) p.submit(context, ib, HANG);
      return p.submit(context, ib, HANG).result;
    },
  },
  WAIT_FENCE: {
    ENOENT: ({ process: p }) => p.wait(3, 1n),
    EINVAL: ({ process: p }) => p.wait(p.context(), 1n),
    ETIME: async ({ process: p, clock }) => {
      const context = p.context();
      p.submit(context, p.buffer(0x10_0000n, 4096), HANG);
      const poll = await p.wait(context, 1n, 0);
      const timed = p.wait(context, 1n, 50);
      await settle();
      clock.advance(50);
      return [poll, await timed];
    },
    ECANCELED: async (s) => {
      const { context } = await lost(s);
      return s.process.wait(context, 1n);
    },
  },
  SYNCOBJ_CREATE: {
    EINVAL: ({ process: p }) => [
      p.call("SYNCOBJ_CREATE", { kind: 2 }).result,
      p.call("SYNCOBJ_CREATE", { kind: SyncobjKind.BINARY, value: 2n }).result,
    ],
    ENOSPC: ({ process: p }) => {
      const arg = encodeIoctl("SYNCOBJ_CREATE", {});
      for (let i = 0; i < 16_384; i++) p.raw("SYNCOBJ_CREATE", arg);
      return p.raw("SYNCOBJ_CREATE", arg);
    },
  },
  SYNCOBJ_DESTROY: {
    ENOENT: ({ process: p }) => {
      const handle = p.syncobj();
      p.call("SYNCOBJ_DESTROY", { handle });
      return [p.call("SYNCOBJ_DESTROY", { handle }).result, p.call("SYNCOBJ_DESTROY", { handle: 99 }).result];
    },
  },
  SYNCOBJ_SIGNAL: {
    ENOENT: ({ process: p }) => p.call("SYNCOBJ_SIGNAL", { handle: 1 }).result,
    EINVAL: ({ process: p }) => {
      const handle = p.syncobj(SyncobjKind.TIMELINE, 5n);
      return [4n, 5n].map((point) => p.call("SYNCOBJ_SIGNAL", { handle, point }).result);
    },
  },
  SYNCOBJ_RESET: {
    ENOENT: ({ process: p }) => p.call("SYNCOBJ_RESET", { handle: 1 }).result,
    EINVAL: ({ process: p }) => p.call("SYNCOBJ_RESET", { handle: p.syncobj(SyncobjKind.TIMELINE) }).result,
  },
  SYNCOBJ_QUERY: { ENOENT: ({ process: p }) => p.call("SYNCOBJ_QUERY", { handle: 1 }).result },
  SYNCOBJ_WAIT: {
    ENOENT: ({ process: p }) => p.waitPoints([[1, 0n]]),
    EINVAL: async ({ process: p }) => {
      const handle = p.syncobj();
      return [await p.waitPoints([]), await p.waitWords([handle, 0]), await p.waitWords([handle, 0, 0], { flags: 2 })];
    },
    ETIME: async ({ process: p, clock }) => {
      const handle = p.syncobj(SyncobjKind.TIMELINE);
      const poll = await p.waitPoints([[handle, 1n]], { timeoutMs: 0 });
      const timed = p.waitPoints([[handle, 1n]], { timeoutMs: 50 });
      await settle();
      clock.advance(50);
      return [poll, await timed];
    },
  },
  SUBMIT_SYNC: {
    ENOENT: ({ process: p }) => {
      const ib = p.buffer(0x10_0000n, 4096);
      const context = p.context();
      return [
        p.submitSync(99, ib, HANG).result,
        p.submitSync(context, { ...ib, handle: 1234 }, HANG).result,
        p.submitSync(context, ib, HANG, [[7, 0n]]).result,
        p.submitSync(context, ib, HANG, [], [[7, 0n]]).result,
      ];
    },
    EINVAL: ({ process: p }) => {
      const ib = p.buffer(0x10_0000n, 4096);
      const context = p.context();
      const timeline = p.syncobj(SyncobjKind.TIMELINE, 5n);
      const good = { context, queueKind: 1, ibVa: ib.va, ibDwords: 2, boCount: 1 };
      return [
        p.call("SUBMIT_SYNC", { ...good, queueKind: 9 }, [ib.handle]).result,
        p.call("SUBMIT_SYNC", { ...good, boCount: 2 }, [ib.handle]).result,
        p.call("SUBMIT_SYNC", { ...good, waitCount: 1 }, [ib.handle, timeline, 5]).result,
        p.call("SUBMIT_SYNC", { ...good, queueKind: QueueKind.SDMA, ibVa: ib.va + 16n }, [ib.handle]).result,
        p.submitSync(context, ib, HANG, [[p.syncobj(), 0n]]).result,
        p.submitSync(context, ib, HANG, [], [[timeline, 5n]]).result,
        p.submitSync(
          context,
          ib,
          HANG,
          [],
          [
            [timeline, 7n],
            [timeline, 7n],
          ],
        ).result,
      ];
    },
    ENOMEM: (s) => {
      const { handle } = evicted(s);
      const ib = s.process.buffer(0x10_0000n, 4096);
      return s.process.submitSync(s.process.context(), ib, HANG, [], [], [handle]).result;
    },
    EPERM: ({ process: p }) => {
      const ib = p.buffer(0x10_0000n, 4096);
      return p.submitSync(p.context(), { ...ib, va: ib.va + 4096n }, HANG).result;
    },
    ECANCELED: async (s) => {
      const { context, ib } = await lost(s);
      return s.process.submitSync(context, ib, HANG).result;
    },
    EBUSY: ({ process: p }) => {
      const context = p.context();
      const ib = p.buffer(0x10_0000n, 4096);
      for (let i = 0; i < 1024; i++) p.submitSync(context, ib, HANG);
      return p.submitSync(context, ib, HANG).result;
    },
  },
  GEM_USERPTR: {
    EINVAL: (s) => {
      const { address } = block(s, 8192);
      return [
        { address: address + 8n, size: 4096n },
        { address, size: 100n },
        { address, size: 0n },
      ].map((arg) => s.process.call("GEM_USERPTR", arg).result);
    },
    EFAULT: (s) => {
      const { address } = block(s, 8192);
      return [
        { address: 0x1000n, size: 4096n },
        { address: address + 4096n, size: 8192n },
        { address, size: (1n << 64n) - 4096n },
      ].map((arg) => s.process.call("GEM_USERPTR", arg).result);
    },
    ENOSPC: (s) => {
      const { address } = block(s, 4096);
      const arg = encodeIoctl("GEM_USERPTR", { address, size: 4096n });
      for (let i = 0; i < 65_536; i++) s.process.raw("GEM_USERPTR", arg);
      return s.process.raw("GEM_USERPTR", arg);
    },
  },
  GEM_CLONE: {
    ENOENT: ({ process: p }) => p.call("GEM_CLONE", { handle: 7 }).result,
    EBUSY: ({ process: p }) => {
      const ib = p.buffer(0x10_0000n, 4096);
      p.submit(p.context(), ib, HANG);
      return p.call("GEM_CLONE", { handle: ib.handle }).result;
    },
    ENOMEM: (s) => {
      const { handle } = s.process.buffer(0x10_0000n, 4096);
      exhaust(s);
      return s.process.call("GEM_CLONE", { handle }).result;
    },
    ENOSPC: ({ process: p }) => {
      const { handle } = p.call("GEM_CREATE", { size: 1n, domain: Domain.VRAM }).out;
      const arg = encodeIoctl("GEM_CLONE", { handle });
      for (let i = 0; i < 65_535; i++) p.raw("GEM_CLONE", arg);
      return p.raw("GEM_CLONE", arg);
    },
  },
  SPARSE_BIND: {
    ENOENT: ({ process: p }) => {
      p.call("VA_MAP", { flags: VaFlag.PRT, va: 0x40_0000n, size: 16384n });
      const bo = p.buffer(0x10_0000n, 4096);
      const good = { handle: bo.handle, flags: RW, va: 0x40_0000n, size: 4096n };
      return [
        { ...good, handle: 99 },
        { ...good, va: 0x10_0000n },
        { ...good, va: 0x3f_f000n },
        { ...good, handle: 0, flags: 0, va: 0x40_3000n, size: 8192n },
        { ...good, va: 0x40_4000n },
      ].map((arg) => p.call("SPARSE_BIND", arg).result);
    },
    EINVAL: ({ process: p }) => {
      p.call("VA_MAP", { flags: VaFlag.PRT, va: 0x40_0000n, size: 16384n });
      const bo = p.buffer(0x10_0000n, 4096);
      const good = { handle: bo.handle, flags: RW, va: 0x40_0000n, size: 4096n };
      return [
        { ...good, va: 0x40_0010n },
        { ...good, size: 0n },
        { ...good, size: 8192n },
        { ...good, boOffset: 4096n },
        { ...good, flags: 0 },
        { ...good, flags: VaFlag.PRT },
        { ...good, handle: 0 },
      ].map((arg) => p.call("SPARSE_BIND", arg).result);
    },
    EBUSY: ({ process: p }) => {
      p.call("VA_MAP", { flags: VaFlag.PRT, va: 0x40_0000n, size: 16384n });
      const bo = p.buffer(0x10_0000n, 4096);
      const bind = { handle: bo.handle, flags: RW, va: 0x40_0000n, size: 4096n };
      p.call("SPARSE_BIND", bind);
      p.submit(p.context(), bo, HANG);
      return p.call("SPARSE_BIND", { va: 0x40_0000n, size: 4096n }).result;
    },
  },
  GEM_INFO: { ENOENT: ({ process: p }) => p.call("GEM_INFO", { handle: 7 }).result },
};

function block({ kmd, process }: Setup, sizeBytes: number): { address: bigint } {
  const made = kmd.allocateHeap(process.fd, sizeBytes);
  if (typeof made === "number") throw new Error(`allocateHeap: ${made}`);
  return made;
}

describe("each documented errno", () => {
  for (const [name, row] of Object.entries(ioctlRows) as [IoctlName, IoctlRow][]) {
    for (const errno of Object.keys(row.errors) as ErrnoName[]) {
      it(`${name}: ${errno}, ${row.errors[errno]}`, async () => {
        const action = (provoke[name] as Record<string, (s: Setup) => unknown>)[errno];
        const got = await action?.(setup());
        const results = Array.isArray(got) ? got : [got];
        expect(results.length).toBeGreaterThan(0);
        for (const result of results) expect(result).toBe(Errno[errno]);
      });
    }
  }

  it(`the common ones: ${Object.keys(commonErrors).join(", ")}`, async () => {
    const { kmd, process } = setup();
    const arg = encodeIoctl("CTX_CREATE", {});
    expect(kmd.ioctl(999, 6, arg)).toBe(Errno.EBADF);
    expect(kmd.ioctl(process.fd, 200, arg)).toBe(Errno.ENOTTY);
    expect(kmd.ioctl(process.fd, 6, new DataView(new ArrayBuffer(3)))).toBe(Errno.EFAULT);
    const short = encodeIoctl("SUBMIT", { context: process.context(), queueKind: 1, ibDwords: 1 });
    short.setUint32(20, 5, true);
    expect(kmd.ioctl(process.fd, 9, short)).toBe(Errno.EFAULT);
    kmd.shutdown();
    expect(kmd.ioctl(process.fd, 6, arg)).toBe(Errno.ENODEV);
    expect(kmd.open("late")).toBe(Errno.ENODEV);
    expect(await process.wait(1, 1n)).toBe(Errno.ENODEV);
  });
});
