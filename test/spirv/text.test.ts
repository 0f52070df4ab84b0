import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  allInstructions,
  assemble,
  enumKind,
  enumTables,
  glslInstruction,
  glslStd450Table,
  type OperandRow,
  printModule,
  readModule,
} from "../../src/spirv/index.ts";
import { oracle, runOracle } from "../oracles.ts";
import { glslangModules, readWords, withFolder } from "./modules.ts";

function words(text: string): number[] {
  const result = assemble(text);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return [...result.words];
}

function errors(text: string): string[] {
  const result = assemble(text);
  if (result.ok) throw new Error("assembled");
  return result.diagnostics.map((d) => `${d.line}:${d.column}-${d.endLine}:${d.endColumn} ${d.code} ${d.message}`);
}

function toolAssemble(text: string): number[] {
  return withFolder((folder) => {
    const source = join(folder, "in.spvasm");
    const out = join(folder, "out.spv");
    writeFileSync(source, text);
    const args = ["--target-env", "spv1.6", "--preserve-numeric-ids", "-o", out, source];
    const done = runOracle("spirv-as", args);
    if (done.status !== 0) throw new Error(done.stderr);
    const result = [...readWords(out)];
    result[2] = 0; // the tool writes its own generator number
    return result;
  });
}

/** One operand of each kind as text; parameters of enumerants follow them. */
function sampleOperand(row: OperandRow): string {
  const one = (kind: string): string => {
    switch (kind) {
      case "type":
      case "id":
      case "scope":
      case "semantics":
        return "%10";
      case "int":
      case "extinst":
        return "3";
      case "string":
        return '"a \\"b\\" \\\\ \u00e9"';
      case "number":
        return "-7";
      case "specop":
        return "IAdd %10 %10";
      default: {
        const first = [...enumKind(kind)!.byName.values()].find((e) => e.parameters.length === 0)!;
        return first.name;
      }
    }
  };
  return row.pair === undefined ? one(row.kind) : `${one(row.kind)} ${one(row.pair)}`;
}

/** A text with every instruction, without and with its optional operands, and every enumerant. */
function everything(): string {
  const lines = ["%1 = OpTypeInt 32 1", "%10 = OpConstant %1 5"];
  let id = 100;
  for (const row of allInstructions()) {
    if (row.name === "OpExtInst") continue; // below, with its set
    const literals = row.operands.some((o) => o.kind === "number" && o.quantifier === "");
    const plain = row.operands.filter((o) => o.kind !== "result" && o.quantifier === "").map(sampleOperand);
    const full = row.operands.filter((o) => o.kind !== "result").map(sampleOperand);
    for (const operands of [plain, full]) {
      if (literals) operands[0] = "%1";
      if (row.name === "OpExtInstImport") operands[0] = '"NonSemantic.a"'; // the tool knows the sets' names
      lines.push(`${row.hasResult ? `%${id++} = ` : ""}${[row.name, ...operands].join(" ")}`);
    }
  }
  lines.push('%2 = OpExtInstImport "GLSL.std.450"');
  for (const [name, number] of glslStd450Table()) {
    const operands = " %10".repeat(glslInstruction(number)!.operands);
    lines.push(`%${id++} = OpExtInst %1 %2 ${name}${operands}`);
  }
  // an instruction that takes each kind of enumerant
  const users: Readonly<Record<string, string>> = {
    ImageOperands: "%ID = OpImageFetch %1 %10 %10 VALUE",
    FPFastMathMode: "OpDecorate %10 FPFastMathMode VALUE",
    SelectionControl: "OpSelectionMerge %10 VALUE",
    LoopControl: "OpLoopMerge %10 %10 VALUE",
    FunctionControl: "%ID = OpFunction %1 VALUE %10",
    MemoryAccess: "OpStore %10 %10 VALUE",
    SourceLanguage: "OpSource VALUE 1",
    ExecutionModel: 'OpEntryPoint VALUE %10 "main"',
    AddressingModel: "OpMemoryModel VALUE GLSL450",
    MemoryModel: "OpMemoryModel Logical VALUE",
    ExecutionMode: "OpExecutionMode %10 VALUE",
    StorageClass: "%ID = OpTypePointer VALUE %1",
    Dim: "%ID = OpTypeImage %1 VALUE 0 0 0 1 Unknown",
    SamplerAddressingMode: "%ID = OpConstantSampler %1 VALUE 0 Nearest",
    SamplerFilterMode: "%ID = OpConstantSampler %1 None 0 VALUE",
    ImageFormat: "%ID = OpTypeImage %1 2D 0 0 0 1 VALUE",
    FPRoundingMode: "OpDecorate %10 FPRoundingMode VALUE",
    LinkageType: 'OpDecorate %10 LinkageAttributes "x" VALUE',
    AccessQualifier: "%ID = OpTypePipe VALUE",
    FunctionParameterAttribute: "OpDecorate %10 FuncParamAttr VALUE",
    Decoration: "OpDecorate %10 VALUE",
    BuiltIn: "OpDecorate %10 BuiltIn VALUE",
    GroupOperation: "%ID = OpGroupNonUniformIAdd %1 %10 VALUE %10",
    Capability: "OpCapability VALUE",
    PackedVectorFormat: "%ID = OpSDotKHR %1 %10 %10 VALUE",
  };
  for (const [kind] of enumTables()) {
    const user = users[kind];
    if (user === undefined) continue;
    for (const e of enumKind(kind)!.byName.values()) {
      const value = [e.name, ...e.parameters.map(sampleOperand)].join(" ");
      lines.push(user.replace("ID", String(id++)).replace("VALUE", value));
    }
  }
  return `${lines.join("\n")}\n`;
}

describe("assemble", () => {
  it("gives names the free ids in order of appearance and keeps numbers", () => {
    // magic, 1.6, generator, bound 4, schema; OpTypeFloat %1 32; OpTypeVector %3 %1 4; OpTypePointer %2 Function %3
    expect(words("%f = OpTypeFloat 32\n%3 = OpTypeVector %f 4 %p = OpTypePointer Function\n %3 ; end")).toEqual([
      0x07230203, 0x10600, 0, 4, 0, 0x30016, 1, 32, 0x40017, 3, 1, 4, 0x40020, 2, 7, 3,
    ]);
  });

  it("types literals by their result type and by the selector of a switch", () => {
    const text = `%i8 = OpTypeInt 8 1
%u64 = OpTypeInt 64 0
%h = OpTypeFloat 16
%d = OpTypeFloat 64
%a = OpConstant %i8 -2
%b = OpConstant %u64 0x1234567890
%c = OpConstant %h 1.5
%e = OpConstant %d -0x1.8p-1
OpSwitch %b %l 4294967296 %m`;
    expect(words(text).slice(5 + 4 + 4 + 3 + 3)).toEqual([
      0x4002b, 1, 5, 0xfffffffe, 0x5002b, 2, 6, 0x34567890, 0x12, 0x4002b, 3, 7, 0x3e00, 0x5002b, 4, 8, 0, 0xbfe80000,
      0x600fb, 6, 9, 0, 1, 10,
    ]);
  });

  it("reports every broken instruction at its own place", () => {
    const text = `OpCapability Shadr
%1 = OpTypeInt 32
OpName %1 "é\\"" extra
OpTypeVoid
%2 = OpNop
%3 = OpFrob %1
%4 = OpConstant %1 70000000000
OpStore %5
= x
OpString "open`;
    expect(errors(text)).toEqual([
      "1:14-1:19 SPIRVASM_UNKNOWN_NAME no Capability is named Shadr",
      "3:1-3:7 SPIRVASM_EXPECTED expected a number, found OpName",
      "3:17-3:22 SPIRVASM_EXPECTED expected the end of the instruction, found extra",
      "4:1-4:11 SPIRVASM_RESULT OpTypeVoid needs a result: %id =",
      "5:1-5:3 SPIRVASM_RESULT OpNop has no result",
      "6:6-6:12 SPIRVASM_UNKNOWN_OP no instruction is named OpFrob",
      "7:20-7:31 SPIRVASM_BAD_NUMBER 70000000000 is no literal: its type is not an integer or float type declared before",
      "8:9-8:11 SPIRVASM_EXPECTED expected an id, found %5",
      "9:3-9:4 SPIRVASM_EXPECTED expected an instruction, found x",
      "10:1-10:9 SPIRVASM_RESULT OpString needs a result: %id =",
    ]);
  });

  it("tells the text line of each word", () => {
    const result = assemble("; one\n%1 = OpTypeVoid\n\n%2 = OpTypeInt\n 32 0\n");
    if (!result.ok) throw new Error("must assemble");
    expect([0, 4, 5, 6, 7, 10].map(result.lineOfWord)).toEqual([undefined, undefined, 2, 2, 4, 4]);
  });
});

describe.skipIf(!oracle("spirv-as"))("against spirv-as and spirv-dis", () => {
  it("every row: assembles to the tool's words", () => {
    const text = everything();
    expect(words(text)).toEqual(toolAssemble(text));
  });

  it("number literals", () => {
    const lines = ["%1 = OpTypeFloat 32", "%2 = OpTypeFloat 64", "%3 = OpTypeFloat 16", "%4 = OpTypeInt 16 1"];
    const floats = [
      "0",
      "-0.0",
      "1e10",
      "-1.5E-3",
      ".5",
      "3.",
      "0x1p-149",
      "0x1.8p+128",
      "-0x1p+128",
      "1e-45",
      "3.4028235e38",
    ];
    for (const f of floats) lines.push(`%f${lines.length} = OpConstant %1 ${f}`);
    for (const f of ["0.1", "0x1p-1074", "0x1.8p+1024", "1e300", "-2.5e-310"])
      lines.push(`%f${lines.length} = OpConstant %2 ${f}`);
    for (const f of ["0x1.8p+0", "-0x1p-24", "0x1p+16", "0x1.ffcp+15"])
      lines.push(`%f${lines.length} = OpConstant %3 ${f}`);
    for (const f of ["-32768", "32767", "0xffff", "-1", "0x8000"]) lines.push(`%f${lines.length} = OpConstant %4 ${f}`);
    const text = lines.join("\n");
    expect(words(text)).toEqual(toolAssemble(text));
  });

  describe.skipIf(!oracle("glslangValidator"))("modules of glslang", () => {
    const modules = oracle("glslangValidator") ? glslangModules() : [];
    it.each(modules)("$name: prints as the tool does, and reads back", ({ words: module }) => {
      const read = readModule(module);
      if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
      const text = printModule(read.module);
      const tool = withFolder((folder) => {
        writeFileSync(join(folder, "m.spv"), module);
        return runOracle("spirv-dis", ["--raw-id", "--no-header", join(folder, "m.spv")]).stdout;
      });
      const own = text.split("\n").filter((line) => !line.startsWith(";"));
      expect(own).toEqual(tool.split("\n"));
      const again = assemble(text, { target: "vulkan1.0" });
      if (!again.ok) throw new Error(JSON.stringify(again.diagnostics));
      expect(again.words.subarray(5)).toEqual(module.subarray(5));
    });
  });
});
