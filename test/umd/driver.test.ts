import { describe, expect, it } from "vitest";
import { layoutSets } from "../../src/codeobj/index.ts";
import { createKmd } from "../../src/kmd/index.ts";
import { type DecodedPacket, getField, Pte } from "../../src/uapi/index.ts";
import { createInstance, type Device, DriverError, type DriverEvent } from "../../src/umd/index.ts";
import { FakeClock, FakeGpu } from "../kmd/fake-gpu.ts";
import { compilerOf, record, request, type ShaderOptions, userData } from "./shader.ts";

const S_ENDPGM = 0xbf81_0000;

function setup(memoryBytes = 0x0800_0000) {
  const gpu = new FakeGpu(memoryBytes);
  const clock = new FakeClock();
  const kmd = createKmd({ gpu, clock });
  const events: DriverEvent[] = [];
  const instance = createInstance({ kernel: kmd, trace: (event) => events.push(event) });
  const device = instance.createDevice({ processName: "app", timeoutMs: 1000 });
  return { gpu, clock, kmd, instance, device, events };
}

const saxpy: ShaderOptions = {
  code: [S_ENDPGM],
  workgroupSize: [64, 1, 1],
  buffers: [0, 1],
  userData: userData([0, 4]),
  pushConstantBytes: 8,
};

async function pipelineOf(device: Device, options: ShaderOptions) {
  return device.createComputePipeline({ compiler: compilerOf(record(options)), request });
}

/** Registers as SET_SH_REG packets leave them, by byte offset. */
function registersAfter(packets: readonly DecodedPacket[]): Map<number, number> {
  const registers = new Map<number, number>();
  for (const { name, values, tail } of packets) {
    if (name !== "SET_SH_REG") continue;
    for (const [i, value] of tail.entries()) registers.set(0xb000 + Number(values.offset) * 4 + i * 4, value);
  }
  return registers;
}

async function caught(action: () => unknown): Promise<DriverError> {
  try {
    await action();
  } catch (error) {
    if (error instanceof DriverError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("a dispatch", () => {
  async function dispatched() {
    const s = setup();
    const { device } = s;
    const pipeline = await pipelineOf(device, saxpy);
    const x = device.createBoundBuffer(1000);
    const y = device.createBoundBuffer(400, "host");
    const set = device
      .createDescriptorPool()
      .allocate(device.createDescriptorSetLayout(pipeline.record.reflection.sets[0]?.bindings ?? []));
    set.write(0, { buffer: x });
    set.write(1, { buffer: y, offsetBytes: 100, rangeBytes: 300 });
    const push = new Uint8Array(new Uint32Array([100, 0x4000_0000]).buffer);
    const command = device.createCommandBuffer().begin();
    command.bindPipeline(pipeline).bindDescriptorSet(0, set).pushConstants(0, push).dispatch(2).end();
    const fence = device.submit([command]);
    return { ...s, pipeline, x, y, set, fence, command };
  }

  it("writes program address, thread counts, RSRC words and user data in the ABI's order, then launches", async () => {
    const { gpu, fence, pipeline, set, device } = await dispatched();
    expect(await fence.wait()).toBe("SUCCESS");
    const [ran] = gpu.ran;
    const registers = registersAfter(ran?.packets ?? []);
    const get = (offset: number) => registers.get(offset) ?? -1;
    expect(BigInt(get(0xb830)) * 256n + (BigInt(get(0xb834)) << 40n)).toBe(pipeline.codeVa);
    expect([get(0xb81c), get(0xb820), get(0xb824)]).toEqual([64, 1, 1]);
    expect([get(0xb810), get(0xb814), get(0xb818)]).toEqual([0, 0, 0]);
    // RSRC2: user SGPRs [5:1] = 5, workgroup id x bit 7.
    expect(get(0xb84c)).toBe((5 << 1) | (1 << 7));
    // s[0:1] ring, s2 low half of set 0, s3 n, s4 a.
    expect([get(0xb900), get(0xb904)]).toEqual([Number(device.ringVa & 0xffff_ffffn), Number(device.ringVa >> 32n)]);
    expect(set.va >> 32n).toBe(0xffff_8000n);
    expect([get(0xb908), get(0xb90c), get(0xb910)]).toEqual([Number(set.va & 0xffff_ffffn), 100, 0x4000_0000]);
    const launch = ran?.packets.at(-1);
    expect([launch?.name, launch?.values]).toEqual([
      "DISPATCH_DIRECT",
      expect.objectContaining({ groupsX: 2, groupsY: 1, groupsZ: 1, computeShaderEn: 1, csW32En: 1 }),
    ]);
  });

  it("leaves V#s where the compiler's layout function says, seen through the page tables", async () => {
    const { gpu, set, x, y, fence } = await dispatched();
    await fence.wait();
    const rows = layoutSets([{ set: 0, bindings: set.layout.source }])[0]?.bindings ?? [];
    const view = new DataView(gpu.memory);
    const words = rows.map((row) => {
      const found = gpu.translate(1, set.va + BigInt(row.offsetBytes), false);
      if ("kind" in found) throw new Error(`fault ${found.kind}`);
      return [0, 1, 2, 3].map((i) => view.getUint32(found.physical + i * 4, true));
    });
    const base = (w: number[] | undefined) => BigInt(w?.[0] ?? 0) + (BigInt(getField(w?.[1] ?? 0, 0, 16)) << 32n);
    expect(words.map(base)).toEqual([x.va, y.va + 100n]);
    expect(words.map((w) => w[2])).toEqual([1000, 300]);
    expect(words.map((w) => getField(w[3] ?? 0, 28, 2))).toEqual([3, 3]);
  });

  it("uploads code with 64 dwords of s_code_end behind it, executable and read-only", async () => {
    const { gpu, kmd, pipeline } = await dispatched();
    const found = gpu.translate(1, pipeline.codeVa, false);
    if ("kind" in found) throw new Error(`fault ${found.kind}`);
    const words = new Uint32Array(gpu.memory, found.physical, 65);
    expect([words[0], words[1], words[64]]).toEqual([S_ENDPGM, 0xbf9f_0000, 0xbf9f_0000]);
    expect(pipeline.codeVa % 256n).toBe(0n);
    expect("kind" in gpu.translate(1, pipeline.codeVa, true)).toBe(true);
    expect(kmd.dmesg().length).toBe(1);
    expect(Pte.EXECUTABLE).toBe(16);
  });

  it("gives spilled push constants by a 32-bit pointer, and workgroup counts after it", async () => {
    const { device, gpu } = setup();
    const pipeline = await pipelineOf(device, {
      ...saxpy,
      buffers: [],
      pushConstantBytes: 128,
      userData: [
        { kind: "ringPointer", sgpr: 0, count: 2 },
        { kind: "pushConstantPointer", sgpr: 2, count: 1 },
        { kind: "workgroupCounts", sgpr: 3, count: 3 },
      ],
    });
    const bytes = Uint8Array.from({ length: 128 }, (_, i) => i);
    const command = device.createCommandBuffer().begin();
    command.bindPipeline(pipeline).pushConstants(0, bytes).dispatch(7, 8, 9).end();
    await device.submit([command]).wait();
    const registers = registersAfter(gpu.ran[0]?.packets ?? []);
    expect([0xb90c, 0xb910, 0xb914].map((at) => registers.get(at))).toEqual([7, 8, 9]);
    const va = 0xffff_8000_0000_0000n + BigInt(registers.get(0xb908) ?? 0);
    const found = gpu.translate(1, va, false);
    if ("kind" in found) throw new Error(`fault ${found.kind}`);
    expect([...new Uint8Array(gpu.memory, found.physical, 128)]).toEqual([...bytes]);
  });

  it("between barriers waits for the dispatch before and invalidates the vector and scalar caches", async () => {
    const { device, gpu } = setup();
    const pipeline = await pipelineOf(device, { ...saxpy, buffers: [], userData: [] });
    const command = device.createCommandBuffer().begin();
    command.bindPipeline(pipeline).dispatch(1).pipelineBarrier().dispatch(1).end();
    await device.submit([command]).wait();
    const names = gpu.ran[0]?.packets.map((packet) => packet.name).filter((name) => name !== "SET_SH_REG");
    expect(names).toEqual(["DISPATCH_DIRECT", "EVENT_WRITE", "ACQUIRE_MEM", "DISPATCH_DIRECT"]);
    const acquire = gpu.ran[0]?.packets.find((packet) => packet.name === "ACQUIRE_MEM");
    expect(acquire?.values).toMatchObject({ glvInv: 1, gl1Inv: 1, glkInv: 1 });
  });

  it("of zero groups is legal and launches nothing", async () => {
    const { device, gpu } = setup();
    const pipeline = await pipelineOf(device, { ...saxpy, buffers: [], userData: [] });
    const command = device.createCommandBuffer().begin().bindPipeline(pipeline).dispatch(0, 4, 1).end();
    expect(await device.submit([command]).wait()).toBe("SUCCESS");
    expect(gpu.ran[0]?.packets.map((packet) => packet.name)).toEqual(["NOP"]);
  });

  it("reports each step as an event, with the words", async () => {
    const { events, fence } = await dispatched();
    await fence.wait();
    expect(new Set(events.map((event) => event.kind))).toEqual(
      new Set(["memory", "pipeline", "commands", "submit", "fence"]),
    );
    expect(events.find((event) => event.kind === "pipeline")?.words).toEqual(Uint32Array.of(S_ENDPGM));
  });
});

describe("misuse is refused with VALIDATION", () => {
  const cases: Record<string, (device: Device) => unknown> = {
    "dispatch without a pipeline": (d) => d.createCommandBuffer().begin().dispatch(1),
    "commands before begin": (d) => d.createCommandBuffer().dispatch(1),
    "submit before end": (d) => d.submit([d.createCommandBuffer().begin()]),
    "begin twice": (d) => d.createCommandBuffer().begin().begin(),
    "a set that is not bound": async (d) =>
      d
        .createCommandBuffer()
        .begin()
        .bindPipeline(await pipelineOf(d, saxpy))
        .dispatch(1),
    "a descriptor that was never written": async (d) => {
      const layout = d.createDescriptorSetLayout(
        [0, 1].map((binding) => ({ binding, type: "storageBuffer", count: 1 })),
      );
      const set = d.createDescriptorPool().allocate(layout);
      set.write(0, { buffer: d.createBoundBuffer(64) });
      d.createCommandBuffer()
        .begin()
        .bindPipeline(await pipelineOf(d, saxpy))
        .bindDescriptorSet(0, set)
        .dispatch(1);
    },
    "a descriptor of another type": async (d) => {
      const set = d
        .createDescriptorPool()
        .allocate(d.createDescriptorSetLayout([0, 1].map((binding) => ({ binding, type: "uniformBuffer", count: 1 }))));
      d.createCommandBuffer()
        .begin()
        .bindPipeline(await pipelineOf(d, saxpy))
        .bindDescriptorSet(0, set)
        .dispatch(1);
    },
    "a set layout with other offsets": async (d) => {
      const rows = [
        { binding: 0, type: "combinedImageSampler", count: 1 },
        { binding: 1, type: "storageBuffer", count: 1 },
      ] as const;
      const set = d.createDescriptorPool().allocate(d.createDescriptorSetLayout(rows));
      const pipeline = await pipelineOf(d, { ...saxpy, buffers: [1] });
      d.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set).dispatch(1);
    },
    "65536 groups": async (d) =>
      d
        .createCommandBuffer()
        .begin()
        .bindPipeline(await pipelineOf(d, { ...saxpy, userData: [] }))
        .dispatch(65536),
    "push constants past the limit": (d) => d.createCommandBuffer().begin().pushConstants(252, new Uint8Array(8)),
    "a buffer of no bytes": (d) => d.createBuffer(0),
    "a buffer bound twice": (d) => d.createBoundBuffer(64).bind(d.allocateMemory({ sizeBytes: 64, type: "host" })),
    "a buffer past its memory": (d) => d.createBuffer(8192).bind(d.allocateMemory({ sizeBytes: 4096, type: "host" })),
    "a misaligned buffer": (d) => d.createBuffer(4).bind(d.allocateMemory({ sizeBytes: 4096, type: "host" }), 16),
    "a buffer without memory": (d) => d.createBuffer(4).va,
    "a binding that is none": (d) =>
      d
        .createDescriptorPool()
        .allocate(d.createDescriptorSetLayout([]))
        .write(3, { buffer: d.createBoundBuffer(4) }),
    "a range that leaves its buffer": (d) => {
      const layout = d.createDescriptorSetLayout([{ binding: 0, type: "storageBuffer", count: 1 }]);
      d.createDescriptorPool()
        .allocate(layout)
        .write(0, { buffer: d.createBoundBuffer(64), offsetBytes: 32, rangeBytes: 33 });
    },
    "a view of a format that buffers do not have": (d) =>
      d.createBufferView({ buffer: d.createBoundBuffer(64), format: "R8G8B8A8_SRGB" }),
    "a misaligned view": (d) =>
      d.createBufferView({ buffer: d.createBoundBuffer(64), format: "R32_UINT", offsetBytes: 2 }),
    "a view of a part of an element": (d) =>
      d.createBufferView({ buffer: d.createBoundBuffer(64), format: "R32G32B32_SFLOAT", rangeBytes: 16 }),
    "a view past its buffer": (d) =>
      d.createBufferView({ buffer: d.createBoundBuffer(64), format: "R32_UINT", offsetBytes: 60, rangeBytes: 8 }),
    "a view of nothing": (d) => d.createBufferView({ buffer: d.createBoundBuffer(2), format: "R32_UINT" }),
    "a view in a buffer's binding": (d) => {
      const layout = d.createDescriptorSetLayout([{ binding: 0, type: "storageBuffer", count: 1 }]);
      const view = d.createBufferView({ buffer: d.createBoundBuffer(64), format: "R32_UINT" });
      d.createDescriptorPool().allocate(layout).writeView(0, view);
    },
    "a buffer in a texel buffer's binding": (d) => {
      const layout = d.createDescriptorSetLayout([{ binding: 0, type: "uniformTexelBuffer", count: 1 }]);
      const buffer = d.createBoundBuffer(64);
      d.createDescriptorPool().allocate(layout).write(0, { buffer });
    },
    "a view that was destroyed": (d) => {
      const layout = d.createDescriptorSetLayout([{ binding: 0, type: "storageTexelBuffer", count: 1 }]);
      const view = d.createBufferView({ buffer: d.createBoundBuffer(64), format: "R32_UINT" });
      view.destroy();
      d.createDescriptorPool().allocate(layout).writeView(0, view);
    },
    "a double free": (d) => {
      const memory = d.allocateMemory({ sizeBytes: 4, type: "host" });
      memory.destroy();
      memory.destroy();
    },
    "work on freed memory": async (d) => {
      const pipeline = await pipelineOf(d, { ...saxpy, buffers: [], userData: [] });
      const command = d.createCommandBuffer().begin().bindPipeline(pipeline).dispatch(1).end();
      pipeline.destroy();
      d.submit([command]);
    },
  };
  for (const [name, action] of Object.entries(cases)) {
    it(name, async () => {
      const { device } = setup();
      expect((await caught(() => action(device))).result).toBe("VALIDATION");
    });
  }
});

describe("a buffer view", () => {
  it("writes a V# of whole elements, with its format, selects and count", () => {
    const { device } = setup();
    const layout = device.createDescriptorSetLayout([{ binding: 2, type: "uniformTexelBuffer", count: 2 }]);
    const set = device.createDescriptorPool().allocate(layout);
    const buffer = device.createBoundBuffer(103);
    set.writeView(2, device.createBufferView({ buffer, format: "R16G16_SFLOAT", offsetBytes: 8 }), 1);
    const [w0 = 0, w1 = 0, w2, w3 = 0] = set.words(2, 1);
    expect(BigInt(w0) + (BigInt(getField(w1, 0, 16)) << 32n)).toBe(buffer.va + 8n);
    // 95 bytes hold 23 elements of 4.
    expect([getField(w1, 16, 14), w2]).toEqual([4, 23]);
    // 16_16_FLOAT is 29; x, y, 0, 1; out of range by element (0); type buffer (0).
    expect([getField(w3, 12, 7), getField(w3, 0, 12), getField(w3, 28, 4)]).toEqual([29, 4 | (5 << 3) | (1 << 9), 0]);
    const swapped = device.createBufferView({ buffer, format: "B8G8R8A8_UNORM", rangeBytes: 16 }).words();
    // z, y, x, w of 8_8_8_8_UNORM, 56.
    expect([getField(swapped[3] ?? 0, 0, 12), getField(swapped[3] ?? 0, 12, 7)]).toEqual([
      6 | (5 << 3) | (4 << 6) | (7 << 9),
      56,
    ]);
  });
});

describe("failure", () => {
  it("out of memory, then freed, then fine", async () => {
    const { device } = setup();
    const half = device.allocateMemory({ sizeBytes: Math.floor(device.limits.vramBytes * 0.6), type: "device" });
    const more = { sizeBytes: Math.floor(device.limits.vramBytes * 0.6), type: "device" } as const;
    expect((await caught(() => device.allocateMemory(more))).result).toBe("OUT_OF_DEVICE_MEMORY");
    half.destroy();
    expect(device.allocateMemory(more).sizeBytes).toBeGreaterThan(0);
  });

  it("a full descriptor pool", async () => {
    const { device } = setup();
    const pool = device.createDescriptorPool(4096);
    const layout = device.createDescriptorSetLayout([{ binding: 0, type: "storageBuffer", count: 65 }]);
    for (let i = 0; i < 3; i++) pool.allocate(layout);
    expect((await caught(() => pool.allocate(layout))).result).toBe("OUT_OF_POOL_MEMORY");
    pool.reset();
    expect(pool.allocate(layout).va % 64n).toBe(0n);
  });

  it("a shader that does not compile: its diagnostics", async () => {
    const { device } = setup();
    const span = { file: "bad.comp", line: 3, column: 7, endLine: 3, endColumn: 8 };
    const diagnostics = [{ severity: "error", code: "GLSL_X", message: "no such thing", ...span }] as const;
    const compiler = { compile: async () => ({ ok: false, diagnostics }) as const };
    const error = await caught(() => device.createComputePipeline({ compiler, request }));
    expect(error.result).toBe("INVALID_SHADER");
    expect(error.message).toContain("bad.comp:3:7: error: no such thing [GLSL_X]");
  });

  it("bytes that are no code object", async () => {
    const { device } = setup();
    const broken = { ...record(saxpy), elf: new Uint8Array(100) };
    const error = await caught(() => device.createComputePipeline({ compiler: compilerOf(broken), request }));
    expect(error.result).toBe("INITIALIZATION_FAILED");
  });

  it("a lost device: the wait and later submits say so, another device works", async () => {
    const { device, instance, gpu, clock } = setup();
    const other = instance.createDevice({ processName: "other" });
    const commandOf = async (d: Device) =>
      d
        .createCommandBuffer()
        .begin()
        .bindPipeline(await pipelineOf(d, { ...saxpy, buffers: [], userData: [] }))
        .dispatch(1)
        .end();
    const command = await commandOf(device);
    const [memory] = command.submission().memories;
    // A header that is no packet, written over the buffer's first dword.
    memory?.map().fill(0, 0, 4);
    const error = await caught(() => device.submit([command]).wait());
    expect([error.result, device.lost]).toEqual(["DEVICE_LOST", true]);
    expect((await caught(() => device.submit([command]))).result).toBe("DEVICE_LOST");
    expect(await other.submit([await commandOf(other)]).wait()).toBe("SUCCESS");
    expect([gpu.paused, clock.pending]).toEqual([false, 0]);
  });

  it("a wait that ends too early is TIMEOUT, and the fence still signals", async () => {
    const { device, gpu, clock } = setup();
    gpu.paused = true;
    const fence = device.submit([device.createCommandBuffer().begin().end()]);
    const first = fence.wait(10);
    clock.advance(10);
    expect(await first).toBe("TIMEOUT");
    gpu.paused = false;
    gpu.doorbell();
    expect(await fence.wait()).toBe("SUCCESS");
  });
});

describe("memory that is freed while work is in flight", () => {
  it("keeps its addresses until the work has ended", async () => {
    const { device, gpu } = setup();
    gpu.paused = true;
    const command = device.createCommandBuffer().begin().end();
    const fence = device.submit([command]);
    const memory = device.allocateMemory({ sizeBytes: 4096, type: "host" });
    const { va } = memory;
    memory.destroy();
    expect(device.allocateMemory({ sizeBytes: 4096, type: "host" }).va).not.toBe(va);
    gpu.paused = false;
    gpu.doorbell();
    await fence.wait();
    expect(device.allocateMemory({ sizeBytes: 4096, type: "host" }).va).toBe(va);
  });

  it("20,000 allocations and frees leave the kernel's and the driver's heaps as they were", () => {
    const { device, kmd } = setup();
    const before = kmd.usage()[0];
    const { va } = device.allocateMemory({ sizeBytes: 4096, type: "device" });
    for (let i = 0; i < 20_000; i++)
      device.allocateMemory({ sizeBytes: 4096 * (1 + (i % 3)), type: "device" }).destroy();
    const next = device.allocateMemory({ sizeBytes: 4096, type: "device" });
    expect(next.va - va).toBe(8192n);
    expect((kmd.usage()[0]?.vramBytes ?? 0) - (before?.vramBytes ?? 0)).toBe(8192);
  });
});

describe("an untyped caller", () => {
  /** What a JavaScript program may pass where TypeScript takes a name or a number. */
  const wrong = (value: unknown) => value as never;
  const cases: Readonly<Record<string, readonly [run: (device: Device) => unknown, text: RegExp]>> = {
    "names a kind of query": [
      (d) => d.createQueryPool(1, wrong("statistics")),
      /a query pool's kind is "statistics", expected timestamp or pipelineStatistics/,
    ],
    "counts queries": [(d) => d.createQueryPool(wrong("two")), /a query pool of two queries/],
    "names a type of memory": [
      (d) => d.createBoundBuffer(64, wrong("vram")),
      /a memory type is "vram", expected device or host or cached/,
    ],
    "names a range": [
      (d) => d.allocateMemory({ sizeBytes: 64, type: "host", range: wrong("low") }),
      /an address range is "low"/,
    ],
    "names a suballocator's memory": [
      (d) => d.createSuballocator({ type: wrong(undefined) }),
      /a memory type is undefined/,
    ],
    "names a queue": [(d) => d.createCommandBuffer({ queue: wrong("graphics") }), /a queue is "graphics"/],
    "submits to a queue": [(d) => d.submit([], { queue: wrong("toString") }), /a queue is "toString"/],
    "names a level": [(d) => d.createCommandBuffer({ level: wrong("third") }), /a command buffer's level is "third"/],
    "names a descriptor": [
      (d) => d.createDescriptorSetLayout([{ binding: 0, type: wrong("storage"), count: 1 }]),
      /binding 0: a descriptor type is "storage"/,
    ],
    "counts descriptors": [
      (d) => d.createDescriptorSetLayout([{ binding: 0, type: "storageBuffer", count: Number.NaN }]),
      /binding 0 of NaN descriptors/,
    ],
    "gives a binding twice": [
      (d) => d.createDescriptorSetLayout([0, 0].map((binding) => ({ binding, type: "storageBuffer", count: 1 }))),
      /binding 0 stands twice/,
    ],
    "flags a binding": [
      (d) => d.createDescriptorSetLayout([], { partiallyBound: [3] }),
      /partiallyBound: the set layout has no binding 3/,
    ],
    "starts a timeline": [(d) => d.createTimelineSemaphore(wrong(-1)), /of -1: no timeline has that value/],
    "names an access": [
      (d) =>
        d
          .createCommandBuffer()
          .begin()
          .pipelineBarrier({ from: [wrong("shader")] }),
      /an access of a barrier is "shader"/,
    ],
    "copies part of a byte": [
      (d) => {
        const buffer = d.createBoundBuffer(64);
        d.createCommandBuffer()
          .begin()
          .copyBuffer(buffer, buffer, [{ sizeBytes: 1.5 }]);
      },
      /bytes 0\+1.5 leave the buffer/,
    ],
  };
  for (const [name, [run, text]] of Object.entries(cases)) {
    it(`${name} that there is not: the error names it`, async () => {
      const { device } = setup();
      const error = await caught(() => run(device));
      expect(error.result).toBe("VALIDATION");
      expect(error.message).toMatch(text);
    });
  }
});
