import { GlslStd450 as G, Op } from "../enums.ts";
import type { Context } from "./context.ts";
import type { Types } from "./types.ts";

/**
 * Operand types of plain instructions, by word. First the result: `I` int, `U` unsigned, `F` float, `B` bool, scalar or
 * vector; `I0` … scalar only. Then the operands: `=` the result's type; `i` int as wide as the result with as many
 * components; `n` int, `f` float, `b` bool, with as many components; `N` and `F` the same of another width than the
 * result's; `p` like the operand before (signedness may
 * differ); `k` a scalar int; `f0` a scalar float as wide; `v` a float scalar or vector of any size, as wide.
 * Source: SPIR-V specification, chapters 3.42.13 to 3.42.15, and the GLSL.std.450 specification.
 */
export const instructionRules: ReadonlyMap<number, string> = new Map<number, string>([
  [Op.OpSNegate, "I i"],
  [Op.OpFNegate, "F ="],
  [Op.OpIAdd, "I i i"],
  [Op.OpFAdd, "F = ="],
  [Op.OpISub, "I i i"],
  [Op.OpFSub, "F = ="],
  [Op.OpIMul, "I i i"],
  [Op.OpFMul, "F = ="],
  [Op.OpUDiv, "U = ="],
  [Op.OpSDiv, "I i i"],
  [Op.OpFDiv, "F = ="],
  [Op.OpUMod, "U = ="],
  [Op.OpSRem, "I i i"],
  [Op.OpSMod, "I i i"],
  [Op.OpFRem, "F = ="],
  [Op.OpFMod, "F = ="],
  [Op.OpConvertFToU, "U f"],
  [Op.OpConvertFToS, "I f"],
  [Op.OpConvertSToF, "F n"],
  [Op.OpConvertUToF, "F n"],
  [Op.OpUConvert, "U N"],
  [Op.OpSConvert, "I N"],
  [Op.OpFConvert, "F F"],
  [Op.OpQuantizeToF16, "F ="],
  [Op.OpShiftRightLogical, "I i n"],
  [Op.OpShiftRightArithmetic, "I i n"],
  [Op.OpShiftLeftLogical, "I i n"],
  [Op.OpBitwiseOr, "I i i"],
  [Op.OpBitwiseXor, "I i i"],
  [Op.OpBitwiseAnd, "I i i"],
  [Op.OpNot, "I i"],
  [Op.OpBitFieldInsert, "I = = k k"],
  [Op.OpBitFieldSExtract, "I = k k"],
  [Op.OpBitFieldUExtract, "I = k k"],
  [Op.OpBitReverse, "I ="],
  [Op.OpBitCount, "I n"],
  [Op.OpIsNan, "B f"],
  [Op.OpIsInf, "B f"],
  [Op.OpLogicalEqual, "B = ="],
  [Op.OpLogicalNotEqual, "B = ="],
  [Op.OpLogicalOr, "B = ="],
  [Op.OpLogicalAnd, "B = ="],
  [Op.OpLogicalNot, "B ="],
  [Op.OpIEqual, "B n p"],
  [Op.OpINotEqual, "B n p"],
  [Op.OpUGreaterThan, "B n p"],
  [Op.OpSGreaterThan, "B n p"],
  [Op.OpUGreaterThanEqual, "B n p"],
  [Op.OpSGreaterThanEqual, "B n p"],
  [Op.OpULessThan, "B n p"],
  [Op.OpSLessThan, "B n p"],
  [Op.OpULessThanEqual, "B n p"],
  [Op.OpSLessThanEqual, "B n p"],
  [Op.OpFOrdEqual, "B f p"],
  [Op.OpFUnordEqual, "B f p"],
  [Op.OpFOrdNotEqual, "B f p"],
  [Op.OpFUnordNotEqual, "B f p"],
  [Op.OpFOrdLessThan, "B f p"],
  [Op.OpFUnordLessThan, "B f p"],
  [Op.OpFOrdGreaterThan, "B f p"],
  [Op.OpFUnordGreaterThan, "B f p"],
  [Op.OpFOrdLessThanEqual, "B f p"],
  [Op.OpFUnordLessThanEqual, "B f p"],
  [Op.OpFOrdGreaterThanEqual, "B f p"],
  [Op.OpFUnordGreaterThanEqual, "B f p"],
  [Op.OpDPdx, "F ="],
  [Op.OpDPdy, "F ="],
  [Op.OpFwidth, "F ="],
  [Op.OpDPdxFine, "F ="],
  [Op.OpDPdyFine, "F ="],
  [Op.OpFwidthFine, "F ="],
  [Op.OpDPdxCoarse, "F ="],
  [Op.OpDPdyCoarse, "F ="],
  [Op.OpFwidthCoarse, "F ="],
]);

const all = (rule: string, ...numbers: readonly number[]): [number, string][] => numbers.map((n) => [n, rule]);

/** As `instructionRules`, by GLSL.std.450 number. What is missing here takes pointers, structs or matrices. */
export const glslRules: ReadonlyMap<number, string> = new Map<number, string>([
  ...all("F =", G.Round, G.RoundEven, G.Trunc, G.FAbs, G.FSign, G.Floor, G.Ceil, G.Fract, G.Radians, G.Degrees),
  ...all("F =", G.Sin, G.Cos, G.Tan, G.Asin, G.Acos, G.Atan, G.Sinh, G.Cosh, G.Tanh, G.Asinh, G.Acosh, G.Atanh),
  ...all("F =", G.Exp, G.Log, G.Exp2, G.Log2, G.Sqrt, G.InverseSqrt, G.Normalize),
  ...all("F = =", G.Atan2, G.Pow, G.FMin, G.FMax, G.NMin, G.NMax, G.Step, G.Reflect, G.Cross),
  ...all("F = = =", G.FClamp, G.NClamp, G.FMix, G.SmoothStep, G.Fma, G.FaceForward),
  ...all("F = = f0", G.Refract),
  ...all("F = n", G.Ldexp),
  ...all("F0 v", G.Length),
  ...all("F0 v p", G.Distance),
  ...all("I i", G.SAbs, G.SSign, G.FindILsb, G.FindSMsb, G.FindUMsb),
  ...all("I i i", G.UMin, G.SMin, G.UMax, G.SMax),
  ...all("I i i i", G.UClamp, G.SClamp),
]);

/** A rule's text, taken apart once. */
interface Rule {
  readonly base: "int" | "float" | "bool";
  readonly unsigned: boolean;
  readonly scalar: boolean;
  readonly wants: readonly string[];
}

const bases: Readonly<Record<string, Rule["base"]>> = { I: "int", U: "int", F: "float", B: "bool" };
const parsed = new Map<string, Rule>();

function ruleOf(text: string): Rule {
  let rule = parsed.get(text);
  if (rule === undefined) {
    const [want = "", ...wants] = text.split(" ");
    rule = { base: bases[want[0] ?? ""] ?? "int", unsigned: want[0] === "U", scalar: want[1] === "0", wants };
    parsed.set(text, rule);
  }
  return rule;
}

/** Checks result and operands from `from` on against a rule; returns the complaint, or undefined. */
export function applyRule(c: Context, text: string, result: number, from: number): string | undefined {
  const { types } = c;
  const rule = ruleOf(text);
  if (types.base(result) !== rule.base) return `result must be ${rule.base}`;
  if (rule.unsigned && types.signed(result)) return "result must be unsigned";
  if (rule.scalar && types.dimension(result) !== 1) return "result must be a scalar";
  const { wants } = rule;
  if (c.count - from !== wants.length) return `takes ${wants.length} operands, not ${c.count - from}`;
  let previous = 0;
  for (let i = 0; i < wants.length; i++) {
    const type = c.typeOf(from + i);
    if (!fits(types, wants[i]!, result, type, previous)) return `operand ${i + 1} has the wrong type`;
    previous = type;
  }
  return undefined;
}

function fits(types: Types, want: string, result: number, type: number, previous: number): boolean {
  switch (want) {
    case "=":
      return type === result;
    case "i":
      return types.base(type) === "int" && types.sameSize(type, result) && types.width(type) === types.width(result);
    case "n":
      return types.base(type) === "int" && types.sameSize(type, result);
    case "f":
      return types.base(type) === "float" && types.sameSize(type, result);
    case "N":
      return types.base(type) === "int" && types.sameSize(type, result) && types.width(type) !== types.width(result);
    case "F":
      return types.base(type) === "float" && types.sameSize(type, result) && types.width(type) !== types.width(result);
    case "b":
      return types.base(type) === "bool" && types.sameSize(type, result);
    case "p":
      return types.similar(type, previous);
    case "k":
      return types.base(type) === "int" && types.dimension(type) === 1;
    case "f0":
      return types.base(type) === "float" && types.dimension(type) === 1;
    case "v":
      return types.base(type) === "float" && types.width(type) === types.width(result);
    default:
      return false;
  }
}
