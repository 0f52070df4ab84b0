import { type EntryPoint, formatFacts } from "../../src/codeobj/index.ts";
import { high, low, Rig } from "../gpu/rig.ts";
import { noise } from "../math/exact.ts";

/**
 * What buffers hold at the start. Addresses: each aligned pair of words is an address in an arena that holds such pairs, too;
 * the low word is small, so that as an integer it is one.
 */
export type Fill = "small integers" | "floats" | "addresses";

export interface Argument {
  readonly groups: readonly [number, number, number];
  /** Invocations of a workgroup; as the shader says where absent. */
  readonly threads?: readonly [number, number, number];
  /** Dwords of the push constants; noise where absent. */
  readonly push?: readonly number[];
  /** Bytes of each buffer by binding; as the shader's blocks need where absent. */
  readonly sizes?: readonly number[];
  /** What the buffers of set 0 hold, by binding; as the fill says beyond it. */
  readonly contents?: readonly Uint32Array[];
}

/** What a run left in its buffers, or why there is nothing. */
export type RunResult = { readonly buffers: readonly Uint32Array[]; readonly instructions: number } | string;

/** What a run starts with. */
export interface Start {
  readonly buffers: readonly {
    readonly set: number;
    readonly binding: number;
    readonly element: number;
    readonly words: Uint32Array;
  }[];
  readonly push: Uint32Array;
  /** Where the last of the buffers is mapped, where there are addresses: then it is the arena, of no binding. */
  readonly arena?: bigint;
}

const f32 = (x: number) => new Uint32Array(Float32Array.of(x).buffer)[0]!;

/** Launches of the six kernels at sizes that take milliseconds. */
export const kernelCases: Readonly<Record<string, Argument & { fill: Fill }>> = {
  saxpy: { groups: [256, 1, 1], push: [65_536, f32(2.5)], sizes: [262_144, 262_144], fill: "floats" },
  matmul_naive: { groups: [4, 4, 1], push: [64, 0], sizes: [16_384, 16_384, 16_384], fill: "floats" },
  matmul_tiled: { groups: [4, 4, 1], push: [64, 0], sizes: [16_384, 16_384, 16_384], fill: "floats" },
  mandelbrot: { groups: [4, 4, 1], push: [64, 0], sizes: [16_384], fill: "floats" },
  reduce: { groups: [64, 1, 1], push: [65_536, 0], sizes: [262_144, 256], fill: "floats" },
  nbody: { groups: [1, 1, 1], push: [256, f32(0.01)], sizes: [4096, 4096, 4096], fill: "floats" },
};

const WINDOW = 0xffff_8000_0001_0000n;
const PAGE = 4096;
/** Addresses have few bits set in their low words. */
const ARENA = 0x2_0000_0000n;
const ARENA_BYTES = 65_536;
/** Word 3 of the V# of a texel buffer: 4 words a texel as they are, an element is in range whole (docs/abi.md, "Descriptors"). */
const TEXEL_WORD = 0x0100_0fac | (formatFacts("R32G32B32A32_UINT")!.bufferFormat << 12);
export const TEXEL_BYTES = 16;
/** Of COMPUTE_PGM_RSRC2. */
const TG_SIZE_EN = 1 << 10;
/** Runs of a million instructions before a program counts as endless. */
const TURNS = 4;
/** More than the machine keeps under way. */
const MAX_WAVES = 64;
const MEMORY_BYTES = 0x0a00_0000;

/** A machine with a compute shader's buffers, descriptors and push constants, laid out by our code object. */
export class KernelRun {
  readonly #entry: EntryPoint;
  readonly #argument: Argument & { fill: Fill };
  readonly #rig = new Rig({ memoryBytes: MEMORY_BYTES });
  readonly #next: () => number;
  #window = WINDOW;
  #start: Start | undefined;

  /** What the run began with, buffers in the order of the result. */
  get start(): Start {
    if (this.#start === undefined) throw new Error("nothing has run");
    return this.#start;
  }

  constructor(entry: EntryPoint, argument: Argument & { fill: Fill }) {
    this.#entry = entry;
    this.#argument = argument;
    this.#next = noise(0x2545f491);
  }

  #value(index: number): number {
    if (this.#argument.fill === "addresses")
      return index % 2 === 1 ? Number(ARENA >> 32n) : 16 * (Math.floor(this.#next() / 2 ** 16) & 255);
    return this.#argument.fill === "floats" ? f32(0.25 + (this.#next() / 2 ** 32) * 3.75) : this.#next() & 15;
  }

  #inWindow(bytes: number): { va: bigint; physical: number } {
    const at = this.#rig.alloc(bytes, undefined, this.#window);
    this.#window += BigInt(Math.ceil(bytes / PAGE) * PAGE + PAGE);
    return at;
  }

  /** Runs `code` with our user SGPRs; `other`: what it needs where it is not our code. */
  run(code: Uint32Array, other?: { readonly vgprs: number; readonly tgSize: boolean }): RunResult {
    const rig = this.#rig;
    const { reflection, registers } = this.#entry;
    const buffers: Uint32Array[] = [];
    const start: Start["buffers"][number][] = [];
    const sets = new Map<number, bigint>();
    for (const { set, sizeBytes, bindings } of reflection.sets) {
      const table = this.#inWindow(Math.max(16, sizeBytes));
      sets.set(set, table.va);
      for (const binding of bindings) {
        for (let element = 0; element < binding.count; element++) {
          const resource = reflection.resources.find((r) => r.set === set && r.binding === binding.binding);
          const needed = (resource?.blockSizeBytes ?? 0) + 64 * (resource?.runtimeArrayStrideBytes ?? 0);
          const bytes = this.#argument.sizes?.[binding.binding] ?? Math.max(1024, Math.ceil(needed / 16) * 16);
          const buffer = rig.alloc(bytes);
          const words = rig.u32(buffer.physical, bytes / 4);
          for (let i = 0; i < words.length; i++)
            words[i] = this.#argument.contents?.[binding.binding]?.[i] ?? this.#value(i);
          buffers.push(words);
          start.push({ set, binding: binding.binding, element, words: words.slice() });
          const descriptor = binding.type.endsWith("TexelBuffer")
            ? [low(buffer.va), (high(buffer.va) & 0xffff) | (TEXEL_BYTES << 16), bytes / TEXEL_BYTES, TEXEL_WORD]
            : [low(buffer.va), high(buffer.va), bytes, 0x3101_6fac];
          rig.u32(table.physical + binding.offsetBytes + binding.strideBytes * element, 4).set(descriptor);
        }
      }
    }
    const hasArena = this.#argument.fill === "addresses";
    if (hasArena) {
      const { physical } = rig.alloc(ARENA_BYTES, undefined, ARENA);
      const words = rig.u32(physical, ARENA_BYTES / 4);
      for (let i = 0; i < words.length; i++) words[i] = this.#value(i);
      buffers.push(words);
      start.push({ set: -1, binding: 0, element: 0, words: words.slice() });
    }
    const pushBytes = Math.max(4, reflection.pushConstantBytes);
    const push = Uint32Array.from(
      { length: Math.ceil(pushBytes / 4) },
      (_, i) => this.#argument.push?.[i] ?? (hasArena ? this.#value(i) : this.#next() & 7),
    );
    this.#start = { buffers: start, push: push.slice(), ...(hasArena && { arena: ARENA }) };
    const user: number[] = [];
    const waveBytes = Math.ceil((this.#entry.scratchBytes * 32) / 1024) * 1024;
    const scratch = waveBytes === 0 ? 0n : rig.alloc(waveBytes * MAX_WAVES).va;
    for (const data of reflection.userData) {
      const put = (values: readonly number[]) => {
        for (const [i, value] of values.entries()) user[data.sgpr + i] = value;
      };
      if (data.kind === "ringPointer") put([low(scratch), high(scratch)]);
      else if (data.kind === "descriptorSet") put([low(sets.get(data.set ?? 0) ?? 0n)]);
      else if (data.kind === "inlinePushConstants") put((data.offsets ?? []).map((offset) => push[offset / 4] ?? 0));
      else if (data.kind === "workgroupCounts") put(this.#argument.groups);
      else {
        const block = this.#inWindow(push.byteLength);
        rig.u32(block.physical, push.length).set(push);
        put([low(block.va)]);
      }
    }
    const rsrc1 = other === undefined ? registers.rsrc1 : (registers.rsrc1 & ~63) | (Math.ceil(other.vgprs / 8) - 1);
    const rsrc2 = registers.rsrc2 | (other?.tgSize ? TG_SIZE_EN : 0);
    rig.submit(
      rig.packets({
        code: rig.code(code),
        user: Array.from(user, (value) => value ?? 0),
        groups: this.#argument.groups,
        threads: this.#argument.threads ?? reflection.workgroupSize,
        ...(waveBytes > 0 && { scratchBytes: waveBytes }),
        rsrc: [rsrc1 >>> 0, rsrc2 >>> 0],
      }),
    );
    for (let turn = 0; rig.engine.run(1_000_000); turn++) if (turn >= TURNS) return "runs too long";
    const fault = rig.fault();
    if (fault !== undefined) return `${fault.name}`;
    return { buffers: buffers.map((words) => words.slice()), instructions: rig.instructions() };
  }
}
