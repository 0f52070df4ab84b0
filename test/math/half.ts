/** binary16 as numbers: the values of bits, the nearest bits of a value, and what IEEE 754 says of minimum, maximum and fused multiply-add. */
import { fmaExact } from "./exact.ts";

export function half(x: number): number {
  const sign = x & 0x8000 ? -1 : 1;
  const e = (x >> 10) & 31;
  const m = x & 1023;
  if (e === 31) return m === 0 ? sign * Infinity : Number.NaN;
  return sign * (e === 0 ? m * 2 ** -24 : (1024 + m) * 2 ** (e - 25));
}
export const even = (x: number) => {
  const floor = Math.floor(x);
  const gap = x - floor;
  const r = gap < 0.5 || (gap === 0.5 && floor % 2 === 0) ? floor : floor + 1;
  return r === 0 && (x < 0 || Object.is(x, -0)) ? -0 : r;
};
/** Nearest half, as bits. */
export function halfBits(x: number): number {
  if (Number.isNaN(x)) return 0x7e00;
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const m = Math.abs(x);
  if (m >= 65520) return sign | 0x7c00;
  const e = Math.max(-14, Math.floor(Math.log2(m)));
  return m === 0 ? sign : sign + (e + 14) * 1024 + even(m / 2 ** (e - 10));
}
export const isMinusZero = (x: number) => Object.is(x, -0);
export const min = (x: number, y: number) =>
  Number.isNaN(x) ? y : Number.isNaN(y) ? x : x < y || (x === y && isMinusZero(x)) ? x : y;
export const max = (x: number, y: number) =>
  Number.isNaN(x) ? y : Number.isNaN(y) ? x : x > y || (x === y && isMinusZero(y)) ? x : y;
/** x*y+z rounded once to a format. */
export function fma(
  x: number,
  y: number,
  z: number,
  ...format: [precision: number, least: number, top: number]
): number {
  const plain = x * y + z;
  if (![x, y, z].every(Number.isFinite) || x === 0 || y === 0) return plain;
  return fmaExact(x, y, z, ...format) || (plain === 0 ? plain : 0 * plain);
}
export const fmaHalf = (x: number, y: number, z: number) => fma(x, y, z, 11, -24, 16);
