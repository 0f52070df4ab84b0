import { describe, expect, it } from "vitest";
import { algebraicRules, opRows } from "../../src/ir/index.ts";
import { exactMeaning } from "./interpreter/meaning.ts";

type Expression = { readonly op: string; readonly sources: readonly Expression[] } | string;

function parse(text: string): Expression {
  const tokens = text.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const next = (): Expression => {
    const token = tokens[at++] ?? "";
    if (token !== "(") return token;
    const op = tokens[at++] ?? "";
    const sources: Expression[] = [];
    while (tokens[at] !== ")") sources.push(next());
    at++;
    return { op, sources };
  };
  return next();
}

function leaves(e: Expression): string[] {
  return typeof e === "string" ? [e] : e.sources.flatMap(leaves);
}
function ops(e: Expression): string[] {
  return typeof e === "string" ? [] : [e.op, ...e.sources.flatMap(ops)];
}
const isVariable = (leaf: string): boolean => /^#?[a-z]$/.test(leaf);

function evaluate(e: Expression, values: ReadonlyMap<string, number>): number {
  if (typeof e === "string") {
    if (isVariable(e)) return values.get(e.replace("#", "")) ?? 0;
    return Number(e) >>> 0;
  }
  const meaning = exactMeaning[e.op];
  if (meaning === undefined) throw new Error(`the test does not know ${e.op}`);
  const [a = 0, b = 0, c = 0] = e.sources.map((s) => evaluate(s, values));
  return meaning(a, b, c) >>> 0;
}

const isInteger = (name: string): boolean =>
  opRows.some((row) => row.name === name && row.dst !== "1" && row.srcs.every((s) => s !== "1")) &&
  !/^[fdh]|2[fi]$/.test(name);
const corners = [0, 1, 2, 7, 8, 15, 16, 24, 31, 32, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xffff0000, 0xffffffff];

/** Rules over words alone, whose values need no type. */
const integerRules = algebraicRules.filter(([pattern, replacement]) => {
  const both = [parse(pattern), parse(replacement)];
  return both.flatMap(ops).every(isInteger) && both.flatMap(leaves).every((l) => isVariable(l) || /^(0x|\d+$)/.test(l));
});

describe("rewrites of integers", () => {
  it("are most of those without booleans and reals", () => {
    expect(integerRules.length).toBeGreaterThan(40);
  });

  for (const [pattern, replacement, condition] of integerRules) {
    it(`${pattern} is ${replacement}`, () => {
      const [from, to] = [parse(pattern), parse(replacement)];
      const when = condition === undefined ? undefined : parse(condition);
      const names = [...new Set(leaves(from).filter(isVariable))].map((l) => l.replace("#", ""));
      const wrong: string[] = [];
      let held = 0;
      let seed = 1;
      for (let k = 0; k < 800; k++) {
        const values = new Map<string, number>();
        for (const name of names) {
          seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
          const corner = corners[seed >>> 28] ?? 0;
          values.set(name, (seed & 0x100) !== 0 ? corner : Math.imul(seed, 0x9e3779b1) >>> 0);
        }
        // Masks that are each other's opposite do not come by chance.
        const mask = values.get("m");
        if (mask !== undefined && (k & 1) === 0 && values.has("n")) values.set("n", ~mask >>> 0);
        if (when !== undefined && evaluate(when, values) === 0) continue;
        held++;
        if (evaluate(to, values) !== evaluate(from, values)) wrong.push(JSON.stringify([...values]));
      }
      expect(wrong).toEqual([]);
      expect(held).toBeGreaterThan(20);
    });
  }
});
