import { expect, it } from "vitest";
import { createCore } from "../../src/core/index.ts";
import { asmToWords } from "./spirv-source.ts";

const source = `OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 32 1 1
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %buf DescriptorSet 0
OpDecorate %buf Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%block = OpTypeStruct %u32
%pblock = OpTypePointer StorageBuffer %block
%pword = OpTypePointer StorageBuffer %u32
%device = OpConstant %u32 1
%relaxed = OpConstant %u32 0
%acquire = OpConstant %u32 66
%release = OpConstant %u32 68
%both = OpConstant %u32 328
%workgroup = OpConstant %u32 2
%buf = OpVariable %pblock StorageBuffer
%main = OpFunction %void None %fn
%entry = OpLabel
%p = OpAccessChain %pword %buf %relaxed
%a = OpAtomicLoad %u32 %p %device %acquire
OpAtomicStore %p %device %release %a
%b = OpAtomicIAdd %u32 %p %workgroup %both %a
%c = OpAtomicIAdd %u32 %p %device %relaxed %b
%d = OpAtomicCompareExchange %u32 %p %device %relaxed %acquire %c %b
OpReturn
OpFunctionEnd
`;

it("an atomic's semantics order memory before it (release) and behind it (acquire), for the storage they name", async () => {
  const core = await createCore({ checked: true });
  const result = core.compile({
    words: asmToWords(source),
    stage: "compute",
    entryPoint: "main",
    specialization: [],
    bindings: [{ set: 0, binding: 0, offsetBytes: 0, strideBytes: 16, count: 1 }],
    optimization: 0,
    contraction: false,
    robust: true,
    dumpAfter: ["lift"],
  });
  if (!result.ok) throw new Error(JSON.stringify(result.failures));
  const order = [...(result.output.ir ?? "").matchAll(/(memory_barrier.*|load_ssbo|store_ssbo|ssbo_atomic\w*)/g)].map(
    (m) => m[1]?.trim(),
  );
  // Semantics 66, 68: acquire, release of buffers; 328: both, of buffers and workgroup memory. Scopes: 1 device, 2 workgroup.
  expect(order).toEqual([
    "load_ssbo",
    "memory_barrier scope=1 storage=1",
    "memory_barrier scope=1 storage=1",
    "store_ssbo",
    "memory_barrier scope=2 storage=3",
    "ssbo_atomic",
    "memory_barrier scope=2 storage=3",
    "ssbo_atomic",
    "ssbo_atomic_cmpswap",
    "memory_barrier scope=1 storage=1",
  ]);
});
