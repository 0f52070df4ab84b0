/**
 * Replaces udiv, umod, idiv, irem, imod. By constants: shifts, or a multiplication by a magic number (Granlund and
 * Montgomery, "Division by Invariant Integers using Multiplication"; signed ones as in Warren, "Hacker's Delight",
 * 10-1). What is never negative is divided without sign. By variables: reciprocal in f32, two steps of
 * correction, exact for all operands (the scheme of LLVM's AMDGPU back end); division by 0 gives some value.
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  alu1,
  alu2,
  constant,
  constBits,
  cursorBefore,
  entryBlock,
  erase,
  firstInstr,
  hasMadeAny,
  isConst,
  nextBlock,
  nextInstr,
  opOf,
  replaceUses,
  select,
  src,
  upperBound,
} from "../ir/index.ts";

function add(a: u32, b: u32): u32 {
  return alu2(Op.IADD, a, b);
}
function sub(a: u32, b: u32): u32 {
  return alu2(Op.ISUB, a, b);
}
function mul(a: u32, b: u32): u32 {
  return alu2(Op.IMUL, a, b);
}
function ushr(a: u32, n: u32): u32 {
  return n == 0 ? a : alu2(Op.USHR, a, constant(n));
}

/** Remainder of the last variable division. */
let remainder: u32 = 0;

/** Unsigned n / d for a variable d; the remainder in `remainder`. */
function divideVariable(n: u32, d: u32): u32 {
  // 2^32 / d a little too small: 0x4f7ffffe is 2^32 - 512, so that the product never rounds up to more.
  const scaled = alu2(Op.FMUL, alu1(Op.FRCP, alu1(Op.U2F, d)), constant(0x4f7ffffe));
  let z = alu1(Op.F2U, scaled);
  z = add(z, alu2(Op.UMUL_HI, z, mul(alu1(Op.INEG, d), z)));
  let q = alu2(Op.UMUL_HI, n, z);
  let r = sub(n, mul(q, d));
  for (let step = 0; step < 2; step++) {
    const more = alu2(Op.UGE, r, d);
    q = select(more, add(q, constant(1)), q);
    r = select(more, sub(r, d), r);
  }
  remainder = r;
  return q;
}

/** Unsigned n / d for a constant d > 1 that is no power of two. */
function divideByMagic(n: u32, d: u32): u32 {
  // Smallest l with 2^l >= d; multiplier m' = 2^32 * (2^l - d) / d + 1, then q = (t + (n - t) / 2) >> (l - 1).
  const l: u32 = 32 - clz<u32>(d - 1);
  const power: u64 = (<u64>1) << l;
  // Where a 32-bit multiplier is exact for all that n can be, no correction is needed: the rounded-up m, its error
  // times n below the divisor's power of two.
  const wide: u64 = ((<u64>1) << (32 + l - 1)) / d + 1;
  const error: u64 = wide * d - ((<u64>1) << (32 + l - 1));
  if (wide <= 0xffff_ffff && error * upperBound(n, 0) < (<u64>1) << (32 + l - 1))
    return ushr(alu2(Op.UMUL_HI, n, constant(<u32>wide)), l - 1);
  const magic = <u32>(((power - d) << 32) / d + 1);
  const t = alu2(Op.UMUL_HI, n, constant(magic));
  return ushr(add(t, ushr(sub(n, t), 1)), l - 1);
}

/** Signed a / d towards 0 for 2 <= d < 2^31 that is no power of two. */
function divideSigned(a: u32, d: u32): u32 {
  // The least p with 2^p > nc * (d - 2^p mod d); nc: the largest value below 2^31 that leaves d - 1.
  const nc: u64 = 0x7fff_ffff - (0x8000_0000 % <u64>d);
  let p: u32 = 32;
  while ((<u64>1) << p <= nc * (d - (((<u64>1) << p) % d))) p++;
  const magic = <u32>((((<u64>1) << p) + d - (((<u64>1) << p) % d)) / d);
  let q = alu2(Op.IMUL_HI, a, constant(magic));
  if (<i32>magic < 0) q = add(q, a);
  if (p > 32) q = alu2(Op.ISHR, q, constant(p - 32));
  return add(q, ushr(a, 31));
}

/** a plus 2^k - 1 where it is negative: what makes shifts and masks round towards 0. */
function biased(a: u32, k: u32): u32 {
  return add(a, ushr(k == 1 ? a : signOf(a), 32 - k));
}

function unsignedQuotient(n: u32, d: u32): u32 {
  if (!isConst(d)) return divideVariable(n, d);
  const bits = constBits(d);
  if (bits == 0) return constant(0xffff_ffff);
  if ((bits & (bits - 1)) == 0) return ushr(n, ctz<u32>(bits));
  return divideByMagic(n, bits);
}

function unsignedRemainder(n: u32, d: u32): u32 {
  if (!isConst(d)) {
    divideVariable(n, d);
    return remainder;
  }
  const bits = constBits(d);
  if (bits != 0 && (bits & (bits - 1)) == 0) return alu2(Op.IAND, n, constant(bits - 1));
  return sub(n, mul(unsignedQuotient(n, d), d));
}

/** All ones for a negative value, else 0. */
function signOf(a: u32): u32 {
  return alu2(Op.ISHR, a, constant(31));
}
/** a or -a by a sign mask. */
function negateIf(a: u32, mask: u32): u32 {
  return sub(alu2(Op.IXOR, a, mask), mask);
}

function neverNegative(a: u32): bool {
  return upperBound(a, 0) < 0x8000_0000;
}
/** The magnitude of a constant; 2^31 for the least one. */
function magnitudeOf(b: u32): u32 {
  const bits = constBits(b);
  return <i32>bits < 0 ? 0 - bits : bits;
}

/** Signed a / b for a constant b that is not 0. */
function constantQuotient(a: u32, b: u32): u32 {
  const d = magnitudeOf(b);
  let q = a;
  if (d == 0x8000_0000) return alu1(Op.B2I, alu2(Op.IEQ, a, b));
  if ((d & (d - 1)) != 0) q = divideSigned(a, d);
  else if (d > 1) q = alu2(Op.ISHR, biased(a, ctz<u32>(d)), constant(ctz<u32>(d)));
  return <i32>constBits(b) < 0 ? alu1(Op.INEG, q) : q;
}

function signedQuotient(a: u32, b: u32): u32 {
  if (neverNegative(a) && neverNegative(b)) return unsignedQuotient(a, b);
  if (isConst(b) && constBits(b) != 0) return constantQuotient(a, b);
  const sa = signOf(a);
  const sb = signOf(b);
  const q = divideVariable(negateIf(a, sa), negateIf(b, sb));
  return negateIf(q, alu2(Op.IXOR, sa, sb));
}

/** Remainder with the sign of a. */
function signedRemainder(a: u32, b: u32): u32 {
  if (neverNegative(a) && neverNegative(b)) return unsignedRemainder(a, b);
  if (isConst(b) && constBits(b) != 0) {
    const d = magnitudeOf(b);
    // The sign of the divisor makes no difference.
    if ((d & (d - 1)) != 0) return sub(a, mul(divideSigned(a, d), constant(d)));
    if (d == 1) return constant(0);
    return sub(a, alu2(Op.IAND, biased(a, ctz<u32>(d)), constant(0 - d)));
  }
  const sa = signOf(a);
  return negateIf(unsignedRemainder(negateIf(a, sa), alu1(Op.IABS, b)), sa);
}

/** Remainder with the sign of b: b is added where the signs differ. */
function signedModulo(a: u32, b: u32): u32 {
  if (neverNegative(a) && neverNegative(b)) return unsignedRemainder(a, b);
  if (isConst(b) && constBits(b) != 0) {
    const bits = constBits(b);
    if (<i32>bits > 0 && (bits & (bits - 1)) == 0) return alu2(Op.IAND, a, constant(bits - 1));
    const r = signedRemainder(a, b);
    return add(r, alu2(Op.IAND, signOf(<i32>bits > 0 ? r : alu1(Op.INEG, r)), b));
  }
  const r = signedRemainder(a, b);
  const differs = alu2(Op.ILT, alu2(Op.IXOR, r, b), constant(0));
  const wanted = alu2(Op.IAND, differs, alu2(Op.INE, r, constant(0)));
  return select(wanted, add(r, b), r);
}

export function lowerIdiv(): bool {
  if (!hasMadeAny(Op.UDIV, Op.IMOD)) return false;
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    let next: u32 = 0;
    for (let i = firstInstr(b); i != 0 && spend(1); i = next) {
      next = nextInstr(i);
      const op = opOf(i);
      if (op < <u32>Op.UDIV || op > <u32>Op.IMOD) continue;
      const x = src(i, 0);
      const y = src(i, 1);
      cursorBefore(i);
      let value: u32 = 0;
      switch (op) {
        case Op.UDIV:
          value = unsignedQuotient(x, y);
          break;
        case Op.UMOD:
          value = unsignedRemainder(x, y);
          break;
        case Op.IDIV:
          value = signedQuotient(x, y);
          break;
        case Op.IREM:
          value = signedRemainder(x, y);
          break;
        default:
          value = signedModulo(x, y);
          break;
      }
      replaceUses(i, value);
      erase(i);
      progress = true;
    }
  }
  return progress;
}
