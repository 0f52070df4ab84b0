import { describe, expect, it } from "vitest";
import { createKmd } from "../../src/kmd/index.ts";
import { type ApiMessage, type Buffer, createInstance, type Device, formatApiMessage } from "../../src/umd/index.ts";
import { FakeClock, FakeGpu } from "../kmd/fake-gpu.ts";
import { compilerOf, record, request, userData } from "./shader.ts";

function setup() {
  const gpu = new FakeGpu(0x0800_0000);
  const clock = new FakeClock();
  const messages: ApiMessage[] = [];
  const instance = createInstance({
    kernel: createKmd({ gpu, clock }),
    validate: (message) => messages.push(message),
  });
  const device = instance.createDevice({ processName: "app" });
  const rules = () => messages.map(({ rule }) => rule);
  return { gpu, clock, instance, device, messages, rules };
}

/** A pipeline that reads and writes binding 0, and a set that binds `buffer` there. */
async function shader(device: Device, buffer: Buffer, pushOffsets: readonly number[] = []) {
  const answer = record({
    code: [0xbf81_0000],
    workgroupSize: [1, 1, 1],
    buffers: [0],
    userData: userData(pushOffsets),
    pushConstantBytes: pushOffsets.length * 4,
  });
  const pipeline = await device.createComputePipeline({ compiler: compilerOf(answer), request });
  const layout = device.createDescriptorSetLayout([{ binding: 0, type: "storageBuffer", count: 1 }]);
  const set = device.createDescriptorPool(4096).allocate(layout);
  set.write(0, { buffer });
  return { pipeline, set };
}

/** Line numbers of this file in a message, in order: the call at fault, then the earlier one. */
function lines(message: ApiMessage | undefined): number[] {
  return [message?.place, message?.other].flatMap((place) => {
    const match = /validate\.test\.ts:(\d+):\d+$/.exec(place ?? "");
    return match ? [Number(match[1])] : [];
  });
}

function here(): number {
  return Number(/validate\.test\.ts:(\d+)/.exec(new Error().stack?.split("\n")[2] ?? "")?.[1]);
}

describe("the validation layer", () => {
  it("tells of two dispatches over one buffer without a barrier, and names both", async () => {
    const { device, messages, rules } = setup();
    const buffer = device.createBoundBuffer(64);
    const { pipeline, set } = await shader(device, buffer);
    const command = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
    command.dispatch(1);
    const line = here();
    command.dispatch(2);
    await device.submit([command.end()]).wait();
    expect(rules()).toContain("MISSING_BARRIER");
    expect(lines(messages[0])).toEqual([line + 1, line - 1]);
    expect(messages[0]?.text).toMatch(
      /^dispatch \(b0\) needs a barrier: it writes bytes of BO \d+ that dispatch \(b0\) writes$/,
    );
  });

  it.each([
    ["all to all", {}, []],
    ["writes to reads and writes", { from: ["shaderWrite"], to: ["shaderRead", "shaderWrite"] }, []],
    ["towards transfers only", { from: ["shaderWrite"], to: ["transferRead"] }, ["MISSING_BARRIER"]],
    ["of reads only", { from: ["uniformRead"] }, ["MISSING_BARRIER"]],
    ["of another range", { range: { va: 0x1000n, sizeBytes: 64 } }, ["MISSING_BARRIER"]],
  ] as const)("takes a barrier %s for what it is", async (_, scope, expected) => {
    const { device, rules } = setup();
    const buffer = device.createBoundBuffer(64);
    const { pipeline, set } = await shader(device, buffer);
    const command = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
    command.dispatch(1).pipelineBarrier(scope).dispatch(1).pipelineBarrier().end();
    await device.submit([command]).wait();
    expect([...new Set(rules())]).toEqual(expected);
  });

  it("follows buffers from submission to submission, through transfers; ranges that don't meet are fine", async () => {
    const { device, rules } = setup();
    const [a, b] = [device.createBoundBuffer(256), device.createBoundBuffer(256)];
    const record = (action: (c: ReturnType<Device["createCommandBuffer"]>) => unknown) => {
      const command = device.createCommandBuffer().begin();
      action(command);
      return command.end();
    };
    device.submit([record((c) => c.fillBuffer(a, 1, 0, 128).fillBuffer(a, 2, 128, 128))]);
    expect(rules()).toEqual([]);
    device.submit([record((c) => c.copyBuffer(a, b, [{ sizeBytes: 64 }]))]);
    expect(rules()).toEqual(["MISSING_BARRIER"]);
    await device.submit([record((c) => c.pipelineBarrier().copyBuffer(a, b))]).wait();
    device.submit([record((c) => c.fillBuffer(b, 3))]);
    expect(rules()).toEqual(["MISSING_BARRIER"]);
  });

  it("semaphores order queues", async () => {
    const { device, rules } = setup();
    const a = device.createBoundBuffer(256);
    const semaphore = device.createSemaphore();
    const fill = () => device.createCommandBuffer().begin().fillBuffer(a, 1).end();
    device.submit([fill()], { signal: [{ semaphore }] });
    device.submit([fill()], { wait: [{ semaphore }] });
    expect(rules()).toEqual([]);
  });

  it("tells of a map before the fence, of one without a host barrier, and of neither where all is well", async () => {
    const { device, gpu, rules } = setup();
    const [a, b] = [device.createBoundBuffer(64, "host"), device.createBoundBuffer(64, "host")];
    const plain = device.createCommandBuffer().begin().fillBuffer(a, 1).end();
    const toHost = { from: ["transferWrite"], to: ["hostRead"] } as const;
    const good = device.createCommandBuffer().begin().fillBuffer(b, 1).pipelineBarrier(toHost).end();
    gpu.paused = true;
    const fence = device.submit([plain]);
    a.map();
    expect(rules()).toEqual(["READ_BEFORE_FENCE"]);
    gpu.paused = false;
    gpu.doorbell();
    await fence.wait();
    a.map();
    expect(rules()).toEqual(["READ_BEFORE_FENCE", "MISSING_HOST_BARRIER"]);
    await device.submit([good]).wait();
    b.map();
    expect(rules().length).toBe(2);
  });

  it("tells of a command buffer submitted, begun or destroyed while it is pending", async () => {
    const { device, gpu, messages, rules } = setup();
    const command = device.createCommandBuffer().begin().end();
    gpu.paused = true;
    const line = here();
    const fence = device.submit([command]);
    device.submit([command]);
    expect(rules()).toEqual(["COMMANDS_PENDING"]);
    expect(lines(messages[0])).toEqual([line + 2, line + 1]);
    command.begin();
    expect(rules().length).toBe(2);
    gpu.paused = false;
    gpu.doorbell();
    await fence.wait();
    const shared = device.createCommandBuffer({ simultaneousUse: true }).begin().end();
    await device.submit([shared, shared]).wait();
    shared.destroy();
    expect(rules().length).toBe(2);
  });

  it("tells of what ends or changes while commands that use it are pending, and of nothing after the fence", async () => {
    const { device, gpu, messages, rules } = setup();
    const make = async () => {
      const [buffer, other] = [device.createBoundBuffer(64), device.createBoundBuffer(64)];
      const { pipeline, set } = await shader(device, buffer);
      const [event, semaphore, fence] = [device.createEvent(), device.createSemaphore(), device.createFence()];
      const command = device.createCommandBuffer().begin().setEvent(event);
      command.bindPipeline(pipeline).bindDescriptorSet(0, set).dispatch(1).pipelineBarrier().end();
      const line = here();
      device.submit([command], { signal: [{ semaphore }], fence });
      const ends = () => {
        set.write(0, { buffer: other });
        buffer.destroy();
        pipeline.destroy();
        event.destroy();
        semaphore.destroy();
        fence.destroy();
      };
      return { ends, line, fence };
    };
    gpu.paused = true;
    const pending = await make();
    pending.ends();
    expect(rules()).toEqual(new Array(6).fill("IN_USE"));
    const at = pending.line + 1;
    expect(messages.map(lines)).toEqual([2, 3, 4, 5, 6, 7].map((i) => [at + i, at]));
    gpu.paused = false;
    gpu.doorbell();
    await device.waitIdle();
    const done = await make();
    await done.fence.wait();
    done.ends();
    expect(rules().length).toBe(6);
  });

  it("follows a wait before its signal, from queue to queue, in the order that they run in", () => {
    const { device, rules } = setup();
    const [a, b] = [device.createBoundBuffer(64), device.createBoundBuffer(64)];
    const semaphore = device.createTimelineSemaphore();
    const copy = device.createCommandBuffer({ queue: "transfer" }).begin().copyBuffer(a, b).end();
    const fill = device.createCommandBuffer().begin().fillBuffer(a, 1).pipelineBarrier().end();
    device.submit([copy], { wait: [{ semaphore, value: 1n }] });
    device.submit([fill], { signal: [{ semaphore, value: 1n }] });
    const [c, d] = [device.createBoundBuffer(64), device.createBoundBuffer(64)];
    expect(rules()).toEqual([]);
    device.submit([device.createCommandBuffer({ queue: "transfer" }).begin().fillBuffer(c, 2).end()]);
    device.submit([device.createCommandBuffer().begin().copyBuffer(c, d).end()]);
    expect(rules()).toEqual(["MISSING_BARRIER"]);
  });

  it("tells of a wait for a timeline's value that nobody signals, and of one that somebody does, nothing", async () => {
    const { device, clock, rules, messages } = setup();
    const semaphore = device.createTimelineSemaphore(3n);
    device.submit([], { signal: [{ semaphore, value: 4n }] });
    expect(await device.waitSemaphores([{ semaphore, value: 4n }])).toBe("SUCCESS");
    expect(rules()).toEqual([]);
    const wait = device.waitSemaphores([{ semaphore, value: 9n }], { timeoutMs: 10 });
    await Promise.resolve();
    clock.advance(10);
    expect(await wait).toBe("TIMEOUT");
    expect(messages[0]?.text).toBe("wait for value 9 of a timeline, which no submission signals: the highest is 4");
  });

  it("tells of push constants that a shader is passed but nobody set", async () => {
    const { device, messages } = setup();
    const { pipeline, set } = await shader(device, device.createBoundBuffer(64), [0, 4, 12]);
    const command = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
    command.pushConstants(0, new Uint8Array(4)).dispatch(1).pipelineBarrier();
    expect(messages[0]?.text).toBe("the shader reads push constants at 4, 12 that were never set");
    command.pushConstants(4, new Uint8Array(12)).dispatch(1).end();
    expect(messages.length).toBe(1);
  });

  it("lists what is left at the device's end, and where it was made", () => {
    const { device, messages } = setup();
    const kept = device.allocateMemory({ sizeBytes: 8192, type: "host" });
    const line = here() - 1;
    device.allocateMemory({ sizeBytes: 4096, type: "host" }).destroy();
    device.destroy();
    expect(messages.map(formatApiMessage)).toEqual([
      expect.stringMatching(
        new RegExp(`the device is destroyed before memory of 8192 bytes \\(BO ${kept.handle}\\); see .*:${line}:`),
      ),
    ]);
  });

  it("names the free in errors of double free and use after free", () => {
    const { device } = setup();
    const memory = device.allocateMemory({ sizeBytes: 4096, type: "host" });
    memory.destroy();
    const place = new RegExp(`freed at .*validate\\.test\\.ts:${here() - 1}:`);
    expect(() => memory.destroy()).toThrow(place);
    expect(() => memory.map()).toThrow(/of freed memory at .*validate\.test\.ts/);
  });
});

describe("without the layer", () => {
  it("a pipeline of another device is refused when it is bound, and its memory at submit", async () => {
    const { instance, device } = setup();
    const other = instance.createDevice({ processName: "other" });
    const { pipeline, set } = await shader(other, other.createBoundBuffer(64));
    const command = device.createCommandBuffer().begin();
    expect(() => command.bindPipeline(pipeline)).toThrow(/VALIDATION: .* pipeline of another device/);
    expect(() => command.bindDescriptorSet(0, set)).toThrow(/VALIDATION: .* set of another device/);
    const buffer = other.createBoundBuffer(64);
    const names = /of another device: it belongs to device "other" \(file 4\), the call is device "app" \(file 3\)'s/;
    expect(() => command.copyBuffer(device.createBoundBuffer(64), buffer)).toThrow(names);
    const mine = await shader(device, device.createBoundBuffer(64));
    const foreign = other.createCommandBuffer().begin().end();
    const secondary = other.createCommandBuffer({ level: "secondary" }).begin().end();
    const semaphore = other.createTimelineSemaphore();
    for (const call of [
      () => command.setEvent(other.createEvent()),
      () => command.waitEvents([other.createEvent()]),
      () => command.writeTimestamp(other.createQueryPool(1), 0),
      () => command.executeCommands([secondary]),
      () => mine.set.write(0, { buffer }),
      () => device.createBuffer(64).bind(buffer.memory),
      () => device.createBufferView({ buffer, format: "R32_UINT" }),
      () => device.submit([foreign]),
      () => device.submit([], { wait: [{ semaphore, value: 1n }] }),
      () => device.submit([], { signal: [{ semaphore, value: 1n }] }),
      () => device.submit([command.end()], { fence: other.createFence() }),
    ]) {
      expect(call).toThrow(names);
    }
    await expect(device.waitSemaphores([{ semaphore, value: 1n }])).rejects.toThrow(names);
    // A device whose objects have the same handles and addresses is another one all the same.
    expect(semaphore.value()).toBe(0n);
  });

  it("a primary whose secondary was recorded again, reset or destroyed is refused, and names where", () => {
    const { device } = setup();
    const record = () => device.createCommandBuffer({ level: "secondary" }).begin().end();
    const run = (secondary: ReturnType<typeof record>) =>
      device.createCommandBuffer().begin().executeCommands([secondary]).end();
    for (const [change, text] of [
      [(c: ReturnType<typeof record>) => c.begin().end(), "recorded again"],
      [(c: ReturnType<typeof record>) => c.reset(), "reset"],
      [(c: ReturnType<typeof record>) => c.destroy(), "destroyed"],
    ] as const) {
      const secondary = record();
      const primary = run(secondary);
      change(secondary);
      expect(() => device.submit([primary])).toThrow(new RegExp(`${text} at .*validate\\.test\\.ts:\\d+:\\d+ since`));
    }
  });

  it("says what a bad value, a dead device or a full queue is about", async () => {
    const { device, instance, gpu } = setup();
    const timeline = device.createTimelineSemaphore();
    expect(() => timeline.signal(-1n)).toThrow(/VALIDATION: signal of -1/);
    expect(() => device.submit([], { signal: [{ semaphore: timeline, value: 1n << 64n }] })).toThrow(/signal of 18446/);
    expect(() => device.importSemaphore(timeline.export(), "binary")).toThrow(
      /import of a timeline semaphore as a binary/,
    );
    gpu.paused = true;
    const command = device.createCommandBuffer({ simultaneousUse: true }).begin().end();
    const fence = device.submit([command]);
    await expect(fence.wait(Number.NaN)).rejects.toThrow(/a timeout of NaN ms/);
    await expect(fence.wait(-1)).rejects.toThrow(/a timeout of -1 ms/);
    for (let i = 1; i < 1024; i++) device.submit([command]);
    expect(() => device.submit([command])).toThrow(/TOO_MANY_OBJECTS: submit to the compute queue: 1024 submissions/);
    const other = instance.createDevice({ processName: "gone" });
    const pending = other.submit([other.createCommandBuffer().begin().end()]).wait();
    const checked = expect(pending).rejects.toThrow(/use of device "gone" \(file 4\) that was destroyed at/);
    other.destroy();
    await checked;
    expect(() => other.createBoundBuffer(64)).toThrow(/use of device "gone" .* destroyed at .*validate\.test\.ts/);
    expect(() => other.destroy()).toThrow(/that was destroyed/);
  });
});
