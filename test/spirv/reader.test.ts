import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  assemble,
  disassemble,
  printModule,
  type ReadOptions,
  readModule,
  reflectModule,
  spanOf,
  validateModule,
} from "../../src/spirv/index.ts";
import { oracle } from "../oracles.ts";
import { glslangModules } from "./modules.ts";

function wordsOf(text: string): Uint32Array {
  const result = assemble(text);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.words;
}

/** Codes and messages of a module that does not read. */
function errors(input: Uint32Array | Uint8Array | number[], options?: ReadOptions): string[] {
  const result = readModule(Array.isArray(input) ? Uint32Array.from(input) : input, options);
  if (result.ok) throw new Error("the module reads");
  return result.diagnostics.map((d) => `${d.code}: ${d.message}`);
}

const header = [0x07230203, 0x10600, 0, 10, 0];

/** A whole small shader: every kind of operand that the compute subset has. */
const shader = `OpCapability Shader
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %buffer %id
OpExecutionMode %main LocalSize 8 1 1
OpName %main "main"
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %array ArrayStride 4
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
OpDecorate %id BuiltIn GlobalInvocationId
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%uvec3 = OpTypeVector %uint 3
%array = OpTypeRuntimeArray %float
%block = OpTypeStruct %array
%pblock = OpTypePointer StorageBuffer %block
%pfloat = OpTypePointer StorageBuffer %float
%pid = OpTypePointer Input %uvec3
%buffer = OpVariable %pblock StorageBuffer
%id = OpVariable %pid Input
%zero = OpConstant %uint 0
%half = OpConstant %float 0.5
%main = OpFunction %void None %fn
%entry = OpLabel
%gid = OpLoad %uvec3 %id
%x = OpCompositeExtract %uint %gid 0
%cond = OpIEqual %bool %x %zero
OpSelectionMerge %done None
OpSwitch %x %other 0 %first 7 %first
%first = OpLabel
OpBranch %done
%other = OpLabel
OpBranch %done
%done = OpLabel
%v = OpPhi %float %half %first %half %other
%root = OpExtInst %float %glsl Sqrt %v
%at = OpAccessChain %pfloat %buffer %zero %x
OpStore %at %root
OpReturn
OpFunctionEnd
`;

describe("readModule", () => {
  it("reads words, bytes, and either byte order to the same module", () => {
    const words = wordsOf(shader);
    const bytes = new Uint8Array(words.buffer.slice(0));
    const swapped = bytes.slice();
    for (let i = 0; i < swapped.length; i += 4) swapped.subarray(i, i + 4).reverse();
    for (const input of [words, bytes, swapped]) {
      const read = readModule(input);
      expect(read.ok && [...read.module.words]).toEqual([...words]);
    }
    expect(validateModule(ok(words))).toEqual([]);
  });

  it("names what is wrong with a header", () => {
    expect(errors(new Uint8Array(6))).toEqual(["SPIRV_NOT_WORDS: 6 bytes are no whole number of 4-byte words"]);
    expect(errors([])).toEqual(["SPIRV_TRUNCATED_HEADER: module ends inside its header, after 0 of 5 words"]);
    expect(errors([1, 0x10000, 0, 1, 0])).toEqual([
      "SPIRV_BAD_MAGIC: first word is 0x00000001, not the magic number 0x07230203",
    ]);
    expect(errors([0x07230203, 0x20000, 0, 1, 0])).toEqual([
      "SPIRV_BAD_VERSION: version word 0x00020000 is none of 1.0 to 1.6",
    ]);
    expect(errors([0x07230203, 0x10000, 0, 0x400000, 0])).toEqual([
      "SPIRV_BAD_BOUND: id bound 4194304 is not in 1 to 4194303",
    ]);
  });

  it("names what is wrong with the framing", () => {
    expect(errors([...header, 0x00000011])).toEqual(["SPIRV_ZERO_LENGTH: instruction at word 5 has a word count of 0"]);
    expect(errors([...header, 0x00030011, 1])).toEqual(["SPIRV_TRUNCATED: module ends inside OpCapability at word 5"]);
    expect(errors([...header, 0x0001ffff])).toEqual(["SPIRV_UNKNOWN_OP: opcode 65535 at word 5 is not in the grammar"]);
  });

  it("checks operands against the grammar, all of a run", () => {
    const words = [
      ...header,
      0x00010011, // OpCapability without operand
      0x00030011,
      1,
      2, // OpCapability with two
      0x00020011,
      999999, // no such capability
      0x00030005,
      1,
      0x41414141, // OpName whose string has no end
      0x0004002b,
      9,
      2,
      0, // OpConstant of an unknown type
      0x00020013,
      10, // OpTypeVoid %10, bound 10
      0x00020013,
      3,
      0x00020014,
      3, // OpTypeBool %3 again
    ];
    expect(errors(words)).toEqual([
      "SPIRV_MISSING_OPERAND: OpCapability at word 5 ends before its operand Capability",
      "SPIRV_EXTRA_OPERAND: OpCapability at word 6 has 1 words too many",
      "SPIRV_BAD_ENUMERANT: 999999 is no Capability in OpCapability at word 9",
      "SPIRV_UNTERMINATED_STRING: string of OpName at word 11 has no end",
      "SPIRV_BAD_LITERAL_TYPE: literal of OpConstant at word 14 needs a known integer or float type, %9 is none",
      "SPIRV_ID_OUT_OF_BOUND: id 10 of OpTypeVoid at word 18 is not in 1 to 10 exclusive",
      "SPIRV_ID_REDEFINED: %3 is defined again by OpTypeBool at word 22",
    ]);
  });

  it("stops at 100 messages", () => {
    const words = [...header, ...new Array<number>(500).fill(0x00010011)];
    expect(errors(words)).toHaveLength(100);
  });

  it("does not nest OpSpecConstantOp in itself", () => {
    const deep = new Array<number>(60_000).fill(52);
    const words = [...header, (((3 + deep.length) << 16) | 52) >>> 0, 1, 2, ...deep];
    expect(errors(words)).toEqual(["SPIRV_BAD_ENUMERANT: 52 is no opcode in OpSpecConstantOp at word 5"]);
  });

  it("answers every cut of a module, by words and by bytes", () => {
    const words = wordsOf(shader);
    const bytes = new Uint8Array(words.buffer);
    const cuts = Array.from({ length: bytes.length }, (_, i) => i);
    for (const cut of cuts) {
      const read = readModule(bytes.subarray(0, cut));
      const diagnostics = read.ok ? validateModule(read.module, { entryPoint: "main" }) : read.diagnostics;
      expect(diagnostics.length, `cut after ${cut} bytes`).toBeGreaterThan(0);
    }
  });

  it("places a message at the OpLine in force, or at the line of assembler text", () => {
    const text = `%file = OpString "a.comp"\n%void = OpTypeVoid\nOpLine %file 7 3\n%bool = OpTypeBool\n%v2 = OpTypeVector %bool 2`;
    const module = ok(wordsOf(text));
    const vector = module.instructions.at(-1)!;
    expect(spanOf(module, vector.at)).toMatchObject({ file: "a.comp", line: 7, column: 3 });
    expect(spanOf(module, module.instructions[1]!.at)).toMatchObject({ file: "module.spv", line: 1 });
    const result = assemble(text);
    if (!result.ok) throw new Error("must assemble");
    const again = readModule(result.words, { file: "x.spvasm", lineOfWord: result.lineOfWord });
    expect(again.ok && spanOf(again.module, vector.at)).toMatchObject({ file: "x.spvasm", line: 5 });
  });
});

function ok(words: Uint32Array) {
  const read = readModule(words);
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  return read.module;
}

/** Everything that takes a caller's module: must answer, whatever the words. */
function exercise(words: Uint32Array): void {
  const read = readModule(words);
  if (!read.ok) {
    expect(read.diagnostics.length).toBeGreaterThan(0);
    return;
  }
  const diagnostics = validateModule(read.module, { entryPoint: "main" });
  const again = assemble(printModule(read.module), { target: "spv1.0" });
  if (!again.ok) throw new Error(JSON.stringify(again.diagnostics));
  reflectModule(read.module, "main");
  if (diagnostics.length === 0) expect(disassemble(again.words)).toContain("OpEntryPoint");
}

describe("hostile modules", () => {
  const modules = [wordsOf(shader), ...(oracle("glslangValidator") ? glslangModules("debug").map((m) => m.words) : [])];

  it("changed words never throw or hang", () => {
    const change = fc.record({
      module: fc.nat(modules.length - 1),
      edits: fc.array(fc.record({ at: fc.nat(), value: fc.oneof(fc.nat(80), fc.integer(), fc.nat(0xffff)) }), {
        minLength: 1,
        maxLength: 3,
      }),
    });
    fc.assert(
      fc.property(change, ({ module, edits }) => {
        const words = modules[module]!.slice();
        for (const { at, value } of edits) words[at % words.length] = value;
        exercise(words);
      }),
      { numRuns: 600, seed: 1 },
    );
  });

  it("flipped bits, dropped and repeated words never throw or hang", () => {
    fc.assert(
      fc.property(fc.nat(modules.length - 1), fc.nat(), fc.nat(31), fc.nat(2), (m, at, bit, kind) => {
        const words = Array.from(modules[m]!);
        const i = 5 + (at % (words.length - 5));
        if (kind === 0) words[i] = (words[i]! ^ (1 << bit)) >>> 0;
        else if (kind === 1) words.splice(i, 1);
        else words.splice(i, 0, words[i]!);
        exercise(Uint32Array.from(words));
      }),
      { numRuns: 600, seed: 2 },
    );
  });

  it("text soup never throws or hangs the assembler", () => {
    const piece = fc.constantFrom(
      "%a",
      "%1",
      "=",
      "OpTypeInt",
      "OpConstant",
      "32",
      "-1",
      '"x',
      '"y"',
      "|",
      "OpStore",
      "OpSwitch",
      "Volatile|Aligned",
      "OpSpecConstantOp",
      "IAdd",
      "OpExtInst",
      ";",
      "\n",
      "%",
      "OpDecorate",
      "BuiltIn",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const result = assemble(pieces.join(" "));
        if (!result.ok) expect(result.diagnostics.length).toBeGreaterThan(0);
      }),
      { numRuns: 500, seed: 3 },
    );
  });
});
