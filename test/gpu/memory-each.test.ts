/** Every atomic, and every move of bytes, halves and dwords, of each memory format, by the row's meaning. */
import { describe, expect, it } from "vitest";
import { bitsOf, f32, f64 } from "../math/exact.ts";
import { oracle } from "../oracles.ts";
import { inputs, runBodies, TRIES } from "./opcode-rig.ts";

const words = inputs();
type Try = readonly [a: number, b: number, c: number, d: number];
const tryAt = (t: number) => words.subarray(4 * t, 4 * t + 4) as unknown as Try;

/** Where data lie before, from v4-v7, and how an op of a family reads: memory at offset 0 of the lane's 16 bytes. */
interface Family {
  readonly prefix: string;
  readonly setUp: string;
  /** `data`: first VGPR and count. `old`: where the old value goes, for ops that give it. */
  atomic(op: string, data: string, old: string | undefined): string;
  load(op: string, dst: string, offset: number): string;
  store(op: string, src: string, offset: number): string;
  readonly wait: string;
}

const waitMemory = "s_waitcnt vmcnt(0) lgkmcnt(0)\ns_waitcnt_vscnt null, 0x0";
const families: Readonly<Record<"buffer" | "global" | "flat" | "ds", Family>> = {
  buffer: {
    prefix: "buffer_",
    // A raw V# over the output.
    setUp: "s_mov_b32 s12, s2\ns_and_b32 s13, s3, 0xffff\ns_mov_b32 s14, 0x10000\ns_mov_b32 s15, 0x31016fac",
    atomic: (op, data, old) =>
      old === undefined
        ? `buffer_${op} ${data}, v1, s[12:15], 0 offen`
        : `buffer_${op} ${data}, v1, s[12:15], 0 offen glc`,
    load: (op, dst, offset) => `buffer_${op} ${dst}, v1, s[12:15], 0 offen offset:${offset}`,
    store: (op, src, offset) => `buffer_${op} ${src}, v1, s[12:15], 0 offen offset:${offset}`,
    wait: waitMemory,
  },
  global: {
    prefix: "global_",
    setUp: "",
    atomic: (op, data, old) =>
      old === undefined ? `global_${op} v1, ${data}, s[2:3]` : `global_${op} ${old}, v1, ${data}, s[2:3] glc`,
    load: (op, dst, offset) => `global_${op} ${dst}, v1, s[2:3] offset:${offset}`,
    store: (op, src, offset) => `global_${op} v1, ${src}, s[2:3] offset:${offset}`,
    wait: waitMemory,
  },
  flat: {
    prefix: "flat_",
    setUp: `v_add_co_u32 v18, vcc_lo, s2, v1
      v_mov_b32_e32 v19, s3
      v_add_co_ci_u32_e32 v19, vcc_lo, 0, v19, vcc_lo`,
    atomic: (op, data, old) =>
      old === undefined ? `flat_${op} v[18:19], ${data}` : `flat_${op} ${old}, v[18:19], ${data} glc`,
    load: (op, dst, offset) => `flat_${op} ${dst}, v[18:19] offset:${offset}`,
    store: (op, src, offset) => `flat_${op} v[18:19], ${src} offset:${offset}`,
    wait: waitMemory,
  },
  ds: {
    prefix: "ds_",
    setUp: "v_lshlrev_b32_e32 v2, 4, v0",
    atomic: (op, data, old) => (old === undefined ? `ds_${op} v2, ${data}` : `ds_${op} ${old}, v2, ${data}`),
    load: (op, dst, offset) => `ds_${op} ${dst}, v2 offset:${offset}`,
    store: (op, src, offset) => `ds_${op} v2, ${src} offset:${offset}`,
    wait: "s_waitcnt lgkmcnt(0)",
  },
};
const load64 = (f: Family, dst: string, offset = 0) =>
  f.load(f.prefix === "ds_" ? "read_b64" : "load_dwordx2", dst, offset);
const storeAll = (f: Family) =>
  f.prefix === "ds_"
    ? "ds_write_b64 v2, v[4:5]\nds_write_b64 v2, v[6:7] offset:8"
    : f.store("store_dwordx4", "v[4:7]", 0);

/** New value of memory `m`, by data and (compares) the value compared with. Width bits; signed views by `s`. */
type Meaning = (
  m: bigint,
  data: bigint,
  other: bigint,
  s: (x: bigint) => bigint,
  real: (x: bigint) => number,
) => bigint;
const pick = (first: boolean, a: bigint, b: bigint) => (first ? a : b);
/** Smaller of two floats: a number before a NaN, -0 below +0. */
const less = (x: number, y: number) => x < y || (x === y && Object.is(x, -0) && !Object.is(y, -0));
const meanings: Readonly<Record<string, Meaning>> = {
  swap: (_m, d) => d,
  cmpswap: (m, d, o) => pick(m === o, d, m),
  add: (m, d) => m + d,
  sub: (m, d) => m - d,
  csub: (m, d) => (m < d ? 0n : m - d),
  smin: (m, d, _o, s) => pick(s(m) < s(d), m, d),
  umin: (m, d) => pick(m < d, m, d),
  smax: (m, d, _o, s) => pick(s(m) > s(d), m, d),
  umax: (m, d) => pick(m > d, m, d),
  and: (m, d) => m & d,
  or: (m, d) => m | d,
  xor: (m, d) => m ^ d,
  inc: (m, d) => (m >= d ? 0n : m + 1n),
  dec: (m, d) => (m === 0n || m > d ? d : m - 1n),
  fcmpswap: (m, d, o, _s, real) => pick(real(m) === real(o), d, m),
  fmin: (m, d, _o, _s, real) => pick(Number.isNaN(real(d)) || less(real(m), real(d)), m, d),
  fmax: (m, d, _o, _s, real) => pick(Number.isNaN(real(d)) || less(real(d), real(m)), m, d),
  rsub: (m, d) => d - m,
  mskor: (m, d, o) => (m & ~d) | o,
  wrap: (m, d, o) => (m >= d ? m - d : m + o),
  addf: (m, d, _o, _s, real) => BigInt(bitsOf(Math.fround(real(m) + real(d)))),
};

interface Case {
  readonly body: string;
  readonly bits: 32 | 64;
  readonly meaning: Meaning;
  /** v8 (v9) are the old value, or what memory holds after. */
  readonly gives: "old" | "new" | "both";
  /** What `other` is: memory's low word with bit 0 clear (equal half the time), or v7. */
  readonly other: "near" | "v7";
}

/** v[14:17]: data for ops of two operands; `near` is in the second. */
function operands(bits: 32 | 64, order: "data first" | "data second"): string {
  const [data, near] = order === "data first" ? [14, 14 + bits / 32] : [14 + bits / 32, 14];
  const low = `v_mov_b32_e32 v${data}, v6\nv_and_b32_e32 v${near}, 0xfffffffe, v4`;
  return bits === 32 ? low : `${low}\nv_mov_b32_e32 v${data + 1}, v7\nv_mov_b32_e32 v${near + 1}, v5`;
}

function cases(): Case[] {
  const list: Case[] = [];
  const vector = "swap cmpswap add sub csub smin umin smax umax and or xor inc dec fcmpswap fmin fmax".split(" ");
  for (const f of [families.buffer, families.global, families.flat]) {
    for (const name of vector) {
      for (const bits of [32, 64] as const) {
        if (name === "csub" && (bits === 64 || f === families.flat)) continue;
        const two = name.endsWith("cmpswap");
        const op = `atomic_${name}${bits === 64 ? "_x2" : ""}`;
        const data = two ? (bits === 32 ? "v[14:15]" : "v[14:17]") : bits === 32 ? "v14" : "v[14:15]";
        const start = `${f.setUp}\n${operands(bits, "data first")}\n${storeAll(f)}\n${f.wait}`;
        const old = bits === 32 ? "v8" : "v[8:9]";
        const back = f === families.buffer ? `v_mov_b32_e32 v8, v14\nv_mov_b32_e32 v9, v15` : "";
        const common = { bits, meaning: meanings[name]!, other: "near" } as const;
        // csub is there with return only.
        if (name !== "csub") {
          const body = `${start}\n${f.atomic(op, data, undefined)}\n${f.wait}\n${load64(f, "v[8:9]")}\n${f.wait}`;
          list.push({ ...common, body, gives: "new" });
        }
        list.push({ ...common, body: `${start}\n${f.atomic(op, data, old)}\n${f.wait}\n${back}`, gives: "old" });
      }
    }
  }
  const f = families.ds;
  const local: readonly (readonly [string, string, (32 | 64)?])[] = [
    ...["add u", "sub u", "rsub u", "inc u", "dec u", "and b", "or b", "xor b"].map((row) => {
      const [name, type] = row.split(" ") as [string, string];
      return [`${name}_${type}`, name] as const;
    }),
    ["min_i", "smin"],
    ["max_i", "smax"],
    ["min_u", "umin"],
    ["max_u", "umax"],
    ["min_f", "fmin"],
    ["max_f", "fmax"],
    ["mskor_b", "mskor"],
    ["cmpst_b", "cmpswap"],
    ["cmpst_f", "fcmpswap"],
    ["add_f", "addf", 32],
    ["wrxchg_b", "swap"],
    ["wrap_b", "wrap", 32],
  ];
  for (const [stem, name, only] of local) {
    for (const bits of [32, 64] as const) {
      if (only !== undefined && only !== bits) continue;
      const compares = stem.startsWith("cmpst");
      const two = compares || name === "mskor" || name === "wrap";
      const width = (first: number) => (bits === 32 ? `v${first}` : `v[${first}:${first + 1}]`);
      const second = 14 + bits / 32;
      // cmpst takes the compared value first; mskor and wrap the data.
      const order = compares ? "data second" : "data first";
      const data = two ? `${width(14)}, ${width(second)}` : width(14);
      const start = `${f.setUp}\n${operands(bits, order)}\n${storeAll(f)}\n${f.wait}`;
      const common = { bits, meaning: meanings[name]!, other: "near" } as const;
      const [verb, type] = [stem.slice(0, stem.lastIndexOf("_")), stem.slice(stem.lastIndexOf("_"))];
      const after = `${f.wait}\n${load64(f, "v[8:9]")}\n${f.wait}`;
      const onlyReturns = name === "swap" || name === "wrap";
      if (!onlyReturns) {
        list.push({
          ...common,
          body: `${start}\n${f.atomic(`${verb}${type}${bits}`, data, undefined)}\n${after}`,
          gives: "new",
        });
      }
      const returning = f.atomic(`${verb}_rtn${type}${bits}`, data, width(8));
      list.push({ ...common, body: `${start}\n${returning}\n${f.wait}`, gives: "old" });
      const aside = f.atomic(`${verb}_rtn${type}${bits}`, data, width(18));
      if (onlyReturns) list.push({ ...common, body: `${start}\n${aside}\n${after}`, gives: "new" });
    }
  }
  return list;
}

describe.skipIf(!oracle("llvm-mc-19"))("atomics, each", () => {
  const list = cases();
  const results = oracle("llvm-mc-19")
    ? runBodies(
        "vector",
        list.map(({ body }) => body),
        words,
      )
    : [];
  it.each(
    list.map(
      (row, i) =>
        [
          row.body.match(
            /^\s*(buffer|global|flat|ds)_\w*(atomic|add|sub|inc|dec|and|or|xor|min|max|mskor|cmpst|wrxchg|wrap)\w*.*$/m,
          )?.[0] ?? row.body,
          i,
        ] as const,
    ),
  )("%s", (_, i) => {
    const { bits, meaning, gives } = list[i]!;
    const signed = (x: bigint) => BigInt.asIntN(bits, x);
    const real = (x: bigint) => (bits === 32 ? f32(Number(x)) : f64(x));
    for (let t = 0; t < TRIES; t++) {
      const [a, b, c, d] = tryAt(t);
      const wide = (low: number, high: number) => BigInt(low >>> 0) | (bits === 64 ? BigInt(high) << 32n : 0n);
      const memory = wide(a, b);
      const want =
        gives === "old" ? memory : BigInt.asUintN(bits, meaning(memory, wide(c, d), wide(a & ~1, b), signed, real));
      const { value, second } = results[i]![t]!;
      const got = wide(value, second);
      const bothNan =
        gives === "new" &&
        /min_f|max_f|fmin|fmax|add_f/.test(list[i]!.body) &&
        Number.isNaN(real(want)) &&
        Number.isNaN(real(got));
      if (got !== want && !bothNan) expect([a, b, c, d, got]).toEqual([a, b, c, d, want]);
    }
  });
});

/** Loads: name without family, its bytes' number, offset, and what v8 (v9) become of memory a, b, c, d. */
type Move = (...words: Try) => readonly [number, number];
const KEPT = 0x5a5a5a5a;
const low = (x: number) => ((KEPT & 0xffff0000) | (x & 0xffff)) >>> 0;
const high = (x: number) => ((KEPT & 0xffff) | (x << 16)) >>> 0;
const s8 = (x: number) => (x << 24) >> 24;
const s16 = (x: number) => (x << 16) >> 16;
const xor = (x: number, y: number) => (x ^ y) >>> 0;
const loads: readonly (readonly [global: string | undefined, ds: string | undefined, offset: number, meaning: Move])[] =
  [
    ["load_ubyte", "read_u8", 3, (a) => [a >>> 24, 0]],
    ["load_sbyte", "read_i8", 3, (a) => [s8(a >>> 24) >>> 0, 0]],
    ["load_ushort", "read_u16", 6, (_a, b) => [b >>> 16, 0]],
    ["load_sshort", "read_i16", 6, (_a, b) => [s16(b >>> 16) >>> 0, 0]],
    ["load_ubyte_d16", "read_u8_d16", 9, (_a, _b, c) => [low((c >>> 8) & 255), 0]],
    ["load_ubyte_d16_hi", "read_u8_d16_hi", 9, (_a, _b, c) => [high((c >>> 8) & 255), 0]],
    ["load_sbyte_d16", "read_i8_d16", 9, (_a, _b, c) => [low(s8(c >>> 8)), 0]],
    ["load_sbyte_d16_hi", "read_i8_d16_hi", 9, (_a, _b, c) => [high(s8(c >>> 8)), 0]],
    ["load_short_d16", "read_u16_d16", 14, (_a, _b, _c, d) => [low(d >>> 16), 0]],
    ["load_short_d16_hi", "read_u16_d16_hi", 14, (_a, _b, _c, d) => [high(d >>> 16), 0]],
    ["load_dword", "read_b32", 8, (_a, _b, c) => [c, 0]],
  ];
const stores: readonly (readonly [
  global: string,
  ds: string | undefined,
  src: string,
  offset: number,
  meaning: Move,
])[] = [
  ["store_byte", "write_b8", "v6", 5, (a, b, c) => [a, ((b & 0xffff00ff) | ((c & 255) << 8)) >>> 0]],
  [
    "store_byte_d16_hi",
    "write_b8_d16_hi",
    "v6",
    5,
    (a, b, c) => [a, ((b & 0xffff00ff) | (((c >>> 16) & 255) << 8)) >>> 0],
  ],
  ["store_short", "write_b16", "v6", 2, (a, b, c) => [((a & 0xffff) | (c << 16)) >>> 0, b]],
  ["store_short_d16_hi", "write_b16_d16_hi", "v6", 2, (a, b, c) => [((a & 0xffff) | (c & 0xffff0000)) >>> 0, b]],
  ["store_dword", "write_b32", "v7", 4, (a, _b, _c, d) => [a, d]],
  ["store_dwordx2", "write_b64", "v[6:7]", 0, (_a, _b, c, d) => [c, d]],
  ["store_dwordx3", "write_b96", "v[5:7]", 0, (_a, b, c) => [b, c]],
  ["store_dwordx4", "write_b128", "v[6:9]", 0, (_a, _b, c, d) => [c, d]],
];

function moves(): { body: string; meaning: Move }[] {
  const list: { body: string; meaning: Move }[] = [];
  for (const f of Object.values(families)) {
    const isLocal = f === families.ds;
    const start = `${f.setUp}\n${storeAll(f)}\n${f.wait}`;
    for (const [global, ds, offset, meaning] of loads) {
      const op = isLocal ? ds : global;
      if (op !== undefined) list.push({ body: `${start}\n${f.load(op, "v8", offset)}\n${f.wait}`, meaning });
    }
    const fold = (dst: string, op: string, offset: number, first: string, second: string, meaning: Move) =>
      list.push({ body: `${start}\n${f.load(op, dst, offset)}\n${f.wait}\n${first}\n${second}`, meaning });
    const three = isLocal ? "read_b96" : "load_dwordx3";
    const four = isLocal ? "read_b128" : "load_dwordx4";
    const move8 = "v_mov_b32_e32 v8, v12";
    fold("v[12:13]", isLocal ? "read_b64" : "load_dwordx2", 8, move8, "v_mov_b32_e32 v9, v13", (_a, _b, c, d) => [
      c,
      d,
    ]);
    fold("v[12:14]", three, isLocal ? 0 : 4, move8, "v_xor_b32_e32 v9, v13, v14", (a, b, c, d) =>
      isLocal ? [a, xor(b, c)] : [b, xor(c, d)],
    );
    fold("v[12:15]", four, 0, "v_xor_b32_e32 v8, v12, v13", "v_xor_b32_e32 v9, v14, v15", (a, b, c, d) => [
      xor(a, b),
      xor(c, d),
    ]);
    for (const [global, ds, src, offset, meaning] of stores) {
      const op = isLocal ? ds : global;
      if (op === undefined) continue;
      list.push({
        body: `${start}\n${f.store(op, src, offset)}\n${f.wait}\n${load64(f, "v[8:9]")}\n${f.wait}`,
        meaning,
      });
    }
  }
  return list;
}

describe.skipIf(!oracle("llvm-mc-19"))("loads and stores, each", () => {
  const list = moves();
  const results = oracle("llvm-mc-19")
    ? runBodies(
        "vector",
        list.map(({ body }) => body),
        words,
      )
    : [];
  it("moves the bytes that its name says, and no others", () => {
    expect(list).toHaveLength(4 * (11 + 3 + 8));
    const wrong: string[] = [];
    for (const [i, { body, meaning }] of list.entries()) {
      for (let t = 0; t < TRIES; t++) {
        const want = meaning(...tryAt(t));
        const { value, second } = results[i]![t]!;
        if (value === want[0] && second === want[1]) continue;
        wrong.push(`${body}\n${tryAt(t).map((x) => x.toString(16))}: ${[value, second]}, not ${want}`);
        break;
      }
    }
    expect(wrong).toEqual([]);
  });
});
