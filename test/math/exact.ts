/** Exact reference arithmetic for tests: bit patterns, seeded noise, correctly rounded fused multiply-add by BigInt. */

const scratch = new DataView(new ArrayBuffer(8));
export function f32(bits: number): number {
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
}
export function bitsOf(x: number): number {
  scratch.setFloat32(0, x);
  return scratch.getUint32(0);
}
export function f64(bits: bigint): number {
  scratch.setBigUint64(0, bits);
  return scratch.getFloat64(0);
}

/** Deterministic 32-bit noise (xorshift). */
export function noise(seed: number): () => number {
  let x = seed;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
}

/** Finite number as an exact fraction n * 2^e. */
function exact(x: number): { n: bigint; e: number } {
  scratch.setFloat64(0, x);
  const bits = scratch.getBigUint64(0);
  const field = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const n = field === 0 ? fraction : fraction | (1n << 52n);
  return { n: bits >> 63n ? -n : n, e: (field === 0 ? 1 : field) - 1075 };
}

/** Nearest-even rounding of n * 2^e to a format of `precision` bits with least exponent `least` (of the last bit) and greatest finite < 2^top. */
function roundExact(n: bigint, e: number, precision: number, least: number, top: number): number {
  if (n === 0n) return 0;
  const sign = n < 0n ? -1 : 1;
  let m = n < 0n ? -n : n;
  let shift = m.toString(2).length - precision;
  if (e + shift < least) shift = least - e;
  if (shift > 0) {
    const half = 1n << BigInt(shift - 1);
    const rest = m & ((1n << BigInt(shift)) - 1n);
    m >>= BigInt(shift);
    if (rest > half || (rest === half && m & 1n)) m += 1n;
    e += shift;
  }
  if (m === 0n) return sign * 0;
  if (m.toString(2).length + e > top) return sign * Infinity;
  // Number(m) is exact; scale in two exact steps (least subnormal of the format is in range).
  const first = Math.max(-1000, Math.min(1000, e));
  return sign * Number(m) * 2 ** first * 2 ** (e - first);
}

export function fmaExact(a: number, b: number, c: number, precision: number, least: number, top: number): number {
  const x = exact(a);
  const y = exact(b);
  const z = exact(c);
  let n = x.n * y.n;
  let e = x.e + y.e;
  let m = z.n;
  if (e > z.e) {
    n <<= BigInt(e - z.e);
    e = z.e;
  } else m <<= BigInt(z.e - e);
  return roundExact(n + m, e, precision, least, top);
}
