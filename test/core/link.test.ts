import { beforeAll, describe, expect, it } from "vitest";
import { type CompileRequest, defaultRequest, readCodeObject } from "../../src/codeobj/index.ts";
import { type CompileOutcome, compileShader } from "../../src/compile/index.ts";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { disassemble } from "../../src/isa/index.ts";
import { opName } from "../../src/spirv/index.ts";

/** Vertex and fragment sources linked into one pipeline: what each stage becomes. */
describe("linked stages", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true, opName });
  });

  const request = (stage: "vertex" | "fragment", source: string, level: 0 | 1 | 2 = 2): CompileRequest => ({
    ...defaultRequest,
    language: /^;/.test(source) ? "spirv-asm" : "glsl",
    stage,
    source,
    filename: `a.${stage}`,
    options: { ...defaultRequest.options, optimization: level },
  });
  function pair(vertex: string, fragment: string, level: 0 | 1 | 2 = 2): readonly [CompileOutcome, CompileOutcome] {
    const [v, f] = [request("vertex", vertex, level), request("fragment", fragment, level)];
    return [compileShader({ ...v, linked: f }, core), compileShader({ ...f, linked: v }, core)];
  }
  function code(done: CompileOutcome) {
    if (!done.ok) throw new Error(JSON.stringify(done.diagnostics));
    const read = readCodeObject(done.record.elf);
    if (!read.ok) throw new Error(read.message);
    const lines = disassemble(read.object.entries[0]!.code).map((line) => line.text);
    return { lines, interface: done.record.reflection.interface! };
  }
  const exportsOf = (lines: readonly string[]) =>
    lines.filter((line) => line.startsWith("exp ")).map((l) => l.slice(4));
  const refusal = (done: CompileOutcome) =>
    done.ok
      ? []
      : done.diagnostics.map(({ code, message, file, line, column, notes }) => ({
          code,
          message,
          at: `${file}:${line}:${column}`,
          notes: notes?.map((note) => `${note.file}:${note.line}:${note.column}: ${note.message}`),
        }));

  const vertex = `#version 450
layout(location=0) in vec4 p;
layout(location=0) out vec4 color;
layout(location=1) out vec3 normal;
layout(location=2) flat out uint kind;
layout(location=3) out vec2 spare;
void main() {
  gl_Position = p;
  color = vec4(p.xy, 0.5, 1.0);
  normal = sqrt(p.xyz);
  kind = 7u;
}
`;

  it("drops vertex outputs that the fragment stage does not read, with what makes them", () => {
    const fragment =
      "#version 450\nlayout(location=0) in vec4 color; layout(location=0) out vec4 o; void main() { o = color; }";
    const alone = code(compileShader(request("vertex", vertex), core));
    expect(exportsOf(alone.lines).length).toBe(4);
    expect(alone.lines.filter((line) => line.startsWith("v_sqrt")).length).toBe(3);
    const [v, f] = pair(vertex, fragment).map(code);
    // Blue and alpha are constants: the fragment stage has them itself.
    expect(exportsOf(v!.lines)).toEqual([
      expect.stringMatching(/^pos0 v\d+, v\d+, v\d+, v\d+ done$/),
      expect.stringMatching(/^param0 v\d+, v\d+, off, off$/),
    ]);
    expect(v!.lines.some((line) => line.startsWith("v_sqrt"))).toBe(false);
    expect(v!.interface.outputs.map(({ location }) => location)).toEqual([0]);
    expect(f!.interface.inputs.map(({ location }) => location)).toEqual([0]);
    expect(f!.lines.filter((line) => line.startsWith("v_interp_p1")).length).toBe(2);
  });

  it("constant outputs, flat and interpolated, decide the fragment stage's branches", () => {
    const fragment = `#version 450
layout(location=0) in vec4 color; layout(location=1) in vec3 normal; layout(location=2) flat in uint kind; layout(location=0) out vec4 o;
void main() { if (kind == 7u && color.z < 0.75) o = vec4(color.w + color.z); else o = vec4(normal, 1.0); }`;
    const [v, f] = pair(vertex, fragment).map(code);
    expect(exportsOf(v!.lines)).toEqual([expect.stringMatching(/^pos0 /)]);
    expect(f!.interface.inputs).toEqual([]);
    // 1.5 as halves is 0x3e00 twice.
    expect(f!.lines.some((line) => line.includes("0x3e003e00"))).toBe(true);
    expect(f!.lines.some((line) => /^(v_interp|s_cbranch)/.test(line))).toBe(false);
  });

  it("at level 0 too", () => {
    const fragment =
      "#version 450\nlayout(location=2) flat in uint kind; layout(location=0) out uvec4 o; void main() { o = uvec4(kind); }";
    const [v, f] = pair(vertex, fragment, 0).map(code);
    expect(exportsOf(v!.lines)).toEqual([expect.stringMatching(/^pos0 /)]);
    expect(f!.interface.inputs).toEqual([]);
  });

  it("an output that is declared and never written is 0", () => {
    const fragment =
      "#version 450\nlayout(location=3) in vec2 spare; layout(location=0) out vec4 o; void main() { o = vec4(spare, spare); }";
    const [v, f] = pair(vertex, fragment).map(code);
    expect(exportsOf(v!.lines)).toEqual([expect.stringMatching(/^pos0 /)]);
    expect(f!.lines.some((line) => line.startsWith("v_interp"))).toBe(false);
  });

  it("an output that is a constant on one way only is no constant", () => {
    const source = `#version 450
layout(location=0) in vec4 p; layout(location=0) out float c;
void main() { gl_Position = p; c = 1.0; if (p.x > 0.0) c = 2.0; }`;
    const fragment =
      "#version 450\nlayout(location=0) in float c; layout(location=0) out vec4 o; void main() { o = vec4(c); }";
    const [v, f] = pair(source, fragment).map(code);
    expect(exportsOf(v!.lines).length).toBe(2);
    expect(f!.interface.inputs.map(({ location }) => location)).toEqual([0]);
  });

  it("16-bit scalars are constants of their own width", () => {
    const head = "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types : require\n";
    const [v, f] = pair(
      `${head}layout(location=0) flat out f16vec2 h; layout(location=1) flat out i16vec2 s; void main() { gl_Position = vec4(0); h = f16vec2(1.5hf, -2.0hf); s = i16vec2(-3s, 4s); }`,
      `${head}layout(location=0) flat in f16vec2 h; layout(location=1) flat in i16vec2 s; layout(location=0) out ivec4 o; void main() { o = ivec4(ivec2(h * 2.0hf), ivec2(s)); }`,
    ).map(code);
    expect(exportsOf(v!.lines).length).toBe(1);
    // 3, -4, -3, 4 as operands of the export or moved to its registers.
    const moved = f!.lines.filter((line) => line.startsWith("v_mov_b32")).map((line) => line.split(", ")[1]);
    expect(moved).toEqual(expect.arrayContaining(["3", "-4", "-3", "4"]));
  });

  it("clip distances that no fragment reads are positions alone", () => {
    const source =
      "#version 450\nlayout(location=0) in vec4 p; out float gl_ClipDistance[2]; void main() { gl_Position = p; gl_ClipDistance[0] = p.x; gl_ClipDistance[1] = p.y; }";
    const alone = code(compileShader(request("vertex", source), core));
    expect(exportsOf(alone.lines).length).toBe(3);
    const without = "#version 450\nlayout(location=0) out vec4 o; void main() { o = vec4(1); }";
    const [v] = pair(source, without).map(code);
    expect(exportsOf(v!.lines)).toEqual([expect.stringMatching(/^pos0 /), expect.stringMatching(/^pos1 .* done$/)]);
    const reading =
      "#version 450\nin float gl_ClipDistance[2]; layout(location=0) out vec4 o; void main() { o = vec4(gl_ClipDistance[1]); }";
    const [w] = pair(source, reading).map(code);
    expect(exportsOf(w!.lines)[2]).toMatch(/^param0 off, v\d+, off, off$/);
  });

  it("outputs may have more components than inputs, and blocks may stand for single variables", () => {
    const source =
      "#version 450\nlayout(location=1) out B { vec4 a; layout(location=4) flat int n[2]; } b; void main() { gl_Position = vec4(0); b.a = vec4(gl_VertexIndex); b.n = int[2](gl_VertexIndex, 3); }";
    const fragment =
      "#version 450\nlayout(location=1) in vec2 a; layout(location=4) flat in int n[2]; layout(location=0) out ivec4 o; void main() { o = ivec4(int(a.y), n[0], n[1], 0); }";
    const [v, f] = pair(source, fragment).map(code);
    expect(v!.interface.outputs.map(({ location }) => location)).toEqual([1, 4]);
    expect(f!.interface.inputs.map(({ location }) => location)).toEqual([1, 4]);
  });

  it("an input without an output: places in both stages", () => {
    const fragment =
      "#version 450\nlayout(location=0) out vec4 o;\nlayout(location=9) in vec4 other;\nvoid main() {\n  o = other;\n}\n";
    for (const done of pair(vertex, fragment)) {
      expect(refusal(done)).toEqual([
        {
          code: "LINK_MISSING",
          message: "other at location 9 component 0 is read here, and the vertex stage has no such output",
          at: "a.fragment:5:3",
          notes: ["a.vertex:9:3: color of the vertex stage is written"],
        },
      ]);
    }
  });

  it("a component that the output does not have", () => {
    const fragment =
      "#version 450\nlayout(location=0) out vec4 o;\nlayout(location=1) in vec4 normal;\nvoid main() {\n  o = normal;\n}\n";
    expect(refusal(pair(vertex, fragment)[1])).toEqual([
      {
        code: "LINK_MISSING",
        message: "normal at location 1 component 3 is read here, and the vertex stage has no such output",
        at: "a.fragment:5:3",
        notes: ["a.vertex:10:3: normal of the vertex stage is written"],
      },
    ]);
  });

  it("an input of another type than the output", () => {
    const fragment =
      "#version 450\nlayout(location=0) out vec4 o;\nlayout(location=2) flat in int kind;\nvoid main() {\n  o = vec4(kind);\n}\n";
    expect(refusal(pair(vertex, fragment)[1])).toEqual([
      {
        code: "LINK_TYPE",
        message: "kind at location 2 component 0 is a 32-bit int, and the vertex stage's kind is a 32-bit uint",
        at: "a.fragment:5:3",
        notes: ["a.vertex:11:3: kind of the vertex stage is written"],
      },
    ]);
  });

  it("two variables on one component, which validators take for one stage alone", () => {
    const assembly = (b: string) => `; two outputs
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint Vertex %main "main" %a %b
OpName %a "a"
OpName %b "b"
OpDecorate %a Location 1
OpDecorate %b Location 1
${b}
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%vec2 = OpTypeVector %float 2
%pf = OpTypePointer Output %float
%p2 = OpTypePointer Output %vec2
%one = OpConstant %float 1
%two = OpConstantComposite %vec2 %one %one
%a = OpVariable %p2 Output
%b = OpVariable %pf Output
%main = OpFunction %void None %fn
%entry = OpLabel
OpStore %a %two
OpStore %b %one
OpReturn
OpFunctionEnd
`;
    const fragment = "#version 450\nlayout(location=0) out vec4 o; void main() { o = vec4(1); }";
    expect(refusal(pair(assembly("OpDecorate %b Component 1"), fragment)[1])).toEqual([
      {
        code: "LINK_OVERLAP",
        message: "b and a of the vertex stage both take location 1 component 1",
        at: "a.vertex:23:1",
        notes: ["a.vertex:22:1: a of the vertex stage is written"],
      },
    ]);
    expect(pair(assembly("OpDecorate %b Component 2"), fragment).map(({ ok }) => ok)).toEqual([true, true]);
  });

  it("an input that is declared and not read needs no output", () => {
    const fragment =
      "#version 450\nlayout(location=9) in vec4 other; layout(location=0) out vec4 o; void main() { o = vec4(1); }";
    expect(pair(vertex, fragment).map(({ ok }) => ok)).toEqual([true, true]);
  });

  it("a stage that does not compile is named by the other one", () => {
    const [v, f] = pair(vertex, "#version 450\nvoid main() { x = 1; }");
    expect(refusal(v)[0]).toMatchObject({ code: "COMPILE_LINKED_STAGE", at: "a.vertex:1:1" });
    expect(refusal(f)[0]).toMatchObject({ code: "GLSL_UNDECLARED" });
  });

  it("two vertex stages are no pipeline", () => {
    const v = request("vertex", vertex);
    expect(refusal(compileShader({ ...v, linked: v }, core))[0]).toMatchObject({ code: "LINK_STAGES" });
  });
});
