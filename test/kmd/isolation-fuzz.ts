import { assemble } from "../../src/isa/index.ts";
import { createKmd, type Kmd } from "../../src/kmd/index.ts";
import {
  COMPUTE_USER_DATA_0,
  ContextState,
  Domain,
  encodePacket,
  encodeSdma,
  PacketValue,
  PhysicalMap,
  QueueKind,
  RegisterSpace,
  SdmaValue,
  type SharedBo,
  shRegisters,
  VaFlag,
} from "../../src/uapi/index.ts";
import { EnginePort } from "./engine-port.ts";
import { FakeClock } from "./fake-gpu.ts";
import { Process } from "./process.ts";

const PAGE = 4096;
const RW = VaFlag.READ | VaFlag.WRITE;
/** Few addresses and few pages, so that maps, unmaps, frees and accesses meet. All processes use the same. */
const SLOTS = 24;
const BASE = 0x40_0000n;
const SPARSE = 0x80_0000n;
const IB = 0x10_0000n;
const CODE = 0x20_0000n;
const RESULT = 0x30_0000n;
const MAX_BOS = 12;
/** Everything that writes or is copied covers whole lines, so that a look at each line finds it. */
const LINE_WORDS = 16;

export type Random = (n: number) => number;

/** Seeded whole numbers below `n`. */
export function generator(seed: number): Random {
  let state = (Math.imul(seed, 0x9e37_79b1) ^ 0x5bd1_e995) >>> 0;
  return (n) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** s[0:1] the address to attack, s[2:3] the result; the loaded lines are stored there. v0 is the lane. */
const programs = [
  `v_lshlrev_b32_e32 v1, 2, v0
   v_mov_b32_e32 v2, s1
   v_add_co_u32 v4, vcc_lo, s0, v1
   v_add_co_ci_u32_e32 v5, vcc_lo, 0, v2, vcc_lo
   global_load_dword v6, v[4:5], off
   s_waitcnt vmcnt(0)
   global_store_dword v1, v6, s[2:3]
   s_endpgm`,
  `s_load_dwordx16 s[16:31], s[0:1], 0x0
   s_waitcnt lgkmcnt(0)
   v_mov_b32_e32 v6, s16
   v_lshlrev_b32_e32 v1, 2, v0
   global_store_dword v1, v6, s[2:3]
   s_endpgm`,
  `v_lshlrev_b32_e32 v1, 2, v0
   v_mov_b32_e32 v6, s4
   global_store_dword v1, v6, s[0:1]
   s_endpgm`,
  `v_lshlrev_b32_e32 v1, 2, v0
   v_mov_b32_e32 v6, s4
   global_atomic_swap v7, v1, v6, s[0:1] glc
   s_waitcnt vmcnt(0)
   global_store_dword v1, v7, s[2:3]
   s_endpgm`,
  `s_mov_b32 s8, s0
   s_and_b32 s9, s1, 0xffff
   s_mov_b32 s10, -1
   s_mov_b32 s11, 0x31016fac
   v_lshlrev_b32_e32 v1, 2, v0
   buffer_load_dword v6, v1, s[8:11], 0 offen
   s_waitcnt vmcnt(0)
   global_store_dword v1, v6, s[2:3]
   s_endpgm`,
].map((text) => {
  const assembly = assemble(text);
  if (!assembly.ok) throw new Error(JSON.stringify(assembly.mistakes));
  return assembly.words;
});

function setRegisters(offset: number, values: readonly number[]): number[] {
  return encodePacket("SET_SH_REG", { offset: (offset - RegisterSpace.SH) / 4 }, values);
}

const low = (va: bigint): number => Number(BigInt.asUintN(32, va));
const high = (va: bigint): number => Number(BigInt.asUintN(64, va) >> 32n);

/** Secrets that a process keeps in its memory, and marks that it writes elsewhere, by group. */
const secrets: readonly number[] = [0x5ec7_e701, 0x5ec7_e702];
const marks: readonly number[] = [0xbadb_ad01, 0xbadb_ad02];
/** The group that a word gives away. */
const groups = new Map([...secrets.entries(), ...marks.entries()].map(([group, word]) => [word, group]));
const marked: ReadonlySet<number> = new Set(marks);

/** A process that does anything, right or wrong, and tries to read and write everything. */
class Rogue {
  readonly process: Process;
  readonly id: number;
  readonly group: number;
  readonly #kmd: Kmd;
  readonly #ib: ReturnType<Process["buffer"]>;
  readonly #own: readonly number[];
  readonly #contexts: [number, number];
  /** Handles given out and not closed, with their sizes. */
  readonly live = new Map<number, number>();
  readonly #heaps: bigint[] = [];

  constructor(kmd: Kmd, id: number, group: number) {
    this.#kmd = kmd;
    this.id = id;
    this.group = group;
    this.process = new Process(kmd, `rogue ${id}`);
    this.#ib = this.process.buffer(IB, PAGE, RW, Domain.GTT);
    const code = this.process.buffer(CODE, PAGE, VaFlag.READ | VaFlag.EXECUTE);
    for (const [i, words] of programs.entries()) code.words.set(words, i * 64);
    const result = this.process.buffer(RESULT, PAGE);
    this.live.set(result.handle, PAGE);
    this.#own = [this.#ib.handle, code.handle, result.handle];
    this.#contexts = [this.process.context(), this.process.context()];
  }

  /** Jobs of it on the hardware. */
  get running(): number {
    return this.#kmd.usage().find(({ fd }) => fd === this.process.fd)?.runningJobs ?? 0;
  }

  /** Submits until a job is on the hardware, in its middle; false where none comes to stay. */
  busy(random: Random, victims: readonly number[], gpu: EnginePort): boolean {
    for (let i = 0; i < 8; i++) {
      this.#attack(random, victims);
      gpu.nudge(1 + random(4));
      if (this.running > 0) return true;
    }
    return false;
  }

  /** Submits to both kinds of queue, most likely; the GPU does not come to run any of it yet. */
  submit(random: Random, victims: readonly number[]): void {
    for (let i = 0; i < 4; i++) this.#attack(random, victims);
  }

  /** Takes away what the GPU may have translations of: throws where memory comes free while a job runs that could use it. */
  #taking(what: string, action: () => unknown): void {
    const before = freeBytes(this.#kmd);
    const running = this.running;
    action();
    const after = freeBytes(this.#kmd);
    if (running > 0 && after > before) {
      throw new Error(`${what} of process ${this.id} gives back ${after - before} bytes while its job runs`);
    }
  }

  #handle(random: Random): number {
    const own = [...this.live.keys()];
    return random(6) === 0 || own.length === 0 ? random(40) : (own[random(own.length)] ?? 0);
  }

  /** Where an attack goes: common addresses, physical places as addresses, the kernel's, and nonsense. */
  #target(random: Random, victims: readonly number[]): bigint {
    const line = BigInt(random(PAGE / 64) * 64);
    switch (random(8)) {
      case 0:
        return BigInt(victims[random(victims.length)] ?? PhysicalMap.VRAM) + line;
      case 1:
        return BigInt(PhysicalMap.CONTROL + random(0x200) * 64);
      case 2:
        return 0xffff_8000_0000_0000n + BigInt(random(64) * PAGE) + line;
      case 3:
        return SPARSE + BigInt(random(16) * PAGE) + line;
      case 4:
        return random(2) ? 0x1234_5678_0000_0000n + line : BigInt(random(2 ** 31)) * 64n;
      default:
        return BASE + BigInt(random(SLOTS) * PAGE) + line;
    }
  }

  #packets(random: Random, target: bigint): { readonly words: readonly number[]; readonly kind: number } {
    const result = RESULT + BigInt(random(64) * 64);
    const mark = marks[this.group] ?? 0;
    switch (random(9)) {
      case 0: {
        const data = new Array(LINE_WORDS).fill(mark);
        const words = encodePacket("WRITE_DATA", { dstSel: PacketValue.DST_MEMORY, address: target }, data);
        return { words, kind: QueueKind.COMPUTE };
      }
      case 1: {
        const sel = { srcSel: PacketValue.DMA_L2, dstSel: PacketValue.DMA_L2, cpSync: 1 };
        const words = encodePacket("DMA_DATA", { ...sel, src: target, dst: result, byteCount: 64 });
        return { words, kind: QueueKind.COMPUTE };
      }
      case 2: {
        const sel = { srcSel: PacketValue.DMA_DATA, dstSel: PacketValue.DMA_L2, cpSync: 1 };
        const words = encodePacket("DMA_DATA", { ...sel, src: BigInt(mark), dst: target, byteCount: 64 });
        return { words, kind: QueueKind.COMPUTE };
      }
      case 3:
        return {
          words: encodeSdma("COPY_LINEAR", { count: 64 * (1 + random(100)) - 1, src: target, dst: RESULT }),
          kind: QueueKind.SDMA,
        };
      case 4: {
        const fill = { fillSize: SdmaValue.FILL_DWORDS, dst: target, data: mark, count: 64 * (1 + random(100)) - 1 };
        return { words: encodeSdma("CONST_FILL", fill), kind: QueueKind.SDMA };
      }
      default: {
        const program = random(programs.length);
        const code = (CODE + BigInt(program * 256)) >> 8n;
        // RSRC1: 2 blocks of 8 VGPRs; RSRC2: 5 user SGPRs.
        const words = [
          ...setRegisters(shRegisters.COMPUTE_START_X.offset, [0, 0, 0, 32, 1, 1]),
          ...setRegisters(shRegisters.COMPUTE_PGM_LO.offset, [low(code), high(code)]),
          ...setRegisters(shRegisters.COMPUTE_PGM_RSRC1.offset, [0x600f_0001, 5 << 1]),
          ...setRegisters(COMPUTE_USER_DATA_0, [low(target), high(target), low(RESULT), high(RESULT), mark]),
          ...encodePacket("DISPATCH_DIRECT", {
            groupsX: 1,
            groupsY: 1,
            groupsZ: 1,
            computeShaderEn: 1,
            forceStartAt000: 1,
            csW32En: 1,
          }),
        ];
        return { words, kind: QueueKind.COMPUTE };
      }
    }
  }

  /** One ioctl. `victims` are physical places of others' memory. */
  step(random: Random, victims: readonly number[], shared: SharedBo[], gpu: EnginePort): void {
    const p = this.process;
    const va = BASE + BigInt(random(SLOTS) * PAGE) + (random(20) === 0 ? 8n : 0n);
    const sparse = SPARSE + BigInt(random(16) * PAGE);
    const size = BigInt(PAGE * (1 + random(3)));
    const boOffset = BigInt(PAGE * (random(4) === 0 ? 1 : 0));
    switch (random(16)) {
      case 0:
      case 1: {
        if (this.live.size >= MAX_BOS) return;
        const { result, out } = p.call("GEM_CREATE", { size, domain: random(2) ? Domain.VRAM : Domain.GTT });
        if (result === 0) this.#keep(out.handle, Number(size), true);
        return;
      }
      case 2: {
        const handle = this.#handle(random);
        if (this.#own.includes(handle)) return;
        const { mappings, holders } = p.call("GEM_INFO", { handle }).out;
        const close = () => {
          if (p.call("GEM_CLOSE", { handle }).result === 0) this.live.delete(handle);
        };
        // What nobody has mapped may go at once.
        if (mappings > 0 && holders === 1) this.#taking("GEM_CLOSE", close);
        else close();
        return;
      }
      case 3:
      case 4:
      case 5:
        p.call("VA_MAP", { handle: this.#handle(random), flags: random(8), va, boOffset, size });
        return;
      case 6:
        this.#taking("VA_UNMAP", () =>
          p.call("VA_UNMAP", { va: random(4) === 0 ? SPARSE : va, size: random(4) === 0 ? 0x1_0000n : size }),
        );
        return;
      case 7:
        p.call("VA_MAP", { flags: VaFlag.PRT, va: random(3) === 0 ? sparse : SPARSE, size: 0x1_0000n });
        p.call("SPARSE_BIND", { handle: this.#handle(random), flags: random(8), va: sparse, boOffset, size });
        return;
      case 8: {
        if (this.live.size >= MAX_BOS) return;
        const handle = this.#handle(random);
        const { result, out } = p.call("GEM_CLONE", { handle });
        if (result === 0) this.#keep(out.clone, Number(p.call("GEM_INFO", { handle: out.clone }).out.size), false);
        return;
      }
      case 9: {
        if (this.#heaps.length > 3) {
          this.#kmd.freeHeap(p.fd, this.#heaps.shift() ?? 0n);
          return;
        }
        const block = this.#kmd.allocateHeap(p.fd, Number(size));
        if (typeof block === "number") return;
        new Uint32Array(block.view.buffer, block.view.byteOffset, block.view.length / 4).fill(secrets[this.group] ?? 0);
        this.#heaps.push(block.address);
        const { result, out } = p.call("GEM_USERPTR", { address: block.address, size: BigInt(PAGE) });
        if (result === 0) this.#keep(out.handle, PAGE, false);
        return;
      }
      case 10: {
        // Only within a group: what is passed on purpose may be read.
        const passed = shared[random(shared.length)];
        if (random(2) === 0 || passed === undefined) {
          const made = this.#kmd.exportBo(p.fd, this.#handle(random));
          if (typeof made !== "number") shared.push(made);
          if (shared.length > 4) shared.shift();
          return;
        }
        const handle = this.#kmd.importBo(p.fd, passed);
        if (handle > 0) this.#keep(handle, Number(p.call("GEM_INFO", { handle }).out.size), false);
        return;
      }
      case 11:
        if (random(4) === 0) gpu.drain();
        else gpu.nudge(1 + random(6));
        return;
      case 12:
        this.#attack(random, victims);
        gpu.nudge(1 + random(8));
        return;
      default:
        this.#attack(random, victims);
    }
  }

  #keep(handle: number, bytes: number, fill: boolean): void {
    this.live.set(handle, bytes);
    if (fill) this.#words(handle, bytes).fill(secrets[this.group] ?? 0);
  }

  #attack(random: Random, victims: readonly number[]): void {
    const p = this.process;
    const { words, kind } = this.#packets(random, this.#target(random, victims));
    const which = kind === QueueKind.SDMA ? 1 : 0;
    const context = this.#contexts[which];
    if (p.call("CTX_QUERY", { context }).out.state !== ContextState.GOOD) {
      if (p.call("CTX_DESTROY", { context }).result === 0) this.#contexts[which] = p.context();
      return;
    }
    const slot = random(8) * 128;
    this.#ib.words.set(words, slot);
    const listed = random(2) ? [...this.live.keys()].slice(0, 1 + random(4)) : [];
    const input = {
      context: this.#contexts[which],
      queueKind: kind,
      ibVa: IB + BigInt(slot * 4),
      ibDwords: words.length,
    };
    p.call("SUBMIT", input, [...new Set([...this.#own, ...listed])]);
  }

  #words(handle: number, bytes: number): Uint32Array {
    const { offset } = this.process.call("GEM_MMAP", { handle }).out;
    const view = this.#kmd.mmap(this.process.fd, offset, bytes);
    if (typeof view === "number") throw new Error(`mmap: ${view}`);
    this.#kmd.munmap(this.process.fd, offset);
    return new Uint32Array(view.buffer, view.byteOffset, bytes / 4);
  }

  /** Memory of its BOs as its CPU sees it. */
  memory(): Uint32Array[] {
    return [...this.live].map(([handle, bytes]) => this.#words(handle, bytes));
  }
}

/** Memory that anybody could be given now, of both domains. */
function freeBytes(kmd: Kmd): number {
  const { vramFreeBytes, gttFreeBytes } = kmd.memory();
  return vramFreeBytes + gttFreeBytes;
}

/**
 * A process goes with a job on the hardware, and another starts at once: until the job is off, nothing that it could reach
 * is given back, and its address space stays under its VMID.
 */
function replace(kmd: Kmd, gpu: EnginePort, old: Rogue, make: () => Rogue, start: (rogue: Rogue) => void): Rogue {
  const running = old.running > 0;
  const before = freeBytes(kmd);
  kmd.close(old.process.fd);
  if (running && freeBytes(kmd) > before)
    throw new Error(`close of process ${old.id} gives memory back while its job runs`);
  const spaces = gpu.spaces();
  const rogue = make();
  start(rogue);
  for (const [i, [vmid, root]] of gpu.spaces().entries()) {
    if (root !== spaces[i]?.[1]) throw new Error(`VMID ${vmid} gets another address space, a job runs under it`);
  }
  return rogue;
}

/** What a run did: the numbers show that the attacks were real. */
export interface IsolationReport {
  readonly sequences: number;
  /** Lines seen that a process had written or read through the GPU in its own memory. */
  readonly marks: number;
  readonly faults: number;
  readonly submits: number;
  /** Processes that went with a job on the hardware. */
  readonly closedBusy: number;
}

/**
 * Seeded sequences of ioctls by processes that attack each other, two of which share memory on purpose; after each, all
 * memory of every process is looked at. Throws where a process has what another group's process wrote or kept secret, and
 * where memory is left over at the end. `sequenceSteps` ioctls a sequence.
 */
export function isolationRun(
  seed: number,
  sequences: number,
  onProgress: (done: number) => void = () => {},
): IsolationReport {
  const gpu = new EnginePort(0x0600_0000);
  const kmd = createKmd({ gpu, clock: new FakeClock(), computeQueues: 2, seed });
  const random = generator(seed);
  let nextId = 1;
  const make = (group: number) => new Rogue(kmd, nextId++, group);
  const rogues = [make(0), make(0), make(1)];
  const shared: SharedBo[][] = [[], []];
  let seen = 0;
  let [faults, submits, closedBusy] = [0, 0, 0];
  let victims: number[] = [];
  for (let sequence = 1; sequence <= sequences; sequence++) {
    for (let step = 0; step < 16; step++) {
      const rogue = rogues[random(rogues.length)] as Rogue;
      rogue.step(random, victims, shared[rogue.group] as SharedBo[], gpu);
    }
    gpu.drain();
    victims = [];
    for (const rogue of rogues) {
      for (const words of rogue.memory()) {
        victims.push(words.byteOffset);
        for (let at = 0; at < words.length; at += LINE_WORDS) {
          const word = words[at] as number;
          const group = groups.get(word);
          if (group === undefined) continue;
          if (group !== rogue.group) {
            throw new Error(
              `seed ${seed}, sequence ${sequence}: ${word.toString(16)} of group ${group} in memory of process ${rogue.id}`,
            );
          }
          if (marked.has(word)) seen++;
        }
      }
    }
    if (random(40) === 0) {
      // A process goes, in the middle of whatever it does, and another takes its memory.
      const at = random(rogues.length);
      const old = rogues[at] as Rogue;
      const usage = kmd.usage().find(({ fd }) => fd === old.process.fd);
      faults += usage?.faults ?? 0;
      submits += usage?.submits ?? 0;
      if (old.busy(random, victims, gpu)) closedBusy++;
      const start = (rogue: Rogue) => rogue.submit(random, victims);
      rogues[at] = replace(kmd, gpu, old, () => make(old.group), start);
    }
    if (sequence % 1000 === 0) onProgress(sequence);
  }
  for (const { faults: f, submits: s } of kmd.usage()) {
    faults += f;
    submits += s;
  }
  for (const rogue of rogues) kmd.close(rogue.process.fd);
  gpu.drain();
  const { out } = new Process(kmd, "probe").call("QUERY_INFO", {});
  // The probe's root table; ring and fence pages of two compute queues and of the copy engine.
  const left = [out.vramBytes - out.vramFreeBytes - 4096n, out.gttBytes - out.gttFreeBytes - 6n * 4096n];
  if (left.some((bytes) => bytes !== 0n))
    throw new Error(`seed ${seed}: left over at the end: ${left.join(" and ")} bytes`);
  return { sequences, marks: seen, faults, submits, closedBusy };
}
