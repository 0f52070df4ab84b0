import { beforeAll, describe, expect, it } from "vitest";
import { type BufferFormatRow, bufferFormatBytes, bufferFormats, typedBufferResource } from "../../src/uapi/index.ts";
import { bitsOf, f32 } from "../math/exact.ts";
import { oracle } from "../oracles.ts";
import { assembleAll } from "./assembler.ts";
import { high, low, Rig } from "./rig.ts";

const NAN = 0x7fc00000;
const isNan = (x: number) => (x & 0x7fffffff) > 0x7f800000;
/** V# in s[8:11], a raw one over 4 KiB in s[12:15]; v1 = 16 * lane. */
const kernel = (body: string) => `
  s_load_dwordx8 s[8:15], s[0:1], null
  v_lshlrev_b32_e32 v1, 4, v0
  s_waitcnt lgkmcnt(0)
  ${body}
  s_endpgm`;
const load = (name: string) => `
  v_mov_b32_e32 v4, 0xaaaaaaaa
  v_mov_b32_e32 v5, 0xaaaaaaaa
  v_mov_b32_e32 v6, 0xaaaaaaaa
  v_mov_b32_e32 v7, 0xaaaaaaaa
  ${name}, v0, s[8:11], 0 idxen
  s_waitcnt vmcnt(0)
  buffer_store_dwordx4 v[4:7], v1, s[12:15], 0 offen`;
const store = (name: string) => `
  buffer_load_dwordx4 v[4:7], v1, s[12:15], 0 offen
  s_waitcnt vmcnt(0)
  ${name}, v0, s[8:11], 0 idxen`;
const bodies = {
  load: load("buffer_load_format_xyzw v[4:7]"),
  loadX: load("buffer_load_format_x v4"),
  loadXy: load("buffer_load_format_xy v[4:5]"),
  loadXyz: load("buffer_load_format_xyz v[4:6]"),
  loadD16: load("buffer_load_format_d16_xyzw v[4:5]"),
  loadD16Xyz: load("buffer_load_format_d16_xyz v[4:5]"),
  loadD16Xy: load("buffer_load_format_d16_xy v4"),
  loadD16X: load("buffer_load_format_d16_x v4"),
  loadD16High: load("buffer_load_format_d16_hi_x v4"),
  store: store("buffer_store_format_xyzw v[4:7]"),
  storeX: store("buffer_store_format_x v4"),
  storeXy: store("buffer_store_format_xy v[4:5]"),
  storeXyz: store("buffer_store_format_xyz v[4:6]"),
  storeD16: store("buffer_store_format_d16_xyzw v[4:5]"),
  storeD16Xyz: store("buffer_store_format_d16_xyz v[4:5]"),
  storeD16Xy: store("buffer_store_format_d16_xy v4"),
  storeD16X: store("buffer_store_format_d16_x v4"),
  storeD16High: store("buffer_store_format_d16_hi_x v4"),
} as const;
type Body = keyof typeof bodies;

/** A float of `e` exponent bits and `m` fraction bits. */
function smallFloat(x: number, e: number, m: number): number {
  const exponent = (x >> m) & (2 ** e - 1);
  const fraction = x & (2 ** m - 1);
  const bias = 2 ** (e - 1) - 1;
  if (exponent === 2 ** e - 1) return fraction === 0 ? Infinity : Number.NaN;
  return exponent === 0 ? fraction * 2 ** (1 - bias - m) : (1 + fraction * 2 ** -m) * 2 ** (exponent - bias);
}

/** What a register holds of a component, by the meaning of the format's name. */
function decoded(raw: number, bits: number, kind: BufferFormatRow["kind"]): number {
  const signed = raw >= 2 ** (bits - 1) ? raw - 2 ** bits : raw;
  switch (kind) {
    case "UNORM":
      return bitsOf(Math.fround(raw / (2 ** bits - 1)));
    case "SNORM":
      return bitsOf(Math.fround(Math.max(-1, signed / (2 ** (bits - 1) - 1))));
    case "USCALED":
      return bitsOf(raw);
    case "SSCALED":
      return bitsOf(signed);
    case "UINT":
      return raw;
    case "SINT":
      return signed >>> 0;
    case "FLOAT": {
      if (bits === 32) return raw;
      const sign = bits === 16 && raw >> 15 === 1 ? -1 : 1;
      const value = sign * smallFloat(bits === 16 ? raw & 0x7fff : raw, 5, bits === 16 ? 10 : bits - 5);
      return Number.isNaN(value) ? NAN : bitsOf(value);
    }
  }
}

const nearestEven = (x: number) => {
  const floor = Math.floor(x);
  const gap = x - floor;
  return gap > 0.5 || (gap === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
};
const held = (x: number, least: number, most: number) => Math.min(Math.max(x, least), most);
const isInteger = (kind: string) => kind === "UINT" || kind === "SINT";

/** Whether `raw` is what a component of `bits` becomes when a register's `word` is stored. */
function encodes(raw: number, word: number, bits: number, kind: BufferFormatRow["kind"]): boolean {
  if (isInteger(kind)) return raw === word % 2 ** bits;
  const value = f32(word);
  if (kind === "FLOAT") {
    if (bits === 32) return raw === word;
    const has = f32(decoded(raw, bits, kind));
    if (isNan(word)) return Number.isNaN(has);
    if (bits < 16 && value <= 0) return raw === 0;
    const next = (step: number) => f32(decoded(raw + step, bits, kind));
    const mostRaw = bits === 16 ? 0x7bff : 31 * 2 ** (bits - 5) - 1;
    const most = f32(decoded(mostRaw, bits, kind));
    if (bits < 16)
      return value === Infinity ? has === Infinity : value > most ? has === most : has <= value && next(1) > value;
    if (Math.abs(value) >= most + 16) return Math.abs(has) === Infinity && has > 0 === value > 0;
    const error = Math.abs(has - value);
    const others = [raw & 0x7fff ? next(-1) : has, (raw & 0x7fff) === mostRaw ? has : next(1)];
    return Object.is(Math.sign(has) || has, Math.sign(value) || value) || value === 0 || has === 0
      ? others.every(
          (other) =>
            error < Math.abs(other - value) || other === has || (error === Math.abs(other - value) && raw % 2 === 0),
        )
      : false;
  }
  const signed = kind === "SNORM" || kind === "SSCALED";
  const top = signed ? 2 ** (bits - 1) - 1 : 2 ** bits - 1;
  const scale = kind === "UNORM" || kind === "SNORM" ? top : 1;
  const least = !signed ? 0 : kind === "SNORM" ? -top : -top - 1;
  const wanted = Number.isNaN(value) ? 0 : nearestEven(held(value * scale, least, top));
  return raw === (wanted < 0 ? wanted + 2 ** bits : wanted);
}

/** Component c of an element in bytes. */
function rawOf(bytes: Uint8Array, at: number, widths: readonly number[], c: number): number {
  let bit = widths.slice(0, c).reduce((sum, n) => sum + n, 0);
  let raw = 0;
  for (let i = 0; i < (widths[c] ?? 0); i++, bit++) raw += (((bytes[at + (bit >> 3)] ?? 0) >> (bit & 7)) & 1) * 2 ** i;
  return raw;
}

const edges = [
  0,
  0x80000000,
  0x3f800000,
  0xbf800000,
  0x3f000000,
  0xbf000000,
  0x7f800000,
  0xff800000,
  NAN,
  0xffffffff,
  1,
  0x80000001,
  0x3b008081,
  0x3effffff,
  0x3f7fff80,
  0x477fe000,
  0x477ff000,
  0x47800000,
  0x33800000,
  0x33000000,
  0x38800000,
  0x387fc000,
  0x43000000,
  0xc3000000,
  0x42fe8000,
  0xc3008000,
  0x12345678,
  0xfedcba98,
  0x7fff,
  0x8000,
  0x7fffffff,
  0x3a83126f,
];
const XYZW = [4, 5, 6, 7] as const;

describe.skipIf(!oracle("llvm-mc-19"))("typed buffer loads and stores", () => {
  let rig: Rig;
  let code: Record<Body, bigint>;
  let memory: { va: bigint; physical: number };
  let raw: { va: bigint; physical: number };
  let set: { va: bigint; physical: number };
  beforeAll(() => {
    rig = new Rig();
    const names = Object.keys(bodies) as Body[];
    const built = assembleAll(names.map((name) => kernel(bodies[name])));
    code = Object.fromEntries(names.map((name, i) => [name, rig.code(built[i] as Uint32Array)])) as typeof code;
    [memory, raw, set] = [rig.alloc(4096), rig.alloc(4096), rig.alloc(4096)];
  });

  function run(
    body: Body,
    format: number,
    options: { count?: number; select?: readonly [number, number, number, number] } = {},
  ) {
    const { count = 32, select = XYZW } = options;
    const strideBytes = bufferFormatBytes(format) ?? 0;
    const words = [
      ...typedBufferResource(memory.va, { format, strideBytes, count, select }),
      ...[low(raw.va), high(raw.va), 4096, 0x31016fac],
    ];
    rig.u32(set.physical, 8).set(words);
    return rig.run({ code: code[body], user: [low(set.va), high(set.va)] });
  }
  const loaded = (lane: number) => [...rig.u32(raw.physical + 16 * lane, 4)];
  const element = (format: number, lane: number, c: number) => {
    const row = bufferFormats.find(({ number }) => number === format) as BufferFormatRow;
    const bytes = bufferFormatBytes(format) ?? 0;
    return rawOf(rig.bytes, memory.physical + lane * bytes, row.widths, c);
  };

  it("knows 77 formats, of the sizes that their names say", () => {
    expect(bufferFormats).toHaveLength(77);
    // 8_SINT, 16_FLOAT, 32_FLOAT, 10_11_11_FLOAT, 2_10_10_10_UNORM, 8_8_8_8_UNORM, 16_16_16_16_FLOAT, the three and four of 32.
    const sizes = [6, 13, 22, 36, 50, 56, 71, 74, 77].map((format) => bufferFormatBytes(format));
    expect(sizes).toEqual([1, 2, 4, 4, 4, 4, 8, 12, 16]);
    expect([bufferFormatBytes(0), bufferFormatBytes(78)]).toEqual([undefined, undefined]);
  });

  it("loads every format's components; those that it lacks are 0, and w 1", () => {
    for (let i = 0; i < 128; i++)
      rig.u32(memory.physical, 128)[i] = edges[(i * 7) % 32]! ^ (i > 64 ? i * 0x01030507 : 0);
    const wrong: string[] = [];
    for (const { number, widths, kind } of bufferFormats) {
      expect(run("load", number)).toBeUndefined();
      for (let lane = 0; lane < 32; lane++) {
        const want = XYZW.map((_, c) => {
          const bits = widths[c];
          if (bits !== undefined) return decoded(element(number, lane, c), bits, kind);
          return c < 3 ? 0 : isInteger(kind) ? 1 : 0x3f800000;
        });
        const got = loaded(lane);
        if (got.some((word, c) => word !== want[c])) wrong.push(`${number} lane ${lane}: ${got}, not ${want}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("stores every format's components, nearest even, clamped where normalised, and nothing beside the element", () => {
    const input = rig.u32(raw.physical, 1024);
    for (let i = 0; i < 128; i++) input[i] = edges[(i * 5 + (i >> 5)) % 32]!;
    const wrong: string[] = [];
    for (const { number, widths, kind } of bufferFormats) {
      rig.u32(memory.physical, 256).fill(0xeeeeeeee);
      expect(run("store", number)).toBeUndefined();
      for (let lane = 0; lane < 32; lane++) {
        for (const [c, bits] of widths.entries()) {
          const [got, word] = [element(number, lane, c), input[4 * lane + c]!];
          if (!encodes(got, word, bits, kind))
            wrong.push(`${number}.${c}: 0x${word.toString(16)} gave 0x${got.toString(16)}`);
        }
      }
      const end = memory.physical + 32 * (bufferFormatBytes(number) ?? 0);
      expect([...rig.bytes.subarray(end, end + 16)]).toEqual(new Array(16).fill(0xee));
    }
    expect(wrong).toEqual([]);
  });

  it("fewer components leave registers alone, and store 0 for what is not given", () => {
    rig.u32(memory.physical, 4).set([0x04030201, 0, 0, 0]);
    for (const [body, count] of [
      ["loadX", 1],
      ["loadXy", 2],
      ["loadXyz", 3],
    ] as const) {
      expect(run(body, 60)).toBeUndefined();
      expect(loaded(0)).toEqual([1, 2, 3, 4].map((value, c) => (c < count ? value : 0xaaaaaaaa)));
    }
    rig.u32(raw.physical, 4).set([0x11, 0x22, 0x33, 0x44]);
    for (const [body, want] of [
      ["storeX", 0x11],
      ["storeXy", 0x2211],
      ["storeXyz", 0x332211],
    ] as const) {
      rig.u32(memory.physical, 1)[0] = 0xffffffff;
      expect(run(body, 60)).toBeUndefined();
      expect(rig.u32(memory.physical, 1)[0]).toBe(want);
    }
  });

  it("16-bit registers hold two components each; one alone leaves the other half", () => {
    // 8_8_8_8_UNORM: 1, 0, 0, 1 as halves; 8_8_8_8_SINT: -1, 2, 3, -128.
    rig.u32(memory.physical, 4).set([0xff0000ff, 0, 0, 0]);
    const gives = (body: Body, format: number) => {
      expect(run(body, format)).toBeUndefined();
      return loaded(0).slice(0, 2);
    };
    expect(gives("loadD16", 56)).toEqual([0x00003c00, 0x3c000000]);
    expect(gives("loadD16X", 56)).toEqual([0xaaaa3c00, 0xaaaaaaaa]);
    expect(gives("loadD16High", 56)).toEqual([0x3c00aaaa, 0xaaaaaaaa]);
    rig.u32(memory.physical, 1)[0] = 0x800302ff;
    expect(gives("loadD16", 61)).toEqual([0x0002ffff, 0xff800003]);
    expect(gives("loadD16Xyz", 61)).toEqual([0x0002ffff, 0xaaaa0003]);
    expect(gives("loadD16Xy", 61)).toEqual([0x0002ffff, 0xaaaaaaaa]);
    // 32_FLOAT 65519.996 is the last that is not inf in binary16; 65520 is a tie that goes up.
    rig.u32(memory.physical, 1)[0] = 0x477fefff;
    expect(gives("loadD16X", 22)[0]).toBe(0xaaaa7bff);
    rig.u32(memory.physical, 1)[0] = 0x477ff000;
    expect(gives("loadD16X", 22)[0]).toBe(0xaaaa7c00);
  });

  it("stores from 16-bit registers", () => {
    rig.u32(raw.physical, 2).set([0x38003c00, 0xbc000000]);
    const leaves = (body: Body, format: number, words: number) => {
      rig.u32(memory.physical, 4).fill(0xffffffff);
      expect(run(body, format)).toBeUndefined();
      return [...rig.u32(memory.physical, words)];
    };
    // 1, 0.5, 0, -1 as floats, and as unorm8 (0.5 * 255 = 127.5 goes to 128).
    expect(leaves("storeD16", 77, 4)).toEqual([0x3f800000, 0x3f000000, 0, 0xbf800000]);
    expect(leaves("storeD16", 56, 1)).toEqual([0x000080ff]);
    expect(leaves("storeD16Xyz", 77, 4)).toEqual([0x3f800000, 0x3f000000, 0, 0]);
    expect(leaves("storeD16Xy", 64, 2)).toEqual([0x3f800000, 0x3f000000]);
    expect(leaves("storeD16X", 22, 1)).toEqual([0x3f800000]);
    expect(leaves("storeD16High", 22, 1)).toEqual([0x3f000000]);
    expect(leaves("storeD16", 69, 2)).toEqual([0x38003c00, 0xbc000000]);
  });

  it("selects components in both directions, and the constants 0 and 1", () => {
    rig.u32(memory.physical, 1)[0] = 0x04030201;
    expect(run("load", 60, { select: [6, 5, 4, 7] })).toBeUndefined();
    expect(loaded(0)).toEqual([3, 2, 1, 4]);
    expect(run("load", 60, { select: [0, 1, 7, 7] })).toBeUndefined();
    expect(loaded(0)).toEqual([0, 1, 4, 4]);
    expect(run("load", 56, { select: [0, 1, 0, 1] })).toBeUndefined();
    expect(loaded(0)).toEqual([0, 0x3f800000, 0, 0x3f800000]);
    rig.u32(raw.physical, 4).set([0x11, 0x22, 0x33, 0x44]);
    expect(run("store", 60, { select: [6, 5, 4, 7] })).toBeUndefined();
    expect(rig.u32(memory.physical, 1)[0]).toBe(0x44112233);
  });

  it("an element past the last reads as zero bits whole, and its store is dropped", () => {
    rig.u32(memory.physical, 256).fill(0xffffffff);
    expect(run("load", 74, { count: 5 })).toBeUndefined();
    for (let lane = 0; lane < 32; lane++) {
      expect(loaded(lane)).toEqual(lane < 5 ? [0xffffffff, 0xffffffff, 0xffffffff, 0x3f800000] : [0, 0, 0, 0x3f800000]);
    }
    rig.u32(raw.physical, 128).fill(0);
    expect(run("store", 74, { count: 5 })).toBeUndefined();
    expect([...rig.u32(memory.physical, 16)]).toEqual(Array.from({ length: 16 }, (_, i) => (i < 15 ? 0 : 0xffffffff)));
    // A descriptor of zeros: everything is outside.
    expect(run("load", 0, { count: 0, select: [0, 0, 0, 0] })).toBeUndefined();
    expect(loaded(3)).toEqual([0, 0, 0, 0]);
  });

  it("a format that is none is not modelled, in range", () => {
    for (const format of [0, 78, 127]) {
      expect(run("load", format)).toMatchObject({ name: "NOT_MODELLED" });
      rig.reset();
    }
  });
});
