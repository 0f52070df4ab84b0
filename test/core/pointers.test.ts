import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { Simulator } from "../backend/simulate.ts";
import { asmToWords } from "./spirv-source.ts";

const lanes = 32;
const buffers = 4;

/**
 * A module with four storage buffers of words (`%buf0` to `%buf3`), workgroup memory `%shared` of 64 words, the lane in
 * `%lane`. `body` stands in main, whose first block goes on; `before` holds further functions.
 */
function module(body: string, before = ""): string {
  const all = [...Array(buffers).keys()];
  return `OpCapability Shader
OpCapability VariablePointers
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %index ${all.map((k) => `%buf${k}`).join(" ")} %shared
OpExecutionMode %main LocalSize ${lanes} 1 1
OpDecorate %index BuiltIn LocalInvocationIndex
OpDecorate %words ArrayStride 4
OpDecorate %pword ArrayStride 4
OpDecorate %pshared ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
${all.map((k) => `OpDecorate %buf${k} DescriptorSet 0\nOpDecorate %buf${k} Binding ${k}`).join("\n")}
%void = OpTypeVoid
%bool = OpTypeBool
%fn = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%i32 = OpTypeInt 32 1
%words = OpTypeRuntimeArray %u32
%block = OpTypeStruct %words
%pblock = OpTypePointer StorageBuffer %block
%pword = OpTypePointer StorageBuffer %u32
%pshared = OpTypePointer Workgroup %u32
%pinput = OpTypePointer Input %u32
%slot = OpTypePointer Function %pword
%c0 = OpConstant %u32 0
%c1 = OpConstant %u32 1
%c2 = OpConstant %u32 2
%c3 = OpConstant %u32 3
%c5 = OpConstant %u32 5
%c7 = OpConstant %u32 7
%c64 = OpConstant %u32 64
%minus1 = OpConstant %i32 -1
%array = OpTypeArray %u32 %c64
%parray = OpTypePointer Workgroup %array
%null = OpConstantNull %pword
%nullshared = OpConstantNull %pshared
%index = OpVariable %pinput Input
%shared = OpVariable %parray Workgroup
${all.map((k) => `%buf${k} = OpVariable %pblock StorageBuffer`).join("\n")}
${before}
%main = OpFunction %void None %fn
%start = OpLabel
${body.includes("OpVariable") ? (/^.*OpVariable.*$/m.exec(body)?.[0] ?? "") : ""}
%lane = OpLoad %u32 %index
%odd = OpBitwiseAnd %u32 %lane %c1
%isodd = OpINotEqual %bool %odd %c0
${body.replace(/^.*OpVariable.*\n/m, "")}
OpReturn
OpFunctionEnd
`;
}

/** `%out` becomes a pointer to word `lane` of buffer 3. */
const out = "%out = OpAccessChain %pword %buf3 %c0 %lane";

interface Case {
  readonly name: string;
  readonly body: string;
  readonly before?: string;
  /** Word `lane` of buffer 3 afterwards, and word `lane` of buffer 1 where it differs from the start. */
  readonly expect: (lane: number) => number;
  readonly expect1?: (lane: number) => number;
}

/** Word i of buffer k at the start; buffer 3 begins as zeros. */
const word = (k: number, i: number): number => (k === 3 ? 0 : k * 1000 + i * 3 + 1);

const cases: readonly Case[] = [
  {
    name: "a pointer into one of two buffers, by lane: read and written",
    body: `${out}
%a = OpAccessChain %pword %buf0 %c0 %lane
%b = OpAccessChain %pword %buf1 %c0 %lane
%p = OpSelect %pword %isodd %b %a
%v = OpLoad %u32 %p
OpStore %out %v
%w = OpIAdd %u32 %v %c7
OpStore %p %w`,
    expect: (i) => (i % 2 === 1 ? word(1, i) : word(0, i)),
    expect1: (i) => (i % 2 === 1 ? word(1, i) + 7 : word(1, i)),
  },
  {
    name: "a pointer that walks through a buffer, by a phi and OpPtrAccessChain",
    body: `${out}
%first = OpAccessChain %pword %buf0 %c0 %lane
OpBranch %head
%head = OpLabel
%p = OpPhi %pword %first %start %next %again
%n = OpPhi %u32 %c0 %start %n1 %again
%sum = OpPhi %u32 %c0 %start %sum1 %again
OpLoopMerge %done %again None
OpBranch %work
%work = OpLabel
%v = OpLoad %u32 %p
%sum1 = OpIAdd %u32 %sum %v
OpBranch %again
%again = OpLabel
%next = OpPtrAccessChain %pword %p %c2
%n1 = OpIAdd %u32 %n %c1
%more = OpULessThan %bool %n1 %c5
OpBranchConditional %more %head %done
%done = OpLabel
OpStore %out %sum1`,
    expect: (i) => [0, 2, 4, 6, 8].reduce((sum, step) => sum + word(0, i + step), 0),
  },
  {
    name: "a pointer in a local variable, returned by a function",
    before: `%pick_t = OpTypeFunction %pword %bool %pword %pword
%pick = OpFunction %pword None %pick_t
%cond = OpFunctionParameter %bool
%yes = OpFunctionParameter %pword
%no = OpFunctionParameter %pword
%entry = OpLabel
OpSelectionMerge %rest None
OpBranchConditional %cond %take %rest
%take = OpLabel
OpReturnValue %yes
%rest = OpLabel
OpReturnValue %no
OpFunctionEnd`,
    body: `%var = OpVariable %slot Function %null
${out}
%a = OpAccessChain %pword %buf1 %c0 %c5
%b = OpAccessChain %pword %buf2 %c0 %lane
%p = OpFunctionCall %pword %pick %isodd %a %b
OpStore %var %p
%q = OpLoad %pword %var
%v = OpLoad %u32 %q
OpStore %out %v`,
    expect: (i) => (i % 2 === 1 ? word(1, 5) : word(2, i)),
  },
  {
    name: "null: reads 0, drops writes, equals null and no other pointer",
    body: `${out}
%a = OpAccessChain %pword %buf1 %c0 %lane
%p = OpSelect %pword %isodd %a %null
OpStore %p %c7
%v = OpLoad %u32 %p
%isnull = OpPtrEqual %bool %p %null
%differs = OpPtrNotEqual %bool %p %a
%n = OpSelect %u32 %isnull %c64 %c0
%d = OpSelect %u32 %differs %c2 %c0
%s1 = OpIAdd %u32 %v %n
%s2 = OpIAdd %u32 %s1 %d
OpStore %out %s2`,
    expect: (i) => (i % 2 === 1 ? 7 : 64 + 2),
    expect1: (i) => (i % 2 === 1 ? 7 : word(1, i)),
  },
  {
    name: "a step back, differences, atomics through a pointer of unknown buffer",
    body: `${out}
%at = OpIAdd %u32 %lane %c5
%a = OpAccessChain %pword %buf0 %c0 %at
%b = OpAccessChain %pword %buf1 %c0 %at
%p = OpSelect %pword %isodd %b %a
%q = OpPtrAccessChain %pword %p %minus1
%r = OpPtrAccessChain %pword %q %minus1
%old = OpAtomicIAdd %u32 %r %c1 %c0 %c1
%first = OpAccessChain %pword %buf1 %c0 %c0
%e = OpSelect %pword %isodd %first %r
%distance = OpPtrDiff %u32 %r %e
%v = OpIAdd %u32 %old %distance
OpStore %out %v`,
    expect: (i) => (i % 2 === 1 ? word(1, i + 3) + i + 3 : word(0, i + 3)),
    expect1: (i) => word(1, i) + (i >= 3 && (i - 3) % 2 === 1 ? 1 : 0),
  },
  {
    name: "workgroup memory: selected, stepped, null",
    body: `${out}
%a = OpAccessChain %pshared %shared %lane
%v0 = OpIMul %u32 %lane %c3
OpStore %a %v0
%zero = OpAccessChain %pshared %shared %c0
%p = OpSelect %pshared %isodd %zero %a
%q = OpPtrAccessChain %pshared %p %odd
%v = OpLoad %u32 %q
%m = OpSelect %pshared %isodd %nullshared %a
%isnull = OpPtrEqual %bool %m %nullshared
%n = OpSelect %u32 %isnull %c64 %c0
%w = OpLoad %u32 %m
%s = OpIAdd %u32 %v %n
%t = OpIAdd %u32 %s %w
OpStore %out %t`,
    expect: (i) => (i % 2 === 1 ? 3 + 64 + 0 : i * 3 + i * 3),
  },
];

describe("pointers as values", () => {
  let core: CoreTools;
  const simulator = new Simulator();
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });
  const bindings = [...Array(buffers).keys()].map((binding) => ({
    set: 0,
    binding,
    offsetBytes: 16 * binding,
    strideBytes: 16,
    count: 1,
  }));

  for (const test of cases) {
    it(test.name, () => {
      const words = asmToWords(module(test.body, test.before));
      for (const optimization of [0, 1, 2] as const) {
        const result = core.compile({
          words,
          stage: "compute",
          entryPoint: "main",
          specialization: [],
          bindings,
          optimization,
          contraction: false,
          robust: true,
        });
        if (!result.ok) throw new Error(`level ${optimization}: ${JSON.stringify(result.failures)}`);
        const { output } = result;
        const contents = bindings.map(({ binding }) => Uint32Array.from({ length: 64 }, (_, i) => word(binding, i)));
        const after = simulator.run({
          emitted: { ...output, userSgprs: 3, pushPointer: false, pushInlined: 0 } as never,
          local: [lanes, 1, 1],
          groups: [1, 1, 1],
          groupIds: [...output.usesWorkgroupId],
          ldsBytes: output.ldsBytes,
          push: [],
          buffers: contents,
        });
        const all = [...Array(lanes).keys()];
        expect([...(after[3] ?? [])].slice(0, lanes), `level ${optimization}`).toEqual(all.map(test.expect));
        const expect1 = test.expect1 ?? ((i: number) => word(1, i));
        expect([...(after[1] ?? [])].slice(0, lanes), `level ${optimization}, buffer 1`).toEqual(all.map(expect1));
      }
    });
  }

  it("a pointer whose buffer is known needs no descriptor of its own", () => {
    const body = `${out}
%a = OpAccessChain %pword %buf0 %c0 %lane
%b = OpAccessChain %pword %buf0 %c0 %c5
%p = OpSelect %pword %isodd %b %a
%v = OpLoad %u32 %p
OpStore %out %v`;
    const result = core.compile({
      words: asmToWords(module(body)),
      stage: "compute",
      entryPoint: "main",
      specialization: [],
      bindings,
      optimization: 2,
      contraction: false,
      robust: true,
      dumpAfter: ["lower-bool-phis"],
    });
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    expect(result.output.ir).toContain("load_ssbo");
    expect(result.output.ir).not.toContain("descriptor_address");
  });
});
