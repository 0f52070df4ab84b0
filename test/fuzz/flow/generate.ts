/**
 * Random programs of control flow: ways out of ifs, switches and loops under uniform and divergent conditions side by side,
 * loops of one round or left by return alone, functions with early returns in loops, and in all of it values that are
 * needed behind the ways out.
 */
import { type Array_, bufferArrays, Expressions, type Variable } from "./expressions.ts";
import {
  bitsOf,
  type Callee,
  type Case,
  type Expression,
  type Fields,
  type Flow,
  type Lane,
  type LaneOp,
  type Place,
  type Stage,
  type Statement,
  type Type,
  type Value,
  WORDS,
  wrap,
} from "./language.ts";
import { Random } from "./random.ts";

const families: readonly (readonly Type[])[] = [
  ["uint"],
  ["uint", "int"],
  ["uint", "int"],
  ["uint", "int", "uint64_t"],
  ["uint", "int64_t", "uint64_t"],
  ["uint", "int", "uint16_t", "int16_t"],
];
const laneOps: readonly LaneOp[] = [
  "Add",
  "Min",
  "Max",
  "And",
  "Or",
  "Xor",
  "InclusiveAdd",
  "ExclusiveAdd",
  "InclusiveOr",
  "BroadcastFirst",
  "Count",
  "Any",
  "All",
  "Elect",
];
const ofConditions: readonly LaneOp[] = ["Count", "Any", "All", "Elect"];

/** A loop or switch around the statement; `isCalm`: all lanes go through it together. */
interface Around {
  readonly kind: "loop" | "switch";
  readonly isCalm: boolean;
}

class Generator {
  readonly #random: Random;
  readonly #stage: Stage;
  readonly #types: readonly Type[];
  readonly #make: Expressions;
  #count = 0;
  #budget = 0;
  #around: Around[] = [];
  #callees: Callee[] = [];
  /** What `return` gives here; undefined in main. */
  #result: Type | undefined;
  /** All lanes are here together, in main. */
  #isCalm = false;
  /** Some lanes may have ended. */
  #hasEnded = false;

  constructor(seed: number, stage: Stage) {
    this.#random = new Random(seed);
    this.#stage = stage;
    this.#types = this.#random.pick(families);
    this.#make = new Expressions(this.#random, this.#types);
  }

  #name(letter: string): string {
    return `${letter}${this.#count++}`;
  }
  #assignment(place: Place, value: Expression): Statement {
    const run = (lane: Lane): void => place.put(lane, value.value(lane));
    return { kind: "do", text: `${place.text} = ${value.text};`, run };
  }

  #variables(): Variable[] {
    return this.#make.scope.variables.filter((v) => v.isConstant !== true);
  }

  /** What can be assigned where it stands, uniform variables but seldom with what is not. */
  #target(): { place: Place; isUniform: boolean } {
    const random = this.#random;
    const arrays = this.#make.scope.arrays.filter((each) => each.isConstant !== true);
    const { structs } = this.#make.scope;
    const kind = random.next();
    if (kind < 0.15 && arrays.length > 0)
      return { place: this.#make.element(random.pick(arrays), 2), isUniform: false };
    if (kind < 0.25 && structs.length > 0)
      return { place: this.#make.member(random.pick(structs), 1, random.pick(this.#types)), isUniform: false };
    const found = this.#variables().filter((v) => !v.isUniform || this.#isCalm || random.chance(0.08));
    const chosen = random.pick(found.length > 0 ? found : this.#variables());
    return { place: this.#make.place(chosen), isUniform: chosen.isUniform };
  }

  #assign(): Statement {
    const { place, isUniform } = this.#target();
    const depth = 1 + this.#random.below(3);
    const value = this.#make.of(place.type, depth, isUniform);
    if (place.type === "bool" || bitsOf[place.type] === 16 || this.#random.chance(0.5))
      return this.#assignment(place, value);
    // Sums keep trace of how often control came by.
    const operator = this.#random.pick(["+", "^", "*"]);
    const run = (lane: Lane): void => {
      const [x, y] = [place.value(lane), value.value(lane)];
      const isWide = bitsOf[place.type] === 64;
      const [p, q] = [BigInt(x), BigInt(y)];
      const [m, n] = [Number(x), Number(y)];
      const wide = operator === "+" ? p + q : operator === "^" ? p ^ q : p * q;
      const narrow = operator === "+" ? m + n : operator === "^" ? m ^ n : Math.imul(m, n);
      place.put(lane, wrap(place.type, isWide ? wide : narrow));
    };
    return { kind: "do", text: `${place.text} ${operator}= ${value.text};`, run };
  }

  #declare(): Statement {
    const type = this.#random.pick([...this.#types, "bool"] as const);
    const isUniform = this.#random.chance(0.35);
    const value = this.#make.of(type, 2, isUniform);
    const name = this.#name("v");
    this.#make.scope.variables.push({ name, type, isUniform });
    const run = (lane: Lane): void => {
      lane.vars[name] = value.value(lane);
    };
    return { kind: "do", text: `${type} ${name} = ${value.text};`, run };
  }

  #lanes(): Statement {
    const op = this.#random.pick(laneOps);
    const targets = this.#variables().filter((v) => (v.type === "uint" || v.type === "int") && !v.isUniform);
    const to = this.#make.place(this.#random.pick(targets));
    return { kind: "lanes", op, to, of: this.#make.of(ofConditions.includes(op) ? "bool" : to.type, 2) };
  }

  #exchange(): Statement {
    const to = this.#make.place(this.#random.pick(this.#variables().filter((v) => v.type === "uint" && !v.isUniform)));
    return { kind: "exchange", to, of: this.#make.of("uint", 2), from: this.#make.of("uint", 2) };
  }

  #call(): Statement | undefined {
    const callee = this.#random.pick(this.#callees);
    const targets = this.#variables().filter((v) => v.type === callee.type && !v.isUniform);
    if (targets.length === 0) return undefined;
    const to = this.#random.pick(targets);
    const first = callee.parameters[0]!;
    const changeable = this.#variables().filter((v) => v.type === first.type && v.name !== to.name && !v.isUniform);
    if (callee.writes && changeable.length === 0) return undefined;
    const rest = callee.writes ? callee.parameters.slice(1) : callee.parameters;
    const values = rest.map(({ type }) => this.#make.of(type, 2));
    const changed = callee.writes ? { changed: this.#make.place(this.#random.pick(changeable)) } : {};
    return { kind: "call", to: this.#make.place(to), callee, values, ...changed };
  }

  /** Statements in a scope of their own. */
  #block(depth: number, most: number): Statement[] {
    const { variables, arrays } = this.#make.scope;
    const [v, a] = [variables.length, arrays.length];
    const made: Statement[] = [];
    for (let k = this.#random.below(most + 1); k > 0; k--) made.push(...this.#statement(depth));
    variables.length = v;
    arrays.length = a;
    return made;
  }

  /** A jump that may stand here, under a condition of the kind. */
  #jump(isUniform: boolean): Statement[] {
    const together = this.#isCalm && isUniform;
    const inner = this.#around.at(-1);
    const loop = this.#around.findLast(({ kind }) => kind === "loop");
    const ways: ("break" | "continue" | "return")[] = [];
    if (inner !== undefined && (together || inner.kind === "switch" || !inner.isCalm)) ways.push("break", "break");
    if (loop !== undefined && (together || !loop.isCalm)) ways.push("continue", "continue", "continue");
    const mayReturn = together || !this.#around.some(({ kind, isCalm }) => kind === "loop" && isCalm);
    if (this.#result !== undefined && mayReturn) ways.push("return", "return");
    if (this.#result === undefined && mayReturn && this.#random.chance(0.25)) ways.push("return");
    if (ways.length === 0) return [];
    const to = this.#random.pick(ways);
    if (!together) {
      if (to === "return" && this.#result === undefined) this.#hasEnded = true;
      this.#isCalm = false;
    }
    if (to !== "return") return [{ kind: "jump", to }];
    if (this.#result !== undefined) return [{ kind: "jump", to, value: this.#make.of(this.#result, 2) }];
    if (this.#stage === "compute" && this.#random.chance(0.6)) return [...this.#dump(4), { kind: "jump", to }];
    return this.#stage === "compute" ? [{ kind: "jump", to }] : [this.#output(), { kind: "jump", to }];
  }

  /** Words of `o` for what is in scope. */
  #dump(most: number): Statement[] {
    const stores: Statement[] = [];
    const put = (text: string, of: (lane: Lane) => Value): void => {
      const k = stores.length;
      const run = (lane: Lane): void => {
        (lane.vars.o as Value[])[k] = wrap("uint", of(lane));
      };
      stores.push({ kind: "do", text: `o[${WORDS}u * id + ${k}u] = uint(${text});`, run });
    };
    for (const { name, type } of this.#make.scope.variables) {
      if (stores.length >= Math.min(most, WORDS - 2)) break;
      put(name, ({ vars }) => vars[name] as Value);
      if (bitsOf[type] === 64) put(`${name} >> 32`, ({ vars }) => BigInt(vars[name] as bigint) >> 32n);
    }
    for (const array of this.#make.scope.arrays) {
      if (array.isConstant === true || array.name === "o" || stores.length >= most) continue;
      const { text, value } = this.#make.element(array, 1);
      put(text, value);
    }
    return stores;
  }

  #output(): Statement {
    const parts = [0, 1, 2, 3].map(() => this.#make.of("uint", 1).text);
    const position = this.#stage === "vertex" ? ` gl_Position = vec4(float(${parts[0]} & 255u));` : "";
    return { kind: "kill", text: `made = uvec4(${parts.join(", ")});${position}` };
  }

  #if(depth: number): Statement[] {
    const isUniform = this.#random.chance(0.4);
    const on = this.#make.condition(2, isUniform);
    const calm = this.#isCalm;
    const side = (): Statement[] => {
      this.#isCalm = calm && isUniform && !this.#hasEnded;
      const body = this.#block(depth - 1, 3);
      return this.#random.chance(0.3) ? [...body, ...this.#jump(isUniform)] : body;
    };
    const yes = side();
    const thenCalm = this.#isCalm;
    const no = this.#random.chance(0.45) ? side() : undefined;
    // A divergent jump in a uniform if leaves its traces behind it.
    const joins = isUniform ? thenCalm && (no === undefined || this.#isCalm) : !this.#jumps([...yes, ...(no ?? [])]);
    this.#isCalm = calm && joins && !this.#hasEnded;
    return [no === undefined ? { kind: "if", on, yes } : { kind: "if", on, yes, no }];
  }

  /** Whether some statement at whatever depth jumps: that is more than what leaves the list. */
  #jumps(statements: readonly Statement[]): boolean {
    return statements.some(
      (s) =>
        s.kind === "jump" ||
        (s.kind === "if" && (this.#jumps(s.yes) || this.#jumps(s.no ?? []))) ||
        (s.kind === "switch" && s.cases.some(({ body }) => this.#jumps(body))) ||
        (s.kind === "loop" && (this.#jumps(s.body) || this.#jumps(s.leave))),
    );
  }

  #loop(depth: number): Statement[] {
    const random = this.#random;
    const counter = this.#name("i");
    const form = random.pick(["for", "for", "while", "do", "do", "ever", "ever", "once"] as const);
    const calm = this.#isCalm;
    const isCalm = calm && random.chance(0.5);
    const isUniform = isCalm || random.chance(0.4);
    const most = random.pick([0, 1, 1, 2, 3, 4, 5, 40]);
    const bound = random.chance(0.45)
      ? { text: `${most}u`, value: (): Value => most }
      : this.#masked(this.#make.of("uint", 1, isUniform), random.pick([1, 3, 7]));
    const also = random.chance(0.25) ? this.#make.condition(1, isUniform) : undefined;
    const test: Expression = {
      type: "bool",
      text: `${counter} < ${bound.text}${also === undefined ? "" : ` && ${also.text}`}`,
      value: (lane) => Number(lane.vars[counter]) < Number(bound.value(lane)) && also?.value(lane) !== false,
    };
    const { variables } = this.#make.scope;
    this.#around.push({ kind: "loop", isCalm });
    this.#isCalm = isCalm;
    const index = variables.length;
    variables.push({ name: counter, type: "uint", isUniform, isConstant: true });
    const body = this.#block(depth - 1, 4);
    // Ways out side by side at the end of a round, where branches are put together.
    if (random.chance(0.4)) for (let k = 1 + random.below(3); k > 0; k--) body.push(...this.#guarded(0.15));
    if (random.chance(0.25)) body.push(...this.#jump(true));
    variables.splice(index, 1);
    let leave: Statement[] = [{ kind: "jump", to: "break" }];
    const mayReturn =
      this.#result !== undefined && (isCalm || !this.#around.some((a) => a.kind === "loop" && a.isCalm));
    if (form === "ever" && mayReturn && random.chance(0.5))
      leave = [{ kind: "jump", to: "return", value: this.#make.of(this.#result!, 2) }];
    this.#around.pop();
    this.#isCalm = calm && !this.#hasEnded;
    const step = random.chance(0.8) ? 1 : 2;
    return [{ kind: "loop", form, counter, step, test, leave, body }];
  }
  #masked(of: Expression, mask: number): { text: string; value(lane: Lane): Value } {
    return { text: `(${of.text} & ${mask}u)`, value: (lane) => (Number(of.value(lane)) & mask) >>> 0 };
  }

  #switch(depth: number): Statement[] {
    const random = this.#random;
    const isUniform = random.chance(0.35);
    const selector: Expression = { type: "uint", ...this.#masked(this.#make.of("uint", 2, isUniform), 7) };
    const calm = this.#isCalm;
    this.#isCalm = calm && isUniform;
    this.#around.push({ kind: "switch", isCalm: this.#isCalm });
    const labels = [0, 1, 2, 3, 4, 5, 6, 7].sort(() => random.next() - 0.5);
    const count = 1 + random.below(5);
    const byDefault = random.below(count + 1);
    const cases: Case[] = [];
    for (let k = 0; k < count; k++) {
      const body = this.#block(depth - 1, 2);
      if (random.chance(0.2)) body.push(...this.#jump(isUniform));
      if (random.chance(0.55)) body.push({ kind: "jump", to: "break" });
      const own = labels.splice(0, 1 + (random.chance(0.2) ? 1 : 0));
      cases.push({ labels: own, isDefault: k === byDefault, body });
    }
    this.#around.pop();
    this.#isCalm =
      calm &&
      isUniform &&
      !this.#hasEnded &&
      !cases.some(({ body }) => this.#jumps(body.filter((s) => s.kind !== "jump")));
    return [{ kind: "switch", selector, cases }];
  }

  #statement(depth: number): Statement[] {
    const random = this.#random;
    this.#budget--;
    const kind = random.next();
    if (depth <= 0 || this.#budget < 0 || kind < 0.24) {
      // An assignment, or a way out under a condition.
      if ((this.#around.length > 0 || this.#result !== undefined) && random.chance(0.3)) return this.#guarded();
      return [this.#assign()];
    }
    if (kind < 0.33) return [this.#declare()];
    if (kind < 0.55) return this.#if(depth);
    const loops = this.#around.filter((a) => a.kind === "loop").length;
    if (kind < 0.74 && loops < 3) return this.#loop(depth);
    if (kind < 0.83) return this.#switch(depth);
    if (kind < 0.88 && this.#callees.length > 0) {
      const call = this.#call();
      if (call !== undefined) return [call];
    }
    if (kind < 0.92 && this.#stage === "compute") {
      if (this.#isCalm && random.chance(0.6)) return [this.#exchange()];
      return [this.#lanes()];
    }
    if (this.#stage === "fragment" && kind < 0.95 && this.#result === undefined) return [this.#ofFragments()];
    return this.#guarded();
  }

  /** A way for the fragment to end, an interpolated number, or a difference in the quad where all of it is there. */
  #ofFragments(): Statement {
    const random = this.#random;
    const to = random.pick(this.#variables().filter((v) => v.type === "uint" && !v.isUniform)).name;
    if (this.#isCalm && random.chance(0.5)) {
      const of = `float(${this.#make.of("uint", 2).text} & 255u)`;
      const differences = ["dFdx", "dFdy", "dFdxFine", "dFdyFine"];
      return { kind: "kill", text: `${to} = uint(int(${random.pick(differences)}(${of})));` };
    }
    if (random.chance(0.3)) return { kind: "kill", text: `${to} ^= uint(int(smooth_[${random.below(4)}] * 8.0));` };
    const discards = random.chance(0.5);
    const text = `if (${this.#make.condition(2).text}) ${discards ? "discard" : "demote"};`;
    if (discards) {
      this.#hasEnded = true;
      this.#isCalm = false;
    }
    return { kind: "kill", text };
  }

  #guarded(more = 0.4): Statement[] {
    const isUniform = this.#random.chance(0.4);
    const on = this.#make.condition(1, isUniform);
    const before = this.#random.chance(more) ? [this.#assign()] : [];
    const yes = [...before, ...this.#jump(isUniform)];
    return [{ kind: "if", on, yes }];
  }

  #function(): Callee {
    const random = this.#random;
    const type = random.pick(this.#types);
    const writes = random.chance(0.4);
    const parameters = Array.from({ length: 1 + random.below(2) }, () => ({
      name: this.#name("p"),
      type: random.pick(this.#types),
    }));
    const { variables, arrays } = this.#make.scope;
    variables.splice(0, variables.length, ...this.#given(), ...parameters.map((p) => ({ ...p, isUniform: false })));
    arrays.splice(0, arrays.length, ...(this.#stage === "compute" ? bufferArrays(this.#stage) : []));
    this.#result = type;
    this.#isCalm = false;
    this.#budget = 8;
    const body = [this.#declareOf("uint", false)];
    for (let k = 2 + random.below(4); k > 0; k--) body.push(...this.#statement(3));
    body.push({ kind: "jump", to: "return", value: this.#make.of(type, 2) });
    this.#result = undefined;
    return { name: this.#name("f"), type, parameters, writes, body };
  }
  #given(): Variable[] {
    return [
      { name: "x", type: "uint", isUniform: false, isConstant: true },
      { name: "id", type: "uint", isUniform: false, isConstant: true },
    ];
  }

  #declareOf(type: Type, isUniform: boolean): Statement {
    const name = this.#name("v");
    const value = this.#make.of(type, 2, isUniform);
    this.#make.scope.variables.push({ name, type, isUniform });
    const run = (lane: Lane): void => {
      lane.vars[name] = value.value(lane);
    };
    return { kind: "do", text: `${type} ${name} = ${value.text};`, run };
  }

  #declareArray(): Statement {
    const type = this.#random.pick(this.#types);
    const size = this.#random.pick([2, 4, 8]);
    // A vector is an array of four.
    const isVector = type === "uint" && size === 4 && this.#random.chance(0.6);
    const name = this.#name("l");
    const array: Array_ = { name, type, size };
    this.#make.scope.arrays.push(array);
    const run = (lane: Lane): void => {
      lane.vars[name] = Array.from({ length: size }, (_, k) => wrap(type, Number(lane.vars.x) >>> k));
    };
    const text = isVector
      ? `uvec4 ${name} = uvec4(x, x >> 1, x >> 2, x >> 3);`
      : `${type} ${name}[${size}]; for (uint k = 0u; k < ${size}u; k++) ${name}[k] = ${type}(x >> k);`;
    return { kind: "do", text, run };
  }

  #declareStructs(): Statement {
    const name = this.#name("t");
    this.#make.scope.structs.push(name);
    const run = (lane: Lane): void => {
      const x = Number(lane.vars.x);
      lane.vars[name] = Array.from(
        { length: 4 },
        (_, k): Fields => ({
          a: (x ^ k) >>> 0,
          b: [k, x, (x + k) >>> 0, 7],
          c: wrap("uint64_t", BigInt(x) * BigInt(k + 1)),
          h: [k, wrap("uint16_t", x + 9)],
        }),
      );
    };
    const text =
      `S ${name}[4]; for (uint k = 0u; k < 4u; k++) { ${name}[k].a = x ^ k; ${name}[k].b = uint[](k, x, x + k, 7u); ` +
      `${name}[k].c = uint64_t(x) * uint64_t(k + 1u); ${name}[k].h = uint16_t[](uint16_t(k), uint16_t(x + 9u)); }`;
    return { kind: "do", text, run };
  }

  flow(seed: number): Flow {
    const random = this.#random;
    for (let k = random.below(3); k > 0; k--) this.#callees.push(this.#function());
    const { variables, arrays } = this.#make.scope;
    variables.splice(0, variables.length, ...this.#given());
    arrays.splice(0, arrays.length, ...bufferArrays(this.#stage));
    this.#isCalm = this.#stage !== "vertex";
    const body: Statement[] = [];
    for (const type of this.#types) body.push(this.#declareOf(type, false), this.#declareOf(type, random.chance(0.5)));
    body.push(this.#declareOf("bool", false));
    for (let k = random.below(3); k > 0; k--) body.push(this.#declareArray());
    if (random.chance(0.3)) body.push(this.#declareStructs());
    this.#budget = random.pick([8, 16, 30]);
    for (let k = 3 + random.below(5); k > 0; k--) body.push(...this.#statement(3 + random.below(2)));
    if (this.#stage === "compute") body.push(...this.#dump(WORDS));
    else body.push(this.#output());
    return { seed, stage: this.#stage, functions: this.#callees, body };
  }
}

/** The program of a seed. */
export function generateFlow(seed: number, stage: Stage = "compute"): Flow {
  return new Generator(seed, stage).flow(seed);
}
