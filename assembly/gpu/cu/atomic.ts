/** Read-modify-write functions of buffer, global, flat and LDS atomics. Source: the rows' meanings. */
import { CANONICAL_NAN, canonical, maxF32Bits, minF32Bits } from "../../base/math/index.ts";

export const enum Atomic {
  NONE = 0,
  SWAP,
  CMPSWAP,
  ADD,
  SUB,
  RSUB,
  CSUB,
  SMIN,
  UMIN,
  SMAX,
  UMAX,
  AND,
  OR,
  XOR,
  INC,
  DEC,
  MSKOR,
  FADD,
  FMIN,
  FMAX,
  FCMPSWAP,
  WRAP,
}

/** New value of `old` with operands `data` and `second` (the compare value of a compare-and-swap). */
export function atomic32(kind: u32, old: u32, data: u32, second: u32): u32 {
  switch (kind) {
    case Atomic.SWAP:
      return data;
    case Atomic.CMPSWAP:
      return old == second ? data : old;
    case Atomic.ADD:
      return old + data;
    case Atomic.SUB:
      return old - data;
    case Atomic.RSUB:
      return data - old;
    case Atomic.CSUB:
      return old < data ? 0 : old - data;
    case Atomic.SMIN:
      return min<i32>(old, data);
    case Atomic.UMIN:
      return min<u32>(old, data);
    case Atomic.SMAX:
      return max<i32>(old, data);
    case Atomic.UMAX:
      return max<u32>(old, data);
    case Atomic.AND:
      return old & data;
    case Atomic.OR:
      return old | data;
    case Atomic.XOR:
      return old ^ data;
    case Atomic.INC:
      return old >= data ? 0 : old + 1;
    case Atomic.DEC:
      return old == 0 || old > data ? data : old - 1;
    case Atomic.MSKOR:
      return (old & ~data) | second;
    case Atomic.FADD:
      return reinterpret<u32>(canonical(reinterpret<f32>(old) + reinterpret<f32>(data)));
    case Atomic.FMIN:
      return minF32Bits(old, data);
    case Atomic.FMAX:
      return maxF32Bits(old, data);
    case Atomic.FCMPSWAP:
      return reinterpret<f32>(old) == reinterpret<f32>(second) ? data : old;
    case Atomic.WRAP:
      return old >= data ? old - data : old + second;
    default:
      return CANONICAL_NAN;
  }
}

function less64(a: u64, b: u64): bool {
  return reinterpret<f64>(a) < reinterpret<f64>(b);
}

export function atomic64(kind: u32, old: u64, data: u64, second: u64): u64 {
  switch (kind) {
    case Atomic.SWAP:
      return data;
    case Atomic.CMPSWAP:
      return old == second ? data : old;
    case Atomic.ADD:
      return old + data;
    case Atomic.SUB:
      return old - data;
    case Atomic.RSUB:
      return data - old;
    case Atomic.SMIN:
      return <u64>min<i64>(old, data);
    case Atomic.UMIN:
      return min<u64>(old, data);
    case Atomic.SMAX:
      return <u64>max<i64>(old, data);
    case Atomic.UMAX:
      return max<u64>(old, data);
    case Atomic.AND:
      return old & data;
    case Atomic.OR:
      return old | data;
    case Atomic.XOR:
      return old ^ data;
    case Atomic.INC:
      return old >= data ? 0 : old + 1;
    case Atomic.DEC:
      return old == 0 || old > data ? data : old - 1;
    case Atomic.MSKOR:
      return (old & ~data) | second;
    case Atomic.FMIN:
      return isNaN<f64>(reinterpret<f64>(old)) || less64(data, old) ? data : old;
    case Atomic.FMAX:
      return isNaN<f64>(reinterpret<f64>(old)) || less64(old, data) ? data : old;
    case Atomic.FCMPSWAP:
      return reinterpret<f64>(old) == reinterpret<f64>(second) ? data : old;
    default:
      return 0;
  }
}
