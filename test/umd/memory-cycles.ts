import { createKmd } from "../../src/kmd/index.ts";
import { createInstance } from "../../src/umd/index.ts";
import { FakeClock, FakeGpu } from "../kmd/fake-gpu.ts";
import { generator } from "../kmd/isolation-fuzz.ts";

/** Allocations and frees of every size, type and range, most with a map; what is left afterwards. All numbers must be 0. */
export function memoryCycles(cycles: number, seed: number, onProgress: (done: number) => void = () => {}) {
  const kmd = createKmd({ gpu: new FakeGpu(0x0c00_0000), clock: new FakeClock() });
  const device = createInstance({ kernel: kmd }).createDevice({ processName: "cycles" });
  const random = generator(seed);
  const usage = () => kmd.usage()[0];
  const free = () => {
    const { vramFreeBytes, gttFreeBytes } = device.kernel.call("QUERY_INFO", {});
    return Number(vramFreeBytes + gttFreeBytes);
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
