import { describe, expect, it } from "vitest";
import { createKmd } from "../../src/kmd/index.ts";
import { VirtualMap } from "../../src/uapi/index.ts";
import { API_VERSION, createInstance, DRIVER_VERSION, type DriverEvent, readManifest } from "../../src/umd/index.ts";
import { FakeClock, FakeGpu } from "../kmd/fake-gpu.ts";
import { generator } from "../kmd/isolation-fuzz.ts";
import { compilerOf, record, request, userData } from "./shader.ts";

function setup() {
  const kernel = createKmd({ gpu: new FakeGpu(0x0800_0000), clock: new FakeClock() });
  return { kernel, device: createInstance({ kernel }).createDevice({ processName: "app" }) };
}

describe("the loader", () => {
  const good = { driver: "kiln", apiVersion: API_VERSION, driverVersion: DRIVER_VERSION };
  const read = (fields: object) => () => readManifest("/etc/kiln.json", JSON.stringify({ ...good, ...fields }));

  it("takes a manifest for in-process and for remote compiles", () => {
    expect(read({})()).toEqual({ path: "/etc/kiln.json", ...good });
    expect(read({ compile: "http://farm:7420", apiVersion: "1.0" })().compile).toBe("http://farm:7420");
    expect(read({ compile: "in-process" })().compile).toBeUndefined();
  });

  it("names both versions and the path of one that does not match, and never goes on without it", () => {
    expect(read({ apiVersion: "1.4" })).toThrow(
      "INITIALIZATION_FAILED: manifest /etc/kiln.json asks for API version 1.4, this driver has 1.3",
    );
    expect(read({ apiVersion: "2.0" })).toThrow(/API version 2\.0, this driver has 1\.3/);
    expect(read({ driverVersion: 7 })).toThrow(/kiln\.json is for driver version 7, this driver is 1/);
    for (const wrong of [{ driver: "radv" }, { apiVersion: 1.3 }, { apiVersion: "new" }, { compile: "nowhere" }]) {
      expect(read(wrong), JSON.stringify(wrong)).toThrow(/\/etc\/kiln\.json/);
    }
    for (const text of ["{", "[]", "null"]) expect(() => readManifest("m.json", text)).toThrow(/m\.json/);
    const { kernel } = setup();
    expect(() => createInstance({ kernel, apiVersion: "1.9" })).toThrow(
      "the application asks for API version 1.9, this driver has 1.3",
    );
  });
});

describe("a pipeline cache", () => {
  const answer = record({ code: [0xbf81_0000], workgroupSize: [1, 1, 1], buffers: [], userData: userData([]) });
  function counting() {
    let compiles = 0;
    const compiler = {
      compile: (asked: Parameters<ReturnType<typeof compilerOf>["compile"]>[0]) => {
        compiles++;
        return compilerOf(answer).compile(asked);
      },
    };
    return { compiler, compiles: () => compiles };
  }

  it("answers a request that it knows, in this run and from data of another", async () => {
    const { device } = setup();
    const { compiler, compiles } = counting();
    const cache = device.createPipelineCache();
    const first = await device.createComputePipeline({ compiler, request, cache });
    await device.createComputePipeline({ compiler, request, cache });
    expect([compiles(), cache.hits, cache.size]).toEqual([1, 1, 1]);
    await device.createComputePipeline({ compiler, request: { ...request, source: "other" }, cache });
    await device.createComputePipeline({ compiler, request, cache, specialization: [{ id: 0, value: 3 }] });
    expect([compiles(), cache.size]).toEqual([3, 3]);
    const later = setup().device.createPipelineCache(cache.data());
    expect([later.rejected, later.size]).toEqual([undefined, 3]);
    const again = await device.createComputePipeline({ compiler, request, cache: later });
    expect(compiles()).toBe(3);
    expect(Buffer.compare(again.record.elf, first.record.elf)).toBe(0);
    // Another build of the compiler: its tag.
    const tagged = device.createPipelineCache(cache.data(), "build 2");
    await device.createComputePipeline({ compiler, request, cache: tagged });
    expect(compiles()).toBe(4);
  });

  it("has Vulkan's header, and rejects data of another device or version as a whole; a damaged entry is a miss", async () => {
    const { device } = setup();
    const { compiler, compiles } = counting();
    const cache = device.createPipelineCache();
    await device.createComputePipeline({ compiler, request, cache });
    const data = cache.data();
    const words = new Uint32Array(data.slice(0, 16).buffer);
    expect([...words]).toEqual([32, 1, 0x1002, 0x73bf]);
    for (const [at, why] of [
      [0, /header of 33 bytes/],
      [4, /version 0/],
      [8, /vendor/],
      [12, /device/],
      [20, /another version/],
    ] as const) {
      const other = data.slice();
      other[at] = (other[at] ?? 0) ^ 1;
      const rejected = device.createPipelineCache(other);
      expect([rejected.rejected, rejected.size]).toEqual([expect.stringMatching(why), 0]);
    }
    expect(device.createPipelineCache(data.slice(0, 20)).rejected).toMatch(/no header/);
    expect(device.createPipelineCache(data.slice(0, -1)).rejected).toMatch(/cut off/);
    const damaged = data.slice();
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
    await device.createComputePipeline({ compiler, request, cache: device.createPipelineCache(damaged) });
    expect(compiles()).toBe(2);
  });
});

describe("uploads of a recording", () => {
  it("stay apart from the scratch of a shader that spills: pointers of push constants are in the window", async () => {
    const kernel = createKmd({ gpu: new FakeGpu(0x0800_0000), clock: new FakeClock() });
    const packets: Uint32Array[] = [];
    const windows = new Set<number>();
    const trace = ({ kind, va = 0n, words }: DriverEvent) => {
      if (kind === "commands" && words !== undefined) packets.push(words);
      if (kind === "memory" && va >> 32n === VirtualMap.WINDOW_START >> 32n) windows.add(Number(va & 0xffff_ffffn));
    };
    const device = createInstance({ kernel, trace }).createDevice({ processName: "app" });
    const answer = record({
      code: [0xbf81_0000],
      workgroupSize: [32, 1, 1],
      buffers: [],
      userData: [
        { kind: "ringPointer", sgpr: 0, count: 2 },
        { kind: "pushConstantPointer", sgpr: 2, count: 1 },
      ],
      pushConstantBytes: 160,
      hardware: { scratchBytes: 64 },
    });
    const pipeline = await device.createComputePipeline({ compiler: compilerOf(answer), request });
    const command = device.createCommandBuffer().begin().bindPipeline(pipeline);
    command.pushConstants(0, new Uint8Array(160)).dispatch(1).dispatch(1).end();
    const words = [...(packets.at(-1) ?? [])];
    // SET_SH_REG of three user registers from COMPUTE_USER_DATA_0 on.
    const at = words.flatMap((word, i) => (word === 0x240 && (words[i - 1] ?? 0) >>> 16 === 0xc003 ? [i] : []));
    const pointers = at.map((i) => words[i + 3] ?? 0);
    expect(pointers.length).toBe(2);
    for (const pointer of pointers) expect(windows.has(pointer - (pointer % 4096))).toBe(true);
    // Each dispatch has a copy of its own, of whole cache lines.
    expect((pointers[1] ?? 0) - (pointers[0] ?? 0)).toBe(192);
  });
});

describe("a suballocator", () => {
  it("cuts aligned pieces that never overlap, and gives blocks back; a piece costs no ioctl", () => {
    const { device } = setup();
    const pieces = device.createSuballocator({ type: "device", blockBytes: 0x1_0000 });
    const first = pieces.allocate(100, 256);
    const before = device.kernel.ioctls;
    const more = [1, 64, 4096, 300].map((align, i) => pieces.allocate(1000 + i, align === 300 ? 512 : align));
    expect(device.kernel.ioctls).toBe(before);
    expect(more.map(({ offsetBytes }, i) => offsetBytes % ([1, 64, 4096, 512][i] ?? 1))).toEqual([0, 0, 0, 0]);
    const large = pieces.allocate(0x9000);
    expect([large.offsetBytes, large.memory === first.memory]).toEqual([0, false]);
    large.free();
    expect(() => large.free()).toThrow(/double free/);
    for (const piece of [first, ...more]) piece.free();
    expect(pieces.statistics).toEqual({ blocks: 1, bytes: 0x1_0000, freeBytes: 0x1_0000, largestFreeBytes: 0x1_0000 });
    pieces.trim();
    expect(pieces.statistics.blocks).toBe(0);
    expect(() => pieces.allocate(0)).toThrow(/VALIDATION/);
    expect(() => pieces.allocate(8, 3)).toThrow(/VALIDATION/);
  });

  it("under churn keeps its blocks within twice what is used, and one more", () => {
    const { device } = setup();
    const pieces = device.createSuballocator({ type: "host", blockBytes: 0x1_0000 });
    const random = generator(5);
    const live: ReturnType<typeof pieces.allocate>[] = [];
    let worst = 0;
    for (let step = 0; step < 6000; step++) {
      if (live.length > 150 || (live.length > 100 && random(2) === 0)) live.splice(random(live.length), 1)[0]?.free();
      else live.push(pieces.allocate(1 + random(random(10) === 0 ? 20_000 : 2000), 1 << (4 + random(6))));
      const used = live.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      worst = Math.max(worst, (pieces.statistics.bytes - 0x1_0000) / Math.max(used, 1));
      if (step % 500 !== 0) continue;
      const spans = live.map(({ memory, offsetBytes, sizeBytes }) => ({
        at: Number(memory.va) + offsetBytes,
        sizeBytes,
      }));
      spans.sort((a, b) => a.at - b.at);
      for (const [i, span] of spans.entries()) {
        const next = spans[i + 1];
        if (next !== undefined && span.at + span.sizeBytes > next.at) throw new Error("overlap");
      }
    }
    expect(worst).toBeLessThan(2);
    for (const piece of live) piece.free();
    expect(pieces.statistics.blocks).toBeLessThanOrEqual(1);
  });
});
