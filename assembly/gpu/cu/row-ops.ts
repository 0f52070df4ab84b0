/** What `Row` applies to vectors: one class an operation. NaNs are canonicalised by the caller, all rounding is to nearest even. */
import { Float4 } from "./float4.ts";

@unmanaged
export class Mov {
  @inline
  apply(a: v128): v128 {
    return a;
  }
}

@unmanaged
export class Not {
  @inline
  apply(a: v128): v128 {
    return v128.not(a);
  }
}

@unmanaged
export class FloatOfSigned {
  @inline
  apply(a: v128): v128 {
    return f32x4.convert_i32x4_s(a);
  }
}

@unmanaged
export class FloatOfUnsigned {
  @inline
  apply(a: v128): v128 {
    return f32x4.convert_i32x4_u(a);
  }
}

@unmanaged
export class AddF {
  @inline
  apply(a: v128, b: v128): v128 {
    return f32x4.add(a, b);
  }
}

@unmanaged
export class SubF {
  @inline
  apply(a: v128, b: v128): v128 {
    return f32x4.sub(a, b);
  }
}

@unmanaged
export class MulF {
  @inline
  apply(a: v128, b: v128): v128 {
    return f32x4.mul(a, b);
  }
}

@unmanaged
export class Fma {
  @inline
  apply(a: v128, b: v128, c: v128): v128 {
    return Float4.madd(a, b, c);
  }
}

/** a*b - c */
@unmanaged
export class Fms {
  @inline
  apply(a: v128, b: v128, c: v128): v128 {
    return Float4.madd(a, b, v128.xor(c, i32x4.splat(0x80000000)));
  }
}

/** c - a*b */
@unmanaged
export class FmaMinus {
  @inline
  apply(a: v128, b: v128, c: v128): v128 {
    return Float4.madd(v128.xor(a, i32x4.splat(0x80000000)), b, c);
  }
}

@unmanaged
export class Rsq {
  @inline
  apply(a: v128): v128 {
    return Float4.rsq(a);
  }
}

@unmanaged
export class MinF {
  @inline
  apply(a: v128, b: v128): v128 {
    return Float4.min(a, b);
  }
}

@unmanaged
export class MaxF {
  @inline
  apply(a: v128, b: v128): v128 {
    return Float4.max(a, b);
  }
}

@unmanaged
export class And {
  @inline
  apply(a: v128, b: v128): v128 {
    return v128.and(a, b);
  }
}

@unmanaged
export class Or {
  @inline
  apply(a: v128, b: v128): v128 {
    return v128.or(a, b);
  }
}

@unmanaged
export class Xor {
  @inline
  apply(a: v128, b: v128): v128 {
    return v128.xor(a, b);
  }
}

@unmanaged
export class Add {
  @inline
  apply(a: v128, b: v128): v128 {
    return i32x4.add(a, b);
  }
}

@unmanaged
export class Sub {
  @inline
  apply(a: v128, b: v128): v128 {
    return i32x4.sub(a, b);
  }
}

@unmanaged
export class Mul {
  @inline
  apply(a: v128, b: v128): v128 {
    return i32x4.mul(a, b);
  }
}

@unmanaged
export class Add3 {
  @inline
  apply(a: v128, b: v128, c: v128): v128 {
    return i32x4.add(i32x4.add(a, b), c);
  }
}

/** Unsigned 24-bit product plus a dword. */
@unmanaged
export class Mad24 {
  @inline
  apply(a: v128, b: v128, c: v128): v128 {
    const low = i32x4.splat(0x00ffffff);
    return i32x4.add(i32x4.mul(v128.and(a, low), v128.and(b, low)), c);
  }
}

@unmanaged
export class ShiftLeft {
  @inline
  apply(a: v128, _b: v128, by: i32): v128 {
    return i32x4.shl(a, by);
  }
}

@unmanaged
export class ShiftRight {
  @inline
  apply(a: v128, _b: v128, by: i32): v128 {
    return i32x4.shr_u(a, by);
  }
}

@unmanaged
export class ShiftRightSigned {
  @inline
  apply(a: v128, _b: v128, by: i32): v128 {
    return i32x4.shr_s(a, by);
  }
}

/** (a << by) + b */
@unmanaged
export class ShiftAdd {
  @inline
  apply(a: v128, b: v128, by: i32): v128 {
    return i32x4.add(i32x4.shl(a, by), b);
  }
}

/** (a << by) | b */
@unmanaged
export class ShiftOr {
  @inline
  apply(a: v128, b: v128, by: i32): v128 {
    return v128.or(i32x4.shl(a, by), b);
  }
}

/** (a + b) << by */
@unmanaged
export class AddShift {
  @inline
  apply(a: v128, b: v128, by: i32): v128 {
    return i32x4.shl(i32x4.add(a, b), by);
  }
}

@unmanaged
export class LtF {
  @inline
  apply(a: v128, b: v128): v128 {
    return f32x4.lt(a, b);
  }
}

@unmanaged
export class EqF {
  @inline
  apply(a: v128, b: v128): v128 {
    return f32x4.eq(a, b);
  }
}

@unmanaged
export class LeF {
  @inline
  apply(a: v128, b: v128): v128 {
    return f32x4.le(a, b);
  }
}

@unmanaged
export class EqI {
  @inline
  apply(a: v128, b: v128): v128 {
    return i32x4.eq(a, b);
  }
}

@unmanaged
export class LtI {
  @inline
  apply(a: v128, b: v128): v128 {
    return i32x4.lt_s(a, b);
  }
}

@unmanaged
export class LeI {
  @inline
  apply(a: v128, b: v128): v128 {
    return i32x4.le_s(a, b);
  }
}

@unmanaged
export class LtU {
  @inline
  apply(a: v128, b: v128): v128 {
    return i32x4.lt_u(a, b);
  }
}

@unmanaged
export class LeU {
  @inline
  apply(a: v128, b: v128): v128 {
    return i32x4.le_u(a, b);
  }
}
