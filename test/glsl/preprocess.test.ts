import { describe, expect, it } from "vitest";
import { compileGlsl } from "../../src/glsl/index.ts";
import { places, words } from "./tools.ts";

const head = "#version 450\nlayout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer B { int o; };\n";
/** Whether two ways of writing `o = …;` give the same module, lines left out. */
function same(first: string, second: string): void {
  const one = words(`${head}${first}`, { debugInfo: false });
  const other = words(`${head}${second}`, { debugInfo: false });
  expect(one).toEqual(other);
}
const value = (text: string): string => `void main() { o = ${text}; }`;

describe("macros", () => {
  it.each([
    ["#define A 3\n", "A", "3"],
    ["#define A B\n#define B 4\n", "A", "4"],
    ["const int A = 5;\n#define A A + 1\n", "A", "A + 1", "const int A = 5;\n"],
    ["#define F(x) ((x) * 2)\n", "F(3 + 1)", "((3 + 1) * 2)"],
    ["#define F(x) x\n", "F(F(F(7)))", "7"],
    ["#define F(x, y) x - y\n", "F((1, 2), 3)", "(1, 2) - 3"],
    ["#define F() 9\n", "F()", "9"],
    ["#define F(x) 1 + x\n#define G F\n", "G(2)", "1 + 2"],
    ["#define CAT(a, b) a##b\n", "CAT(1, 2)", "12"],
    ["#define CAT(a, b) a ## b\n#define XY 6\n", "CAT(X, Y)", "6"],
    ["#define CAT(a, b) a##b\n", "CAT(, 5)", "5"],
    ["#define F(x) x\n", "F (\n8\n)", "8"],
    ["#define A 1\n#undef A\n#define A 2\n", "A", "2"],
    ["const int F = 3;\n#define F(x) (x)\n", "F + F(1)", "F + (1)", "const int F = 3;\n"],
  ])("%s %s", (macros, use, plain, rest = "") => {
    same(`${macros}${value(use)}`, `${rest}${value(plain)}`);
  });

  it("has the line, the version and the file number", () => {
    same(`${value("__LINE__")}`, value("4"));
    same(`#line 20\n${value("__LINE__ + __VERSION__")}`, value("20 + 450"));
    same(value("__FILE__ + VULKAN"), value("0 + 100"));
  });

  it("takes definitions of the request", () => {
    const source = `${head}#ifdef N\n${value("N + F(2)")}\n#endif`;
    const result = compileGlsl({
      source,
      filename: "a",
      stage: "compute",
      defines: { N: "5", "F(x)": "x * 3" },
      debugInfo: false,
    });
    expect(result.ok && result.words).toEqual(words(`${head}${value("5 + 2 * 3")}`, { debugInfo: false }));
  });
});

describe("definitions of the request", () => {
  it.each(["", "A B", "A\n#error x", "1A", "A(x", "#"])("have a name that is a macro's: not %j", (name) => {
    const source = `${head}void main() { }`;
    const result = compileGlsl({ source, filename: "a", stage: "compute", defines: { [name]: "1" } });
    expect(result.ok ? [] : result.diagnostics.map((d) => `${d.file} ${d.code}`)).toEqual([
      "<defines> GLSL_BAD_MACRO_NAME",
    ]);
  });
});

describe("conditions", () => {
  it.each([
    ["1 + 2 * 3 == 7", true],
    ["(1 + 2) * 3 == 7", false],
    ["-1 < 0 && !0", true],
    ["0x10 == 16 && 010 == 8", true],
    ["1 << 4 == 16 || 1 / 0", true],
    ["5 % 3 == 2 && (6 & 3) == 2 && (4 | 1) == 5 && (7 ^ 2) == 5 && ~0 == -1", true],
    ["defined A", true],
    ["defined(A) && !defined(B)", true],
    ["A > 2", true],
    ["UNKNOWN", false],
  ])("%s is %s", (condition, expected) => {
    if (condition.includes("/ 0")) {
      expect(places(`${head}#if ${condition}\n#endif\nvoid main() { }`)).toEqual(["4:23 GLSL_DIVIDE_BY_ZERO"]);
      return;
    }
    same(`#define A 3\n#if ${condition}\n${value("1")}\n#else\n${value("2")}\n#endif`, value(expected ? "1" : "2"));
  });

  it("picks one of many groups", () => {
    const groups = (n: number): string =>
      `#define N ${n}\n#if N == 0\n${value("0")}\n#elif N == 1\n${value("1")}\n#elif N == 2\n${value("2")}\n#else\n${value("9")}\n#endif`;
    for (const [n, picked] of [
      [0, 0],
      [1, 1],
      [2, 2],
      [5, 9],
    ] as const)
      same(groups(n), value(String(picked)));
  });

  it("reads nothing in a skipped group, whatever stands there", () => {
    same(`#if 0\n#error no\n'" @ $ #bad\n#if 1\n#else\n#endif\n#elif 0\n#else\n${value("1")}\n#endif`, value("1"));
  });
});

describe("## as the reference has it", () => {
  it("stands at the edge of a macro that nobody uses", () => {
    same(`#define A ## b\n#define B(x) x##\n${value("1")}`, value("1"));
  });
  it("joins words of an argument that no space of the source parts", () => {
    const macros = "#define P(x, y) x##y\n#define Q(x, y) P(x, y)\n#define TAIL b c";
    same(`${macros}\nint Q(a, TAIL) = 3;\n${value("abc")}`, `int abc = 3;\n${value("abc")}`);
    expect(places(`${head}#define P(x, y) x##y\nint P(a, b c) = 3;\nvoid main() { }`)).not.toEqual([]);
  });
});

describe("mistakes", () => {
  it.each([
    ["#if 1", "4:2 GLSL_UNTERMINATED_IF"],
    ["#else", "4:2 GLSL_UNMATCHED_DIRECTIVE"],
    ["#elif 1", "4:2 GLSL_UNMATCHED_DIRECTIVE"],
    ["#endif", "4:2 GLSL_UNMATCHED_DIRECTIVE"],
    ["#if 1\n#else\n#else\n#endif", "6:2 GLSL_ELSE_AFTER_ELSE"],
    ["#if 0\n#else\n#elif 1\n#endif", "6:2 GLSL_ELSE_AFTER_ELSE"],
    ["#error this is wrong", "4:2 GLSL_ERROR_DIRECTIVE"],
    ["#frobnicate", "4:2 GLSL_BAD_DIRECTIVE"],
    ["#define 3", "4:2 GLSL_NO_MACRO_NAME"],
    ["#define defined 3", "4:9 GLSL_BAD_MACRO_NAME"],
    ["#define F(a b) a", "4:13 GLSL_BAD_MACRO_PARAMETERS"],
    ["#define F(a, a) a", "4:14 GLSL_DUPLICATE_PARAMETER"],
    ["#define A ## b\nint x = A;", "5:9 GLSL_PASTE_AT_EDGE"],
    ["#define A(x) b##\nint x = A(1);", "5:9 GLSL_PASTE_AT_EDGE"],
    ["#define A 1\n#define A 2", "5:9 GLSL_MACRO_REDEFINED"],
    ["#define F(a) a\nint x = F(1, 2);", "5:9 GLSL_MACRO_ARGUMENTS"],
    ["#define F(a) a\nint x = F(1;", "5:9 GLSL_MACRO_UNTERMINATED"],
    ["#define P(a, b) a##b\nint x = P(+, 1);", "5:9 GLSL_BAD_PASTE"],
    ["#version 450", "4:1 GLSL_VERSION_NOT_FIRST"],
    ["#extension GL_EXT_whatever : require", "4:12 GLSL_UNKNOWN_EXTENSION"],
    ["#extension GL_EXT_whatever", "4:12 GLSL_BAD_EXTENSION"],
    ["#line x", "4:7 GLSL_BAD_LINE"],
    ['#include "a"', "4:2 GLSL_INCLUDE_NOT_ENABLED"],
    ["#if 1 +\n#endif", "4:7 GLSL_BAD_CONDITION"],
    ["#if defined\n#endif", "4:5 GLSL_BAD_CONDITION"],
  ])("%s", (text, place) => {
    expect(places(`${head}${text}\nvoid main() { }`)[0]).toBe(place);
  });

  it("wants a version", () => {
    expect(places("void main() { }")).toEqual(["1:1 GLSL_NO_VERSION"]);
    expect(places("#version 130\nvoid main() { }")).toEqual(["1:10 GLSL_UNSUPPORTED_VERSION"]);
    expect(places("#version 450 basic\nvoid main() { }")).toEqual(["1:10 GLSL_BAD_VERSION"]);
  });

  it("finds no include that is not there", () => {
    const source =
      "#version 450\n#extension GL_GOOGLE_include_directive : enable\n#include <missing.h>\nvoid main() { }";
    expect(places(source)).toEqual(["3:2 GLSL_INCLUDE_NOT_FOUND"]);
  });
});
