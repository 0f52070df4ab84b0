/** Random expressions: exact, without side effects, in terms of what is in scope. */
import {
  bitsOf,
  type Expression,
  type Lane,
  OWN,
  type Place,
  type Stage,
  TABLE,
  type Type,
  UNIFORMS,
  type Value,
  WORDS,
  wrap,
} from "./language.ts";
import type { Random } from "./random.ts";

export interface Variable {
  readonly name: string;
  readonly type: Type;
  /** All lanes have the same value as long as they are together. */
  readonly isUniform: boolean;
  readonly isConstant?: boolean;
}
/** Elements in a variable, in the workgroup's memory or in a buffer; `size` is a power of two. */
export interface Array_ {
  readonly name: string;
  readonly type: Type;
  readonly size: number;
  readonly isConstant?: boolean;
  /** In front of the index. */
  readonly base?: string;
}
export interface Scope {
  readonly variables: Variable[];
  readonly arrays: Array_[];
  /** Arrays of four structs. */
  readonly structs: string[];
}

const isWide = (type: Type): boolean => bitsOf[type] === 64;
const isUnsigned = (type: Type): boolean => type.startsWith("u");
const big = (value: Value): bigint => BigInt(value);
const word = (value: Value): number => Number(value) >>> 0;

export const bufferArrays = (stage: Stage): Array_[] => [
  { name: "a", type: "uint", size: WORDS, isConstant: true, base: `${WORDS}u * id + ` },
  ...(stage === "compute"
    ? ([
        { name: "s", type: "uint", size: OWN, base: `${OWN}u * id + ` },
        { name: "o", type: "uint", size: WORDS, base: `${WORDS}u * id + ` },
      ] as const)
    : []),
];

/** Exact arithmetic of two integers of one type. */
function arithmetic(operator: string, type: Type, a: Value, b: Value): Value {
  if (isWide(type)) {
    const [x, y] = [big(a), big(b)];
    switch (operator) {
      case "+":
        return wrap(type, x + y);
      case "-":
        return wrap(type, x - y);
      case "*":
        return wrap(type, x * y);
      case "&":
        return wrap(type, x & y);
      case "|":
        return wrap(type, x | y);
      case "^":
        return wrap(type, x ^ y);
      case "<<":
        return wrap(type, x << y);
      case ">>":
        return wrap(type, x >> y);
      case "/":
        return wrap(type, x / y);
      default:
        return wrap(type, x % y);
    }
  }
  const [x, y] = [Number(a), Number(b)];
  switch (operator) {
    case "+":
      return wrap(type, x + y);
    case "-":
      return wrap(type, x - y);
    case "*":
      return wrap(type, Math.imul(x, y));
    case "&":
      return wrap(type, x & y);
    case "|":
      return wrap(type, x | y);
    case "^":
      return wrap(type, x ^ y);
    case "<<":
      return wrap(type, x << y);
    case ">>":
      return wrap(type, isUnsigned(type) ? x >>> y : x >> y);
    case "/":
      return wrap(type, Math.trunc(x / y));
    default:
      return wrap(type, x % y);
  }
}

const compared: Readonly<Record<string, (a: Value, b: Value) => boolean>> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};

function reversed(x: number): number {
  let r = 0;
  for (let k = 0; k < 32; k++) if (((x >>> k) & 1) !== 0) r |= 1 << (31 - k);
  return r >>> 0;
}
function ones(x: number): number {
  let n = 0;
  for (let k = 0; k < 32; k++) n += (x >>> k) & 1;
  return n;
}
const bitFunctions: Readonly<Record<string, (x: number) => number>> = {
  bitCount: ones,
  bitfieldReverse: reversed,
  findMSB: (x) => (x === 0 ? -1 : 31 - Math.clz32(x)),
  findLSB: (x) => (x === 0 ? -1 : 31 - Math.clz32(x & -x)),
};

export class Expressions {
  readonly scope: Scope = { variables: [], arrays: [], structs: [] };
  readonly random: Random;
  readonly types: readonly Type[];

  constructor(random: Random, types: readonly Type[]) {
    this.random = random;
    this.types = types;
  }

  literal(type: Type): Expression {
    const { random } = this;
    if (type === "bool") {
      const is = random.chance(0.5);
      return { type, text: `${is}`, value: () => is };
    }
    const bits = Math.min(32, bitsOf[type]);
    const small = random.pick([0, 1, 2, 3, 5, 7, 8, 10, 31, 100]);
    const n = random.chance(0.7) ? small : Math.floor(random.next() * 2 ** bits);
    const value = wrap(type, n);
    return { type, text: type === "uint" ? `${n}u` : `${type}(${n}u)`, value: () => value };
  }

  place({ name, type }: Variable): Place {
    return {
      type,
      text: name,
      value: ({ vars }) => vars[name] as Value,
      put: ({ vars }, value) => {
        vars[name] = value;
      },
    };
  }

  element({ name, type, size, base }: Array_, depth: number): Place {
    const index = this.of("uint", depth);
    const at = (lane: Lane): number => word(index.value(lane)) & (size - 1);
    return {
      type,
      text: `${name}[${base ?? ""}(${index.text} & ${size - 1}u)]`,
      value: (lane) => (lane.vars[name] as Value[])[at(lane)]!,
      put: (lane, value) => {
        (lane.vars[name] as Value[])[at(lane)] = value;
      },
    };
  }

  member(name: string, depth: number, wanted?: Type): Place {
    const index = this.of("uint", depth);
    const at = (lane: Lane) =>
      (lane.vars[name] as { a: Value; b: Value[]; c: Value; h: Value[] }[])[word(index.value(lane)) & 3]!;
    const text = `${name}[${index.text} & 3u]`;
    const kind = wanted === "uint64_t" ? "c" : wanted === "uint16_t" ? "h" : this.random.pick(["a", "b", "b"]);
    if (kind === "a" || kind === "c") {
      return {
        type: kind === "a" ? "uint" : "uint64_t",
        text: `${text}.${kind}`,
        value: (lane) => at(lane)[kind],
        put: (lane, value) => {
          at(lane)[kind] = value;
        },
      };
    }
    const inner = this.of("uint", depth);
    const mask = kind === "b" ? 3 : 1;
    const k = (lane: Lane): number => word(inner.value(lane)) & mask;
    return {
      type: kind === "b" ? "uint" : "uint16_t",
      text: `${text}.${kind}[${inner.text} & ${mask}u]`,
      value: (lane) => at(lane)[kind as "b" | "h"][k(lane)]!,
      put: (lane, value) => {
        at(lane)[kind as "b" | "h"][k(lane)] = value;
      },
    };
  }

  /** Something of the type that is in scope; with `uniform`, the same in all lanes. */
  #leaf(type: Type, uniform: boolean): Expression {
    const { random } = this;
    if (type === "uint" && random.chance(uniform ? 0.5 : 0.12)) {
      if (random.chance(0.6)) {
        const k = random.below(UNIFORMS);
        return { type, text: `u[${k >> 2}][${k & 3}]`, value: ({ vars }) => (vars.u as Value[])[k]! };
      }
      const k = random.below(2);
      return { type, text: `push[${k}]`, value: ({ vars }) => (vars.push as Value[])[k]! };
    }
    const found = this.scope.variables.filter((v) => v.type === type && (v.isUniform || !uniform));
    return found.length === 0 || random.chance(0.2) ? this.literal(type) : this.place(random.pick(found));
  }

  condition(depth: number, uniform = false): Expression {
    const { random } = this;
    const kind = random.next();
    if (depth > 0 && kind < 0.15) {
      const [a, b] = [this.condition(depth - 1, uniform), this.condition(depth - 1, uniform)];
      const operator = random.pick(["&&", "||", "!="]);
      const meaning = (x: boolean, y: boolean): boolean =>
        operator === "&&" ? x && y : operator === "||" ? x || y : x !== y;
      return {
        type: "bool",
        text: `(${a.text} ${operator} ${b.text})`,
        value: (lane) => meaning(a.value(lane) === true, b.value(lane) === true),
      };
    }
    if (depth > 0 && kind < 0.22) {
      const a = this.condition(depth - 1, uniform);
      return { type: "bool", text: `(!${a.text})`, value: (lane) => a.value(lane) !== true };
    }
    if (kind < 0.3) return this.#leaf("bool", uniform);
    const type = kind < 0.6 ? "uint" : random.pick(this.types);
    const operator = random.pick(["<", "<=", ">", ">=", "==", "!="]);
    const a = this.of(type, depth - 1, uniform);
    // Compared with something small the outcome is open.
    const b = random.chance(0.4) ? this.literal(type) : this.of(type, depth - 1, uniform);
    return {
      type: "bool",
      text: `(${a.text} ${operator} ${b.text})`,
      value: (lane) => compared[operator]!(a.value(lane), b.value(lane)),
    };
  }

  of(type: Type, depth: number, uniform = false): Expression {
    const { random } = this;
    if (type === "bool") return this.condition(depth, uniform);
    if (depth <= 0 || random.chance(0.15)) return this.#leaf(type, uniform);
    if (depth > 1 && random.chance(0.03)) return this.#many(type, uniform);
    const kind = random.next();
    if (kind < 0.1) {
      const on = this.condition(depth - 1, uniform);
      const [a, b] = [this.of(type, depth - 1, uniform), this.of(type, depth - 1, uniform)];
      const value = (lane: Lane): Value => (on.value(lane) === true ? a.value(lane) : b.value(lane));
      return { type, text: `(${on.text} ? ${a.text} : ${b.text})`, value };
    }
    if (kind < 0.3 && !uniform) {
      const arrays = this.scope.arrays.filter((each) => each.type === type);
      if (
        this.scope.structs.length > 0 &&
        (type === "uint" || type === "uint64_t" || type === "uint16_t") &&
        random.chance(0.4)
      )
        return this.member(random.pick(this.scope.structs), depth - 2, type);
      if (type === "uint" && random.chance(0.2)) {
        const index = this.of("uint", depth - 1);
        return { type, text: `table[${index.text} & 7u]`, value: (lane) => TABLE[word(index.value(lane)) & 7]! };
      }
      if (arrays.length > 0) return this.element(random.pick(arrays), depth - 1);
    }
    if (kind < 0.4) {
      const from = random.pick([...this.types, "bool"] as const);
      const a = this.of(from, depth - 1, uniform);
      return { type, text: `${type}(${a.text})`, value: (lane) => wrap(type, a.value(lane)) };
    }
    const a = this.of(type, depth - 1, uniform);
    if (kind < 0.5 && bitsOf[type] === 32) return this.#bits(type, a, depth, uniform);
    const b = this.of(type, depth - 1, uniform);
    if (kind < 0.56 && bitsOf[type] === 32) {
      const name = random.pick(["min", "max"]);
      const value = (lane: Lane): Value => {
        const [x, y] = [a.value(lane), b.value(lane)];
        return (name === "min") === x < y ? x : y;
      };
      return { type, text: `${name}(${a.text}, ${b.text})`, value };
    }
    if (kind < 0.64) {
      const operator = random.pick(["<<", ">>"]);
      const mask = bitsOf[type] - 1;
      const value = (lane: Lane): Value =>
        arithmetic(
          operator,
          type,
          a.value(lane),
          wrap(type, isWide(type) ? big(b.value(lane)) & BigInt(mask) : Number(b.value(lane)) & mask),
        );
      return { type, text: `${type}(${a.text} ${operator} (${b.text} & ${type}(${mask})))`, value };
    }
    if (kind < 0.7) {
      const isNot = random.chance(0.5);
      const value = (lane: Lane): Value => {
        const x = a.value(lane);
        if (isWide(type)) return wrap(type, isNot ? ~big(x) : -big(x));
        return wrap(type, isNot ? ~Number(x) : -Number(x));
      };
      return { type, text: `${type}(${isNot ? "~" : "-"}${a.text})`, value };
    }
    if (kind < 0.75 && isUnsigned(type)) {
      const operator = random.pick(["/", "%"]);
      const value = (lane: Lane): Value =>
        arithmetic(operator, type, a.value(lane), arithmetic("|", type, b.value(lane), wrap(type, 1)));
      return { type, text: `${type}(${a.text} ${operator} (${b.text} | ${type}(1)))`, value };
    }
    const operator = random.pick(["+", "-", "*", "&", "|", "^", "+", "-"]);
    return {
      type,
      text: `${type}(${a.text} ${operator} ${b.text})`,
      value: (lane) => arithmetic(operator, type, a.value(lane), b.value(lane)),
    };
  }

  /** Up to 24 parts of one operator in a tree of any shape. */
  #many(type: Type, uniform: boolean): Expression {
    const { random } = this;
    const operator = random.pick(["+", "+", "*", "&", "|", "^"]);
    const parts = Array.from({ length: 3 + random.below(22) }, () => this.of(type, random.below(2), uniform));
    while (parts.length > 1) {
      const k = random.below(parts.length - 1);
      const [a, b] = parts.slice(k, k + 2) as [Expression, Expression];
      const value = (lane: Lane): Value => arithmetic(operator, type, a.value(lane), b.value(lane));
      parts.splice(k, 2, { type, text: `${type}(${a.text} ${operator} ${b.text})`, value });
    }
    return parts[0]!;
  }

  #bits(type: Type, a: Expression, depth: number, uniform: boolean): Expression {
    const { random } = this;
    if (random.chance(0.4)) {
      // findMSB of a signed number looks for other bits.
      const name = random.pick(
        type === "int" ? ["bitCount", "findLSB"] : ["bitCount", "findLSB", "findMSB", "bitfieldReverse"],
      );
      const value = (lane: Lane): Value => wrap(type, bitFunctions[name]!(word(a.value(lane))));
      return { type, text: `${type}(${name}(${a.text}))`, value };
    }
    const [from, count] = [random.below(17), random.below(16)];
    const mask = 2 ** count - 1;
    if (random.chance(0.5)) {
      const value = (lane: Lane): Value => {
        const field = (word(a.value(lane)) >>> from) & mask;
        const isNegative = type === "int" && count > 0 && field >>> (count - 1) === 1;
        return wrap(type, isNegative ? field - 2 ** count : field);
      };
      return { type, text: `bitfieldExtract(${a.text}, ${from}, ${count})`, value };
    }
    const b = this.of(type, depth - 1, uniform);
    const value = (lane: Lane): Value =>
      wrap(type, (word(a.value(lane)) & ~(mask << from)) | ((word(b.value(lane)) & mask) << from));
    return { type, text: `bitfieldInsert(${a.text}, ${b.text}, ${from}, ${count})`, value };
  }
}
