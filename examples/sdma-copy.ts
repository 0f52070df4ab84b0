/**
 * The driver engineer's first program: one copy by the DMA engine, with the packet filled in by hand. No compiler.
 *
 *   npx tsx examples/sdma-copy.ts        (build first: `npm ci` does)
 */
import { createMachine } from "../src/service/index.ts";
import * as uapi from "../src/uapi/index.ts";

const machine = createMachine({ memoryBytes: 256 << 20, onIoctl: (line) => console.log(line) });
const kernel = machine.kernel;
const fd = kernel.open("sdma-copy");
const SIZE = 4096;

/** One ioctl: fills its struct, calls, reads the answer; a negative errno ends the program. */
function ioctl<N extends uapi.IoctlName>(name: N, input: Partial<uapi.IoctlInput<N>>, list: readonly number[] = []) {
  const arg = uapi.encodeIoctl(name, input, list);
  const result = kernel.ioctl(fd, uapi.ioctlRows[name].number, arg);
  if (result < 0) throw new Error(`${name}: ${uapi.errnoName(result)}`);
  return uapi.decodeIoctl(name, arg);
}

/** A buffer object in VRAM, mapped for the GPU at `va` and for the CPU as the bytes that come back. */
function bufferAt(va: bigint): { handle: number; bytes: Uint8Array } {
  const size = BigInt(SIZE);
  const { handle } = ioctl("GEM_CREATE", { size, domain: uapi.Domain.VRAM });
  ioctl("VA_MAP", { handle, flags: uapi.VaFlag.READ | uapi.VaFlag.WRITE, va, size });
  const bytes = kernel.mmap(fd, ioctl("GEM_MMAP", { handle }).offset, SIZE);
  if (typeof bytes === "number") throw new Error(`mmap: ${uapi.errnoName(bytes)}`);
  return { handle, bytes };
}

const [source, target, commands] = [0x10_0000n, 0x20_0000n, 0x30_0000n];
const [from, to, packets] = [bufferAt(source), bufferAt(target), bufferAt(commands)];
from.bytes.set(new TextEncoder().encode("hello from the copy engine"));

// SDMA COPY_LINEAR: opcode 1, bytes less by 1, no swap, source low and high, destination low and high.
const dwords = [0x0000_0001, SIZE - 1, 0, Number(source), 0, Number(target), 0];
new Uint32Array(packets.bytes.buffer, packets.bytes.byteOffset, dwords.length).set(dwords);

const { context } = ioctl("CTX_CREATE", {});
const job = { context, queueKind: uapi.QueueKind.SDMA, ibVa: commands, ibDwords: dwords.length };
const { fence } = ioctl("SUBMIT", job, [from.handle, to.handle, packets.handle]);
const wait = uapi.encodeIoctl("WAIT_FENCE", { context, fence, timeoutMs: 30_000 });
console.log("wait:", await kernel.ioctlWait(fd, uapi.ioctlRows.WAIT_FENCE.number, wait));
console.log("copied:", new TextDecoder().decode(to.bytes.slice(0, 26)));
kernel.close(fd);
await machine.close();
