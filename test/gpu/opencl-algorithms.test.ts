import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { noise } from "../math/exact.ts";
import { oracle } from "../oracles.ts";
import { compileOpenCl, libclc, Program } from "./clang.ts";
import { Rig } from "./rig.ts";

/** Whole algorithms of our own in OpenCL C, compiled by clang: workgroups, LDS, atomics, f64, f16, 64-bit integers. */
const source = `
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define WG 256
#define LID __builtin_amdgcn_workitem_id_x()
#define GRP __builtin_amdgcn_workgroup_id_x()
#define GID (GRP * WG + LID)
#define SYNC() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
kernel void fft(global const float2 *x, global float2 *o, global const float2 *w) {
  local float2 s[WG]; uint l = LID;
  s[__builtin_bitreverse32(l) >> 24] = x[GID]; SYNC();
  for (uint h = 1; h < WG; h <<= 1) {
    if (l < WG / 2) {
      uint k = l & (h - 1), i = ((l - k) << 1) | k, t = k * (WG / 2 / h);
      float2 a = s[i], b = s[i + h], r = (float2)(b.x * w[t].x - b.y * w[t].y, b.x * w[t].y + b.y * w[t].x);
      s[i] = a + r; s[i + h] = a - r;
    }
    SYNC();
  }
  o[GID] = s[l];
}
constant uint K[64] = {
  0x428a2f98,0x71374491,0xb5c0fbcf,0xe9b5dba5,0x3956c25b,0x59f111f1,0x923f82a4,0xab1c5ed5,0xd807aa98,0x12835b01,0x243185be,0x550c7dc3,0x72be5d74,0x80deb1fe,0x9bdc06a7,0xc19bf174,
  0xe49b69c1,0xefbe4786,0x0fc19dc6,0x240ca1cc,0x2de92c6f,0x4a7484aa,0x5cb0a9dc,0x76f988da,0x983e5152,0xa831c66d,0xb00327c8,0xbf597fc7,0xc6e00bf3,0xd5a79147,0x06ca6351,0x14292967,
  0x27b70a85,0x2e1b2138,0x4d2c6dfc,0x53380d13,0x650a7354,0x766a0abb,0x81c2c92e,0x92722c85,0xa2bfe8a1,0xa81a664b,0xc24b8b70,0xc76c51a3,0xd192e819,0xd6990624,0xf40e3585,0x106aa070,
  0x19a4c116,0x1e376c08,0x2748774c,0x34b0bcb5,0x391c0cb3,0x4ed8aa4a,0x5b9cca4f,0x682e6ff3,0x748f82ee,0x78a5636f,0x84c87814,0x8cc70208,0x90befffa,0xa4506ceb,0xbef9a3f7,0xc67178f2};
uint ror(uint v, uint n) { return v >> n | v << (32 - n); }
kernel void sha256(global const uint *x, global uint *o) {
  uint i = GID, w[64], h[8] = {0x6a09e667,0xbb67ae85,0x3c6ef372,0xa54ff53a,0x510e527f,0x9b05688c,0x1f83d9ab,0x5be0cd19}, v[8];
  for (int t = 0; t < 8; t++) w[t] = x[8 * i + t];
  w[8] = 0x80000000; for (int t = 9; t < 15; t++) w[t] = 0; w[15] = 256;
  for (int t = 16; t < 64; t++) w[t] = (ror(w[t-2], 17) ^ ror(w[t-2], 19) ^ w[t-2] >> 10) + w[t-7] + (ror(w[t-15], 7) ^ ror(w[t-15], 18) ^ w[t-15] >> 3) + w[t-16];
  for (int t = 0; t < 8; t++) v[t] = h[t];
  for (int t = 0; t < 64; t++) {
    uint a = v[7] + (ror(v[4], 6) ^ ror(v[4], 11) ^ ror(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[t] + w[t];
    uint b = (ror(v[0], 2) ^ ror(v[0], 13) ^ ror(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    v[7] = v[6]; v[6] = v[5]; v[5] = v[4]; v[4] = v[3] + a; v[3] = v[2]; v[2] = v[1]; v[1] = v[0]; v[0] = a + b;
  }
  for (int t = 0; t < 8; t++) o[8 * i + t] = h[t] + v[t];
}
kernel void radixSort(global uint *x) {
  local uint s[WG], c[WG]; uint l = LID; s[l] = x[GID]; SYNC();
  for (uint bit = 0; bit < 32; bit++) {
    uint v = s[l], one = v >> bit & 1; c[l] = one; SYNC();
    for (uint d = 1; d < WG; d <<= 1) { uint t = l >= d ? c[l - d] : 0; SYNC(); c[l] += t; SYNC(); }
    uint zeros = WG - c[WG - 1], to = one ? zeros + c[l] - 1 : l - c[l]; SYNC();
    s[to] = v; SYNC();
  }
  x[GID] = s[l];
}
kernel void transpose(global const uint *x, global uint *o) {
  local uint s[16][17]; uint c = LID & 15, r = LID >> 4, bx = GRP & 3, by = GRP >> 2;
  s[r][c] = x[(by * 16 + r) * 64 + bx * 16 + c]; SYNC();
  o[(bx * 16 + r) * 64 + by * 16 + c] = s[c][r];
}
kernel void life(global const uchar *x, global uchar *o, uint n) {
  uint i = GID, r = i / n, c = i % n, k = 0;
  for (int a = -1; a <= 1; a++) for (int b = -1; b <= 1; b++) if (a | b) k += x[(r + a + n) % n * n + (c + b + n) % n];
  o[i] = k == 3 || (k == 2 && x[i]);
}
kernel void sparse(global const uint *row, global const uint *col, global const double *v, global const double *x, global double *o) {
  uint i = GID; double s = 0; for (uint k = row[i]; k < row[i + 1]; k++) s = __builtin_fma(v[k], x[col[k]], s); o[i] = s;
}
kernel void mandelbrot(global uint *o, uint n) {
  uint i = GID; float cx = (float)(i % n) * (3.0f / 64) - 2.0f, cy = (float)(i / n) * (2.5f / 64) - 1.25f, x = 0, y = 0; uint k = 0;
  while (k < 100 && x * x + y * y <= 4) { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; k++; }
  o[i] = k;
}
kernel void argmin(global const int *x, global int2 *o, uint n) {
  local int best[WG], at[WG]; uint l = LID; int b = 0x7fffffff, a = -1;
  for (uint i = l; i < n; i += WG) if (x[i] < b) { b = x[i]; a = i; }
  best[l] = b; at[l] = a; SYNC();
  for (uint d = WG / 2; d; d >>= 1) {
    if (l < d && (best[l + d] < best[l] || (best[l + d] == best[l] && at[l + d] < at[l]))) { best[l] = best[l + d]; at[l] = at[l + d]; }
    SYNC();
  }
  if (l == 0) *o = (int2)(best[0], at[0]);
}
kernel void search(global const ulong *x, global const ulong *y, global int *o, uint n) {
  uint i = GID; int a = 0, b = n; while (a < b) { int m = (a + b) >> 1; if (x[m] < y[i]) a = m + 1; else b = m; } o[i] = a;
}
kernel void product(global const ulong *a, global const ulong *b, global ulong *o) {
  uint i = GID; unsigned __int128 p = (unsigned __int128)a[i] * b[i]; o[2 * i] = p; o[2 * i + 1] = p >> 64;
}
kernel void distance(global const uchar *a, global const uchar *b, global uint *o) {
  uint i = GID; uchar d[17]; for (int k = 0; k <= 16; k++) d[k] = k;
  for (int r = 1; r <= 16; r++) {
    uchar diagonal = d[0]; d[0] = r;
    for (int c = 1; c <= 16; c++) { uchar t = d[c], s = diagonal + (a[16 * i + r - 1] != b[16 * i + c - 1]); diagonal = t; uchar m = (t < d[c - 1] ? t : d[c - 1]) + 1; d[c] = m < s ? m : s; }
  }
  o[i] = d[16];
}
kernel void halves(global const half *a, global const half *b, global half *o) {
  uint i = GID; half x = a[i], y = b[i]; o[4 * i] = x + y; o[4 * i + 1] = x * y; o[4 * i + 2] = x > y ? x : -y; o[4 * i + 3] = (half)(float)((int)(x * (half)4));
}
kernel void shortest(global uint *d, uint n) {
  uint l = LID;
  for (uint k = 0; k < n; k++) { for (uint i = l; i < n * n; i += WG) { uint v = d[i / n * n + k] + d[k * n + i % n]; if (v < d[i]) d[i] = v; } SYNC(); }
}
kernel void queue(global const uint *x, global uint *o, global uint *count) {
  uint v = x[GID]; if ((v & 3) == 0) o[__atomic_fetch_add(count, 1, __ATOMIC_RELAXED)] = v;
}
`;
const standard = `
kernel void ids(global uint *o) { uint i = get_global_id(0); o[i] = get_local_id(0) | get_group_id(0) << 8 | get_local_size(0) << 16; }
kernel void vectors(global const uint4 *x, global uint4 *o) { size_t i = get_global_id(0); o[i] = rotate(x[i], (uint4)(5)) + mul_hi(x[i], x[i].wzyx) - popcount(x[i]) + clz(x[i] | 1u) + (uint4)(abs_diff((int)x[i].x, (int)x[i].y)); }
`;

const WG = 256;
const hasClang = oracle("clang-19") !== undefined && oracle("ld.lld-19") !== undefined;

describe.skipIf(!hasClang)("algorithms in OpenCL compiled by clang", () => {
  let rig: Rig;
  let program: Program;
  const next = noise(0x1234567);
  beforeAll(() => {
    rig = new Rig({ memoryBytes: 0x1000_0000 });
    program = new Program(rig, compileOpenCl(source));
  });
  const bytes = (data: Uint8Array | number) => {
    const size = typeof data === "number" ? data : data.length;
    const { va, physical } = rig.alloc(size);
    const view = rig.bytes.subarray(physical, physical + size);
    if (typeof data !== "number") view.set(data);
    return { va, u8: view, physical };
  };
  const buffer = (data: ArrayBufferView) =>
    bytes(new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength));
  const u32 = (b: { physical: number; u8: Uint8Array }) => rig.u32(b.physical, b.u8.length / 4);
  const random = (n: number) => Uint32Array.from({ length: n }, next);
  const random64 = (n: number) => BigUint64Array.from({ length: n }, () => (BigInt(next()) << 32n) | BigInt(next()));

  it("fast Fourier transform of 256 points beside the sum in double precision", () => {
    const x = Float32Array.from({ length: 2 * WG }, () => next() / 2 ** 31 - 1);
    const twiddles = Float32Array.from({ length: WG }, (_, i) =>
      i & 1 ? -Math.sin((2 * Math.PI * (i >> 1)) / WG) : Math.cos((2 * Math.PI * (i >> 1)) / WG),
    );
    const out = bytes(8 * WG);
    program.run("fft", 1, WG, [buffer(x), out, buffer(twiddles)]);
    const got = rig.f32(out.physical, 2 * WG);
    for (let k = 0; k < WG; k++) {
      let re = 0;
      let im = 0;
      for (let n = 0; n < WG; n++) {
        const c = Math.cos((2 * Math.PI * k * n) / WG);
        const s = -Math.sin((2 * Math.PI * k * n) / WG);
        re += x[2 * n]! * c - x[2 * n + 1]! * s;
        im += x[2 * n]! * s + x[2 * n + 1]! * c;
      }
      // Eight stages of sums of at most 256: an error of 2^-24 each, and the twiddles'.
      expect(Math.abs(got[2 * k]! - re)).toBeLessThan(1e-3);
      expect(Math.abs(got[2 * k + 1]! - im)).toBeLessThan(1e-3);
    }
  });

  it("SHA-256 of 32 bytes", () => {
    const x = random(8 * WG);
    const out = bytes(32 * WG);
    program.run("sha256", 1, WG, [buffer(x), out]);
    const big = (words: Uint32Array) => Buffer.from(words.slice().buffer).swap32();
    for (let i = 0; i < WG; i++) {
      const want = createHash("sha256")
        .update(big(x.subarray(8 * i, 8 * i + 8)))
        .digest("hex");
      expect(big(u32(out).subarray(8 * i, 8 * i + 8)).toString("hex")).toBe(want);
    }
  });

  it("radix sort in LDS", () => {
    const x = random(WG);
    const out = buffer(x);
    program.run("radixSort", 1, WG, [out]);
    expect([...u32(out)]).toEqual([...x].sort((a, b) => a - b));
  });

  it("transpose of 64 by 64 by tiles", () => {
    const x = random(4096);
    const out = bytes(4 * 4096);
    program.run("transpose", 16, WG, [buffer(x), out]);
    for (let i = 0; i < 4096; i++) expect(u32(out)[i]).toBe(x[(i % 64) * 64 + (i >> 6)]);
  });

  it("the game of life on a torus, a few steps", () => {
    const n = 32;
    let now = Uint8Array.from({ length: n * n }, () => next() >>> 31);
    const sides = [buffer(now), bytes(n * n)];
    for (let step = 0; step < 4; step++) {
      program.run("life", 4, WG, [sides[step & 1]!, sides[(step & 1) ^ 1]!, n]);
      const at = (r: number, c: number) => now[((r + n) % n) * n + ((c + n) % n)]!;
      now = now.map((alive, i) => {
        let k = -alive;
        for (const a of [-1, 0, 1]) for (const b of [-1, 0, 1]) k += at(Math.floor(i / n) + a, (i % n) + b);
        return Number(k === 3 || (k === 2 && alive === 1));
      });
      expect([...sides[(step & 1) ^ 1]!.u8]).toEqual([...now]);
    }
  });

  it("sparse matrix times vector in f64", () => {
    const row = new Uint32Array(WG + 1);
    for (let i = 0; i < WG; i++) row[i + 1] = row[i]! + (next() % 9);
    const count = row[WG]!;
    const col = Uint32Array.from({ length: count }, () => next() % WG);
    // Small integers over 2^10: every sum is exact, fused or not.
    const small = () => ((next() % 4096) - 2048) / 1024;
    const values = Float64Array.from({ length: count }, small);
    const x = Float64Array.from({ length: WG }, small);
    const out = bytes(8 * WG);
    program.run("sparse", 1, WG, [buffer(row), buffer(col), buffer(values), buffer(x), out]);
    const got = new Float64Array(out.u8.slice().buffer);
    for (let i = 0; i < WG; i++) {
      let want = 0;
      for (let k = row[i]!; k < row[i + 1]!; k++) want += values[k]! * x[col[k]!]!;
      expect(got[i]).toBe(want);
    }
  });

  it("Mandelbrot's counts, each operation rounded to f32", () => {
    const n = 64;
    const f = Math.fround;
    const out = bytes(4 * n * n);
    program.run("mandelbrot", 16, WG, [out, n]);
    const got = u32(out);
    for (let i = 0; i < n * n; i++) {
      const cx = f(f((i % n) * f(3 / 64)) - 2);
      const cy = f(f(Math.floor(i / n) * f(2.5 / 64)) - 1.25);
      let x = 0;
      let y = 0;
      let k = 0;
      while (k < 100 && f(f(x * x) + f(y * y)) <= 4) {
        const t = f(f(f(x * x) - f(y * y)) + cx);
        y = f(f(f(2 * x) * y) + cy);
        x = t;
        k++;
      }
      expect(got[i]).toBe(k);
    }
  });

  it("the place of the least value, the first of equal ones", () => {
    const x = Int32Array.from({ length: 5000 }, () => (next() % 1000) - 500);
    const out = bytes(8);
    program.run("argmin", 1, WG, [buffer(x), out, x.length]);
    const least = x.reduce((a, b) => Math.min(a, b));
    expect([...new Int32Array(out.u8.slice().buffer)]).toEqual([least, x.indexOf(least)]);
  });

  it("binary search among 64-bit keys", () => {
    const x = random64(1000).sort();
    const y = random64(WG);
    for (let i = 0; i < 100; i++) y[i] = x[next() % 1000]!;
    const out = bytes(4 * WG);
    program.run("search", 1, WG, [buffer(x), buffer(y), out, x.length]);
    for (let i = 0; i < WG; i++) {
      const first = x.findIndex((key) => key >= y[i]!);
      expect(u32(out)[i]).toBe(first < 0 ? 1000 : first);
    }
  });

  it("128-bit products of 64-bit factors", () => {
    const a = random64(WG);
    const b = random64(WG);
    const out = bytes(16 * WG);
    program.run("product", 1, WG, [buffer(a), buffer(b), out]);
    const got = new BigUint64Array(out.u8.slice().buffer);
    for (let i = 0; i < WG; i++) expect((got[2 * i + 1]! << 64n) | got[2 * i]!).toBe(a[i]! * b[i]!);
  });

  it("edit distance of strings of 16, a table in registers or scratch", () => {
    const letters = () => Uint8Array.from({ length: 16 * WG }, () => 97 + (next() % 3));
    const a = letters();
    const b = letters();
    const out = bytes(4 * WG);
    program.run("distance", 1, WG, [buffer(a), buffer(b), out]);
    for (let i = 0; i < WG; i++) {
      const d = Array.from({ length: 17 }, (_, r) =>
        Array.from({ length: 17 }, (_, c) => (r === 0 ? c : c === 0 ? r : 0)),
      );
      for (let r = 1; r <= 16; r++) {
        for (let c = 1; c <= 16; c++) {
          const differs = Number(a[16 * i + r - 1] !== b[16 * i + c - 1]);
          d[r]![c] = Math.min(d[r - 1]![c]! + 1, d[r]![c - 1]! + 1, d[r - 1]![c - 1]! + differs);
        }
      }
      expect(u32(out)[i]).toBe(d[16]![16]);
    }
  });

  it("f16 sums, products, selections and conversions, exact for small values", () => {
    // Multiples of 1/8 up to 4: their sums and products fit 11 bits.
    const halfBits = (x: number) => {
      if (x === 0) return 0;
      const exponent = Math.floor(Math.log2(Math.abs(x)));
      return (x < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | ((Math.abs(x) / 2 ** exponent - 1) * 1024);
    };
    const a = Array.from({ length: WG }, () => ((next() % 63) - 31 || 1) / 8);
    const b = Array.from({ length: WG }, () => ((next() % 63) - 31 || 1) / 8);
    const out = bytes(8 * WG);
    const packed = (values: readonly number[]) => buffer(Uint16Array.from(values, halfBits));
    program.run("halves", 1, WG, [packed(a), packed(b), out]);
    const got = new Uint16Array(out.u8.slice().buffer);
    for (let i = 0; i < WG; i++) {
      const [x, y] = [a[i]!, b[i]!];
      const want = [x + y, x * y, x > y ? x : -y, Math.trunc(4 * x)];
      expect([...got.subarray(4 * i, 4 * i + 4)]).toEqual(want.map((value) => halfBits(value + 0)));
    }
  });

  it("shortest paths between 32 nodes, steps ordered by barriers over global memory", () => {
    const n = 32;
    const d = Uint32Array.from({ length: n * n }, (_, i) =>
      i % (n + 1) === 0 ? 0 : next() % 5 === 0 ? next() % 100 : 1e6,
    );
    const out = buffer(d);
    program.run("shortest", 1, WG, [out, n]);
    for (let k = 0; k < n; k++)
      for (let i = 0; i < n * n; i++) d[i] = Math.min(d[i]!, d[Math.floor(i / n) * n + k]! + d[k * n + (i % n)]!);
    expect([...u32(out)]).toEqual([...d]);
  });

  it("a queue filled through one atomic counter", () => {
    const x = random(2 * WG);
    const out = bytes(8 * WG);
    const count = bytes(4);
    program.run("queue", 2, WG, [buffer(x), out, count]);
    const wanted = [...x].filter((v) => v % 4 === 0).sort((a, b) => a - b);
    expect(u32(count)[0]).toBe(wanted.length);
    expect([...u32(out)].slice(0, wanted.length).sort((a, b) => a - b)).toEqual(wanted);
  });

  describe.skipIf(!existsSync(libclc))("with libclc", () => {
    let linked: Program;
    beforeAll(() => {
      linked = new Program(rig, compileOpenCl(standard, true));
    });

    it("ids and sizes by the dispatch packet", () => {
      const out = bytes(4 * 3 * 64);
      linked.run("ids", 3, 64, [out]);
      expect([...u32(out)]).toEqual(Array.from({ length: 192 }, (_, i) => (i % 64) | ((i >> 6) << 8) | (64 << 16)));
    });

    it("integer built-in functions on vectors", () => {
      const x = random(4 * 64);
      const out = bytes(16 * 64);
      linked.run("vectors", 1, 64, [buffer(x), out]);
      const bits = (v: number) => v.toString(2).replaceAll("0", "").length;
      for (let i = 0; i < 256; i++) {
        const v = x[i]!;
        const other = x[(i & ~3) | (3 - (i & 3))]!;
        const high = Number((BigInt(v) * BigInt(other)) >> 32n);
        const distance = Math.abs((x[i & ~3]! | 0) - (x[(i & ~3) + 1]! | 0));
        const want = ((v << 5) | (v >>> 27)) + high - bits(v) + Math.clz32(v | 1) + distance;
        expect(u32(out)[i]).toBe(want >>> 0);
      }
    });
  });
});
