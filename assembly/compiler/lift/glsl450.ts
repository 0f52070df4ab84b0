/**
 * GLSL.std.450, expanded to IR ops. Bounds are Vulkan's ("Precision of GLSL.std.450 Instructions"); polynomials are
 * minimax fits stated where they stand.
 */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvGlslStd450 as G } from "../../gen/spirv.ts";
import { constant, constantF } from "../ir/index.ts";
import { dot } from "./alu.ts";
import { bin, fadd, fmul, fsub, sel, tri, un } from "./fold-build.ts";
import { leafPool } from "./ids.ts";

// Rounded to f32, as bits: the compiler of this file has no say in it.
const LOG2_E: f32 = reinterpret<f32>(0x3fb8aa3b);
const LN_2: f32 = reinterpret<f32>(0x3f317218);
const HALF_PI: f32 = reinterpret<f32>(0x3fc90fdb);
const PI: f32 = reinterpret<f32>(0x40490fdb);

function neg(a: u32): u32 {
  return un(Op.FNEG, a);
}
function abs(a: u32): u32 {
  return un(Op.FABS, a);
}
function exp2(a: u32): u32 {
  return un(Op.FEXP2, a);
}
function exp(a: u32): u32 {
  return exp2(fmul(a, constantF(LOG2_E)));
}
function ln(a: u32): u32 {
  return fmul(un(Op.FLOG2, a), constantF(LN_2));
}
function div(a: u32, b: u32): u32 {
  return bin(Op.FDIV, a, b);
}
function lt(a: u32, b: u32): u32 {
  return bin(Op.FLT, a, b);
}
function fma(a: u32, b: u32, c: u32): u32 {
  return tri(Op.FFMA, a, b, c);
}
/** x with the sign of s. */
function copySign(x: u32, s: u32): u32 {
  return tri(Op.BFI, constant(0x7fff_ffff), x, s);
}
function fsign(a: u32): u32 {
  const one = copySign(constantF(1), a);
  return sel(bin(Op.FNEU, a, constant(0)), one, a);
}
function isign(a: u32): u32 {
  return bin(Op.IMAX, constant(0xffff_ffff), bin(Op.IMIN, a, constant(1)));
}
function clampF(x: u32, lo: u32, hi: u32): u32 {
  return bin(Op.FMIN, bin(Op.FMAX, x, lo), hi);
}

/** acos(|x|) = sqrt(1 - |x|) * p(|x|), Abramowitz and Stegun 4.4.46: absolute error below 2e-8 before rounding. */
function acosPositive(x: u32): u32 {
  let p = constantF(-0.0012624911);
  p = fma(p, x, constantF(0.0066700901));
  p = fma(p, x, constantF(-0.0170881256));
  p = fma(p, x, constantF(0.030891881));
  p = fma(p, x, constantF(-0.0501743046));
  p = fma(p, x, constantF(0.0889789874));
  p = fma(p, x, constantF(-0.2145988016));
  p = fma(p, x, constantF(1.570796305));
  return fmul(p, un(Op.FSQRT, fsub(constantF(1), x)));
}
/** Near 0 the difference to pi/2 cancels, so there asin is its odd series to x^9. */
function asin(a: u32): u32 {
  const x = abs(a);
  const big = fsub(constantF(HALF_PI), acosPositive(x));
  const s = fmul(x, x);
  let p = constantF(0.030381944);
  p = fma(p, s, constantF(0.044642857));
  p = fma(p, s, constantF(0.075));
  p = fma(p, s, constantF(0.16666667));
  const small = fma(fmul(x, s), p, x);
  return copySign(sel(lt(x, constantF(0.35)), small, big), a);
}
function acos(a: u32): u32 {
  const r = acosPositive(abs(a));
  return sel(lt(a, constant(0)), fsub(constantF(PI), r), r);
}

/** atan on [0, 1]: Abramowitz and Stegun 4.4.49, absolute error below 2e-8. */
function atanUnit(x: u32): u32 {
  const s = fmul(x, x);
  let p = constantF(0.0028662257);
  p = fma(p, s, constantF(-0.0161657367));
  p = fma(p, s, constantF(0.0429096138));
  p = fma(p, s, constantF(-0.07528964));
  p = fma(p, s, constantF(0.1065626393));
  p = fma(p, s, constantF(-0.1420889944));
  p = fma(p, s, constantF(0.1999355085));
  p = fma(p, s, constantF(-0.3333314528));
  return fma(fmul(p, s), x, x);
}
function atan(a: u32): u32 {
  const x = abs(a);
  const big = lt(constantF(1), x);
  const r = atanUnit(sel(big, un(Op.FRCP, x), x));
  return copySign(sel(big, fsub(constantF(HALF_PI), r), r), a);
}
function atan2(y: u32, x: u32): u32 {
  const ax = abs(x);
  const ay = abs(y);
  const steep = lt(ax, ay);
  const lo = sel(steep, ax, ay);
  const hi = sel(steep, ay, ax);
  // Equal magnitudes (0/0 apart, which is undefined; Inf/Inf) give 1.
  const ratio = sel(bin(Op.FEQ, lo, hi), constantF(1), div(lo, hi));
  const zero = bin(Op.FEQ, hi, constant(0));
  let r = atanUnit(sel(zero, constant(0), ratio));
  r = sel(steep, fsub(constantF(HALF_PI), r), r);
  r = sel(bin(Op.ILT, x, constant(0)), fsub(constantF(PI), r), r);
  return copySign(r, y);
}
/** (e^x - e^-x) / 2; below 0.5 the odd series to x^7, as the difference cancels. */
function sinh(a: u32): u32 {
  const e = exp(a);
  const big = fmul(constantF(0.5), fsub(e, exp(neg(a))));
  const s = fmul(a, a);
  let p = constantF(0.0001984127);
  p = fma(p, s, constantF(0.0083333333));
  p = fma(p, s, constantF(0.16666667));
  const small = fma(fmul(a, s), p, a);
  return sel(lt(abs(a), constantF(0.5)), small, big);
}
function cosh(a: u32): u32 {
  return fmul(constantF(0.5), fadd(exp(a), exp(neg(a))));
}
/** Beyond 10 tanh is 1 in f32; clamped so that no Inf / Inf comes up. */
function tanh(a: u32): u32 {
  const x = clampF(a, constantF(-10), constantF(10));
  const e = exp(fmul(constantF(2), x));
  const big = div(fsub(e, constantF(1)), fadd(e, constantF(1)));
  const s = fmul(x, x);
  let p = constantF(-0.053968254);
  p = fma(p, s, constantF(0.13333333));
  p = fma(p, s, constantF(-0.33333333));
  const small = fma(fmul(x, s), p, x);
  return sel(lt(abs(x), constantF(0.25)), small, big);
}
function asinh(a: u32): u32 {
  const x = abs(a);
  const big = ln(fadd(x, un(Op.FSQRT, fma(x, x, constantF(1)))));
  const small = fsub(x, fmul(fmul(fmul(x, x), x), constantF(0.16666667)));
  return copySign(sel(lt(x, constantF(0.05)), small, big), a);
}
function acosh(a: u32): u32 {
  return ln(fadd(a, un(Op.FSQRT, fsub(fmul(a, a), constantF(1)))));
}
function atanh(a: u32): u32 {
  return fmul(constantF(0.5), ln(div(fadd(constantF(1), a), fsub(constantF(1), a))));
}
function pow(a: u32, b: u32): u32 {
  return exp2(fmul(b, un(Op.FLOG2, a)));
}
/** 31 - leading zeros, -1 where there is none. */
function msb(rev: u32): u32 {
  return sel(bin(Op.IEQ, rev, constant(0xffff_ffff)), rev, bin(Op.ISUB, constant(31), rev));
}

/** One scalar of a component-wise function of one, two or three operands; 0 where it is none of these. */
export function glslScalar(f: u32, a: u32, b: u32, c: u32): u32 {
  switch (f) {
    case G.Round:
    case G.RoundEven:
      return un(Op.FROUND_EVEN, a);
    case G.Trunc:
      return un(Op.FTRUNC, a);
    case G.FAbs:
      return abs(a);
    case G.SAbs:
      return un(Op.IABS, a);
    case G.FSign:
      return fsign(a);
    case G.SSign:
      return isign(a);
    case G.Floor:
      return un(Op.FFLOOR, a);
    case G.Ceil:
      return un(Op.FCEIL, a);
    case G.Fract:
      return un(Op.FFRACT, a);
    case G.Radians:
      return fmul(a, constantF(0.0174532925));
    case G.Degrees:
      return fmul(a, constantF(57.2957795));
    case G.Sin:
      return un(Op.FSIN, a);
    case G.Cos:
      return un(Op.FCOS, a);
    case G.Tan:
      return div(un(Op.FSIN, a), un(Op.FCOS, a));
    case G.Asin:
      return asin(a);
    case G.Acos:
      return acos(a);
    case G.Atan:
      return atan(a);
    case G.Atan2:
      return atan2(a, b);
    case G.Sinh:
      return sinh(a);
    case G.Cosh:
      return cosh(a);
    case G.Tanh:
      return tanh(a);
    case G.Asinh:
      return asinh(a);
    case G.Acosh:
      return acosh(a);
    case G.Atanh:
      return atanh(a);
    case G.Pow:
      return pow(a, b);
    case G.Exp:
      return exp(a);
    case G.Log:
      return ln(a);
    case G.Exp2:
      return exp2(a);
    case G.Log2:
      return un(Op.FLOG2, a);
    case G.Sqrt:
      return un(Op.FSQRT, a);
    case G.InverseSqrt:
      return un(Op.FRSQ, a);
    case G.FMin:
    case G.NMin:
      return bin(Op.FMIN, a, b);
    case G.FMax:
    case G.NMax:
      return bin(Op.FMAX, a, b);
    case G.UMin:
      return bin(Op.UMIN, a, b);
    case G.UMax:
      return bin(Op.UMAX, a, b);
    case G.SMin:
      return bin(Op.IMIN, a, b);
    case G.SMax:
      return bin(Op.IMAX, a, b);
    case G.FClamp:
    case G.NClamp:
      return clampF(a, b, c);
    case G.UClamp:
      return bin(Op.UMIN, bin(Op.UMAX, a, b), c);
    case G.SClamp:
      return bin(Op.IMIN, bin(Op.IMAX, a, b), c);
    case G.FMix:
      return fadd(fmul(a, fsub(constantF(1), c)), fmul(b, c));
    case G.Step:
      return sel(lt(b, a), constant(0), constantF(1));
    case G.SmoothStep: {
      const t = un(Op.FSAT, div(fsub(c, a), fsub(b, a)));
      return fmul(fmul(t, t), fsub(constantF(3), fmul(constantF(2), t)));
    }
    case G.Fma:
      return fma(a, b, c);
    case G.Ldexp:
      return bin(Op.FLDEXP, a, b);
    case G.FindILsb:
      return un(Op.FIND_LSB, a);
    case G.FindSMsb:
      return msb(un(Op.IFFBH, a));
    case G.FindUMsb:
      return msb(un(Op.UFFBH, a));
    default:
      return 0;
  }
}

function length(a: u32, count: u32): u32 {
  if (count == 1) return abs(leafPool[a]);
  return un(Op.FSQRT, dot(a, 1, a, 1, count));
}

/** Functions over whole vectors. Operands and result are runs of leaves; false where it is none of these. */
export function glslVector(f: u32, out: u32, a: u32, b: u32, c: u32, count: u32): bool {
  switch (f) {
    case G.Length:
      leafPool[out] = length(a, count);
      return true;
    case G.Distance: {
      for (let k: u32 = 0; k < count; k++) leafPool[b + k] = fsub(leafPool[a + k], leafPool[b + k]);
      leafPool[out] = length(b, count);
      return true;
    }
    case G.Cross: {
      if (count != 3) return false;
      for (let k: u32 = 0; k < 3; k++) {
        const i: u32 = (k + 1) % 3;
        const j: u32 = (k + 2) % 3;
        leafPool[out + k] = fsub(fmul(leafPool[a + i], leafPool[b + j]), fmul(leafPool[a + j], leafPool[b + i]));
      }
      return true;
    }
    case G.Normalize: {
      if (count == 1) {
        leafPool[out] = fsign(leafPool[a]);
        return true;
      }
      const inverse = un(Op.FRSQ, dot(a, 1, a, 1, count));
      for (let k: u32 = 0; k < count; k++) leafPool[out + k] = fmul(leafPool[a + k], inverse);
      return true;
    }
    case G.FaceForward: {
      const facing = lt(dot(c, 1, b, 1, count), constant(0));
      for (let k: u32 = 0; k < count; k++) leafPool[out + k] = sel(facing, leafPool[a + k], neg(leafPool[a + k]));
      return true;
    }
    case G.Reflect: {
      const d = fmul(constantF(2), dot(b, 1, a, 1, count));
      for (let k: u32 = 0; k < count; k++) leafPool[out + k] = fsub(leafPool[a + k], fmul(d, leafPool[b + k]));
      return true;
    }
    case G.Refract: {
      const eta = leafPool[c];
      const d = dot(b, 1, a, 1, count);
      const k0 = fsub(constantF(1), fmul(fmul(eta, eta), fsub(constantF(1), fmul(d, d))));
      const total = lt(k0, constant(0));
      const scale = fadd(fmul(eta, d), un(Op.FSQRT, k0));
      for (let k: u32 = 0; k < count; k++) {
        const r = fsub(fmul(eta, leafPool[a + k]), fmul(scale, leafPool[b + k]));
        leafPool[out + k] = sel(total, constant(0), r);
      }
      return true;
    }
    default:
      return false;
  }
}

function packNorm(x: u32, lo: f32, scale: f32, mask: u32): u32 {
  const r = un(Op.FROUND_EVEN, fmul(clampF(x, constantF(lo), constantF(1)), constantF(scale)));
  return bin(Op.IAND, un(lo < 0 ? Op.F2I : Op.F2U, r), constant(mask));
}
function unpackNorm(word: u32, shift: u32, bits: u32, signed: bool, scale: f32): u32 {
  const field = tri(signed ? Op.IBFE : Op.UBFE, word, constant(shift), constant(bits));
  const x = fmul(un(signed ? Op.I2F : Op.U2F, field), constantF(scale));
  return signed ? clampF(x, constantF(-1), constantF(1)) : x;
}
function packed(a: u32, count: u32, lo: f32, scale: f32): u32 {
  const bits: u32 = 32 / count;
  let word: u32 = constant(0);
  for (let k: u32 = 0; k < count; k++) {
    const part = packNorm(leafPool[a + k], lo, scale, ((<u32>1) << bits) - 1);
    word = k == 0 ? part : bin(Op.IOR, word, bin(Op.ISHL, part, constant(k * bits)));
  }
  return word;
}
function unpacked(out: u32, word: u32, count: u32, signed: bool, scale: f32): void {
  const bits: u32 = 32 / count;
  for (let k: u32 = 0; k < count; k++) leafPool[out + k] = unpackNorm(word, k * bits, bits, signed, scale);
}

/** Packing and unpacking; false where it is none of these. */
export function glslPack(f: u32, out: u32, a: u32): bool {
  switch (f) {
    case G.PackSnorm4x8:
      leafPool[out] = packed(a, 4, -1, 127);
      return true;
    case G.PackUnorm4x8:
      leafPool[out] = packed(a, 4, 0, 255);
      return true;
    case G.PackSnorm2x16:
      leafPool[out] = packed(a, 2, -1, 32767);
      return true;
    case G.PackUnorm2x16:
      leafPool[out] = packed(a, 2, 0, 65535);
      return true;
    case G.PackHalf2x16:
      leafPool[out] = bin(Op.IOR, un(Op.F2F16, leafPool[a]), bin(Op.ISHL, un(Op.F2F16, leafPool[a + 1]), constant(16)));
      return true;
    case G.UnpackSnorm2x16:
      unpacked(out, leafPool[a], 2, true, <f32>(1.0 / 32767.0));
      return true;
    case G.UnpackUnorm2x16:
      unpacked(out, leafPool[a], 2, false, <f32>(1.0 / 65535.0));
      return true;
    case G.UnpackHalf2x16:
      leafPool[out] = un(Op.F162F, leafPool[a]);
      leafPool[out + 1] = un(Op.F162F, bin(Op.USHR, leafPool[a], constant(16)));
      return true;
    case G.UnpackSnorm4x8:
      unpacked(out, leafPool[a], 4, true, <f32>(1.0 / 127.0));
      return true;
    case G.UnpackUnorm4x8:
      unpacked(out, leafPool[a], 4, false, <f32>(1.0 / 255.0));
      return true;
    default:
      return false;
  }
}

/** Element of a square matrix held column by column. */
function at(m: u32, n: u32, column: u32, row: u32): u32 {
  return leafPool[m + column * n + row];
}
function det2(a: u32, b: u32, c: u32, d: u32): u32 {
  return fsub(fmul(a, d), fmul(b, c));
}
/** Determinant of the minor without one column and one row (n = 2, 3, 4). */
function minor(m: u32, n: u32, column: u32, row: u32): u32 {
  const c0: u32 = column == 0 ? 1 : 0;
  const r0: u32 = row == 0 ? 1 : 0;
  if (n == 2) return at(m, n, c0, r0);
  const c1: u32 = column <= 1 ? 2 : 1;
  const r1: u32 = row <= 1 ? 2 : 1;
  if (n == 3) return det2(at(m, n, c0, r0), at(m, n, c1, r0), at(m, n, c0, r1), at(m, n, c1, r1));
  const c2: u32 = column <= 2 ? 3 : 2;
  const r2: u32 = row <= 2 ? 3 : 2;
  const d0 = det2(at(m, n, c1, r1), at(m, n, c2, r1), at(m, n, c1, r2), at(m, n, c2, r2));
  const d1 = det2(at(m, n, c0, r1), at(m, n, c2, r1), at(m, n, c0, r2), at(m, n, c2, r2));
  const d2 = det2(at(m, n, c0, r1), at(m, n, c1, r1), at(m, n, c0, r2), at(m, n, c1, r2));
  return fadd(fsub(fmul(at(m, n, c0, r0), d0), fmul(at(m, n, c1, r0), d1)), fmul(at(m, n, c2, r0), d2));
}

export function determinant(m: u32, n: u32): u32 {
  let sum: u32 = 0;
  for (let c: u32 = 0; c < n && !failed(); c++) {
    const term = fmul(at(m, n, c, 0), minor(m, n, c, 0));
    sum = c == 0 ? term : (c & 1) != 0 ? fsub(sum, term) : fadd(sum, term);
  }
  return sum;
}

/** Inverse by cofactors: adjugate over determinant. */
export function inverse(out: u32, m: u32, n: u32): void {
  const scale = un(Op.FRCP, determinant(m, n));
  for (let c: u32 = 0; c < n && !failed(); c++) {
    for (let r: u32 = 0; r < n; r++) {
      const cofactor = minor(m, n, r, c);
      leafPool[out + c * n + r] = fmul(((c + r) & 1) != 0 ? neg(cofactor) : cofactor, scale);
    }
  }
}
