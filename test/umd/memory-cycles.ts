import { createKmd } from "../../src/kmd/index.ts";
import { createInstance } from "../../src/umd/index.ts";
import { EnginePort } from "../kmd/engine-port.ts";
import { FakeClock } from "../kmd/fake-gpu.ts";
import { generator } from "../kmd/isolation-fuzz.ts";

/**
 * Allocations and frees by the driver, of every size, type and range, some mapped, some filled by a job of the real engine
 * and freed before it has ended; what is left afterwards. All numbers must be 0.
 */
export async function memoryCycles(cycles: number, seed: number, onProgress: (done: number) => void = () => {}) {
  const gpu = new EnginePort(0x0c00_0000);
  const kmd = createKmd({ gpu, clock: new FakeClock(), seed });
  const device = createInstance({ kernel: kmd }).createDevice({ processName: "cycles" });
  const random = generator(seed);
  const usage = () => kmd.usage()[0];
  const free = () => {
    const { vramFreeBytes, gttFreeBytes } = device.kernel.call("QUERY_INFO", {});
    return Number(vramFreeBytes + gttFreeBytes);
  };
  const fill = async () => {
    const buffer = device.createBoundBuffer(256 + random(20_000));
    const queue = random(2) ? "transfer" : "compute";
    const commands = device.createCommandBuffer({ queue }).begin().fillBuffer(buffer, 7).end();
    const fence = device.submit([commands]);
    const isEarly = random(4) === 0;
    if (isEarly) {
      commands.destroy();
      buffer.destroy();
    }
    gpu.drain();
    await fence.wait();
    if (isEarly) return;
    if (buffer.map()[252] !== 7) throw new Error(`seed ${seed}: a fill by the ${queue} queue did not come`);
    commands.destroy();
    buffer.destroy();
  };
  const before = { free: free(), usage: usage() };
  const live: { destroy(): void }[] = [];
  for (let done = 1; done <= cycles; done++) {
    if (live.length > 40) live.splice(random(live.length), 1)[0]?.destroy();
    const type = (["device", "host", "cached"] as const)[random(3)] ?? "host";
    const range = random(4) === 0 ? "window" : "general";
    const memory = device.allocateMemory({ sizeBytes: 1 + random(random(50) === 0 ? 3 << 20 : 20_000), type, range });
    if (random(8) === 0) memory.map()[0] = 1;
    live.push(memory);
    if (random(16) === 0) await fill();
    if (done % 100_000 === 0) onProgress(done);
  }
  for (const memory of live) memory.destroy();
  const now = usage();
  const left = {
    physicalBytes: before.free - free(),
    vramBytes: (now?.vramBytes ?? 0) - (before.usage?.vramBytes ?? 0),
    gttBytes: (now?.gttBytes ?? 0) - (before.usage?.gttBytes ?? 0),
    tableBytes: (now?.tableBytes ?? 0) - (before.usage?.tableBytes ?? 0),
    bos: (now?.bos ?? 0) - (before.usage?.bos ?? 0),
    mappings: (now?.mappings ?? 0) - (before.usage?.mappings ?? 0),
    // Addresses: nothing stands between one end of each range and the other but the device's own ring page.
    addressHoles: device.heapOf("general").extents - 1 + (device.heapOf("window").extents - 1),
  };
  device.destroy();
  return left;
}
