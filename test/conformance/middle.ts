/** What the IR interpreter makes of a shader: of all three stages, images and addresses included. */
import type { EntryPoint } from "../../src/codeobj/index.ts";
import { type IrShader, parseIr } from "../../src/ir/index.ts";
import { runDispatch } from "../ir/interpreter/dispatch.ts";
import { Images, mixed } from "../ir/interpreter/images.ts";
import { exactMeaning } from "../ir/interpreter/meaning.ts";
import { type Memory, NotCovered, tableOf } from "../ir/interpreter/memory.ts";
import { Endless, Wave } from "../ir/interpreter/wave.ts";
import { bitsOf, f32, noise } from "../math/exact.ts";
import { type Fill, type Start, TEXEL_BYTES } from "./aco-run.ts";

export type Triple = readonly [number, number, number];
export interface Grid {
  readonly groups: Triple;
  readonly threads: Triple;
}

/** What a shader leaves: its buffers, the texels it changed, its exports; and whether only exact operations made it. */
export interface Middle {
  readonly buffers: readonly Uint32Array[];
  readonly images: readonly [string, readonly number[]][];
  readonly exports: readonly [string, readonly number[]][];
  readonly isExact: boolean;
}

/** Blocks that the waves of a run may enter, all together. */
const MAX_STEPS = 40_000;

/** Buffers and push constants for a shader that no machine runs; as KernelRun fills them. */
export function startOf({ reflection }: EntryPoint, fill: Fill): Start {
  const next = noise(0x2545f491);
  const value = (): number => (fill === "floats" ? bitsOf(0.25 + (next() / 2 ** 32) * 3.75) : next() & 15);
  const buffers = reflection.sets.flatMap(({ set, bindings }) =>
    bindings.flatMap(({ binding, count }) =>
      Array.from({ length: count }, (_, element) => {
        const resource = reflection.resources.find((r) => r.set === set && r.binding === binding);
        const needed = (resource?.blockSizeBytes ?? 0) + 64 * (resource?.runtimeArrayStrideBytes ?? 0);
        const bytes = Math.max(1024, Math.ceil(needed / 16) * 16);
        return { set, binding, element, words: Uint32Array.from({ length: bytes / 4 }, value) };
      }),
    ),
  );
  const pushWords = Math.ceil(Math.max(4, reflection.pushConstantBytes) / 4);
  return { buffers, push: Uint32Array.from({ length: pushWords }, () => next() & 7) };
}

/** The shader's own tables, and what it starts with, as the interpreter's memory. */
function memoryOf(shader: IrShader, start: Start, images: Images): Memory & { words: Uint32Array[] } {
  const words = start.buffers.map((buffer) => buffer.words.slice());
  const bytes = words.map((each) => new Uint8Array(each.buffer));
  const indices = new Map(start.buffers.map(({ set, binding, element }, k) => [`${set} ${binding} ${element}`, k]));
  const { arena } = start;
  const last = bytes.at(-1);
  return {
    words,
    buffer: (set, binding, element) => bytes[indices.get(`${set} ${binding} ${element}`) ?? -1],
    ...(arena !== undefined && {
      at(address: bigint) {
        const offset = address - arena;
        if (offset < 0n || offset >= BigInt(last!.length)) throw new NotCovered("an address outside the arena");
        return last!.subarray(Number(offset));
      },
    }),
    push: new Uint8Array(start.push.slice().buffer),
    table: tableOf(shader),
    shared: new Uint8Array(0),
    scratch: Array.from({ length: 32 }, () => new Uint8Array(shader.scratchBytes)),
    texelBytes: TEXEL_BYTES,
    images,
  };
}

/** Values of the ops that read what a graphics stage is given: small, other in each lane, their kinds as hardware gives them. */
function system(op: string, component: number, index: number, lane: number): number {
  switch (op) {
    case "load_bary":
      return bitsOf([((lane & 7) + index) / 16, (lane >> 3) / 8][component]!);
    case "interp_flat":
      return bitsOf((mixed([index, component]) & 15) / 4);
    case "load_frag_coord":
      return bitsOf([(lane & 1) + 2 * (lane >> 2) + 0.5, ((lane >> 1) & 1) + 0.5, (lane & 7) / 8, 1][component]!);
    case "load_front_face":
      return (lane >> 2) & 1;
    case "load_ancillary":
      return (2 << 16) | ((lane & 3) << 8);
    case "load_sample_coverage":
      return (lane & 3) + 1;
    case "load_vertex_id":
      return lane;
    case "load_instance_id":
      return lane >> 3;
    default:
      // load_draw and what a compute shader has
      return [3, 1, 2][component] ?? 0;
  }
}

function runGraphics(shader: IrShader, memory: Memory, fill: Fill): Pick<Middle, "exports" | "isExact"> {
  const exports = new Map<string, readonly number[]>();
  const fma = exactMeaning.ffma!;
  const wave = new Wave(
    shader,
    {
      memory,
      lanes: -1,
      // The last quad has one pixel of the primitive.
      helpers: shader.stage === "fragment" ? 0xe000_0000 | 0 : 0,
      system: (op, imm, lane) =>
        system(op, imm("component"), op === "load_bary" || op === "interp_flat" ? imm("index") : 0, lane),
      interpolate(location, component, i, j) {
        const at = (vertex: number): number => (mixed([location, component, vertex]) & 31) / 8 - 1;
        const [p0, p1, p2] = [at(0), at(1), at(2)];
        return fma(j, bitsOf(p2 - p0), fma(i, bitsOf(p1 - p0), bitsOf(p0)) >>> 0);
      },
      fetchVertex: (element, imm, components) =>
        Array.from({ length: components }, (_, k) => {
          const word = mixed([element, imm("binding"), imm("base"), imm("bits"), k]);
          return fill === "floats" ? bitsOf((word & 255) / 64 - 1) : word & 15;
        }),
      exported(lane, target, bits, words) {
        const key = `lane ${lane} target ${target}`;
        if (exports.has(key)) throw new Error(`${key}: exported twice`);
        exports.set(key, [bits, ...words.map((word) => word >>> 0)]);
      },
    },
    { left: MAX_STEPS },
  );
  if (wave.run().next().done !== true) throw new NotCovered("a barrier in a graphics stage");
  return { exports: [...exports].sort(([a], [b]) => (a < b ? -1 : 1)), isExact: wave.isExact };
}

/** Runs IR; a string says why it can't be run. */
export function interpret(ir: string, start: Start, fill: Fill, { groups, threads }: Grid): Middle | string {
  const shader = { ...parseIr(ir), local: threads };
  const images = new Images((seed) => (fill === "floats" ? bitsOf(0.25 + (seed & 255) / 64) : seed & 15));
  try {
    const { words, ...memory } = memoryOf(shader, start, images);
    const done =
      shader.stage === "compute"
        ? { exports: [], ...runDispatch(shader, { groups, ...memory, maxSteps: MAX_STEPS }) }
        : runGraphics(shader, memory, fill);
    return { buffers: words, images: images.changed(), ...done };
  } catch (error) {
    if (error instanceof Endless) return `over ${MAX_STEPS} blocks entered`;
    if (error instanceof NotCovered) return error.message;
    throw error;
  }
}

/** Largest relative error that a chain of approximated operations is allowed here: each of them has about 2^-20. */
const TOLERANCE = 2 ** -10;

function isNear(a: number, b: number): boolean {
  if (Math.abs((a | 0) - (b | 0)) <= 1) return true;
  const [x, y] = [f32(a), f32(b)];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) && Number.isNaN(y);
  return Math.abs(x - y) <= TOLERANCE * Math.max(Math.abs(x), Math.abs(y), 1);
}

/** Two results are the same bits, near each other, or not. */
export interface Distance {
  readonly kind: "same" | "near" | "far";
  readonly where: string;
}

export function distance(
  a: Pick<Middle, "buffers"> & Partial<Middle>,
  b: Pick<Middle, "buffers"> & Partial<Middle>,
): Distance {
  let found: Distance = { kind: "same", where: "" };
  const compare = (name: string, x: ArrayLike<number>, y: ArrayLike<number>): void => {
    for (let k = 0; k < Math.max(x.length, y.length); k++) {
      if (x[k] === y[k] || found.kind === "far") continue;
      const both = x[k] !== undefined && y[k] !== undefined;
      const where = `${name} word ${k}: ${x[k]?.toString(16)} and ${y[k]?.toString(16)}`;
      const kind = both && isNear(x[k]!, y[k]!) ? "near" : "far";
      if (kind === "far" || found.kind === "same") found = { kind, where };
    }
  };
  for (const [k, words] of a.buffers.entries()) compare(`buffer ${k}`, words, b.buffers[k] ?? []);
  for (const part of ["images", "exports"] as const) {
    const [x, y] = [new Map(a[part] ?? []), new Map(b[part] ?? [])];
    for (const key of new Set([...x.keys(), ...y.keys()]))
      compare(`${part} ${key}`, x.get(key) ?? [], y.get(key) ?? []);
  }
  return found;
}
