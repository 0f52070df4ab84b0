import { expect } from "vitest";
import {
  ContextState,
  Domain,
  Errno,
  encodeIoctl,
  encodePacket,
  PacketValue,
  SyncobjKind,
  VaFlag,
} from "../../../src/uapi/index.ts";
import type { Case } from "./api.ts";

const RW = VaFlag.READ | VaFlag.WRITE;
const MIB = 1n << 20n;
const NOP = encodePacket("NOP", {}, [0]);
const VA = 0x1000_0000n;

/** Misuse at the kernel's boundary: 18 to 27. Errors are those that docs/kernel-interface.md lists. */
export const kernelCases: readonly Case[] = [
  [
    18,
    "an unknown ioctl",
    async (b) => {
      const { fd } = b.process();
      expect(b.machine.kernel.ioctl(fd, 200, new DataView(new ArrayBuffer(64)))).toBe(Errno.ENOTTY);
      expect(b.machine.kernel.ioctl(99_999, 0, new DataView(new ArrayBuffer(64)))).toBe(Errno.EBADF);
    },
  ],
  [
    19,
    "a handle of another process",
    async (b) => {
      const [owner, thief] = [b.process("owner"), b.process("thief")];
      // Numbers count from 1 in each file: the owner's last ones are numbers that the thief does not have.
      const foreign = Math.max(...[0n, 1n, 2n].map((n) => owner.buffer(VA + n * MIB, 4096).handle));
      const own = thief.buffer(VA + MIB, 4096);
      expect(own.handle).not.toBe(foreign);
      expect(thief.call("VA_MAP", { handle: foreign, flags: RW, va: VA + 2n * MIB, size: 4096n }).result).toBe(
        Errno.ENOENT,
      );
      expect(thief.call("GEM_MMAP", { handle: foreign }).result).toBe(Errno.ENOENT);
      expect(thief.call("GEM_CLOSE", { handle: foreign }).result).toBe(Errno.ENOENT);
      const context = thief.context();
      const foreignContext = Math.max(owner.context(), owner.context());
      expect(thief.submit(context, own, NOP, [foreign]).result).toBe(Errno.ENOENT);
      expect(b.machine.kernel.exportBo(thief.fd, foreign)).toBe(Errno.ENOENT);
      expect(foreignContext).not.toBe(context);
      expect(thief.submit(foreignContext, own, NOP).result).toBe(Errno.ENOENT);
      expect(thief.call("CTX_DESTROY", { context: foreignContext }).result).toBe(Errno.ENOENT);
      const { handle: sync } = owner.call("SYNCOBJ_CREATE", { kind: SyncobjKind.BINARY }).out;
      for (const name of ["SYNCOBJ_SIGNAL", "SYNCOBJ_QUERY", "SYNCOBJ_RESET", "SYNCOBJ_DESTROY"] as const) {
        expect(thief.call(name, { handle: sync }).result).toBe(Errno.ENOENT);
      }
      expect(await thief.waitPoints([[sync, 0n]], { timeoutMs: 0 })).toBe(Errno.ENOENT);
      expect(thief.submitSync(context, own, NOP, [[sync, 0n]]).result).toBe(Errno.ENOENT);
      expect(thief.submitSync(context, own, NOP, [], [[sync, 0n]]).result).toBe(Errno.ENOENT);
      expect(thief.submitSync(context, own, NOP, [], [], [foreign]).result).toBe(Errno.ENOENT);
      expect(b.machine.kernel.exportSyncobj(thief.fd, sync)).toBe(Errno.ENOENT);
      for (const name of ["GEM_CLONE", "GEM_INFO"] as const) {
        expect(thief.call(name, { handle: foreign }).result).toBe(Errno.ENOENT);
      }
      const [va, size] = [VA + 4n * MIB, 0x1_0000n];
      expect(thief.call("VA_MAP", { flags: VaFlag.PRT, va, size }).result).toBe(0);
      const bind = { handle: foreign, flags: RW, va, size: 4096n };
      expect(thief.call("SPARSE_BIND", bind).result).toBe(Errno.ENOENT);
      // All of it is still its owner's.
      expect(owner.call("SYNCOBJ_DESTROY", { handle: sync }).result).toBe(0);
      expect(owner.call("CTX_DESTROY", { context: foreignContext }).result).toBe(0);
      expect(owner.call("GEM_CLOSE", { handle: foreign }).result).toBe(0);
    },
  ],
  [
    20,
    "a closed handle",
    async (b) => {
      const p = b.process();
      const { handle } = p.buffer(VA, 4096);
      expect(p.call("GEM_CLOSE", { handle }).result).toBe(0);
      expect(p.call("GEM_CLOSE", { handle }).result).toBe(Errno.ENOENT);
      expect(p.call("VA_MAP", { handle, flags: RW, va: VA, size: 4096n }).result).toBe(Errno.ENOENT);
      const ib = p.buffer(VA + MIB, 4096);
      expect(p.submit(p.context(), ib, NOP, [handle]).result).toBe(Errno.ENOENT);
      const sync = p.syncobj();
      const context = p.context();
      expect(p.call("SYNCOBJ_DESTROY", { handle: sync }).result).toBe(0);
      expect(p.submitSync(context, ib, NOP, [[sync, 0n]]).result).toBe(Errno.ENOENT);
      expect(p.call("CTX_DESTROY", { context }).result).toBe(0);
      expect(p.submit(context, ib, NOP).result).toBe(Errno.ENOENT);
    },
  ],
  [
    21,
    "size 0, size over VRAM, size overflow",
    async (b) => {
      const p = b.process();
      const sizes = [0n, 64n << 30n, (1n << 64n) - 1n, (1n << 64n) - 4096n];
      const results = sizes.map((size) => p.call("GEM_CREATE", { size, domain: Domain.VRAM }).result);
      expect(results).toEqual([Errno.EINVAL, Errno.ENOMEM, Errno.ENOMEM, Errno.ENOMEM]);
      // Sums of a mapping's numbers that come round past 64 bits, or past the BO or the address space.
      const { handle } = p.call("GEM_CREATE", { size: 8192n, domain: Domain.VRAM }).out;
      const top = (1n << 64n) - 4096n;
      const ranges: readonly (readonly [va: bigint, boOffset: bigint, size: bigint])[] = [
        [VA, 0n, 0n],
        [VA, 0n, top],
        [VA, top, 8192n],
        [VA, 4096n, 8192n],
        [top, 0n, 8192n],
        [VA, 4096n, top],
        [(1n << 47n) - 4096n, 0n, 8192n],
      ];
      for (const [va, boOffset, size] of ranges) {
        expect(p.call("VA_MAP", { handle, flags: RW, va, boOffset, size }).result).toBe(Errno.EINVAL);
      }
      for (const size of [0n, top]) {
        expect(p.call("VA_MAP", { flags: VaFlag.PRT, va: VA, size }).result).toBe(Errno.EINVAL);
        expect(p.call("VA_UNMAP", { va: VA, size }).result).toBe(size === 0n ? Errno.EINVAL : Errno.ENOENT);
      }
    },
  ],
  [
    22,
    "map over a mapping, unmap what is not mapped, a misaligned address",
    async (b) => {
      const p = b.process();
      const { handle } = p.buffer(VA, 8192);
      const map = (va: bigint, size = 4096n) => p.call("VA_MAP", { handle, flags: RW, va, size }).result;
      expect([map(VA + 4096n), map(VA - 4096n, 8192n), map(VA + 8192n + 8n)]).toEqual([
        Errno.EEXIST,
        Errno.EEXIST,
        Errno.EINVAL,
      ]);
      expect(p.call("VA_UNMAP", { va: VA + MIB, size: 4096n }).result).toBe(Errno.ENOENT);
      expect(p.call("VA_UNMAP", { va: VA + 1n, size: 4096n }).result).toBe(Errno.EINVAL);
    },
  ],
  [
    23,
    "submit naming a BO that is not resident or not mapped",
    async (b) => {
      const p = b.process();
      const ib = p.buffer(VA, 4096);
      const { handle: unmapped } = p.call("GEM_CREATE", { size: 4096n, domain: Domain.VRAM }).out;
      expect(p.submit(p.context(), ib, NOP, [unmapped]).result).toBe(Errno.EINVAL);
      const { vramBytes } = p.call("QUERY_INFO", {}).out;
      const { handle: evicted } = p.call("GEM_CREATE", { size: 16n * MIB, domain: Domain.VRAM }).out;
      p.call("VA_MAP", { handle: evicted, flags: RW, va: VA + 64n * MIB, size: 16n * MIB });
      const size = vramBytes - 8n * MIB;
      const { handle: large } = p.call("GEM_CREATE", { size, domain: Domain.VRAM }).out;
      // The CPU looks at it, so it stays.
      b.machine.kernel.mmap(p.fd, p.call("GEM_MMAP", { handle: large }).out.offset, 4096);
      expect(p.call("GEM_INFO", { handle: evicted }).out.placement).toBe(Domain.GTT);
      expect(p.submit(p.context(), ib, NOP, [evicted]).result).toBe(Errno.ENOMEM);
    },
  ],
  [
    24,
    "submit an indirect buffer outside its BO",
    async (b) => {
      const p = b.process();
      const ib = p.buffer(VA, 4096);
      const input = { context: p.context(), queueKind: 1, ibDwords: 8 };
      const results = [VA + 4096n - 16n, VA - 4n, VA + MIB].map(
        (ibVa) => p.call("SUBMIT", { ...input, ibVa }, [ib.handle]).result,
      );
      expect(results).toEqual([Errno.EPERM, Errno.EPERM, Errno.EPERM]);
    },
  ],
  [
    25,
    "a priority above what the process may have",
    async (b) => {
      const p = b.process();
      expect([2, 3].map((priority) => p.call("CTX_CREATE", { priority }).result)).toEqual([Errno.EPERM, Errno.EINVAL]);
    },
  ],
  [
    26,
    "out of memory, then freed, then fine",
    async (b) => {
      const p = b.process();
      const { vramBytes } = p.call("QUERY_INFO", {}).out;
      const size = ((vramBytes * 7n) / 10n / 4096n) * 4096n;
      const { handle } = p.call("GEM_CREATE", { size, domain: Domain.VRAM }).out;
      expect(p.call("GEM_CREATE", { size, domain: Domain.VRAM }).result).toBe(Errno.ENOMEM);
      p.call("GEM_CLOSE", { handle });
      const again = p.buffer(VA, Number(size), RW, Domain.VRAM);
      const last = again.words.length - 1;
      const write = encodePacket(
        "WRITE_DATA",
        { dstSel: PacketValue.DST_MEMORY, address: again.va + 4n * BigInt(last) },
        [0x600d],
      );
      const context = p.context();
      expect(p.submit(context, p.buffer(VA - MIB, 4096), write, [again.handle]).result).toBe(0);
      expect(await p.wait(context, 1n)).toBe(0);
      expect(again.words[last]).toBe(0x600d);
    },
  ],
  [
    27,
    "thousands of handles, sync objects, contexts: limits with errors",
    async (b) => {
      const p = b.process();
      const { handle } = p.call("GEM_CREATE", { size: 4096n, domain: Domain.VRAM }).out;
      const until = (name: "GEM_CLONE" | "SYNCOBJ_CREATE" | "CTX_CREATE", arg: DataView) => {
        for (let count = 0; ; count++) {
          const result = p.raw(name, arg);
          if (result !== 0) return [count, result];
        }
      };
      expect(until("GEM_CLONE", encodeIoctl("GEM_CLONE", { handle }))).toEqual([65_535, Errno.ENOSPC]);
      const kind = SyncobjKind.BINARY;
      expect(until("SYNCOBJ_CREATE", encodeIoctl("SYNCOBJ_CREATE", { kind }))).toEqual([16_384, Errno.ENOSPC]);
      expect(until("CTX_CREATE", encodeIoctl("CTX_CREATE", {}))).toEqual([256, Errno.ENOSPC]);
      expect(p.call("CTX_QUERY", { context: 1 }).out.state).toBe(ContextState.GOOD);
    },
  ],
];
