/** One compute program over `a` (input words) and `r` (one result word an invocation), with what it must give. */
export interface Program {
  readonly name: string;
  /** Declarations before main. */
  readonly before?: string;
  /** Statements of main: `i` is the invocation, `x` is a[i]; they set `y`. */
  readonly body: string;
  /** SPIR-V assembly of the whole module instead of GLSL. */
  readonly assembly?: string;
  /** The value of `y`, worked out from GLSL's rules. */
  readonly expect: (i: number, x: number, a: Uint32Array) => number;
}

const scratch = new DataView(new ArrayBuffer(4));
const bits = (x: number): number => {
  scratch.setFloat32(0, x);
  return scratch.getUint32(0);
};
const f = Math.fround;

/** The whole shader: `a` read, `r` written, `i` the invocation, `x` its word, `y` its result. */
export function programSource(program: Program): string {
  return `#version 450
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(std430, set = 0, binding = 1) buffer R { uint r[]; };
${program.before ?? ""}
void main() { uint i = gl_GlobalInvocationID.x; uint x = a[i]; uint y = 0u; ${program.body} r[i] = y; }
`;
}

export const programs: readonly Program[] = [
  {
    name: "early return in a function, in nested ifs",
    before:
      "uint g(uint x) { if (x < 10u) { if ((x & 1u) == 0u) return 7u; x += 100u; } else if (x < 20u) return x * 2u; return x + 1u; }",
    body: "y = g(x % 32u);",
    expect: (_, x) => {
      const v = x % 32;
      if (v < 10) return v % 2 === 0 ? 7 : v + 101;
      return v < 20 ? v * 2 : v + 1;
    },
  },
  {
    name: "a default that falls on, with a loop and choices in it",
    body: "bool b = a[16] < 20u; switch (x & 7u) { case 3u: default: { if (x >= 8u) { uint k = 0u; for (;;) { k += 1u; if (!(k < (x & 1u))) break; } y += k; } else { y = x > 2u ? (b ? x : i) : y + 1u; } } case 2u: { y += 10u; } case 5u: { y += 100u; } }",
    expect: (i, x, input) => {
      if ((x & 7) === 5) return 100;
      if ((x & 7) === 2) return 110;
      if (x >= 8) return 111;
      return 110 + (x > 2 ? ((input[16] ?? 0) < 20 ? x : i) : 1);
    },
  },
  {
    name: "a sum of fourteen sums",
    body: `y = ${Array.from({ length: 14 }, (_, k) => `((x ^ ${3 * k}u) + ${k + 1}u)`).join(" + ")};`,
    expect: (_, x) =>
      Array.from({ length: 14 }, (_, k) => ((x ^ (3 * k)) >>> 0) + k + 1).reduce((a, b) => (a + b) >>> 0),
  },
  {
    name: "a do-while whose body only continues or returns",
    body: "y = 77u; uint j = 0u; do { if ((x & 1u) != 0u) continue; else { r[i] = y; return; } } while (++j < 3u); y = j;",
    expect: (_, x) => ((x & 1) !== 0 ? 3 : 77),
  },
  {
    name: "a uniform continue in front of a divergent break at the end of a loop",
    body: "uint k = 0u; uint u = a[16] + 3u; do { k++; y += k; if (k > 40u) break; if (u != k) continue; if (x > 31u) break; } while (true);",
    expect: (_, x, input) => {
      for (let k = 1, y = 0; ; k++) {
        y += k;
        if (k > 40 || (k === (input[16] ?? 0) + 3 && x > 31)) return y;
      }
    },
  },
  {
    name: "return from inside two loops",
    before:
      "uint g(uint n) { for (uint i = 0u; i < 8u; i++) for (uint j = 0u; j < 8u; j++) if (i * j == n) return i * 100u + j; return 9999u; }",
    body: "y = g(x % 64u);",
    expect: (_, x) => {
      for (let i = 0; i < 8; i++) for (let j = 0; j < 8; j++) if (i * j === x % 64) return i * 100 + j;
      return 9999;
    },
  },
  {
    name: "a do-while of two rounds around a loop, both read behind",
    body: "uint n = x & 7u, k = 0u, s = 0u, j = 0u; do { j++; for (k = 0u; k < n; k++) s += k; } while (j < 2u); y = s * 100u + k;",
    expect: (_, x) => {
      const n = x & 7;
      return n * (n - 1) * 100 + n;
    },
  },
  {
    name: "an endless loop that is left between an inner loop and its step",
    body: "uint n = x & 7u, g = 5u, j = 0u; for (;;) { for (uint k = 0u; k < n; k++) g += k + j; if (j >= 3u) break; j++; } y = g;",
    // four rounds: each adds n (n - 1) / 2 and j n
    expect: (_, x) => {
      const n = x & 7;
      return 5 + 2 * n * (n - 1) + 6 * n;
    },
  },
  {
    name: "early return from main",
    body: "y = 5u; r[i] = y; if (x % 3u == 0u) return; if (x % 3u == 1u) { y = 11u; } else { r[i] = 12u; return; }",
    expect: (_, x) => [5, 11, 12][x % 3] ?? 0,
  },
  {
    name: "switch with fall-through, default in the middle, break inside an if",
    body: `y = 0u;
      switch (int(x % 7u)) {
        case 0: y += 1u;
        case 1: y += 10u; if ((x & 8u) != 0u) break; y += 1000u;
        default: y += 100u; break;
        case 3: y = 33u; break;
        case 4: case 5: y = 45u;
      }
      y += 100000u;`,
    expect: (_, x) => {
      let y = 0;
      const skip = (x & 8) !== 0;
      switch (x % 7) {
        case 0:
          y = skip ? 11 : 1111;
          break;
        case 1:
          y = skip ? 10 : 1110;
          break;
        case 3:
          y = 33;
          break;
        case 4:
        case 5:
          y = 45;
          break;
        default:
          y = 100;
      }
      return y + 100000;
    },
  },
  {
    name: "switch in a loop: continue, break of the loop, return",
    before: `uint g(uint n) { uint s = 0u;
      for (uint k = 0u; k < 12u; k++) { switch (int((n + k) % 6u)) { case 0: continue; case 1: s += 1u; break; case 2: s += 20u; if (s > 50u) return s + 7000u; break; case 3: if (k > 7u) { s += 500u; break; } s += 3u; default: s += 2u; } s += 100u; if (s > 900u) break; }
      return s; }`,
    body: "y = g(x % 6u);",
    expect: (_, x) => {
      let s = 0;
      for (let k = 0; k < 12; k++) {
        const c = ((x % 6) + k) % 6;
        if (c === 0) continue;
        if (c === 1) s += 1;
        else if (c === 2) {
          s += 20;
          if (s > 50) return s + 7000;
        } else if (c === 3 && k > 7) s += 500;
        else s += c === 3 ? 5 : 2;
        s += 100;
        if (s > 900) break;
      }
      return s;
    },
  },
  {
    name: "do-while with continue and break",
    body: "y = 0u; uint k = x % 10u; do { k++; if (k % 3u == 0u) continue; if (k > 15u) break; y += k; } while (k < 18u);",
    expect: (_, x) => {
      let y = 0;
      let k = x % 10;
      do {
        k++;
        if (k % 3 === 0) continue;
        if (k > 15) break;
        y += k;
      } while (k < 18);
      return y;
    },
  },
  {
    name: "loop with divergent trip count, value used outside",
    body: "uint k = 0u; uint last = 0u; while (k * k < x % 500u) { last = k * 3u; k++; } y = last + k * 1000u;",
    expect: (_, x) => {
      let k = 0;
      let last = 0;
      while (k * k < x % 500) last = k++ * 3;
      return last + k * 1000;
    },
  },
  {
    name: "short-circuit and conditional expressions with effects",
    before: "uint n = 0u; bool t(bool b) { n++; return b; }",
    body: "bool p = t((x & 1u) != 0u) && t((x & 2u) != 0u) || t((x & 4u) != 0u); y = n * 10u + uint(p) + (p ? t(true) ? 100u : 0u : 300u) + n * 1000u;",
    expect: (_, x) => {
      let n = 0;
      const t = (b: boolean): boolean => {
        n++;
        return b;
      };
      const p = (t((x & 1) !== 0) && t((x & 2) !== 0)) || t((x & 4) !== 0);
      let y = n * 10 + Number(p);
      y += p ? (t(true) ? 100 : 0) : 300;
      return y + n * 1000;
    },
  },
  {
    name: "inout and out parameters, struct passed by value",
    before:
      "struct S { uint p; uint q[3]; }; void g(inout S s, out uint o, uint k) { s.q[1] += k; s.p = s.q[0]; o = s.q[2] * 2u; k = 99u; } S h(S s) { s.p = 1u; return s; }",
    body: "S s = S(1u, uint[3](x & 255u, 20u, 30u)); uint o = 5u; uint k = 3u; g(s, o, k); S t = h(s); y = s.p + s.q[1] * 1000u + o + k * 7u + t.p * 3u + t.q[2];",
    expect: (_, x) => (x & 255) + 23 * 1000 + 60 + 21 + 3 + 30,
  },
  {
    name: "dynamically indexed local arrays and vectors",
    body: "uint t[5] = uint[5](3u, 1u, 4u, 1u, 5u); t[x % 5u] += 100u; uvec4 v = uvec4(1u, 2u, 3u, 4u); v[i & 3u] = 50u; y = t[(x + 1u) % 5u] * 1000u + t[x % 5u] + v[(i + 1u) & 3u] * 7u + v[i & 3u];",
    expect: (i, x) => {
      const t = [3, 1, 4, 1, 5];
      t[x % 5] = (t[x % 5] ?? 0) + 100;
      const v = [1, 2, 3, 4];
      v[i & 3] = 50;
      return (t[((x + 1) >>> 0) % 5] ?? 0) * 1000 + (t[x % 5] ?? 0) + (v[(i + 1) & 3] ?? 0) * 7 + 50;
    },
  },
  {
    name: "two-dimensional local array with two dynamic indices",
    body: "uint m[3][4]; for (uint p = 0u; p < 3u; p++) for (uint q = 0u; q < 4u; q++) m[p][q] = p * 10u + q; m[x % 3u][(x >> 4) % 4u] = 77u; y = m[(x + 1u) % 3u][i & 3u] * 100u + m[x % 3u][(x >> 4) % 4u];",
    expect: (i, x) => ((((x + 1) >>> 0) % 3) * 10 + (i & 3)) * 100 + 77,
  },
  {
    name: "unsigned division and remainder by constants",
    body: "y = x / 7u + x % 7u * 3u + x / 641u + x % 16u + x / 3u + x / 1000000007u + x / 2147483649u + (x / 1u) % 10u;",
    expect: (_, x) => {
      const q = (d: number): number => Math.floor(x / d);
      return q(7) + (x % 7) * 3 + q(641) + (x % 16) + q(3) + q(1000000007) + q(2147483649) + (x % 10);
    },
  },
  {
    name: "signed division and remainder by constants and variables",
    body: "int s = int(x); int d = int(a[(i + 1u) & 63u]) >> 20; d = d == 0 ? -3 : d; y = uint(s / 7 + s / -5 + (s & 0x7fffffff) % 9 + s / 4 + s / d * 3 + (s & 0x7fffffff) % abs(d));",
    expect: (i, x, a) => {
      const s = x | 0;
      let d = ((a[(i + 1) & 63] ?? 0) | 0) >> 20;
      d = d === 0 ? -3 : d;
      const sum = Math.trunc(s / 7) + Math.trunc(s / -5) + ((s & 0x7fffffff) % 9) + Math.trunc(s / 4);
      return sum + Math.trunc(s / d) * 3 + ((s & 0x7fffffff) % Math.abs(d));
    },
  },
  {
    name: "unsigned division by variables",
    body: "uint d = a[(i + 7u) & 63u] >> (x & 31u); d = max(d, 1u); y = x / d ^ x % d * 31u;",
    expect: (i, x, a) => {
      const d = Math.max((a[(i + 7) & 63] ?? 0) >>> (x & 31), 1);
      return Math.floor(x / d) ^ Math.imul(x % d, 31);
    },
  },
  {
    name: "bit field functions with their edge counts",
    body: "int o = int(x & 31u); int n = int((x >> 5) & 31u) ; n = o + n > 32 ? 32 - o : n; y = bitfieldExtract(x, o, n) ^ uint(bitfieldExtract(int(x), o, n)) * 3u ^ bitfieldInsert(x, i * 0x9e3779b9u, o, n) ^ bitfieldReverse(x) ^ uint(bitCount(x)) ^ uint(findLSB(x)) * 5u ^ uint(findMSB(x)) * 7u ^ uint(findMSB(int(x))) * 11u ^ bitfieldExtract(x, 0, 32);",
    expect: (i, x) => {
      const o = x & 31;
      let n = (x >>> 5) & 31;
      n = o + n > 32 ? 32 - o : n;
      const mask = n === 32 ? 0xffffffff : ((1 << n) - 1) >>> 0;
      const field = (x >>> o) & mask;
      const signed = n === 0 ? 0 : n === 32 ? x : (field << (32 - n)) >> (32 - n);
      const insert = (x & ~(mask << o)) | ((Math.imul(i, 0x9e3779b9) & mask) << o);
      const binary = x.toString(2).padStart(32, "0");
      const reversed = Number.parseInt([...binary].reverse().join(""), 2);
      const count = [...binary].filter((c) => c === "1").length;
      const lsb = x === 0 ? -1 : 31 - Math.clz32(x & -x);
      const msb = 31 - Math.clz32(x);
      const smsb = 31 - Math.clz32((x | 0) < 0 ? ~x : x);
      return field ^ Math.imul(signed, 3) ^ insert ^ reversed ^ count ^ (lsb * 5) ^ (msb * 7) ^ Math.imul(smsb, 11) ^ x;
    },
  },
  {
    name: "extended multiplication, carries and borrows",
    body: "uint h, l, c, b; umulExtended(x, a[(i + 1u) & 63u], h, l); int sh, sl; imulExtended(int(x), int(a[(i + 2u) & 63u]), sh, sl); uint s = uaddCarry(x, l, c); uint d = usubBorrow(x, h, b); y = h ^ l ^ uint(sh) * 3u ^ uint(sl) ^ s ^ d ^ c ^ b * 2u;",
    expect: (i, x, a) => {
      const p = BigInt(x) * BigInt(a[(i + 1) & 63] ?? 0);
      const q = BigInt.asUintN(64, BigInt(x | 0) * BigInt((a[(i + 2) & 63] ?? 0) | 0));
      const h = Number(p >> 32n);
      const l = Number(p & 0xffffffffn);
      const sh = Number(q >> 32n);
      const sl = Number(q & 0xffffffffn);
      return h ^ l ^ Math.imul(sh, 3) ^ sl ^ (x + l) ^ (x - h) ^ Number(x + l > 0xffffffff) ^ (Number(x < h) * 2);
    },
  },
  {
    name: "matrices: products, transpose, columns",
    body: "mat3x2 m = mat3x2(1.0, 2.0, 3.0, 4.0, 5.0, float(x & 15u)); mat2x3 t = transpose(m); vec2 v = m * vec3(1.0, 2.0, 3.0); vec3 w = vec2(2.0, 1.0) * m; mat2 p = m * t; y = uint(v.x + v.y * 10.0 + w.z + w.x * 3.0 + p[0][1] + p[1][1] * 2.0 + outerProduct(vec2(1.0, 2.0), vec2(3.0, 4.0))[1][0]);",
    expect: (_, x) => {
      const k = x & 15;
      // Columns (1 2) (3 4) (5 k).
      const v = [1 + 6 + 15, 2 + 8 + 3 * k];
      const w = [4, 10, 10 + k];
      const p01 = 1 * 2 + 3 * 4 + 5 * k;
      const p11 = 4 + 16 + k * k;
      return (v[0] ?? 0) + (v[1] ?? 0) * 10 + (w[2] ?? 0) + (w[0] ?? 0) * 3 + p01 + p11 * 2 + 4;
    },
  },
  {
    name: "determinant and inverse of integer matrices",
    body: "mat3 m = mat3(2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0); mat4 q = mat4(2.0); q[3][0] = float(x & 7u); mat3 n = inverse(m); y = uint(determinant(m) * 1000.0 + determinant(q)) + uint(n[0][0] + 4.0 + n[2][2] * 10.0 - n[0][2] * 100.0);",
    expect: () => 1000 + 16 + (1 + 4 + 20 + 100),
  },
  {
    name: "float comparisons with NaN and signed zero",
    body: "float n = uintBitsToFloat(0x7fc00000u | (x & 1u)); float z = (x & 2u) != 0u ? -0.0 : 0.0; y = uint(n == n) | uint(n != n) << 1 | uint(n < 1.0) << 2 | uint(!(n >= 1.0)) << 3 | uint(z == 0.0) << 4 | uint(isnan(n)) << 5 | uint(isinf(1.0 / z)) << 6 | floatBitsToUint(z) >> 24 | uint(floatBitsToUint(abs(z)) == 0u) << 8;",
    expect: (_, x) => (0b101111010 & ~0b1000000) | 0b1000000 | ((x & 2) !== 0 ? 0x80 : 0),
  },
  {
    name: "exact float functions",
    body: "float v = float(int(x) >> 8) / 256.0; y = floatBitsToUint(floor(v) + ceil(v) * 2.0 + trunc(v) * 4.0) ^ floatBitsToUint(roundEven(v)) ^ floatBitsToUint(abs(v)) ^ floatBitsToUint(sign(v)) ^ floatBitsToUint(min(v, 1.0)) ^ floatBitsToUint(max(v, -1.0)) ^ floatBitsToUint(clamp(v, -2.0, 2.0)) ^ floatBitsToUint(step(v, 0.5)) ^ floatBitsToUint(mix(v, 3.0, 0.5));",
    expect: (_, x) => {
      const v = f((x | 0) >> 8) / 256;
      let even = Math.round(v);
      if (Math.abs(v - Math.trunc(v)) === 0.5) even = 2 * Math.round(v / 2);
      if (even === 0 && (v < 0 || Object.is(v, -0))) even = -0;
      const sum = f(f(f(Math.floor(v)) + f(Math.ceil(v) * 2)) + f(Math.trunc(v) * 4));
      const parts = [
        Math.abs(v),
        Math.sign(v),
        Math.min(v, 1),
        Math.max(v, -1),
        Math.max(-2, Math.min(2, v)),
        v > 0.5 ? 0 : 1,
        f(f(v * 0.5) + 1.5),
      ];
      return parts.reduce((word, p) => word ^ bits(p), bits(sum) ^ bits(even));
    },
  },
  {
    name: "float and integer conversions",
    body: "y = uint(float(x)) ^ uint(int(float(int(x)) * 0.5)) ^ floatBitsToUint(float(x)) ^ uint(bool(x & 1u)) ^ floatBitsToUint(float((x & 2u) != 0u));",
    expect: (_, x) => {
      const whole = f(x) >= 4294967296 ? 0xffffffff : f(x);
      return whole ^ Math.trunc(f(x | 0) * 0.5) ^ bits(x) ^ (x & 1) ^ ((x & 2) !== 0 ? 0x3f800000 : 0);
    },
  },
  {
    name: "swizzles, vector stores, any and all",
    body: "uvec4 v = uvec4(x, x >> 8, x >> 16, x >> 24) & 255u; v.zx = v.yw; v.w++; bvec3 b = lessThan(v.xyz, uvec3(128u)); y = v.x + v.y * 3u + v.z * 5u + v.w * 7u + uint(any(b)) * 10000u + uint(all(b)) * 20000u + uint(dot(vec3(v.xyz), vec3(1.0, 2.0, 3.0)));",
    expect: (_, x) => {
      const v = [x >>> 24, (x >>> 8) & 255, (x >>> 8) & 255, (x >>> 24) + 1];
      const [p = 0, q = 0, s = 0, t = 0] = v;
      const b = [p < 128, q < 128, s < 128];
      return (
        p +
        q * 3 +
        s * 5 +
        t * 7 +
        Number(b.some(Boolean)) * 10000 +
        Number(b.every(Boolean)) * 20000 +
        p +
        2 * q +
        3 * s
      );
    },
  },
  {
    name: "packing and unpacking",
    body: "y = packUnorm4x8(vec4(0.0, 1.0, 0.5, 2.0)) ^ packSnorm2x16(vec2(-1.0, 0.25)) ^ uint(unpackUnorm4x8(x).y * 255.0 + 0.5) ^ uint(unpackSnorm2x16(0x80007fffu).x * 3.0) ^ packHalf2x16(vec2(1.0, -2.0)) ^ floatBitsToUint(unpackHalf2x16(0x3c00c000u | x & 0u).x);",
    expect: (_, x) => 0xff80ff00 ^ 0x20008001 ^ ((x >>> 8) & 255) ^ 3 ^ 0xc0003c00 ^ bits(-2),
  },
  {
    name: "frexp, ldexp, modf",
    body: "int e; float v = float(x & 0xffffu) + 0.25; float m = frexp(v, e); float w; float q = modf(v, w); y = floatBitsToUint(ldexp(m, e)) ^ uint(e) ^ floatBitsToUint(m) ^ floatBitsToUint(q) ^ uint(w);",
    expect: (_, x) => {
      const v = (x & 0xffff) + 0.25;
      const e = Math.floor(Math.log2(v)) + 1;
      return bits(v) ^ e ^ bits(v / 2 ** e) ^ bits(0.25) ^ (x & 0xffff);
    },
  },
  {
    name: "runtime array length and vector loads of several widths",
    body: "y = uint(a.length()) * 1000u + b3[i & 3u].v.x + b3[i & 3u].v.z * 3u + b3[i & 3u].s * 5u;",
    before: "struct T { uvec3 v; uint s; }; layout(std430, set = 0, binding = 0) readonly buffer B3 { T b3[]; };",
    expect: (i, _, a) => {
      const k = (i & 3) * 4;
      return 64 * 1000 + (a[k] ?? 0) + (a[k + 2] ?? 0) * 3 + (a[k + 3] ?? 0) * 5;
    },
  },
  {
    name: "row-major and column-major matrices in a buffer",
    before:
      "layout(std430, set = 0, binding = 0) readonly buffer M { layout(row_major) mat3x4 rm; layout(column_major) mat2x3 cm; };",
    body: "uint c = i % 3u; uint q = i & 3u; y = floatBitsToUint(rm[c][q]) ^ floatBitsToUint(rm[1].z) ^ floatBitsToUint(cm[i & 1u].y);",
    // rm: 4 rows of 3 floats, 16 bytes apart; cm follows at 64 with columns 16 bytes apart.
    expect: (i, _, a) => (a[(i & 3) * 4 + (i % 3)] ?? 0) ^ (a[2 * 4 + 1] ?? 0) ^ (a[16 + (i & 1) * 4 + 1] ?? 0),
  },
  {
    name: "a private variable, const arrays, a loop over them",
    before:
      "const uint table[6] = uint[6](2u, 3u, 5u, 7u, 11u, 13u); uint acc = 1u; void mul(uint k) { acc *= table[k]; }",
    body: "for (uint k = 0u; k < x % 6u; k++) mul(k); y = acc + table[i % 6u];",
    expect: (i, x) => {
      const table = [2, 3, 5, 7, 11, 13];
      return table.slice(0, x % 6).reduce((p, q) => p * q, 1) + (table[i % 6] ?? 0);
    },
  },
];
