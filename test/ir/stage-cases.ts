import type { PipelineState } from "../../src/codeobj/index.ts";
import type { FragmentRun } from "./interpreter/stages.ts";

/**
 * Fragment shaders with what each lane exports. Expected values are worked out by hand from GLSL and from the numbers given
 * here; all are exact in the formats that they are exported in. `vertex-cases.ts` has the other stage.
 */
export interface FragmentCase {
  readonly name: string;
  readonly source: string;
  readonly run: FragmentRun;
  readonly pipeline?: PipelineState;
  /**
   * By target, by lane: floats of the target (halves where it is packed), words where they are bigints; undefined: the lane
   * exports nothing there.
   */
  readonly expect: Readonly<Record<number, readonly (readonly (number | bigint | undefined)[] | undefined)[]>>;
}

const head = "#version 450\nlayout(location=0) out vec4 o;\n";

/** A quad at (4, 6): i grows by 1/4 to the right, j by 1/8 downwards. */
const quad: FragmentRun["pixels"] = [
  { x: 4, y: 6, bary: [0.25, 0.125], linear: [0.5, 0], centroid: [0.5, 0.125] },
  { x: 5, y: 6, bary: [0.5, 0.125], linear: [0.75, 0], centroid: [0.5, 0.25] },
  { x: 4, y: 7, bary: [0.25, 0.25], linear: [0.5, 0.125], centroid: [0.25, 0.25] },
  { x: 5, y: 7, bary: [0.5, 0.25], linear: [0.75, 0.125], centroid: [0.5, 0] },
];
/** Two quads: the second is two pixels to the right. */
const two = [...quad, ...quad.map((p) => ({ ...p, x: p.x + 2 }))];
const helperAt = (lanes: readonly number[], pixels = quad): FragmentRun["pixels"] =>
  pixels.map((p, lane) => (lanes.includes(lane) ? { ...p, isHelper: true } : p));

/** v = 8 + 8 i - 16 j: P0 8, P1 16, P2 -8. At the four centres 8, 10, 6, 8. */
const ramp = {
  0: [
    [8, 1],
    [16, 3],
    [-8, 5],
  ],
};
/** y = 1 + 2 i + 4 j: 2, 2.5, 2.5, 3. */
const both = { run: { pixels: quad, attributes: ramp } };

export const fragmentCases: readonly FragmentCase[] = [
  {
    name: "smooth interpolation at the centre",
    source: `${head}layout(location=0) in vec2 v; void main() { o = vec4(v, 0, 1); }`,
    ...both,
    expect: {
      0: [
        [8, 2, 0, 1],
        [10, 2.5, 0, 1],
        [6, 2.5, 0, 1],
        [8, 3, 0, 1],
      ],
    },
  },
  {
    name: "without perspective",
    source: `${head}layout(location=0) noperspective in vec2 v; void main() { o = vec4(v, 0, 1); }`,
    ...both,
    // i 1/2 3/4 1/2 3/4, j 0 0 1/8 1/8
    expect: {
      0: [
        [12, 2, 0, 1],
        [14, 2.5, 0, 1],
        [10, 2.5, 0, 1],
        [12, 3, 0, 1],
      ],
    },
  },
  {
    name: "at the centroid",
    source: `${head}layout(location=0) centroid in float v; void main() { o = vec4(v); }`,
    ...both,
    expect: { 0: [10, 8, 6, 12].map((x) => [x, x, x, x]) },
  },
  {
    name: "interpolateAtCentroid of an input at the centre",
    source: `${head}layout(location=0) in float v; void main() { o = vec4(v, interpolateAtCentroid(v), 0, 0); }`,
    ...both,
    expect: {
      0: [
        [8, 10, 0, 0],
        [10, 8, 0, 0],
        [6, 6, 0, 0],
        [8, 12, 0, 0],
      ],
    },
  },
  {
    name: "interpolateAtOffset by half a pixel to the right and a quarter up",
    source: `${head}layout(location=0) in float v; void main() { o = vec4(interpolateAtOffset(v, vec2(0.5, -0.25))); }`,
    ...both,
    // i + 1/8, j - 1/32: v + 1 + 1/2
    expect: { 0: [9.5, 11.5, 7.5, 9.5].map((x) => [x, x, x, x]) },
  },
  {
    name: "flat integers of the provoking vertex",
    source: `#version 450\nlayout(location=0) out ivec4 o; layout(location=3) flat in ivec2 v; void main() { o = ivec4(v, v.x + v.y, 0); }`,
    run: {
      pixels: quad,
      attributes: {
        3: [
          [-7n, 9n],
          [1n, 1n],
          [2n, 2n],
        ],
      },
    },
    expect: { 0: [0, 1, 2, 3].map(() => [-7n, 9n, 2n, 0n]) },
  },
  {
    name: "a flat float and a smooth one at one location",
    source: `${head}layout(location=0) flat in float a; layout(location=0, component=1) in float b; void main() { o = vec4(a, b, 0, 0); }`,
    ...both,
    expect: {
      0: [
        [8, 2, 0, 0],
        [8, 2.5, 0, 0],
        [8, 2.5, 0, 0],
        [8, 3, 0, 0],
      ],
    },
  },
  {
    name: "fine derivatives take the lane's own row and column",
    source: `${head}layout(location=0) in float v; void main() { o = vec4(dFdxFine(v * v), dFdyFine(v * v), fwidthFine(v * v), 0); }`,
    ...both,
    // squares 64 100 / 36 64: right less left 36 above, 28 below; below less above -28 left, -36 right
    expect: {
      0: [
        [36, -28, 64, 0],
        [36, -36, 72, 0],
        [28, -28, 56, 0],
        [28, -36, 64, 0],
      ],
    },
  },
  {
    name: "coarse derivatives are one for the quad, of the first row and column",
    source: `${head}layout(location=0) in float v; void main() { o = vec4(dFdxCoarse(v * v), dFdyCoarse(v * v), 0, 0); }`,
    ...both,
    expect: { 0: [0, 1, 2, 3].map(() => [36, -28, 0, 0]) },
  },
  {
    name: "derivatives of what only a helper lane has",
    source: `${head}layout(location=0) in float v; void main() { o = vec4(dFdxFine(v), dFdyFine(v), 0, 0); }`,
    run: { pixels: helperAt([1, 2]), attributes: ramp },
    // 2 to the right, -2 downwards; helpers export nothing
    expect: { 0: [[2, -2, 0, 0], undefined, undefined, [2, -2, 0, 0]] },
  },
  {
    name: "R10: derivatives after a divergent loop: helpers go round with their quad",
    source: `${head}layout(location=0) in float v;
void main() { float s = 0.0; for (int k = 0; k < int(v); k++) s += float(k); o = vec4(s, dFdxFine(s), dFdyFine(s), 0); }`,
    run: { pixels: helperAt([1]), attributes: ramp },
    // sums 0..7 28, 0..9 45, 0..5 15, 28
    expect: { 0: [[28, 17, -13, 0], undefined, [15, 13, -13, 0], [28, 13, -17, 0]] },
  },
  {
    name: "discard in one lane, and derivatives of its values behind it",
    source: `${head}layout(location=0) in float v;
void main() { if (v == 10.0) discard; o = vec4(v); }`,
    ...both,
    expect: { 0: [[8, 8, 8, 8], undefined, [6, 6, 6, 6], [8, 8, 8, 8]] },
  },
  {
    name: "demote: the lane goes on for its neighbours' derivatives, and says that it helps",
    source: `#version 450\n#extension GL_EXT_demote_to_helper_invocation : require\nlayout(location=0) out vec4 o; layout(location=0) in float v;
void main() { bool before = helperInvocationEXT(); if (v == 10.0) demote; float w = helperInvocationEXT() ? v + 64.0 : v; o = vec4(dFdxFine(w), before, 0, 0); }`,
    ...both,
    // lane 1: 10 + 64 = 74; 74 - 8
    expect: { 0: [[66, 0, 0, 0], undefined, [2, 0, 0, 0], [2, 0, 0, 0]] },
  },
  {
    name: "R9: terminate in a function in a loop, by lanes at different times",
    source: `#version 450\n#extension GL_EXT_terminate_invocation : require\nlayout(location=0) out vec4 o; layout(location=0) in float v;
float f(int k) { if (float(k) == v - 6.0) terminateInvocation; return float(k); }
void main() { float s = 1.0; for (int k = 0; k < 3; k++) s += f(k); o = vec4(s); }`,
    ...both,
    // v - 6: 2, 4, 0, 2
    expect: { 0: [undefined, [4, 4, 4, 4], undefined, undefined] },
  },
  {
    name: "R9: discard of all lanes: nothing is exported, nothing hangs",
    source: `${head}layout(location=0) in float v; void main() { o = vec4(1); for (int k = 0; k < 100; k++) { if (float(k) >= v) discard; o += v; } }`,
    ...both,
    expect: { 0: [undefined, undefined, undefined, undefined] },
  },
  {
    name: "R9: discard inside a switch inside a loop inside a function",
    source: `${head}layout(location=0) in float v;
float f(int n) { float r = 0.0; for (int k = 0; k < n; k++) { switch (k) { case 3: if (n == 6) discard; r += 8.0; break; case 1: continue; default: r += 1.0; } } return r; }
void main() { o = vec4(f(int(v))); }`,
    ...both,
    // n rounds, less round 1, and 8 instead of 1 in round 3: n - 1 + 7
    expect: { 0: [[14, 14, 14, 14], [16, 16, 16, 16], undefined, [14, 14, 14, 14]] },
  },
  {
    name: "R9: an unreachable discard, and one behind the writes",
    source: `${head}layout(location=0) in float v; void main() { o = vec4(v); if (v < 0.0) discard; o.x = 1.0; return; discard; }`,
    ...both,
    expect: {
      0: [
        [1, 8, 8, 8],
        [1, 10, 10, 10],
        [1, 6, 6, 6],
        [1, 8, 8, 8],
      ],
    },
  },
  {
    name: "R21: samplers as arguments of a function, sampled inside a divergent one",
    source: `${head}layout(binding=0) uniform sampler2D s; layout(binding=3) uniform sampler2D t; layout(location=0) in vec2 v;
vec4 g(sampler2D m, vec2 p) { return textureLod(m, p.yx, 0.0); }
vec4 f(sampler2D m, vec2 p, float k) { vec4 r = vec4(0); if (p.x > k) { r = g(m, p); if (p.y > 2.75) return r * 2.0; } return r; }
void main() { o = f(s, v, 9.0) + f(t, v, 7.0); }`,
    ...both,
    // A texel is its coordinates, its binding and 1. Above 9 is lane 1 alone, above 7 all but lane 2; lane 3 doubles.
    expect: {
      0: [
        [2, 8, 3, 1],
        [5, 20, 3, 2],
        [0, 0, 0, 0],
        [6, 16, 6, 2],
      ],
    },
  },
  {
    name: "helper lanes store nothing, and atomics of theirs do nothing",
    source: `${head}layout(binding=0) buffer B { uint n; uint at[]; }; layout(location=0) in float v;
void main() { atomicAdd(n, 1u); at[uint(gl_FragCoord.x) + 2u * uint(gl_FragCoord.y)] = uint(v); memoryBarrierBuffer(); o = vec4(at[uint(gl_FragCoord.x) + 2u * uint(gl_FragCoord.y)]); }`,
    // words: count 5; at[16] at byte 68, … lane 1 (5, 6) at[17] stays 7
    run: {
      pixels: helperAt([1]),
      attributes: ramp,
      buffer: new Uint8Array(Uint32Array.from({ length: 32 }, () => 7).buffer),
    },
    expect: { 0: [[8, 8, 8, 8], undefined, [6, 6, 6, 6], [8, 8, 8, 8]] },
  },
  {
    name: "the window's coordinates: half pixels, depth, 1 / w",
    source: `${head}void main() { o = gl_FragCoord; }`,
    run: { pixels: quad.map((p, k) => ({ ...p, z: 0.25 * k, inverseW: 0.5 })) },
    expect: {
      0: [
        [4.5, 6.5, 0, 0.5],
        [5.5, 6.5, 0.25, 0.5],
        [4.5, 7.5, 0.5, 0.5],
        [5.5, 7.5, 0.75, 0.5],
      ],
    },
  },
  {
    name: "front facing",
    source: `${head}void main() { o = gl_FrontFacing ? vec4(1, 0, 0, 1) : vec4(0, 1, 0, 1); }`,
    run: { pixels: quad },
    expect: { 0: quad.map(() => [1, 0, 0, 1]) },
  },
  {
    name: "back facing",
    source: `${head}void main() { o = gl_FrontFacing ? vec4(1, 0, 0, 1) : vec4(0, 1, 0, 1); }`,
    run: { pixels: quad, isFrontFacing: false },
    expect: { 0: quad.map(() => [0, 1, 0, 1]) },
  },
  {
    name: "layer, sample number and coverage of the primitive",
    source: `#version 450\nlayout(location=0) out ivec4 o; void main() { o = ivec4(gl_Layer, gl_SampleID, gl_SampleMaskIn[0], 0); }`,
    run: { pixels: quad, layer: 5, sampleId: 3, coverage: 0b1011 },
    expect: { 0: quad.map(() => [5n, 3n, 11n, 0n]) },
  },
  {
    name: "depth, with nothing else",
    source: `#version 450\nlayout(location=0) in float v; void main() { gl_FragDepth = v / 16.0; }`,
    ...both,
    expect: { 8: [0.5, 0.625, 0.375, 0.5].map((z) => [z, undefined, undefined, undefined]) },
  },
  {
    name: "stencil and depth beside a colour",
    source: `#version 450\n#extension GL_ARB_shader_stencil_export : require\nlayout(location=0) out vec4 o; void main() { gl_FragDepth = 0.5; gl_FragStencilRefARB = 7; o = vec4(1); }`,
    run: { pixels: quad },
    expect: { 0: quad.map(() => [1, 1, 1, 1]), 8: quad.map(() => [0.5, 7n, undefined, undefined]) },
  },
  {
    name: "sample mask",
    source: `${head}void main() { gl_SampleMask[0] = gl_SampleMaskIn[0] & 5; o = vec4(0); }`,
    run: { pixels: quad, coverage: 0b1110 },
    expect: { 0: quad.map(() => [0, 0, 0, 0]), 8: quad.map(() => [undefined, undefined, 4n, undefined]) },
  },
  {
    name: "several targets, out of order, and one that is not written",
    source: `#version 450\nlayout(location=5) out vec4 a; layout(location=1) out vec2 b; layout(location=3) out vec4 c; void main() { a = vec4(1, 2, 3, 4); b = vec2(5, 6); }`,
    run: { pixels: quad },
    // What is not written of b is 0 in the half that it shares.
    expect: { 1: quad.map(() => [5, 6]), 5: quad.map(() => [1, 2, 3, 4]) },
  },
  {
    name: "integer targets of 32 bits",
    source: `#version 450\nlayout(location=0) out uvec4 a; layout(location=1) out ivec2 b; void main() { a = uvec4(0xffffffffu, 1u, uint(gl_FragCoord.x), 65536u); b = ivec2(-1, -70000); }`,
    run: { pixels: quad },
    expect: {
      0: quad.map(({ x }) => [0xffffffffn, 1n, BigInt(x), 65536n]),
      1: quad.map(() => [-1n, -70000n, undefined, undefined]),
    },
  },
  {
    name: "integer targets of 8 and 16 bits saturate to 16 bits",
    source: `#version 450\nlayout(location=0) out uvec4 a; layout(location=1) out ivec4 b; layout(location=0) in float v; void main() { uint n = uint(v); a = uvec4(n * 8192u, n, 65535u, 0u); b = ivec4(-40000, 40000, -int(n), int(n)); }`,
    ...both,
    pipeline: {
      colorFormats: [
        { location: 0, format: "R8G8B8A8_UINT" },
        { location: 1, format: "R16G16B16A16_SINT" },
      ],
    },
    // 8 * 8192 = 65536 saturates; 10, 6 too low or high: 81920 saturates, 49152 stays. Two halves a word.
    expect: {
      0: [
        [0x8ffffn, 0xffffn],
        [0xaffffn, 0xffffn],
        [0x6c000n, 0xffffn],
        [0x8ffffn, 0xffffn],
      ],
      1: [8n, 10n, 6n, 8n].map((n) => [0x7fff8000n, (n << 16n) | (0x10000n - n)]),
    },
  },
  {
    name: "normalised targets of 16 bits",
    source: `#version 450\nlayout(location=0) out vec4 a; layout(location=1) out vec4 b; layout(location=0) in float v; void main() { float h = v / 8.0; a = vec4(h - 0.5, h + 4.0, -h, 0.0); b = vec4(h - 2.0, -h, 0.0, h); }`,
    run: { pixels: [quad[0]!], attributes: ramp },
    pipeline: {
      colorFormats: [
        { location: 0, format: "R16G16B16A16_UNORM" },
        { location: 1, format: "R16G16B16A16_SNORM" },
      ],
    },
    // h = 1. 0.5 of 65535 is 32767.5, ties to even 32768; 5 is 1; -1 is 0. Signed: -1 is -32767 = 0x8001, 1 is 32767.
    expect: { 0: [[0xffff8000n, 0n]], 1: [[0x80018001n, 0x7fff0000n]] },
  },
  {
    name: "targets of 32-bit floats by their number of components",
    source: `#version 450\nlayout(location=0) out float a; layout(location=1) out vec2 b; layout(location=2) out vec4 c; void main() { a = 1.0e10; b = vec2(0.1, gl_FragCoord.x); c = vec4(1, 2, 3, 4); }`,
    run: { pixels: quad },
    pipeline: {
      colorFormats: [
        { location: 0, format: "R32_SFLOAT" },
        { location: 1, format: "R32G32_SFLOAT" },
        { location: 2, format: "R32G32B32A32_SFLOAT" },
      ],
    },
    expect: {
      0: quad.map(() => [1e10, undefined, undefined, undefined]),
      1: quad.map(({ x }) => [Math.fround(0.1), x + 0.5, undefined, undefined]),
      2: quad.map(() => [1, 2, 3, 4]),
    },
  },
  {
    name: "halves are cut off, not rounded; what is too large is the largest one",
    source: `${head}layout(location=0) in float v; void main() { float w = v * 0.125; o = vec4(w + 0.00097, w * 70000.0, -w * 70000.0, w * 0.0000001); }`,
    run: { pixels: [quad[0]!], attributes: ramp },
    // w = 1; 1.00097 lies below 1 + 2^-10; 1e-7 is 1.67 units of 2^-24
    expect: { 0: [[1, 65504, -65504, 2 ** -24]] },
  },
  {
    name: "an output that is read back while lanes leave at different times",
    source: `${head}layout(location=0) in float v; void main() { o = vec4(0); for (int k = 0; ; k++) { o.x += 1.0; if (o.x >= v) { o.y = float(k); return; } o.z = o.x; } }`,
    ...both,
    expect: {
      0: [
        [8, 7, 7, 0],
        [10, 9, 9, 0],
        [6, 5, 5, 0],
        [8, 7, 7, 0],
      ],
    },
  },
  {
    name: "quads of a wave are apart",
    source: `${head}void main() { float x = gl_FragCoord.x * gl_FragCoord.y; o = vec4(dFdxFine(x), dFdyFine(x), 0, 0); }`,
    run: { pixels: two },
    // d/dx = y, d/dy = x, the left one's x or the upper one's y: 6.5 above, 7.5 below; 4.5 5.5 6.5 7.5
    expect: { 0: two.map(({ x, y }) => [y + 0.5, x + 0.5, 0, 0]) },
  },
  {
    name: "inputs in blocks, arrays and matrices at their locations",
    source: `${head}layout(location=0) in B { float a; layout(location=4) flat int n[2]; } b; layout(location=6) in mat2 m; void main() { o = vec4(b.a, b.n[1], m[0][1], m[1][0]); }`,
    run: {
      pixels: [quad[0]!],
      attributes: {
        ...ramp,
        4: [[1n], [0n], [0n]],
        5: [[-3n], [0n], [0n]],
        6: [
          [0, 4],
          [0, 8],
          [0, 4],
        ],
        7: [[16], [0], [0]],
      },
    },
    // i 1/4, j 1/8: 4 + 4/4 = 5; 16 - 16/4 - 16/8 = 10
    expect: { 0: [[8, -3, 5, 10]] },
  },
];
