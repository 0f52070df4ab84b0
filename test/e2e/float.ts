/** Float arithmetic of the CPU references: f32 operations rounded once, independent of the compiler and the simulator. */

const f64 = new Float64Array(1);
const bits = new BigInt64Array(f64.buffer);

/**
 * fma(a, b, c) on f32 values, rounded once. The product of two f32 values is exact in f64; the sum is rounded to odd
 * there, so that the second rounding to f32 cannot differ from a single one.
 */
export function fmaf(a: number, b: number, c: number): number {
  const product = a * b;
  const sum = product + c;
  if (!Number.isFinite(sum)) return Math.fround(sum);
  const high = sum - product;
  const error = product - (sum - high) + (c - high);
  if (error === 0) return Math.fround(sum);
  f64[0] = sum;
  const word = bits[0] as bigint;
  if ((word & 1n) === 0n) bits[0] = error > 0 === sum > 0 ? word + 1n : word - 1n;
  return Math.fround(f64[0] as number);
}

/** Uniform in [-1, 1) from a fixed seed: xorshift32, 24 random bits a value, each value an f32. */
export function uniformFloats(count: number, seed: number): Float32Array {
  const out = new Float32Array(count);
  let state = seed >>> 0 || 1;
  for (let i = 0; i < count; i++) {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    out[i] = (state >>> 8) / 0x800000 - 1;
  }
  return out;
}

/** The distance from one f32 to the next one away from zero. */
export function ulp(value: number): number {
  const magnitude = Math.max(Math.abs(value), 2 ** -126);
  return 2 ** (Math.floor(Math.log2(magnitude)) - 23);
}

export const dwordsOf = (values: Float32Array): Uint32Array =>
  new Uint32Array(values.buffer, values.byteOffset, values.length);
