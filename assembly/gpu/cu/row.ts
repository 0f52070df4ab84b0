/**
 * One operation over the eight vectors of a register row, unrolled. The operation is a class with an inlined `apply`,
 * so each use becomes straight code. Forms under a lane mask take sources by stride: `sa`, `sb`, `sc` are 16 for a row,
 * 0 for one vector that stands for all lanes. The result may lie on a source's row. What comes back is a vector with a NaN in it wherever the result may hold one.
 */
import { Float4 } from "./float4.ts";

interface One {
  apply(a: v128): v128;
}

interface Two {
  apply(a: v128, b: v128): v128;
}

interface Three {
  apply(a: v128, b: v128, c: v128): v128;
}

/** A shift count or the like, the same for all lanes, comes as a scalar. */
interface Scaled {
  apply(a: v128, b: v128, by: i32): v128;
}

export class Row {
  /** `x` where the mask is set, what stands at `d` elsewhere. */
  @inline
  static blend(d: usize, x: v128, m: usize): void {
    v128.store(d, v128.bitselect(x, v128.load(d), v128.load(m)));
  }

  /** Sum of all: NaN where any is (and where infinities cancel, which costs a look and no more). */
  @inline
  static sum(a: v128, b: v128, c: v128, d: v128): v128 {
    return f32x4.add(f32x4.add(a, b), f32x4.add(c, d));
  }

  @inline
  static one<F extends One>(d: usize, a: usize): v128 {
    const f = changetype<F>(0);
    const r0 = f.apply(v128.load(a));
    v128.store(d, r0);
    const r1 = f.apply(v128.load(a, 16));
    v128.store(d, r1, 16);
    const r2 = f.apply(v128.load(a, 32));
    v128.store(d, r2, 32);
    const r3 = f.apply(v128.load(a, 48));
    v128.store(d, r3, 48);
    const low = Row.sum(r0, r1, r2, r3);
    const r4 = f.apply(v128.load(a, 64));
    v128.store(d, r4, 64);
    const r5 = f.apply(v128.load(a, 80));
    v128.store(d, r5, 80);
    const r6 = f.apply(v128.load(a, 96));
    v128.store(d, r6, 96);
    const r7 = f.apply(v128.load(a, 112));
    v128.store(d, r7, 112);
    return f32x4.add(low, Row.sum(r4, r5, r6, r7));
  }

  @inline
  static two<F extends Two>(d: usize, a: usize, b: usize): v128 {
    const f = changetype<F>(0);
    const r0 = f.apply(v128.load(a), v128.load(b));
    v128.store(d, r0);
    const r1 = f.apply(v128.load(a, 16), v128.load(b, 16));
    v128.store(d, r1, 16);
    const r2 = f.apply(v128.load(a, 32), v128.load(b, 32));
    v128.store(d, r2, 32);
    const r3 = f.apply(v128.load(a, 48), v128.load(b, 48));
    v128.store(d, r3, 48);
    const low = Row.sum(r0, r1, r2, r3);
    const r4 = f.apply(v128.load(a, 64), v128.load(b, 64));
    v128.store(d, r4, 64);
    const r5 = f.apply(v128.load(a, 80), v128.load(b, 80));
    v128.store(d, r5, 80);
    const r6 = f.apply(v128.load(a, 96), v128.load(b, 96));
    v128.store(d, r6, 96);
    const r7 = f.apply(v128.load(a, 112), v128.load(b, 112));
    v128.store(d, r7, 112);
    return f32x4.add(low, Row.sum(r4, r5, r6, r7));
  }

  /** The first source is `s` in all lanes. */
  @inline
  static twoSplat<F extends Two>(d: usize, s: v128, b: usize): v128 {
    const f = changetype<F>(0);
    const r0 = f.apply(s, v128.load(b));
    v128.store(d, r0);
    const r1 = f.apply(s, v128.load(b, 16));
    v128.store(d, r1, 16);
    const r2 = f.apply(s, v128.load(b, 32));
    v128.store(d, r2, 32);
    const r3 = f.apply(s, v128.load(b, 48));
    v128.store(d, r3, 48);
    const low = Row.sum(r0, r1, r2, r3);
    const r4 = f.apply(s, v128.load(b, 64));
    v128.store(d, r4, 64);
    const r5 = f.apply(s, v128.load(b, 80));
    v128.store(d, r5, 80);
    const r6 = f.apply(s, v128.load(b, 96));
    v128.store(d, r6, 96);
    const r7 = f.apply(s, v128.load(b, 112));
    v128.store(d, r7, 112);
    return f32x4.add(low, Row.sum(r4, r5, r6, r7));
  }

  @inline
  static three<F extends Three>(d: usize, a: usize, b: usize, c: usize): v128 {
    const f = changetype<F>(0);
    const r0 = f.apply(v128.load(a), v128.load(b), v128.load(c));
    v128.store(d, r0);
    const r1 = f.apply(v128.load(a, 16), v128.load(b, 16), v128.load(c, 16));
    v128.store(d, r1, 16);
    const r2 = f.apply(v128.load(a, 32), v128.load(b, 32), v128.load(c, 32));
    v128.store(d, r2, 32);
    const r3 = f.apply(v128.load(a, 48), v128.load(b, 48), v128.load(c, 48));
    v128.store(d, r3, 48);
    const low = Row.sum(r0, r1, r2, r3);
    const r4 = f.apply(v128.load(a, 64), v128.load(b, 64), v128.load(c, 64));
    v128.store(d, r4, 64);
    const r5 = f.apply(v128.load(a, 80), v128.load(b, 80), v128.load(c, 80));
    v128.store(d, r5, 80);
    const r6 = f.apply(v128.load(a, 96), v128.load(b, 96), v128.load(c, 96));
    v128.store(d, r6, 96);
    const r7 = f.apply(v128.load(a, 112), v128.load(b, 112), v128.load(c, 112));
    v128.store(d, r7, 112);
    return f32x4.add(low, Row.sum(r4, r5, r6, r7));
  }

  /** The first source is `s` in all lanes. */
  @inline
  static threeSplat<F extends Three>(d: usize, s: v128, b: usize, c: usize): v128 {
    const f = changetype<F>(0);
    const r0 = f.apply(s, v128.load(b), v128.load(c));
    v128.store(d, r0);
    const r1 = f.apply(s, v128.load(b, 16), v128.load(c, 16));
    v128.store(d, r1, 16);
    const r2 = f.apply(s, v128.load(b, 32), v128.load(c, 32));
    v128.store(d, r2, 32);
    const r3 = f.apply(s, v128.load(b, 48), v128.load(c, 48));
    v128.store(d, r3, 48);
    const low = Row.sum(r0, r1, r2, r3);
    const r4 = f.apply(s, v128.load(b, 64), v128.load(c, 64));
    v128.store(d, r4, 64);
    const r5 = f.apply(s, v128.load(b, 80), v128.load(c, 80));
    v128.store(d, r5, 80);
    const r6 = f.apply(s, v128.load(b, 96), v128.load(c, 96));
    v128.store(d, r6, 96);
    const r7 = f.apply(s, v128.load(b, 112), v128.load(c, 112));
    v128.store(d, r7, 112);
    return f32x4.add(low, Row.sum(r4, r5, r6, r7));
  }

  /** As `scaled`, the first source is `s` in all lanes. */
  @inline
  static scaledSplat<F extends Scaled>(d: usize, s: v128, b: usize, by: i32): void {
    const f = changetype<F>(0);
    v128.store(d, f.apply(s, v128.load(b), by));
    v128.store(d, f.apply(s, v128.load(b, 16), by), 16);
    v128.store(d, f.apply(s, v128.load(b, 32), by), 32);
    v128.store(d, f.apply(s, v128.load(b, 48), by), 48);
    v128.store(d, f.apply(s, v128.load(b, 64), by), 64);
    v128.store(d, f.apply(s, v128.load(b, 80), by), 80);
    v128.store(d, f.apply(s, v128.load(b, 96), by), 96);
    v128.store(d, f.apply(s, v128.load(b, 112), by), 112);
  }

  /** Rows `a` and `b` with one count for all lanes. */
  @inline
  static scaled<F extends Scaled>(d: usize, a: usize, b: usize, by: i32): void {
    const f = changetype<F>(0);
    v128.store(d, f.apply(v128.load(a), v128.load(b), by));
    v128.store(d, f.apply(v128.load(a, 16), v128.load(b, 16), by), 16);
    v128.store(d, f.apply(v128.load(a, 32), v128.load(b, 32), by), 32);
    v128.store(d, f.apply(v128.load(a, 48), v128.load(b, 48), by), 48);
    v128.store(d, f.apply(v128.load(a, 64), v128.load(b, 64), by), 64);
    v128.store(d, f.apply(v128.load(a, 80), v128.load(b, 80), by), 80);
    v128.store(d, f.apply(v128.load(a, 96), v128.load(b, 96), by), 96);
    v128.store(d, f.apply(v128.load(a, 112), v128.load(b, 112), by), 112);
  }

  @inline
  static oneMasked<F extends One>(d: usize, a: usize, sa: usize, m: usize): v128 {
    const f = changetype<F>(0);
    const r0 = f.apply(v128.load(a));
    Row.blend(d, r0, m);
    a += sa;
    const r1 = f.apply(v128.load(a));
    Row.blend(d + 16, r1, m + 16);
    a += sa;
    const r2 = f.apply(v128.load(a));
    Row.blend(d + 32, r2, m + 32);
    a += sa;
    const r3 = f.apply(v128.load(a));
    Row.blend(d + 48, r3, m + 48);
    a += sa;
    const low = Row.sum(r0, r1, r2, r3);
    const r4 = f.apply(v128.load(a));
    Row.blend(d + 64, r4, m + 64);
    a += sa;
    const r5 = f.apply(v128.load(a));
    Row.blend(d + 80, r5, m + 80);
    a += sa;
    const r6 = f.apply(v128.load(a));
    Row.blend(d + 96, r6, m + 96);
    a += sa;
    const r7 = f.apply(v128.load(a));
    Row.blend(d + 112, r7, m + 112);
    return f32x4.add(low, Row.sum(r4, r5, r6, r7));
  }

  @inline
  static twoMasked<F extends Two>(d: usize, a: usize, sa: usize, b: usize, sb: usize, m: usize): v128 {
    const f = changetype<F>(0);
    const r0 = f.apply(v128.load(a), v128.load(b));
    Row.blend(d, r0, m);
    a += sa;
    b += sb;
    const r1 = f.apply(v128.load(a), v128.load(b));
    Row.blend(d + 16, r1, m + 16);
    a += sa;
    b += sb;
    const r2 = f.apply(v128.load(a), v128.load(b));
    Row.blend(d + 32, r2, m + 32);
    a += sa;
    b += sb;
    const r3 = f.apply(v128.load(a), v128.load(b));
    Row.blend(d + 48, r3, m + 48);
    a += sa;
    b += sb;
    const low = Row.sum(r0, r1, r2, r3);
    const r4 = f.apply(v128.load(a), v128.load(b));
    Row.blend(d + 64, r4, m + 64);
    a += sa;
    b += sb;
    const r5 = f.apply(v128.load(a), v128.load(b));
    Row.blend(d + 80, r5, m + 80);
    a += sa;
    b += sb;
    const r6 = f.apply(v128.load(a), v128.load(b));
    Row.blend(d + 96, r6, m + 96);
    a += sa;
    b += sb;
    const r7 = f.apply(v128.load(a), v128.load(b));
    Row.blend(d + 112, r7, m + 112);
    return f32x4.add(low, Row.sum(r4, r5, r6, r7));
  }

  @inline
  static threeMasked<F extends Three>(
    d: usize,
    a: usize,
    sa: usize,
    b: usize,
    sb: usize,
    c: usize,
    sc: usize,
    m: usize,
  ): v128 {
    const f = changetype<F>(0);
    const r0 = f.apply(v128.load(a), v128.load(b), v128.load(c));
    Row.blend(d, r0, m);
    a += sa;
    b += sb;
    c += sc;
    const r1 = f.apply(v128.load(a), v128.load(b), v128.load(c));
    Row.blend(d + 16, r1, m + 16);
    a += sa;
    b += sb;
    c += sc;
    const r2 = f.apply(v128.load(a), v128.load(b), v128.load(c));
    Row.blend(d + 32, r2, m + 32);
    a += sa;
    b += sb;
    c += sc;
    const r3 = f.apply(v128.load(a), v128.load(b), v128.load(c));
    Row.blend(d + 48, r3, m + 48);
    a += sa;
    b += sb;
    c += sc;
    const low = Row.sum(r0, r1, r2, r3);
    const r4 = f.apply(v128.load(a), v128.load(b), v128.load(c));
    Row.blend(d + 64, r4, m + 64);
    a += sa;
    b += sb;
    c += sc;
    const r5 = f.apply(v128.load(a), v128.load(b), v128.load(c));
    Row.blend(d + 80, r5, m + 80);
    a += sa;
    b += sb;
    c += sc;
    const r6 = f.apply(v128.load(a), v128.load(b), v128.load(c));
    Row.blend(d + 96, r6, m + 96);
    a += sa;
    b += sb;
    c += sc;
    const r7 = f.apply(v128.load(a), v128.load(b), v128.load(c));
    Row.blend(d + 112, r7, m + 112);
    return f32x4.add(low, Row.sum(r4, r5, r6, r7));
  }

  /** Rows `a` and `b` with one count for all lanes, under a mask. */
  @inline
  static scaledMasked<F extends Scaled>(d: usize, a: usize, sa: usize, b: usize, sb: usize, by: i32, m: usize): void {
    const f = changetype<F>(0);
    Row.blend(d, f.apply(v128.load(a), v128.load(b), by), m);
    a += sa;
    b += sb;
    Row.blend(d + 16, f.apply(v128.load(a), v128.load(b), by), m + 16);
    a += sa;
    b += sb;
    Row.blend(d + 32, f.apply(v128.load(a), v128.load(b), by), m + 32);
    a += sa;
    b += sb;
    Row.blend(d + 48, f.apply(v128.load(a), v128.load(b), by), m + 48);
    a += sa;
    b += sb;
    Row.blend(d + 64, f.apply(v128.load(a), v128.load(b), by), m + 64);
    a += sa;
    b += sb;
    Row.blend(d + 80, f.apply(v128.load(a), v128.load(b), by), m + 80);
    a += sa;
    b += sb;
    Row.blend(d + 96, f.apply(v128.load(a), v128.load(b), by), m + 96);
    a += sa;
    b += sb;
    Row.blend(d + 112, f.apply(v128.load(a), v128.load(b), by), m + 112);
  }

  /** Bit l: does lane l hold. `apply` answers all ones or zeros a lane. */
  @inline
  static compare<F extends Two>(a: usize, sa: usize, b: usize, sb: usize): u32 {
    const f = changetype<F>(0);
    const r0 = f.apply(v128.load(a), v128.load(b));
    a += sa;
    b += sb;
    const r1 = f.apply(v128.load(a), v128.load(b));
    a += sa;
    b += sb;
    const r2 = f.apply(v128.load(a), v128.load(b));
    a += sa;
    b += sb;
    const r3 = f.apply(v128.load(a), v128.load(b));
    a += sa;
    b += sb;
    const low = i8x16.bitmask(i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(r0, r1), i16x8.narrow_i32x4_s(r2, r3)));
    const r4 = f.apply(v128.load(a), v128.load(b));
    a += sa;
    b += sb;
    const r5 = f.apply(v128.load(a), v128.load(b));
    a += sa;
    b += sb;
    const r6 = f.apply(v128.load(a), v128.load(b));
    a += sa;
    b += sb;
    const r7 = f.apply(v128.load(a), v128.load(b));
    const high = i8x16.bitmask(i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(r4, r5), i16x8.narrow_i32x4_s(r6, r7)));
    return <u32>low | ((<u32>high) << 16);
  }

  /** Makes each NaN in the masked lanes of row `d` the canonical one. */
  static mendNans(d: usize, m: usize): void {
    for (let i: usize = 0; i < 128; i += 16) Row.blend(d + i, Float4.canonical(v128.load(d + i)), m + i);
  }
}
