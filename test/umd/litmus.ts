/**
 * Litmus tests through the driver's API, on a machine in coherence mode: right programs, and wrong ones that lack one
 * step. Each runs on a fresh machine by seed, which its engines interleave by, and answers whether what it read was right.
 */
import { defaultRequest, type ShaderCompiler } from "../../src/codeobj/index.ts";
import { createLocalCompiler } from "../../src/service/local-compiler.ts";
import { createMachine } from "../../src/service/machine.ts";
import type { Buffer, CommandBuffer, Device } from "../../src/umd/index.ts";
import type { Litmus } from "../gpu/litmus.ts";

const THREADS = 64;
const BYTES = 4 * THREADS;
/** Packets in front of a copy: each is a turn of its engine. */
const DELAY_PACKETS = 20;

/** Cell i becomes value + i. */
const PRODUCE = `#version 450
layout(local_size_x = 32) in;
layout(push_constant) uniform Push { uint value; };
layout(set = 0, binding = 0) writeonly buffer To { uint to[]; };
void main() { to[gl_GlobalInvocationID.x] = value + gl_GlobalInvocationID.x; }`;
const CONSUME = `#version 450
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) writeonly buffer To { uint to[]; };
layout(set = 0, binding = 1) readonly buffer From { uint from[]; };
void main() { to[gl_GlobalInvocationID.x] = from[gl_GlobalInvocationID.x]; }`;

/** Each source is compiled once, whatever the number of machines. */
const compiled = new Map<string, ReturnType<ShaderCompiler["compile"]>>();
const local = createLocalCompiler();
const compiler: ShaderCompiler = {
  compile(request) {
    const source = request.source ?? "";
    let result = compiled.get(source);
    if (result === undefined) {
      result = local.compile(request);
      compiled.set(source, result);
    }
    return result;
  },
};

/** A device of a fresh machine, and what the programs do with it. */
class Program {
  readonly device: Device;
  readonly #bindings = [0, 1].map((binding) => ({ binding, type: "storageBuffer", count: 1 }) as const);

  constructor(device: Device) {
    this.device = device;
  }

  buffer(type: "device" | "host" = "device"): Buffer {
    const buffer = this.device.createBoundBuffer(BYTES, type);
    buffer.map().fill(0);
    return buffer;
  }

  async #dispatch(commands: CommandBuffer, source: string, buffers: readonly Buffer[]): Promise<CommandBuffer> {
    const { device } = this;
    const request = { ...defaultRequest, language: "glsl", stage: "compute", source } as const;
    const layout = device.createDescriptorSetLayout(this.#bindings.slice(0, buffers.length));
    const pipeline = await device.createComputePipeline({ compiler, request });
    const set = device.createDescriptorPool(4096).allocate(layout);
    for (const [binding, buffer] of buffers.entries()) set.write(binding, { buffer });
    return commands.bindPipeline(pipeline).bindDescriptorSet(0, set);
  }

  async produce(commands: CommandBuffer, to: Buffer, value: number): Promise<void> {
    const push = new Uint8Array(Uint32Array.of(value).buffer);
    (await this.#dispatch(commands, PRODUCE, [to])).pushConstants(0, push).dispatch(THREADS / 32);
  }

  async consume(commands: CommandBuffer, from: Buffer, to: Buffer): Promise<void> {
    (await this.#dispatch(commands, CONSUME, [to, from])).dispatch(THREADS / 32);
  }

  compute(): CommandBuffer {
    return this.device.createCommandBuffer().begin();
  }

  transfer(): CommandBuffer {
    return this.device.createCommandBuffer({ queue: "transfer" }).begin();
  }
}

function words(buffer: Buffer): Uint32Array {
  const view = buffer.map();
  return new Uint32Array(view.buffer, view.byteOffset, THREADS).slice();
}

/** Buffers that must hold a value each: all cells value + i. */
type Outcome = readonly (readonly [got: Uint32Array, value: number])[];

function litmus(name: string, isRight: boolean, body: (program: Program) => Promise<Outcome>): Litmus {
  return {
    name,
    isRight,
    async run(seed) {
      const machine = createMachine({
        memoryBytes: 0x0600_0000,
        worker: false,
        coherence: true,
        wgps: 2,
        computeQueues: 1,
        seed,
      });
      try {
        const outcome = await body(new Program(machine.openProcess("litmus")));
        const ok = outcome.every(([got, value]) => got.every((cell, i) => cell === value + i));
        return { ok, trace: outcome.map(([got]) => got.join(" ")).join(" / ") };
      } finally {
        await machine.close();
      }
    },
  };
}

/** Two dispatches of one command buffer; the consumer's caches know the old value. */
function dispatches(name: string, isRight: boolean, hasBarrier: boolean): Litmus {
  return litmus(name, isRight, async (program) => {
    const [data, before, after] = [program.buffer(), program.buffer(), program.buffer()];
    const commands = program.compute();
    await program.consume(commands, data, before);
    commands.pipelineBarrier({ from: ["shaderRead"], to: ["shaderWrite"] });
    await program.produce(commands, data, 100);
    if (hasBarrier) commands.pipelineBarrier({ from: ["shaderWrite"], to: ["shaderRead"] });
    await program.consume(commands, data, after);
    await program.device.submit([commands.end()]).wait();
    return [[words(after), 100]];
  });
}

/** The host reads what a dispatch wrote; `waits`: behind its fence, else after a few turns of its event loop. */
function hostRead(name: string, isRight: boolean, waits: boolean): Litmus {
  return litmus(name, isRight, async (program) => {
    const data = program.buffer("host");
    const commands = program.compute();
    await program.produce(commands, data, 100);
    commands.pipelineBarrier({ from: ["shaderWrite"], to: ["hostRead"] });
    const fence = program.device.submit([commands.end()]);
    if (waits) await fence.wait();
    const got = words(data);
    await fence.wait();
    return [[got, 100]];
  });
}

type Order = "semaphore" | "timeline" | "none";

/** A dispatch on one engine, a copy of its result on the other, twice through one buffer. `reuse`: the second dispatch waits for the first copy. */
function engines(name: string, isRight: boolean, order: Order, steps: { order: boolean; reuse: boolean }): Litmus {
  return litmus(name, isRight, async (program) => {
    const { device } = program;
    const data = program.buffer();
    const outs = [program.buffer(), program.buffer()];
    const rest = program.buffer();
    const timeline = device.createTimelineSemaphore();
    const produced = [device.createSemaphore(), device.createSemaphore()];
    const copied = device.createSemaphore();
    const fences = [];
    for (const [round, out] of outs.entries()) {
      const produce = program.compute();
      await program.produce(produce, data, 100 * (round + 1));
      const copy = program.transfer();
      if (steps.order) delay(copy, rest);
      copy.copyBuffer(data, out);
      const semaphore = produced[round] as (typeof produced)[0];
      const [at, reuse] = [BigInt(2 * round + 1), round === 1 && steps.reuse];
      const points = {
        semaphore: {
          produce: { signal: [{ semaphore }], ...(reuse && { wait: [{ semaphore: copied }] }) },
          copy: {
            ...(steps.order && { wait: [{ semaphore }] }),
            ...(round === 0 && { signal: [{ semaphore: copied }] }),
          },
        },
        timeline: {
          produce: {
            signal: [{ semaphore: timeline, value: at }],
            ...(reuse && { wait: [{ semaphore: timeline, value: 2n }] }),
          },
          copy: {
            // The wrong program waits for a value that is there already.
            wait: [{ semaphore: timeline, value: steps.order ? at : 0n }],
            signal: [{ semaphore: timeline, value: at + 1n }],
          },
        },
        none: { produce: {}, copy: {} },
      }[order];
      fences.push(device.submit([produce.end()], points.produce), device.submit([copy.end()], points.copy));
    }
    for (const fence of fences) await fence.wait();
    return outs.map((out, round) => [words(out), 100 * (round + 1)] as const);
  });
}

/** The same with events: one submission on each engine. */
function events(name: string, isRight: boolean, steps: { order: boolean; reuse: boolean }): Litmus {
  return litmus(name, isRight, async (program) => {
    const { device } = program;
    const [data, rest] = [program.buffer(), program.buffer()];
    const outs = [program.buffer(), program.buffer()];
    const produced = outs.map(() => device.createEvent());
    const copied = device.createEvent();
    const [produce, copy] = [program.compute(), program.transfer()];
    for (const [round, out] of outs.entries()) {
      const event = produced[round] as typeof copied;
      if (round === 1 && steps.reuse) produce.waitEvents([copied]);
      await program.produce(produce, data, 100 * (round + 1));
      produce.setEvent(event);
      if (steps.order) copy.waitEvents([event]);
      if (steps.order) delay(copy, rest);
      copy.copyBuffer(data, out);
      if (round === 0) copy.setEvent(copied);
    }
    const fences = [device.submit([produce.end()]), device.submit([copy.end()])];
    for (const fence of fences) await fence.wait();
    return outs.map((out, round) => [words(out), 100 * (round + 1)] as const);
  });
}

/** Work in front of a copy that waits, so that the other engine may come before it with its next dispatch. */
function delay(commands: CommandBuffer, rest: Buffer): void {
  for (let i = 0; i < DELAY_PACKETS; i++) commands.fillBuffer(rest, i, 4 * i, 4);
}

/** Two uploads through one staging buffer; `waits`: the host writes the second when the first copy has ended. */
function staging(name: string, isRight: boolean, waits: boolean): Litmus {
  return litmus(name, isRight, async (program) => {
    const { device } = program;
    const stage = program.buffer("host");
    const outs = [program.buffer(), program.buffer()];
    const fences = [];
    for (const [round, out] of outs.entries()) {
      const view = stage.map();
      const cells = new Uint32Array(view.buffer, view.byteOffset, THREADS);
      for (let i = 0; i < THREADS; i++) cells[i] = 100 * (round + 1) + i;
      const fence = device.submit([program.transfer().copyBuffer(stage, out).end()]);
      if (waits) await fence.wait();
      fences.push(fence);
    }
    for (const fence of fences) await fence.wait();
    return outs.map((out, round) => [words(out), 100 * (round + 1)] as const);
  });
}

/** Memory behind the CPU's cache: a copy takes what the host wrote, the host reads what the copy wrote. */
function cached(name: string, isRight: boolean, steps: { flush: boolean; invalidate: boolean }): Litmus {
  return litmus(name, isRight, async (program) => {
    const { device } = program;
    const memories = [0, 1].map(() => device.allocateMemory({ sizeBytes: BYTES, type: "cached" }));
    const [from, to] = memories.map((memory) => device.createBuffer(BYTES).bind(memory)) as [Buffer, Buffer];
    words(to);
    const view = from.map();
    const cells = new Uint32Array(view.buffer, view.byteOffset, THREADS);
    for (let i = 0; i < THREADS; i++) cells[i] = 100 + i;
    if (steps.flush) from.memory.flush();
    await device.submit([program.transfer().copyBuffer(from, to).end()]).wait();
    if (steps.invalidate) to.memory.invalidate();
    return [[words(to), 100]];
  });
}

const all = { order: true, reuse: true };

/** All of them; a wrong one's name says what it lacks. */
export const apiLitmusTests: readonly Litmus[] = [
  dispatches("dispatches and a barrier", true, true),
  dispatches("dispatches without the barrier", false, false),
  hostRead("host read behind the fence", true, true),
  hostRead("host read before the fence", false, false),
  engines("binary semaphores between engines", true, "semaphore", all),
  engines("binary semaphores, the copy does not wait", false, "semaphore", { ...all, order: false }),
  engines("binary semaphores, buffer used again too early", false, "semaphore", { ...all, reuse: false }),
  engines("a timeline between engines", true, "timeline", all),
  engines("a timeline, waits for too low a value", false, "timeline", { ...all, order: false }),
  engines("a timeline, buffer used again too early", false, "timeline", { ...all, reuse: false }),
  events("events between engines", true, all),
  events("events, the copy does not wait", false, { ...all, order: false }),
  events("events, buffer used again too early", false, { ...all, reuse: false }),
  engines("engines without any order", false, "none", { order: false, reuse: false }),
  staging("staging buffer, written again behind the fence", true, true),
  staging("staging buffer, written again too early", false, false),
  cached("cached memory, flushed and invalidated", true, { flush: true, invalidate: true }),
  cached("cached memory without the flush", false, { flush: false, invalidate: true }),
  cached("cached memory without the invalidate", false, { flush: true, invalidate: false }),
];
