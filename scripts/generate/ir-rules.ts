import { algebraicRules, looseRules, OpFlag, opNumbers, opRows } from "../../src/ir/index.ts";
import type { GeneratedFile } from "../generate.ts";

/** Of an op's word: its sources are constants, and so is what it gives. */
const known = 1 << 27;
/** Kinds of a pattern word, in its top 4 bits. */
const kind = { op: 1, variable: 2, constantVariable: 3, constant: 4 } as const;

function f32Bits(value: number): number {
  return new Uint32Array(new Float32Array([value]).buffer)[0] ?? 0;
}

/** Words of one s-expression in prefix order; variables are numbered by first appearance over the rule. */
function encode(text: string, variables: string[]): number[] {
  const words: number[] = [];
  for (const token of text.match(/\(\w+|[^\s()]+/g) ?? []) {
    if (token.startsWith("(")) {
      const number = opNumbers.get(token.slice(1));
      if (number === undefined) throw new Error(`${text}: no op ${token.slice(1)}`);
      words.push((kind.op << 28) | ((opRows[number - 1]?.srcs.length ?? 0) << 16) | number);
    } else if (token === "true" || token === "false") {
      words.push((kind.constant << 28) | 1, token === "true" ? 1 : 0);
    } else if (/^-?\d/.test(token)) {
      words.push((kind.constant << 28) | 32, token.includes(".") ? f32Bits(Number(token)) : Number(token) >>> 0);
    } else {
      const name = token.replace("#", "");
      if (!variables.includes(name)) variables.push(name);
      words.push(((token.startsWith("#") ? kind.constantVariable : kind.variable) << 28) | variables.indexOf(name));
    }
  }
  return words;
}

/** Marks the ops that have constants alone below them. */
function markKnown(words: number[]): number[] {
  for (let k = 0; k < words.length; k += (words[k] ?? 0) >>> 28 === kind.constant ? 2 : 1) {
    if ((words[k] ?? 0) >>> 28 !== kind.op) continue;
    let isKnown = true;
    const end = after(words, k);
    for (let j = k; j < end; j += (words[j] ?? 0) >>> 28 === kind.constant ? 2 : 1)
      isKnown = isKnown && (words[j] ?? 0) >>> 28 !== kind.variable;
    if (isKnown) words[k] = ((words[k] ?? 0) | known) >>> 0;
  }
  return words;
}

/** Word after the expression at k. */
function after(words: readonly number[], k: number): number {
  let next = k;
  for (let open = 1; open > 0; open--) {
    const word = words[next] ?? 0;
    if (word >>> 28 === kind.op) open += (word >>> 16) & 0x7ff;
    next += word >>> 28 === kind.constant ? 2 : 1;
  }
  return next;
}

/** Shape bits: the two first sources may be exchanged; they are the same variable. */
const swaps = 0x1000000;
const twins = 0x2000000;
/** The rule is one of `looseRules`. */
const loose = 0x4000000;
/** A condition over constants follows the replacement. */
const conditional = 0x8000000;
/** The root is a word, where the ops of the pattern would take booleans too but the replacement does not. */
const word = 0x10000000;

/** Whether an expression takes booleans: each of its ops does. */
function takesBooleans(words: readonly number[]): boolean {
  for (let k = 0; k < words.length; k += (words[k] ?? 0) >>> 28 === kind.constant ? 2 : 1) {
    const entry = words[k] ?? 0;
    if (entry >>> 28 === kind.constant && (entry & 0xff) === 32) return false;
    if (entry >>> 28 === kind.op && opRows[(entry & 0xffff) - 1]?.dst !== "any") return false;
  }
  return true;
}

/** What a root must have at first sight: mask and value of its sources' ops, a byte a source, with the bits above. */
function shape(pattern: readonly number[]): [mask: number, value: number] {
  const row = opRows[((pattern[0] ?? 0) & 0xffff) - 1];
  let mask = ((row?.flags ?? 0) & OpFlag.Commutative) !== 0 ? swaps : 0;
  let value = 0;
  let k = 1;
  for (let source = 0; k < pattern.length; source++) {
    const word = pattern[k] ?? 0;
    const op =
      word >>> 28 === kind.op
        ? word & 0xffff
        : word >>> 28 === kind.variable
          ? undefined
          : (opNumbers.get("const") ?? 0);
    if (op !== undefined) {
      if (op > 0xff || source > 2) throw new Error("a source's op must fit into a byte of a word");
      mask |= 0xff << (8 * source);
      value |= op << (8 * source);
    }
    k = after(pattern, k);
  }
  if (pattern[1] === pattern[2] && (pattern[1] ?? 0) >>> 28 === kind.variable) mask |= twins;
  return [mask, value];
}

/** Which rules of an op its sources' ops leave: bit n for the nth rule. */
interface Fits {
  /** Number of each op that a rule wants of one of the first two sources; all others are 0. */
  readonly classes: readonly number[];
  readonly classCount: number;
  /** By op: number of its row; 0: it has no rules. */
  readonly rows: readonly number[];
  /** A row: rules that two sources fit in either order, rules of twins; by class those that fit source 0, source 1. */
  readonly table: readonly number[];
}

function fitsOf(byOp: readonly (readonly (readonly number[])[])[]): Fits {
  const classes = byOp.map(() => 0);
  let classCount = 1;
  for (const [, mask = 0, wanted = 0] of byOp.flat()) {
    for (const lsb of [0, 8]) {
      const op = (wanted >>> lsb) & 0xff;
      if (((mask >>> lsb) & 0xff) !== 0 && classes[op] === 0) classes[op] = classCount++;
    }
  }
  const rows: number[] = [];
  const table: number[] = new Array(2 + 2 * classCount).fill(0);
  let rowCount = 0;
  for (const rules of byOp) {
    if (rules.length > 32) throw new Error("the rules of an op must fit into the bits of a word");
    rows.push(rules.length === 0 ? 0 : ++rowCount);
    if (rules.length === 0) continue;
    const having = (test: (mask: number, wanted: number) => boolean): number =>
      rules.reduce((bits, [, mask = 0, wanted = 0], n) => (test(mask, wanted) ? (bits | (1 << n)) >>> 0 : bits), 0);
    table.push(having((mask) => (mask & swaps) !== 0));
    table.push(having((mask) => (mask & twins) !== 0));
    for (let k = 0; k < classCount; k++) {
      for (const lsb of [0, 8]) {
        table.push(having((mask, wanted) => ((mask >>> lsb) & 0xff) === 0 || classes[(wanted >>> lsb) & 0xff] === k));
      }
    }
  }
  return { classes, classCount, rows, table: table.map((bits) => bits >>> 0) };
}

/** The rules of opt-algebraic as one table of words: by op the first rule's place, then the rules. */
export function generate(): GeneratedFile[] {
  const byOp: number[][][] = Array.from({ length: opRows.length + 1 }, () => []);
  for (const rule of [...algebraicRules, ...looseRules]) {
    const [pattern, replacement, condition] = rule;
    const variables: string[] = [];
    const from = encode(pattern, variables);
    const bound = variables.length;
    const to = markKnown(encode(replacement, variables));
    if (variables.length !== bound || bound > 4) throw new Error(`${pattern}: unbound or too many variables`);
    const when = condition === undefined ? [] : encode(condition, variables);
    if (variables.length !== bound || when.some((w) => w >>> 28 === kind.variable))
      throw new Error(`${pattern}: a condition is over the pattern's constants`);
    const [mask, value] = shape(from);
    let bits = looseRules.includes(rule) ? mask | loose : mask;
    if (condition !== undefined) bits |= conditional;
    if (takesBooleans(from) && !takesBooleans(to)) bits |= word;
    byOp[(from[0] ?? 0) & 0xffff]?.push([from.length, bits, value, ...from, ...to, ...when]);
  }
  const words: number[] = [];
  const places: number[] = [];
  const firsts: number[] = [];
  for (const rules of byOp) {
    firsts.push(places.length);
    for (const rule of rules) {
      places.push(words.length);
      words.push(...rule);
    }
  }
  const fits = fitsOf(byOp);
  const rows = (values: readonly number[]): string => {
    const lines: string[] = [];
    for (let i = 0; i < values.length; i += 12) lines.push(`  ${values.slice(i, i + 12).join(", ")},`);
    return lines.join("\n");
  };
  const text = `// Generated by scripts/generate/ir-rules.ts from src/ir/rules.ts. Do not edit.

/** By op: number of its row in RULE_FITS, 0 where it has no rules; the class that it is as a source. */
export const RULE_OPS: usize = memory.data<u8>([
${rows(fits.rows.flatMap((row, op) => [row, fits.classes[op] ?? 0]))}
]);

export const RULE_FIT_WORDS: u32 = ${2 + 2 * fits.classCount};
/**
 * Rows of sets of an op's rules, bit n for the nth: those whose first two sources may be exchanged, those that want both the
 * same; then by class those that source 0 of the class fits, and source 1.
 */
export const RULE_FITS: usize = memory.data<u32>([
${rows(fits.table)}
]);

/** By op: index in RULE_PLACES of its first rule. */
export const RULE_FIRSTS: usize = memory.data<u32>([
${rows(firsts)}
]);

/** By rule: index in RULE_WORDS. */
export const RULE_PLACES: usize = memory.data<u32>([
${rows(places)}
]);

/**
 * Rules: length of the pattern, shape, pattern, replacement, condition, in prefix order.
 * Shape: mask and value of the ops of the root's sources, a byte each; bit 24 of the mask: the first two may be exchanged,
 * bit 25: they are the same value, bit 26: roundings may differ, bit 27: there is a condition, bit 28: for words alone.
 * Top 4 bits 1: op (low half) with sources (bits 16 to 26), bit 27: of constants alone; 2: variable; 3: variable that is a constant; 4: constant of
 * that width, its bits in the next word.
 */
export const RULE_WORDS: usize = memory.data<u32>([
${rows(words)}
]);
`;
  return [{ path: "assembly/gen/ir-rules.ts", text }];
}
