import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fmaf } from "./float.ts";

/** An f32 as a fraction of two integers: value = mantissa * 2^exponent, exact. */
function exact(value: number): { mantissa: bigint; exponent: number } {
  let exponent = 0;
  let scaled = value;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    exponent--;
  }
  return { mantissa: BigInt(scaled), exponent };
}

/** a*b+c in exact integer arithmetic, as mantissa * 2^exponent. */
function exactFma(a: number, b: number, c: number): { mantissa: bigint; exponent: number } {
  const x = exact(a);
  const y = exact(b);
  const z = exact(c);
  const product = { mantissa: x.mantissa * y.mantissa, exponent: x.exponent + y.exponent };
  const exponent = Math.min(product.exponent, z.exponent);
  const up = (v: { mantissa: bigint; exponent: number }) => v.mantissa << BigInt(v.exponent - exponent);
  return { mantissa: up(product) + up(z), exponent };
}

const next = (value: number, step: 1 | -1): number => {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  view.setInt32(0, view.getInt32(0) + (value > 0 ? step : -step));
  return view.getFloat32(0);
};

describe("fmaf", () => {
  it("gives the nearest f32 of the exact result", () => {
    const f32 = fc
      .integer({ min: -0xffffff, max: 0xffffff })
      .chain((m) => fc.integer({ min: -40, max: 40 }).map((e) => Math.fround(m * 2 ** e)));
    fc.assert(
      fc.property(f32, f32, f32, (a, b, c) => {
        const got = fmaf(a, b, c);
        if (got === 0) return exactFma(a, b, c).mantissa === 0n;
        const distance = (candidate: number) => {
          const want = exactFma(a, b, c);
          const have = exact(candidate);
          const exponent = Math.min(want.exponent, have.exponent);
          const d =
            (want.mantissa << BigInt(want.exponent - exponent)) - (have.mantissa << BigInt(have.exponent - exponent));
          return { d: d < 0n ? -d : d, exponent };
        };
        const here = distance(got);
        return ([1, -1] as const).every((step) => {
          const there = distance(next(got, step));
          const exponent = Math.min(here.exponent, there.exponent);
          return here.d << BigInt(here.exponent - exponent) <= there.d << BigInt(there.exponent - exponent);
        });
      }),
      { numRuns: 2000 },
    );
  });

  it("rounds once where f64 arithmetic would round twice", () => {
    // 1 + 2^-24 is a tie for f32; the product's tail of 2^-80 breaks it upwards, below f64's reach.
    const tail = 2 ** -40;
    expect(Math.fround(1 + 2 ** -24 + tail * tail)).toBe(1);
    expect(fmaf(tail, tail, Math.fround(1))).toBe(1);
    const a = Math.fround(1 + 2 ** -12);
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: a tie below 2^-23; with c = 2^-80 it must go up.
    expect(fmaf(a, a, 2 ** -80)).toBe(Math.fround(1 + 2 ** -11 + 2 ** -23));
    expect(fmaf(a, a, -(2 ** -80))).toBe(Math.fround(1 + 2 ** -11));
  });
});
