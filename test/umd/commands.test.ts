import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defaultRequest } from "../../src/codeobj/index.ts";
import { createLocalCompiler } from "../../src/service/local-compiler.ts";
import { createMachine, type Machine } from "../../src/service/machine.ts";
import type { Buffer, ComputePipelineOptions, Device } from "../../src/umd/index.ts";

/** Every workgroup adds `value` (a specialisation constant) to its own dword, and group counts to the last three. */
const addSource = `#version 450
layout(local_size_x = 1) in;
layout(constant_id = 3) const uint value = 1;
layout(set = 0, binding = 0) buffer Out { uint data[]; };
void main() {
  uint group = gl_WorkGroupID.x + gl_WorkGroupID.y * 8u;
  data[group] += value;
  if (gl_WorkGroupID.x == 2u) { data[100] = gl_NumWorkGroups.x; data[101] = gl_NumWorkGroups.y; }
}`;
/** Copies one dword between buffers of an array; reads a dynamic uniform buffer. */
const arraySource = `#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) uniform In { uint base; };
layout(set = 0, binding = 1) buffer Out { uint data[]; } outs[2];
void main() {
  outs[0].data[gl_LocalInvocationID.x] = base + gl_LocalInvocationID.x;
  outs[1].data[gl_LocalInvocationID.x] = base * 2u + gl_LocalInvocationID.x;
}`;

describe("commands on the machine", () => {
  let machine: Machine;
  let device: Device;
  const compiler = createLocalCompiler();

  beforeAll(() => {
    machine = createMachine({ memoryBytes: 0x1000_0000 });
    device = machine.openProcess("commands");
  });
  afterAll(() => machine.close());

  const pipelineOf = (source: string, options: Partial<ComputePipelineOptions> = {}) =>
    device.createComputePipeline({
      compiler,
      request: { ...defaultRequest, language: "glsl", stage: "compute", source },
      ...options,
    });

  function words(buffer: Buffer): Uint32Array {
    const view = buffer.map();
    return new Uint32Array(view.buffer, view.byteOffset, buffer.sizeBytes / 4);
  }

  async function addSetup(options: Partial<ComputePipelineOptions> = {}) {
    const pipeline = await pipelineOf(addSource, options);
    const layout = device.createDescriptorSetLayout([{ binding: 0, type: "storageBuffer", count: 1 }]);
    const set = device.createDescriptorPool(4096).allocate(layout);
    const out = device.createBoundBuffer(512);
    set.write(0, { buffer: out });
    return { pipeline, set, out };
  }

  it("dispatchBase runs groups from the base on; the shader sees counts without it", async () => {
    const { pipeline, set, out } = await addSetup();
    const command = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
    command.dispatchBase([1, 2, 0], [3, 2, 1]).dispatch(1).end();
    expect(await device.submit([command]).wait()).toBe("SUCCESS");
    const ran = [...words(out).subarray(0, 64)].flatMap((count, i) => (count > 0 ? [i] : []));
    expect(ran).toEqual([0, 17, 18, 19, 25, 26, 27]);
    expect([...words(out).subarray(100, 102)]).toEqual([3, 2]);
  });

  it("dispatchIndirect reads its counts when it runs, from a fill and an update of the same command buffer", async () => {
    const { pipeline, set, out } = await addSetup({ specialization: [{ id: 3, value: 5 }] });
    const counts = device.createBoundBuffer(64);
    const command = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
    command
      .fillBuffer(counts, 1)
      .updateBuffer(counts, 4, new Uint8Array(Uint32Array.of(4, 2).buffer))
      .pipelineBarrier({ from: ["transferWrite"], to: ["indirectRead"] })
      .dispatchIndirect(counts, 4)
      .fillBuffer(counts, 0)
      .dispatchIndirect(counts, 4)
      .end();
    expect(await device.submit([command]).wait()).toBe("SUCCESS");
    const expected = Array.from({ length: 16 }, (_, i) => (i % 8 < 4 ? 5 : 0));
    expect([...words(out).subarray(0, 16)]).toEqual(expected);
    expect([...words(out).subarray(100, 102)]).toEqual([4, 2]);
    expect([...words(counts)]).toEqual(new Array(16).fill(0));
  });

  it("dynamic offsets move one buffer of a set; arrays of buffers are written element by element", async () => {
    const layout = device.createDescriptorSetLayout([
      { binding: 0, type: "uniformBufferDynamic", count: 1 },
      { binding: 1, type: "storageBuffer", count: 2 },
    ]);
    const pipeline = await pipelineOf(arraySource, { layout: { sets: [layout] } });
    const input = device.createBoundBuffer(512, "host");
    words(input).set([10, 0, 0, 0, 20], 0);
    const outs = [0, 1].map(() => device.createBoundBuffer(64)) as [Buffer, Buffer];
    const set = device.createDescriptorPool(4096).allocate(layout);
    set.write(0, { buffer: input, rangeBytes: 16 });
    for (const [element, buffer] of outs.entries()) set.write(1, { buffer, element });
    const record = (offset: number) =>
      device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set, [offset]).dispatch(1).end();
    await device.submit([record(16)]).wait();
    expect(outs.map((out) => [...words(out).subarray(0, 5)])).toEqual([
      [20, 21, 22, 23, 0],
      [40, 41, 42, 43, 0],
    ]);
    await device.submit([record(0)]).wait();
    expect(words(outs[1])[3]).toBe(23);
    expect(() => record(18)).toThrow(/no multiple of 4/);
    expect(() => record(500)).toThrow(/leaves the buffer/);
    const command = device.createCommandBuffer().begin().bindPipeline(pipeline);
    expect(() => command.bindDescriptorSet(0, set)).toThrow(/the set has more/);
    expect(() => command.bindDescriptorSet(0, set, [0, 0])).toThrow(/the set has 1/);
  });

  it("events: a wait goes on when the host sets the event; timestamps count up", async () => {
    const [event, echo] = [device.createEvent(), device.createEvent()];
    const queries = device.createQueryPool(3);
    const results = device.createBoundBuffer(24);
    const big = device.createBoundBuffer(1 << 20);
    const command = device.createCommandBuffer().begin();
    command
      .resetQueries(queries)
      .writeTimestamp(queries, 0)
      .waitEvents([event])
      .resetEvent(event)
      .setEvent(echo)
      .fillBuffer(big, 7)
      .writeTimestamp(queries, 1)
      .copyQueryResults(queries, 0, 2, results)
      .end();
    const fence = device.submit([command]);
    expect(await fence.wait(30)).toBe("TIMEOUT");
    expect([echo.status(), queries.result(1)]).toEqual(["RESET", undefined]);
    event.set();
    expect(await fence.wait()).toBe("SUCCESS");
    expect([event.status(), echo.status()]).toEqual(["RESET", "SET"]);
    const [first, second] = [queries.result(0) ?? -1n, queries.result(1) ?? -1n];
    // 1 MiB at 64 bytes a tick.
    expect(second - first).toBeGreaterThanOrEqual(1n << 14n);
    const view = results.map();
    expect([...new BigUint64Array(view.buffer, view.byteOffset, 2)]).toEqual([first, second]);
    expect(queries.result(2)).toBeUndefined();
  });

  it("statistics queries count the invocations of the dispatches between begin and end, and no others", async () => {
    // 40 lanes: a whole wave and a quarter of one.
    const source = "#version 450\nlayout(local_size_x = 5, local_size_y = 4, local_size_z = 2) in;\nvoid main() {}";
    const pipeline = await pipelineOf(source);
    const counts = device.createBoundBuffer(12);
    new Uint32Array(counts.map().buffer, counts.map().byteOffset, 3).set([2, 3, 1]);
    const queries = device.createQueryPool(4, "pipelineStatistics");
    const command = device.createCommandBuffer().begin().bindPipeline(pipeline).resetQueries(queries);
    command
      .dispatch(9)
      .beginQuery(queries, 0)
      .dispatch(3, 2, 2)
      .dispatchBase([4, 0, 1], [2, 1, 1])
      .endQuery(queries, 0)
      .dispatch(7)
      .beginQuery(queries, 1)
      .endQuery(queries, 1)
      .beginQuery(queries, 2)
      .dispatchIndirect(counts)
      .endQuery(queries, 2)
      .end();
    for (let run = 0; run < 2; run++) {
      expect(await device.submit([command]).wait()).toBe("SUCCESS");
      const results = [0, 1, 2, 3].map((i) => queries.result(i));
      expect(results).toEqual([BigInt((3 * 2 * 2 + 2) * 40), 0n, BigInt(2 * 3 * 40), undefined]);
    }
  });

  it("statistics queries are refused where they are not whole, or of another kind", () => {
    const stats = device.createQueryPool(2, "pipelineStatistics");
    const times = device.createQueryPool(1);
    const out = device.createBoundBuffer(16);
    const open = () => device.createCommandBuffer().begin();
    expect(() => open().beginQuery(times, 0)).toThrow(/query of timestamp/);
    expect(() => open().writeTimestamp(stats, 0)).toThrow(/query of pipelineStatistics/);
    expect(() => open().beginQuery(stats, 2)).toThrow(/query 2 of 2/);
    expect(() => open().beginQuery(stats, 0).beginQuery(stats, 1)).toThrow(/another is active/);
    expect(() => open().beginQuery(stats, 0).endQuery(stats, 1)).toThrow(/not active/);
    expect(() => open().endQuery(stats, 0)).toThrow(/not active/);
    expect(() => open().beginQuery(stats, 0).end()).toThrow(/active query/);
    expect(() => open().beginQuery(stats, 0).executeCommands([])).toThrow(/inherited/);
    expect(() => open().copyQueryResults(stats, 0, 1, out)).toThrow(/timestamps only/);
    expect(() => device.createCommandBuffer({ queue: "transfer" }).begin().beginQuery(stats, 0)).toThrow(/no shaders/);
  });

  it("copies regions between buffers, and runs secondary command buffers between a primary's own commands", async () => {
    const { pipeline, set, out } = await addSetup();
    const pool = device.createCommandPool({ level: "secondary" });
    const secondary = pool.allocate().begin().bindPipeline(pipeline).bindDescriptorSet(0, set).dispatch(4).end();
    const copy = device.createBoundBuffer(64);
    const primary = device.createCommandBuffer().begin();
    primary.fillBuffer(out, 100, 0, 8).executeCommands([secondary, secondary]).pipelineBarrier();
    primary
      .copyBuffer(out, copy, [
        { sizeBytes: 8, dstOffsetBytes: 4 },
        { srcOffsetBytes: 9, dstOffsetBytes: 17, sizeBytes: 3 },
      ])
      .end();
    await device.submit([primary]).wait();
    expect([...words(out).subarray(0, 5)]).toEqual([102, 102, 2, 2, 0]);
    expect([...words(copy).subarray(0, 6)]).toEqual([0, 102, 102, 0, 0, 0]);
    expect(() => primary.submission()).not.toThrow();
    pool.reset();
    expect(() => primary.submission()).toThrow(/secondary command buffer was reset/);
  });
});
