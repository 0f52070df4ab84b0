import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { glslCodes } from "../../src/glsl/index.ts";
import { readModule } from "../../src/spirv/index.ts";
import { compile, places, words } from "./tools.ts";

const head = "#version 450\nlayout(local_size_x = 1) in;\n";
/** Diagnostics of statements in main; the first line of `body` is line 4. */
const inMain = (body: string): string[] => places(`${head}void main() {\n${body}\n}\n`);

describe("places of messages", () => {
  it("gives an undeclared name its own range", () => {
    const result = compile(`${head}void main() {\n  float a = foo + 1.0;\n}\n`);
    expect(result.diagnostics).toEqual([
      {
        severity: "error",
        code: "GLSL_UNDECLARED",
        message: "'foo' is not declared",
        file: "test.comp",
        line: 4,
        column: 13,
        endLine: 4,
        endColumn: 16,
      },
    ]);
  });

  it("counts columns in code points", () => {
    // the comment holds two code points beyond the basic plane, of two code units each
    expect(inMain("/* 🙂🙂 */ x = 1;")).toEqual(["4:10 GLSL_UNDECLARED"]);
  });

  it("counts lines through continuations, carriage returns and comments", () => {
    expect(places(`${head}/* a\n b */\r\nvoid main() {\r\n#define A 1 \\\n + 2\n  int a = A;\n  x;\n}`)).toEqual([
      "9:3 GLSL_UNDECLARED",
    ]);
  });

  it("gives a macro's tokens the place of its use", () => {
    expect(places(`${head}#define BAD undeclared\nvoid main() {\n  int a = BAD;\n}`)).toEqual(["5:11 GLSL_UNDECLARED"]);
  });

  it("follows #line, with a file name", () => {
    const source = `${head}void main() {\n#line 100 "other.glsl"\n  x;\n}`;
    const [first] = compile(source).diagnostics;
    expect(first).toMatchObject({ file: "other.glsl", line: 100, column: 3 });
  });

  it("shows the source-string number of #line, and 0 as the file itself", () => {
    const { diagnostics } = compile(`${head}void main() {\n#line 100 5\n  x;\n#line 7 0\n  y;\n}`);
    expect(diagnostics.map(({ file, line }) => `${file} ${line}`)).toEqual(["test.comp (string 5) 100", "test.comp 7"]);
  });

  it("names the included file", () => {
    const source =
      '#version 450\n#extension GL_GOOGLE_include_directive : require\n#include "lib/a.h"\nvoid main() { f(); }';
    const includes = { "lib/a.h": '#include "b.h"\nvoid f() { x; }', "lib/b.h": "void g() { }" };
    const result = compile(source, { includes });
    expect(result.filesRead).toEqual(["lib/a.h", "lib/b.h"]);
    expect(result.diagnostics.map(({ file, line, column }) => ({ file, line, column }))).toEqual([
      { file: "lib/a.h", line: 2, column: 12 },
    ]);
  });
});

describe("compiles that follow one another", () => {
  it("do not see the blocks of one that ended with errors", () => {
    const open = "layout(binding = 0) buffer In { uint x[];\nuniform sampler2D s; uint b[]; };";
    expect(compile(`${head}${open}\nvoid main() { +; }`).ok).toBe(false);
    expect(places(`${head}void main() {}`)).toEqual([]);
    expect(compile(`${head}${open}\nvoid main() {}`).ok).toBe(false);
    expect(places(`${head}void main() {}`)).toEqual([]);
  });
});

describe("locations", () => {
  it("count two for a dvec3 of a vertex shader's inputs, as Vulkan does", () => {
    const inputs = (location: number) =>
      `#version 450\nlayout(location = 0) in dvec3 a;\nlayout(location = ${location}) in vec4 b;\nvoid main() {}`;
    expect(places(inputs(1), { stage: "vertex" })).toEqual(["3:30 GLSL_LOCATION_OVERLAP"]);
    expect(places(inputs(2), { stage: "vertex" })).toEqual([]);
  });
});

describe("many mistakes in one run", () => {
  it("gives twenty messages for twenty mistakes", () => {
    const mistakes = [
      "int a0 = 1.5;",
      "float a1 = nope;",
      "vec3 a2 = vec3(1.0, 2.0);",
      "bool a3 = 1;",
      "int a4 = 5 5;",
      "a0 = ;",
      "vec2 a6 = vec2(1.0).xyz;",
      "float a7[2]; a7[2] = 1.0;",
      "if (1) { }",
      "undefined_function(3);",
      "float a10 = sin(true);",
      "continue;",
      "const int a12;",
      "int a13 = (1 + 2;",
      "mat2 a14 = mat3(1.0) * mat2(1.0);",
      "return 1;",
      "struct { int x; } a16; a16.y = 1;",
      "gl_LocalInvocationID = uvec3(1u);",
      "Mystery a18;",
      "void a19;",
    ];
    const result = compile(`${head}void main() {\n${mistakes.join("\n")}\n}\n`);
    expect(result.ok).toBe(false);
    expect(result.diagnostics.map(({ line }) => line - 4)).toEqual(mistakes.map((_, at) => at));
  });

  it("recovers at declarations too", () => {
    const source = `${head}int a = ;\nfloat f( { }\nvoid g() { int b = ; }\nvec2 h = 1.0;\nvoid main() { x; }\n`;
    expect(places(source).map((place) => place.split(":")[0])).toEqual(["3", "4", "5", "6", "7"]);
  });

  it("keeps at most the number asked for", () => {
    const body = Array.from({ length: 150 }, (_, at) => `int v${at} = 1.5;`).join("\n");
    expect(compile(`${head}void main() {\n${body}\n}`).diagnostics).toHaveLength(100);
    expect(compile(`${head}void main() {\n${body}\n}`, { maxDiagnostics: 7 }).diagnostics).toHaveLength(7);
  });

  it("reports every use of an unknown name", () => {
    expect(inMain("x = 1;\nx = 2;\nint y = x;\nint z = y + y;")).toEqual([
      "4:1 GLSL_UNDECLARED",
      "5:1 GLSL_UNDECLARED",
      "6:9 GLSL_UNDECLARED",
    ]);
  });

  it("gives twenty messages for one name misspelt in twenty statements", () => {
    const lines = Array.from({ length: 20 }, (_, at) => at + 4);
    const variable = lines.map((line) => `float a${line} = 2.0 * radus.x + 1;`).join("\n");
    expect(inMain(variable)).toEqual(lines.map((line) => `${line}:${line < 10 ? 18 : 19} GLSL_UNDECLARED`));
    const call = lines.map((line) => `vec3 b${line} = normalise(vec3(1.0)).xyz;`).join("\n");
    expect(inMain(call)).toEqual(lines.map((line) => `${line}:${line < 10 ? 11 : 12} GLSL_UNDECLARED_FUNCTION_NEAR`));
  });

  it("keeps the limit when one name is unknown very often", () => {
    expect(inMain("x = y;\n".repeat(20_000))).toHaveLength(100);
  });

  it("makes no second message of a broken declaration", () => {
    expect(inMain("int broken = ;\nbroken = 3;\nUnknown u;\nu.x = 1;\nint b = u + broken;")).toEqual([
      "4:14 GLSL_SYNTAX",
      "6:1 GLSL_UNKNOWN_TYPE",
    ]);
  });

  it("makes no second message of a subgroup function whose extension lacks", () => {
    const source = `#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(binding = 0) buffer B { int64_t r[]; };
void main() { r[0] = subgroupAdd(r[1]); }`;
    expect(places(source)).toEqual(["5:22 GLSL_NEEDS_EXTENSION"]);
  });

  it("goes on behind a broken list", () => {
    expect(inMain("float a[2] = { 1.0, @ }, b;\nx;\n{ float c[] = { { 1.0 ] } }; y; }\nz;")).toEqual([
      "4:21 GLSL_BAD_CHARACTER",
      "5:1 GLSL_UNDECLARED",
      "6:23 GLSL_SYNTAX",
      "6:30 GLSL_UNDECLARED",
      "7:1 GLSL_UNDECLARED",
    ]);
  });

  it("warns of text behind a directive in the relaxed dialect only", () => {
    const source = "#version 450\n#ifdef A\n#ifdef B\n#endif B\n#else A\n#endif A\nvoid main() { }";
    const found = (dialect: "vulkan" | "relaxed") =>
      compile(source, { dialect }).diagnostics.map(({ severity, line }) => `${severity} ${line}`);
    expect(found("relaxed")).toEqual(["warning 4", "warning 5", "warning 6"]);
    expect(found("vulkan")).toEqual(["error 4", "error 5", "error 6"]);
  });
});

describe("help", () => {
  const message = (body: string, globals = ""): string | undefined =>
    compile(`${head}${globals}void main() {\n${body}\n}\n`).diagnostics[0]?.message;

  it("suggests names", () => {
    expect(message("float radius = 1.0; radus = 2.0;")).toBe("'radus' is not declared; did you mean 'radius'?");
    expect(message("uvec3 a = gl_GlobalInvocationId;")).toContain("did you mean 'gl_GlobalInvocationID'?");
    expect(message("float a = normalise(1.0);")).toContain("did you mean 'normalize'?");
    expect(message("flaot a;")).toBe("'flaot' is no type; did you mean 'float'?");
    expect(message("S s; s.colour = 1.0;", "struct S { float color; };\n")).toContain("did you mean 'color'?");
  });

  it("says which stage has a built-in variable", () => {
    const vertex = compile("#version 450\nvoid main() {\n  uint a = gl_GlobalInvocationID.x;\n}\n", {
      stage: "vertex",
    });
    expect(vertex.diagnostics).toMatchObject([
      {
        code: "GLSL_BUILTIN_STAGE",
        message: "'gl_GlobalInvocationID' exists in compute shaders, and this is a vertex shader",
        line: 3,
        column: 12,
      },
    ]);
    expect(message("float a = gl_ClipDistance[0];")).toBe(
      "'gl_ClipDistance' exists in vertex and fragment shaders, and this is a compute shader",
    );
    expect(message("uint a = gl_SubgroupSize;")).toBe(
      "'gl_SubgroupSize' needs #extension GL_KHR_shader_subgroup_basic",
    );
  });

  it("shows the previous declaration", () => {
    const [first] = compile(`${head}void main() {\n  int a;\n  float a;\n}`).diagnostics;
    expect(first).toMatchObject({ code: "GLSL_REDEFINED", line: 5, column: 9 });
    expect(first?.notes).toMatchObject([{ message: "previous declaration", line: 4, column: 7 }]);
  });

  it("shows the candidates of a call", () => {
    const [first] = compile(
      `${head}void f(float a) { }\nvoid f(int a, int b) { }\nvoid main() {\n  f(true);\n}`,
    ).diagnostics;
    expect(first).toMatchObject({
      code: "GLSL_NO_OVERLOAD",
      message: "no overload of 'f' takes (bool)",
      line: 6,
      column: 3,
    });
    expect(first?.notes?.map(({ message, line }) => `${line}: ${message}`)).toEqual([
      "3: candidate: void f(float): argument 1 is bool, not float",
      "4: candidate: void f(int, int): it takes 2 arguments, not 1",
    ]);
  });

  it("shows the nearest overloads of a built-in function, at the call", () => {
    const [first] = compile(`${head}void main() {\n  vec3 a = cross(vec2(1), vec3(1));\n}`).diagnostics;
    expect(first?.notes?.map(({ message, line }) => `${line}: ${message}`)).toEqual([
      "4: candidate: vec3 cross(vec3, vec3): argument 1 is vec2, not vec3",
      "4: candidate: dvec3 cross(dvec3, dvec3): argument 1 is vec2, not dvec3",
    ]);
  });

  it("warns and still compiles", () => {
    const result = compile(`${head}#extension GL_nothing : enable\nvoid main() { int a__b = 1; }`);
    expect(result.ok).toBe(true);
    expect(result.diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      "warning GLSL_UNKNOWN_EXTENSION",
      "warning GLSL_RESERVED_NAME",
    ]);
  });
});

describe("limits", () => {
  it("names nesting that is too deep, in any form", () => {
    const deep = 5000;
    for (const body of [
      `int a = ${"(".repeat(deep)}1${")".repeat(deep)};`,
      `int a = ${"-".repeat(2 * deep).replaceAll("--", "- ")}1;`,
      "{".repeat(deep) + "}".repeat(deep),
      `int a = ${"true ? 1 : ".repeat(deep)}1;`,
      `${"if (true) ".repeat(deep)};`,
      `${"for (;;) ".repeat(deep)};`,
      `int a; ${"a = ".repeat(deep)}1;`,
      `float a[1] = ${"{".repeat(deep)}${"}".repeat(deep)};`,
      `int a = b${"[0]".repeat(deep)};`,
    ]) {
      expect(inMain(body).map((place) => place.split(" ")[1])).toContain("GLSL_NESTING");
    }
  });

  it("takes control flow as deep as SPIR-V does", () => {
    const nests = [
      ["if (a > 0) { a++; ", "}"],
      ["if (a > 0) ; else { a++; ", "}"],
      ["for (int b = 0; b < a; b++) { a -= b; ", "}"],
      ["while (a > 0) { a--; ", "}"],
      ["do { a--; ", "} while (a > 0);"],
      ["switch (a) { case 1: break; default: a++; ", "}"],
      ["{ int a = 1; ", "}"],
    ] as const;
    for (const [open, close] of nests) {
      expect(inMain(`int a = 1; ${open.repeat(1023)}${close.repeat(1023)}`)).toEqual([]);
    }
    expect(inMain("if (true) {".repeat(1051) + "}".repeat(1051))).toEqual([`4:${11 * 1049 + 5} GLSL_NESTING`]);
  });

  it("names the deepest bracket where the stack ends before the limit, and compiles the next source", async () => {
    const nest = (depth: number) =>
      `${head}void main() { int a = 1;\n${"if (a > 0) {".repeat(depth)}${"}".repeat(depth)} }`;
    const script = `
      const { parentPort, workerData } = require("node:worker_threads");
      import(workerData.module).then(async ({ createLocalCompiler, defaultRequest }) => {
        const compiler = createLocalCompiler();
        const answers = [];
        for (const source of workerData.sources) {
          const { ok, diagnostics } = await compiler.compile({ ...defaultRequest, filename: "a.comp", language: "glsl", stage: "compute", source });
          answers.push(ok ? "good" : diagnostics.map(({ code, line, column }) => [code, line, column].join(" ")).join());
        }
        parentPort.postMessage(answers);
      });`;
    const module = new URL("../../dist/index.js", import.meta.url).href;
    const worker = new Worker(script, {
      eval: true,
      workerData: { module, sources: [nest(1000), nest(10)] },
      resourceLimits: { stackSizeMb: 0.3 },
    });
    const [answers] = await once(worker, "message");
    await worker.terminate();
    expect(answers).toEqual([`GLSL_NESTING 4 ${12 * 999 + 4}`, "good"]);
  });

  it("takes else-ifs and operators without end, parentheses and calls 500 deep", () => {
    expect(inMain(`int a = 1; ${"if (a == 1) a = 2; else ".repeat(10_000)} a = 3;`)).toEqual([]);
    expect(inMain(`int a = 1; a = a${" + a".repeat(10_000)};`)).toEqual([]);
    expect(inMain(`int a = 1; a = ${"(a + ".repeat(500)}a${")".repeat(500)};`)).toEqual([]);
    expect(inMain(`int a = 1; a = ${"min(a, ".repeat(500)}a${")".repeat(500)};`)).toEqual([]);
  });

  it("takes chains as long as the source has them", () => {
    const long = 20000;
    expect(inMain(`int b = 1; int a = b${" + b".repeat(long)};`)).toEqual([]);
    expect(inMain(`bool b = true; bool a = b${" && b".repeat(long)};`)).toEqual([]);
    expect(
      inMain(`int b = 1; ${Array.from({ length: 2000 }, (_, at) => `if (b == ${at}) b = 2; else `).join("")};`),
    ).toEqual([]);
  });

  it("stops macros that explode", () => {
    const doubling = Array.from({ length: 40 }, (_, at) => `#define M${at + 1} M${at} M${at}\n`).join("");
    expect(places(`${head}#define M0 1\n${doubling}void main() { int a = M40; }`)).toEqual([
      "44:23 GLSL_EXPANSION_TOO_LARGE",
    ]);
    const many = "x ".repeat(2000);
    const wide = `#define A(x) ${many}\n#define B(x) A(A(A(A(x))))\n`;
    expect(places(`${head}${wide}void main() { int a = B(1); }`)).toEqual(["5:25 GLSL_EXPANSION_TOO_LARGE"]);
    const twice = `#define D(x) x x\nvoid main() {\nint ${"D(".repeat(60)}a${")".repeat(60)};\n}`;
    expect(places(`${head}${twice}`)).toEqual(["5:125 GLSL_EXPANSION_TOO_LARGE"]);
    const condition = `#if M40 1\n#endif\n`;
    expect(places(`${head}#define M0 1 +\n${doubling}${condition}void main() { }`)).toEqual([
      "44:5 GLSL_EXPANSION_TOO_LARGE",
    ]);
    // the seventeenth from inside makes 2^17 characters
    const paste = `#define P(x) x##x\n#define Q(x) P(x)\n`;
    const nested = `${"Q(".repeat(60)}a${")".repeat(60)}`;
    expect(places(`${head}${paste}void main() {\nint ${nested};\n}`)).toEqual(["6:91 GLSL_PASTE_TOO_LONG"]);
  });

  it("stops includes that multiply", () => {
    const top =
      '#version 450\n#extension GL_GOOGLE_include_directive : require\n#include "f0"\nvoid main() { nothing; }';
    const chain = (text: string): Record<string, string> =>
      Object.fromEntries(
        Array.from({ length: 50 }, (_, at) => [`f${at}`, `${text}\n#include "f${at + 1}"\n#include "f${at + 1}"\n`]),
      );
    const small = compile(top, { includes: { ...chain(""), f50: "" } });
    expect(small.diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      "GLSL_INCLUDE_COUNT more than 10000 files are included, repeats counted",
    ]);
    const large = compile(top, { includes: { ...chain("int a;".repeat(20_000)), f50: "" } });
    expect(large.diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      "GLSL_INCLUDE_TEXT the included files have more than 4194304 characters in all",
    ]);
  });

  it("takes many includes of a small file", () => {
    const top = `#version 450\n#extension GL_GOOGLE_include_directive : require\n${'#include "a"\n'.repeat(10_000)}`;
    expect(places(`${top}void main() { }`, { includes: { a: "\n" } })).toEqual([]);
    expect(places(`${top}#include "a"\nvoid main() { }`, { includes: { a: "\n" } })).toEqual([
      "10003:2 GLSL_INCLUDE_COUNT",
    ]);
  });

  it("stops includes that include themselves", () => {
    const source = '#version 450\n#extension GL_GOOGLE_include_directive : require\n#include "a"\nvoid main() { }';
    expect(places(source, { includes: { a: '#include "a"\n' } })).toEqual(["1:2 GLSL_INCLUDE_DEPTH"]);
  });

  it("refuses types that nest too deep", () => {
    const codesOf = (found: string[]): Set<string | undefined> => new Set(found.map((place) => place.split(" ")[1]));
    const structs = Array.from({ length: 1000 }, (_, at) => `struct S${at + 1} { S${at} a; };`).join("\n");
    const source = `${head}struct S0 { float a; };\n${structs}\nS1000 s;\nvoid main() { }`;
    expect(codesOf(places(source))).toEqual(new Set(["GLSL_NESTING"]));
    expect(codesOf(inMain(`int a${"[1]".repeat(1000)};`))).toEqual(new Set(["GLSL_NESTING"]));
  });

  it("refuses values of millions of components", () => {
    expect(inMain("float a[1000000], b[1000000];\na = b;\nbool c = a == b;")).toEqual([
      "5:5 GLSL_VALUE_TOO_LARGE",
      "6:10 GLSL_VALUE_TOO_LARGE",
      "6:15 GLSL_VALUE_TOO_LARGE",
    ]);
  });

  it("refuses constants that double without end", () => {
    const structs = Array.from({ length: 30 }, (_, at) => `struct S${at + 1} { S${at} a, b; };`).join("\n");
    const values = Array.from(
      { length: 30 },
      (_, at) => `const S${at + 1} v${at + 1} = S${at + 1}(v${at}, v${at});`,
    ).join("\n");
    const source = `${head}struct S0 { float a; };\nconst S0 v0 = S0(1.0);\n${structs}\n${values}\nvoid main() { }`;
    expect(places(source).map((place) => place.split(" ")[1])).toContain("GLSL_CONSTANT_TOO_LARGE");
  });
});

describe("what is too large for one SPIR-V instruction", () => {
  const body = (text: string): string => `${head}layout(set = 0, binding = 0) buffer B { uint b; };\n${text}`;
  const cases = (count: number): string => {
    const list = Array.from({ length: count }, (_, at) => `case ${at}:`).join("\n");
    return body(`void main() {\nswitch (int(b)) {\n${list}\nb = 1u;\n}\n}\n`);
  };

  it("takes the longest switch and refuses one case more", () => {
    // the word count, the selector and the default take 3 of 65,535 words, a case takes 2
    expect(places(cases(32_766))).toEqual([]);
    const result = compile(cases(32_767));
    expect(result.ok).toBe(false);
    expect(result.diagnostics).toMatchObject([{ code: "GLSL_TOO_LONG", line: 5, column: 1 }]);
    expect(result.diagnostics[0]?.message).toContain("(OpSwitch) of 65537 words, and at most 65535 fit");
    expect(places(cases(150_000), { debugInfo: false })).toEqual(["5:1 GLSL_TOO_LONG"]);
  });

  it("refuses a struct of too many members where it is used", () => {
    const members = Array.from({ length: 70_000 }, (_, at) => `int m${at};`).join("");
    const source = body(`struct S { ${members} };\nvoid main() {\nS s;\ns.m7 = 1;\nb = uint(s.m7);\n}\n`);
    const [first, ...more] = places(source);
    expect(first).toMatch(/^[67]:\d+ GLSL_TOO_LONG$/);
    expect(more).toEqual([]);
  });

  it("refuses a function of too many parameters at its declaration", () => {
    const parameters = Array.from({ length: 70_000 }, (_, at) => `int p${at}`).join();
    const source = body(`void f(${parameters}) { b = 2u; }\nvoid main() {\nf(${"1,".repeat(69_999)}1);\n}\n`);
    expect(places(source)).toEqual(["4:6 GLSL_TOO_LONG"]);
  });

  it("refuses an array of too many elements where it is made", () => {
    // the word count, the type and the result take 3 of 65,535 words
    const made = (count: number): string =>
      body(`void main() {\nuint x = b;\nuint a[] = uint[](${"x,".repeat(count - 1)}x);\nb = a[x];\n}\n`);
    expect(places(made(65_532))).toEqual([]);
    expect(places(made(65_533))).toEqual(["6:6 GLSL_TOO_LONG"]);
  });

  it("cuts names that do not fit", () => {
    const name = "n".repeat(262_200);
    const result = words(body(`struct S { int ${name}; };\nvoid main() { S ${name}; ${name}.${name} = 1; b = 1u; }\n`));
    const read = readModule(result);
    expect(read.ok).toBe(true);
  });
});

describe("the code table", () => {
  it("has lower-case sentences without a full stop", () => {
    for (const [code, { text }] of Object.entries(glslCodes)) {
      expect(code).toMatch(/^GLSL_[A-Z_0-9]+$/);
      expect(text).not.toMatch(/^[A-Z]|\.$/);
    }
  });
});
