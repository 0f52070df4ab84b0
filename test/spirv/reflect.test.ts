import { describe, expect, it } from "vitest";
import {
  assemble,
  type ModuleReflection,
  readModule,
  reflectModule,
  type Specialization,
} from "../../src/spirv/index.ts";
import { oracle } from "../oracles.ts";
import { glslangModules } from "./modules.ts";

const modules = oracle("glslangValidator") ? glslangModules() : [];

function reflect(name: string, specialization: readonly Specialization[] = []): ModuleReflection[] {
  const found = modules.filter((m) => m.name.startsWith(name));
  expect(found.length).toBe(2);
  return found.map(({ words }) => {
    const read = readModule(words);
    if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
    const result = reflectModule(read.module, "main", "compute", specialization);
    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
    return result.reflection;
  });
}

/** A storage buffer that holds just a runtime array at set 0. */
function array(binding: number, name: string, stride: number, access: "r" | "w" | "rw") {
  return expect.objectContaining({
    set: 0,
    binding,
    type: "storageBuffer",
    count: 1,
    name,
    blockName: name,
    blockSizeBytes: 0,
    runtimeArrayStrideBytes: stride,
    readonly: access === "r",
    writeonly: access === "w",
  });
}

describe.skipIf(!oracle("glslangValidator"))("reflectModule", () => {
  const kernels = [
    ["saxpy", [256, 1, 1], [array(0, "X", 4, "r"), array(1, "Y", 4, "rw")]],
    ["matmul_naive", [16, 16, 1], [array(0, "A", 4, "r"), array(1, "B", 4, "r"), array(2, "C", 4, "w")]],
    ["matmul_tiled", [16, 16, 1], [array(0, "A", 4, "r"), array(1, "B", 4, "r"), array(2, "C", 4, "w")]],
    ["mandelbrot", [16, 16, 1], [array(0, "O", 4, "w")]],
    ["reduce", [1024, 1, 1], [array(0, "I", 4, "r"), array(1, "O", 4, "w")]],
    ["nbody", [256, 1, 1], [array(0, "P0", 16, "r"), array(1, "V0", 16, "rw"), array(2, "P1", 16, "w")]],
  ] as const;
  it.each(kernels)("%s: workgroup size, buffers, push constants", (name, workgroupSize, resources) => {
    for (const reflection of reflect(`${name}.comp`)) {
      expect(reflection.workgroupSize).toEqual(workgroupSize);
      expect(reflection.resources).toEqual(resources);
      expect(reflection.pushConstantBytes).toBe(8);
      expect(reflection.specializationConstants).toEqual([]);
      expect(reflection.entryPoints).toEqual([{ name: "main", stage: "compute" }]);
    }
  });

  it("arrays of blocks, std140 sizes, specialisation constants and a specialised workgroup size", () => {
    for (const [i, reflection] of reflect("switch.comp").entries()) {
      expect(reflection.workgroupSize).toEqual([1, 2, 1]);
      expect(reflection.resources).toEqual([
        // uint, int, then uvec4[] from byte 16
        expect.objectContaining({ set: 0, binding: 5, type: "storageBuffer", count: 2, name: "b", blockName: "B" }),
        // S is vec3, float, mat3 in 3 * 16 bytes: 64; three of them, then a mat4
        expect.objectContaining({ set: 1, binding: 2, type: "uniformBuffer", count: 1, name: "u", blockName: "U" }),
      ]);
      expect(reflection.resources.map((r) => [r.blockSizeBytes, r.runtimeArrayStrideBytes])).toEqual([
        [16, 16],
        [256, undefined],
      ]);
      expect(reflection.pushConstantBytes).toBe(0);
      expect(reflection.specializationConstants).toEqual([
        { id: 0, name: "mode", type: "int", widthBits: 32 },
        { id: 1, name: "flip", type: "bool", widthBits: 1 },
        { id: 2, name: "scale", type: "float", widthBits: 32 },
        expect.objectContaining({ id: 3, type: "uint", widthBits: 32 }),
      ]);
      expect(reflect("switch.comp", [{ id: 3, value: 48 }])[i]!.workgroupSize).toEqual([48, 2, 1]);
    }
  });

  it("images and samplers by kind", () => {
    for (const { resources } of reflect("wide.comp")) {
      expect(resources.map((r) => [r.binding, r.type, r.name, r.writeonly])).toEqual([
        [0, "storageImage", "img", true],
        [1, "combinedImageSampler", "tex", false],
        [2, "storageBuffer", "D", false],
      ]);
    }
  });
});

describe("reflectModule on text", () => {
  const text = `OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %a "one"
OpEntryPoint Vertex %b "one"
OpExecutionModeId %a LocalSizeId %w %two %two
OpDecorate %s SpecId 9
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%two = OpConstant %uint 2
%s = OpSpecConstant %uint 5
%w = OpSpecConstantOp %uint IMul %s %two
%a = OpFunction %void None %fn
%l = OpLabel
OpReturn
OpFunctionEnd
%b = OpFunction %void None %fn
%m = OpLabel
OpReturn
OpFunctionEnd`;
  const assembled = assemble(text);
  if (!assembled.ok) throw new Error("must assemble");
  const read = readModule(assembled.words);
  if (!read.ok) throw new Error("must read");

  it("computes LocalSizeId from an operation on a specialised constant", () => {
    const result = reflectModule(read.module, "one", "compute", [{ id: 9, value: "7" }]);
    expect(result.ok && result.reflection.workgroupSize).toEqual([14, 2, 2]);
  });

  it("picks the entry point by stage where names repeat", () => {
    const result = reflectModule(read.module, "one", "vertex");
    expect(result.ok && result.reflection.workgroupSize).toEqual([1, 1, 1]);
  });

  it("names the entry points there are when there is none of that name", () => {
    const result = reflectModule(read.module, "main", "compute");
    expect(!result.ok && result.diagnostics.map((d) => d.message)).toEqual([
      "no compute entry point is named main; the module has one (compute), one (vertex)",
    ]);
  });

  it("says so when the workgroup size is zero", () => {
    const result = reflectModule(read.module, "one", "compute", [{ id: 9, value: 0 }]);
    expect(!result.ok && result.diagnostics.map((d) => d.code)).toEqual(["SPIRV_LAYOUT"]);
  });
});
