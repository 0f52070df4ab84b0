import { formatFacts } from "../../../src/codeobj/index.ts";
import type { IrShader } from "../../../src/ir/index.ts";
import { bitsOf, f32 } from "../../math/exact.ts";
import { exactMeaning } from "./meaning.ts";
import { type Memory, tableOf } from "./memory.ts";
import { Wave } from "./wave.ts";

/** What a lane exported: words by target; compressed ones are still two halves a word. Components that are off: undefined. */
export interface Exported {
  readonly words: readonly (number | undefined)[];
  readonly isCompressed: boolean;
  readonly isDone: boolean;
}
/** By lane, by target. */
export type Exports = ReadonlyMap<number, ReadonlyMap<number, Exported>>;

/** A primitive over pixels: four lanes a quad, in the order of the quad. */
export interface FragmentRun {
  readonly pixels: readonly {
    readonly x: number;
    readonly y: number;
    readonly z?: number;
    /** 1 / w of the clip space. */
    readonly inverseW?: number;
    /** i and j at the centre; `linear`: without perspective. */
    readonly bary?: readonly [number, number];
    readonly linear?: readonly [number, number];
    readonly centroid?: readonly [number, number];
    readonly isHelper?: boolean;
  }[];
  /** By location: the components at the three vertices; numbers are f32, bigints words. The first vertex provokes. */
  readonly attributes?: Readonly<Record<number, readonly (readonly (number | bigint)[])[]>>;
  readonly isFrontFacing?: boolean;
  readonly layer?: number;
  readonly sampleId?: number;
  readonly coverage?: number;
  readonly buffer?: Uint8Array;
  readonly push?: Uint32Array;
}

export interface VertexRun {
  /** Numbers of vertices and instances, without their bases. */
  readonly vertices: readonly (readonly [vertex: number, instance: number])[];
  readonly baseVertex?: number;
  readonly firstInstance?: number;
  readonly drawIndex?: number;
  /** By binding: its bytes and stride. */
  readonly bindings?: Readonly<Record<number, { readonly bytes: Uint8Array; readonly strideBytes: number }>>;
  /** Names of the formats that the pipeline has. */
  readonly formats?: readonly string[];
  readonly push?: Uint32Array;
  readonly buffer?: Uint8Array;
}

const word = (x: number | bigint): number => (typeof x === "bigint" ? Number(BigInt.asUintN(32, x)) : bitsOf(x));
const fma = (a: number, b: number, c: number): number => exactMeaning.ffma!(a, b, c);

function memoryOf(buffer: Uint8Array | undefined, push: Uint32Array | undefined, shader: IrShader): Memory {
  return {
    buffer: () => buffer,
    push: new Uint8Array((push ?? new Uint32Array(4)).buffer),
    shared: new Uint8Array(0),
    table: tableOf(shader),
    scratch: Array.from({ length: 32 }, () => new Uint8Array(shader.scratchBytes)),
  };
}

class ExportLog {
  readonly lanes = new Map<number, Map<number, Exported>>();

  readonly add = (lane: number, target: number, bits: number, given: readonly number[]): void => {
    const isCompressed = (bits & 16) !== 0;
    let next = 0;
    const words = isCompressed
      ? [given[0], given[1]]
      : [0, 1, 2, 3].map((k) => ((bits >>> k) & 1 ? given[next++]! >>> 0 : undefined));
    const targets = this.lanes.get(lane) ?? new Map<number, Exported>();
    this.lanes.set(lane, targets);
    if (targets.has(target)) throw new Error(`lane ${lane} exports to ${target} twice`);
    targets.set(target, { words, isCompressed, isDone: (bits & 32) !== 0 });
  };
}

function finish(run: Generator<"barrier", void>): void {
  if (run.next().done !== true) throw new Error("a barrier in a graphics stage");
}

export function runFragment(shader: IrShader, run: FragmentRun): Exports {
  const log = new ExportLog();
  const pixels = run.pixels;
  const at = (location: number, component: number, vertex: number): number =>
    word(run.attributes?.[location]?.[vertex]?.[component] ?? 0);
  let helpers = 0;
  for (const [l, { isHelper }] of pixels.entries()) if (isHelper === true) helpers |= 1 << l;
  const wave = new Wave(shader, {
    memory: memoryOf(run.buffer, run.push, shader),
    lanes: pixels.length === 32 ? -1 : (1 << pixels.length) - 1,
    helpers,
    exported: log.add,
    // A picture that shows where it was asked, and which it is.
    sample: (binding, [x = 0, y = 0]) => [x, y, bitsOf(binding), bitsOf(1)],
    // The points P1 - P0 and P2 - P0 are what the parameter cache holds. Source: RDNA2 ISA, "Parameter Interpolation".
    interpolate(location, component, i, j) {
      const [p0, p1, p2] = [0, 1, 2].map((vertex) => f32(at(location, component, vertex)));
      return fma(j, bitsOf(p2! - p0!), fma(i, bitsOf(p1! - p0!), bitsOf(p0!)) >>> 0);
    },
    system(op, imm, lane) {
      const p = pixels[lane]!;
      const component = imm("component");
      switch (op) {
        case "load_bary": {
          const kind = imm("index");
          const given = kind >= 4 ? p.linear : kind === 2 ? p.centroid : p.bary;
          if (given === undefined) throw new Error(`no i and j of kind ${kind}`);
          return bitsOf(given[component]!);
        }
        case "interp_flat":
          return at(imm("index"), component, 0);
        case "load_frag_coord":
          return bitsOf([p.x + 0.5, p.y + 0.5, p.z ?? 0, 1 / (p.inverseW ?? 1)][component]!);
        case "load_front_face":
          return run.isFrontFacing === false ? 0 : 1;
        case "load_ancillary":
          return ((run.layer ?? 0) << 16) | ((run.sampleId ?? 0) << 8);
        case "load_sample_coverage":
          return run.coverage ?? 1;
        default:
          throw new Error(`${op} in a fragment shader`);
      }
    },
  });
  finish(wave.run());
  return log.lanes;
}

/** Widths of a format's components in the order of its bits, as its name has them, and the letters. */
function layoutOf(name: string): {
  readonly letters: string;
  readonly widths: readonly number[];
  readonly kind: string;
} {
  const [body = "", kind = ""] = name.split("_");
  const fields = [...body.matchAll(/([RGBA])(\d+)/g)];
  // Packed names begin at the highest bits, others at the lowest byte.
  if (name.endsWith("_PACK32")) fields.reverse();
  return { letters: fields.map((m) => m[1]).join(""), widths: fields.map((m) => Number(m[2])), kind };
}

function converted(bits: number, width: number, kind: string): number {
  const signed = width === 32 ? bits | 0 : (bits << (32 - width)) >> (32 - width);
  switch (kind) {
    case "UNORM":
      return bitsOf(bits / (2 ** width - 1));
    case "SNORM":
      return bitsOf(Math.max(signed / (2 ** (width - 1) - 1), -1));
    case "USCALED":
      return bitsOf(bits);
    case "SSCALED":
      return bitsOf(signed);
    case "SINT":
      return signed;
    case "SFLOAT":
      return width === 32 ? bits : exactMeaning.f162f!(bits, 0, 0);
    default:
      return bits;
  }
}

/** Words of an element as a typed load gives them: in the order of the bits, whatever the letters are. */
function fetched(name: string, bytes: Uint8Array, at: number): number[] {
  const { widths, kind } = layoutOf(name);
  let total = 0n;
  const size = widths.reduce((a, b) => a + b, 0) / 8;
  for (let k = size - 1; k >= 0; k--) total = (total << 8n) | BigInt(bytes[at + k] ?? 0);
  return widths.map((width) => {
    const bits = Number(total & ((1n << BigInt(width)) - 1n));
    total >>= BigInt(width);
    return converted(bits, width, kind);
  });
}

export function runVertex(shader: IrShader, run: VertexRun): Exports {
  const log = new ExportLog();
  const byNumber = new Map((run.formats ?? []).map((name) => [formatFacts(name)!.bufferFormat, name]));
  const wave = new Wave(shader, {
    memory: memoryOf(run.buffer, run.push, shader),
    lanes: run.vertices.length === 32 ? -1 : (1 << run.vertices.length) - 1,
    exported: log.add,
    fetchVertex(element, imm, components) {
      const { bytes, strideBytes } = run.bindings![imm("binding")]!;
      const words = fetched(byNumber.get(imm("bits"))!, bytes, element * strideBytes + imm("base"));
      return Array.from({ length: components }, (_, k) => words[k] ?? 0);
    },
    system(op, imm, lane) {
      const [vertex, instance] = run.vertices[lane]!;
      if (op === "load_vertex_id") return vertex;
      if (op === "load_instance_id") return instance;
      if (op === "load_draw") return [run.baseVertex, run.drawIndex, run.firstInstance][imm("component")] ?? 0;
      throw new Error(`${op} in a vertex shader`);
    },
  });
  finish(wave.run());
  return log.lanes;
}

/** Components of a target as f32 numbers; those of compressed ones as the halves they are. */
export function floatsOf({ words, isCompressed }: Exported): (number | undefined)[] {
  const half = (x: number): number => f32(exactMeaning.f162f!(x & 0xffff, 0, 0) >>> 0);
  if (!isCompressed) return words.map((x) => (x === undefined ? undefined : f32(x)));
  return words.flatMap((x) => (x === undefined ? [] : [half(x), half(x >>> 16)]));
}
