import { describe, expect, it } from "vitest";
import { disassemble } from "../../src/spirv/index.ts";
import { places, words } from "./tools.ts";

const stage = "vertex";

/** What a module says of transform feedback, ids left out. */
function captures(declarations: string): string[] {
  const source = `#version 450\n${declarations}\nvoid main() {}\n`;
  return disassemble(words(source, { stage, debugInfo: false }))
    .split("\n")
    .filter((line) => /TransformFeedback|Xfb|Offset/.test(line))
    .map((line) => line.trim().replace(/ %\d+/g, ""));
}

const heads = ["OpCapability TransformFeedback", "OpExecutionMode Xfb"];

describe("transform feedback", () => {
  it("has the buffer, the stride that holds all, and the offset of a variable that nobody writes", () => {
    // two doubles behind 8 bytes: 24 bytes, a multiple of 8
    expect(captures("layout(location = 0, xfb_buffer = 2, xfb_offset = 8) out dvec2 a;")).toEqual([
      ...heads,
      ...["OpDecorate XfbBuffer 2", "OpDecorate XfbStride 24", "OpDecorate Offset 8"],
    ]);
  });

  it("takes buffer and stride from the defaults before", () => {
    const text = "layout(xfb_buffer = 1, xfb_stride = 64) out;\nlayout(location = 0, xfb_offset = 4) out vec3 a[2];";
    expect(captures(text)).toEqual([
      ...heads,
      ...["OpDecorate XfbBuffer 1", "OpDecorate XfbStride 64", "OpDecorate Offset 4"],
    ]);
  });

  it("puts the members of a block one behind the other, and further where they say so", () => {
    // the example of GLSL 4.60, section 4.4.2.1: 12 to 27, 28 to 31, 40 to 55, 56 to 71
    const text = `layout(location = 0, xfb_buffer = 3, xfb_offset = 12) out block2 {
  vec4 v; float u; layout(xfb_offset = 40) vec4 w; vec4 x;
};`;
    expect(captures(text)).toEqual([
      ...heads,
      ...[12, 28, 40, 56].map((offset, at) => `OpMemberDecorate ${at} Offset ${offset}`),
      ...["OpDecorate XfbBuffer 3", "OpDecorate XfbStride 72"],
    ]);
  });

  it("captures only the members that have an offset where the block has none", () => {
    const text = "layout(location = 0) out B { vec4 v; layout(xfb_offset = 16) vec2 u; };";
    expect(captures(text)).toEqual([
      ...heads,
      "OpMemberDecorate 1 Offset 16",
      ...["OpDecorate XfbBuffer 0", "OpDecorate XfbStride 24"],
    ]);
  });

  it("captures built-in variables", () => {
    const text = "layout(xfb_buffer = 1, xfb_offset = 16) out gl_PerVertex { vec4 gl_Position; float gl_PointSize; };";
    expect(captures(text).sort()).toEqual(
      [
        ...heads,
        ...["OpDecorate XfbBuffer 1", "OpDecorate XfbStride 36", "OpDecorate Offset 16"],
        ...["OpDecorate XfbBuffer 1", "OpDecorate XfbStride 36", "OpDecorate Offset 32"],
      ].sort(),
    );
  });

  it("counts numbers of 16 bits as two bytes", () => {
    const text = `#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(location = 0, xfb_offset = 2) out f16vec3 a;`;
    expect(captures(text)).toEqual([
      ...heads,
      ...["OpDecorate XfbBuffer 0", "OpDecorate XfbStride 8", "OpDecorate Offset 2"],
    ]);
  });

  it("says nothing where nothing is captured", () => {
    expect(captures("layout(xfb_stride = 64) out;\nlayout(location = 0) out vec4 a;")).toEqual([]);
  });

  it("is no business of fragment shaders", () => {
    const source = "#version 450\nlayout(location = 0, xfb_offset = 0) out vec4 a;\nvoid main() {}";
    expect(places(source, { stage: "fragment" })).toEqual(["2:22 GLSL_LAYOUT_MISPLACED"]);
  });
});
