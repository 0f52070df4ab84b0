import { describe, expect, it } from "vitest";
import { Op } from "../../src/spirv/index.ts";
import { compile, words } from "./tools.ts";

const head = `#version 460
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer B { int64_t i; uint64_t u; double d; float f; bool b; int n; };
const int64_t a = 9007199254740993L;
const uint64_t m = 0xffffffffffffffffUL;
const int64_t low = -9223372036854775807L - 1L;
`;

/** Bits of the constant that the only store of the shader writes; undefined where it writes anything else. */
function stored(statement: string): bigint | undefined {
  const module = words(`${head}void main() { ${statement} }`);
  const constants = new Map<number, bigint>();
  const found: (bigint | undefined)[] = [];
  for (let at = 5; at < module.length; at += module[at]! >>> 16) {
    const op = module[at]! & 0xffff;
    const high = module[at]! >>> 16 > 4 ? BigInt(module[at + 4]!) : 0n;
    if (op === Op.OpConstant) constants.set(module[at + 2]!, (high << 32n) | BigInt(module[at + 3]!));
    if (op === Op.OpStore) found.push(constants.get(module[at + 2]!));
  }
  expect(found).toHaveLength(1);
  return found[0];
}

describe("64-bit integer constants", () => {
  // 2^53 is 0x20000000000000, so that a = 2^53 + 1 is no binary64 number
  it.each<[string, bigint]>([
    ["i = a;", 0x20000000000001n],
    ["i = a + 1L;", 0x20000000000002n],
    ["i = -a;", 0xffdfffffffffffffn],
    ["i = ~a;", 0xffdffffffffffffen],
    ["i = a * 3L;", 0x60000000000003n],
    ["i = a << 11;", 0x800n],
    ["i = a << 10;", 0x8000000000000400n],
    ["i = low >> 62;", 0xfffffffffffffffen],
    ["u = m >> 62;", 3n],
    ["u = m / 3UL;", 0x5555555555555555n],
    ["u = m % 10UL;", 5n],
    ["u = m + 2UL;", 1n],
    ["u = m * m;", 1n],
    ["u = -1UL;", 0xffffffffffffffffn],
    ["i = low / 3L;", 0xd555555555555556n],
    ["i = (a | 6L) ^ 1L;", 0x20000000000006n],
    ["i = int64_t(m);", 0xffffffffffffffffn],
    ["u = uint64_t(low);", 0x8000000000000000n],
    ["u = uint64_t(-2);", 0xfffffffffffffffen],
    ["n = int(a);", 1n],
    ["i = i64vec2(3L, a).y;", 0x20000000000001n],
    ["i = int64_t[2](a, low)[1];", 0x8000000000000000n],
    ["i = a > 5L ? low : 1L;", 0x8000000000000000n],
    ["n = a == 9007199254740992L ? 1 : 2;", 2n],
    ["n = int[a > 5L ? 2 : 3](7, 8)[1];", 8n],
    ["i = abs(-a);", 0x20000000000001n],
    ["i = max(low, -a);", 0xffdfffffffffffffn],
    // to doubles: halfway between 2^53 and 2^53 + 2, to even; 2^64
    ["d = double(a);", 0x4340000000000000n],
    ["d = double(m);", 0x43f0000000000000n],
    ["d = double(a + 2L);", 0x4340000000000002n],
    // 2^60 + 2^36 + 1 is above the middle of two floats, which rounding to a double first would lose
    ["f = float(0x1000001000000001L);", 0x5d800001n],
    ["f = float(0x1000001000000000L);", 0x5d800000n],
    ["f = float(m);", 0x5f800000n],
    ["i = int64_t(9007199254740996.0lf);", 0x20000000000004n],
    ["u = uint64_t(1.8e19lf);", 18000000000000000000n],
  ])("%s", (statement, bits) => {
    expect(stored(statement)).toBe(bits);
  });

  it("leaves to the machine what has no value", () => {
    expect(stored("i = a / 0L;")).toBeUndefined();
    expect(stored("i = a << 64;")).toBeUndefined();
    expect(stored("i = int64_t(1e30lf);")).toBeUndefined();
  });

  it("gives specialisation constants a wide default", () => {
    const source = `${head}layout(constant_id = 3) const int64_t s = 9007199254740993L;\nvoid main() { i = s; }`;
    const module = words(source);
    const wide: number[][] = [];
    for (let at = 5; at < module.length; at += module[at]! >>> 16) {
      if ((module[at]! & 0xffff) === Op.OpSpecConstant) wide.push([...module.subarray(at + 3, at + 5)]);
    }
    expect(wide).toEqual([[1, 0x200000]]);
  });

  it("refuses literals of more than 64 bits", () => {
    const result = compile(`${head}void main() { u = 0x10000000000000000UL; }`);
    expect(result.diagnostics.map(({ line, column, code }) => `${line}:${column} ${code}`)).toEqual([
      "8:19 GLSL_LITERAL_TOO_LARGE",
    ]);
  });
});
