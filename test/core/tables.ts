import type { Program } from "./programs.ts";

/** Constant arrays that are indexed at run time: words behind the code. Expected values follow from GLSL's rules alone. */

const u = (x: number): number => x >>> 0;
/** n numbers that are no row: k * k * 7 + 3. */
const squares = (n: number): number[] => Array.from({ length: n }, (_, k) => k * k * 7 + 3);
const list = (numbers: readonly number[]): string => numbers.map((x) => `${x}u`).join(", ");

export const tables: readonly Program[] = [
  {
    name: "tables: an index that lanes differ in, one that they share, one that is known",
    before: `const uint t[40] = uint[40](${list(squares(40))});`,
    body: "y = t[x % 40u] + t[a[9] % 40u] * 3u + t[7];",
    expect: (_, x, a) => u(squares(40)[x % 40]! + squares(40)[a[9]! % 40]! * 3 + squares(40)[7]!),
  },
  {
    name: "tables: one in a loop that is unrolled, one in a loop that is not",
    before: `const uint t[24] = uint[24](${list(squares(24))});`,
    body: "for (uint k = 0u; k < 5u; k++) y += t[k * 2u] * k; for (uint k = 0u; k < x % 24u; k++) y = y * 3u + t[k];",
    expect: (_, x) => {
      const t = squares(24);
      let y = 0;
      for (let k = 0; k < 5; k++) y = u(y + t[k * 2]! * k);
      for (let k = 0; k < x % 24; k++) y = u(Math.imul(y, 3) + t[k]!);
      return y;
    },
  },
  {
    name: "tables: vectors, matrices and structures with booleans and doubles",
    before: `struct S { bool b; uvec3 v; double d; mat2 m; };
      const S t[3] = S[3](S(true, uvec3(1, 2, 3), 4.5LF, mat2(1.0, 2.0, 3.0, 4.0)), S(false, uvec3(5, 6, 7), 8.0LF, mat2(9.0)), S(true, uvec3(10, 11, 12), -1.0LF, mat2(0.5)));`,
    body: "S s = t[x % 3u]; y = (s.b ? 1000u : 0u) + s.v[i % 3u] + uint(s.d * 2.0LF + 2.0LF) * 100u + uint(t[x % 3u].m[i & 1u][x & 1u] * 2.0) * 10000u;",
    expect: (i, x) => {
      const k = x % 3;
      const v = [
        [1, 2, 3],
        [5, 6, 7],
        [10, 11, 12],
      ][k]!;
      const m = [
        [1, 2, 3, 4],
        [9, 0, 0, 9],
        [0.5, 0, 0, 0.5],
      ][k]!;
      const d = [4.5, 8, -1][k]!;
      return (k === 1 ? 0 : 1000) + v[i % 3]! + (d * 2 + 2) * 100 + m[2 * (i & 1) + (x & 1)]! * 2 * 10000;
    },
  },
  {
    name: "tables: an index out of range reaches no other table",
    before: `const uint t[20] = uint[20](${list(squares(20))}); const uint o[20] = uint[20](${list(new Array(20).fill(1))});`,
    body: "uint v[3] = uint[3](t[x], t[a[5]], t[int(i) - 3]); y = o[i % 20u]; for (int k = 0; k < 3; k++) if ((v[k] - 3u) % 7u == 0u && v[k] < 2531u) y += 10u;",
    expect: () => 31,
  },
  {
    name: "tables: far into a large one, two dimensions",
    before: `const uint t[4][700] = uint[4][700](${[1, 2, 3, 4]
      .map((m) => `uint[700](${list(Array.from({ length: 700 }, (_, k) => k * m))})`)
      .join(", ")});`,
    body: "y = t[i & 3u][x % 700u] + t[3][(x + 1u) % 700u] + t[2][a[3] % 700u];",
    expect: (i, x, a) => (x % 700) * ((i & 3) + 1) + (u(x + 1) % 700) * 4 + (a[3]! % 700) * 3,
  },
  {
    name: "tables: what is written somewhere is none",
    before: `uint t[40] = uint[40](${list(squares(40))}); uint g(uint k) { return t[k % 40u]; }`,
    body: `y = g(x); if (i == 5u) t[x % 40u] = 1u; uint s[40] = uint[40](${list(squares(40))}); s[i % 40u]++; y += g(x) + s[x % 40u];`,
    expect: (i, x) => {
      const t = squares(40)[x % 40]!;
      return t + (i === 5 ? 1 : t) + t + (x % 40 === i % 40 ? 1 : 0);
    },
  },
  {
    name: "tables: two of one constant, behind conditions and in functions",
    before: `const uint c[17] = uint[17](${list(squares(17))});
      uint f(uint k) { uint t[17] = c; return t[k % 17u]; } uint g(uint k) { const uint t[17] = c; if (k > 9u) return t[k % 17u]; return f(k + 1u); }`,
    body: "y = f(x); if ((x & 1u) == 0u) y += g(x); else y += g(i) * 2u;",
    expect: (i, x) => {
      const c = squares(17);
      const g = (k: number) => (k > 9 ? c[k % 17]! : c[u(k + 1) % 17]!);
      return c[x % 17]! + (x % 2 === 0 ? g(x) : g(i) * 2);
    },
  },
];
