import { enumKind, type InstructionRow, instructionRow, type OperandRow } from "./grammar.ts";
import { stringWords } from "./literals.ts";

/** Why an instruction's words do not fit its row. */
export type OperandProblem =
  | { readonly problem: "missing"; readonly kind: string }
  | { readonly problem: "extra"; readonly words: number }
  | { readonly problem: "enumerant"; readonly kind: string; readonly value: number }
  | { readonly problem: "string" }
  | { readonly problem: "literalType"; readonly id: number };

/** Gets each operand in word order: its kind (`id`, `int`, `StorageClass`, …), first word, length in words. */
export type OperandVisitor = (kind: string, at: number, length: number) => void;

/** Bits of the integer or float type that a context-dependent literal has, or undefined where `id` names none. */
export type WidthOf = (id: number) => number | undefined;

/**
 * Walks the operands of the instruction at `at` (its first word) up to `end`, checking them against its row: counts,
 * enumerants, strings, literals as wide as their type. Returns the first problem, or undefined.
 */
export function walkOperands(
  words: Uint32Array,
  at: number,
  end: number,
  row: InstructionRow,
  widthOf: WidthOf,
  visit: OperandVisitor,
): OperandProblem | undefined {
  let next = at + 1;
  if (row.plain) {
    for (const { kind } of row.operands) {
      if (next >= end) return { problem: "missing", kind };
      visit(kind, next++, 1);
    }
    return next < end ? { problem: "extra", words: end - next } : undefined;
  }

  const one = (kind: string): OperandProblem | undefined => {
    if (next >= end) return { problem: "missing", kind };
    const first = next;
    switch (kind) {
      case "type":
      case "result":
      case "id":
      case "scope":
      case "semantics":
      case "int":
      case "extinst":
        next++;
        visit(kind, first, 1);
        return undefined;
      case "string": {
        const length = stringWords(words, first, end);
        if (length === 0) return { problem: "string" };
        next += length;
        visit(kind, first, length);
        return undefined;
      }
      case "number": {
        // constants: the type is the first operand; OpSwitch: the selector is
        const owner = words[at + 1]!;
        const width = widthOf(owner);
        if (width === undefined) return { problem: "literalType", id: owner };
        const length = width > 32 ? 2 : 1;
        if (first + length > end) return { problem: "missing", kind };
        next += length;
        visit(kind, first, length);
        return undefined;
      }
      case "specop": {
        const inner = instructionRow(words[first]!);
        if (inner === undefined || inner === row || !inner.hasType || !inner.hasResult) {
          return { problem: "enumerant", kind: "opcode", value: words[first]! };
        }
        next++;
        visit(kind, first, 1);
        return list(inner.operands.slice(2));
      }
      default:
        return enumerant(kind);
    }
  };

  const enumerant = (kind: string): OperandProblem | undefined => {
    const first = next;
    const table = enumKind(kind)!;
    const value = words[first]!;
    next++;
    if (!table.mask) {
      const row = table.byValue.get(value);
      if (row === undefined) return { problem: "enumerant", kind, value };
      visit(kind, first, 1);
      return row.parameters.length === 0 ? undefined : list(row.parameters);
    }
    let rest = value;
    visit(kind, first, 1);
    while (rest !== 0) {
      const bit = (rest & -rest) >>> 0;
      rest = (rest & (rest - 1)) >>> 0;
      const row = table.byValue.get(bit);
      if (row === undefined) return { problem: "enumerant", kind, value };
      const problem = row.parameters.length === 0 ? undefined : list(row.parameters);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };

  const list = (operands: readonly OperandRow[]): OperandProblem | undefined => {
    for (const operand of operands) {
      if (operand.quantifier === "?" && next >= end) continue;
      do {
        if (operand.quantifier === "*" && next >= end) break;
        const problem = one(operand.kind) ?? (operand.pair === undefined ? undefined : one(operand.pair));
        if (problem !== undefined) return problem;
      } while (operand.quantifier === "*");
    }
    return undefined;
  };

  const problem = list(row.operands);
  if (problem !== undefined) return problem;
  return next < end ? { problem: "extra", words: end - next } : undefined;
}
