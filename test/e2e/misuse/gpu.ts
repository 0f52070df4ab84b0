import { expect } from "vitest";
import { formatReport } from "../../../src/debug/index.ts";
import { Domain, Errno, encodePacket, encodeSdma, PacketValue, QueueKind, VaFlag } from "../../../src/uapi/index.ts";
import type { Case } from "./api.ts";
import { type Bench, dwords } from "./bench.ts";

/** Nothing is mapped there. */
const FAR = 0x1234_5678_0000n;
const RW = VaFlag.READ | VaFlag.WRITE;
const VA = 0x1000_0000n;

/** Runs packets of a file without a driver; they must end by a fault, whose report comes back. */
async function packetFault(b: Bench, packets: readonly number[], queueKind: number = QueueKind.COMPUTE) {
  const name = `packets ${b.machine.faults().length}`;
  const p = b.process(name);
  const ib = p.buffer(VA, 8192, RW, Domain.GTT);
  ib.words.set(packets);
  const context = p.context(250);
  const input = { context, queueKind, ibVa: VA, ibDwords: packets.length };
  expect(p.call("SUBMIT", input, [ib.handle]).result).toBe(0);
  expect(await p.wait(context, 1n)).toBe(Errno.ECANCELED);
  const [report] = b.reportsOf(name);
  if (report === undefined) throw new Error("no report");
  return report;
}

/** Misuse that the GPU notices: 28 to 40. */
export const gpuCases: readonly Case[] = [
  [
    28,
    "a read of an unmapped address",
    async (b) => {
      const report = await b.faults("load", FAR);
      expect(report).toMatchObject({ kind: "NOT_MAPPED", address: FAR, source: { file: "hand.comp" } });
      expect(report.text).toBe("read of unmapped address 0x123456780000");
      expect(report.instruction).toBe("global_load_dword v2, v[4:5], off");
    },
  ],
  [
    29,
    "a write to a read-only mapping",
    async (b) => {
      const device = b.device();
      const memory = device.allocateMemory({ sizeBytes: 4096, type: "device", access: VaFlag.READ });
      const buffer = device.createBoundBuffer(4096);
      new DataView(buffer.map().buffer, buffer.map().byteOffset).setBigUint64(0, memory.va, true);
      const report = await b.lost(device, await b.submit(device, "store", buffer));
      expect(report).toMatchObject({ kind: "NOT_WRITABLE", address: memory.va });
      expect(report.nearest).toMatch(new RegExp(`^0 bytes into BO ${memory.handle} .* r--`));
    },
  ],
  [
    30,
    "an address after unmap; in a hole of a sparse range reads give 0, and the kernel log says by which rule",
    async (b) => {
      const device = b.device();
      const buffer = device.createBoundBuffer(4096);
      // So long that its addresses lie behind a gap, where the next allocations go.
      const memory = device.allocateMemory({ sizeBytes: 2 << 20, type: "device" });
      new DataView(buffer.map().buffer, buffer.map().byteOffset).setBigUint64(0, memory.va, true);
      const { handle, va } = memory;
      memory.destroy();
      const report = await b.lost(device, await b.submit(device, "load", buffer));
      expect(report).toMatchObject({ kind: "NOT_MAPPED", address: va });
      expect(report.nearest).toMatch(new RegExp(`^0 bytes into unmapped BO ${handle}`));
      const sparse = b.device("sparse");
      expect(sparse.kernel.try("VA_MAP", { flags: VaFlag.PRT, va: FAR, size: 0x1_0000n }).result).toBe(0);
      const out = sparse.createBoundBuffer(4096);
      const words = dwords(out);
      words.fill(0xee);
      new DataView(words.buffer, words.byteOffset).setBigUint64(0, FAR + 64n, true);
      expect(await (await b.submit(sparse, "store", out)).wait()).toBe("SUCCESS");
      expect([...words.subarray(0, 33)]).toEqual([...new Array(32).fill(0), 0xee]);
      expect(b.machine.dmesg().at(-1)).toMatch(
        /of sparse .*: \d+ accesses to holes of sparse ranges: reads gave 0, writes were dropped$/,
      );
    },
  ],
  [
    31,
    "an illegal instruction",
    async (b) => {
      const report = await b.faults("illegal");
      expect(report).toMatchObject({ kind: "ILLEGAL_INSTRUCTION", codeOffset: 4, source: { line: 101 } });
      expect(report.text).toMatch(/0xbfbf0000/);
    },
  ],
  [
    32,
    "a program counter outside code",
    async (b) => {
      expect(await b.faults("jump", FAR)).toMatchObject({ kind: "NOT_MAPPED", instructionVa: FAR, address: FAR });
      const device = b.device();
      const buffer = device.createBoundBuffer(4096);
      new DataView(buffer.map().buffer, buffer.map().byteOffset).setBigUint64(0, buffer.va, true);
      const report = await b.lost(device, await b.submit(device, "jump", buffer));
      expect(report).toMatchObject({ kind: "NOT_EXECUTABLE", address: buffer.va });
    },
  ],
  [
    33,
    "an endless loop",
    async (b) => {
      const report = await b.faults("endless", 0n, { timeoutMs: 250 });
      expect(report).toMatchObject({ kind: "HALTED", reason: "timeout", codeName: "endless:main" });
      expect(report.instruction).toMatch(/^s_(branch|nop)/);
      expect(b.machine.dmesg().some((line) => /of bad endless .* runs longer than 250 ms; halts it/.test(line))).toBe(
        true,
      );
    },
  ],
  [
    34,
    "a barrier that some live waves never reach",
    async (b) => {
      const report = await b.faults("stuck", 0n, { threads: 64, timeoutMs: 250 });
      expect(report).toMatchObject({ kind: "HALTED", reason: "timeout" });
      expect(report.fields.waves.map(({ status }) => status)).toEqual(["barrier", "running"]);
      expect(formatReport(report)).toMatch(/wave 0 barrier pc 0x[0-9a-f]+ .*\n.*wave 1 running pc 0x[0-9a-f]+/);
    },
  ],
  [
    35,
    "use of a register whose load is outstanding",
    async (b) => {
      const report = await b.faults("early");
      expect(report.text).toBe("register v2 used while its load is outstanding");
      expect(report.instruction).toBe("v_add_nc_u32_e32 v2, s3, v2");
    },
  ],
  [
    36,
    "an unknown or truncated packet",
    async (b) => {
      // Type 3, opcode 0xee, one dword of body.
      const unknown = await packetFault(b, [0xc000_ee00, 0]);
      expect(unknown).toMatchObject({ kind: "UNKNOWN_PACKET", packetVa: VA });
      // WRITE_DATA of 9 dwords of body, of which 3 are there.
      const cut = await packetFault(b, [0xc008_3700, 5 << 8, 0, 0]);
      expect(cut).toMatchObject({ kind: "MALFORMED_PACKET", packetVa: VA });
      const sdma = await packetFault(b, [0x0000_00ee], QueueKind.SDMA);
      expect(sdma).toMatchObject({ kind: "UNKNOWN_PACKET", packetVa: VA });
      const whole = encodeSdma("COPY_LINEAR", { count: 63, src: VA + 4096n, dst: VA + 4160n });
      const cutCopy = await packetFault(b, whole.slice(0, 3), QueueKind.SDMA);
      expect(cutCopy).toMatchObject({ kind: "MALFORMED_PACKET", packetVa: VA });
    },
  ],
  [
    37,
    "a wait on a memory value that never comes",
    async (b) => {
      const wait = encodePacket("WAIT_REG_MEM", {
        function: PacketValue.WAIT_EQUAL,
        memSpace: PacketValue.WAIT_MEMORY,
        address: VA + 4096n,
        reference: 1,
        mask: 0xffff_ffff,
        pollInterval: 10,
      });
      const report = await packetFault(b, wait);
      expect(report).toMatchObject({ kind: "HALTED", reason: "timeout", packetVa: VA });
      expect(report.packet).toMatch(/^WAIT_REG_MEM memory ==/);
    },
  ],
  [
    38,
    "LDS beyond the allocation: reads 0, writes dropped, reported",
    async (b) => {
      const device = b.device("lds");
      const buffer = device.createBoundBuffer(128);
      dwords(buffer).fill(0xee);
      const fence = await b.submit(device, "lds", buffer, { hardware: { ldsBytes: 1024 } });
      expect(await fence.wait()).toBe("SUCCESS");
      expect([...dwords(buffer)]).toEqual(new Array(32).fill(0));
      // 32 lanes wrote, 32 lanes read.
      expect(b.machine.usage().find(({ fd }) => fd === device.fd)?.ldsOutside).toBe(64);
      expect(b.machine.dmesg().at(-1)).toMatch(
        /of lds .*: 64 LDS accesses beyond the workgroup's allocation: reads gave 0, writes were dropped$/,
      );
    },
  ],
  [
    39,
    "scratch overflow",
    async (b) => {
      const report = await b.faults("scratch", 0n, { hardware: { scratchBytes: 64 } });
      expect(report).toMatchObject({ kind: "PAST_SCRATCH", codeOffset: 40, source: { line: 110 } });
      // The store before it, within the scratch memory, went through.
      expect(report.instruction).toBe("scratch_store_dword v2, v0, off");
      expect(report.text).toMatch(/^write past the lane's scratch memory/);
    },
  ],
  [
    39,
    "a store just behind the lane's scratch memory, and a stack that grows out of it",
    async (b) => {
      const end = await b.faults("scratchEnd", 0n, { hardware: { scratchBytes: 64 } });
      expect(end).toMatchObject({ kind: "PAST_SCRATCH", codeOffset: 36, source: { line: 109 } });
      expect(end.instruction).toBe("scratch_store_dword v2, v0, off");
      expect(end.text).toMatch(/^write past the lane's scratch memory: byte 64 of 64, at 0x/);
      const stack = await b.faults("stack", 0n, { hardware: { scratchBytes: 256 } });
      expect(stack).toMatchObject({ kind: "PAST_SCRATCH", codeOffset: 20, source: { line: 105 } });
      expect(stack.text).toMatch(/^write past the lane's scratch memory: byte 256 of 256, at 0x/);
    },
  ],
  [
    40,
    "an SDMA copy that runs off a BO",
    async (b) => {
      const p = b.process("copy");
      const ib = p.buffer(VA, 4096, RW, Domain.GTT);
      const [src, dst] = [p.buffer(VA + 0x10_0000n, 8192), p.buffer(VA + 0x20_0000n, 4096)];
      const packets = encodeSdma("COPY_LINEAR", { count: 8191, src: src.va, dst: dst.va });
      ib.words.set(packets);
      const context = p.context();
      const input = { context, queueKind: QueueKind.SDMA, ibVa: VA, ibDwords: packets.length };
      p.call("SUBMIT", input, [ib.handle, src.handle, dst.handle]);
      expect(await p.wait(context, 1n)).toBe(Errno.ECANCELED);
      const [report] = b.reportsOf("copy");
      expect(report).toMatchObject({ kind: "NOT_MAPPED", address: dst.va + 4096n, packetVa: VA });
      expect(report?.nearest).toMatch(new RegExp(`^0 bytes past the end of BO ${dst.handle} `));
      expect(report?.packet).toMatch(/^COPY_LINEAR/);
    },
  ],
];
