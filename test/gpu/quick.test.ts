import { describe, expect, it } from "vitest";
import { hasFusedMultiplyAdd } from "../../src/gpu/index.ts";
import { bitsOf, f32, fmaExact, noise } from "../math/exact.ts";
import { oracle } from "../oracles.ts";
import { inputs, runBodies, TRIES } from "./opcode-rig.ts";

/** Instructions with a short way through the interpreter; `$` stands for their sources. */
const two = [
  "v_and_b32_e64",
  "v_or_b32_e64",
  "v_xor_b32_e64",
  "v_add_nc_u32_e64",
  "v_sub_nc_u32_e64",
  "v_mul_lo_u32",
  "v_lshlrev_b32_e64",
  "v_lshrrev_b32_e64",
  "v_ashrrev_i32_e64",
  "v_add_f32_e64",
  "v_sub_f32_e64",
  "v_mul_f32_e64",
  "v_min_f32_e64",
  "v_max_f32_e64",
];
const three = ["v_add3_u32", "v_mad_u32_u24", "v_lshl_add_u32", "v_lshl_or_b32", "v_add_lshl_u32", "v_fma_f32"];
const one = ["v_mov_b32_e32", "v_not_b32_e32", "v_cvt_f32_i32_e32", "v_cvt_f32_u32_e32", "v_rsq_f32_e32"];
const compares = ["lt", "eq", "le", "gt", "ge", "neq", "nlt", "nle", "ngt", "nge"].map((c) => `v_cmp_${c}_f32_e64`);
const integerCompares = ["i32", "u32"].flatMap((t) =>
  ["lt", "eq", "le", "gt", "ge", "ne"].map((c) => `v_cmp_${c}_${t}_e64`),
);

/** Values of s12, s13 and s14; v12, v13 and v14 hold the same in every lane. */
const scalars = [0x40490fdb, 0x00000005, 0x80000001];
const prepare = scalars
  .map((value, i) => `s_mov_b32 s${12 + i}, ${value}\n v_mov_b32_e32 v${12 + i}, ${value}`)
  .join("\n");

/** Each with a scalar in place of some of its vector sources. */
const mixes: readonly (readonly [scalar: string, vector: string])[] = [
  ...one.map((op) => [`${op} v8, s12`, `${op} v8, v12`] as const),
  ...[...two, ...compares, ...integerCompares].flatMap((op) => {
    const d = op.startsWith("v_cmp") ? "s20" : "v8";
    return [
      [`${op} ${d}, s13, v5`, `${op} ${d}, v13, v5`],
      [`${op} ${d}, v4, s12`, `${op} ${d}, v4, v12`],
      [`${op} ${d}, s14, s14`, `${op} ${d}, v14, v14`],
    ] as const;
  }),
  ...three.flatMap(
    (op) =>
      [
        [`${op} v8, s12, v5, v6`, `${op} v8, v12, v5, v6`],
        [`${op} v8, v4, s13, v6`, `${op} v8, v4, v13, v6`],
        [`${op} v8, v4, v5, s13`, `${op} v8, v4, v5, v13`],
        [`${op} v8, s12, v5, s13`, `${op} v8, v12, v5, v13`],
      ] as const,
  ),
  [
    "v_add_f32_e32 v8, 0x3c23d70a, v4\n v_mov_b32_e32 v9, 0x3c23d70a",
    "v_mov_b32_e32 v9, 0x3c23d70a\n v_add_f32_e32 v8, v9, v4",
  ],
  ["v_fmaak_f32 v8, v4, v5, 0x40490fdb", "v_fma_f32 v8, v4, v5, v12"],
  ["v_cndmask_b32_e64 v8, s12, v5, vcc_lo", "v_cndmask_b32_e64 v8, v12, v5, vcc_lo"],
];

const vectors = [
  ...one.map((op) => `${op} v8, v4`),
  ...two.map((op) => `${op} v8, v4, v5`),
  ...two.map((op) => `${op} v8, s13, v5`),
  ...three.map((op) => `${op} v8, v4, v5, v6`),
  ...three.map((op) => `${op} v8, v4, s13, v6`),
  ...three.map((op) => `${op} v8, v4, v5, s13`),
  "v_fma_f32 v8, v4, v5, -v6",
  "v_fma_f32 v8, -v4, v5, v6",
  "v_fma_f32 v8, -v4, -v5, v6",
  "v_fma_f32 v8, -v4, v5, -v6",
  "v_add_f32_e64 v8, v4, -v5",
  "v_cndmask_b32_e64 v8, v4, v5, vcc_lo",
];

const ACTIVE = 0x8f3355aa;
const OLD = 0x5a5a5a5a;
const active = (t: number) => (ACTIVE >>> (t % 32)) & 1;
const run = (bodies: readonly string[], build: "release" | "fused" = "release") =>
  oracle("llvm-mc-19")
    ? runBodies(
        "vector",
        bodies.map((body) => `${prepare}\n${body}`),
        inputs(),
        0xf0,
        build,
      )
    : [];

describe.skipIf(!oracle("llvm-mc-19"))("plain instructions", () => {
  const mixed = run(mixes.map(([scalar]) => scalar));
  const plain = run(mixes.map(([, vector]) => vector));
  it.each(mixes.map(([scalar], i) => [scalar, i] as const))("%s is as with vectors", (_, i) => {
    for (let t = 0; t < TRIES; t++)
      if (mixed[i]![t]!.value !== plain[i]![t]!.value || mixed[i]![t]!.bit !== plain[i]![t]!.bit)
        expect([t, mixed[i]![t]]).toEqual([t, plain[i]![t]]);
  });

  const full = run(vectors);
  const some = run(vectors.map((body) => `s_mov_b32 exec_lo, ${ACTIVE}\n${body}\n s_mov_b32 exec_lo, -1`));
  const none = run(vectors.map((body) => `s_mov_b32 exec_lo, 0\n${body}\n s_mov_b32 exec_lo, -1`));
  it.each(vectors.map((body, i) => [body, i] as const))("%s writes active lanes only", (_, i) => {
    for (let t = 0; t < TRIES; t++) {
      const want = active(t) ? full[i]![t]!.value : OLD;
      if (some[i]![t]!.value !== want) expect([t, some[i]![t]!.value]).toEqual([t, want]);
    }
    expect(none[i]!.every(({ value }) => value === OLD)).toBe(true);
  });

  const masks = [...compares, ...integerCompares];
  const all = run(masks.map((op) => `${op} s20, v4, v5`));
  const cut = run(masks.map((op) => `s_mov_b32 exec_lo, ${ACTIVE}\n${op} s20, v4, v5\n s_mov_b32 exec_lo, -1`));
  const toExec = run(
    masks.map(
      (op) =>
        `s_mov_b32 exec_lo, ${ACTIVE}\n${op.replace("v_cmp", "v_cmpx")} v4, v5\n s_mov_b32 s20, exec_lo\n s_mov_b32 exec_lo, -1`,
    ),
  );
  it.each(masks.map((op, i) => [op, i] as const))("%s holds in active lanes only", (_, i) => {
    for (let t = 0; t < TRIES; t++) {
      const want = active(t) ? all[i]![t]!.bit : 0;
      const got = [cut[i]![t]!.bit, toExec[i]![t]!.bit];
      if (got[0] !== want || got[1] !== want) expect([t, ...got]).toEqual([t, want, want]);
    }
  });
});

/** Triples where a double rounding would show: sums next to a tie of binary32, denormal results, cancellation. */
function hardTriples(): Uint32Array {
  const next = noise(0x1234567);
  const words = inputs();
  for (let t = 300; t < TRIES; t++) {
    const kind = t % 4;
    const a = f32((next() & 0x007fffff) | 0x3f800000);
    const b = f32((next() & 0x007fffff) | 0x3f800000);
    const scale = kind === 1 ? 2 ** -75 : 1;
    const product = Math.fround(a * scale) * Math.fround(b * scale);
    // Half of the last bit of a large sum, exactly or by a hair; the product's own neighbours; anything.
    const c =
      kind === 0 ? Math.fround(product * 2 ** (24 + (next() % 3))) : kind === 3 ? f32(next()) : -Math.fround(product);
    words.set([bitsOf(Math.fround(a * scale)), bitsOf(Math.fround(b * scale)), bitsOf(Number.isNaN(c) ? 1 : c)], 4 * t);
    if (kind === 2) words[4 * t + 2] = (words[4 * t + 2] as number) + (next() % 3) - 1;
  }
  return words;
}

/** Sums a hair off a tie of binary32, too little for binary64 to see; half of them with a denormal result. */
function nearTies(): Uint32Array {
  const next = noise(0x7654321);
  const words = inputs();
  for (let t = 300; t < TRIES; t++) {
    // Products 1 - 2^-46 and 1 + 2^-36, times half of the addend's last bit.
    const [a, b] = t % 2 ? [1 + 2 ** -23, 1 - 2 ** -23] : [1 + 2 ** -12, 1 - 2 ** -12 + 2 ** -24];
    const sign = next() & 1 ? -1 : 1;
    const denormal = t % 4 < 2;
    const c = denormal ? f32((next() & 0xfffff) | 0x100000) : f32((next() & 0x007fffff) | 0x3f800000);
    const scale = denormal ? 2 ** -75 : 2 ** -12;
    words.set([sign * a * scale, b * scale, next() & 1 ? -c : c].map(bitsOf), 4 * t);
  }
  return words;
}

describe.skipIf(!oracle("llvm-mc-19"))("builds", () => {
  it("emulated and fused multiply-add are both exact", () => {
    const builds = hasFusedMultiplyAdd() ? (["release", "fused"] as const) : (["release"] as const);
    let twice = 0;
    for (const [build, words] of builds.flatMap((name) => [
      [name, hardTriples()] as const,
      [name, nearTies()] as const,
    ])) {
      const [results] = runBodies("vector", ["v_fma_f32 v8, v4, v5, v6"], words, 0xf0, build);
      for (let t = 300; t < TRIES; t++) {
        const [a, b, c] = [...words.subarray(4 * t, 4 * t + 3)].map(f32) as [number, number, number];
        if (![a, b, c].every((x) => Number.isFinite(x) && x !== 0)) continue;
        const want = bitsOf(Math.fround(fmaExact(a, b, c, 24, -149, 128)));
        if (bitsOf(Math.fround(a * b + c)) !== want) twice++;
        const got = results![t]!.value;
        if (got !== want) expect([build, t, a, b, c, got]).toEqual([build, t, a, b, c, want]);
      }
    }
    // Rounding twice, to binary64 and then to binary32, would be wrong for many of them.
    expect(twice).toBeGreaterThan(200);
  });

  it.skipIf(!hasFusedMultiplyAdd())("give the same bits, NaNs and zeros too", () => {
    const bodies = [...vectors, "v_fma_f32 v8, |v4|, v5, v6 clamp", "v_fma_f32 v8, v4, v5, v6 mul:2"];
    const fused = run(bodies, "fused");
    const emulated = run(bodies, "release");
    for (const [i, body] of bodies.entries()) expect([body, fused[i]]).toEqual([body, emulated[i]]);
  });
});
