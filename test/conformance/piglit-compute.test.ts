import { expect, it } from "vitest";
import { compile } from "../glsl/tools.ts";
import { convertComputeTest } from "./piglit-compute.ts";

const text = `[require]
GLSL >= 4.30

[compute shader]
writeonly uniform image2D tex;
layout(local_size_x = 2) in;
uniform vec2 arg0;
uniform int arg1;

void main()
{
  vec4 tmp_color = vec4(arg0.x * float(arg1), 0.0, 0.0, 0.0);
  ivec2 coord = ivec2(gl_GlobalInvocationID.xy);
  imageStore(tex, coord, tmp_color);
}

[test]
uniform int tex 0
uniform vec2 arg0 1.5 -2.0
uniform int arg1 -1
compute 1 1 1
probe rgb 0 0 -1.5 0.0 0.0 1.0
uniform int arg1 4
compute 1 1 1
probe rgb 1 0 6.0 0.0 0.0 1.0
`;

it("turns the image of a compute test into a buffer, and each dispatch into a workgroup", () => {
  const test = convertComputeTest(text);
  expect(test.localSize).toBe(2);
  expect(test.groups).toBe(2);
  // 1.5, -2.0, -1, then the same vector with 4
  expect([...test.words]).toEqual([0x3fc00000, 0xc0000000, 0xffffffff, 0x3fc00000, 0xc0000000, 4]);
  expect(test.probes).toEqual([
    { group: 0, x: 0, color: [-1.5, 0, 0] },
    { group: 1, x: 1, color: [6, 0, 0] },
  ]);
  expect(compile(test.source).ok).toBe(true);
});
