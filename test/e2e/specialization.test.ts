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

  const request = (specialization: readonly SpecializationValue[]): CompileRequest => ({
    ...defaultRequest,
    language: "glsl",
    stage: "compute",
    source,
    filename: "spec.comp",
    specialization,
  });

  const results = async (specialization: readonly SpecializationValue[]): Promise<number[]> => {
    const compiler = { compile: async (wanted: CompileRequest) => compileShader(wanted, core) };
    const options = { buffers: [new Uint32Array(5)], push: new Uint32Array(), groups: [1, 1, 1] as const };
    const { buffers } = await runKernel(machine, compiler, request(specialization), options);
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
