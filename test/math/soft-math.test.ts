import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { bitsOf, f32, f64, fmaExact, noise } from "./exact.ts";

type Fn = (...values: number[]) => number;
type Fn64 = (a: number, b: number, c: number) => number;
let math: Record<string, Fn>;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-math-"));
  const out = join(folder, "math.wasm");
  const asc = [
    "node_modules/assemblyscript/bin/asc.js",
    "assembly/base/math/index.ts",
    "--target",
    "release",
    "-o",
    out,
  ];
  execFileSync(process.execPath, asc);
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { instance } = await WebAssembly.instantiate(readFileSync(out), { env: { memory } });
  math = instance.exports as unknown as Record<string, Fn>;
  rmSync(folder, { recursive: true });
});

describe("fmaF32", () => {
  it("equals exact arithmetic on random bits, and on near-halfway and denormal cases", () => {
    const next = noise(0x1234567);
    const fma = math.fmaF32 as Fn;
    const finite = () => {
      for (;;) {
        const x = f32(next());
        if (Number.isFinite(x)) return x;
      }
    };
    const cases: [number, number, number][] = [];
    for (let i = 0; i < 20_000; i++) cases.push([finite(), finite(), finite()]);
    for (let i = 0; i < 20_000; i++) {
      // Product near 1, addend many powers below or above: the double-rounding hazard.
      const a = f32(0x3f800000 | (next() & 0x7fffff));
      const b = f32(0x3f800000 | (next() & 0xfff));
      const c = f32((((next() % 110) + 20) << 23) | (next() & 1 ? 0 : next() & 0x7fffff) | (next() & 0x80000000)) * 1;
      cases.push([a, b, Math.fround(c)]);
    }
    for (let i = 0; i < 10_000; i++)
      cases.push([
        f32(0x1f800000 | (next() & 0xffffff)),
        f32(0x1f800000 | (next() & 0xffffff)),
        f32(next() & 0x800fffff),
      ]);
    for (const [a, b, c] of cases) {
      const want = fmaExact(a, b, c, 24, -149, 128);
      const got = fma(a, b, c);
      if (got !== want) expect([a, b, c, got]).toEqual([a, b, c, want]);
    }
  });

  it("rounds a sum a hair above a tie up, where a double rounding would not", () => {
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: a tie of binary32; 2^-80 decides, and gets lost in binary64.
    const a = f32(0x3f800800);
    expect(bitsOf((math.fmaF32 as Fn)(a, a, 2 ** -80))).toBe(0x3f801001);
    expect(bitsOf((math.fmaF32 as Fn)(a, a, -(2 ** -80)))).toBe(0x3f801000);
    expect(bitsOf((math.fmaF32 as Fn)(a, a, 0))).toBe(0x3f801000);
  });

  it("follows IEEE for infinities and signed zeros", () => {
    const fma = math.fmaF32 as Fn;
    expect(fma(Infinity, 0, 1)).toBeNaN();
    expect(fma(Infinity, 1, -Infinity)).toBeNaN();
    expect(fma(1e38, 1e38, -Infinity)).toBe(-Infinity);
    expect(fma(1e38, 10, 0)).toBe(Infinity);
    expect(fma(-1, 0, -0)).toBe(-0);
    expect(fma(1, 1, -1)).toBe(0);
  });
});

describe("fmaF64", () => {
  it("equals exact arithmetic on random bits", () => {
    const next = noise(99);
    const fma = math.fmaF64 as Fn64;
    const any = () => f64((BigInt(next()) << 32n) | BigInt(next()));
    const near = () => f64((((BigInt(next()) << 32n) | BigInt(next())) & 0x803fffffffffffffn) | 0x3fc0000000000000n);
    const low = () => f64(((BigInt(next()) << 32n) | BigInt(next())) & 0x807fffffffffffffn);
    const mid = () =>
      f64((((BigInt(next()) << 32n) | BigInt(next())) & 0x800fffffffffffffn) | (BigInt(480 + (next() % 64)) << 52n));
    for (let i = 0; i < 20_000; i++) {
      const pick = i % 4;
      const a = pick === 0 ? any() : pick === 3 ? mid() : near();
      const b = pick === 0 ? any() : pick === 3 ? mid() : near();
      const c = pick === 0 ? any() : pick === 1 ? near() : pick === 2 ? near() * 2 ** -((next() % 120) | 0) : low();
      if (![a, b, c].every(Number.isFinite)) continue;
      const want = fmaExact(a, b, c, 53, -1074, 1024);
      const got = fma(a, b, c);
      if (got !== want) expect([a, b, c, got]).toEqual([a, b, c, want]);
    }
  });
});

/** Distance in units in the last place of binary32 between `got` and the true value `want` (a binary64 good to 1e-14). */
function ulps(got: number, want: number): number {
  const step = Math.max(2 ** -149, 2 ** (Math.floor(Math.log2(Math.abs(want))) - 23));
  return Math.abs(got - want) / step;
}

describe("transcendentals", () => {
  it.each([
    ["exp2F32", (x: number) => 2 ** x, (r: number) => (r % 277_999) / 1000 - 150],
    ["log2F32", Math.log2, (r: number) => f32(r & 0x7f7fffff)],
    ["rsqF32", (x: number) => 1 / Math.sqrt(x), (r: number) => f32(r & 0x7f7fffff)],
    ["sqrtF32", Math.sqrt, (r: number) => f32(r & 0x7f7fffff)],
    ["rcpF32", (x: number) => 1 / x, (r: number) => f32((r & 0x7fffff) | 0x3f000000)],
    [
      "sinTurnsF32",
      (x: number) => Math.sin(2 * Math.PI * (x - Math.round(x))),
      (r: number) => ((r % 100_003) / 100_003) * 0.98 + 0.01,
    ],
    [
      "cosTurnsF32",
      (x: number) => Math.cos(2 * Math.PI * (x - Math.round(x))),
      (r: number) => (r % 49_999) / 99_999 / 2.1,
    ],
  ] as const)("%s is within 0.6 ulp of the true value", (name, truth, draw) => {
    const next = noise(7);
    let worst = 0;
    for (let i = 0; i < 20_000; i++) {
      const x = Math.fround(draw(next()));
      const want = truth(x);
      // The references themselves lose relative accuracy next to a zero of the function.
      if (!Number.isFinite(want) || Math.abs(want) < 1e-6) continue;
      worst = Math.max(worst, ulps((math[name] as Fn)(x), want));
    }
    expect(worst).toBeGreaterThan(0);
    expect(worst).toBeLessThan(0.6);
  });

  it("has the documented special values", () => {
    const call = (name: string, x: number) => (math[name] as Fn)(x);
    for (const n of [-149, -126, -1, 0, 1, 10, 127]) expect(call("exp2F32", n)).toBe(2 ** n);
    for (const n of [-149, -126, -1, 0, 1, 10, 127]) expect(call("log2F32", 2 ** n)).toBe(n);
    expect(call("exp2F32", 128)).toBe(Infinity);
    expect(call("exp2F32", -Infinity)).toBe(0);
    expect(call("log2F32", -0)).toBe(-Infinity);
    expect(call("log2F32", -1)).toBeNaN();
    expect(call("log2F32", Infinity)).toBe(Infinity);
    expect(call("rsqF32", 0)).toBe(Infinity);
    expect(call("rsqF32", -0)).toBe(-Infinity);
    expect(call("rsqF32", Infinity)).toBe(0);
    expect(call("rsqF32", -1)).toBeNaN();
    expect(call("sqrtF32", -0)).toBe(-0);
    for (const [x, s, c] of [
      [0, 0, 1],
      [0.25, 1, 0],
      [0.5, 0, -1],
      [0.75, -1, 0],
      [1, 0, 1],
      [256.25, 1, 0],
    ] as const) {
      expect(call("sinTurnsF32", x)).toBe(s);
      expect(call("cosTurnsF32", x)).toBe(c);
    }
    expect(call("sinTurnsF32", -0)).toBe(-0);
    expect(call("sinTurnsF32", Infinity)).toBeNaN();
  });
});

describe("conversions", () => {
  it("binary16 to binary32 is exact for all 65,536 patterns", () => {
    const widen = math.f16ToF32Bits as Fn;
    for (let h = 0; h < 65_536; h++) {
      const exponent = (h >> 10) & 31;
      const fraction = h & 1023;
      const sign = h & 0x8000 ? -1 : 1;
      const want =
        exponent === 31
          ? fraction
            ? Number.NaN
            : sign * Infinity
          : sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
      const got = f32(widen(h) >>> 0);
      if (!Object.is(got, want)) expect([h, got]).toEqual([h, want]);
    }
  });

  it("binary32 to binary16 picks the right neighbour in all four modes", () => {
    const narrow = math.f32ToF16Bits as Fn;
    const widen = (h: number) => f32((math.f16ToF32Bits as Fn)(h) >>> 0);
    const next = noise(5);
    for (let i = 0; i < 20_000; i++) {
      const x = f32((next() & 0x807fffff) | ((100 + (next() % 48)) << 23));
      const up = widen(narrow(bitsOf(x), 1));
      const down = widen(narrow(bitsOf(x), 2));
      const zero = widen(narrow(bitsOf(x), 3));
      const even = widen(narrow(bitsOf(x), 0));
      if (!(up >= x && down <= x) || Math.abs(zero) !== Math.min(Math.abs(up), Math.abs(down))) {
        expect([x, up, down, zero]).toEqual([]);
      }
      if (Number.isFinite(up) && Number.isFinite(down)) {
        const toUp = up - x;
        const toDown = x - down;
        if (toUp !== toDown) {
          if (even !== (toUp < toDown ? up : down)) expect([x, even]).toEqual([up, down]);
        } else if (up !== down) expect(narrow(bitsOf(x), 0) & 1).toBe(0);
        // Neighbours, not just bounds: nothing lies between.
        const step = 2 ** (Math.max(Math.floor(Math.log2(Math.max(Math.abs(zero), 2 ** -14))), -14) - 10);
        if (up !== down && Math.abs(up - down) !== step) expect([x, up, down]).toEqual([]);
      }
    }
    expect(narrow(bitsOf(65_519.996), 0)).toBe(0x7bff);
    expect(narrow(bitsOf(65_520), 0)).toBe(0x7c00);
    expect(narrow(bitsOf(65_520), 3)).toBe(0x7bff);
    expect(narrow(bitsOf(2 ** -25), 0)).toBe(0);
    expect(narrow(bitsOf(2 ** -25), 1)).toBe(1);
    expect(narrow(bitsOf(-(2 ** -140)), 2)).toBe(0x8001);
    expect(narrow(0x7f800001, 0)).toBe(0x7e00);
  });

  it("float to integer truncates, clamps, and maps NaN to 0", () => {
    const toI32 = math.f32ToI32 as Fn;
    const toU32 = (x: number) => (math.f32ToU32 as Fn)(x) >>> 0;
    expect([1.9, -1.9, 3e9, -3e9, Number.NaN, 2147483520].map((x) => toI32(x))).toEqual([
      1, -1, 2147483647, -2147483648, 0, 2147483520,
    ]);
    expect([1.9, -1.9, 3e9, 5e9, Number.NaN].map(toU32)).toEqual([1, 0, 3_000_000_000, 4294967295, 0]);
  });
});

describe("rounding, scaling, ordering", () => {
  it("min and max let a NaN lose and order the zeros", () => {
    const min = (a: number, b: number) => (math.minF32Bits as Fn)(a, b) >>> 0;
    const max = (a: number, b: number) => (math.maxF32Bits as Fn)(a, b) >>> 0;
    expect(min(0x80000000, 0)).toBe(0x80000000);
    expect(min(0, 0x80000000)).toBe(0x80000000);
    expect(max(0x80000000, 0)).toBe(0);
    expect(min(0x7fc12345, 0x3f800000)).toBe(0x3f800000);
    expect(max(0x3f800000, 0xffc00000)).toBe(0x3f800000);
    expect(min(0x7fc12345, 0xffc00000)).toBe(0x7fc00000);
    expect(min(0xbf800000, 0xc0000000)).toBe(0xc0000000);
    expect(max(0xff800000, 1)).toBe(1);
  });

  it("fract stays below 1, ldexp rounds once, frexp splits", () => {
    expect((math.fractF32 as Fn)(-1e-20)).toBe(f32(0x3f7fffff));
    expect((math.fractF32 as Fn)(-0.25)).toBe(0.75);
    expect((math.ldexpF32 as Fn)(f32(0x3f800001), -149)).toBe(2 ** -149);
    expect((math.ldexpF32 as Fn)(f32(0x3fc00000), -150)).toBe(2 ** -149);
    expect((math.ldexpF32 as Fn)(1, -150)).toBe(0);
    expect((math.ldexpF32 as Fn)(2 ** -149, 276)).toBe(2 ** 127);
    expect((math.ldexpF32 as Fn)(1, 0x7fffffff)).toBe(Infinity);
    expect([(math.frexpMantissaF32 as Fn)(-12), (math.frexpExponentF32 as Fn)(-12)]).toEqual([-0.75, 4]);
    expect([(math.frexpMantissaF32 as Fn)(2 ** -149), (math.frexpExponentF32 as Fn)(2 ** -149)]).toEqual([0.5, -148]);
    expect((math.frexpExponentF32 as Fn)(Infinity)).toBe(0);
  });
});
