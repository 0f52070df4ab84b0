import { type ImmName, type IrInstr, type IrNode, type IrShader, instrFlags, opRows } from "../../../src/ir/index.ts";
import { boundedMeaning, exactMeaning, wideMeaning } from "./meaning.ts";
import { accessOp, type Memory, NotCovered } from "./memory.ts";

/**
 * Runs a wave of an IR shader, all lanes in step, from the prose of src/ir/ops.ts: control flow by masks of lanes, as the
 * tree says where they meet again. Knows nothing of how code is made.
 */
export interface Launch {
  readonly memory: Memory;
  /** Bit l: lane l starts. */
  readonly lanes: number;
  /** Of those the lanes that help and write nothing. */
  readonly helpers?: number;
  /** Value of an op that reads what the stage is given: `load_local_id`, `load_bary`, `interp_flat`, … */
  system(op: string, imm: (name: ImmName) => number, lane: number): number;
  /** Attribute at i, j. */
  interpolate?(location: number, component: number, i: number, j: number, lane: number): number;
  fetchVertex?(element: number, imm: (name: ImmName) => number, components: number): readonly number[];
  /** Components of a filtered texel: the binding of the image, the words behind image and sampler. */
  sample?(binding: number, address: readonly number[]): readonly number[];
  /** What a lane exports that is no helper. */
  exported?(lane: number, target: number, bits: number, words: readonly number[]): void;
}

/** Blocks that the waves of a run may still enter, all together. */
export interface Steps {
  left: number;
}

/** Too many steps. */
export class Endless extends Error {}

const LANES = 32;
const rowOf = new Map(opRows.map((row) => [row.name, row]));
const reduceOps = "iadd imul imin imax umin umax iand ior ixor fadd fmul fmin fmax".split(" ");
const systemOps = new Set(
  (
    "load_local_id load_workgroup_id load_num_workgroups load_bary interp_flat load_frag_coord load_front_face " +
    "load_ancillary load_sample_coverage load_vertex_id load_instance_id load_draw"
  ).split(" "),
);

/** Any value for a divisor of 0 and where the quotient does not fit. */
const divisions = new Set(["udiv", "umod", "idiv", "irem", "imod"]);

/** Which source of an access names the element of the descriptor array, or its address. */
const elementSource: ReadonlyMap<string, number> = new Map([
  ["load_ubo", 1],
  ["load_ssbo", 1],
  ["store_ssbo", 2],
  ["ssbo_atomic", 2],
  ["ssbo_atomic_cmpswap", 3],
  ["ssbo_size", 0],
  ["descriptor_address", 0],
  ["load_texel", 1],
  ["store_texel", 2],
  ["texel_atomic", 1],
  ["texel_count", 0],
]);

/** As words, are they the same in all lanes whatever the lanes say? An address of memory is each lane's own. */
function isElement(i: IrInstr, source: number, { components }: Values): boolean {
  if (hasFlag(i, "nonuniform")) return false;
  if (i.op.startsWith("image_")) return source < 2;
  return elementSource.get(i.op) === source && components === 1;
}

type Step = (mask: number) => void;

interface Values {
  readonly components: number;
  readonly words: Uint32Array;
}

interface Loop {
  broken: number;
  continued: number;
}

interface Compiled {
  readonly number: number;
  readonly phis: readonly { readonly to: Values; readonly from: readonly Values[] }[];
  readonly steps: readonly Step[];
  readonly preds: readonly number[];
  /** Index in `steps` before which the workgroup meets. */
  readonly barriers: readonly number[];
  readonly jump: string | undefined;
}

export class Wave {
  /** Whether all that ran gives bits: no approximation, no division by 0, no sum of floats in an order of the machine's. */
  isExact = true;
  readonly #launch: Launch;
  readonly #values: Values[] = [];
  readonly #vars: Uint32Array[];
  readonly #blocks = new Map<IrNode, Compiled>();
  /** Block that each lane came from. */
  readonly #from = new Int32Array(LANES).fill(-1);
  #helpers: number;
  readonly #steps: Steps;

  constructor(shader: IrShader, launch: Launch, steps: Steps = { left: 100_000 }) {
    this.#launch = launch;
    this.#helpers = launch.helpers ?? 0;
    this.#steps = steps;
    this.#vars = shader.vars.map(() => new Uint32Array(LANES));
    const results = new Map<IrInstr, Values>();
    forEachBlock(shader.body, ({ instrs }) => {
      for (const i of instrs) {
        if (i.width === 0) continue;
        const made = { components: i.components, words: new Uint32Array(LANES * i.components) };
        results.set(i, made);
        this.#values.push(made);
      }
    });
    forEachBlock(shader.body, (block) => {
      const phis = block.instrs.filter(({ op }) => op === "phi");
      const rest = block.instrs.filter(({ op }) => op !== "phi");
      const last = rest.at(-1)?.op;
      const jump = last === "break" || last === "continue" || last === "end" ? last : undefined;
      if (jump !== undefined) rest.pop();
      this.#blocks.set(block, {
        number: this.#blocks.size,
        phis: phis.map((i) => ({ to: results.get(i)!, from: i.srcs.map((id) => this.#values[id]!) })),
        steps: rest.map((i) => this.#compile(i, results.get(i))),
        preds: block.preds,
        barriers: rest.flatMap(({ op }, k) => (op === "barrier" ? [k] : [])),
        jump,
      });
    });
    this.#body = shader.body;
  }
  readonly #body: readonly IrNode[];

  /** Runs to the end; yields where the workgroup has to meet. */
  *run(): Generator<"barrier", void> {
    yield* this.#list(this.#body, this.#launch.lanes, undefined);
  }

  *#list(nodes: readonly IrNode[], mask: number, loop: Loop | undefined): Generator<"barrier", number> {
    let active = mask;
    for (const node of nodes) {
      if (active === 0) return 0;
      if (node.kind === "block") {
        const block = this.#blocks.get(node)!;
        if (block.barriers.length > 0) yield* this.#blockWithBarriers(block, active);
        else this.#block(block, active);
        if (block.jump === undefined) continue;
        if (block.jump === "break") loop!.broken |= active;
        else if (block.jump === "continue") loop!.continued |= active;
        active = 0;
      } else if (node.kind === "if") {
        const condition = this.#values[node.condition]!.words;
        let yes = 0;
        for (let l = 0; l < LANES; l++) if ((active >>> l) & 1 && condition[l]! & 1) yes |= 1 << l;
        const then = yes === 0 ? 0 : yield* this.#list(node.thenNodes, yes, loop);
        const other = active & ~yes;
        active = then | (other === 0 ? 0 : yield* this.#list(node.elseNodes, other, loop));
      } else {
        const inner: Loop = { broken: 0, continued: 0 };
        while (active !== 0) {
          inner.continued = 0;
          const fell = yield* this.#list(node.body, active, inner);
          const round = fell | inner.continued;
          active = round === 0 ? 0 : yield* this.#list(node.cont, round, inner);
        }
        active = inner.broken;
      }
    }
    return active;
  }

  #enter(block: Compiled, mask: number): void {
    if (--this.#steps.left < 0) throw new Endless("too many steps");
    if (block.phis.length > 0) {
      const read = block.phis.map(({ to, from }) => {
        const words = new Uint32Array(to.words);
        for (let l = 0; l < LANES; l++) {
          if (((mask >>> l) & 1) === 0) continue;
          const source = from[block.preds.indexOf(this.#from[l]!)]!;
          for (let k = 0; k < to.components; k++) words[l * to.components + k] = source.words[l * to.components + k]!;
        }
        return words;
      });
      for (const [k, { to }] of block.phis.entries()) to.words.set(read[k]!);
    }
  }

  #leave(block: Compiled, mask: number): void {
    for (let l = 0; l < LANES; l++) if ((mask >>> l) & 1) this.#from[l] = block.number;
  }

  #block(block: Compiled, mask: number): void {
    this.#enter(block, mask);
    for (const step of block.steps) step(mask);
    this.#leave(block, mask);
  }

  *#blockWithBarriers(block: Compiled, mask: number): Generator<"barrier", void> {
    this.#enter(block, mask);
    for (const [k, step] of block.steps.entries()) {
      if (block.barriers.includes(k)) yield "barrier";
      step(mask);
    }
    this.#leave(block, mask);
  }

  /** A step that gives each lane one word. */
  #scalar(to: Values, i: IrInstr, of: (lane: number) => number): Step {
    const { words, components } = to;
    const keep = i.width === 1 ? 1 : -1;
    return (mask) => {
      for (let l = 0; l < LANES; l++) if ((mask >>> l) & 1) words[l * components] = of(l) & keep;
    };
  }

  #compile(i: IrInstr, to: Values | undefined): Step {
    const row = rowOf.get(i.op);
    if (row === undefined) throw new NotCovered(`no op ${i.op}`);
    const imm = (name: ImmName): number => i.imms[row.imms.indexOf(name)] ?? 0;
    const sources = i.srcs.map((id) => this.#values[id]!);
    const [a, b, c] = sources;
    const word = (of: Values | undefined, l: number, k = 0): number => of?.words[l * of.components + k] ?? 0;
    const all = (of: Values, l: number): number[] =>
      Array.from(of.words.subarray(l * of.components, (l + 1) * of.components));
    const meaning = exactMeaning[i.op] ?? boundedMeaning[i.op];
    if (meaning !== undefined) {
      if (divisions.has(i.op)) {
        return this.#scalar(to!, i, (l) => {
          const [x, y] = [word(a, l), word(b, l)];
          if (y === 0 || (x === 0x80000000 && y === 0xffffffff && i.op !== "udiv" && i.op !== "umod"))
            this.isExact = false;
          return meaning(x, y, 0);
        });
      }
      const step = this.#scalar(to!, i, (l) => meaning(word(a, l), word(b, l), word(c, l)));
      return i.op in exactMeaning ? step : this.#inexact(step);
    }
    const wide = wideMeaning[i.op];
    if (wide !== undefined) {
      return (mask) => {
        for (let l = 0; l < LANES; l++) {
          if ((mask >>> l) & 1) to!.words.set(toWords(wide(...sources.map((s) => all(s, l)))), l * to!.components);
        }
      };
    }
    if (systemOps.has(i.op)) return this.#scalar(to!, i, (l) => this.#launch.system(i.op, imm, l));
    const access = accessOp(i, imm, this.#launch.memory);
    if (access !== undefined) {
      // Without `nonuniform` an element is the same in all lanes, or any of theirs is as good.
      const isShared = sources.map((s, k) => isElement(i, k, s));
      return (mask) => {
        const first = 31 - Math.clz32(mask & -mask);
        for (let l = 0; l < LANES; l++) {
          if (((mask >>> l) & 1) === 0) continue;
          // Helpers read, and write nothing.
          const isHelper = ((this.#helpers >>> l) & 1) === 1;
          const given = access(
            l,
            sources.map((s, k) => all(s, isShared[k] ? first : l)),
            isHelper,
          );
          if (to !== undefined) to.words.set(toWords(given.slice(0, to.components)), l * to.components);
        }
      };
    }
    switch (i.op) {
      case "const":
        to!.words.fill(imm("value"));
        return () => undefined;
      case "undef":
        return () => undefined;
      case "vec":
        return (mask) => {
          for (let l = 0; l < LANES; l++) {
            if (((mask >>> l) & 1) === 0) continue;
            for (const [k, s] of sources.entries()) to!.words[l * to!.components + k] = word(s, l);
          }
        };
      case "extract":
        return this.#scalar(to!, i, (l) => word(a, l, imm("index")));
      case "load_var": {
        const variable = this.#vars[imm("var")]!;
        return this.#scalar(to!, i, (l) => variable[l]!);
      }
      case "store_var": {
        const variable = this.#vars[imm("var")]!;
        return (mask) => {
          for (let l = 0; l < LANES; l++) if ((mask >>> l) & 1) variable[l] = word(a, l);
        };
      }
      case "barrier":
      case "memory_barrier":
        return () => undefined;
      case "load_lane_id":
        return this.#scalar(to!, i, (l) => l);
      case "load_helper":
        return this.#scalar(to!, i, (l) => (this.#helpers >>> l) & 1);
      case "demote":
        return (mask) => {
          for (let l = 0; l < LANES; l++) {
            if ((mask >>> l) & 1 && (a === undefined || word(a, l) & 1)) this.#helpers |= 1 << l;
          }
        };
      case "ballot":
        return (mask) => {
          let r = 0;
          for (let l = 0; l < LANES; l++) if ((mask >>> l) & 1 && word(a, l) & 1) r |= 1 << l;
          to!.words.fill(r);
        };
      case "read_first_lane":
        return (mask) => void to!.words.fill(word(a, 31 - Math.clz32(mask & -mask)));
      case "read_lane":
        return this.#scalar(to!, i, (l) => word(a, word(b, l) & 31));
      case "shuffle":
        return this.#gather(to!, (l) => word(a, word(b, l) & 31));
      case "lane_xor":
        return this.#gather(to!, (l) => word(a, l ^ imm("index")));
      case "quad_perm":
        return this.#gather(to!, (l) => word(a, (l & ~3) | ((imm("index") >>> (2 * (l & 3))) & 3)));
      case "wave_reduce":
      case "wave_scan":
        return this.#across(i, to!, a!, imm);
      case "interp":
        return this.#scalar(to!, i, (l) => {
          const at = this.#launch.interpolate;
          if (at === undefined) throw new NotCovered("interp");
          return at(imm("index"), imm("component"), word(a, l), word(b, l), l);
        });
      case "load_vertex":
        return (mask) => {
          const fetch = this.#launch.fetchVertex;
          if (fetch === undefined) throw new NotCovered("load_vertex");
          for (let l = 0; l < LANES; l++) {
            if ((mask >>> l) & 1) to!.words.set(toWords(fetch(word(a, l), imm, to!.components)), l * to!.components);
          }
        };
      case "image_sample":
      case "image_sample_quad":
        return (mask) => {
          const sample = this.#launch.sample;
          if (sample === undefined) throw new NotCovered(i.op);
          for (let l = 0; l < LANES; l++) {
            if (((mask >>> l) & 1) === 0) continue;
            const address = sources.slice(2).map((s) => word(s, l));
            const texel = sample(imm("binding") & 0xffff, address);
            const wanted = texel.filter((_, k) => (imm("index") >>> (3 + k)) & 1);
            to!.words.set(toWords(wanted.slice(0, to!.components)), l * to!.components);
          }
        };
      case "export":
        return (mask) => {
          for (let l = 0; l < LANES; l++) {
            if (((mask & ~this.#helpers) >>> l) & 1)
              this.#launch.exported?.(
                l,
                imm("index"),
                imm("bits"),
                sources.map((s) => word(s, l)),
              );
          }
        };
      default:
        throw new NotCovered(`the interpreter has no ${i.op}`);
    }
  }

  #inexact(step: Step): Step {
    return (mask) => {
      this.isExact = false;
      step(mask);
    };
  }

  /** A step whose lanes read others: all of them read before any is written. */
  #gather(to: Values, of: (lane: number) => number): Step {
    return (mask) => {
      const read = Array.from({ length: LANES }, (_, l) => of(l));
      for (let l = 0; l < LANES; l++) if ((mask >>> l) & 1) to.words[l] = read[l]!;
    };
  }

  #across(i: IrInstr, to: Values, a: Values, imm: (name: ImmName) => number): Step {
    const name = reduceOps[imm("index")]!;
    const combine = exactMeaning[name]!;
    const size = i.op === "wave_reduce" ? LANES : imm("bits") < 2 ? LANES : imm("bits");
    const step: Step = (mask) => {
      const read = Uint32Array.from({ length: LANES }, (_, l) => a.words[l]!);
      for (let l = 0; l < LANES; l++) {
        if (((mask >>> l) & 1) === 0) continue;
        const first = l - (l % size);
        // A scan goes up to the lane itself (0) or to the one before it (1); a cluster and a reduction over all of theirs.
        const isScan = i.op === "wave_scan" && imm("bits") < 2;
        const end = isScan ? l + 1 - imm("bits") : first + size;
        let r: number | undefined;
        for (let k = first; k < end; k++) {
          if ((mask >>> k) & 1) r = r === undefined ? read[k]! : combine(r, read[k]!, 0) >>> 0;
        }
        to.words[l] = r ?? identityOf(name);
      }
    };
    return name === "fadd" || name === "fmul" ? this.#inexact(step) : step;
  }
}

function identityOf(name: string): number {
  switch (name) {
    case "imul":
      return 1;
    case "imin":
      return 0x7fffffff;
    case "imax":
      return 0x80000000;
    case "umin":
    case "iand":
      return 0xffffffff;
    case "fmul":
      return 0x3f800000;
    case "fadd":
      return 0x80000000;
    case "fmin":
      return 0x7f800000;
    case "fmax":
      return 0xff800000;
    default:
      return 0;
  }
}

function toWords(numbers: readonly number[]): number[] {
  return numbers.map((x) => x >>> 0);
}

/** Whether an instruction has a flag. */
function hasFlag(i: IrInstr, flag: (typeof instrFlags)[number]): boolean {
  return ((i.flags >>> instrFlags.indexOf(flag)) & 1) === 1;
}

function forEachBlock(nodes: readonly IrNode[], visit: (block: IrNode & { kind: "block" }) => void): void {
  for (const node of nodes) {
    if (node.kind === "block") visit(node);
    else if (node.kind === "if") {
      forEachBlock(node.thenNodes, visit);
      forEachBlock(node.elseNodes, visit);
    } else {
      forEachBlock(node.body, visit);
      forEachBlock(node.cont, visit);
    }
  }
}
