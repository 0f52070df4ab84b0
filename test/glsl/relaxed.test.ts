import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { formatDiagnostic } from "../../src/base/index.ts";
import { disassemble } from "../../src/spirv/index.ts";
import { oracle } from "../oracles.ts";
import { bytes, compile, failuresOf, words } from "./tools.ts";

const folder = join(dirname(fileURLToPath(import.meta.url)), "relaxed");
const shaders = readdirSync(folder).map((name) => ({
  name,
  stage: name.endsWith(".vert") ? ("vertex" as const) : ("fragment" as const),
  source: readFileSync(join(folder, name), "utf8"),
}));

/** `OpDecorate name Decoration value` lines by the names that the shader gives. */
function decorations(source: string, stage: "vertex" | "fragment"): string[] {
  const text = disassemble(words(source, { stage, dialect: "relaxed", debugInfo: false }));
  const names = new Map([...text.matchAll(/OpName (%\w+) "(\w+)"/g)].map(([, id, name]) => [id!, name!]));
  return [...text.matchAll(/OpDecorate (%\w+) (Location|Binding) (\d+)/g)]
    .map(([, id, decoration, value]) => `${names.get(id!)} ${decoration} ${value}`)
    .sort();
}

describe("the relaxed dialect", () => {
  it.each(shaders)("$name compiles", ({ source, stage }) => {
    const result = compile(source, { stage, dialect: "relaxed" });
    expect(result.diagnostics.map(formatDiagnostic)).toEqual([]);
    expect(result.ok).toBe(true);
  });

  it.each([
    "#version 300 es\nprecision highp float;\nout vec4 o;\nvoid main() { int texture2D = 1; o = vec4(texture2D); }",
    "#version 330\nuniform vec4 texture3D;\nout vec4 o;\nvoid main() { o = texture3D; }",
  ])("takes a texture type of Vulkan as a name in an older version: %s", (source) => {
    expect(compile(source, { stage: "fragment", dialect: "relaxed" }).diagnostics.map(formatDiagnostic)).toEqual([]);
  });

  it.each(shaders)("$name is not for Vulkan as it stands", ({ source, stage }) => {
    expect(compile(source, { stage }).ok).toBe(false);
  });

  it.skipIf(!oracle("spirv-val"))("gives modules that spirv-val accepts", () => {
    const files = shaders.map(({ name, source, stage }) => ({
      name: `${name}.spv`,
      data: bytes(words(source, { stage, dialect: "relaxed" })),
    }));
    expect(failuresOf("spirv-val --target-env vulkan1.3", files)).toEqual(new Map());
  });

  it("gives what goes from stage to stage the same locations whatever the order", () => {
    const vertex =
      "varying vec2 b; varying mat2 a; attribute vec4 p, q;\nvoid main() { b = p.xy; a = mat2(q); gl_Position = p; }";
    const fragment = "varying mat2 a; varying vec2 b;\nvoid main() { gl_FragColor = vec4(a * b, b); }";
    expect(decorations(vertex, "vertex")).toEqual(["a Location 0", "b Location 2", "p Location 0", "q Location 1"]);
    expect(decorations(fragment, "fragment")).toEqual(["a Location 0", "b Location 2", "gl_FragColor Location 0"]);
  });

  it("gives bindings in source order around those that are given", () => {
    const source =
      "#version 300 es\nprecision highp float;\nuniform sampler2D s, t;\nlayout(binding = 1) uniform sampler2D given;\nuniform vec4 v;\nout vec4 o;\nvoid main() { o = texture(s, v.xy) + texture(t, v.zw) + texture(given, v.xy); }";
    expect(decorations(source, "fragment")).toEqual([
      "LooseUniforms Binding 3",
      "given Binding 1",
      "o Location 0",
      "s Binding 0",
      "t Binding 2",
    ]);
  });
});

describe("Shadertoy's mainImage", () => {
  const source =
    "void mainImage(out vec4 color, in vec2 at) {\n  color = texture2D(iChannel0, at / iResolution.xy) * iTime;\n}";
  const shadertoy = (text: string, more: object = {}) =>
    compile(text, { stage: "fragment", mainImage: true, filename: "toy.frag", ...more });

  it("is a shader by itself, in the relaxed dialect", () => {
    const result = shadertoy(source);
    expect(result.diagnostics).toEqual([]);
    expect(result.ok && disassemble(result.words)).toMatch(/OpMemberName %\d+ 9 "iChannelResolution"/);
    expect(compile(source, { stage: "fragment" }).ok).toBe(false);
  });

  it("counts lines of the source, and names what stands around it", () => {
    const at = (text: string) =>
      shadertoy(text).diagnostics.map(({ file, line, column, code }) => [file, line, column, code]);
    expect(at(source.replace("iTime", "iTim"))).toEqual([["toy.frag", 2, 55, "GLSL_UNDECLARED_NEAR"]]);
    expect(at("#define A \\\n 1\nvoid mainImage(out vec4 c, vec2 p) { c = vec4(A); x; }")).toEqual([
      ["toy.frag", 3, 51, "GLSL_UNDECLARED"],
    ]);
    expect(at("void image() { }")).toEqual([["<mainImage>", 3, 3, "GLSL_UNDECLARED_FUNCTION"]]);
    expect(at("int a;\n")).toEqual([["<mainImage>", 3, 3, "GLSL_UNDECLARED_FUNCTION"]]);
  });

  it("is for fragment shaders", () => {
    expect(shadertoy(source, { stage: "vertex" }).diagnostics.map(({ code }) => code)).toContain("GLSL_BUILTIN_STAGE");
  });
});
