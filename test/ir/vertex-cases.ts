import type { PipelineState } from "../../src/codeobj/index.ts";
import type { VertexRun } from "./interpreter/stages.ts";
import type { FragmentCase } from "./stage-cases.ts";

/** Vertex shaders with what each lane exports, as `stage-cases.ts` has the fragment stage's. */
export interface VertexCase {
  readonly name: string;
  readonly source: string;
  readonly run: VertexRun;
  readonly pipeline?: PipelineState;
  readonly expect: FragmentCase["expect"];
}

const bytesOf = (...words: readonly number[]): Uint8Array => new Uint8Array(Uint32Array.from(words).buffer);
const floats = (...numbers: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(numbers).buffer);
const vhead = "#version 450\n";
const attribute = (format: string, offset = 0) => ({
  vertexInput: { attributes: [{ location: 0, format, binding: 0, offset }] },
});

/** A shader that passes one attribute on, as the format has it. */
function fetchCase(
  format: string,
  type: "vec4" | "ivec4" | "uvec4",
  words: readonly number[],
  expect: readonly (number | bigint)[],
): VertexCase {
  const bytes = bytesOf(...words);
  const flat = type === "vec4" ? "" : "flat ";
  return {
    name: `vertex fetch: ${format}`,
    source: `${vhead}layout(location=0) in ${type} a; layout(location=2) ${flat}out ${type} v; void main() { gl_Position = vec4(0); v = a; }`,
    run: { vertices: [[0, 0]], bindings: { 0: { bytes, strideBytes: bytes.length } }, formats: [format] },
    pipeline: attribute(format),
    expect: { 258: [expect] },
  };
}

export const vertexCases: readonly VertexCase[] = [
  {
    name: "position and a parameter; what is missing of an attribute is 0, 0, 0, 1",
    source: `${vhead}layout(location=0) in vec4 a; layout(location=1) out vec3 v; void main() { gl_Position = a; v = a.yxx * 2.0; }`,
    run: {
      vertices: [
        [0, 0],
        [1, 0],
      ],
      bindings: { 0: { bytes: floats(1, 2, 3, 4), strideBytes: 8 } },
      formats: ["R32G32_SFLOAT"],
    },
    pipeline: attribute("R32G32_SFLOAT"),
    expect: {
      12: [
        [1, 2, 0, 1],
        [3, 4, 0, 1],
      ],
      257: [
        [4, 2, 2, undefined],
        [8, 6, 6, undefined],
      ],
    },
  },
  {
    name: "vertex and instance numbers with their bases, the draw's number",
    source:
      `${vhead}layout(location=0) flat out ivec4 v; layout(location=1) flat out ivec2 w; void main() { gl_Position = vec4(0); v = ivec4(gl_VertexIndex, gl_InstanceIndex, gl_BaseVertex, gl_BaseInstance); w = ivec2(gl_DrawID, gl_VertexIndex - gl_BaseVertex); }`.replace(
        "#version 450",
        "#version 460",
      ),
    run: {
      vertices: [
        [0, 0],
        [3, 2],
      ],
      baseVertex: 100,
      firstInstance: 20,
      drawIndex: 6,
    },
    expect: {
      256: [
        [100n, 20n, 100n, 20n],
        [103n, 22n, 100n, 20n],
      ],
      257: [
        [6n, 0n, undefined, undefined],
        [6n, 3n, undefined, undefined],
      ],
    },
  },
  {
    name: "point size, layer and viewport",
    source: `${vhead}#extension GL_ARB_shader_viewport_layer_array : require\nvoid main() { gl_Position = vec4(1, 2, 3, 4); gl_PointSize = 8.0; gl_Layer = gl_VertexIndex; gl_ViewportIndex = 3; }`,
    run: {
      vertices: [
        [0, 0],
        [5, 0],
      ],
    },
    // Layer in [10:0], viewport from bit 16 on; the viewport is a parameter for fragments too.
    expect: {
      12: [
        [1, 2, 3, 4],
        [1, 2, 3, 4],
      ],
      13: [
        [8, undefined, 0x30000n, undefined],
        [8, undefined, 0x30005n, undefined],
      ],
    },
  },
  {
    name: "point size alone",
    source: `${vhead}void main() { gl_Position = vec4(0, 0, 0, 1); gl_PointSize = float(gl_VertexIndex) + 0.5; }`,
    run: {
      vertices: [
        [0, 0],
        [1, 0],
      ],
    },
    expect: {
      13: [
        [0.5, undefined, undefined, undefined],
        [1.5, undefined, undefined, undefined],
      ],
    },
  },
  {
    name: "clip and cull distances one behind the other",
    source: `${vhead}out float gl_ClipDistance[3]; out float gl_CullDistance[2]; void main() { gl_Position = vec4(1); gl_ClipDistance[0] = 1.0; gl_ClipDistance[1] = 2.0; gl_ClipDistance[2] = float(gl_VertexIndex); gl_CullDistance[0] = 4.0; gl_CullDistance[1] = -5.0; }`,
    run: { vertices: [[7, 0]] },
    expect: { 13: [[1, 2, 7, 4]], 14: [[-5, undefined, undefined, undefined]] },
  },
  {
    name: "instanced attributes: once in two instances, and once for all",
    source: `${vhead}layout(location=0) in float a; layout(location=1) in float b; layout(location=2) in float c; void main() { gl_Position = vec4(a, b, c, 1); }`,
    run: {
      vertices: [
        [1, 0],
        [0, 3],
        [1, 5],
      ],
      firstInstance: 1,
      bindings: {
        0: { bytes: floats(10, 11), strideBytes: 4 },
        1: { bytes: floats(0, 20, 21, 22, 23), strideBytes: 4 },
        2: { bytes: floats(30, 31), strideBytes: 4 },
      },
      formats: ["R32_SFLOAT"],
    },
    pipeline: {
      vertexInput: {
        attributes: [0, 1, 2].map((k) => ({ location: k, format: "R32_SFLOAT", binding: k, offset: 0 })),
        bindings: [
          { binding: 1, rate: "instance", divisor: 2 },
          { binding: 2, rate: "instance", divisor: 0 },
        ],
      },
    },
    // b: element 1 + instance / 2: 1, 2, 3; c: element 1
    expect: {
      12: [
        [11, 20, 31, 1],
        [10, 21, 31, 1],
        [11, 22, 31, 1],
      ],
    },
  },
  fetchCase("R8G8B8A8_UNORM", "vec4", [0xff_00_33_00], [0, Math.fround(0.2), 0, 1]),
  fetchCase("B8G8R8A8_UNORM", "vec4", [0x00_ff_00_33], [1, 0, Math.fround(0.2), 0]),
  fetchCase("R8G8B8A8_SNORM", "vec4", [0x7f_80_81_00], [0, -1, -1, 1]),
  fetchCase("R8G8B8A8_USCALED", "vec4", [0x04_03_ff_01], [1, 255, 3, 4]),
  fetchCase("R8G8B8A8_SSCALED", "vec4", [0x04_03_ff_01], [1, -1, 3, 4]),
  fetchCase("R8G8B8A8_SINT", "ivec4", [0x04_03_ff_80], [-128n, -1n, 3n, 4n]),
  fetchCase("R16G16_SINT", "ivec4", [0x0005_ffff], [-1n, 5n, 0n, 1n]),
  fetchCase("R16G16B16A16_SFLOAT", "vec4", [0xbc00_3800, 0x0001_7bff], [0.5, -1, 65504, 2 ** -24]),
  fetchCase("A2B10G10R10_UNORM_PACK32", "vec4", [0b11_0000000000_1111111111_0000000000 >>> 0], [0, 1, 0, 1]),
  fetchCase(
    "A2R10G10B10_UNORM_PACK32",
    "vec4",
    [0b01_1111111111_0000000000_0000000000 >>> 0],
    [1, 0, 0, Math.fround(1 / 3)],
  ),
  fetchCase("R32G32B32_UINT", "uvec4", [1, 2, 0xffffffff], [1n, 2n, 0xffffffffn, 1n]),
  {
    name: "attributes of 64-bit components: two locations for three of them, tight behind one another",
    source: `${vhead}layout(location=0) in dvec3 a; layout(location=2) in double b; layout(location=3, component=2) in double c; void main() { gl_Position = vec4(a, b * c); }`,
    run: {
      vertices: [
        [0, 0],
        [1, 0],
      ],
      bindings: {
        0: {
          bytes: new Uint8Array(Float64Array.of(1.5, -2, 2 ** -60, 0.25, 99, 3, 5, 7, 9, -0.5, 99, 4).buffer),
          strideBytes: 48,
        },
      },
      formats: ["R32G32B32A32_UINT", "R32G32_UINT"],
    },
    expect: {
      12: [
        [1.5, -2, 2 ** -60, 0.75],
        [5, 7, 9, -2],
      ],
    },
  },
  {
    name: "push constants and a buffer in a vertex shader, a loop by lane",
    source: `${vhead}layout(push_constant) uniform P { float scale; int count; }; layout(binding=0) readonly buffer B { float b[]; }; void main() { float s = 0.0; for (int k = 0; k < count + gl_VertexIndex; k++) s += b[k]; gl_Position = vec4(s * scale, 0, 0, 1); }`,
    run: {
      vertices: [
        [0, 0],
        [1, 0],
        [2, 0],
      ],
      push: Uint32Array.of(0x3f000000, 1),
      buffer: floats(2, 4, 8),
    },
    expect: {
      12: [
        [1, 0, 0, 1],
        [3, 0, 0, 1],
        [7, 0, 0, 1],
      ],
    },
  },
];
