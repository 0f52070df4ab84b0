import { COMPUTE_USER_DATA_0, encodePacket, PacketValue, RegisterSpace, shRegisters } from "../uapi/index.ts";
import type { DescriptorSet } from "./descriptors.ts";
import {
  accesses,
  type BarrierScope,
  computeEncoder,
  type Encoder,
  type QueueName,
  queueNames,
  transferEncoder,
} from "./encode.ts";
import { DriverError, oneOf, valid } from "./errors.ts";
import { Lifetime } from "./lifetime.ts";
import type { Buffer, DeviceMemory } from "./memory.ts";
import { type DeviceOwner, ofDevice } from "./owner.ts";
import type { ComputePipeline } from "./pipeline.ts";
import type { Event, QueryPool } from "./sync.ts";
import { type BoundSet, checkLate, userData } from "./user-data.ts";
import type { ApiLayer } from "./validate/index.ts";

/** maxComputeWorkGroupCount of each dimension. */
const maxGroups = 65535;
/** maxPushConstantsSize. */
const maxPushConstantBytes = 256;
const UPLOAD_CHUNK_BYTES = 16384;
/** Most bytes of one updateBuffer. */
const maxUpdateBytes = 65536;

const levels = ["primary", "secondary"] as const;

export interface CommandBufferOptions {
  readonly queue?: QueueName;
  /** `secondary` ones are run by `executeCommands` of a primary one. */
  readonly level?: (typeof levels)[number];
  /** May be submitted again while it is pending. The driver can always; validation asks for the promise. */
  readonly simultaneousUse?: boolean;
  /** The driver's own: no leak of the application's. */
  readonly hidden?: boolean;
}

/** Bytes to copy between buffers. Without a size: as much as both have from their offsets on. */
export interface CopyRegion {
  readonly srcOffsetBytes?: number;
  readonly dstOffsetBytes?: number;
  readonly sizeBytes?: number;
}

/** What a recording may use, and must not outlive. */
interface Used {
  readonly life: Lifetime;
}

type Counts = readonly [x: number, y: number, z: number];

/** COMPUTE_TMPRING_SIZE counts a wave's scratch in these. */
const scratchUnitBytes = 1024;

/** Scratch of a dispatch: the waves of a workgroup, bytes of each. */
function scratchOf({ entry }: ComputePipeline): { readonly waves: number; readonly waveBytes: number } {
  const [x, y, z] = entry.reflection.workgroupSize;
  if (entry.scratchBytes === 0) return { waves: 0, waveBytes: 0 };
  const waveBytes = Math.ceil((entry.scratchBytes * 32) / scratchUnitBytes) * scratchUnitBytes;
  return { waves: Math.ceil((x * y * z) / 32), waveBytes };
}

/** What a command buffer needs of its device. */
export interface CommandOwner extends DeviceOwner {
  /** Validation of calls, where it is on. */
  readonly layer: ApiLayer | undefined;
  /** s[0:1] of every shader. */
  readonly ringVa: bigint;
  /** Memory for packets (general) and for spilled push constants (window). */
  commandMemory(sizeBytes: number): DeviceMemory;
  uploadMemory(sizeBytes: number): DeviceMemory;
  /** Memory that shaders spill to. */
  scratchMemory(sizeBytes: number): DeviceMemory;
  traceCommands(va: bigint, words: Uint32Array): void;
}

function setRegisters(offset: number, values: readonly number[]): number[] {
  return encodePacket("SET_SH_REG", { offset: (offset - RegisterSpace.SH) / 4 }, values);
}

function low(va: bigint): number {
  return Number(va & 0xffff_ffffn);
}

/** Commands as packets of one indirect buffer: PM4, or SDMA for the copy engine. Recorded once, submitted as often as wanted. */
export class CommandBuffer {
  readonly queue: QueueName;
  readonly level: (typeof levels)[number];
  readonly simultaneousUse: boolean;
  readonly #owner: CommandOwner;
  readonly #encoder: Encoder;
  /** Command buffers that this recording runs, and what they had recorded then. */
  readonly #secondaries = new Map<CommandBuffer, object>();
  /** The recording as a thing of its own: a new one replaces it. */
  #recorded: object = {};
  #changedAt = "";
  #state: "initial" | "recording" | "executable" = "initial";
  #words: number[] = [];
  #memory: DeviceMemory | undefined;
  #dwords = 0;
  readonly #uploads: DeviceMemory[] = [];
  #uploadNext = 0;
  /** Shared by the dispatches recorded here: a queue runs one workgroup at a time. */
  #scratch: DeviceMemory | undefined;
  readonly #scratches: DeviceMemory[] = [];
  readonly #used = new Set<DeviceMemory>();
  /** Objects that the packets name: the recording is invalid once one is gone. */
  readonly #usedObjects = new Set<Used>();
  /** Sets that were bound, with the version that they had. */
  readonly #usedSets = new Map<DescriptorSet, number>();
  /** Dispatches over sets that may be written later. */
  #late: { readonly pipeline: ComputePipeline; readonly index: number; readonly set: DescriptorSet }[] = [];
  readonly #life: Lifetime;
  #pipeline: ComputePipeline | undefined;
  #pipelineDirty = false;
  readonly #sets = new Map<number, BoundSet>();
  /** The query that counts. */
  #query: { readonly pool: QueryPool; readonly index: number } | undefined;
  readonly #push = new Uint8Array(maxPushConstantBytes);

  /** Its device. */
  get owner(): DeviceOwner {
    return this.#owner;
  }

  get destroyed(): boolean {
    return this.#life.over;
  }

  constructor(owner: CommandOwner, options: CommandBufferOptions = {}) {
    const { queue = "compute", level = "primary", simultaneousUse = false } = options;
    oneOf(queue, queueNames, "a queue");
    oneOf(level, levels, "a command buffer's level");
    this.#owner = owner;
    this.queue = queue;
    this.level = level;
    this.simultaneousUse = simultaneousUse;
    this.#encoder = queue === "transfer" ? transferEncoder : computeEncoder;
    this.#life = new Lifetime("a command buffer", owner.layer, options.hidden === true ? undefined : this);
  }

  begin(): this {
    this.#life.use();
    valid(this.#state !== "recording", "begin while recording");
    this.#owner.layer?.began(this, "begin");
    this.#release("recorded again");
    this.#state = "recording";
    this.#words = [];
    this.#used.clear();
    this.#usedSets.clear();
    this.#usedObjects.clear();
    this.#late = [];
    this.#secondaries.clear();
    this.#sets.clear();
    this.#pipeline = undefined;
    this.#query = undefined;
    this.#push.fill(0);
    return this;
  }

  bindPipeline(pipeline: ComputePipeline): this {
    this.#computing();
    pipeline.life.use();
    ofDevice(this.#owner, pipeline.memory.owner, "bind of a pipeline");
    this.#pipeline = pipeline;
    this.#pipelineDirty = true;
    this.#used.add(pipeline.memory);
    this.#usedObjects.add(pipeline);
    return this;
  }

  /** Binds a set. Dynamic buffers take one offset (bytes) each, in binding and element order. */
  bindDescriptorSet(index: number, set: DescriptorSet, dynamicOffsets: readonly number[] = []): this {
    this.#computing();
    valid(Number.isInteger(index) && index >= 0, `bind of descriptor set ${index}`);
    set.life.use();
    ofDevice(this.#owner, set.memory.owner, "bind of a descriptor set");
    const moved = set.layout.dynamic.length > 0 || dynamicOffsets.length > 0;
    const va = moved ? this.#upload(set.withDynamicOffsets(dynamicOffsets)) : set.va;
    this.#sets.set(index, { set, va });
    this.#usedSets.set(set, set.version);
    return this;
  }

  pushConstants(offsetBytes: number, bytes: Uint8Array): this {
    this.#recording();
    valid(offsetBytes % 4 === 0 && bytes.length % 4 === 0, "push constants are written in dwords");
    valid(offsetBytes >= 0 && offsetBytes + bytes.length <= maxPushConstantBytes, "push constants past 256 bytes");
    this.#push.set(bytes, offsetBytes);
    this.#owner.layer?.pushed(this, offsetBytes, bytes.length);
    return this;
  }

  /** Launches workgroups; none where a count is 0. */
  dispatch(x: number, y = 1, z = 1): this {
    return this.dispatchBase([0, 0, 0], [x, y, z]);
  }

  /** Launches workgroups whose ids count from `base`. */
  dispatchBase(base: Counts, counts: Counts): this {
    const pipeline = this.#ready();
    for (const [i, count] of counts.entries()) {
      const first = base[i] ?? 0;
      valid(Number.isInteger(count) && count >= 0 && count <= maxGroups, `${count} workgroups, at most ${maxGroups}`);
      valid(Number.isInteger(first) && first >= 0, `workgroup base ${first}`);
      valid(first + count <= maxGroups, `workgroups ${first} to ${first + count}, at most ${maxGroups}`);
    }
    if (counts.includes(0)) return this;
    this.#setState(pipeline, counts);
    const atZero = base.every((first) => first === 0);
    if (!atZero) this.#words.push(...setRegisters(shRegisters.COMPUTE_START_X.offset, base));
    // The counts of the packet are ends: groups run from the start registers up to them.
    const [x, y, z] = counts.map((count, i) => count + (base[i] ?? 0)) as [number, number, number];
    this.#words.push(
      ...encodePacket("DISPATCH_DIRECT", {
        groupsX: x,
        groupsY: y,
        groupsZ: z,
        computeShaderEn: 1,
        forceStartAt000: atZero ? 1 : 0,
        csW32En: 1,
      }),
    );
    return this;
  }

  /** Launches as many workgroups as three dwords of a buffer say when the command runs. */
  dispatchIndirect(buffer: Buffer, offsetBytes = 0): this {
    const pipeline = this.#ready();
    valid(offsetBytes % 4 === 0 && offsetBytes >= 0, `indirect offset ${offsetBytes} is no multiple of 4`);
    valid(offsetBytes + 12 <= buffer.sizeBytes, "indirect arguments leave their buffer");
    const address = this.#reach(buffer) + BigInt(offsetBytes);
    this.#owner.layer?.used(this, "dispatchIndirect", [[buffer, offsetBytes, 12, "indirectRead"]]);
    this.#setState(pipeline, [0, 0, 0]);
    for (const { kind, sgpr } of pipeline.entry.reflection.userData) {
      if (kind !== "workgroupCounts") continue;
      for (let i = 0; i < 3; i++) {
        this.#words.push(
          ...encodePacket("COPY_DATA", {
            srcSel: PacketValue.COPY_L2,
            dstSel: PacketValue.COPY_REGISTER,
            src: address + BigInt(i * 4),
            dst: BigInt(COMPUTE_USER_DATA_0 / 4 + sgpr + i),
          }),
        );
      }
    }
    this.#words.push(
      ...encodePacket("DISPATCH_INDIRECT", { address, computeShaderEn: 1, forceStartAt000: 1, csW32En: 1 }),
    );
    return this;
  }

  copyBuffer(src: Buffer, dst: Buffer, regions: readonly CopyRegion[] = [{}]): this {
    this.#recording();
    for (const { srcOffsetBytes = 0, dstOffsetBytes = 0, sizeBytes } of regions) {
      const size = sizeBytes ?? Math.min(src.sizeBytes - srcOffsetBytes, dst.sizeBytes - dstOffsetBytes);
      const from = this.#reach(src, srcOffsetBytes, size);
      this.#owner.layer?.used(this, "copyBuffer", [
        [src, srcOffsetBytes, size, "transferRead"],
        [dst, dstOffsetBytes, size, "transferWrite"],
      ]);
      this.#words.push(...this.#encoder.copy(from, this.#reach(dst, dstOffsetBytes, size), size));
    }
    return this;
  }

  /** Fills whole dwords; without a size up to the buffer's last whole one. */
  fillBuffer(buffer: Buffer, value: number, offsetBytes = 0, sizeBytes?: number): this {
    this.#recording();
    const size = sizeBytes ?? Math.floor((buffer.sizeBytes - offsetBytes) / 4) * 4;
    valid(offsetBytes % 4 === 0 && size % 4 === 0, `fill of ${size} bytes at ${offsetBytes}: not whole dwords`);
    const va = this.#reach(buffer, offsetBytes, size);
    this.#owner.layer?.used(this, "fillBuffer", [[buffer, offsetBytes, size, "transferWrite"]]);
    this.#words.push(...this.#encoder.fill(va, size, value));
    return this;
  }

  /** Writes bytes that the command buffer carries, at most 64 KiB of whole dwords. */
  updateBuffer(buffer: Buffer, offsetBytes: number, bytes: Uint8Array): this {
    this.#recording();
    valid(offsetBytes % 4 === 0 && bytes.length % 4 === 0, "updates are whole dwords");
    valid(bytes.length > 0 && bytes.length <= maxUpdateBytes, `update of ${bytes.length} bytes, at most 65536`);
    const words = new Uint32Array(bytes.slice().buffer);
    const va = this.#reach(buffer, offsetBytes, bytes.length);
    this.#owner.layer?.used(this, "updateBuffer", [[buffer, offsetBytes, bytes.length, "transferWrite"]]);
    this.#words.push(...this.#encoder.update(va, words));
    return this;
  }

  /** What came before, by `scope`'s first list, has ended and is visible to what comes after, by its second. */
  pipelineBarrier(scope: BarrierScope = {}): this {
    this.#recording();
    return this.#barrier(scope);
  }

  #barrier(scope: BarrierScope): this {
    for (const access of [...(scope.from ?? []), ...(scope.to ?? [])])
      oneOf(access, accesses, "an access of a barrier");
    this.#owner.layer?.barrier(this, scope);
    this.#words.push(...this.#encoder.barrier(scope));
    return this;
  }

  setEvent(event: Event): this {
    return this.#markEvent(event, 1);
  }

  resetEvent(event: Event): this {
    return this.#markEvent(event, 0);
  }

  #markEvent(event: Event, value: number): this {
    this.#recording();
    this.#uses(event, "an event");
    this.#words.push(...this.#encoder.barrier({}), ...this.#encoder.signal(event.va, value));
    return this;
  }

  /** The commands after it wait until every event is set; a set by the host comes through as well. */
  waitEvents(events: readonly Event[], scope: BarrierScope = {}): this {
    this.#recording();
    for (const event of events) {
      this.#uses(event, "an event");
      this.#words.push(...this.#encoder.wait(event.va, 1));
    }
    return this.#barrier(scope);
  }

  resetQueries(pool: QueryPool, first = 0, count = pool.count - first): this {
    this.#recording();
    if (count === 0) return this;
    const start = pool.place(first).value;
    const end = pool.place(first + count - 1).available + 8n;
    this.#uses(pool, "a query pool");
    this.#words.push(...this.#encoder.fill(start, Number(end - start), 0));
    return this;
  }

  /** Writes the clock into a query once what came before has ended. */
  writeTimestamp(pool: QueryPool, index: number): this {
    this.#recording();
    valid(pool.kind === "timestamp", `a timestamp into a query of ${pool.kind}`);
    const { value, available } = pool.place(index);
    this.#uses(pool, "a query pool");
    this.#words.push(...this.#encoder.timestamp(value), ...this.#encoder.signal(available, 1));
    return this;
  }

  /** Starts to count for a query of pipeline statistics. One at a time; it ends in the same command buffer. */
  beginQuery(pool: QueryPool, index: number): this {
    this.#computing();
    valid(pool.kind === "pipelineStatistics", `begin of a query of ${pool.kind}`);
    valid(this.#query === undefined, "begin of a query while another is active");
    const { begin, available } = pool.place(index);
    this.#query = { pool, index };
    this.#uses(pool, "a query pool");
    this.#words.push(...computeEncoder.signal(available, 0), ...computeEncoder.statistics(begin));
    return this;
  }

  /** Ends the active query: its result is there once what came before has ended. */
  endQuery(pool: QueryPool, index: number): this {
    this.#recording();
    valid(this.#query?.pool === pool && this.#query.index === index, `end of query ${index}, which is not active`);
    const { value, available } = pool.place(index);
    this.#query = undefined;
    this.#words.push(...computeEncoder.statistics(value), ...computeEncoder.signal(available, 1));
    return this;
  }

  /** Copies values of timestamp queries, 8 bytes each, after waiting until they are there. */
  copyQueryResults(pool: QueryPool, first: number, count: number, buffer: Buffer, offsetBytes = 0): this {
    this.#recording();
    valid(Number.isInteger(count) && count >= 0, `copy of ${count} queries`);
    valid(pool.kind === "timestamp", "the engines copy timestamps only: statistics are read by the host");
    const dst = this.#reach(buffer, offsetBytes, count * 8);
    this.#uses(pool, "a query pool");
    for (let i = 0; i < count; i++) {
      const { value, available } = pool.place(first + i);
      this.#words.push(...this.#encoder.wait(available, 1), ...this.#encoder.copy(value, dst + BigInt(i * 8), 8));
    }
    return this;
  }

  /** Runs secondary command buffers of the compute queue; bound state does not outlive it. */
  executeCommands(secondaries: readonly CommandBuffer[]): this {
    this.#computing();
    valid(this.level === "primary", "a secondary command buffer runs no others");
    valid(this.#query === undefined, "executeCommands while a query is active: no inherited queries");
    for (const secondary of secondaries) {
      valid(secondary.level === "secondary", "executeCommands of a primary command buffer");
      valid(secondary.queue === "compute", "executeCommands of another queue's command buffer");
      ofDevice(this.#owner, secondary.owner, "executeCommands of a command buffer");
      const { va, dwords } = secondary.submission();
      this.#secondaries.set(secondary, secondary.#recorded);
      this.#owner.layer?.executed(this, secondary);
      this.#words.push(...encodePacket("INDIRECT_BUFFER", { address: va, sizeDwords: dwords, valid: 1 }));
    }
    this.#pipeline = undefined;
    this.#sets.clear();
    return this;
  }

  /** Closes the recording and puts the packets in memory the GPU reads. */
  end(): this {
    this.#recording();
    valid(this.#query === undefined, "end of a command buffer with an active query");
    if (this.#words.length === 0) this.#words.push(...this.#encoder.nop());
    this.#dwords = this.#words.length;
    this.#memory = this.#owner.commandMemory(this.#dwords * 4);
    const view = this.#memory.map();
    const words = Uint32Array.from(this.#words);
    new Uint32Array(view.buffer, view.byteOffset, words.length).set(words);
    this.#owner.traceCommands(this.#memory.va, words);
    this.#words = [];
    this.#state = "executable";
    return this;
  }

  /** For the queue: where the packets are, and every memory they reach. */
  submission(): { readonly va: bigint; readonly dwords: number; readonly memories: ReadonlySet<DeviceMemory> } {
    this.#life.use();
    valid(this.#state === "executable", "submit of a command buffer that is not ended");
    if (this.#memory === undefined) throw new DriverError("VALIDATION", "command buffer was destroyed");
    for (const { life } of this.#usedObjects) life.use();
    for (const { pipeline, index, set } of this.#late) checkLate(pipeline, index, set);
    const memories = new Set([this.#memory, ...this.#uploads, ...this.#scratches, ...this.#used]);
    for (const [set, version] of this.#usedSets) {
      if (set.version !== version) this.#owner.layer?.updated(set);
      memories.add(set.memory);
      for (const memory of set.memories()) memories.add(memory);
    }
    for (const [secondary, recorded] of this.#secondaries) {
      // Its packets are gone, and their place may hold others': the recording that jumps there is invalid.
      const isSame = secondary.#recorded === recorded;
      valid(
        isSame,
        `submit of commands whose secondary command buffer was ${secondary.#changedAt} since executeCommands`,
      );
      for (const memory of secondary.submission().memories) memories.add(memory);
    }
    for (const memory of memories) {
      valid(!memory.freed, `command buffer uses memory that was freed${memory.freedAt}`);
      ofDevice(this.#owner, memory.owner, `command buffer uses BO ${memory.handle}`);
    }
    return { va: this.#memory.va, dwords: this.#dwords, memories };
  }

  /** For validation: what the recording reaches and may not end before it, sets and the buffers behind them as well. */
  *reached(): Iterable<object> {
    yield* this.#used;
    yield* this.#usedObjects;
    for (const set of this.#usedSets.keys()) {
      yield set;
      yield set.memory;
      for (const { buffer } of set.ranges()) yield* [buffer, buffer.memory];
    }
    for (const secondary of this.#secondaries.keys()) {
      yield secondary;
      yield* secondary.reached();
    }
  }

  /** As if new. */
  reset(): void {
    this.#life.use();
    this.#owner.layer?.began(this, "reset");
    this.#release("reset");
    this.#state = "initial";
  }

  destroy(): void {
    this.#life.end(this);
    this.#owner.layer?.began(this, "destroy");
    this.#release("destroyed");
    this.#state = "initial";
  }

  #recording(): void {
    valid(this.#state === "recording", "command outside begin and end");
  }

  #computing(): void {
    this.#recording();
    valid(this.queue === "compute", "the copy engine runs no shaders");
  }

  /** The bound pipeline, for a dispatch. */
  #ready(): ComputePipeline {
    this.#computing();
    if (this.#pipeline === undefined) throw new DriverError("VALIDATION", "dispatch without a pipeline");
    return this.#pipeline;
  }

  /** An event or a query pool, whose memory the packets name. */
  #uses(object: Event | QueryPool, what: string): void {
    ofDevice(this.#owner, object.memory.owner, `use of ${what}`);
    object.life.use();
    this.#used.add(object.memory);
    this.#usedObjects.add(object);
  }

  /** Address of bytes of a buffer that a command touches. */
  #reach(buffer: Buffer, offsetBytes = 0, sizeBytes = buffer.sizeBytes - offsetBytes): bigint {
    const isWhole = Number.isInteger(offsetBytes) && Number.isInteger(sizeBytes);
    const fits = isWhole && offsetBytes >= 0 && sizeBytes >= 0 && offsetBytes + sizeBytes <= buffer.sizeBytes;
    valid(fits, `bytes ${offsetBytes}+${sizeBytes} leave the buffer of ${buffer.sizeBytes} bytes`);
    ofDevice(this.#owner, buffer.memory.owner, `use of a buffer of ${buffer.sizeBytes} bytes`);
    this.#used.add(buffer.memory);
    this.#usedObjects.add(buffer);
    return buffer.va + BigInt(offsetBytes);
  }

  /** Registers of the pipeline where they changed, and the user data. */
  #setState(pipeline: ComputePipeline, counts: Counts): void {
    if (this.#pipelineDirty) this.#emitPipeline(pipeline);
    const user = userData(pipeline, {
      ringVa: this.#ringVa(pipeline),
      groups: counts,
      push: this.#push,
      sets: this.#sets,
      upload: (bytes) => this.#upload(bytes),
    });
    if (user.length > 0) this.#words.push(...setRegisters(COMPUTE_USER_DATA_0, user));
    for (const [index, { set }] of this.#sets) {
      if (set.layout.updateAfterBind.size > 0) this.#late.push({ pipeline, index, set });
    }
    const sets = () => new Map([...this.#sets].map(([index, { set }]) => [index, set]));
    this.#owner.layer?.dispatched(this, pipeline, sets());
  }

  /** Gives the recording's memory back; `what` became of it is for those who meant to run it. */
  #release(what: string): void {
    const { layer } = this.#owner;
    this.#recorded = {};
    this.#changedAt = layer === undefined ? what : `${what} at ${layer.place()}`;
    this.#memory?.destroy();
    this.#memory = undefined;
    for (const memory of [...this.#uploads.splice(0), ...this.#scratches.splice(0)]) memory.destroy();
    this.#scratch = undefined;
  }

  /** What s[0:1] hold: the scratch of the workgroup's waves, or the ring where the shader has none. */
  #ringVa(pipeline: ComputePipeline): bigint {
    const { waves, waveBytes } = scratchOf(pipeline);
    if (waveBytes === 0) return this.#owner.ringVa;
    if (this.#scratch === undefined || this.#scratch.sizeBytes < waves * waveBytes) {
      this.#scratch = this.#owner.scratchMemory(waves * waveBytes);
      this.#scratches.push(this.#scratch);
    }
    return this.#scratch.va;
  }

  #emitPipeline(pipeline: ComputePipeline): void {
    const { registers, reflection } = pipeline.entry;
    const code = pipeline.codeVa >> 8n;
    const scratch = scratchOf(pipeline);
    const r = shRegisters;
    this.#words.push(
      ...setRegisters(r.COMPUTE_START_X.offset, [0, 0, 0, ...reflection.workgroupSize]),
      ...setRegisters(r.COMPUTE_PGM_LO.offset, [low(code), Number((code >> 32n) & 0xffn)]),
      ...setRegisters(r.COMPUTE_PGM_RSRC1.offset, [registers.rsrc1, registers.rsrc2]),
      ...setRegisters(r.COMPUTE_RESOURCE_LIMITS.offset, [0]),
      ...setRegisters(r.COMPUTE_TMPRING_SIZE.offset, [scratch.waves | ((scratch.waveBytes / scratchUnitBytes) << 12)]),
      ...setRegisters(r.COMPUTE_PGM_RSRC3.offset, [registers.rsrc3]),
    );
    this.#pipelineDirty = false;
  }

  /** Copies bytes into the window; chunks live as long as the recording. */
  #upload(bytes: Uint8Array): bigint {
    const size = Math.ceil(bytes.length / 64) * 64;
    let chunk = this.#uploads.at(-1);
    if (chunk === undefined || this.#uploadNext + size > chunk.sizeBytes) {
      chunk = this.#owner.uploadMemory(UPLOAD_CHUNK_BYTES);
      this.#uploads.push(chunk);
      this.#uploadNext = 0;
    }
    chunk.map().set(bytes, this.#uploadNext);
    const va = chunk.va + BigInt(this.#uploadNext);
    this.#uploadNext += size;
    return va;
  }
}
