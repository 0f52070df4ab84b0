import { COMPUTE_USER_DATA_0, encodePacket, PacketValue, RegisterSpace, shRegisters } from "../uapi/index.ts";
import type { DescriptorSet } from "./descriptors.ts";
import { DriverError, valid } from "./errors.ts";
import type { DeviceMemory } from "./memory.ts";
import type { ComputePipeline } from "./pipeline.ts";

/** maxComputeWorkGroupCount of each dimension. */
const maxGroups = 65535;
/** maxPushConstantsSize. */
const maxPushConstantBytes = 256;
const UPLOAD_CHUNK_BYTES = 16384;

/** What a command buffer needs of its device. */
export interface CommandOwner {
  /** s[0:1] of every shader. */
  readonly ringVa: bigint;
  /** Memory for packets (general) and for spilled push constants (window). */
  commandMemory(sizeBytes: number): DeviceMemory;
  uploadMemory(sizeBytes: number): DeviceMemory;
  traceCommands(va: bigint, words: Uint32Array): void;
}

function setRegisters(offset: number, values: readonly number[]): number[] {
  return encodePacket("SET_SH_REG", { offset: (offset - RegisterSpace.SH) / 4 }, values);
}

function low(va: bigint): number {
  return Number(va & 0xffff_ffffn);
}

/** Commands as PM4 packets in one indirect buffer. Recorded once, submitted as often as wanted. */
export class CommandBuffer {
  readonly #owner: CommandOwner;
  #state: "initial" | "recording" | "executable" = "initial";
  #words: number[] = [];
  #memory: DeviceMemory | undefined;
  #dwords = 0;
  readonly #uploads: DeviceMemory[] = [];
  #uploadNext = 0;
  readonly #used = new Set<DeviceMemory>();
  readonly #usedSets = new Set<DescriptorSet>();
  #pipeline: ComputePipeline | undefined;
  #pipelineDirty = false;
  readonly #sets = new Map<number, DescriptorSet>();
  readonly #push = new Uint8Array(maxPushConstantBytes);

  constructor(owner: CommandOwner) {
    this.#owner = owner;
  }

  begin(): this {
    valid(this.#state !== "recording", "begin while recording");
    this.#release();
    this.#state = "recording";
    this.#words = [];
    this.#used.clear();
    this.#usedSets.clear();
    this.#sets.clear();
    this.#pipeline = undefined;
    this.#push.fill(0);
    return this;
  }

  bindPipeline(pipeline: ComputePipeline): this {
    this.#recording();
    this.#pipeline = pipeline;
    this.#pipelineDirty = true;
    this.#used.add(pipeline.memory);
    return this;
  }

  bindDescriptorSet(index: number, set: DescriptorSet): this {
    this.#recording();
    this.#sets.set(index, set);
    this.#usedSets.add(set);
    return this;
  }

  pushConstants(offsetBytes: number, bytes: Uint8Array): this {
    this.#recording();
    valid(offsetBytes % 4 === 0 && bytes.length % 4 === 0, "push constants are written in dwords");
    valid(offsetBytes >= 0 && offsetBytes + bytes.length <= maxPushConstantBytes, "push constants past 256 bytes");
    this.#push.set(bytes, offsetBytes);
    return this;
  }

  /** Launches workgroups; none where a count is 0. */
  dispatch(x: number, y = 1, z = 1): this {
    this.#recording();
    for (const count of [x, y, z]) {
      valid(Number.isInteger(count) && count >= 0 && count <= maxGroups, `${count} workgroups, at most ${maxGroups}`);
    }
    const pipeline = this.#pipeline;
    if (pipeline === undefined) throw new DriverError("VALIDATION", "dispatch without a pipeline");
    if (x === 0 || y === 0 || z === 0) return this;
    if (this.#pipelineDirty) this.#emitPipeline(pipeline);
    const user = this.#userData(pipeline, [x, y, z]);
    if (user.length > 0) this.#words.push(...setRegisters(COMPUTE_USER_DATA_0, user));
    this.#words.push(
      ...encodePacket("DISPATCH_DIRECT", {
        groupsX: x,
        groupsY: y,
        groupsZ: z,
        computeShaderEn: 1,
        forceStartAt000: 1,
        csW32En: 1,
      }),
    );
    return this;
  }

  /** Everything before has ended and is visible to everything after: execution and memory. */
  pipelineBarrier(): this {
    this.#recording();
    this.#words.push(
      ...encodePacket("EVENT_WRITE", {
        eventType: PacketValue.EVENT_CS_PARTIAL_FLUSH,
        eventIndex: PacketValue.EVENT_INDEX_CS_PARTIAL_FLUSH,
      }),
      ...encodePacket("ACQUIRE_MEM", {
        coherSize: 0xff_ffff_ffffn,
        pollInterval: 10,
        glkInv: 1,
        glvInv: 1,
        gl1Inv: 1,
      }),
    );
    return this;
  }

  /** Closes the recording and puts the packets in memory the GPU reads. */
  end(): this {
    this.#recording();
    if (this.#words.length === 0) this.#words.push(...encodePacket("NOP", {}, [0]));
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
    valid(this.#state === "executable", "submit of a command buffer that is not ended");
    if (this.#memory === undefined) throw new DriverError("VALIDATION", "command buffer was destroyed");
    const memories = new Set([this.#memory, ...this.#uploads, ...this.#used]);
    for (const set of this.#usedSets) {
      memories.add(set.memory);
      for (const memory of set.memories()) memories.add(memory);
    }
    for (const memory of memories) valid(!memory.freed, "command buffer uses memory that was freed");
    return { va: this.#memory.va, dwords: this.#dwords, memories };
  }

  destroy(): void {
    this.#release();
    this.#state = "initial";
  }

  #recording(): void {
    valid(this.#state === "recording", "command outside begin and end");
  }

  #release(): void {
    this.#memory?.destroy();
    this.#memory = undefined;
    for (const upload of this.#uploads.splice(0)) upload.destroy();
  }

  #emitPipeline(pipeline: ComputePipeline): void {
    const { registers, reflection } = pipeline.entry;
    const code = pipeline.codeVa >> 8n;
    const r = shRegisters;
    this.#words.push(
      ...setRegisters(r.COMPUTE_START_X.offset, [0, 0, 0, ...reflection.workgroupSize]),
      ...setRegisters(r.COMPUTE_PGM_LO.offset, [low(code), Number((code >> 32n) & 0xffn)]),
      ...setRegisters(r.COMPUTE_PGM_RSRC1.offset, [registers.rsrc1, registers.rsrc2]),
      ...setRegisters(r.COMPUTE_RESOURCE_LIMITS.offset, [0]),
      ...setRegisters(r.COMPUTE_TMPRING_SIZE.offset, [0]),
      ...setRegisters(r.COMPUTE_PGM_RSRC3.offset, [registers.rsrc3]),
    );
    this.#pipelineDirty = false;
  }

  /** User SGPRs by the code object's list (docs/abi.md, "User SGPRs"). */
  #userData(pipeline: ComputePipeline, groups: readonly [number, number, number]): number[] {
    const { reflection } = pipeline.entry;
    const words: number[] = [];
    const push = new DataView(this.#push.buffer);
    for (const entry of reflection.userData) {
      const put = (values: readonly number[]) => {
        if (values.length !== entry.count) {
          throw new DriverError(
            "INITIALIZATION_FAILED",
            `${entry.kind} wants ${entry.count} SGPRs, has ${values.length}`,
          );
        }
        for (const [i, value] of values.entries()) words[entry.sgpr + i] = value >>> 0;
      };
      switch (entry.kind) {
        case "ringPointer":
          put([low(this.#owner.ringVa), Number(BigInt.asUintN(64, this.#owner.ringVa) >> 32n)]);
          break;
        case "descriptorSet":
          put([low(this.#checkedSet(pipeline, entry.set ?? 0).va)]);
          break;
        case "inlinePushConstants":
          put((entry.offsets ?? []).map((offset) => push.getUint32(offset, true)));
          break;
        case "pushConstantPointer":
          put([low(this.#upload(this.#push.subarray(0, Math.max(4, reflection.pushConstantBytes))))]);
          break;
        case "workgroupCounts":
          put(groups);
          break;
      }
    }
    return Array.from(words, (word) => word ?? 0);
  }

  /** The bound set, with every descriptor that the shader uses present and of its type. */
  #checkedSet(pipeline: ComputePipeline, index: number): DescriptorSet {
    const set = this.#sets.get(index);
    if (set === undefined) throw new DriverError("VALIDATION", `descriptor set ${index} is not bound`);
    for (const used of pipeline.entry.reflection.resources) {
      if (used.set !== index) continue;
      const row = set.layout.find(used.binding);
      const name = `set ${index} binding ${used.binding} (${used.name})`;
      if (row === undefined) throw new DriverError("VALIDATION", `${name} is not in the bound set's layout`);
      valid(row.type === used.type, `${name} is a ${used.type} in the shader, a ${row.type} in the set`);
      valid(row.offsetBytes === used.offsetBytes, `${name} stands at another offset in the set's layout`);
      valid(row.count >= used.count, `${name} has ${used.count} elements, the set ${row.count}`);
      if (row.count === 1) valid(set.written(used.binding, 0), `${name} was never written`);
    }
    return set;
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
