import { describe, expect, it } from "vitest";
import { oracle } from "../oracles.ts";
import { bytes, compile, failuresOf, outputOf, words } from "./tools.ts";

const head =
  "#version 450\nlayout(local_size_x = 8, local_size_y = 4) in;\nlayout(std430, binding = 0) buffer In { vec4 v[]; };\n";

/** The disassembly of a shader, names for ids. */
function disassembly(source: string, debugInfo = false): string {
  return outputOf("spirv-dis a.spv", [{ name: "a.spv", data: bytes(words(source, { debugInfo })) }]);
}

/** How often each of the named instructions stands in the module. */
function counts(text: string, ...names: string[]): number[] {
  return names.map((name) => text.match(new RegExp(`\\b${name}\\b`, "g"))?.length ?? 0);
}

describe.skipIf(!oracle("spirv-dis"))("the shape of modules", () => {
  it("writes just the swizzled components", () => {
    const text = disassembly(`${head}void main() { v[0].yw = vec2(1.0, 2.0); }`);
    expect(counts(text, "OpStore", "OpLoad")).toEqual([2, 0]);
    expect(text).toContain("OpAccessChain %_ptr_StorageBuffer_float");
  });

  it("reads one component, not the vector", () => {
    const text = disassembly(`${head}void main() { v[0].x = v[1].w; }`);
    expect(text).toMatch(/OpLoad %float/);
    expect(text).not.toMatch(/OpLoad %v4float/);
  });

  it("runs the right side of && only where it decides, if that has effects or reads memory", () => {
    const loads = disassembly(`${head}void main() { if (v.length() > 3 && v[3].x > 0.0) v[0].x = 1.0; }`);
    expect(counts(loads, "OpPhi", "OpLogicalAnd", "OpSelectionMerge")).toEqual([1, 0, 2]);
    const plain = disassembly(`${head}void main() { int a = 1, b = 2; if (a > 0 && b > 0) v[0].x = 1.0; }`);
    expect(counts(plain, "OpPhi", "OpLogicalAnd", "OpSelectionMerge")).toEqual([0, 1, 1]);
  });

  it("never divides integers without need", () => {
    const text = disassembly(
      `${head}void main() { int a = v.length(), b = a - 1; if (b != 0 && a / b > 1) v[0].x = 1.0; }`,
    );
    expect(counts(text, "OpPhi", "OpLogicalAnd")).toEqual([1, 0]);
  });

  it("marks precise arithmetic and what it is computed from, nothing else", () => {
    const text = disassembly(
      `${head}void main() { vec4 u = v[0] * v[1]; vec4 w = v[2] * v[3]; precise vec4 t = u + 1.0; v[4] = t + w; }`,
    );
    expect(counts(text, "NoContraction", "OpFMul", "OpFAdd")).toEqual([2, 2, 2]);
  });

  it("says the local size, the bindings and the memory qualifiers", () => {
    const text = disassembly(
      `${head}layout(std430, set = 2, binding = 5) readonly restrict buffer R { float r; };\nvoid main() { v[0].x = r; }`,
    );
    expect(text).toContain("LocalSize 8 4 1");
    expect(text).toMatch(/OpDecorate %R_0 DescriptorSet 2/);
    expect(text).toMatch(/OpDecorate %R_0 Binding 5/);
    expect(text).toMatch(/OpMemberDecorate %R 0 NonWritable/);
    expect(text).toMatch(/OpMemberDecorate %R 0 Restrict/);
  });

  it("keeps specialisation open", () => {
    const text = disassembly(
      "#version 450\nlayout(local_size_x_id = 7) in;\nlayout(constant_id = 3) const uint n = 4u;\nconst uint m = n * 2u + 1u;\nlayout(binding = 0) buffer B { uint o; };\nshared uint a[m];\nvoid main() { a[0] = m; o = a[1] + gl_WorkGroupSize.x; }",
    );
    expect(text).toMatch(/SpecId 3/);
    expect(text).toMatch(/SpecId 7/);
    expect(text).toMatch(/OpSpecConstantOp %uint IMul %n %uint_2/);
    expect(text).toMatch(/BuiltIn WorkgroupSize/);
  });

  it("leaves out what the entry point does not reach", () => {
    const text = disassembly(
      `${head}layout(binding = 1) buffer Unused { float u; };\nvoid idle() { u = 1.0; }\nvoid main() { }`,
    );
    expect(text).not.toContain("Unused");
    expect(counts(text, "OpFunction")).toEqual([1]);
  });

  it("gives every statement its line", () => {
    const text = disassembly(`${head}void main() {\n  float a = v[0].x;\n\n  v[1].x =\n    a * 2.0;\n}`, true);
    expect(text).toMatch(/%\d+ = OpString "test.comp"/);
    const lines = [...text.matchAll(/OpLine %\d+ (\d+) (\d+)/g)].map(([, line, column]) => `${line}:${column}`);
    expect(lines).toEqual(["5:9", "7:3", "8:5", "7:3", "9:1"]);
  });

  it("stores bool in blocks as uint", () => {
    const text = disassembly(
      "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) buffer B { bool a; bvec2 b[2]; };\nvoid main() { a = !a; b[1] = b[0].yx; bvec2 c[2] = b; b[0] = c[1]; }",
    );
    expect(text).toMatch(/%B = OpTypeStruct %uint %_arr_v2uint_uint_2/);
  });

  it("folds constants as the machine would compute them", () => {
    const text = disassembly(
      `${head}void main() { v[0] = vec4(0.1 + 0.2, 1.0 / 3.0, float(7 / 2), float(-7 % 3 == -1)); v[1].x = float(0x7fffffff + 1); }`,
    );
    // 0.1f + 0.2f in binary32, worked out by hand: 0x3dcccccd + 0x3e4ccccd = 0x3e99999a
    expect(text).toMatch(/%float_0_3(00000012)? = OpConstant %float 0\.3(00000012)?\b/);
    expect(text).toMatch(/OpConstant %float 0\.333333343/);
    expect(text).toMatch(/OpConstant %float 3\n/);
    expect(text).toMatch(/OpConstant %float -2\.14748365e\+09/);
    expect(counts(text, "OpFAdd", "OpFDiv", "OpSDiv", "OpConvertSToF")).toEqual([0, 0, 0, 0]);
  });
});

const vertex = `#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec2 coord;
layout(location = 1) flat out int id;
layout(std140, binding = 0) uniform Camera { mat4 view; };
void main() {
  coord = uv * 0.5 + 0.5;
  id = gl_VertexIndex + gl_InstanceIndex;
  gl_Position = view * vec4(position, 1.0);
  gl_PointSize = 1.0;
}`;
const fragment = `#version 450
layout(location = 0) in vec2 coord;
layout(location = 1) flat in int id;
layout(location = 0) out vec4 color;
void main() {
  if (coord.x < 0.1 || !gl_FrontFacing) discard;
  vec2 d = dFdx(coord) + fwidth(coord);
  color = vec4(d, gl_FragCoord.z, float(id));
  gl_FragDepth = 0.5;
}`;

describe("the other stages", () => {
  it.skipIf(!oracle("spirv-val"))("compiles plain vertex and fragment shaders", () => {
    const files = [
      { name: "vert.spv", data: bytes(words(vertex, { stage: "vertex" })) },
      { name: "frag.spv", data: bytes(words(fragment, { stage: "fragment" })) },
    ];
    expect(failuresOf("spirv-val --target-env vulkan1.3", files)).toEqual(new Map());
  });

  it("says what Vulkan does not have", () => {
    const source = "#version 450\nlayout(binding = 0) uniform sampler2DRect t;\nvoid main() { }";
    const result = compile(source, { stage: "fragment" });
    expect(result.diagnostics.map(({ message }) => message)).toEqual(["a rectangle texture does not exist in Vulkan"]);
  });
});
