/**
 * CPU references of the six kernels, written from their GLSL. `exact` ones round each operation as f32 in the shader's
 * order, with the multiply-adds that the compiler says it has joined; `plain` ones use double precision throughout.
 */
import { fmaf } from "./float.ts";

const f = Math.fround;

/** y = a*x + y, joined: one rounding. */
export function saxpyExact(a: number, x: Float32Array, y: Float32Array): Float32Array {
  return y.map((value, i) => fmaf(a, x[i] as number, value));
}

/** Row-major n x n product; k ascending, each step one multiply-add. */
export function matmulExact(n: number, a: Float32Array, b: Float32Array): Float32Array {
  const c = new Float32Array(n * n);
  for (let row = 0; row < n; row++) {
    for (let col = 0; col < n; col++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum = fmaf(a[row * n + k] as number, b[k * n + col] as number, sum);
      c[row * n + col] = sum;
    }
  }
  return c;
}

/** The product in double precision, and each element's sum of absolute terms. */
export function matmulPlain(n: number, a: Float32Array, b: Float32Array): { c: Float64Array; magnitude: Float64Array } {
  const c = new Float64Array(n * n);
  const magnitude = new Float64Array(n * n);
  for (let row = 0; row < n; row++) {
    for (let k = 0; k < n; k++) {
      const left = a[row * n + k] as number;
      for (let col = 0; col < n; col++) {
        const term = left * (b[k * n + col] as number);
        c[row * n + col] = (c[row * n + col] as number) + term;
        magnitude[row * n + col] = (magnitude[row * n + col] as number) + Math.abs(term);
      }
    }
  }
  return { c, magnitude };
}

/** One 1,024-element block by the shader's tree. Elements past the end count as zero. */
export function reduceExact(x: Float32Array): Float32Array {
  const groups = Math.ceil(x.length / 1024);
  const out = new Float32Array(groups);
  for (let group = 0; group < groups; group++) {
    const s = new Float32Array(1024);
    s.set(x.subarray(group * 1024, (group + 1) * 1024));
    for (let width = 512; width > 0; width >>= 1) {
      for (let l = 0; l < width; l++) s[l] = f((s[l] as number) + (s[l + width] as number));
    }
    out[group] = s[0] as number;
  }
  return out;
}

/** Iteration counts of an n x n image, n a power of two (so that the division is exact however it is done). */
export function mandelbrotExact(n: number, fused: boolean): Uint32Array {
  const out = new Uint32Array(n * n);
  const mulAdd = fused ? fmaf : (a: number, b: number, c: number) => f(f(a * b) + c);
  for (let row = 0; row < n; row++) {
    for (let col = 0; col < n; col++) {
      const cx = f(-2 + f(f(3 * col) / n));
      const cy = f(-1.5 + f(f(3 * row) / n));
      let x = 0;
      let y = 0;
      let i = 0;
      while (i < 256 && mulAdd(x, x, f(y * y)) <= 4) {
        const t = f(mulAdd(x, x, -f(y * y)) + cx);
        y = mulAdd(f(2 * x), y, cy);
        x = t;
        i++;
      }
      out[row * n + col] = i;
    }
  }
  return out;
}

export interface Bodies {
  /** Four floats a body: x, y, z, mass. */
  readonly positions: Float32Array;
  readonly velocities: Float32Array;
}

/** v_rsq_f32 as docs/simulator.md states it: 1/sqrt in double precision, rounded to f32. */
const rsq = (x: number): number => f(1 / Math.sqrt(x));

/**
 * One step with the compiler's multiply-adds. Of dot(d, d) it multiplies y first and adds x, then z; the sum of 0.01
 * stays an addition.
 */
export function nbodyExact(n: number, dt: number, { positions: p, velocities: v }: Bodies): Bodies {
  const positions = new Float32Array(n * 4);
  const velocities = new Float32Array(n * 4);
  const softening = f(0.01);
  const at = (array: Float32Array, i: number): number => array[i] as number;
  for (let i = 0; i < n; i++) {
    const acceleration = [0, 0, 0];
    for (let j = 0; j < n; j++) {
      const d = [0, 1, 2].map((c) => f(at(p, j * 4 + c) - at(p, i * 4 + c))) as [number, number, number];
      const dot = fmaf(d[2], d[2], fmaf(d[0], d[0], f(d[1] * d[1])));
      const inverse = rsq(f(dot + softening));
      const scale = f(f(f(at(p, j * 4 + 3) * inverse) * inverse) * inverse);
      for (let c = 0; c < 3; c++) acceleration[c] = fmaf(d[c] as number, scale, acceleration[c] as number);
    }
    for (let c = 0; c < 3; c++) {
      const velocity = fmaf(acceleration[c] as number, dt, at(v, i * 4 + c));
      velocities[i * 4 + c] = velocity;
      positions[i * 4 + c] = fmaf(velocity, dt, at(p, i * 4 + c));
    }
    positions[i * 4 + 3] = at(p, i * 4 + 3);
  }
  return { positions, velocities };
}

/** One step in double precision, and the largest acceleration's length. */
export function nbodyPlain(n: number, dt: number, { positions: p, velocities: v }: Bodies) {
  const positions = new Float64Array(n * 4);
  const velocities = new Float64Array(n * 4);
  let largest = 0;
  const at = (array: Float32Array, i: number): number => array[i] as number;
  for (let i = 0; i < n; i++) {
    let [ax, ay, az] = [0, 0, 0];
    for (let j = 0; j < n; j++) {
      const dx = at(p, j * 4) - at(p, i * 4);
      const dy = at(p, j * 4 + 1) - at(p, i * 4 + 1);
      const dz = at(p, j * 4 + 2) - at(p, i * 4 + 2);
      const inverse = 1 / Math.sqrt(dx * dx + dy * dy + dz * dz + 0.01);
      const scale = at(p, j * 4 + 3) * inverse ** 3;
      ax += dx * scale;
      ay += dy * scale;
      az += dz * scale;
    }
    largest = Math.max(largest, Math.hypot(ax, ay, az));
    [ax, ay, az].forEach((acceleration, c) => {
      const velocity = at(v, i * 4 + c) + acceleration * dt;
      velocities[i * 4 + c] = velocity;
      positions[i * 4 + c] = at(p, i * 4 + c) + velocity * dt;
    });
    positions[i * 4 + 3] = at(p, i * 4 + 3);
  }
  return { positions, velocities, largestAcceleration: largest };
}
