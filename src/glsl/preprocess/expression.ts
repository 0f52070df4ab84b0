import type { Diagnostics } from "../diagnostics.ts";
import { T, type Token } from "../token.ts";

const DEPTH_LIMIT = 200;

/** Binary operators of `#if` by token kind: precedence and meaning on 32-bit integers. */
const operators = new Map<number, readonly [number, (a: number, b: number) => number]>([
  [T.OrOr, [1, (a, b) => (a !== 0 || b !== 0 ? 1 : 0)]],
  [T.AndAnd, [2, (a, b) => (a !== 0 && b !== 0 ? 1 : 0)]],
  [T.Pipe, [3, (a, b) => a | b]],
  [T.Caret, [4, (a, b) => a ^ b]],
  [T.Ampersand, [5, (a, b) => a & b]],
  [T.EqualEqual, [6, (a, b) => (a === b ? 1 : 0)]],
  [T.BangEqual, [6, (a, b) => (a !== b ? 1 : 0)]],
  [T.Less, [7, (a, b) => (a < b ? 1 : 0)]],
  [T.Greater, [7, (a, b) => (a > b ? 1 : 0)]],
  [T.LessEqual, [7, (a, b) => (a <= b ? 1 : 0)]],
  [T.GreaterEqual, [7, (a, b) => (a >= b ? 1 : 0)]],
  [T.ShiftLeft, [8, (a, b) => a << b]],
  [T.ShiftRight, [8, (a, b) => a >> b]],
  [T.Plus, [9, (a, b) => (a + b) | 0]],
  [T.Minus, [9, (a, b) => (a - b) | 0]],
  [T.Star, [10, (a, b) => Math.imul(a, b)]],
  [T.Slash, [10, (a, b) => (b === 0 ? 0 : (a / b) | 0)]],
  [T.Percent, [10, (a, b) => (b === 0 ? 0 : (a % b) | 0)]],
]);

/**
 * Value of an `#if` line whose macros and `defined` are already replaced. Undefined after an error, which is reported.
 * `strict` (ES): a name that is no macro is an error; otherwise it is 0.
 */
export function evaluateCondition(
  tokens: readonly Token[],
  place: Token,
  strict: boolean,
  diagnostics: Diagnostics,
): number | undefined {
  let at = 0;
  let failed = false;

  function fail(token: Token | undefined): number {
    if (!failed) {
      const where = token ?? tokens.at(-1) ?? place;
      diagnostics.error(
        "GLSL_BAD_CONDITION",
        { found: token?.text ?? "the end of the line" },
        where.position,
        where.end,
      );
    }
    failed = true;
    return 0;
  }

  function unary(depth: number): number {
    const token = tokens[at++];
    if (token === undefined || depth > DEPTH_LIMIT) return fail(token);
    switch (token.kind) {
      case T.Number: {
        const { text } = token;
        if (/^0[0-7]+$/.test(text)) return Number.parseInt(text, 8) | 0;
        // no suffixes here, and no digits that octal numbers don't have
        return /^(?:0[xX][0-9a-fA-F]+|0|[1-9]\d*)$/.test(text) ? Number(text) | 0 : fail(token);
      }
      case T.Identifier:
        if (strict) {
          if (!failed) diagnostics.error("GLSL_UNDEFINED_MACRO", { name: token.text }, token.position, token.end);
          failed = true;
        }
        return 0;
      case T.LeftParen: {
        const value = binary(0, depth + 1);
        if (failed) return 0;
        return tokens[at++]?.kind === T.RightParen ? value : fail(tokens[at - 1]);
      }
      case T.Minus:
        return -unary(depth + 1) | 0;
      case T.Plus:
        return unary(depth + 1);
      case T.Bang:
        return unary(depth + 1) === 0 ? 1 : 0;
      case T.Tilde:
        return ~unary(depth + 1);
      default:
        return fail(token);
    }
  }

  function binary(floor: number, depth: number): number {
    let left = unary(depth);
    while (!failed) {
      const row = operators.get(tokens[at]?.kind ?? T.Eof);
      if (row === undefined || row[0] <= floor) break;
      const operator = tokens[at++]!;
      const right = binary(row[0], depth + 1);
      if (!failed && right === 0 && (operator.kind === T.Slash || operator.kind === T.Percent)) {
        diagnostics.error("GLSL_DIVIDE_BY_ZERO", {}, operator.position, operator.end);
        failed = true;
      }
      left = row[1](left, right);
    }
    return left;
  }

  const value = binary(0, 0);
  if (!failed && at < tokens.length) fail(tokens[at]);
  return failed ? undefined : value;
}
