import { expect } from "vitest";
import { type Bench, bytesOf, dwords, refused, told } from "./bench.ts";

export type Case = readonly [number: number, about: string, run: (bench: Bench) => Promise<void>];

const storage = (count = 1, binding = 0) => ({ binding, type: "storageBuffer", count }) as const;

/** Misuse that the driver and its validation layer notice: 1 to 17. */
export const apiCases: readonly Case[] = [
  [
    1,
    "submit a command buffer that is still pending",
    async (b) => {
      const device = b.device();
      const event = device.createEvent();
      const command = device.createCommandBuffer().begin().waitEvents([event]).end();
      device.submit([command]);
      const fence = device.submit([command]);
      told(b.messages[0], "COMMANDS_PENDING");
      event.set();
      expect(await fence.wait()).toBe("SUCCESS");
    },
  ],
  [
    2,
    "reset or free a command buffer that is pending",
    async (b) => {
      const device = b.device();
      const event = device.createEvent();
      const wait = () => device.createCommandBuffer().begin().waitEvents([event]).end();
      const [first, second] = [wait(), wait()];
      device.submit([first]);
      const fence = device.submit([second]);
      first.reset();
      second.destroy();
      for (const message of b.messages) told(message, "COMMANDS_PENDING");
      expect(b.messages.map(({ text }) => text.split(" ")[0])).toEqual(["reset", "destroy"]);
      event.set();
      expect(await fence.wait()).toBe("SUCCESS");
      b.messages.length = 0;
      event.reset();
      const pool = device.createCommandPool();
      const last = device.submit([pool.allocate().begin().waitEvents([event]).end()]);
      pool.reset();
      told(b.messages[0], "COMMANDS_PENDING");
      expect(b.messages.map(({ text }) => text.split(" ")[0])).toEqual(["reset"]);
      event.set();
      expect(await last.wait()).toBe("SUCCESS");
    },
  ],
  [
    3,
    "record outside begin and end",
    async (b) => {
      const device = b.device();
      const buffer = device.createBoundBuffer(64);
      const command = device.createCommandBuffer();
      await refused(/outside begin and end/, () => command.fillBuffer(buffer, 1));
      command.begin().end();
      await refused(/outside begin and end/, () => command.pipelineBarrier());
    },
  ],
  [
    4,
    "wait on a fence never submitted: times out, and says so",
    async (b) => {
      const device = b.device();
      const fence = device.createFence();
      expect(await fence.wait(20)).toBe("TIMEOUT");
      told(b.messages[0], "NOT_SUBMITTED", false);
      device.submit([device.createCommandBuffer().begin().end()], { fence });
      expect(await fence.wait()).toBe("SUCCESS");
      await refused(/fence is a submission's already, made at .*api\.ts/, () => device.submit([], { fence }));
      fence.reset();
      expect(await fence.wait(0)).toBe("TIMEOUT");
    },
  ],
  [
    5,
    "signal a timeline backwards",
    async (b) => {
      const device = b.device();
      const semaphore = device.createTimelineSemaphore();
      semaphore.signal(5n);
      const text = /signal of 4: the timeline is at 5 already, signalled at .*misuse\/api\.ts:\d+/;
      await refused(text, () => semaphore.signal(4n));
      await refused(text, () => device.submit([], { signal: [{ semaphore, value: 4n }] }));
    },
  ],
  [
    6,
    "wait for a timeline value nobody will signal",
    async (b) => {
      const device = b.device();
      const semaphore = device.createTimelineSemaphore(1n);
      expect(await device.waitSemaphores([{ semaphore, value: 9n }], { timeoutMs: 20 })).toBe("TIMEOUT");
      told(b.messages[0], "NOBODY_SIGNALS", false);
      const fence = device.submit([], { wait: [{ semaphore, value: 7n }] });
      expect(await fence.wait(20)).toBe("TIMEOUT");
      told(b.messages[1], "NOBODY_SIGNALS");
      semaphore.signal(7n);
      expect(await fence.wait()).toBe("SUCCESS");
    },
  ],
  [
    7,
    "read back without a host barrier",
    async (b) => {
      const device = b.device();
      const buffer = device.createBoundBuffer(64);
      await device.submit([device.createCommandBuffer().begin().fillBuffer(buffer, 1).end()]).wait();
      buffer.map();
      told(b.messages[0], "MISSING_HOST_BARRIER");
    },
  ],
  [
    8,
    "two dispatches, write then read, no barrier",
    async (b) => {
      const device = b.device();
      const buffer = device.createBoundBuffer(128);
      const pipeline = await b.pipeline(device, "multiply");
      const { set } = b.set(device, buffer);
      const command = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
      command.pushConstants(0, bytesOf(1)).dispatch(1);
      command.dispatch(1);
      await device.submit([command.end()]).wait();
      told(b.messages[0], "MISSING_BARRIER");
    },
  ],
  [
    9,
    "map without flush or invalidate on memory that is not coherent",
    async (b) => {
      const device = b.device();
      const cached = device.createBoundBuffer(64, "cached");
      const out = device.createBoundBuffer(64);
      dwords(cached).fill(7);
      const copy = device.createCommandBuffer().begin().copyBuffer(cached, out).pipelineBarrier().end();
      await device.submit([copy]).wait();
      told(b.messages[0], "NOT_FLUSHED");
      expect(dwords(out)[0]).toBe(0);
      cached.memory.flush();
      await device.submit([copy]).wait();
      expect([dwords(out)[0], b.messages.length]).toEqual([7, 1]);
      await device.submit([device.createCommandBuffer().begin().fillBuffer(cached, 9).pipelineBarrier().end()]).wait();
      expect(dwords(cached)[0]).toBe(7);
      told(b.messages[1], "NOT_INVALIDATED");
      cached.memory.invalidate();
      expect([dwords(cached)[0], b.messages.length]).toEqual([9, 2]);
    },
  ],
  [
    10,
    "use after free of a buffer, a descriptor set, a pipeline (images are for graphics)",
    async (b) => {
      const device = b.device();
      const buffer = device.createBoundBuffer(128);
      const pipeline = await b.pipeline(device, "multiply");
      const { pool, set } = b.set(device, buffer);
      const command = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
      command.pushConstants(0, bytesOf(1)).dispatch(1).end();
      const fill = device.createCommandBuffer().begin().fillBuffer(buffer, 1).end();
      buffer.destroy();
      await refused(/a buffer of 128 bytes that was destroyed at .*api\.ts/, () => device.submit([fill]));
      await refused(/a buffer of 128 bytes that was destroyed at .*api\.ts/, () => device.submit([command]));
      await refused(/a buffer of 128 bytes that was destroyed/, () => buffer.map());
      pool.free(set);
      await refused(/a descriptor set that was destroyed at .*api\.ts/, () => device.submit([command]));
      await refused(/a descriptor set that was destroyed/, () => set.write(0, { buffer }));
      const later = device.createCommandBuffer().begin();
      await refused(/a descriptor set that was destroyed/, () => later.bindDescriptorSet(0, set));
      pipeline.destroy();
      await refused(/pipeline .*that was destroyed at .*api\.ts/, () => later.bindPipeline(pipeline));
    },
  ],
  [
    10,
    "submit of commands after the end of nothing but their pipeline, view, event or queries",
    async (b) => {
      const device = b.device();
      const pipeline = await b.pipeline(device, "multiply");
      const { set } = b.set(device, device.createBoundBuffer(128));
      const dispatch = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
      dispatch.pushConstants(0, bytesOf(1)).dispatch(1).end();
      pipeline.destroy();
      const text = /use of a compute pipeline \(multiply:main\) that was destroyed at .*api\.ts/;
      await refused(text, () => device.submit([dispatch]));
      const [event, queries] = [device.createEvent(), device.createQueryPool(2)];
      const signal = device.createCommandBuffer().begin().setEvent(event).end();
      const stamp = device.createCommandBuffer().begin().writeTimestamp(queries, 1).end();
      event.destroy();
      queries.destroy();
      await refused(/use of an event that was destroyed at .*api\.ts/, () => device.submit([signal]));
      await refused(/use of an event that was destroyed/, () => event.set());
      const pool = /use of a query pool of 2 timestamp queries that was destroyed at .*api\.ts/;
      await refused(pool, () => device.submit([stamp]));
      await refused(pool, () => queries.result(1));
    },
  ],
  [
    11,
    "double free",
    async (b) => {
      const device = b.device();
      const { pool, set } = b.set(device, device.createBoundBuffer(64));
      const objects = [
        device.allocateMemory({ sizeBytes: 4096, type: "host" }),
        device.createBuffer(64),
        await b.pipeline(device, "multiply"),
        device.createCommandBuffer(),
        device.createFence(),
        device.createSemaphore(),
        device.createEvent(),
        device.createQueryPool(1),
        device.createCommandPool(),
        device.createDescriptorPool(4096),
        { destroy: () => pool.free(set) },
      ];
      for (const object of objects) {
        object.destroy();
        await refused(/double free of .*(freed|destroyed) at .*api\.ts/, () => object.destroy());
      }
    },
  ],
  [
    12,
    "leak at device destruction",
    async (b) => {
      const device = b.device();
      device.allocateMemory({ sizeBytes: 8192, type: "host" });
      device.createCommandBuffer();
      device.createFence();
      device.createTimelineSemaphore();
      device.createBoundBuffer(64).destroy();
      const { pool, set } = b.set(device, device.createBoundBuffer(64));
      pool.free(set);
      for (let i = 0; i < 3; i++) device.createEvent();
      device.createQueryPool(5, "pipelineStatistics");
      device.createSemaphore();
      device.createCommandPool().allocate();
      device.createBuffer(99);
      device.createDescriptorPool(4096).allocate(device.createDescriptorSetLayout([storage()]));
      await b.pipeline(device, "multiply");
      device.destroy();
      for (const message of b.messages) told(message, "LEAK");
      expect(b.messages.map(({ text }) => text.replace("the device is destroyed before ", ""))).toEqual([
        expect.stringMatching(/^memory of 8192 bytes \(BO \d+\)$/),
        "a command buffer",
        "a fence",
        "a semaphore",
        "a buffer of 64 bytes",
        "a descriptor pool of 4096 bytes",
        "an event and 2 more that were made there",
        "a query pool of 5 pipelineStatistics queries",
        "a semaphore",
        "a command pool",
        "a command buffer",
        "a buffer of 99 bytes",
        "a descriptor pool of 4096 bytes",
        "a descriptor set",
        "a compute pipeline (multiply:main)",
      ]);
    },
  ],
  [
    13,
    "a descriptor never written, or of the wrong type",
    async (b) => {
      const device = b.device();
      const pipeline = await b.pipeline(device, "multiply");
      const pool = device.createDescriptorPool();
      const command = device.createCommandBuffer().begin().bindPipeline(pipeline).pushConstants(0, bytesOf(1));
      const set = pool.allocate(device.createDescriptorSetLayout([storage()]));
      await refused(/binding 0 \(b0\) was never written/, () => command.bindDescriptorSet(0, set).dispatch(1));
      const other = pool.allocate(device.createDescriptorSetLayout([{ binding: 0, type: "uniformBuffer", count: 1 }]));
      other.write(0, { buffer: device.createBoundBuffer(64) });
      await refused(/is a storageBuffer in the shader, a uniformBuffer in the set/, () =>
        command.bindDescriptorSet(0, other).dispatch(1),
      );
      // With update after bind the check is the submission's.
      const late = pool.allocate(device.createDescriptorSetLayout([storage()], { updateAfterBind: [0] }));
      command.bindDescriptorSet(0, late).dispatch(1).end();
      await refused(/never written/, () => device.submit([command]));
      late.write(0, { buffer: device.createBoundBuffer(128) });
      expect(await device.submit([command]).wait()).toBe("SUCCESS");
    },
  ],
  [
    14,
    "a dynamic offset misaligned or out of range",
    async (b) => {
      const device = b.device();
      const layout = device.createDescriptorSetLayout([{ binding: 0, type: "storageBufferDynamic", count: 1 }]);
      const set = device.createDescriptorPool().allocate(layout);
      set.write(0, { buffer: device.createBoundBuffer(256), rangeBytes: 64 });
      const command = device.createCommandBuffer().begin();
      await refused(/offset 6 is no multiple of 4/, () => command.bindDescriptorSet(0, set, [6]));
      await refused(/leaves the buffer of 256 bytes/, () => command.bindDescriptorSet(0, set, [196]));
      await refused(/0 dynamic offsets, the set has more/, () => command.bindDescriptorSet(0, set));
    },
  ],
  [
    15,
    "push constants that the shader reads are not covered",
    async (b) => {
      const device = b.device();
      const pipeline = await b.pipeline(device, "multiply");
      const { set } = b.set(device, device.createBoundBuffer(128));
      device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set).dispatch(1).end();
      told(b.messages[0], "PUSH_CONSTANTS_UNSET", false);
      const command = device.createCommandBuffer().begin();
      await refused(/push constants past 256 bytes/, () => command.pushConstants(252, new Uint8Array(8)));
      // Of two that the shader reads one is set; and a layout whose range ends between them.
      const two = await b.pipeline(device, "multiply", { pushOffsets: [0, 4] });
      command.bindPipeline(two).bindDescriptorSet(0, set).pushConstants(0, bytesOf(1)).dispatch(1).end();
      told(b.messages[1], "PUSH_CONSTANTS_UNSET", false);
      expect(b.messages[1]?.text).toBe("the shader reads push constants at 4 that were never set");
      const layout = { sets: [device.createDescriptorSetLayout([storage()])], pushConstantBytes: 4 };
      await refused(/the shader has 8 bytes of push constants, the pipeline layout's range covers 4/, () =>
        b.pipeline(device, "multiply", { pushOffsets: [0, 4], layout }),
      );
    },
  ],
  [
    16,
    "a dispatch larger than the limit, or of zero groups (a legal no-op)",
    async (b) => {
      const device = b.device();
      const buffer = device.createBoundBuffer(128);
      dwords(buffer).fill(5);
      const pipeline = await b.pipeline(device, "multiply");
      const { set } = b.set(device, buffer);
      const command = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
      command.pushConstants(0, bytesOf(1));
      await refused(/65536 workgroups, at most 65535/, () => command.dispatch(65_536));
      await refused(/65536, at most 65535/, () => command.dispatchBase([1, 0, 0], [65_535, 1, 1]));
      command.dispatch(0, 65_535, 1).pipelineBarrier().end();
      expect(await device.submit([command]).wait()).toBe("SUCCESS");
      expect([...dwords(buffer)]).toEqual(new Array(32).fill(5));
      expect(b.messages).toEqual([]);
    },
  ],
  [
    17,
    "a pipeline of another device",
    async (b) => {
      const [device, other] = [b.device(), b.device("other")];
      const pipeline = await b.pipeline(other, "multiply");
      const command = device.createCommandBuffer().begin();
      await refused(/bind of a pipeline of another device/, () => command.bindPipeline(pipeline));
    },
  ],
];
