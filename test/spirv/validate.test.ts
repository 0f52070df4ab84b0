import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { assemble, readModule, type SpirvTarget, validateModule } from "../../src/spirv/index.ts";
import { oracle, runOracle } from "../oracles.ts";
import { glslangModules, withFolder } from "./modules.ts";

const base = `OpCapability Shader
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %buffer
OpExecutionMode %main LocalSize 8 1 1
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %block 1 Offset 16
OpDecorate %array ArrayStride 4
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%float = OpTypeFloat 32
%vec2 = OpTypeVector %float 2
%vec4 = OpTypeVector %float 4
%array = OpTypeRuntimeArray %float
%block = OpTypeStruct %vec4 %array
%pblock = OpTypePointer StorageBuffer %block
%pfloat = OpTypePointer StorageBuffer %float
%buffer = OpVariable %pblock StorageBuffer
%plocal = OpTypePointer Function %float
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%five = OpConstant %uint 5
%semantics = OpConstant %uint 264
%half = OpConstant %float 0.5
%true = OpConstantTrue %bool
%ffn = OpTypeFunction %float %float
%main = OpFunction %void None %fn
%entry = OpLabel
%local = OpVariable %plocal Function
OpStore %local %half
OpBranch %head
%head = OpLabel
OpLoopMerge %exit %next None
OpBranch %test
%test = OpLabel
OpBranchConditional %true %body %exit
%body = OpLabel
OpSelectionMerge %done None
OpBranchConditional %true %then %done
%then = OpLabel
OpBranch %done
%done = OpLabel
%phi = OpPhi %float %half %body %half %then
OpBranch %next
%next = OpLabel
OpBranch %head
%exit = OpLabel
%value = OpLoad %float %local
%sum = OpFAdd %float %value %half
%call = OpFunctionCall %float %f %sum
%at = OpAccessChain %pfloat %buffer %one %two
OpStore %at %call
OpControlBarrier %two %two %semantics
OpReturn
OpFunctionEnd
%f = OpFunction %float None %ffn
%p = OpFunctionParameter %float
%fentry = OpLabel
%r = OpExtInst %float %glsl Sqrt %p
OpReturnValue %r
OpFunctionEnd
`;

function wordsOf(text: string, target?: SpirvTarget): Uint32Array {
  const result = assemble(text, target === undefined ? {} : { target });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.words;
}

function verdict(words: Uint32Array, entryPoint?: string) {
  const read = readModule(words);
  if (!read.ok) return read.diagnostics;
  return validateModule(read.module, entryPoint === undefined ? {} : { entryPoint });
}

function toolAccepts(folder: string, words: Uint32Array): boolean {
  const path = join(folder, "m.spv");
  writeFileSync(path, words);
  return runOracle("spirv-val", ["--target-env", "vulkan1.3", path]).status === 0;
}

/** What is replaced in the base module, and the code that the result must get. */
const broken: readonly (readonly [about: string, from: string, to: string, code: string])[] = [
  ["sections out of order", "OpMemoryModel Logical GLSL450\n", "", "SPIRV_LAYOUT"],
  ["a capability after the memory model", "GLSL450\n", "GLSL450\nOpCapability Matrix\n", "SPIRV_LAYOUT"],
  ["a missing capability", "OpCapability Shader\n", "OpCapability Linkage\n", "SPIRV_LAYOUT"],
  ["a block without terminator", "OpBranch %done\n%done", "%done", "SPIRV_LAYOUT"],
  ["a function without end", "OpReturnValue %r\nOpFunctionEnd\n", "OpReturnValue %r\n", "SPIRV_LAYOUT"],
  [
    "a variable after other code",
    "OpStore %local %half\n",
    "OpStore %local %half\n%l2 = OpVariable %plocal Function\n",
    "SPIRV_LAYOUT",
  ],
  ["no workgroup size", "OpExecutionMode %main LocalSize 8 1 1\n", "", "SPIRV_LAYOUT"],
  [
    "a fragment shader without an origin",
    'GLCompute %main "main" %buffer\nOpExecutionMode %main LocalSize 8 1 1',
    'Fragment %main "main" %buffer',
    "SPIRV_LAYOUT",
  ],
  ["an entry point with parameters", '%main "main" %buffer', '%f "main" %buffer', "SPIRV_LAYOUT"],
  ["an undefined id", "OpStore %at %call", "OpStore %at %nowhere", "SPIRV_ID_UNDEFINED"],
  ["a use before the definition", "%sum = OpFAdd %float %value", "%sum = OpFAdd %float %call", "SPIRV_ID_FORWARD"],
  [
    "a value of another function",
    "OpStore %at %call",
    "OpStore %at %sum\nOpReturn\nOpFunctionEnd\n%g = OpFunction %void None %fn\n%gl = OpLabel\nOpStore %at %half",
    "SPIRV_TYPE",
  ],
  ["a type as a value", "OpStore %at %call", "OpStore %at %float", "SPIRV_TYPE"],
  ["a value as a type", "%value = OpLoad %float", "%value = OpLoad %half", "SPIRV_TYPE"],
  ["operands of another type", "OpFAdd %float %value %half", "OpFAdd %float %value %one", "SPIRV_TYPE"],
  ["integer arithmetic on floats", "OpFAdd %float", "OpIAdd %float", "SPIRV_TYPE"],
  ["a load of another type", "%value = OpLoad %float %local", "%value = OpLoad %uint %local", "SPIRV_TYPE"],
  ["a store of another type", "OpStore %at %call", "OpStore %at %one", "SPIRV_TYPE"],
  ["an access chain past the struct", "%buffer %one %two", "%buffer %two %two", "SPIRV_TYPE"],
  ["an access chain to another type", "%buffer %one %two", "%buffer %one", "SPIRV_TYPE"],
  ["a call with too few arguments", "%float %f %sum", "%float %f", "SPIRV_TYPE"],
  ["an argument of another type", "%float %f %sum", "%float %f %one", "SPIRV_TYPE"],
  ["an extended instruction of another type", "Sqrt %p", "Sqrt %one", "SPIRV_TYPE"],
  ["a return without value", "OpReturnValue %r", "OpReturn", "SPIRV_TYPE"],
  ["a vector of five", "OpTypeVector %float 4", "OpTypeVector %float 5", "SPIRV_TYPE"],
  ["a runtime array in the middle", "OpTypeStruct %vec4 %array", "OpTypeStruct %array %vec4", "SPIRV_TYPE"],
  ["a type twice", "%int = OpTypeInt 32 1", "%int = OpTypeInt 32 0", "SPIRV_TYPE"],
  ["two orders in a barrier", "%semantics = OpConstant %uint 264", "%semantics = OpConstant %uint 268", "SPIRV_TYPE"],
  [
    "a condition that is no bool",
    "OpBranchConditional %true %body %exit",
    "OpBranchConditional %one %body %exit",
    "SPIRV_TYPE",
  ],
  ["a branch to the first block", "%next = OpLabel\nOpBranch %head", "%next = OpLabel\nOpBranch %entry", "SPIRV_CFG"],
  ["a back edge without loop", "OpLoopMerge %exit %next None\n", "", "SPIRV_CFG"],
  ["a selection without merge", "OpSelectionMerge %done None\n", "", "SPIRV_CFG"],
  ["a selection left sideways", "%then = OpLabel\nOpBranch %done", "%then = OpLabel\nOpBranch %test", "SPIRV_CFG"],
  ["a merge block used twice", "OpSelectionMerge %done None", "OpSelectionMerge %exit None", "SPIRV_CFG"],
  ["a phi without a predecessor", "%half %body %half %then", "%half %body", "SPIRV_CFG"],
  ["a phi of a strange block", "%half %body %half %then", "%half %body %half %test", "SPIRV_CFG"],
  ["a use that is not dominated", "OpStore %at %call", "OpStore %at %phi", "SPIRV_CFG"],
  ["recursion", "%r = OpExtInst %float %glsl Sqrt %p", "%r = OpFunctionCall %float %f %p", "SPIRV_CFG"],
  ["a block without Offset", "OpMemberDecorate %block 1 Offset 16\n", "", "SPIRV_DECORATION"],
  ["an array without stride", "OpDecorate %array ArrayStride 4\n", "", "SPIRV_DECORATION"],
  ["a stride that splits words", "ArrayStride 4", "ArrayStride 6", "SPIRV_DECORATION"],
  ["a buffer without Binding", "OpDecorate %buffer Binding 0\n", "", "SPIRV_DECORATION"],
  ["a decoration of a member that is not there", "%block 1 Offset 16", "%block 2 Offset 16", "SPIRV_DECORATION"],
  [
    "a selection that ends at one of its cases",
    "OpSelectionMerge %done None",
    "OpSelectionMerge %then None",
    "SPIRV_CFG",
  ],
  ["a half without Float16", "%half = OpConstant", "%f16 = OpTypeFloat 16\n%half = OpConstant", "SPIRV_LAYOUT"],
  ["a double without Float64", "%half = OpConstant", "%f64 = OpTypeFloat 64\n%half = OpConstant", "SPIRV_LAYOUT"],
  ["a byte without Int8", "%half = OpConstant", "%i8 = OpTypeInt 8 0\n%half = OpConstant", "SPIRV_LAYOUT"],
  ["a short without Int16", "%half = OpConstant", "%i16 = OpTypeInt 16 0\n%half = OpConstant", "SPIRV_LAYOUT"],
  ["a long without Int64", "%half = OpConstant", "%i64 = OpTypeInt 64 1\n%half = OpConstant", "SPIRV_LAYOUT"],
  ["a buffer that no interface lists", '"main" %buffer', '"main"', "SPIRV_LAYOUT"],
  ["a capability of kernels", "OpCapability Shader\n", "OpCapability Shader\nOpCapability Kernel\n", "SPIRV_LAYOUT"],
  [
    "a texel pointer into a buffer",
    "OpStore %at %call",
    "%texel = OpImageTexelPointer %pfloat %buffer %one %zero\nOpStore %at %call",
    "SPIRV_TYPE",
  ],
  [
    "a load of a struct with a runtime array",
    "OpStore %at %call",
    "%whole = OpLoad %block %buffer\nOpStore %at %call",
    "SPIRV_TYPE",
  ],
  [
    "a workgroup variable that starts as a value",
    "%ffn =",
    "%pshared = OpTypePointer Workgroup %float\n%shared = OpVariable %pshared Workgroup %half\n%ffn =",
    "SPIRV_TYPE",
  ],
  [
    "a push constant with an initialiser",
    "%ffn =",
    `%push = OpTypeStruct %float
%null = OpConstantNull %push
%ppush = OpTypePointer PushConstant %push
%pushed = OpVariable %ppush PushConstant %null
%ffn =`,
    "SPIRV_TYPE",
  ],
  [
    "a SpecId of a plain constant",
    "OpDecorate %block Block",
    "OpDecorate %block Block\nOpDecorate %half SpecId 3",
    "SPIRV_DECORATION",
  ],
  [
    "a Location of a buffer",
    "OpDecorate %block Block",
    "OpDecorate %block Block\nOpDecorate %buffer Location 1",
    "SPIRV_DECORATION",
  ],
  ["a BufferBlock after SPIR-V 1.3", "OpDecorate %block Block", "OpDecorate %block BufferBlock", "SPIRV_DECORATION"],
  [
    "a conversion to the same width",
    "OpStore %at %call",
    "%same = OpSConvert %int %one\nOpStore %at %call",
    "SPIRV_TYPE",
  ],
  [
    "an atomic of the whole queue family",
    "OpStore %at %call",
    "%family = OpAtomicLoad %float %at %five %zero\nOpStore %at %call",
    "SPIRV_TYPE",
  ],
  [
    "an atomic on a local variable",
    "OpStore %at %call",
    "%atomic = OpAtomicLoad %float %local %one %zero\nOpStore %at %call",
    "SPIRV_TYPE",
  ],
  ["a barrier of the whole queue family", "OpControlBarrier %two %two", "OpControlBarrier %five %two", "SPIRV_TYPE"],
  ["a barrier of the whole device", "OpControlBarrier %two %two", "OpControlBarrier %one %two", "SPIRV_TYPE"],
  [
    "memory of the queue family in a barrier",
    "OpControlBarrier %two %two",
    "OpControlBarrier %two %five",
    "SPIRV_TYPE",
  ],
  [
    "an array of arrays of buffers",
    "%ffn =",
    `%row = OpTypeArray %block %two
%grid = OpTypeArray %row %two
%pgrid = OpTypePointer StorageBuffer %grid
%second = OpVariable %pgrid StorageBuffer
%ffn =`,
    "SPIRV_DECORATION",
  ],
];

describe("validateModule", () => {
  it("accepts the base module", () => {
    expect(verdict(wordsOf(base), "main")).toEqual([]);
  });

  it.each(broken)("%s", (_about, from, to, code) => {
    expect(base).toContain(from);
    const found = verdict(wordsOf(base.replace(from, to)));
    expect(found.map((d) => d.code)).toContain(code);
  });

  it("takes a pointer that is declared ahead as element of an array, and no other type ahead", () => {
    const ahead = base
      .replace(
        "OpMemoryModel Logical",
        "OpCapability PhysicalStorageBufferAddresses\nOpMemoryModel PhysicalStorageBuffer64",
      )
      .replace(
        "%void =",
        "OpDecorate %nodes ArrayStride 8\nOpDecorate %node Block\nOpMemberDecorate %node 0 Offset 0\n%void =",
      )
      .replace("%vec2 =", "OpTypeForwardPointer %pnode PhysicalStorageBuffer\n%vec2 =")
      .replace(
        "%zero =",
        "%three = OpConstant %uint 3\n%nodes = OpTypeArray %pnode %three\n%node = OpTypeStruct %nodes\n" +
          "%pnode = OpTypePointer PhysicalStorageBuffer %node\n%zero =",
      );
    // OpExtInstImport stands behind the capabilities
    const ordered = ahead
      .replace('%glsl = OpExtInstImport "GLSL.std.450"\n', "")
      .replace("OpMemoryModel", '%glsl = OpExtInstImport "GLSL.std.450"\nOpMemoryModel');
    expect(verdict(wordsOf(ordered), "main")).toEqual([]);
    const undeclared = ordered.replace("OpTypeForwardPointer %pnode PhysicalStorageBuffer\n", "");
    expect(verdict(wordsOf(undeclared)).map((d) => d.code)).toContain("SPIRV_ID_FORWARD");
  });

  it("wants the extension for a non-semantic set before SPIR-V 1.6", () => {
    const text = base.replace("OpMemoryModel", '%set = OpExtInstImport "NonSemantic.X"\nOpMemoryModel');
    expect(verdict(wordsOf(text))).toEqual([]);
    expect(verdict(wordsOf(text, "vulkan1.2")).map((d) => d.code)).toEqual(["SPIRV_LAYOUT"]);
    const extended = text.replace("%glsl =", 'OpExtension "SPV_KHR_non_semantic_info"\n%glsl =');
    expect(verdict(wordsOf(extended, "vulkan1.2"))).toEqual([]);
  });

  it("finds several errors in one run", () => {
    const text = base
      .replace("Sqrt %p", "Sqrt %one")
      .replace("OpFAdd %float", "OpIAdd %float")
      .replace("ArrayStride 4", "ArrayStride 6");
    expect(verdict(wordsOf(text)).map((d) => d.code)).toEqual(["SPIRV_TYPE", "SPIRV_TYPE", "SPIRV_DECORATION"]);
  });

  it("is done soon with deep and wide modules", () => {
    const nested = Array.from(
      { length: 3000 },
      (_, i) => `%s${i} = OpTypeStruct ${i === 0 ? "%vec4" : `%s${i - 1}`}\n`,
    );
    const deep = base.replace("%ffn =", `${nested.join("")}%ffn =`);
    expect(verdict(wordsOf(deep)).every((d) => d.message.includes("nests deeper than 255"))).toBe(true);
    const ifs = Array.from(
      { length: 4000 },
      (_, i) => `OpSelectionMerge %m${i} None\nOpBranchConditional %true %t${i} %m${i}\n%t${i} = OpLabel\n`,
    );
    const ends = Array.from({ length: 4000 }, (_, i) => `OpBranch %m${3999 - i}\n%m${3999 - i} = OpLabel\n`);
    const tower = base.replace("%r = OpExtInst", `${ifs.join("")}${ends.join("")}%r = OpExtInst`);
    const start = performance.now();
    expect(verdict(wordsOf(tower)).map((d) => d.message)[0]).toContain("nests deeper than 1023");
    const chain = Array.from({ length: 20_000 }, (_, i) => `OpBranch %c${i}\n%c${i} = OpLabel\n`);
    expect(verdict(wordsOf(base.replace("%r = OpExtInst", `${chain.join("")}%r = OpExtInst`)))).toEqual([]);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

describe("support", () => {
  const unsupported = (text: string, entryPoint = "main"): string[] => {
    const diagnostics = verdict(wordsOf(text), entryPoint);
    expect(diagnostics.every((d) => d.code === "SPIRV_UNSUPPORTED")).toBe(true);
    return diagnostics.map((d) => d.message.replace(/ at word \d+/, ""));
  };

  it("names a type, an instruction and a storage class that the compiler does not have", () => {
    const pointer = base
      .replace("%ffn =", "%pointer = OpTypePointer CrossWorkgroup %float\n%ffn =")
      .replace("%sum =", "%read = OpUndef %pointer\n%sum =");
    expect(unsupported(pointer)[0]).toBe("storage class CrossWorkgroup is not supported, in OpTypePointer");
    expect(unsupported(base.replace("OpReturnValue %r", "OpKill"))).toEqual(["OpKill is not supported, in OpKill"]);
  });

  it("does not mind what the entry point does not reach", () => {
    const other = base
      .replace("OpCapability Shader\n", "OpCapability Shader\nOpCapability Float64\n")
      .replace("%ffn =", "%double = OpTypeFloat 64\n%dfn = OpTypeFunction %double %double\n%ffn =");
    const text = `${other}%g = OpFunction %double None %dfn\n%d = OpFunctionParameter %double\n%gl = OpLabel\nOpReturnValue %d\nOpFunctionEnd\n`;
    expect(verdict(wordsOf(text), "main")).toEqual([]);
  });

  it("names the stages that there are where none is wanted", () => {
    const text = base
      .replace("OpCapability Shader\n", "OpCapability Shader\nOpCapability Geometry\n")
      .replace("GLCompute", "Geometry")
      .replace("OpExecutionMode %main LocalSize 8 1 1\n", "");
    const messages = verdict(wordsOf(text), "main").map((d) => d.message);
    expect(messages.some((message) => message.includes("main (Geometry)"))).toBe(true);
  });
});

describe.skipIf(!oracle("spirv-val"))("against spirv-val", () => {
  it("the base module is valid and each broken one is not", () => {
    withFolder((folder) => {
      expect(toolAccepts(folder, wordsOf(base))).toBe(true);
      const accepted = broken.filter(([, from, to]) => toolAccepts(folder, wordsOf(base.replace(from, to))));
      expect(accepted.map(([about]) => about)).toEqual([]);
    });
  });

  it.skipIf(!oracle("glslangValidator"))("agrees on changed modules of glslang", () => {
    const modules = glslangModules("debug").map((m) => m.words);
    let state = 12345;
    const random = (below: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    for (const words of modules) expect(verdict(words)).toEqual([]);
    const count = { rejected: 0, missed: 0 };
    const wrong: string[] = [];
    withFolder((folder) => {
      for (let i = 0; i < 150; i++) {
        const words = modules[random(modules.length)]!;
        const read = readModule(words);
        if (!read.ok) throw new Error("must read");
        const { at, end } = read.module.instructions[random(read.module.instructions.length)]!;
        // another id or literal in place of a word, or the instruction gone
        let changed = words.slice();
        if (random(2) === 0) changed[at + 1 + random(Math.max(1, end - at - 1))] = 1 + random(read.module.bound);
        else changed = Uint32Array.from([...words.subarray(0, at), ...words.subarray(end)]);
        const own = verdict(changed);
        if (toolAccepts(folder, changed)) {
          // the specification (2.16.2) asks for MatrixStride on matrices in arrays too, the tool does not look there
          const message = own.find((d) => !d.message.includes("MatrixStride"))?.message;
          if (message !== undefined) wrong.push(message);
        } else {
          count.rejected++;
          if (own.length === 0) count.missed++;
        }
      }
    });
    expect(wrong).toEqual([]);
    expect(count.rejected).toBeGreaterThan(80);
    // what the tool knows beyond our checks: Location on inputs and outputs, std140 and std430 alignment, set names
    expect(count.missed / count.rejected).toBeLessThan(0.03);
  });
});
