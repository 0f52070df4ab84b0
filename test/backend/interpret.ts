import { type ImmName, type IrInstr, type IrNode, type IrShader, opRows } from "../../src/ir/index.ts";

/**
 * Runs an IR shader one invocation at a time, from the prose of src/ir/ops.ts: no barriers. The
 * second opinion on what selection, control flow and allocation made of the same IR.
 */
export interface Invocation {
  readonly localId: readonly [number, number, number];
  readonly workgroupId: readonly [number, number, number];
  /** Push constants, dwords. */
  readonly push: Uint32Array;
  /** Buffers by binding of set 0. */
  readonly buffers: readonly Uint32Array[];
  /** Workgroup memory. */
  readonly shared?: Uint32Array;
  /** The invocation's own memory. */
  readonly scratch?: Uint32Array;
}

const rowOf = new Map(opRows.map((row) => [row.name, row]));

type Signal = "break" | "continue" | "end" | undefined;

const scratch = new DataView(new ArrayBuffer(8));
const f = (bits: number): number => {
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
};
const u = (x: number): number => {
  if (Number.isNaN(x)) return 0x7fc00000;
  scratch.setFloat32(0, x);
  return scratch.getUint32(0);
};
const clz = (x: number): number => (x === 0 ? 0xffffffff : Math.clz32(x));
const reverse = (x: number): number => {
  let r = 0;
  for (let k = 0; k < 32; k++) if ((x >>> k) & 1) r |= 1 << (31 - k);
  return r >>> 0;
};
const popcount = (x: number): number => {
  let n = 0;
  for (let k = 0; k < 32; k++) n += (x >>> k) & 1;
  return n;
};

/** Result bits of an arithmetic op, or undefined where the interpreter has none. */
function arithmetic(op: string, [a = 0, b = 0, c = 0]: readonly number[], width: number): number | undefined {
  switch (op) {
    case "iadd":
      return a + b;
    case "isub":
      return a - b;
    case "imul":
      return Math.imul(a, b);
    case "umul_hi":
      return Number((BigInt(a) * BigInt(b)) >> 32n);
    case "imul_hi":
      return Number(BigInt.asIntN(32, (BigInt(a | 0) * BigInt(b | 0)) >> 32n));
    case "ineg":
      return -a;
    case "iabs":
      return (a | 0) < 0 ? -a : a;
    case "iand":
      return a & b;
    case "ior":
      return a | b;
    case "ixor":
      return a ^ b;
    case "inot":
      return width === 1 ? a ^ 1 : ~a;
    case "ishl":
      return a << (b & 31);
    case "ishr":
      return (a | 0) >> (b & 31);
    case "ushr":
      return a >>> (b & 31);
    case "imin":
      return Math.min(a | 0, b | 0);
    case "imax":
      return Math.max(a | 0, b | 0);
    case "umin":
      return Math.min(a, b);
    case "umax":
      return Math.max(a, b);
    case "ubfe":
      return (a >>> (b & 31)) & ((1 << (c & 31)) - 1);
    case "ibfe":
      return (c & 31) === 0 ? 0 : ((a >>> (b & 31)) << (32 - (c & 31))) >> (32 - (c & 31));
    case "bfm":
      return ((1 << (a & 31)) - 1) << (b & 31);
    case "bfi":
      return (a & b) | (~a & c);
    case "bitrev":
      return reverse(a);
    case "bitcount":
      return popcount(a);
    case "find_lsb":
      return a === 0 ? -1 : 31 - Math.clz32(a & -a);
    case "uffbh":
      return clz(a);
    case "iffbh":
      return clz((a | 0) < 0 ? ~a >>> 0 : a);
    case "ieq":
      return Number(a === b);
    case "ine":
      return Number(a !== b);
    case "ilt":
      return Number((a | 0) < (b | 0));
    case "ige":
      return Number((a | 0) >= (b | 0));
    case "ult":
      return Number(a < b);
    case "uge":
      return Number(a >= b);
    case "feq":
      return Number(f(a) === f(b));
    case "fneu":
      return Number(f(a) !== f(b));
    case "flt":
      return Number(f(a) < f(b));
    case "fge":
      return Number(f(a) >= f(b));
    case "fadd":
      return u(f(a) + f(b));
    case "fsub":
      return u(f(a) - f(b));
    case "fmul":
      return u(f(a) * f(b));
    case "fneg":
      return a ^ 0x80000000;
    case "fabs":
      return a & 0x7fffffff;
    case "fsat":
      return f(a) > 0 ? u(Math.min(f(a), 1)) : 0;
    case "ffloor":
      return u(Math.floor(f(a)));
    case "fceil":
      return u(Math.ceil(f(a)));
    case "ftrunc":
      return u(Math.trunc(f(a)));
    case "u2f":
      return u(a);
    case "i2f":
      return u(a | 0);
    case "f2i":
      return Number.isNaN(f(a)) ? 0 : Math.max(-0x80000000, Math.min(0x7fffffff, Math.trunc(f(a))));
    case "f2u":
      return Number.isNaN(f(a)) ? 0 : Math.max(0, Math.min(0xffffffff, Math.trunc(f(a))));
    case "b2i":
      return a;
    case "b2f":
      return a === 0 ? 0 : 0x3f800000;
    case "select":
      return a !== 0 ? b : c;
    default:
      return undefined;
  }
}

class Runner {
  private readonly values: (readonly number[])[] = [];
  /** Value number of each instruction with a result, in program order. */
  private readonly numbers = new Map<IrInstr, number>();
  private readonly blockNumbers = new Map<IrNode, number>();
  private from = -1;
  private steps = 0;
  private readonly shader: IrShader;
  private readonly at: Invocation;

  constructor(shader: IrShader, at: Invocation) {
    this.shader = shader;
    this.at = at;
    this.number(shader.body);
  }

  private number(list: readonly IrNode[]): void {
    for (const node of list) {
      if (node.kind === "block") {
        this.blockNumbers.set(node, this.blockNumbers.size);
        for (const i of node.instrs) if (i.width !== 0) this.numbers.set(i, this.numbers.size);
      } else if (node.kind === "if") {
        this.number(node.thenNodes);
        this.number(node.elseNodes);
      } else {
        this.number(node.body);
        this.number(node.cont);
      }
    }
  }

  private value(id: number): readonly number[] {
    return this.values[id] ?? [0];
  }

  private buffer(i: IrInstr): Uint32Array {
    return this.at.buffers[i.imms[1] ?? 0] ?? new Uint32Array(0);
  }

  private execute(i: IrInstr): void {
    const row = rowOf.get(i.op);
    if (row === undefined) throw new Error(`no op ${i.op}`);
    const imm = (name: ImmName): number => i.imms[row.imms.indexOf(name)] ?? 0;
    const s = i.srcs.map((id) => this.value(id));
    const set = (v: readonly number[]): void => {
      const id = this.numbers.get(i);
      if (id !== undefined) this.values[id] = v.map((x) => (i.width === 1 ? x & 1 : x >>> 0));
    };
    const first = (k: number): number => s[k]?.[0] ?? 0;
    switch (i.op) {
      case "const":
        set([imm("value")]);
        return;
      case "undef":
        set([0]);
        return;
      case "vec":
        set(s.map((v) => v[0] ?? 0));
        return;
      case "extract":
        set([s[0]?.[imm("index")] ?? 0]);
        return;
      case "load_push":
        set(Array.from({ length: i.components }, (_, k) => this.at.push[(imm("base") + first(0)) / 4 + k] ?? 0));
        return;
      case "load_local_id":
        set([this.at.localId[imm("component")] ?? 0]);
        return;
      case "load_workgroup_id":
        set([this.at.workgroupId[imm("component")] ?? 0]);
        return;
      case "load_ssbo":
      case "load_ubo":
        set(Array.from({ length: i.components }, (_, k) => this.buffer(i)[(imm("base") + first(0)) / 4 + k] ?? 0));
        return;
      case "load_scratch":
        set(Array.from({ length: i.components }, (_, k) => this.at.scratch?.[(imm("base") + first(0)) / 4 + k] ?? 0));
        return;
      case "store_scratch":
        for (const [k, x] of (s[0] ?? []).entries())
          this.at.scratch?.fill(x, (imm("base") + first(1)) / 4 + k, (imm("base") + first(1)) / 4 + k + 1);
        return;
      case "load_shared":
        set(Array.from({ length: i.components }, (_, k) => this.at.shared?.[(imm("base") + first(0)) / 4 + k] ?? 0));
        return;
      case "store_shared":
        for (const [k, x] of (s[0] ?? []).entries())
          this.at.shared?.fill(x, (imm("base") + first(1)) / 4 + k, (imm("base") + first(1)) / 4 + k + 1);
        return;
      case "store_ssbo":
        for (const [k, x] of (s[0] ?? []).entries()) {
          const word = (imm("base") + first(1)) / 4 + k;
          const buffer = this.buffer(i);
          if (word < buffer.length) buffer[word] = x;
        }
        return;
      default: {
        const r = arithmetic(
          i.op,
          s.map((v) => v[0] ?? 0),
          i.width,
        );
        if (r === undefined) throw new Error(`the interpreter has no ${i.op}`);
        set([r]);
      }
    }
  }

  private block(node: IrNode & { kind: "block" }): Signal {
    if (++this.steps > 1_000_000) throw new Error("too many steps");
    const edge = node.preds.indexOf(this.from);
    const phis = node.instrs.filter((i) => i.op === "phi");
    const read = phis.map((i) => this.value(i.srcs[edge] ?? -1));
    for (const [k, i] of phis.entries()) this.values[this.numbers.get(i) ?? -1] = read[k] ?? [0];
    for (const i of node.instrs) {
      if (i.op === "phi") continue;
      if (i.op === "break" || i.op === "continue" || i.op === "end") {
        this.from = this.blockNumbers.get(node) ?? -1;
        return i.op;
      }
      this.execute(i);
    }
    this.from = this.blockNumbers.get(node) ?? -1;
    return undefined;
  }

  private list(nodes: readonly IrNode[]): Signal {
    for (const node of nodes) {
      let signal: Signal;
      if (node.kind === "block") signal = this.block(node);
      else if (node.kind === "if") signal = this.list(this.value(node.condition)[0] ? node.thenNodes : node.elseNodes);
      else signal = this.loop(node);
      if (signal !== undefined) return signal;
    }
    return undefined;
  }

  private loop(node: IrNode & { kind: "loop" }): Signal {
    for (;;) {
      const inBody = this.list(node.body);
      if (inBody === "break") return undefined;
      if (inBody === "end") return "end";
      const inCont = this.list(node.cont);
      if (inCont === "break") return undefined;
      if (inCont === "end") return "end";
    }
  }

  run(): void {
    this.list(this.shader.body);
  }
}

export function runInvocation(shader: IrShader, at: Invocation): void {
  new Runner(shader, at).run();
}
