import type { Access, BarrierScope, QueueName } from "../encode.ts";
import { HazardTracker, type MemoryUse, type Operation } from "./hazards.ts";
import { callerPlace } from "./place.ts";
import type {
  ApiMessage,
  LayerBuffer,
  LayerCommands,
  LayerMemory,
  LayerPipeline,
  LayerPoint,
  LayerSet,
} from "./types.ts";

/** A message as one line. */
export function formatApiMessage({ rule, text, place, other }: ApiMessage): string {
  return `${place}: ${text}${other === undefined ? "" : `; see ${other}`} [${rule}]`;
}

interface Submitted {
  readonly queue: QueueName;
  readonly fence: bigint;
  readonly place: string;
}

/** One call of submit, as the layer is told of it. */
export interface Submission {
  readonly queue: QueueName;
  readonly list: readonly LayerCommands[];
  readonly fence: bigint;
  readonly wait: readonly LayerPoint[];
  readonly used: Iterable<object>;
}

interface Held {
  readonly operations: readonly Operation[];
  readonly fence: bigint;
  readonly wait: readonly LayerPoint[];
}

/** Above the fence of any submission. */
const everything = 2n ** 64n;

/** Whether something was submitted that will end the wait (binary ones: the driver refuses the rest). */
function isPromised({ semaphore, value = 0n }: LayerPoint): boolean {
  return !semaphore.timeline || value <= semaphore.submitted();
}

interface Recording {
  readonly operations: Operation[];
  /** Bytes of push constants that were written. */
  readonly pushed: Set<number>;
}

/**
 * Validation of how the driver is called, as a layer of its own: the driver's objects tell it what they are asked to do.
 * It holds what it needs to name both places of a collision, and changes nothing.
 */
export class ApiLayer {
  readonly #report: (message: ApiMessage) => void;
  readonly #recordings = new WeakMap<LayerCommands, Recording>();
  readonly #pending = new Map<LayerCommands, Submitted>();
  readonly #completed: Record<QueueName, bigint> = { compute: 0n, transfer: 0n };
  readonly #hazards: HazardTracker;
  /** Memory behind a CPU cache: where it was last mapped, and what the GPU wrote since the cache was invalidated. */
  readonly #maps = new Map<LayerMemory, string>();
  readonly #stale = new Map<LayerMemory, MemoryUse>();
  /** Waits of submissions for values that nobody had submitted yet. */
  #hopes: { readonly queue: QueueName; readonly fence: bigint; readonly point: LayerPoint; readonly place: string }[] =
    [];
  /** Objects that submissions reach, by the last one of each queue. */
  readonly #users = new Map<object, Map<QueueName, Submitted>>();
  readonly #told = new Set<string>();
  /** Submissions of a queue whose waits nobody has submitted a signal for yet, and those behind them. */
  readonly #held: Record<QueueName, Held[]> = { compute: [], transfer: [] };
  readonly #alive = new Map<object, { readonly what: string; readonly place: string }>();

  constructor(report: (message: ApiMessage) => void) {
    this.#report = report;
    this.#hazards = new HazardTracker(report);
  }

  /** Where the application is, for objects that remember their end. */
  place(): string {
    return callerPlace();
  }

  /** `place`: where the application asked for it, where that is not the call at hand. */
  created(object: object, what: string, place = callerPlace()): void {
    this.#alive.set(object, { what, place });
  }

  /** The end of an object; `what` is how messages call it. */
  destroyed(object: object, what: string): void {
    this.#alive.delete(object);
    this.#inUse(object, `destroy of ${what}`);
    this.#users.delete(object);
  }

  /** A descriptor is written whose set may not change while commands that bound it are pending. */
  written(set: object): void {
    this.#inUse(set, "write of a descriptor set");
  }

  #inUse(object: object, what: string): void {
    const users = [...(this.#users.get(object)?.values() ?? [])];
    const user = users.find(({ queue, fence }) => fence > this.#completed[queue]);
    if (user === undefined) return;
    const place = callerPlace();
    // A buffer and the memory that goes with it end in one call: told once.
    const key = `${place} ${user.place}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    const text = `${what} that commands may still use: the fence of their submission was not waited for`;
    this.#report({ rule: "IN_USE", text, place, other: user.place });
  }

  /** Nothing of the device is pending any more. */
  lost(): void {
    for (const queue of ["compute", "transfer"] as const) this.completed(queue, everything);
  }

  /** The device goes away: what is still there is a leak. */
  closed(): void {
    const place = callerPlace();
    const leaks = new Map<string, { readonly what: string; readonly other: string; count: number }>();
    for (const { what, place: other } of this.#alive.values()) {
      const leak = leaks.get(`${what} ${other}`);
      if (leak === undefined) leaks.set(`${what} ${other}`, { what, other, count: 1 });
      else leak.count++;
    }
    for (const { what, other, count } of leaks.values()) {
      const more = count === 1 ? "" : ` and ${count - 1} more that were made there`;
      this.#report({ rule: "LEAK", text: `the device is destroyed before ${what}${more}`, place, other });
    }
    this.#alive.clear();
  }

  #recording(commands: LayerCommands): Recording {
    let recording = this.#recordings.get(commands);
    if (recording === undefined) {
      recording = { operations: [], pushed: new Set() };
      this.#recordings.set(commands, recording);
    }
    return recording;
  }

  #isPending(commands: LayerCommands): Submitted | undefined {
    const submitted = this.#pending.get(commands);
    return submitted !== undefined && submitted.fence > this.#completed[submitted.queue] ? submitted : undefined;
  }

  /** Begin or destruction of a command buffer. */
  began(commands: LayerCommands, what: "begin" | "reset" | "destroy"): void {
    const submitted = this.#isPending(commands);
    if (submitted !== undefined) {
      const text = `${what} of a command buffer that may still run: its fence was not waited for`;
      this.#report({ rule: "COMMANDS_PENDING", text, place: callerPlace(), other: submitted.place });
    }
    this.#inUse(commands, `${what} of a secondary command buffer`);
    this.#recordings.delete(commands);
  }

  pushed(commands: LayerCommands, offsetBytes: number, sizeBytes: number): void {
    const { pushed } = this.#recording(commands);
    for (let at = offsetBytes; at < offsetBytes + sizeBytes; at += 4) pushed.add(at);
  }

  /** A command that reads or writes buffers itself. */
  used(commands: LayerCommands, what: string, uses: readonly (readonly [LayerBuffer, number, number, Access])[]): void {
    const place = callerPlace();
    const list = uses.map(([buffer, offset, size, access]) => useOf(buffer, offset, size, access, what, place));
    this.#recording(commands).operations.push({ uses: list });
  }

  barrier(commands: LayerCommands, scope: BarrierScope): void {
    this.#recording(commands).operations.push({ scope });
  }

  executed(commands: LayerCommands, secondary: LayerCommands): void {
    this.#recording(commands).operations.push(...this.#recording(secondary).operations);
  }

  dispatched(commands: LayerCommands, pipeline: LayerPipeline, sets: ReadonlyMap<number, LayerSet>): void {
    const place = callerPlace();
    const { reflection } = pipeline.entry;
    const recording = this.#recording(commands);
    const uses: MemoryUse[] = [];
    for (const { set, binding, name, type, readonly: only, writeonly } of reflection.resources) {
      const bound = sets.get(set);
      if (bound === undefined) continue;
      const access: Access = type === "uniformBuffer" ? "uniformRead" : only ? "shaderRead" : "shaderWrite";
      const what = `dispatch (${name})`;
      for (const { buffer, offsetBytes = 0, rangeBytes } of bound.rangesOf(binding)) {
        const dynamic = bound.layout.dynamic.includes(binding);
        const offset = dynamic ? 0 : offsetBytes;
        const size = dynamic ? buffer.sizeBytes : (rangeBytes ?? buffer.sizeBytes - offset);
        uses.push(useOf(buffer, offset, size, access, what, place));
        if (access === "shaderWrite" && !writeonly) uses.push(useOf(buffer, offset, size, "shaderRead", what, place));
      }
    }
    recording.operations.push({ uses });
    const unset = pushOffsets(pipeline).filter((offset) => !recording.pushed.has(offset));
    if (unset.length === 0) return;
    const text = `the shader reads push constants at ${unset.join(", ")} that were never set`;
    this.#report({ rule: "PUSH_CONSTANTS_UNSET", text, place });
  }

  /** A submission of command buffers whose sets were written since they were bound (where that is not allowed). */
  updated(set: { readonly writtenAt: string }): void {
    const text = "submit of commands whose descriptor set was written after it was bound";
    this.#report({ rule: "DESCRIPTOR_UPDATED", text, place: callerPlace(), other: set.writtenAt });
  }

  /** Memory that a submission reaches. */
  reached(memories: Iterable<LayerMemory>): void {
    for (const memory of memories) {
      if (memory.coherent || !memory.unflushed) continue;
      const text = `submit of commands that use BO ${memory.handle}, whose writes by the host were not flushed`;
      const other = this.#maps.get(memory);
      this.#report({ rule: "NOT_FLUSHED", text, place: callerPlace(), ...(other === undefined ? {} : { other }) });
    }
  }

  flushed(memory: LayerMemory): void {
    this.#maps.set(memory, callerPlace());
  }

  invalidated(memory: LayerMemory): void {
    this.#stale.delete(memory);
  }

  /** A wait for a fence that no submission was given. */
  unsubmitted(): void {
    const text = "wait for a fence that no submission will signal: none was given it";
    this.#report({ rule: "NOT_SUBMITTED", text, place: callerPlace() });
  }

  /** The host waits for a submission: do its own waits come to an end? */
  waiting(queue: QueueName, fence: bigint): void {
    this.#hopes = this.#hopes.filter((hope) => {
      const { semaphore, value = 0n } = hope.point;
      if (value <= semaphore.submitted()) return false;
      if (hope.queue !== queue || hope.fence > fence) return true;
      const text = `wait for a submission that waits for value ${value} of a timeline, which nobody signals: the highest is ${semaphore.submitted()}`;
      this.#report({ rule: "NOBODY_SIGNALS", text, place: callerPlace(), other: hope.place });
      return false;
    });
  }

  /** `used`: what the submission reaches, and may not end before it. */
  submitted(submission: Submission): void {
    const { queue, list, fence, wait, used } = submission;
    const place = callerPlace();
    for (const object of used) {
      const users = this.#users.get(object) ?? new Map<QueueName, Submitted>();
      this.#users.set(object, users.set(queue, { queue, fence, place }));
    }
    for (const point of wait) {
      if (point.semaphore.timeline && (point.value ?? 0n) > point.semaphore.submitted()) {
        this.#hopes.push({ queue, fence, point, place });
      }
    }
    const operations: Operation[] = [];
    for (const commands of list) {
      const before = this.#isPending(commands);
      if (before !== undefined && !commands.simultaneousUse) {
        const text = "submit of a command buffer that is pending already";
        this.#report({ rule: "COMMANDS_PENDING", text, place, other: before.place });
      }
      this.#pending.set(commands, { queue, fence, place });
      operations.push(...this.#recording(commands).operations);
    }
    this.#held[queue].push({ operations, fence, wait });
    this.#proceed();
  }

  /** Follows submissions in an order that they can run in: one that waits comes behind what signals it. */
  #proceed(): void {
    for (let moved = true; moved; ) {
      moved = false;
      for (const queue of ["compute", "transfer"] as const) {
        const next = this.#held[queue][0];
        if (next?.wait.every(isPromised) !== true) continue;
        this.#held[queue].shift();
        moved = true;
        // A semaphore makes everything before its signal visible to what waits.
        if (next.wait.length > 0) this.#hazards.synchronise();
        this.#hazards.run(queue, next.operations, next.fence);
      }
    }
  }

  /** A fence was seen signalled by the host. */
  completed(queue: QueueName, fence: bigint): void {
    this.#proceed();
    if (fence > this.#completed[queue]) this.#completed[queue] = fence;
    for (const [object, users] of this.#users) {
      const user = users.get(queue);
      if (user === undefined || user.fence > fence) continue;
      users.delete(queue);
      if (users.size === 0) this.#users.delete(object);
    }
    for (const [commands, submitted] of this.#pending) {
      if (submitted.fence <= this.#completed[submitted.queue]) this.#pending.delete(commands);
    }
    for (const use of this.#hazards.completed(queue, fence)) {
      if (!use.memory.coherent) this.#stale.set(use.memory, use);
    }
  }

  /** The host looks at memory. */
  mapped(memory: LayerMemory): void {
    this.#proceed();
    const place = callerPlace();
    const held = [...this.#held.compute, ...this.#held.transfer].flatMap(({ operations }) => operations);
    const uses = held.flatMap((operation) => ("uses" in operation ? operation.uses : []));
    this.#hazards.mapped(memory, uses, place);
    if (memory.coherent) return;
    this.#maps.set(memory, place);
    const stale = this.#stale.get(memory);
    if (stale === undefined) return;
    const text = `map of BO ${memory.handle}, which ${stale.what} wrote, without invalidate: the host's cache is old`;
    this.#report({ rule: "NOT_INVALIDATED", text, place, other: stale.place });
  }

  /** A host wait for a timeline's value. */
  awaited(point: LayerPoint, submitted: bigint): void {
    if (!point.semaphore.timeline || (point.value ?? 0n) <= submitted) return;
    const text = `wait for value ${point.value} of a timeline, which no submission signals: the highest is ${submitted}`;
    this.#report({ rule: "NOBODY_SIGNALS", text, place: callerPlace() });
  }
}

/** Byte offsets of the push constants that a shader is passed. */
function pushOffsets(pipeline: LayerPipeline): number[] {
  const { userData, pushConstantBytes } = pipeline.entry.reflection;
  return userData.flatMap((entry) => {
    if (entry.kind === "inlinePushConstants") return entry.offsets ?? [];
    if (entry.kind !== "pushConstantPointer") return [];
    return Array.from({ length: Math.ceil(pushConstantBytes / 4) }, (_, i) => i * 4);
  });
}

function useOf(
  buffer: LayerBuffer,
  offsetBytes: number,
  sizeBytes: number,
  access: Access,
  what: string,
  place: string,
): MemoryUse {
  const { memory } = buffer;
  const start = Number(buffer.va - memory.va) + offsetBytes;
  return { memory, start, end: start + sizeBytes, access, what, place };
}
