import { readFileSync } from "node:fs";
import { distFile } from "../../src/base/index.ts";
import { createMemory, Engine } from "../../src/gpu/index.ts";
import {
  COMPUTE_USER_DATA_0,
  CONTROL_MAGIC,
  Control,
  encodePacket,
  Fault,
  faultKinds,
  Interrupt,
  PageTable,
  PhysicalMap,
  Pte,
  Queue,
  QueueKind,
  queueWord,
  shRegisters,
  Vmid,
  vmidWord,
} from "../../src/uapi/index.ts";

export const VMID = 1;
export const QUEUE = 1;
const RING_DWORDS = 1024;

export interface FaultReport {
  readonly name: string;
  readonly pc: bigint;
  readonly address: bigint;
  readonly packet: bigint;
  readonly header: number;
  readonly detail: readonly [number, number];
  readonly lane: number;
  readonly access: number;
}

export interface Launch {
  readonly code: bigint;
  readonly groups?: readonly [number, number, number];
  readonly threads?: readonly [number, number, number];
  readonly user?: readonly number[];
  /** Which workgroup ids the code gets. */
  readonly ids?: readonly [boolean, boolean, boolean];
  readonly threadIds?: 0 | 1 | 2;
  readonly ldsBytes?: number;
  readonly vgprs?: number;
  readonly floatMode?: number;
  readonly tgSize?: boolean;
  /** The workgroup uses both CUs of its WGP. */
  readonly wgpMode?: boolean;
  /** Scratch bytes of a wave: a multiple of 1024. */
  readonly scratchBytes?: number;
  /** COMPUTE_PGM_RSRC1 and 2 as they are, in place of what the fields above make. */
  readonly rsrc?: readonly [number, number];
}

/** Builds of gpu.wasm. */
export type Build = "fused" | "release" | "checked";

const modules = new Map<string, WebAssembly.Module>();

/** gpu.wasm, compiled once per test file. */
function moduleOf(build: string): WebAssembly.Module {
  let module = modules.get(build);
  if (module === undefined) {
    module = new WebAssembly.Module(readFileSync(distFile(`wasm/gpu.${build}.wasm`)));
    modules.set(build, module);
  }
  return module;
}

const READ_WRITE = Pte.READABLE | Pte.WRITABLE;

/** A GPU in this thread with one address space and one compute queue, all set up by hand as the kernel would. */
export class Rig {
  readonly engine: Engine;
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  readonly #view: DataView;
  #next: number = PhysicalMap.VRAM;
  readonly #root: number;
  readonly #rings = new Map<number, { readonly at: number; wptr: number }>();
  readonly #fence: number;
  readonly #ib: { va: bigint; physical: number };
  #sequence = 0;
  #nextVa = 0x1_0000_0000n;

  /** `flags`: `ControlFlag` bits. `queues`: how many compute queues, from QUEUE on. */
  constructor(
    options: {
      memoryBytes?: number;
      build?: Build;
      seed?: number;
      flags?: number;
      wgps?: number;
      queues?: number;
    } = {},
  ) {
    const memory = createMemory(options.memoryBytes ?? 0x0c00_0000);
    this.engine = new Engine(moduleOf(options.build ?? "release"), memory);
    this.bytes = new Uint8Array(memory.buffer);
    this.words = new Uint32Array(memory.buffer);
    this.#view = new DataView(memory.buffer);
    this.#root = this.physical(PageTable.TABLE_BYTES);
    this.#fence = this.physical(4096);
    this.#set(vmidWord(VMID, Vmid.PAGE_DIRECTORY), this.#root);
    for (let queue = QUEUE; queue < QUEUE + (options.queues ?? 1); queue++) {
      const ring = this.physical(RING_DWORDS * 4);
      this.#rings.set(queue, { at: ring, wptr: 0 });
      this.#set(queueWord(queue, Queue.KIND), QueueKind.COMPUTE);
      this.#set(queueWord(queue, Queue.RING_BASE), ring);
      this.#set(queueWord(queue, Queue.RING_DWORDS), RING_DWORDS);
      this.#set(queueWord(queue, Queue.ENABLED), 1);
    }
    this.#set(Control.FLAGS, options.flags ?? 0);
    this.#set(Control.WGPS, options.wgps ?? 0);
    this.#set(Control.SEED, options.seed ?? 0);
    this.#set(Control.MAGIC, CONTROL_MAGIC);
    this.#ib = this.alloc(65_536);
  }

  #set(offset: number, value: number): void {
    this.words[(PhysicalMap.CONTROL + offset) / 4] = value;
  }

  control(offset: number): number {
    return this.words[(PhysicalMap.CONTROL + offset) / 4]!;
  }

  setControl(offset: number, value: number): void {
    this.#set(offset, value);
  }

  queue(word: number): number {
    return this.control(queueWord(QUEUE, word));
  }

  setQueue(word: number, value: number): void {
    this.#set(queueWord(QUEUE, word), value);
  }

  /** Physical memory, whole pages. */
  physical(bytes: number): number {
    const at = this.#next;
    this.#next += Math.ceil(bytes / PageTable.PAGE_BYTES) * PageTable.PAGE_BYTES;
    if (this.#next > this.bytes.length) throw new Error("rig memory is used up");
    return at;
  }

  /** Maps pages at `va` to physical memory with permission bits. */
  map(va: bigint, physical: number, bytes: number, permissions: number): void {
    for (let done = 0; done < bytes; done += PageTable.PAGE_BYTES) {
      let table = this.#root;
      const page = BigInt.asUintN(48, va + BigInt(done));
      for (let level = PageTable.LEVELS - 1; level > 0; level--) {
        const entry = table + Number((page >> BigInt(12 + 9 * level)) & 511n) * 8;
        if (this.#view.getUint32(entry, true) === 0) {
          this.#view.setBigUint64(entry, BigInt(this.physical(PageTable.TABLE_BYTES)) | BigInt(Pte.VALID), true);
        }
        table = Number(this.#view.getBigUint64(entry, true) & 0xffff_ffff_f000n);
      }
      const entry = table + Number((page >> 12n) & 511n) * 8;
      this.#view.setBigUint64(entry, BigInt(physical + done) | BigInt(Pte.VALID | permissions), true);
    }
    this.#set(Control.TLB_INVALIDATE, 1 << VMID);
  }

  /** Mapped memory; the next addresses stay unmapped. */
  alloc(bytes: number, permissions: number = READ_WRITE, va = this.#nextVa): { va: bigint; physical: number } {
    const physical = this.physical(bytes);
    if (va === this.#nextVa) this.#nextVa += BigInt(Math.ceil(bytes / 65_536) * 65_536 + 65_536);
    this.map(va, physical, bytes, permissions);
    return { va, physical };
  }

  /** Uploads code, followed by s_code_end padding; 256-byte aligned. */
  code(words: Uint32Array): bigint {
    const { va, physical } = this.alloc(words.length * 4 + 256, Pte.READABLE | Pte.EXECUTABLE);
    this.words.set(words, physical / 4);
    this.words.fill(0xbf9f0000, physical / 4 + words.length, physical / 4 + words.length + 64);
    return va;
  }

  u32(physical: number, count: number): Uint32Array {
    return this.words.subarray(physical / 4, physical / 4 + count);
  }

  f32(physical: number, count: number): Float32Array {
    return new Float32Array(this.words.buffer, physical, count);
  }

  /** The packets that set up and launch a dispatch. */
  packets(launch: Launch): number[] {
    const [x, y, z] = launch.groups ?? [1, 1, 1];
    const [tx, ty, tz] = launch.threads ?? [32, 1, 1];
    const user = launch.user ?? [];
    const ids = launch.ids ?? [false, false, false];
    const vgprs = launch.vgprs ?? 64;
    const wgpMode = launch.wgpMode ? 1 << 29 : 0;
    const rsrc1 = (Math.ceil(vgprs / 8) - 1) | ((launch.floatMode ?? 0xf0) << 12) | (1 << 21) | wgpMode | (1 << 30);
    const scratch = launch.scratchBytes ?? 0;
    const rsrc2 =
      (scratch > 0 ? 1 : 0) |
      (user.length << 1) |
      (ids[0] ? 1 << 7 : 0) |
      (ids[1] ? 1 << 8 : 0) |
      (ids[2] ? 1 << 9 : 0) |
      (launch.tgSize ? 1 << 10 : 0) |
      ((launch.threadIds ?? 0) << 11) |
      (Math.ceil((launch.ldsBytes ?? 0) / 512) << 15);
    const set = (offset: number, values: readonly number[]) =>
      encodePacket("SET_SH_REG", { offset: (offset - 0xb000) / 4 }, values);
    return [
      ...set(shRegisters.COMPUTE_PGM_LO.offset, [
        Number((launch.code >> 8n) & 0xffff_ffffn),
        Number(launch.code >> 40n) & 0xff,
      ]),
      ...set(shRegisters.COMPUTE_PGM_RSRC1.offset, launch.rsrc ?? [rsrc1 >>> 0, rsrc2 >>> 0]),
      ...set(shRegisters.COMPUTE_TMPRING_SIZE.offset, [scratch > 0 ? 32 | ((scratch / 1024) << 12) : 0]),
      ...set(shRegisters.COMPUTE_NUM_THREAD_X.offset, [tx, ty, tz]),
      ...(user.length > 0
        ? set(
            COMPUTE_USER_DATA_0,
            user.map((value) => value >>> 0),
          )
        : []),
      ...encodePacket("DISPATCH_DIRECT", {
        groupsX: x,
        groupsY: y,
        groupsZ: z,
        computeShaderEn: 1,
        forceStartAt000: 1,
        csW32En: 1,
      }),
    ];
  }

  /** Puts an indirect buffer and its fence into the ring, without running anything. */
  submit(packets: readonly number[]): void {
    this.u32(this.#ib.physical, packets.length).set(packets);
    this.#sequence++;
    this.ring([
      ...encodePacket("INDIRECT_BUFFER", { address: this.#ib.va, sizeDwords: packets.length, valid: 1, vmid: VMID }),
      ...encodePacket("RELEASE_MEM", {
        eventType: 0x14,
        eventIndex: 5,
        intSel: 2,
        dataSel: 2,
        address: BigInt(this.#fence),
        data: BigInt(this.#sequence),
        contextId: 77,
      }),
    ]);
  }

  /** Writes raw packets to a queue's ring and moves its write pointer. */
  ring(packets: readonly number[], queue = QUEUE): void {
    const ring = this.#rings.get(queue)!;
    for (const word of packets) this.words[ring.at / 4 + (ring.wptr++ % RING_DWORDS)] = word;
    this.#set(queueWord(queue, Queue.WPTR), ring.wptr);
  }

  /** Puts an indirect buffer of its own into a queue's ring, with nothing after it. */
  ib(packets: readonly number[], queue: number): void {
    const { va, physical } = this.alloc(packets.length * 4);
    this.u32(physical, packets.length).set(packets);
    this.ring(
      encodePacket("INDIRECT_BUFFER", { address: va, sizeDwords: packets.length, valid: 1, vmid: VMID }),
      queue,
    );
  }

  /** Runs until idle; the fault record if the queue halted. */
  drain(turns = 1_000_000): FaultReport | undefined {
    while (this.engine.run(1_000_000)) if (turns-- <= 0) throw new Error("still running");
    return this.fault();
  }

  fault(): FaultReport | undefined {
    const at = PhysicalMap.FAULTS + QUEUE * Fault.SLOT_BYTES;
    const word = (offset: number) => this.#view.getUint32(at + offset, true);
    if (word(Fault.KIND) === 0) return undefined;
    const long = (offset: number) => this.#view.getBigUint64(at + offset, true);
    return {
      name: faultKinds.find((row) => row.kind === word(Fault.KIND))?.name ?? "?",
      pc: long(Fault.PC_LO),
      address: long(Fault.ADDRESS_LO),
      packet: long(Fault.PACKET_LO),
      header: word(Fault.PACKET_HEADER),
      detail: [word(Fault.DETAIL_0), word(Fault.DETAIL_1)],
      lane: word(Fault.LANE),
      access: word(Fault.ACCESS),
    };
  }

  /** A reset as the kernel asks for it. */
  reset(): void {
    this.setQueue(Queue.RESET_REQUEST, this.queue(Queue.RESET_REQUEST) + 1);
    this.engine.run(1);
    this.#rings.get(QUEUE)!.wptr = this.queue(Queue.WPTR);
  }

  /** Launches and runs to the end; a fault leaves the queue reset. Undefined: the fence has signalled. */
  run(launch: Launch): FaultReport | undefined {
    this.submit(this.packets(launch));
    const fault = this.drain();
    if (fault !== undefined) this.reset();
    else if (this.words[this.#fence / 4] !== this.#sequence) throw new Error("no fault, yet no fence");
    return fault;
  }

  /** Instructions executed on all queues. */
  instructions(): number {
    let sum = 0;
    for (const queue of this.#rings.keys()) sum += this.control(queueWord(queue, Queue.INSTRUCTIONS_LO));
    return sum;
  }

  /** Sources of the interrupts in the ring, all of them, and forgets them. */
  interrupts(): { source: number; queue: number; data: number }[] {
    const out: { source: number; queue: number; data: number }[] = [];
    const wptr = this.control(Control.INTERRUPT_WPTR);
    for (let n = this.control(Control.INTERRUPT_RPTR); n !== wptr; n++) {
      const at = (PhysicalMap.INTERRUPTS + (n % Interrupt.ENTRIES) * Interrupt.ENTRY_BYTES) / 4;
      out.push({ source: this.words[at]!, queue: this.words[at + 1]!, data: this.words[at + 3]! });
    }
    this.setControl(Control.INTERRUPT_RPTR, wptr);
    return out;
  }
}

export function low(va: bigint): number {
  return Number(va & 0xffff_ffffn);
}

export function high(va: bigint): number {
  return Number((va >> 32n) & 0xffff_ffffn);
}
