import { f32 as f, fmaExact, bitsOf as u } from "../../math/exact.ts";
import { fmaHalf, halfBits, max, min } from "../../math/half.ts";

/**
 * What each op of one result word means, from its prose in src/ir/ops.ts and nothing else. Operands and result are words;
 * the result may be any number whose low 32 bits count. NaN is the canonical one: `u` is given numbers alone.
 */
export type Meaning = (a: number, b: number, c: number) => number;

const nan = 0x7fc00000;
const n = (x: number): number => (Number.isNaN(x) ? nan : u(x));
const is = Number;
const between = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);

function evenRounded(x: number): number {
  if (!Number.isFinite(x)) return x;
  const low = Math.floor(x);
  const up = x - low > 0.5 || (x - low === 0.5 && low % 2 !== 0);
  const r = up ? low + 1 : low;
  return r === 0 && (x < 0 || Object.is(x, -0)) ? -0 : r;
}

/** f16 bits of an f32, ties to even or towards 0. */
function half(a: number, rounded: "even" | "towards 0"): number {
  const x = f(a);
  if (Number.isNaN(x)) return 0x7e00;
  const sign = a >>> 31 === 1 ? 0x8000 : 0;
  const size = Math.abs(x);
  if (size === Number.POSITIVE_INFINITY || (rounded === "even" && size >= 65520)) return sign | 0x7c00;
  if (size >= 65536) return sign | 0x7bff;
  const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
  const scaled = size * 2 ** (10 - exponent);
  return sign | (((exponent + 14) << 10) + (rounded === "even" ? evenRounded(scaled) : Math.floor(scaled)));
}

function fromHalf(a: number): number {
  const [exponent, fraction] = [(a >>> 10) & 31, a & 0x3ff];
  const sign = a & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** a * b + c in f32, rounded once. */
function fma(a: number, b: number, c: number): number {
  const product = a * b;
  const sum = product + c;
  if (!Number.isFinite(sum)) return Math.fround(sum);
  // Exact in f64 where no part of the sum is lost: then one rounding is left.
  const back = sum - product;
  const lost = product - (sum - back) + (c - back);
  if (lost === 0) return sum === 0 ? sum : Math.fround(sum);
  return fmaExact(a, b, c, 24, -149, 128);
}

/** Sine of x whole turns, reduced exactly before anything is rounded. */
function sinTurns(x: number, quarters: number): number {
  const r = x - Math.round(x);
  const q = Math.round(r * 4);
  const t = (r - q / 4) * 2 * Math.PI;
  const quadrant = (((q + quarters) % 4) + 4) % 4;
  const value = quadrant % 2 === 1 ? Math.cos(t) : Math.sin(t);
  return quadrant >= 2 ? 0 - value : value;
}

const smallest = 2 ** -126;
/** The hardware's approximations take denormals as zeros, and some give them so. */
const flush = (x: number): number => (Math.abs(x) < smallest ? (x < 0 || Object.is(x, -0) ? -0 : 0) : x);

function frexpExponent(x: number): number {
  if (x === 0 || !Number.isFinite(x)) return 0;
  let e = Math.floor(Math.log2(Math.abs(x)));
  while (2 ** e > Math.abs(x)) e--;
  while (2 ** (e + 1) <= Math.abs(x)) e++;
  return e + 1;
}

const norm = (a: number, low: number, scale: number): number =>
  Number.isNaN(f(a)) ? 0 : evenRounded(between(f(a), low, 1) * scale) & 0xffff;
const sint16 = (a: number): number => between(a | 0, -32768, 32767) & 0xffff;
const sat32 = (x: number, low: number, high: number): number =>
  Number.isNaN(x) ? 0 : between(Math.trunc(x), low, high);

/** Face and coordinates of a cube map as v_cube* give them. Source: RDNA2 ISA, V_CUBEID_F32 and its neighbours. */
function cube(a: number, b: number, c: number): { id: number; s: number; t: number; ma: number } {
  const [x, y, z] = [f(a), f(b), f(c)];
  const [ax, ay, az] = [Math.abs(x), Math.abs(y), Math.abs(z)];
  if (az >= ax && az >= ay) return { id: z < 0 ? 5 : 4, s: z < 0 ? -x : x, t: -y, ma: 2 * z };
  if (ay >= ax) return { id: y < 0 ? 3 : 2, s: x, t: y < 0 ? -z : z, ma: 2 * y };
  return { id: x < 0 ? 1 : 0, s: x < 0 ? z : -z, t: -y, ma: 2 * x };
}

/** An op on both halves of words, from what it does to one. */
const halves =
  (one: Meaning): Meaning =>
  (a, b, c) =>
    (one(a & 0xffff, b & 0xffff, c & 0xffff) & 0xffff) | (one(a >>> 16, b >>> 16, c >>> 16) << 16);
const floats = (one: Meaning): Meaning => halves((a, b, c) => halfBits(one(fromHalf(a), fromHalf(b), fromHalf(c))));
/** One on the low half alone, which leaves 0 above. */
const half1 =
  (one: (x: number) => number): Meaning =>
  (a) =>
    halfBits(one(fromHalf(a)));
const s16 = (x: number): number => (x << 16) >> 16;

/** Ops whose bits are given, whatever computes them. */
export const exactMeaning: Readonly<Record<string, Meaning>> = {
  select: (a, b, c) => (a ? b : c),
  iadd: (a, b) => a + b,
  isub: (a, b) => a - b,
  imul: (a, b) => Math.imul(a, b),
  umul_hi: (a, b) => Number((BigInt(a) * BigInt(b)) >> 32n),
  imul_hi: (a, b) => Number((BigInt(a | 0) * BigInt(b | 0)) >> 32n),
  ineg: (a) => -a,
  iabs: (a) => Math.abs(a | 0),
  iand: (a, b) => a & b,
  ior: (a, b) => a | b,
  ixor: (a, b) => a ^ b,
  inot: (a) => ~a,
  ishl: (a, b) => a << (b % 32),
  ishr: (a, b) => (a | 0) >> (b % 32),
  ushr: (a, b) => a >>> (b % 32),
  imin: (a, b) => Math.min(a | 0, b | 0),
  imax: (a, b) => Math.max(a | 0, b | 0),
  umin: (a, b) => Math.min(a, b),
  umax: (a, b) => Math.max(a, b),
  ubfe: (a, b, c) => (a >>> (b % 32)) % 2 ** (c % 32),
  ibfe: (a, b, c) => (c % 32 === 0 ? 0 : Number(BigInt.asIntN(c % 32, BigInt(a) >> BigInt(b % 32)))),
  bfm: (a, b) => Number((((1n << BigInt(a % 32)) - 1n) << BigInt(b % 32)) & 0xffffffffn),
  bfi: (a, b, c) => (a & b) | (~a & c),
  bitrev: (a) => Number.parseInt([...a.toString(2).padStart(32, "0")].reverse().join(""), 2),
  bitcount: (a) => a.toString(2).replaceAll("0", "").length,
  find_lsb: (a) => (a === 0 ? -1 : (/0*$/.exec(a.toString(2))?.[0].length ?? 0)),
  uffbh: (a) => (a === 0 ? -1 : 32 - a.toString(2).length),
  iffbh: (a) => {
    const bits = a.toString(2).padStart(32, "0");
    const run = /^(0+|1+)/.exec(bits)?.[0].length ?? 0;
    return run === 32 ? -1 : run;
  },
  ieq: (a, b) => is(a === b),
  ine: (a, b) => is(a !== b),
  ilt: (a, b) => is((a | 0) < (b | 0)),
  ige: (a, b) => is((a | 0) >= (b | 0)),
  ult: (a, b) => is(a < b),
  uge: (a, b) => is(a >= b),
  feq: (a, b) => is(f(a) === f(b)),
  fneu: (a, b) => is(f(a) !== f(b)),
  flt: (a, b) => is(f(a) < f(b)),
  fge: (a, b) => is(f(a) >= f(b)),
  udiv: (a, b) => (b === 0 ? -1 : Math.floor(a / b)),
  umod: (a, b) => (b === 0 ? a : a % b),
  idiv: (a, b) => (b === 0 ? -1 : Math.trunc((a | 0) / (b | 0))),
  irem: (a, b) => (b === 0 ? a : (a | 0) % (b | 0)),
  imod: (a, b) => (b === 0 ? a : (a | 0) - (b | 0) * Math.floor((a | 0) / (b | 0))),
  fadd: (a, b) => n(f(a) + f(b)),
  fsub: (a, b) => n(f(a) - f(b)),
  fmul: (a, b) => n(f(a) * f(b)),
  ffma: (a, b, c) => n(fma(f(a), f(b), f(c))),
  fneg: (a) => a ^ 0x80000000,
  fabs: (a) => a & 0x7fffffff,
  ffloor: (a) => n(Math.floor(f(a))),
  fceil: (a) => n(Math.ceil(f(a))),
  ftrunc: (a) => n(Math.trunc(f(a))),
  fround_even: (a) => n(evenRounded(f(a))),
  ffract: (a) => n(Math.min(f(a) - Math.floor(f(a)), 1 - 2 ** -24)),
  fmin: (a, b) => (Number.isNaN(f(a)) ? n(f(b)) : Number.isNaN(f(b)) ? a : n(Math.min(f(a), f(b)))),
  fmax: (a, b) => (Number.isNaN(f(a)) ? n(f(b)) : Number.isNaN(f(b)) ? a : n(Math.max(f(a), f(b)))),
  fsat: (a) => (f(a) > 0 ? n(Math.min(f(a), 1)) : 0),
  fldexp: (a, b) => n(f(a) * 2 ** between(b | 0, -300, 300)),
  ffrexp_mant: (a) => n(f(a) / 2 ** frexpExponent(f(a))),
  ffrexp_exp: (a) => frexpExponent(f(a)),
  f2i: (a) => sat32(f(a), -(2 ** 31), 2 ** 31 - 1),
  f2u: (a) => sat32(f(a), 0, 2 ** 32 - 1),
  i2f: (a) => n(a | 0),
  u2f: (a) => n(a),
  b2i: (a) => a,
  b2f: (a) => (a ? 0x3f800000 : 0),
  f2f16: (a) => half(a, "even"),
  hadd: floats((a, b) => a + b),
  hmul: floats((a, b) => a * b),
  hfma: floats(fmaHalf),
  hmin: floats(min),
  hmax: floats(max),
  hiadd: halves((a, b) => a + b),
  hisub: halves((a, b) => a - b),
  himul: halves((a, b) => Math.imul(a, b)),
  hishl: halves((a, b) => a << (b % 16)),
  hishr: halves((a, b) => s16(a) >> (b % 16)),
  hushr: halves((a, b) => a >>> (b % 16)),
  himin: halves((a, b) => Math.min(s16(a), s16(b))),
  himax: halves((a, b) => Math.max(s16(a), s16(b))),
  humin: halves((a, b) => Math.min(a, b)),
  humax: halves((a, b) => Math.max(a, b)),
  hfloor: half1(Math.floor),
  hceil: half1(Math.ceil),
  htrunc: half1(Math.trunc),
  hround_even: half1(evenRounded),
  pack_halves: (a, b) => (a & 0xffff) | (b << 16),
  f162f: (a) => n(fromHalf(a)),
  pack_half_rtz: (a, b) => half(a, "towards 0") | (half(b, "towards 0") << 16),
  pack_unorm16: (a, b) => norm(a, 0, 65535) | (norm(b, 0, 65535) << 16),
  pack_snorm16: (a, b) => norm(a, -1, 32767) | (norm(b, -1, 32767) << 16),
  pack_uint16: (a, b) => between(a, 0, 65535) | (between(b, 0, 65535) << 16),
  pack_sint16: (a, b) => sint16(a) | (sint16(b) << 16),
  cube_id: (a, b, c) => n(cube(a, b, c).id),
  cube_s: (a, b, c) => n(cube(a, b, c).s),
  cube_t: (a, b, c) => n(cube(a, b, c).t),
  cube_ma: (a, b, c) => n(cube(a, b, c).ma),
};

/** Ops that are right within a bound: here the nearest number. */
export const boundedMeaning: Readonly<Record<string, Meaning>> = {
  fdiv: (a, b) => n(f(a) / f(b)),
  fsqrt: (a) => n(Math.sqrt(flush(f(a)))),
  frsq: (a) => n(1 / Math.sqrt(flush(f(a)))),
  frcp: (a) => n(flush(Math.fround(1 / flush(f(a))))),
  fexp2: (a) => n(flush(Math.fround(2 ** flush(f(a))))),
  flog2: (a) => n(Math.log2(flush(f(a)))),
  hsqrt: half1(Math.sqrt),
  hrsq: half1((a) => 1 / Math.sqrt(a)),
  hrcp: half1((a) => 1 / a),
  hexp2: half1((a) => 2 ** a),
  hlog2: half1(Math.log2),
  hsin_turns: half1((a) => (Math.abs(a) > 256 && Number.isFinite(a) ? 0 : a === 0 ? a : sinTurns(a, 0))),
  hcos_turns: half1((a) => (Math.abs(a) > 256 && Number.isFinite(a) ? 1 : sinTurns(a, 1))),
  // Below 1: the largest f16 below 1 is 1 - 2^-11.
  hfract: half1((a) => Math.min(a - Math.floor(a), 1 - 2 ** -11)),
  fsin: (a) => n(Math.sin(f(a))),
  fcos: (a) => n(Math.cos(f(a))),
  fsin_turns: (a) => n(f(a) === 0 ? f(a) : sinTurns(f(a), 0)),
  fcos_turns: (a) => n(sinTurns(f(a), 1)),
};

const pair = new DataView(new ArrayBuffer(8));
const d = ([low = 0, high = 0]: readonly number[]): number => {
  pair.setUint32(0, low, true);
  pair.setUint32(4, high, true);
  return pair.getFloat64(0, true);
};
const w = (x: number): readonly [number, number] => {
  if (Number.isNaN(x)) return [0, 0x7ff80000];
  pair.setFloat64(0, x, true);
  return [pair.getUint32(0, true), pair.getUint32(4, true)];
};

function scaled(x: number, by: number): number {
  let e = between(by, -2200, 2200);
  let r = x;
  // Steps that are exact until the last one that goes below the normal numbers.
  for (; e > 1000; e -= 1000) r *= 2 ** 1000;
  if (e < -1000 && r !== 0) {
    const own = frexpExponent(r);
    const least = own + e;
    if (least < -1080) return r < 0 ? -0 : 0;
    r = r / 2 ** own;
    return r * 2 ** 100 * 2 ** -100 * 2 ** Math.ceil(least / 2) * 2 ** Math.floor(least / 2);
  }
  return r * 2 ** e;
}

function fmaDouble(a: number, b: number, c: number): number {
  const plain = a * b + c;
  if (![a, b, c].every(Number.isFinite)) return plain;
  const exact = fmaExact(a, b, c, 53, -1074, 1024);
  return exact === 0 && Object.is(plain, -0) ? -0 : exact;
}

/** f64 ops: sources and result as words, low half first. */
export const wideMeaning: Readonly<Record<string, (...s: readonly (readonly number[])[]) => readonly number[]>> = {
  dadd: (a = [], b = []) => w(d(a) + d(b)),
  dmul: (a = [], b = []) => w(d(a) * d(b)),
  dfma: (a = [], b = [], c = []) => w(fmaDouble(d(a), d(b), d(c))),
  dmin: (a = [], b = []) => w(Number.isNaN(d(a)) ? d(b) : Number.isNaN(d(b)) ? d(a) : Math.min(d(a), d(b))),
  dmax: (a = [], b = []) => w(Number.isNaN(d(a)) ? d(b) : Number.isNaN(d(b)) ? d(a) : Math.max(d(a), d(b))),
  drcp: (a = []) => w(1 / d(a)),
  drsq: (a = []) => w(1 / Math.sqrt(d(a))),
  dsqrt: (a = []) => w(Math.sqrt(d(a))),
  dfloor: (a = []) => w(Math.floor(d(a))),
  dceil: (a = []) => w(Math.ceil(d(a))),
  dtrunc: (a = []) => w(Math.trunc(d(a))),
  dround_even: (a = []) => w(evenRounded(d(a))),
  dldexp: (a = [], [b = 0] = []) => w(scaled(d(a), b | 0)),
  dfrexp_mant: (a = []) => w(scaled(d(a), -frexpExponent(d(a)))),
  ddiv_fixup: (q = [], b = [], c = []) => {
    const [x, y] = [d(c), d(b)];
    const special = x === 0 || y === 0 || !Number.isFinite(x) || !Number.isFinite(y);
    return w(special ? x / y : d(q));
  },
  f2d: ([a = 0] = []) => w(f(a)),
  i2d: ([a = 0] = []) => w(a | 0),
  u2d: ([a = 0] = []) => w(a),
  dfrexp_exp: (a = []) => [frexpExponent(d(a))],
  d2f: (a = []) => [n(Math.fround(d(a)))],
  d2i: (a = []) => [sat32(d(a), -(2 ** 31), 2 ** 31 - 1)],
  d2u: (a = []) => [sat32(d(a), 0, 2 ** 32 - 1)],
  deq: (a = [], b = []) => [is(d(a) === d(b))],
  dneu: (a = [], b = []) => [is(d(a) !== d(b))],
  dlt: (a = [], b = []) => [is(d(a) < d(b))],
  dge: (a = [], b = []) => [is(d(a) >= d(b))],
};
