import type { Program } from "./programs.ts";

/**
 * Local arrays that are too large for registers and indexed at run time: they live in scratch memory, a copy for each
 * invocation. Expected values follow from GLSL's rules alone.
 */

const u = (x: number): number => x >>> 0;
const bits = new DataView(new ArrayBuffer(4));
const asFloat = (x: number): number => {
  bits.setUint32(0, u(x));
  return bits.getFloat32(0);
};
const asBits = (x: number): number => {
  bits.setFloat32(0, x);
  return bits.getUint32(0);
};
const many = 280;

export const localArrays: readonly Program[] = [
  {
    name: "scratch: stores and loads at indices that differ between lanes",
    body: `uint t[100]; for (uint k = 0u; k < 100u; k++) t[k] = k * x;
      t[x % 100u] = 7u;
      for (uint k = 0u; k < 100u; k++) y += t[(k * 7u + x) % 100u] ^ k;`,
    expect: (_, x) => {
      const t = Array.from({ length: 100 }, (_, k) => u(Math.imul(k, x)));
      t[x % 100] = 7;
      let y = 0;
      for (let k = 0; k < 100; k++) y = u(y + (u(t[u(k * 7 + x) % 100]!) ^ k));
      return y;
    },
  },
  {
    name: "scratch: an index out of range reaches no other array",
    body: `uint p[70]; uint q[70]; uint s[70];
      for (uint k = 0u; k < 70u; k++) { p[k] = k; q[k] = k * 3u; s[k] = k * 5u; }
      q[x] = 1u; q[70u + i] = 2u; q[int(i) - 70] = 3u; q[~x] = q[x + 1u];
      for (uint k = 0u; k < 70u; k++) y += p[k] + s[k];`,
    expect: () => ((69 * 70) / 2) * 6,
  },
  {
    name: "scratch: an array of structs with booleans, vectors and doubles",
    before: "struct S { bool b; uvec3 v; double d; float m[2]; };",
    body: `S t[12]; for (uint k = 0u; k < 12u; k++) { t[k].b = ((x >> k) & 1u) != 0u; t[k].v = uvec3(k, x, i); t[k].d = double(k) * 0.5LF; t[k].m[0] = 1.0; t[k].m[1] = float(k); }
      uint c = x % 12u; t[c].v[i % 3u] = 1000u; t[c].m[i & 1u] = 64.0;
      S w = t[(c + i) % 12u];
      y = (w.b ? 1u : 0u) + w.v.x * 2u + w.v.y * 3u + w.v.z * 5u + uint(w.d * 2.0LF) * 7u + uint(w.m[0]) * 11u + uint(w.m[1]) * 13u;`,
    expect: (i, x) => {
      const c = x % 12;
      const k = (c + i) % 12;
      const v = [k, x, i];
      const m = [1, k];
      if (k === c) {
        v[i % 3] = 1000;
        m[i & 1] = 64;
      }
      return u(((x >>> k) & 1) + v[0]! * 2 + Math.imul(v[1]!, 3) + v[2]! * 5 + k * 7 + m[0]! * 11 + m[1]! * 13);
    },
  },
  {
    name: "scratch: matrices by column and row",
    body: `mat4 m[6]; for (uint k = 0u; k < 6u; k++) m[k] = mat4(float(k));
      m[x % 6u][i & 3u] = vec4(10.0, 20.0, 30.0, 40.0); m[(x + 1u) % 6u][(i >> 2u) & 3u][i & 3u] += 5.0;
      for (uint k = 0u; k < 6u; k++) { vec4 s = m[k] * vec4(1.0, 2.0, 3.0, 4.0); y = y * 3u + uint(s.x + s.y + s.z + s.w); }`,
    expect: (i, x) => {
      const m = Array.from({ length: 6 }, (_, k) =>
        Array.from({ length: 4 }, (_, c) => Array.from({ length: 4 }, (_, r) => (r === c ? k : 0))),
      );
      m[x % 6]![i & 3] = [10, 20, 30, 40];
      m[(x + 1) % 6]![(i >> 2) & 3]![i & 3]! += 5;
      let y = 0;
      for (const mat of m) {
        let s = 0;
        for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) s += mat[c]![r]! * (c + 1);
        y = u(Math.imul(y, 3) + s);
      }
      return y;
    },
  },
  {
    name: "scratch: arrays given to functions, copied whole, kept by a function that is called again",
    before: `void put(inout uint t[80], uint k, uint v) { t[k % 80u] = v; }
      uint get(uint t[80], uint k) { t[0] += 1u; return t[k % 80u]; }
      uint fresh(uint k) { uint t[80]; for (uint j = 0u; j < 80u; j++) t[j] = j + k; return t[k % 80u]; }`,
    body: `uint t[80]; for (uint k = 0u; k < 80u; k++) t[k] = k; put(t, x, 500u); put(t, x + 1u, 600u);
      uint c[80] = t; put(c, x, 9u);
      y = get(t, x) + get(t, x + 1u) * 3u + get(c, x) * 5u + get(t, 0u) * 7u + fresh(x) + fresh(i) * 11u;`,
    expect: (i, x) => {
      const t = Array.from({ length: 80 }, (_, k) => k);
      t[x % 80] = 500;
      t[u(x + 1) % 80] = 600;
      const c = [...t];
      c[x % 80] = 9;
      const get = (a: readonly number[], k: number): number => a[k % 80]! + (k % 80 === 0 ? 1 : 0);
      const fresh = (k: number): number => u((k % 80) + k);
      return u(get(t, x) + get(t, u(x + 1)) * 3 + get(c, x) * 5 + get(t, 0) * 7 + fresh(x) + Math.imul(fresh(i), 11));
    },
  },
  {
    name: "scratch: a private array that callees change is the limit of the caller's loop",
    before: "uint limit[90]; void next(uint k) { limit[k % 90u] -= 1u; }",
    body: "limit[x % 90u] = 5u + (i & 3u); while (limit[x % 90u] > 0u) { next(x); y += 10u; if (y > 1000u) break; }",
    expect: (i) => 50 + 10 * (i & 3),
  },
  {
    name: "scratch: floats in a divergent loop with early exits",
    body: `float t[128]; for (int k = 0; k < 128; k++) t[k] = uintBitsToFloat(0x3f800000u + uint(k) * 65536u);
      float s = 0.0; for (uint k = 0u; k < 128u; k++) { if (((x >> (k & 31u)) & 1u) != 0u) continue; if (k > (x & 127u)) break; s += t[(k + i) & 127u]; t[k] = 0.0; }
      y = floatBitsToUint(s);`,
    expect: (i, x) => {
      const t = Array.from({ length: 128 }, (_, k) => asFloat(0x3f800000 + k * 65536));
      let s = 0;
      for (let k = 0; k < 128; k++) {
        if ((x >>> (k & 31)) & 1) continue;
        if (k > (x & 127)) break;
        s = Math.fround(s + t[(k + i) & 127]!);
        t[k] = 0;
      }
      return asBits(s);
    },
  },
  {
    name: "scratch: far beyond an immediate offset, beside registers that are spilled",
    body: `uint t[1500]; t[x % 1500u] = x; t[1499] = 3u; t[700] = 5u;
      ${Array.from({ length: many }, (_, k) => `uint v${k} = a[(i + ${k}u) & 63u];`).join(" ")}
      t[(x + 1u) % 1500u] = 8u;
      ${Array.from({ length: many }, (_, k) => `y = y * 3u + (v${k} ^ (v${(k * 7 + 3) % many} >> ${k % 9}u));`).join(" ")}
      y += t[x % 1500u] + t[1499] + t[700] * 2u;`,
    expect: (i, x, a) => {
      const v = Array.from({ length: many }, (_, k) => a[(i + k) & 63]!);
      const t = new Map<number, number>([[x % 1500, x]]);
      t.set(1499, 3);
      t.set(700, 5);
      t.set(u(x + 1) % 1500, 8);
      let y = 0;
      for (let k = 0; k < many; k++) y = u(Math.imul(y, 3) + u(v[k]! ^ (v[(k * 7 + 3) % many]! >>> (k % 9))));
      return u(y + t.get(x % 1500)! + t.get(1499)! + t.get(700)! * 2);
    },
  },
];
