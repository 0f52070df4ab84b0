/**
 * Elementary functions for constant folding, in binary64 from additions, multiplications, divisions and square roots
 * only: the same bits on every machine and every version of the runtime, which `Math.sin` and its like don't promise.
 * Errors stay below 1e-14 relative (absolute for sin and cos), so that rounding to binary32 gives the nearest value but
 * for ties within that distance. Undefined where no such result is known (arguments too large to reduce).
 */

const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
const HALF_PI_HIGH = 1.5707963267341256;
const HALF_PI_MIDDLE = 6.077100506303966e-11;
const HALF_PI_LOW = 2.0222662487959506e-21;
/** Beyond this the three parts of pi / 2 don't carry enough digits. */
const ANGLE_LIMIT = 1e6;
const view = new DataView(new ArrayBuffer(8));

/** 2^n for -1022 <= n <= 1023. */
function powerOfTwo(n: number): number {
  view.setUint32(0, (n + 1023) << 20);
  view.setUint32(4, 0);
  return view.getFloat64(0);
}

export function exp(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x > 709) return Number.POSITIVE_INFINITY;
  if (x < -708) return 0;
  const n = Math.round(x / LN2_HIGH);
  const r = x - n * LN2_HIGH - n * LN2_LOW;
  let sum = 1;
  for (let k = 18; k >= 1; k--) sum = 1 + (sum * r) / k;
  return sum * powerOfTwo(n);
}

/** Natural logarithm; -infinity at 0, NaN below. */
export function log(x: number): number {
  if (x === 0) return Number.NEGATIVE_INFINITY;
  if (!(x > 0) || x === Number.POSITIVE_INFINITY) return x > 0 ? x : Number.NaN;
  view.setFloat64(0, x);
  let exponent = (view.getUint32(0) >>> 20) - 1023;
  // binary64's denormals are far below what shaders' floats hold
  let mantissa = x / powerOfTwo(exponent);
  if (mantissa > Math.SQRT2) {
    mantissa /= 2;
    exponent++;
  }
  const s = (mantissa - 1) / (mantissa + 1);
  const z = s * s;
  let sum = 0;
  for (let k = 23; k >= 0; k--) sum = sum * z + 1 / (2 * k + 1);
  return exponent * LN2_HIGH + (2 * s * sum + exponent * LN2_LOW);
}

export function log2(x: number): number | undefined {
  const value = log(x) * Math.LOG2E;
  const near = Math.round(value);
  return Math.abs(value - near) < 1e-13 && Math.abs(near) < 1000 && powerOfTwo(near) === x ? near : value;
}

/** x^y; undefined where GLSL leaves it open. */
export function pow(x: number, y: number): number | undefined {
  if (x < 0 || (x === 0 && y <= 0)) return undefined;
  if (x === 0) return 0;
  return exp(y * log(x));
}

function quadrant(x: number): { readonly n: number; readonly r: number } | undefined {
  if (!(Math.abs(x) <= ANGLE_LIMIT)) return undefined;
  const n = Math.round(x / (Math.PI / 2));
  return { n: ((n % 4) + 4) % 4, r: x - n * HALF_PI_HIGH - n * HALF_PI_MIDDLE - n * HALF_PI_LOW };
}

function sinSeries(r: number): number {
  const z = r * r;
  let sum = 1;
  for (let k = 10; k >= 1; k--) sum = 1 - (sum * z) / (2 * k * (2 * k + 1));
  return r * sum;
}

function cosSeries(r: number): number {
  const z = r * r;
  let sum = 1;
  for (let k = 10; k >= 1; k--) sum = 1 - (sum * z) / (2 * k * (2 * k - 1));
  return sum;
}

export function sin(x: number): number | undefined {
  const at = quadrant(x);
  if (at === undefined) return undefined;
  const value = at.n % 2 === 0 ? sinSeries(at.r) : cosSeries(at.r);
  return at.n < 2 ? value : -value;
}

export function cos(x: number): number | undefined {
  const at = quadrant(x);
  if (at === undefined) return undefined;
  const value = at.n % 2 === 0 ? cosSeries(at.r) : sinSeries(at.r);
  return at.n === 0 || at.n === 3 ? value : -value;
}

export function tan(x: number): number | undefined {
  const s = sin(x);
  const c = cos(x);
  return s === undefined || c === undefined || c === 0 ? undefined : s / c;
}

export function atan(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x < 0) return -atan(-x);
  if (x > 1) return Math.PI / 2 - atan(1 / x);
  if (x > Math.SQRT2 - 1) return Math.PI / 4 + atan((x - 1) / (x + 1));
  const z = x * x;
  let sum = 0;
  for (let k = 24; k >= 0; k--) sum = 1 / (2 * k + 1) - sum * z;
  return x * sum;
}

/** The angle whose tangent is y / x; undefined at the origin. */
export function atan2(y: number, x: number): number | undefined {
  if (x === 0 && y === 0) return undefined;
  if (Math.abs(y) > Math.abs(x)) return (y > 0 ? Math.PI / 2 : -Math.PI / 2) - atan(x / y);
  if (x > 0) return atan(y / x);
  return y >= 0 ? Math.PI + atan(y / x) : atan(y / x) - Math.PI;
}

export function asin(x: number): number | undefined {
  return Math.abs(x) > 1 ? undefined : atan2(x, Math.sqrt((1 - x) * (1 + x)));
}

export function acos(x: number): number | undefined {
  return Math.abs(x) > 1 ? undefined : atan2(Math.sqrt((1 - x) * (1 + x)), x);
}

export function sinh(x: number): number {
  if (Math.abs(x) > 0.5) return (exp(x) - exp(-x)) / 2;
  const z = x * x;
  let sum = 1;
  for (let k = 8; k >= 1; k--) sum = 1 + (sum * z) / (2 * k * (2 * k + 1));
  return x * sum;
}

export function cosh(x: number): number {
  return (exp(x) + exp(-x)) / 2;
}

export function tanh(x: number): number {
  return Math.abs(x) > 20 ? Math.sign(x) : sinh(x) / cosh(x);
}

export function asinh(x: number): number {
  if (x < 0) return -asinh(-x);
  if (x < 1e-3) return x - (x * x * x) / 6 + (3 * x * x * x * x * x) / 40;
  return log(x + Math.sqrt(x * x + 1));
}

export function acosh(x: number): number | undefined {
  return x < 1 ? undefined : log(x + Math.sqrt((x - 1) * (x + 1)));
}

export function atanh(x: number): number | undefined {
  if (!(Math.abs(x) < 1)) return undefined;
  if (Math.abs(x) < 1e-3) return x + (x * x * x) / 3 + (x * x * x * x * x) / 5;
  return log((1 + x) / (1 - x)) / 2;
}
