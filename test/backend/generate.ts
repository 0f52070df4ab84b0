/**
 * Random IR programs: straight lines, ifs, loops with breaks and continues, uniform and divergent. Each ends in a store
 * per invocation of a mix of everything it computed. Memory is each invocation's own, so they may run one by one:
 * binding 0 in, 1 out, 2 eight dwords each; eight dwords of workgroup memory each.
 */
export interface Program {
  readonly text: string;
  readonly size: number;
}

export interface Value {
  readonly name: string;
  readonly div: boolean;
}

/** Small, fast, seeded: mulberry32. */
export function random(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = a;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const binary = ["iadd", "isub", "imul", "iand", "ior", "ixor", "ishl", "ushr", "ishr", "umin", "imax", "umul_hi"];
const unary = ["inot", "ineg", "bitcount", "bitrev", "find_lsb", "iabs"];
const compares = ["ieq", "ine", "ilt", "ige", "ult", "uge"];

export class Generator {
  protected readonly next: () => number;
  private names = 0;
  private blocks = 0;
  protected readonly lines: string[] = [];
  private budget: number;

  constructor(seed: number, budget: number) {
    this.next = random(seed);
    this.budget = budget;
  }

  protected pick<T>(list: readonly T[]): T {
    const item = list[Math.floor(this.next() * list.length)];
    if (item === undefined) throw new Error("empty list");
    return item;
  }
  protected chance(p: number): boolean {
    return this.next() < p;
  }
  protected name(): string {
    return `v${this.names++}`;
  }
  protected block(): string {
    const label = `b${this.blocks++}`;
    this.lines.push(`${label}:`);
    return label;
  }
  protected value(text: string, div: boolean, width = 32): Value {
    const name = this.name();
    this.lines.push(`  %${name}:${width} = ${text}${div ? " div" : ""}`);
    return { name, div };
  }

  private expression(live: readonly Value[]): Value {
    const a = this.pick(live);
    const b = this.pick(live);
    const r = this.next();
    if (r > 0.92) return this.float(live);
    if (r < 0.15) return this.value(`${this.pick(unary)} %${a.name}`, a.div);
    if (r < 0.3) {
      const c = this.condition(live, this.chance(0.5));
      return this.value(`select %${c.name}, %${a.name}, %${b.name}`, a.div || b.div || c.div);
    }
    return this.value(`${this.pick(binary)} %${a.name}, %${b.name}`, a.div || b.div);
  }

  /**
   * A few float operations between small integers and back: everything stays finite and exact enough for f32 rounding
   * to be the only question. With modifiers, clamp, comparisons and fused forms to find.
   */
  protected float(live: readonly Value[]): Value {
    const mask = this.value("const 255", false);
    const half = this.value("const 0x3f000000", false);
    const floats: Value[] = [half];
    for (let k = 0; k < 3; k++) {
      const a = this.pick(live);
      const small = this.value(`iand %${a.name}, %${mask.name}`, a.div);
      floats.push(this.value(`${this.pick(["u2f", "i2f"])} %${small.name}`, a.div));
    }
    for (let k = 0; k < 6; k++) {
      const a = this.pick(floats);
      const b = this.pick(floats);
      const c = this.pick(floats);
      const r = this.next();
      if (r < 0.2) floats.push(this.value(`fneg %${a.name}`, a.div));
      else if (r < 0.35) floats.push(this.value(`fabs %${a.name}`, a.div));
      else if (r < 0.45) floats.push(this.value(`${this.pick(["fsat", "ffloor", "fceil"])} %${a.name}`, a.div));
      else if (r < 0.6) {
        const d = this.value(`${this.pick(["flt", "fge", "feq", "fneu"])} %${a.name}, %${b.name}`, a.div || b.div, 1);
        floats.push(this.value(`select %${d.name}, %${b.name}, %${c.name}`, b.div || c.div || d.div));
      } else {
        floats.push(this.value(`${this.pick(["fadd", "fsub", "fmul"])} %${a.name}, %${b.name}`, a.div || b.div));
      }
    }
    const last = floats.at(-1) ?? half;
    return this.value(`f2i %${last.name}`, last.div);
  }

  protected condition(live: readonly Value[], divergent: boolean): Value {
    const usable = divergent ? live : live.filter((v) => !v.div);
    const a = this.pick(usable);
    const b = this.pick(usable);
    let c = this.value(`${this.pick(compares)} %${a.name}, %${b.name}`, a.div || b.div, 1);
    if (this.chance(0.3)) {
      const other = this.condition(live, divergent);
      c = this.value(`${this.pick(["iand", "ior", "ixor"])} %${c.name}, %${other.name}`, c.div || other.div, 1);
    }
    if (this.chance(0.2)) c = this.value(`inot %${c.name}`, c.div, 1);
    return c;
  }

  protected straight(live: Value[]): void {
    const count = 1 + Math.floor(this.next() * 6);
    for (let k = 0; k < count && this.budget > 0; k++) {
      this.budget--;
      if (this.chance(0.2)) this.memory(live);
      else live.push(this.expression(live));
    }
  }

  /** Reads or writes one of the invocation's own eight dwords, of a buffer or of workgroup memory. */
  protected memory(live: Value[]): void {
    const seven = this.value("const 7", false);
    const two = this.value("const 2", false);
    const five = this.value("const 5", false);
    const buffer = this.chance(0.5);
    const a = this.pick(live);
    const slot = this.value(`iand %${a.name}, %${seven.name}`, a.div);
    const bytes = this.value(`ishl %${slot.name}, %${two.name}`, a.div);
    const base = this.value(`ishl %${buffer ? "index" : "lane"}, %${five.name}`, true);
    const offset = this.value(`iadd %${base.name}, %${bytes.name}`, true);
    const where = buffer ? " set=0 binding=2 base=0" : " base=0";
    const kind = buffer ? "ssbo" : "shared";
    if (this.chance(0.55)) {
      live.push(this.value(`load_${kind} %${offset.name}${where}`, true));
    } else {
      this.lines.push(`  store_${kind} %${this.pick(live).name}, %${offset.name}${where}`);
    }
  }

  /** A list; `live` grows by what is visible behind it. Ends in an open block. */
  protected list(live: Value[], depth: number, divergentDepth: boolean): void {
    this.straight(live);
    const parts = Math.floor(this.next() * 3);
    for (let k = 0; k < parts && depth < 4 && this.budget > 0; k++) {
      if (this.chance(0.5)) this.branch(live, depth, divergentDepth);
      else this.loop(live, depth, divergentDepth);
      this.straight(live);
    }
  }

  protected branch(live: Value[], depth: number, divergentDepth: boolean): void {
    const c = this.condition(live, this.chance(0.6));
    this.lines.push(`  if %${c.name}${c.div ? " div" : ""} {`);
    this.block();
    const then = [...live];
    if (this.chance(0.85)) this.list(then, depth + 1, divergentDepth || c.div);
    this.lines.push("  } else {");
    this.block();
    const other = [...live];
    if (this.chance(0.6)) this.list(other, depth + 1, divergentDepth || c.div);
    this.lines.push("  }");
    this.block();
    for (let k = 0; k < 2; k++) {
      const a = this.pick(then);
      const b = this.pick(other);
      live.push(this.value(`phi %${a.name}, %${b.name}`, a.div || b.div || c.div));
    }
  }

  /**
   * A counted loop of at most 7 rounds with up to two more exits and a continue. Everything carried is divergent when a
   * lane may leave or continue alone; the counter stays uniform unless lanes may continue apart.
   */
  protected loop(live: Value[], depth: number, divergentDepth: boolean): void {
    const zero = this.value("const 0", false);
    const one = this.value("const 1", false);
    const limit = this.value(`const ${1 + Math.floor(this.next() * 7)}`, false);
    const start = [this.pick(live), this.pick(live)];
    const exits = Math.floor(this.next() * 3);
    const plans = Array.from({ length: exits }, () => ({
      div: this.chance(0.6),
      nested: this.chance(0.4),
      jump: this.chance(0.65) ? "break" : "continue",
    }));
    const divergent = plans.some((p) => p.div || p.nested);
    this.lines.push(`  loop${divergent ? " div" : ""} {`);
    this.block();
    const counter = this.name();
    const next = this.name();
    const x = { name: this.name(), div: true };
    const xNext = this.name();
    this.lines.push(`  %${counter}:32 = phi %${zero.name}, %${next}`);
    this.lines.push(`  %${x.name}:32 = phi %${start[0]?.name}, %${xNext} div`);
    const inside: Value[] = [...live, { name: counter, div: false }, x];
    const broken: Value[] = [];
    const continued: Value[] = [];
    const stop = this.value(`uge %${counter}, %${limit.name}`, false, 1);
    this.lines.push(`  if %${stop.name} {`);
    this.block();
    this.lines.push("  break", "  } else {");
    broken.push(x);
    this.block();
    this.lines.push("  }");
    this.block();
    for (const plan of plans) {
      this.list(inside, depth + 1, divergentDepth);
      const outer = plan.nested ? this.divergentCondition(inside) : undefined;
      const visible = [...inside];
      if (outer !== undefined) {
        this.lines.push(`  if %${outer.name} div {`);
        this.block();
        this.straight(visible);
      }
      const c = plan.div ? this.divergentCondition(visible) : this.condition(visible, false);
      this.lines.push(`  if %${c.name}${c.div ? " div" : ""} {`);
      this.block();
      const jumpSide = this.chance(0.7);
      if (!jumpSide) this.lines.push("  } else {") && this.block();
      const leaving = [...visible];
      if (this.chance(0.5)) this.straight(leaving);
      (plan.jump === "break" ? broken : continued).push(this.pick(leaving));
      this.lines.push(`  ${plan.jump}`);
      if (jumpSide) this.lines.push("  } else {") && this.block();
      this.lines.push("  }");
      this.block();
      if (outer !== undefined) {
        this.lines.push("  } else {");
        this.block();
        this.lines.push("  }");
        this.block();
      }
    }
    this.list(inside, depth + 1, divergentDepth);
    continued.push(this.pick(inside));
    this.lines.push("  } cont {");
    this.block();
    const merged = this.value(`phi ${continued.map((v) => `%${v.name}`).join(", ")}`, true);
    const stepped = this.value(`iadd %${merged.name}, %${x.name}`, true);
    this.lines.push(`  %${next}:32 = iadd %${counter}, %${one.name}`);
    this.lines.push(`  %${xNext}:32 = ixor %${stepped.name}, %${counter} div`);
    this.lines.push("  }");
    this.block();
    live.push(this.value(`phi ${broken.map((v) => `%${v.name}`).join(", ")}`, true));
    this.afterLoop(live, [{ name: counter, div: true }, x]);
  }

  /** What the head of a loop that was left has made may be read on. */
  protected afterLoop(_live: Value[], _head: readonly Value[]): void {}
  /** More of the shader's first line, and what stands before the list. */
  protected readonly variables: string = "";
  protected start(_live: Value[]): void {}

  protected divergentCondition(live: readonly Value[]): Value {
    const divergent = this.pick(live.filter((v) => v.div));
    const b = this.pick(live);
    return this.value(`${this.pick(compares)} %${divergent.name}, %${b.name}`, true, 1);
  }

  program(): Program {
    this.lines.push(`shader compute "main" wave32 local=64,1,1 lds=2048${this.variables} {`);
    this.block();
    const live: Value[] = [];
    for (const bits of [0, 1, 5, 0xffffffff, 0x12345678, 31]) live.push(this.value(`const ${bits}`, false));
    const two = this.value("const 2", false);
    live.push(this.value("load_push base=0", false), this.value("load_push base=4", false));
    live.push(this.value("load_workgroup_id component=0", false));
    this.lines.push("  %lane:32 = load_local_id component=0 div");
    const lane: Value = { name: "lane", div: true };
    const group = live.at(-1);
    const six = this.value("const 6", false);
    const base = this.value(`ishl %${group?.name}, %${six.name}`, false);
    this.lines.push(`  %index:32 = iadd %${base.name}, %lane div`);
    const index: Value = { name: "index", div: true };
    const five = this.value("const 5", false);
    const own = this.value(`ishl %lane, %${five.name}`, true);
    const zeros = this.name();
    this.lines.push(`  %${zeros}:32x4 = vec %${[0, 0, 0, 0].map(() => live[0]?.name).join(", %")}`);
    this.lines.push(`  store_shared %${zeros}, %${own.name} base=0`, `  store_shared %${zeros}, %${own.name} base=16`);
    const offset = this.value(`ishl %${index.name}, %${two.name}`, true);
    live.push(lane, index, this.value(`load_ssbo %${offset.name} set=0 binding=0 base=0`, true));
    this.start(live);
    this.list(live, 0, false);
    let sum = this.pick(live);
    for (const v of live.slice(-12)) sum = this.value(`iadd %${sum.name}, %${v.name}`, sum.div || v.div);
    this.lines.push(`  store_ssbo %${sum.name}, %${offset.name} set=0 binding=1 base=0`, "  end", "}");
    return { text: `${this.lines.join("\n")}\n`, size: this.lines.length };
  }
}

export function generateProgram(seed: number, budget: number): Program {
  return new Generator(seed, budget).program();
}
