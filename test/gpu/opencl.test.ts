import { beforeAll, describe, expect, it } from "vitest";
import { noise } from "../math/exact.ts";
import { oracle } from "../oracles.ts";
import { compileOpenCl, Program } from "./clang.ts";
import { Rig } from "./rig.ts";

/** Our own kernels, compiled by clang: a second opinion on the interpreter that shares no code with us. */
const source = `
#define GID (__builtin_amdgcn_workgroup_id_x() * WG + __builtin_amdgcn_workitem_id_x())
#define LID __builtin_amdgcn_workitem_id_x()
#define SYNC() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
#define WG 256
kernel void saxpy(global const float *x, global float *y, float a) { uint i = GID; y[i] = a * x[i] + y[i]; }
kernel void divide32(global const int *a, global const int *b, global int *o) {
  uint i = GID; int x = a[i], y = b[i];
  o[4 * i] = x / y; o[4 * i + 1] = x % y; o[4 * i + 2] = (uint)x / (uint)y; o[4 * i + 3] = (uint)x % (uint)y;
}
kernel void divide64(global const long *a, global const long *b, global long *o) {
  uint i = GID; long x = a[i], y = b[i];
  o[4 * i] = x / y; o[4 * i + 1] = x % y; o[4 * i + 2] = (ulong)x / (ulong)y; o[4 * i + 3] = (ulong)x % (ulong)y;
}
kernel void divideFloat(global const float *a, global const float *b, global float *o) { uint i = GID; o[2 * i] = a[i] / b[i]; o[2 * i + 1] = __builtin_sqrtf(__builtin_fabsf(a[i])); }
kernel void doubles(global const double *a, global const double *b, global double *o) {
  uint i = GID; double x = a[i], y = b[i];
  o[8 * i] = x + y; o[8 * i + 1] = x * y; o[8 * i + 2] = x / y; o[8 * i + 3] = __builtin_sqrt(__builtin_fabs(x));
  o[8 * i + 4] = (double)(float)x; o[8 * i + 5] = __builtin_floor(x); o[8 * i + 6] = (double)(int)y; o[8 * i + 7] = __builtin_rint(y);
}
kernel void histogram(global const uchar *x, global uint *o, uint n) {
  local uint h[256];
  h[LID] = 0; SYNC();
  for (uint i = LID; i < n; i += WG) __atomic_fetch_add(&h[x[i]], 1, __ATOMIC_RELAXED);
  SYNC(); __atomic_fetch_add(&o[LID], h[LID], __ATOMIC_RELAXED);
}
kernel void bitonic(global int *x) {
  local int s[WG]; uint l = LID; s[l] = x[GID]; SYNC();
  for (uint k = 2; k <= WG; k <<= 1) for (uint j = k >> 1; j > 0; j >>= 1) {
    uint p = l ^ j;
    if (p > l) { bool up = (l & k) == 0; int a = s[l], b = s[p]; if ((a > b) == up) { s[l] = b; s[p] = a; } }
    SYNC();
  }
  x[GID] = s[l];
}
kernel void scan(global const uint *x, global uint *o) {
  local uint s[WG]; uint l = LID; s[l] = x[GID]; SYNC();
  for (uint d = 1; d < WG; d <<= 1) { uint v = l >= d ? s[l - d] : 0; SYNC(); s[l] += v; SYNC(); }
  o[GID] = s[l];
}
kernel void privateArray(global const uint *x, global uint *o) {
  uint t[40]; uint i = GID;
  for (int k = 0; k < 40; k++) t[k] = x[i] + k * k;
  for (int k = 0; k < 100; k++) { uint a = (x[i] >> (k & 15)) % 40, b = (k * 7 + i) % 40; uint v = t[a]; t[a] = t[b] * 3 + v; t[b] = v; }
  uint sum = 0; for (int k = 0; k < 40; k++) sum = sum * 31 + t[k];
  o[i] = sum;
}
kernel void bits(global const uint *x, global uint *o) {
  uint i = GID, v = x[i]; uint crc = v;
  for (int k = 0; k < 32; k++) crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320u : 0);
  o[4 * i] = __builtin_popcount(v) * 100 + (v ? __builtin_clz(v) : 32); o[4 * i + 1] = __builtin_bswap32(v); o[4 * i + 2] = (v << 7 | v >> 25) ^ __builtin_bitreverse32(v); o[4 * i + 3] = crc;
}
kernel void bytes(global const uchar *a, global const uchar *b, global uchar *o, global short *p) {
  uint i = GID; int s = a[i] + b[i]; o[i] = s > 255 ? 255 : s; p[i] = (short)((char)a[i] * (char)b[i]);
}
kernel void collatz(global const uint *x, global uint *o) {
  uint i = GID, n = x[i] & 0xffff, c = 0; while (n > 1 && c < 300) { n = n & 1 ? 3 * n + 1 : n >> 1; c++; } o[i] = c;
}
kernel void machine(global const uint *x, global uint *o) {
  uint i = GID, a = x[i], pc = i & 7;
  for (int k = 0; k < 40; k++) switch ((a >> (pc & 3)) % 7) {
    case 0: a += 0x9e3779b9; pc++; break; case 1: a ^= a >> 13; pc += 3; break; case 2: a *= 5; pc ^= 1; break;
    case 3: a = a << 3 | a >> 29; pc++; break; case 4: if (a & 8) goto out; pc += 2; break; case 5: a -= k; pc--; break; default: a = ~a; pc += 5;
  }
out: o[i] = a ^ pc;
}
kernel void convert(global const float *x, global int *o) {
  uint i = GID; float v = x[i]; o[4 * i] = (int)v; o[4 * i + 1] = (int)__builtin_rintf(v * 0.5f); o[4 * i + 2] = (int)(long)(v * 1000.0f); o[4 * i + 3] = as_int((float)(int)v + (float)(uint)i);
}
kernel void matmul(global const float *a, global const float *b, global float *c, uint n) {
  local float s[16][16], t[16][16];
  uint lx = LID & 15, ly = LID >> 4, tiles = n / 16, gx = __builtin_amdgcn_workgroup_id_x() % tiles, gy = __builtin_amdgcn_workgroup_id_x() / tiles;
  float sum = 0;
  for (uint k = 0; k < tiles; k++) {
    s[ly][lx] = a[(gy * 16 + ly) * n + k * 16 + lx]; t[ly][lx] = b[(k * 16 + ly) * n + gx * 16 + lx]; SYNC();
    for (uint j = 0; j < 16; j++) sum = __builtin_fmaf(s[ly][j], t[j][lx], sum);
    SYNC();
  }
  c[(gy * 16 + ly) * n + gx * 16 + lx] = sum;
}
kernel void globalAtomics(global uint *o, global ulong *w) {
  uint i = GID; __atomic_fetch_add(&o[0], i, __ATOMIC_RELAXED); __atomic_fetch_xor(&o[1], i * 0x01000193u, __ATOMIC_RELAXED);
  o[16 + __atomic_fetch_add(&o[2], 1, __ATOMIC_RELAXED)] = 1; __atomic_fetch_add(&w[0], (ulong)i << 30, __ATOMIC_RELAXED);
  uint old = o[3], next; do { next = old > i ? old : i; } while (!__atomic_compare_exchange_n(&o[3], &old, next, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
`;

const N = 512;
const WG = 256;
const ready = oracle("clang-19") !== undefined && oracle("ld.lld-19") !== undefined;

describe.skipIf(!ready)("OpenCL kernels compiled by clang", () => {
  let rig: Rig;
  let program: Program;
  const next = noise(0x9e3779b9);
  beforeAll(() => {
    rig = new Rig({ memoryBytes: 0x1000_0000 });
    program = new Program(rig, compileOpenCl(source));
  });
  const words = (values: readonly number[] | number) => {
    const list = typeof values === "number" ? new Array<number>(values).fill(0) : values;
    const buffer = rig.alloc(list.length * 4);
    rig.u32(buffer.physical, list.length).set(list);
    return { va: buffer.va, u32: rig.u32(buffer.physical, list.length), f32: rig.f32(buffer.physical, list.length) };
  };
  const floats = (values: readonly number[]) => {
    const buffer = words(values.length);
    buffer.f32.set(values);
    return buffer;
  };
  const random = (n = N) => Array.from({ length: n }, () => next());
  const randomFloats = (n = N) =>
    Array.from({ length: n }, () => Math.fround((next() / 2 ** 31 - 1) * 2 ** ((next() % 60) - 30)));
  const groups = N / WG;

  it("saxpy", () => {
    const x = floats(randomFloats());
    const y = floats(randomFloats());
    const before = y.f32.slice();
    const a = new Uint32Array(Float32Array.of(1.5).buffer)[0]!;
    program.run("saxpy", groups, WG, [x, y, a]);
    y.f32.forEach((got, i) => {
      const want = 1.5 * x.f32[i]! + before[i]!;
      expect(Math.abs(got - want)).toBeLessThanOrEqual(2 ** -23 * (Math.abs(1.5 * x.f32[i]!) + Math.abs(before[i]!)));
    });
  });

  it("32-bit division and remainder, signed and unsigned", () => {
    const a = random();
    const b = random().map((x, i) => (i % 3 === 0 ? x : i % 3 === 1 ? (x % 1000) + 1 : x >>> 16) || 7);
    const out = words(4 * N);
    program.run("divide32", groups, WG, [words(a), words(b), out]);
    a.forEach((x, i) => {
      const y = b[i]!;
      expect([...out.u32.subarray(4 * i, 4 * i + 4)]).toEqual([
        Math.trunc((x | 0) / (y | 0)) >>> 0,
        ((x | 0) % (y | 0)) >>> 0,
        Math.floor(x / y),
        x % y,
      ]);
    });
  });

  it("64-bit division and remainder, signed and unsigned", () => {
    const a = random(2 * N);
    const b = random(2 * N).map((x, i) => (i % 2 === 1 && i % 8 !== 1 ? 0 : x || 3));
    const out = words(8 * N);
    program.run("divide64", groups, WG, [words(a), words(b), out]);
    const u = (list: ArrayLike<number>, i: number) => (BigInt(list[2 * i + 1]!) << 32n) | BigInt(list[2 * i]!);
    const s = (x: bigint) => BigInt.asIntN(64, x);
    for (let i = 0; i < N; i++) {
      const [x, y] = [u(a, i), u(b, i)];
      const want = [s(x) / s(y), s(x) % s(y), x / y, x % y].map((v) => BigInt.asUintN(64, v));
      expect([0, 1, 2, 3].map((k) => u(out.u32, 4 * i + k))).toEqual(want);
    }
  });

  it("float division and square root, correctly rounded over the whole range", () => {
    const odd = [
      0,
      -0,
      1,
      Infinity,
      -Infinity,
      Number.NaN,
      2 ** -149,
      2 ** -126,
      3.4028234663852886e38,
      -(2 ** -140),
      2 ** 127,
      3,
    ];
    const any = () => new Float32Array(Uint32Array.of(next()).buffer)[0]!;
    const a = floats(Array.from({ length: N }, (_, i) => (i < 144 ? odd[i % 12]! : any())));
    const b = floats(Array.from({ length: N }, (_, i) => (i < 144 ? odd[Math.floor(i / 12)]! : any())));
    const out = floats(new Array<number>(2 * N).fill(0));
    program.run("divideFloat", groups, WG, [a, b, out]);
    for (let i = 0; i < N; i++) {
      const want = [Math.fround(a.f32[i]! / b.f32[i]!), Math.fround(Math.sqrt(Math.abs(a.f32[i]!)))];
      const got = [...out.f32.subarray(2 * i, 2 * i + 2)];
      expect([a.f32[i], b.f32[i], ...got]).toEqual([a.f32[i], b.f32[i], ...want]);
    }
  });

  it("double arithmetic", () => {
    const values = () =>
      Array.from({ length: N }, () => (next() / 2 ** 31 - 1) * 2 ** ((next() % 40) - 10) + next() * 2 ** -40);
    const a = words(2 * N);
    const b = words(2 * N);
    const out = words(16 * N);
    const view = (buffer: typeof a) =>
      new Float64Array(buffer.u32.buffer, buffer.u32.byteOffset, buffer.u32.length / 2);
    view(a).set(values());
    view(b).set(values());
    program.run("doubles", groups, WG, [a, b, out]);
    const even = (x: number) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));
    for (let i = 0; i < N; i++) {
      const [x, y] = [view(a)[i]!, view(b)[i]!];
      const int = Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, Math.trunc(y)));
      const want = [x + y, x * y, x / y, Math.sqrt(Math.abs(x)), Math.fround(x), Math.floor(x), int + 0, even(y)];
      expect([...view(out).subarray(8 * i, 8 * i + 8)].map((v) => v + 0)).toEqual(want.map((v) => v + 0));
    }
  });

  it("histogram with LDS and global atomics", () => {
    const data = words(random(1024));
    const out = words(256);
    program.run("histogram", 2, WG, [data, out, 4096]);
    const want = new Uint32Array(256);
    for (const byte of new Uint8Array(data.u32.buffer, data.u32.byteOffset, 4096)) want[byte] = want[byte]! + 2;
    expect([...out.u32]).toEqual([...want]);
  });

  it("bitonic sort", () => {
    const data = words(random());
    const want = [0, 1].flatMap((g) => [...Int32Array.from(data.u32.subarray(g * WG, g * WG + WG)).sort()]);
    program.run("bitonic", groups, WG, [data]);
    expect([...Int32Array.from(data.u32)]).toEqual(want);
  });

  it("prefix sum", () => {
    const data = words(random());
    const out = words(N);
    program.run("scan", groups, WG, [data, out]);
    let sum = 0;
    for (let i = 0; i < N; i++) {
      sum = ((i % WG === 0 ? 0 : sum) + data.u32[i]!) >>> 0;
      expect(out.u32[i]).toBe(sum);
    }
  });

  it("a dynamically indexed private array in scratch", () => {
    const data = words(random());
    const out = words(N);
    program.run("privateArray", groups, WG, [data, out]);
    for (let i = 0; i < N; i++) {
      const x = data.u32[i]!;
      const t = Array.from({ length: 40 }, (_, k) => (x + k * k) >>> 0);
      for (let k = 0; k < 100; k++) {
        const a = (x >>> (k & 15)) % 40;
        const b = (k * 7 + i) % 40;
        const v = t[a]!;
        t[a] = (Math.imul(t[b]!, 3) + v) >>> 0;
        t[b] = v;
      }
      expect(out.u32[i]).toBe(t.reduce((sum, v) => (Math.imul(sum, 31) + v) >>> 0, 0));
    }
  });

  it("bit tricks", () => {
    const data = words([0, 1, 0xffffffff, 0x80000000, ...random(N - 4)]);
    const out = words(4 * N);
    program.run("bits", groups, WG, [data, out]);
    for (let i = 0; i < N; i++) {
      const v = data.u32[i]!;
      const text = v.toString(2).padStart(32, "0");
      let crc = v;
      for (let k = 0; k < 32; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
      const swapped = new DataView(Uint32Array.of(v).buffer).getUint32(0);
      const reversed = Number.parseInt([...text].reverse().join(""), 2);
      expect([...out.u32.subarray(4 * i, 4 * i + 4)]).toEqual([
        [...text].filter((c) => c === "1").length * 100 + Math.clz32(v),
        swapped,
        (((v << 7) | (v >>> 25)) ^ reversed) >>> 0,
        crc >>> 0,
      ]);
    }
  });

  it("bytes and shorts", () => {
    const a = words(random(N / 4));
    const b = words(random(N / 4));
    const out = words(N / 4);
    const products = words(N / 2);
    program.run("bytes", groups, WG, [a, b, out, products]);
    const byte = (buffer: typeof a) => new Uint8Array(buffer.u32.buffer, buffer.u32.byteOffset, N);
    const short = new Int16Array(products.u32.buffer, products.u32.byteOffset, N);
    for (let i = 0; i < N; i++) {
      const [x, y] = [byte(a)[i]!, byte(b)[i]!];
      expect(byte(out)[i]).toBe(Math.min(255, x + y));
      expect(short[i]).toBe(((((x << 24) >> 24) * ((y << 24) >> 24)) << 16) >> 16);
    }
  });

  it("divergent loops", () => {
    const data = words(random());
    const out = words(N);
    program.run("collatz", groups, WG, [data, out]);
    for (let i = 0; i < N; i++) {
      let n = data.u32[i]! & 0xffff;
      let c = 0;
      for (; n > 1 && c < 300; c++) n = n & 1 ? 3 * n + 1 : n >>> 1;
      expect(out.u32[i]).toBe(c);
    }
  });

  it("a switch in a loop with a way out", () => {
    const data = words(random());
    const out = words(N);
    program.run("machine", groups, WG, [data, out]);
    for (let i = 0; i < N; i++) {
      let a = data.u32[i]!;
      let pc = i & 7;
      for (let k = 0; k < 40; k++) {
        const op = (a >>> (pc & 3)) % 7;
        if (op === 4 && a & 8) break;
        if (op === 0) [a, pc] = [(a + 0x9e3779b9) >>> 0, pc + 1];
        else if (op === 1) [a, pc] = [(a ^ (a >>> 13)) >>> 0, pc + 3];
        else if (op === 2) [a, pc] = [Math.imul(a, 5) >>> 0, pc ^ 1];
        else if (op === 3) [a, pc] = [((a << 3) | (a >>> 29)) >>> 0, pc + 1];
        else if (op === 4) pc += 2;
        else if (op === 5) [a, pc] = [(a - k) >>> 0, pc - 1];
        else [a, pc] = [~a >>> 0, pc + 5];
      }
      expect(out.u32[i]).toBe((a ^ pc) >>> 0);
    }
  });

  it("conversions", () => {
    const data = floats(Array.from({ length: N }, () => Math.fround((next() / 2 ** 31 - 1) * 2 ** (next() % 22))));
    const out = words(4 * N);
    program.run("convert", groups, WG, [data, out]);
    const even = (x: number) => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));
    for (let i = 0; i < N; i++) {
      const v = data.f32[i]!;
      const last = new Uint32Array(Float32Array.of(Math.fround(Math.fround(Math.trunc(v)) + i)).buffer)[0]!;
      expect([...out.u32.subarray(4 * i, 4 * i + 4)]).toEqual([
        Math.trunc(v) >>> 0,
        even(Math.fround(v * 0.5)) >>> 0,
        Number(BigInt.asUintN(32, BigInt(Math.trunc(Math.fround(v * 1000))))),
        last,
      ]);
    }
  });

  it("tiled matrix multiply", () => {
    const n = 32;
    const a = floats(randomFloats(n * n).map((x) => Math.fround(Math.sin(x))));
    const b = floats(randomFloats(n * n).map((x) => Math.fround(Math.sin(x))));
    const c = words(n * n);
    program.run("matmul", 4, WG, [a, b, c, n]);
    for (let y = 0; y < n; y++) {
      for (let x = 0; x < n; x++) {
        let want = 0;
        for (let k = 0; k < n; k++) want += a.f32[y * n + k]! * b.f32[k * n + x]!;
        expect(Math.abs(c.f32[y * n + x]! - want)).toBeLessThan(1e-5);
      }
    }
  });

  it("global atomics, 32 and 64 bits", () => {
    const out = words(16 + N);
    const wide = words(2);
    program.run("globalAtomics", groups, WG, [out, wide]);
    let xor = 0;
    for (let i = 0; i < N; i++) xor ^= Math.imul(i, 0x01000193);
    expect([...out.u32.subarray(0, 4)]).toEqual([(N * (N - 1)) / 2, xor >>> 0, N, N - 1]);
    expect([...out.u32.subarray(16)]).toEqual(new Array(N).fill(1));
    expect((BigInt(wide.u32[1]!) << 32n) | BigInt(wide.u32[0]!)).toBe(BigInt((N * (N - 1)) / 2) << 30n);
  });
});
