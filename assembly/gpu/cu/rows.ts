/** 32-bit VALU instructions as straight loops over the eight vectors of a register row. Source: the rows' meanings. */
import { Op } from "../../gen/isa-ops.ts";
import { Float4 } from "./float4.ts";

function low24(x: v128): v128 {
  return v128.and(x, i32x4.splat(0x00ffffff));
}

function signed24(x: v128): v128 {
  return i32x4.shr_s(i32x4.shl(x, 8), 8);
}

/** High words of two pairs of 64-bit products. */
function mulHigh4(low: v128, high: v128): v128 {
  return i8x16.shuffle(low, high, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}

/**
 * Writes row `d` from sources `a`, `b`, `c`; `sa`, `sb`, `sc` are 16 for a row, 0 for one vector that stands for all
 * lanes. The result may lie on a source's row. False where `op` is not one of these.
 */
export function executeRow(op: u32, d: usize, a: usize, sa: usize, b: usize, sb: usize, c: usize, sc: usize): bool {
  const end = d + 128;
  switch (op) {
    case Op.v_mov_b32_e64:
      for (; d < end; d += 16) {
        v128.store(d, v128.load(a));
        a += sa;
      }
      return true;
    case Op.v_not_b32_e64:
      for (; d < end; d += 16) {
        v128.store(d, v128.not(v128.load(a)));
        a += sa;
      }
      return true;
    case Op.v_fract_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.fract(v128.load(a)));
        a += sa;
      }
      return true;
    case Op.v_floor_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.canonical(f32x4.floor(v128.load(a))));
        a += sa;
      }
      return true;
    case Op.v_ceil_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.canonical(f32x4.ceil(v128.load(a))));
        a += sa;
      }
      return true;
    case Op.v_trunc_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.canonical(f32x4.trunc(v128.load(a))));
        a += sa;
      }
      return true;
    case Op.v_rndne_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.canonical(f32x4.nearest(v128.load(a))));
        a += sa;
      }
      return true;
    case Op.v_cvt_f32_i32_e64:
      for (; d < end; d += 16) {
        v128.store(d, f32x4.convert_i32x4_s(v128.load(a)));
        a += sa;
      }
      return true;
    case Op.v_cvt_f32_u32_e64:
      for (; d < end; d += 16) {
        v128.store(d, f32x4.convert_i32x4_u(v128.load(a)));
        a += sa;
      }
      return true;
    case Op.v_cvt_i32_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.trunc_sat_f32x4_s(v128.load(a)));
        a += sa;
      }
      return true;
    case Op.v_cvt_u32_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.trunc_sat_f32x4_u(v128.load(a)));
        a += sa;
      }
      return true;
    case Op.v_rcp_f32_e64:
    case Op.v_rcp_iflag_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.rcp(v128.load(a)));
        a += sa;
      }
      return true;
    case Op.v_rsq_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.rsq(v128.load(a)));
        a += sa;
      }
      return true;
    case Op.v_sqrt_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.sqrt(v128.load(a)));
        a += sa;
      }
      return true;
    case Op.v_add_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.canonical(f32x4.add(v128.load(a), v128.load(b))));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_sub_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.canonical(f32x4.sub(v128.load(a), v128.load(b))));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_subrev_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.canonical(f32x4.sub(v128.load(b), v128.load(a))));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_mul_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.canonical(f32x4.mul(v128.load(a), v128.load(b))));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_min_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.min(v128.load(a), v128.load(b)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_max_f32_e64:
      for (; d < end; d += 16) {
        v128.store(d, Float4.max(v128.load(a), v128.load(b)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_min_i32_e64:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.min_s(v128.load(a), v128.load(b)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_max_i32_e64:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.max_s(v128.load(a), v128.load(b)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_min_u32_e64:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.min_u(v128.load(a), v128.load(b)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_max_u32_e64:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.max_u(v128.load(a), v128.load(b)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_and_b32_e64:
      for (; d < end; d += 16) {
        v128.store(d, v128.and(v128.load(a), v128.load(b)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_or_b32_e64:
      for (; d < end; d += 16) {
        v128.store(d, v128.or(v128.load(a), v128.load(b)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_xor_b32_e64:
      for (; d < end; d += 16) {
        v128.store(d, v128.xor(v128.load(a), v128.load(b)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_xnor_b32_e64:
      for (; d < end; d += 16) {
        v128.store(d, v128.not(v128.xor(v128.load(a), v128.load(b))));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_add_nc_u32_e64:
    case Op.v_add_nc_i32:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.add(v128.load(a), v128.load(b)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_sub_nc_u32_e64:
    case Op.v_sub_nc_i32:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.sub(v128.load(a), v128.load(b)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_subrev_nc_u32_e64:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.sub(v128.load(b), v128.load(a)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_mul_lo_u32:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.mul(v128.load(a), v128.load(b)));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_mul_u32_u24_e64:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.mul(low24(v128.load(a)), low24(v128.load(b))));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_mul_i32_i24_e64:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.mul(signed24(v128.load(a)), signed24(v128.load(b))));
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_fma_f32:
      for (; d < end; d += 16) {
        v128.store(d, Float4.fma(v128.load(a), v128.load(b), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_add3_u32:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.add(i32x4.add(v128.load(a), v128.load(b)), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_or3_b32:
      for (; d < end; d += 16) {
        v128.store(d, v128.or(v128.or(v128.load(a), v128.load(b)), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_xor3_b32:
      for (; d < end; d += 16) {
        v128.store(d, v128.xor(v128.xor(v128.load(a), v128.load(b)), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_and_or_b32:
      for (; d < end; d += 16) {
        v128.store(d, v128.or(v128.and(v128.load(a), v128.load(b)), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_xad_u32:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.add(v128.xor(v128.load(a), v128.load(b)), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_bfi_b32:
      for (; d < end; d += 16) {
        v128.store(d, v128.bitselect(v128.load(b), v128.load(c), v128.load(a)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_mad_u32_u24:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.add(i32x4.mul(low24(v128.load(a)), low24(v128.load(b))), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_mad_i32_i24:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.add(i32x4.mul(signed24(v128.load(a)), signed24(v128.load(b))), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_min3_f32:
      for (; d < end; d += 16) {
        v128.store(d, Float4.min(Float4.min(v128.load(a), v128.load(b)), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_max3_f32:
      for (; d < end; d += 16) {
        v128.store(d, Float4.max(Float4.max(v128.load(a), v128.load(b)), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_med3_f32:
      for (; d < end; d += 16) {
        v128.store(d, Float4.med(v128.load(a), v128.load(b), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_min3_i32:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.min_s(i32x4.min_s(v128.load(a), v128.load(b)), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_max3_i32:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.max_s(i32x4.max_s(v128.load(a), v128.load(b)), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_min3_u32:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.min_u(i32x4.min_u(v128.load(a), v128.load(b)), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_max3_u32:
      for (; d < end; d += 16) {
        v128.store(d, i32x4.max_u(i32x4.max_u(v128.load(a), v128.load(b)), v128.load(c)));
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_med3_i32:
      for (; d < end; d += 16) {
        v128.store(
          d,
          i32x4.max_s(
            i32x4.min_s(v128.load(a), v128.load(b)),
            i32x4.min_s(i32x4.max_s(v128.load(a), v128.load(b)), v128.load(c)),
          ),
        );
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_med3_u32:
      for (; d < end; d += 16) {
        v128.store(
          d,
          i32x4.max_u(
            i32x4.min_u(v128.load(a), v128.load(b)),
            i32x4.min_u(i32x4.max_u(v128.load(a), v128.load(b)), v128.load(c)),
          ),
        );
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    case Op.v_lshlrev_b32_e64:
      if (sa == 0) {
        const by = load<i32>(a);
        for (; d < end; d += 16) {
          v128.store(d, i32x4.shl(v128.load(b), by));
          b += sb;
        }
        return true;
      }
      sb >>= 2;
      for (; d < end; d += 4) {
        store<u32>(d, load<u32>(b) << (load<u32>(a) & 31));
        a += 4;
        b += sb;
      }
      return true;
    case Op.v_lshrrev_b32_e64:
      if (sa == 0) {
        const by = load<i32>(a);
        for (; d < end; d += 16) {
          v128.store(d, i32x4.shr_u(v128.load(b), by));
          b += sb;
        }
        return true;
      }
      sb >>= 2;
      for (; d < end; d += 4) {
        store<u32>(d, load<u32>(b) >> (load<u32>(a) & 31));
        a += 4;
        b += sb;
      }
      return true;
    case Op.v_ashrrev_i32_e64:
      if (sa == 0) {
        const by = load<i32>(a);
        for (; d < end; d += 16) {
          v128.store(d, i32x4.shr_s(v128.load(b), by));
          b += sb;
        }
        return true;
      }
      sb >>= 2;
      for (; d < end; d += 4) {
        store<u32>(d, load<i32>(b) >> (load<u32>(a) & 31));
        a += 4;
        b += sb;
      }
      return true;
    case Op.v_lshl_add_u32:
      if (sb == 0) {
        const by = load<i32>(b);
        for (; d < end; d += 16) {
          v128.store(d, i32x4.add(i32x4.shl(v128.load(a), by), v128.load(c)));
          a += sa;
          c += sc;
        }
        return true;
      }
      sa >>= 2;
      sc >>= 2;
      for (; d < end; d += 4) {
        store<u32>(d, (load<u32>(a) << (load<u32>(b) & 31)) + load<u32>(c));
        a += sa;
        b += 4;
        c += sc;
      }
      return true;
    case Op.v_lshl_or_b32:
      if (sb == 0) {
        const by = load<i32>(b);
        for (; d < end; d += 16) {
          v128.store(d, v128.or(i32x4.shl(v128.load(a), by), v128.load(c)));
          a += sa;
          c += sc;
        }
        return true;
      }
      sa >>= 2;
      sc >>= 2;
      for (; d < end; d += 4) {
        store<u32>(d, (load<u32>(a) << (load<u32>(b) & 31)) | load<u32>(c));
        a += sa;
        b += 4;
        c += sc;
      }
      return true;
    case Op.v_add_lshl_u32:
      if (sc == 0) {
        const by = load<i32>(c);
        for (; d < end; d += 16) {
          v128.store(d, i32x4.shl(i32x4.add(v128.load(a), v128.load(b)), by));
          a += sa;
          b += sb;
        }
        return true;
      }
      return false;
    case Op.v_bfe_u32:
      if (sb == 0 && sc == 0) {
        const by = load<i32>(b);
        const mask = i32x4.splat((1 << (load<u32>(c) & 31)) - 1);
        for (; d < end; d += 16) {
          v128.store(d, v128.and(i32x4.shr_u(v128.load(a), by), mask));
          a += sa;
        }
        return true;
      }
      return false;
    case Op.v_mul_hi_u32:
      for (; d < end; d += 16) {
        v128.store(
          d,
          mulHigh4(
            i64x2.extmul_low_i32x4_u(v128.load(a), v128.load(b)),
            i64x2.extmul_high_i32x4_u(v128.load(a), v128.load(b)),
          ),
        );
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_mul_hi_i32:
      for (; d < end; d += 16) {
        v128.store(
          d,
          mulHigh4(
            i64x2.extmul_low_i32x4_s(v128.load(a), v128.load(b)),
            i64x2.extmul_high_i32x4_s(v128.load(a), v128.load(b)),
          ),
        );
        a += sa;
        b += sb;
      }
      return true;
    case Op.v_cvt_f32_ubyte0_e64:
      for (; d < end; d += 16) {
        v128.store(d, f32x4.convert_i32x4_s(v128.and(v128.load(a), i32x4.splat(0xff))));
        a += sa;
      }
      return true;
    case Op.v_sad_u32:
      for (; d < end; d += 16) {
        v128.store(
          d,
          i32x4.add(
            i32x4.sub(i32x4.max_u(v128.load(a), v128.load(b)), i32x4.min_u(v128.load(a), v128.load(b))),
            v128.load(c),
          ),
        );
        a += sa;
        b += sb;
        c += sc;
      }
      return true;
    default:
      return false;
  }
}
