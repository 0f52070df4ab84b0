/**
 * Random compute shaders whose results are given: what they compute is exact, each invocation writes its own words, and shared
 * memory is read behind a barrier. What is varied is control flow (loops of known and unknown length in each other, ways out of
 * them, switches that fall through, returns in functions), what differs between lanes, arrays, narrow and wide numbers.
 */

/** A statement: a line, or a block with lines before and behind it. */
export interface Statement {
  readonly head: string;
  readonly body?: readonly Statement[];
  readonly tail?: string;
}

/** A shader as parts that can be left out one by one. */
export interface Program {
  readonly seed: number;
  readonly functions: readonly Statement[];
  readonly body: readonly Statement[];
}

export const INVOCATIONS = 64;
/** Words that an invocation reads and writes. */
export const WORDS = 16;

type Type = "uint" | "int" | "float" | "int64_t" | "uint64_t" | "double" | "uint16_t" | "int8_t";
interface Variable {
  readonly name: string;
  readonly type: Type;
  readonly isConstant?: boolean;
}

const families: readonly (readonly Type[])[] = [
  ["uint", "int"],
  ["uint", "int"],
  ["uint", "int", "float"],
  ["uint", "int", "float"],
  ["uint", "int", "int64_t", "uint64_t"],
  ["uint", "int", "uint16_t", "int8_t"],
  ["uint", "int", "float", "double"],
];
const isFloating = (type: Type): boolean => type === "float" || type === "double";
const bitsOfType: Readonly<Record<Type, number>> = {
  uint: 32,
  int: 32,
  float: 32,
  int64_t: 64,
  uint64_t: 64,
  double: 64,
  uint16_t: 16,
  int8_t: 8,
};

/** 32-bit generator (mulberry). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Generator {
  readonly #next: () => number;
  readonly #types: readonly Type[];
  #count = 0;
  #budget = 0;
  #scope: Variable[] = [];
  #arrays: Variable[] = [];
  #functions: {
    readonly name: string;
    readonly type: Type;
    readonly parameters: readonly Type[];
    readonly writes: boolean;
  }[] = [];
  /** Loops and switches around the statement: what `break` and `continue` leave. */
  #around: ("loop" | "switch")[] = [];
  /** Type that `return` gives here; undefined in main. */
  #result: Type | undefined;
  /** Some lanes may be gone or elsewhere: other lanes' values are not read by their number. */
  #diverged = false;

  constructor(seed: number) {
    this.#next = generator(seed);
    this.#types = this.#pick(families);
  }

  #below(n: number): number {
    return Math.floor(this.#next() * n);
  }
  #chance(p: number): boolean {
    return this.#next() < p;
  }
  #pick<T>(of: readonly T[]): T {
    return of[this.#below(of.length)]!;
  }
  #name(letter: string): string {
    return `${letter}${this.#count++}`;
  }

  #literal(type: Type): string {
    if (isFloating(type)) {
      const value = this.#pick(["0.0", "1.0", "-1.0", "0.5", "3.25", "-7.75", "1024.0", "0.1", "-0.0", "1e20"]);
      return type === "float" ? `(${value})` : `(${value}LF)`;
    }
    const bits = Math.min(32, bitsOfType[type]);
    const small = this.#chance(0.6);
    const value = small ? this.#pick([0, 1, 2, 3, 5, 7, 8, 10, 31, 100]) : Math.floor(this.#next() * 2 ** bits) >>> 0;
    if (type === "uint") return `${value}u`;
    return type === "int" ? `int(${value}u)` : `${type}(${value}u)`;
  }

  #variable(type: Type): string {
    const found = this.#scope.filter((v) => v.type === type);
    return found.length === 0 || this.#chance(0.1) ? this.#literal(type) : this.#pick(found).name;
  }

  #index(depth: number): string {
    return `(${this.#expression("uint", depth - 1)} & 7u)`;
  }

  condition(depth: number): string {
    const kind = this.#next();
    if (depth > 0 && kind < 0.2) {
      const first = this.condition(depth - 1);
      return this.#apart(() => `(${first} ${this.#pick(["&&", "||", "!=", "=="])} ${this.condition(depth - 1)})`);
    }
    if (kind < 0.3)
      return `(${this.#pick(["(id & 1u) == 0u", "id < 20u", "u[0] > 2u", "(x & 4u) != 0u", "subgroupElect()"])})`;
    const type = this.#pick(this.#types);
    const operator = this.#pick(["<", ">", "<=", ">=", "==", "!="]);
    return `(${this.#expression(type, depth - 1)} ${operator} ${this.#expression(type, depth - 1)})`;
  }

  /** What only some of the lanes may come to. */
  #apart(make: () => string): string {
    const was = this.#diverged;
    this.#diverged = true;
    const made = make();
    this.#diverged = was;
    return made;
  }

  /** An expression without side effects but for calls, which write nothing that others of it read. */
  #expression(type: Type, depth: number): string {
    if (depth <= 0 || this.#chance(0.1)) return this.#chance(0.3) ? this.#literal(type) : this.#variable(type);
    const e = (of: Type = type): string => this.#expression(of, depth - 1);
    const kind = this.#next();
    if (kind < 0.1) {
      const on = this.condition(depth - 1);
      return this.#apart(() => `(${on} ? ${e()} : ${e()})`);
    }
    const arrays = this.#arrays.filter((a) => a.type === type);
    if (arrays.length > 0 && kind < 0.2) return `${this.#pick(arrays).name}[${this.#index(depth)}]`;
    const calls = this.#functions.filter((f) => f.type === type && !f.writes);
    if (calls.length > 0 && kind < 0.27) {
      const { name, parameters } = this.#pick(calls);
      return `${name}(${parameters.map((p) => this.#expression(p, depth - 2)).join(", ")})`;
    }
    if (isFloating(type)) {
      if (kind < 0.75) return `(${e()} ${this.#pick(["+", "-", "*"])} ${e()})`;
      if (kind < 0.85) return this.#chance(0.5) ? `(-${e()})` : `abs(${e()})`;
      return `${type}(${e(this.#pick(["int", "uint"]))})`;
    }
    const bits = bitsOfType[type];
    const one = `${type}(1)`;
    if (kind < 0.5) return `${type}(${e()} ${this.#pick(["+", "-", "*", "&", "|", "^"])} ${e()})`;
    if (kind < 0.58) return `${type}(${e()} ${this.#pick(["<<", ">>"])} (${e()} & ${type}(${bits - 1})))`;
    if (kind < 0.66) {
      const isUnsigned = type.startsWith("u");
      const divisor = this.#chance(0.5) ? this.#pick(["1", "2", "3", "7", "10", "16", "100"]) : undefined;
      const positive = `(${e()} & ${type}(127))`;
      const by = divisor === undefined ? `(${isUnsigned ? e() : positive} | ${one})` : `${type}(${divisor})`;
      if (isUnsigned) return `${type}(${e()} ${this.#pick(["/", "%"])} ${by})`;
      // The remainder of negative numbers is not given.
      return this.#chance(0.6) ? `${type}(${e()} / ${by})` : `${type}(${positive} % ${by})`;
    }
    if (kind < 0.72) return `${type}(${this.#pick(["~", "-"])}${e()})`;
    if (kind < 0.8) {
      const from = this.#pick(this.#types.filter((t) => !isFloating(t)));
      return `${type}(${e(from)})`;
    }
    if (bits !== 32) return e();
    const r = this.#next();
    if (r < 0.25) return `${this.#pick(["min", "max"])}(${e()}, ${e()})`;
    if (r < 0.4) return `${type}(${this.#pick(["bitCount", "findLSB", "findMSB", "bitfieldReverse"])}(${e()}))`;
    if (r < 0.5) return `bitfieldExtract(${e()}, ${this.#below(16)}, ${this.#below(17)})`;
    if (r < 0.6) return `bitfieldInsert(${e()}, ${e()}, ${this.#below(16)}, ${this.#below(17)})`;
    if (r < 0.8) return this.#lanes(type, depth);
    return `${type}(a[${this.#index(depth)} + ${WORDS}u * id])`;
  }

  /** A value of the other active lanes. */
  #lanes(type: Type, depth: number): string {
    const e = this.#expression(type, depth - 1);
    const r = this.#next();
    if (r < 0.3) return `subgroup${this.#pick(["Add", "Min", "Max", "And", "Or", "Xor"])}(${e})`;
    if (r < 0.45) return `subgroup${this.#pick(["Inclusive", "Exclusive"])}${this.#pick(["Add", "Or", "Xor"])}(${e})`;
    if (r < 0.6) return `subgroupBroadcastFirst(${e})`;
    if (r < 0.75) return `${type}(subgroupBallotBitCount(subgroupBallot(${this.condition(depth - 1)})))`;
    if (r < 0.85) return `${type}(subgroup${this.#pick(["Any", "All"])}(${this.condition(depth - 1)}))`;
    if (this.#diverged) return e;
    return this.#chance(0.5)
      ? `subgroupShuffleXor(${e}, ${1 << this.#below(5)}u)`
      : `subgroupShuffle(${e}, (${this.#expression("uint", 1)} & 31u))`;
  }

  #line(text: string): Statement {
    return { head: text };
  }

  #assign(): Statement {
    const arrays = this.#arrays.filter((a) => a.isConstant !== true);
    if (arrays.length > 0 && this.#chance(0.25)) {
      const array = this.#pick(arrays);
      // The index first: what the value calls may change what it reads.
      const index = this.#name("k");
      return {
        head: `{ uint ${index} = ${this.#index(2)};`,
        body: [],
        tail: `${array.name}[${index}] = ${this.#expression(array.type, 3)}; }`,
      };
    }
    const found = this.#scope.filter((v) => v.isConstant !== true);
    const { name, type } = this.#pick(found);
    const writers = this.#functions.filter((f) => f.writes && f.type === type);
    if (writers.length > 0 && this.#chance(0.2)) {
      const { name: called, parameters } = this.#pick(writers);
      const others = found.filter((v) => v.name !== name && v.type === parameters[0]);
      if (others.length > 0) {
        const rest = parameters.slice(1).map((p) => this.#expression(p, 1));
        return this.#line(`${name} = ${called}(${[this.#pick(others).name, ...rest].join(", ")});`);
      }
    }
    return this.#line(`${name} = ${this.#expression(type, 3)};`);
  }

  #declare(): Statement {
    const type = this.#pick(this.#types);
    const value = this.#expression(type, 3);
    const name = this.#name("v");
    this.#scope.push({ name, type });
    return this.#line(`${type} ${name} = ${value};`);
  }

  #block(depth: number, most = 4): Statement[] {
    const [scope, arrays] = [this.#scope.length, this.#arrays.length];
    const made = Array.from({ length: 1 + this.#below(most) }, () => this.#statement(depth));
    this.#scope.length = scope;
    this.#arrays.length = arrays;
    return made;
  }

  #loop(depth: number): Statement {
    const i = this.#name("i");
    const known = this.#chance(0.45);
    const end = known
      ? `${1 + this.#below(9)}u`
      : this.#pick([`(${this.#variable("uint")} & 7u)`, "(u[1] & 7u)", "(id & 3u)", `(a[${WORDS}u * id] & 7u)`]);
    const step = this.#chance(0.7) ? "1u" : `${1 + this.#below(3)}u`;
    const bound = known ? end : this.#name("n");
    const set = known ? "" : `uint ${bound} = ${end}; `;
    this.#around.push("loop");
    this.#scope.push({ name: i, type: "uint", isConstant: true });
    const body = this.#block(depth - 1, 5);
    this.#scope.splice(
      this.#scope.findIndex((v) => v.name === i),
      1,
    );
    this.#around.pop();
    const kind = this.#next();
    if (kind < 0.5)
      return { head: `{ ${set}for (uint ${i} = 0u; ${i} < ${bound}; ${i} += ${step}) {`, body, tail: "} }" };
    if (kind < 0.65) return { head: `{ ${set}for (uint ${i} = 9u; ${i} > ${bound}; ${i}--) {`, body, tail: "} }" };
    if (kind < 0.8)
      return { head: `{ ${set}uint ${i} = 0u; while (${i} < ${bound}) { ${i} += ${step};`, body, tail: "} }" };
    const also = this.#chance(0.4) ? ` && ${this.condition(1)}` : "";
    return { head: `{ ${set}uint ${i} = 0u; do { ${i} += ${step};`, body, tail: `} while (${i} < ${bound}${also}); }` };
  }

  #switch(depth: number): Statement {
    const selector = this.#pick([`${this.#expression("uint", 2)} % 6u`, "id & 3u", "u[2] & 3u", "x & 7u"]);
    this.#around.push("switch");
    const labels = [0, 1, 2, 3, 4, 5].filter(() => this.#chance(0.6));
    const cases = (labels.length === 0 ? [0] : labels).map((label): Statement => {
      const head = `case ${label}u:${this.#chance(0.15) ? ` case ${label + 10}u:` : ""} {`;
      return { head, body: this.#block(depth - 1, 3), tail: this.#chance(0.7) ? "} break;" : "}" };
    });
    if (this.#chance(0.6))
      cases.splice(this.#below(cases.length + 1), 0, {
        head: "default: {",
        body: this.#block(depth - 1, 2),
        tail: "} break;",
      });
    this.#around.pop();
    // The last group of labels needs a statement.
    return { head: `switch (${selector}) {`, body: cases, tail: "}" };
  }

  #statement(depth: number): Statement {
    this.#budget--;
    const kind = this.#next();
    if (depth <= 0 || this.#budget < 0 || kind < 0.3) return this.#assign();
    if (kind < 0.38) return this.#declare();
    const was = this.#diverged;
    this.#diverged = true;
    const loops = this.#around.filter((a) => a === "loop").length;
    try {
      if (kind < 0.55) {
        const head = `if (${this.condition(2)}) {`;
        const body = this.#block(depth - 1);
        if (!this.#chance(0.5)) return { head, body, tail: "}" };
        return {
          head: "{",
          body: [
            { head, body, tail: "} else {" },
            { head: "", body: this.#block(depth - 1), tail: "}" },
          ],
          tail: "}",
        };
      }
      if (kind < 0.72 && loops < 3) return this.#loop(depth);
      if (kind < 0.82) return this.#switch(depth);
      if (kind < 0.93 && this.#around.length > 0) {
        const ways = loops > 0 ? ["break", "continue"] : ["break"];
        return { head: `if (${this.condition(2)}) {`, body: [this.#assign()], tail: `${this.#pick(ways)}; }` };
      }
      if (kind < 0.97 && this.#result !== undefined) {
        return this.#line(`if (${this.condition(2)}) return ${this.#expression(this.#result, 2)};`);
      }
      return this.#assign();
    } finally {
      // Behind the construct the lanes meet again, but for those that returned.
      this.#diverged = was || this.#result !== undefined;
    }
  }

  #function(): Statement {
    const type = this.#pick(this.#types);
    const writes = this.#chance(0.4);
    const parameters = Array.from({ length: 1 + this.#below(3) }, () => this.#pick(this.#types));
    const name = this.#name("f");
    this.#scope = [
      ...parameters.map((p, k): Variable => ({ name: `p${k}`, type: p })),
      { name: "x", type: "uint", isConstant: true },
      { name: "id", type: "uint", isConstant: true },
    ];
    this.#arrays = [{ name: "table", type: "uint", isConstant: true }];
    this.#result = type;
    this.#diverged = true;
    this.#budget = 6;
    const body = [this.#declare(), ...Array.from({ length: 1 + this.#below(4) }, () => this.#statement(3))];
    const last = this.#expression(type, 2);
    this.#result = undefined;
    this.#functions.push({ name, type, parameters, writes });
    const list = parameters.map((p, k) => `${writes && k === 0 ? "inout " : ""}${p} p${k}`).join(", ");
    return { head: `${type} ${name}(${list}) {`, body, tail: `return ${last}; }` };
  }

  program(seed: number): Program {
    const functions = Array.from({ length: this.#below(3) }, () => this.#function());
    this.#scope = [
      { name: "x", type: "uint", isConstant: true },
      { name: "id", type: "uint", isConstant: true },
    ];
    this.#arrays = [{ name: "table", type: "uint", isConstant: true }];
    this.#diverged = false;
    const body: Statement[] = [];
    for (const type of this.#types) for (let k = 0; k < 2; k++) body.push(this.#declareOf(type));
    for (let k = this.#below(3); k > 0; k--) {
      const type = this.#pick(this.#types.filter((t) => !isFloating(t)));
      const name = this.#name("l");
      body.push(this.#line(`${type} ${name}[8]; for (uint i = 0u; i < 8u; i++) ${name}[i] = ${type}(x >> i);`));
      this.#arrays.push({ name, type });
    }
    this.#budget = this.#pick([8, 16, 32]);
    for (let k = 4 + this.#below(5); k > 0; k--) {
      body.push(this.#statement(3 + this.#below(2)));
      if (this.#chance(0.12)) body.push(...this.#exchange());
    }
    let word = 0;
    for (const { name, type } of this.#scope.slice(2)) {
      if (word + 2 > WORDS) break;
      const stored = storesOf(name, type);
      for (const value of stored) body.push(this.#line(`o[${WORDS}u * id + ${word++}u] = ${value};`));
    }
    for (const { name, isConstant } of this.#arrays) {
      if (isConstant === true || word >= WORDS) continue;
      body.push(this.#line(`o[${WORDS}u * id + ${word++}u] = uint(${name}[id & 7u]);`));
    }
    return { seed, functions, body };
  }

  #declareOf(type: Type): Statement {
    const value = isFloating(type)
      ? `${type}(int(x & 255u) - 100)`
      : `${type}(${this.#pick(["x", "a[WORDS * id + 1u]", "u[3]", "id"]).replace("WORDS", `${WORDS}u`)})`;
    const name = this.#name("v");
    this.#scope.push({ name, type });
    return this.#line(`${type} ${name} = ${value};`);
  }

  /** Words change hands between the invocations of the workgroup. */
  #exchange(): Statement[] {
    const value = this.#expression("uint", 2);
    const from = this.#expression("uint", 2);
    const name = this.#name("v");
    this.#scope.push({ name, type: "uint" });
    return [this.#line(`s[id] = ${value}; barrier(); uint ${name} = s[(${from}) & 63u]; barrier();`)];
  }
}

function storesOf(name: string, type: Type): string[] {
  if (type === "float") return [`isnan(${name}) ? 0x7fc00000u : floatBitsToUint(${name})`];
  if (type === "double") {
    return [0, 1].map((k) => `isnan(${name}) ? 0x7ff80000u : unpackDouble2x32(${name})[${k}]`);
  }
  return bitsOfType[type] === 64 ? [`uint(${name})`, `uint(${name} >> ${type}(32))`] : [`uint(${name})`];
}

/** The program of a seed. */
export function generate(seed: number): Program {
  return new Generator(seed).program(seed);
}

function render({ head, body, tail }: Statement, indent: string): string {
  const inner = (body ?? []).map((s) => render(s, `${indent}  `)).join("");
  return `${indent}${head}\n${inner}${tail === undefined ? "" : `${indent}${tail}\n`}`;
}

/** GLSL of a program: reads `a` (${WORDS} words an invocation) and `u`, writes `o`. */
export function sourceOf({ functions, body }: Program): string {
  const all = (statements: readonly Statement[], indent: string): string =>
    statements.map((s) => render(s, indent)).join("");
  return `#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
layout(local_size_x = ${INVOCATIONS}) in;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) writeonly buffer O { uint o[]; };
layout(std140, binding = 2) uniform U { uvec4 u; };
shared uint s[${INVOCATIONS}];
const uint table[8] = uint[](3u, 0xffffffffu, 17u, 0u, 0x80000000u, 5u, 1000u, 2u);
uint x;
uint id;
${all(functions, "")}void main() {
  id = gl_LocalInvocationID.x;
  x = a[${WORDS}u * id];
${all(body, "  ")}}
`;
}
