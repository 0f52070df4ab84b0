/**
 * Functions of 16-bit floats that hardware has in that width, at all levels alike: what they give is what the shader gives.
 * Operands and results stand as f32 (`scalars.ts`). Errors stay in what Vulkan allows 16 bits, in units in the last place:
 * sqrt, inversesqrt, 1/x, exp2, log2 1; log 2.2 of 3; exp 1.5 |x| + 0.5 of 2 |x| + 1; sine and cosine 2^-9 of 2^-7 for |x| <= pi.
 * Other functions are computed as f32 and rounded: a quotient a / b by a half's reciprocal would be lost where |b| > 2^14.
 */
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import { SpvGlslStd450 as G } from "../../gen/spirv.ts";
import { constant, constBits, isConst, isLowHalfOp, opOf, setFlags, src } from "../ir/index.ts";
import { bin, tri, un } from "./fold-build.ts";

// Nearest f16.
const LOG2_E: u32 = 0x3dc5;
const LN_2: u32 = 0x398c;
const INVERSE_TWO_PI: u32 = 0x3118;
const ONE_F32: u32 = 0x3f80_0000;

/** The half of one that stands as f32. */
function halfOf(v: u32): u32 {
  return opOf(v) == Op.F162F ? src(v, 0) : un(Op.F2F16, v);
}
/** One half; it stays a product, whatever is added to it. */
function scaled(v: u32, factor: u32): u32 {
  const product = bin(Op.HMUL, v, constant(factor));
  if (opOf(product) == Op.HMUL) setFlags(product, InstrFlag.EXACT | InstrFlag.NUW);
  return product;
}

/** The half that a function of halves gives, high half 0; 0 where hardware has none. */
function function1(f: u32, a: u32): u32 {
  switch (f) {
    case G.Sqrt:
      return un(Op.HSQRT, halfOf(a));
    case G.InverseSqrt:
      return un(Op.HRSQ, halfOf(a));
    case G.Exp2:
      return un(Op.HEXP2, halfOf(a));
    case G.Log2:
      return un(Op.HLOG2, halfOf(a));
    case G.Exp:
      return un(Op.HEXP2, scaled(halfOf(a), LOG2_E));
    case G.Log:
      return scaled(un(Op.HLOG2, halfOf(a)), LN_2);
    case G.Sin:
      return un(Op.HSIN_TURNS, scaled(halfOf(a), INVERSE_TWO_PI));
    case G.Cos:
      return un(Op.HCOS_TURNS, scaled(halfOf(a), INVERSE_TWO_PI));
    case G.Fract:
      return un(Op.HFRACT, halfOf(a));
    default:
      return 0;
  }
}

/** A function of GLSL.std.450 on halves that stand as f32, the result too; 0 where it is none of those here. */
export function halfFunction(f: u32, a: u32, b: u32, c: u32): u32 {
  // Rounded once.
  const value = f == G.Fma ? tri(Op.HFMA, halfOf(a), halfOf(b), halfOf(c)) : function1(f, a);
  return value == 0 ? 0 : un(Op.F162F, value);
}

/** a / b of halves that stand as f32, where a is 1; 0 for others. */
export function halfReciprocal(a: u32, b: u32): u32 {
  return isConst(a) && constBits(a) == ONE_F32 ? un(Op.F162F, un(Op.HRCP, halfOf(b))) : 0;
}

/** The f16 bits of an f32 that is rounded to one: of a half that arithmetic made, the half. */
export function roundedHalf(value: u32): u32 {
  if (opOf(value) != Op.F162F) return un(Op.F2F16, value);
  const op = opOf(src(value, 0));
  return op == Op.HFMA || op == Op.HMUL || isLowHalfOp(op) ? src(value, 0) : un(Op.F2F16, value);
}
