import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { assemble, readModule, validateModule } from "../../src/spirv/index.ts";
import { Simulator } from "../backend/simulate.ts";

/** A module that replaces each word n of its buffer (a value a lane) by what `body` stores through %p. */
const moduleOf = (body: string): string => `
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %id %o
OpExecutionMode %main LocalSize 32 1 1
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %arr ArrayStride 4
OpDecorate %Block Block
OpMemberDecorate %Block 0 Offset 0
OpDecorate %o DescriptorSet 0
OpDecorate %o Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%v3 = OpTypeVector %uint 3
%arr = OpTypeRuntimeArray %uint
%Block = OpTypeStruct %arr
%ptr = OpTypePointer StorageBuffer %Block
%uptr = OpTypePointer StorageBuffer %uint
%inptr = OpTypePointer Input %v3
%o = OpVariable %ptr StorageBuffer
%id = OpVariable %inptr Input
%c0 = OpConstant %uint 0
%c1 = OpConstant %uint 1
%c3 = OpConstant %uint 3
%c10 = OpConstant %uint 10
%main = OpFunction %void None %fn
%e = OpLabel
%i3 = OpLoad %v3 %id
%i = OpCompositeExtract %uint %i3 0
%p = OpAccessChain %uptr %o %c0 %i
%n = OpLoad %uint %p
${body}
OpReturn
OpFunctionEnd
`;

interface Case {
  readonly name: string;
  readonly body: string;
  readonly expect: (n: number) => number;
}

/** In each the value %v is made in the only arm that reaches the merge, and read behind it. */
const cases: readonly Case[] = [
  {
    name: "a switch with nothing but a default",
    body: `OpSelectionMerge %m None
OpSwitch %n %d
%d = OpLabel
%v = OpIMul %uint %n %c3
OpBranch %m
%m = OpLabel
OpStore %p %v`,
    expect: (n) => n * 3,
  },
  {
    name: "a switch whose other arm returns",
    body: `OpSelectionMerge %m None
OpSwitch %n %r 0 %t 1 %t 2 %t
%t = OpLabel
%v = OpIAdd %uint %n %c10
OpBranch %m
%r = OpLabel
OpReturn
%m = OpLabel
OpStore %p %v`,
    expect: (n) => (n < 3 ? n + 10 : n),
  },
  {
    name: "a switch that falls through into one last case",
    body: `OpSelectionMerge %m None
OpSwitch %n %a 1 %b
%a = OpLabel
OpBranch %b
%b = OpLabel
%v = OpIMul %uint %n %n
OpBranch %m
%m = OpLabel
OpStore %p %v`,
    expect: (n) => n * n,
  },
  {
    name: "an if whose other arm is unreachable",
    body: `%c = OpULessThan %bool %n %c10
OpSelectionMerge %m None
OpBranchConditional %c %t %f
%t = OpLabel
%v = OpIAdd %uint %n %c1
OpBranch %m
%f = OpLabel
OpUnreachable
%m = OpLabel
OpStore %p %v`,
    expect: (n) => n + 1,
  },
  {
    name: "a switch in a loop whose other arms go on with the loop",
    body: `OpBranch %h
%h = OpLabel
%k = OpPhi %uint %c0 %e %k1 %next
%s = OpPhi %uint %c0 %e %s1 %next
OpLoopMerge %out %next None
OpBranch %test
%test = OpLabel
%more = OpULessThan %bool %k %n
OpBranchConditional %more %in %out
%in = OpLabel
OpSelectionMerge %m None
OpSwitch %k %t 0 %skip 2 %skip
%skip = OpLabel
OpBranch %next
%t = OpLabel
%v = OpIMul %uint %k %c3
OpBranch %m
%m = OpLabel
%w = OpIAdd %uint %s %v
OpBranch %next
%next = OpLabel
%s1 = OpPhi %uint %s %skip %w %m
%k1 = OpIAdd %uint %k %c1
OpBranch %h
%out = OpLabel
OpStore %p %s`,
    expect: (n) => {
      let s = 0;
      for (let k = 0; k < n; k++) if (k !== 0 && k !== 2) s += k * 3;
      return s;
    },
  },
];

describe("values of the only arm that reaches a merge", () => {
  const input = Uint32Array.from({ length: 32 }, (_, i) => i % 9);
  const simulator = new Simulator();
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  it.each(cases)("$name", ({ body, expect: wanted }) => {
    const assembled = assemble(moduleOf(body));
    if (!assembled.ok) throw new Error(JSON.stringify(assembled.diagnostics));
    const read = readModule(assembled.words);
    if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
    expect(validateModule(read.module, { entryPoint: "main", stage: "compute" })).toEqual([]);
    for (const optimization of [0, 1, 2] as const) {
      const result = core.compile({
        words: assembled.words,
        stage: "compute",
        entryPoint: "main",
        specialization: [],
        bindings: [{ set: 0, binding: 0, offsetBytes: 0, strideBytes: 16, count: 1 }],
        optimization,
        contraction: false,
        robust: true,
      });
      if (!result.ok) throw new Error(`level ${optimization}: ${JSON.stringify(result.failures)}`);
      const { output } = result;
      const [results = new Uint32Array()] = simulator.run({
        emitted: { ...output, userSgprs: 3, pushPointer: false, pushInlined: 0 } as never,
        local: [32, 1, 1],
        groups: [1, 1, 1],
        groupIds: [...output.usesWorkgroupId],
        ldsBytes: output.ldsBytes,
        push: [],
        buffers: [input],
      });
      expect([...results], `level ${optimization}`).toEqual([...input].map(wanted));
    }
  });
});
