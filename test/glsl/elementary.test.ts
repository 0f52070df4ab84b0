import { describe, expect, it } from "vitest";
import {
  acos,
  acosh,
  asin,
  asinh,
  atan,
  atan2,
  atanh,
  cos,
  cosh,
  exp,
  log,
  log2,
  pow,
  sin,
  sinh,
  tan,
  tanh,
} from "../../src/glsl/check/elementary.ts";
import { compile, places } from "./tools.ts";

/** Arguments of each function; the runtime's own `Math` is the independent second opinion. */
type Real = (x: number) => number | undefined;
const cases: readonly (readonly [string, Real, Real, readonly number[]])[] = [
  ["exp", exp, Math.exp, [-87, -10.5, -1, -1e-6, 0, 1e-6, 0.5, 1, 2, 10.25, 88]],
  ["log", log, Math.log, [1e-30, 1e-3, 0.5, 0.999999, 1, 1.000001, 1.5, 2, 10, 1e30]],
  ["log2", log2, Math.log2, [0.125, 0.3, 1, 3, 8, 1024, 1e9]],
  ["sin", sin, Math.sin, [-1000, -3.2, -1e-5, 0, 0.5, 1.5707, 3, 6.3, 355, 99999]],
  ["cos", cos, Math.cos, [-1000, -3.2, -1e-5, 0, 0.5, 1.5, 3, 6.3, 355, 99999]],
  ["tan", tan, Math.tan, [-1.4, -0.1, 0, 0.7, 1.5, 4]],
  ["atan", atan, Math.atan, [-1e6, -2, -1, -0.3, 0, 1e-9, 0.41, 0.42, 1, 5, 1e9]],
  ["asin", asin, Math.asin, [-1, -0.999, -0.5, 0, 0.1, 0.7, 1]],
  ["acos", acos, Math.acos, [-1, -0.999, -0.5, 0, 0.1, 0.7, 1]],
  ["sinh", sinh, Math.sinh, [-20, -1, -0.5, -1e-4, 0, 0.4999, 3, 50]],
  ["cosh", cosh, Math.cosh, [-20, -1, 0, 1e-4, 3, 50]],
  ["tanh", tanh, Math.tanh, [-30, -1, -1e-4, 0, 0.3, 2, 25]],
  ["asinh", asinh, Math.asinh, [-1e5, -1, -1e-4, 0, 1e-3, 0.5, 100]],
  ["acosh", acosh, Math.acosh, [1, 1.001, 1.5, 2, 1e6]],
  ["atanh", atanh, Math.atanh, [-0.99, -0.5, -1e-5, 0, 1e-3, 0.3, 0.999]],
];

describe("elementary functions", () => {
  it.each(cases)("%s is within 1e-13 of the runtime's", (name, own, runtime, values) => {
    for (const x of values) {
      const ours = own(x);
      const theirs = runtime(x) ?? Number.NaN;
      const error = Math.abs((ours ?? Number.NaN) - theirs);
      expect(error, `${name}(${x}) = ${ours}, ${theirs}`).toBeLessThanOrEqual(1e-13 * Math.max(1, Math.abs(theirs)));
    }
  });

  it("leaves open what GLSL leaves open", () => {
    expect(pow(-1, 2)).toBeUndefined();
    expect(pow(0, 0)).toBeUndefined();
    expect(asin(1.5)).toBeUndefined();
    expect(atan2(0, 0)).toBeUndefined();
    expect(sin(1e9)).toBeUndefined();
  });
});

/** Conditions that hold by arithmetic on paper; a false or unfolded one makes the array's size -1 or no constant. */
const held = [
  "mod(7.5, 2.0) == 1.5",
  "pow(2.0, 10.0) == 1024.0",
  "exp2(-3.0) == 0.125 && log2(32.0) == 5.0",
  "length(vec2(3.0, 4.0)) == 5.0 && distance(vec3(1, 2, 3), vec3(1, 2, 5)) == 2.0",
  "dot(ivec3(1, 2, 3) * 1.0, vec3(4, 5, 6)) == 32.0",
  "cross(vec3(1, 0, 0), vec3(0, 1, 0)) == vec3(0, 0, 1)",
  "normalize(vec2(0.0, -2.0)) == vec2(0.0, -1.0)",
  "reflect(vec2(1, -1), vec2(0, 1)) == vec2(1, 1)",
  "faceforward(vec2(1), vec2(1), vec2(-1)) == vec2(1)",
  "determinant(mat3(2, 0, 0, 0, 3, 0, 0, 0, 4)) == 24.0",
  "inverse(mat2(2, 0, 0, 4)) == mat2(0.5, 0, 0, 0.25)",
  "transpose(mat2x3(1, 2, 3, 4, 5, 6)) == mat3x2(1, 4, 2, 5, 3, 6)",
  "outerProduct(vec2(1, 2), vec3(3, 4, 5)) == mat3x2(3, 6, 4, 8, 5, 10)",
  "mat2(1, 2, 3, 4) * vec2(5, 6) == vec2(23, 34)",
  "vec2(5, 6) * mat2(1, 2, 3, 4) == vec2(17, 39)",
  "mat2(1, 2, 3, 4) * mat2(5, 6, 7, 8) == mat2(23, 34, 31, 46)",
  "mix(2.0, 4.0, 0.25) == 2.5 && smoothstep(0.0, 4.0, 2.0) == 0.5",
  "bitfieldExtract(-8, 2, 4) == -2 && bitfieldExtract(0xf0u, 4, 2) == 3u",
  "bitfieldInsert(0u, 5u, 4, 3) == 0x50u && bitfieldReverse(1u) == 0x80000000u",
  "findMSB(-1) == -1 && findMSB(16u) == 4 && uintBitsToFloat(0x3f800000u) == 1.0",
] as const;

describe("built-in functions of constants", () => {
  it.each(held)("folds %s", (condition) => {
    expect(
      places(`#version 450\nlayout(local_size_x = 1) in;\nfloat a[${condition} ? 1 : -1];\nvoid main() {}`),
    ).toEqual([]);
  });

  it("folds 64-bit integers beyond 32 bits", () => {
    const condition = "(1l << 40) + 1l == 1099511627777l && (0x100000000l | 1l) == 4294967297l";
    const head = "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n";
    expect(compile(`${head}layout(local_size_x = 1) in;\nfloat a[${condition} ? 1 : -1];\nvoid main() {}`).ok).toBe(
      true,
    );
  });
});
