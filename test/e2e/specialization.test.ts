import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CompileRequest, defaultRequest, type SpecializationValue } from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import { type Core, createCore } from "../../src/core/index.ts";
import { createMachine, type Machine } from "../../src/service/index.ts";
import { runKernel } from "./run-kernel.ts";

const source = `#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const float f = 1.5;
layout(constant_id = 1) const int i = 7;
layout(constant_id = 2) const uint u = 8;
layout(constant_id = 3) const bool b = false;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
void main() { r[0] = floatBitsToUint(f); r[1] = uint(i); r[2] = u; r[3] = b ? 1u : 0u; r[4] = uint(f + 0.5); }`;

describe("specialisation values take the type of their constant", () => {
  let core: Core;
  let machine: Machine;
  beforeAll(async () => {
    core = await createCore();
    machine = createMachine({ memoryBytes: 256 << 20 });
  });
  afterAll(() => machine.close());

  const request = (specialization: readonly SpecializationValue[], text = source): CompileRequest => ({
    ...defaultRequest,
    language: "glsl",
    stage: "compute",
    source: text,
    filename: "spec.comp",
    specialization,
  });

  const results = async (
    specialization: readonly SpecializationValue[],
    text = source,
    words = 5,
  ): Promise<number[]> => {
    const compiler = { compile: async (wanted: CompileRequest) => compileShader(wanted, core) };
    const options = { buffers: [new Uint32Array(words)], push: new Uint32Array(), groups: [1, 1, 1] as const };
    const { buffers } = await runKernel(machine, compiler, request(specialization, text), options);
    return [...(buffers[0] ?? [])];
  };

  it("defaults", async () => {
    expect(await results([])).toEqual([0x3fc00000, 7, 8, 0, 2]);
  });

  it("whole numbers for floats are floats, negative numbers and ids without a constant are taken", async () => {
    const values = [
      { id: 0, value: 2 },
      { id: 1, value: -3 },
      { id: 2, value: "4294967295" },
      { id: 3, value: 1 },
      { id: 9, value: 4 },
    ];
    expect(await results(values)).toEqual([0x40000000, 0xfffffffd, 0xffffffff, 1, 2]);
  });

  it("constants of other widths are converted by their sign", async () => {
    const wide = `#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 1) in;
layout(constant_id = 0) const int64_t q = 5l;
layout(constant_id = 1) const int16_t s = int16_t(-3);
layout(constant_id = 2) const uint8_t u = uint8_t(200);
layout(constant_id = 3) const int i = -2;
layout(constant_id = 4) const uint w = 0x80000001u;
const int64_t fromWord = int64_t(w) + int64_t(i);
const uint64_t fromSigned = uint64_t(i);
const i64vec2 vector = i64vec2(u16vec2(u, s));
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
void main() {
  uint sized[uint(u) - 196u];
  sized[q & 3] = 9u;
  r[0] = uint(q); r[1] = uint(q >> 32); r[2] = uint(s); r[3] = uint(uint16_t(s)); r[4] = uint(int8_t(u)); r[5] = uint(u);
  r[6] = uint(fromWord); r[7] = uint(fromWord >> 32); r[8] = uint(fromSigned >> 32); r[9] = uint(vector.x);
  r[10] = uint(vector.y); r[11] = uint(vector.y >> 32); r[12] = uint(sized.length()) + sized[q & 3];
  r[13] = uint(float(q)) + (bool(s) ? 16u : 0u);
}`;
    // -3 in 16 bits is 0xfffd, 200 in signed 8 bits is -56; 0x80000001 - 2 carries nothing into the high word
    const fixed = [5, 0, 0xfffffffd, 0xfffd, 0xffffffc8, 200, 0x7fffffff, 0, 0xffffffff, 200, 0xfffd, 0, 13, 21];
    expect(await results([], wide, fixed.length)).toEqual(fixed);
    const given = [
      { id: 0, value: "-4294967294" },
      { id: 2, value: 255 },
    ];
    // -4294967294 is 0xffffffff00000002; rounded to f32 it is -2^32, which no uint has: the last result is left out
    const other = [2, 0xffffffff, 0xfffffffd, 0xfffd, 0xffffffff, 255, 0x7fffffff, 0, 0xffffffff, 255, 0xfffd, 0, 68];
    expect((await results(given, wide, fixed.length)).slice(0, -1)).toEqual(other);
  });

  it.each([
    [1, 1.5, "32-bit int"],
    [2, 4294967296, "32-bit uint"],
    [2, true, "32-bit uint"],
    [0, "two", "32-bit float"],
    [3, "1", "bool"],
  ])("constant %i refuses %s", (id, value, type) => {
    const result = compileShader(request([{ id, value }]), core);
    expect(result.ok ? [] : result.diagnostics.map((d) => [d.code, d.message])).toEqual([
      ["COMPILE_SPEC_VALUE", `specialisation constant ${id} is a ${type}, ${value} is none`],
    ]);
  });
});
