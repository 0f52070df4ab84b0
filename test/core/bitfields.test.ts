import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { Simulator } from "../backend/simulate.ts";
import { asmToWords } from "./spirv-source.ts";

const lanes = 32;
const widths = [8, 16, 64] as const;
/** Of a lane: value, what is inserted; offset and count for each width. */
const inputs = 2 + 2 * widths.length;
const outputs = 5 * widths.length;

const module = `OpCapability Shader
OpCapability Int64
OpCapability Int16
OpCapability Int8
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %index %buf0 %buf1
OpExecutionMode %main LocalSize ${lanes} 1 1
OpDecorate %index BuiltIn LocalInvocationIndex
OpDecorate %longs ArrayStride 8
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
${[0, 1].map((k) => `OpDecorate %buf${k} DescriptorSet 0\nOpDecorate %buf${k} Binding ${k}`).join("\n")}
%void = OpTypeVoid
%fn = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%u64 = OpTypeInt 64 0
%u16 = OpTypeInt 16 0
%u8 = OpTypeInt 8 0
%longs = OpTypeRuntimeArray %u64
%block = OpTypeStruct %longs
%pblock = OpTypePointer StorageBuffer %block
%plong = OpTypePointer StorageBuffer %u64
%pinput = OpTypePointer Input %u32
${[...Array(Math.max(inputs, outputs) + 1).keys()].map((k) => `%c${k} = OpConstant %u32 ${k}`).join("\n")}
%index = OpVariable %pinput Input
%buf0 = OpVariable %pblock StorageBuffer
%buf1 = OpVariable %pblock StorageBuffer
%main = OpFunction %void None %fn
%start = OpLabel
%lane = OpLoad %u32 %index
%in = OpIMul %u32 %lane %c${inputs}
%out = OpIMul %u32 %lane %c${outputs}
${[...Array(inputs).keys()]
  .map(
    (k) => `%i${k} = OpIAdd %u32 %in %c${k}
%p${k} = OpAccessChain %plong %buf0 %c0 %i${k}
%x${k} = OpLoad %u64 %p${k}`,
  )
  .join("\n")}
${widths
  .map((w, k) => {
    const t = `%u${w}`;
    // The offset is 64 bits wide, the count 32.
    const place = `%x${2 + 2 * k} %n${w}`;
    const narrow = (to: string, from: string): string =>
      w === 64 ? `${to} = OpCopyObject ${t} ${from}` : `${to} = OpUConvert ${t} ${from}`;
    const results = [
      `OpBitFieldUExtract ${t} %v${w} ${place}`,
      `OpBitFieldSExtract ${t} %v${w} ${place}`,
      `OpBitFieldInsert ${t} %v${w} %w${w} ${place}`,
      `OpBitReverse ${t} %v${w}`,
      `OpBitCount ${t} %v${w}`,
    ];
    return `%n${w} = OpUConvert %u32 %x${3 + 2 * k}
${narrow(`%v${w}`, "%x0")}
${narrow(`%w${w}`, "%x1")}
${results
  .map(
    (text, r) => `%r${w}_${r} = ${text}
%l${w}_${r} = ${w === 64 ? "OpCopyObject" : "OpUConvert"} %u64 %r${w}_${r}
%o${w}_${r} = OpIAdd %u32 %out %c${5 * k + r}
%q${w}_${r} = OpAccessChain %plong %buf1 %c0 %o${w}_${r}
OpStore %q${w}_${r} %l${w}_${r}`,
  )
  .join("\n")}`;
  })
  .join("\n")}
OpReturn
OpFunctionEnd
`;

/** Counts from 0 to all bits, offsets that stay inside; at 64 bits fields below, across and above the middle. */
const fields = (lane: number): number[] =>
  widths.flatMap((w) => {
    const count = lane === 31 ? w : (lane * (w === 64 ? 5 : 1)) % (w + 1);
    return [(lane * 7) % (w - count + 1), count];
  });
const value = (lane: number): bigint => BigInt.asUintN(64, BigInt(lane + 1) * 0x9e37_79b9_7f4a_7c15n);

function expected(lane: number): bigint[] {
  const where = fields(lane);
  return widths.flatMap((w, k) => {
    const [offset = 0, count = 0] = where.slice(2 * k);
    const x = BigInt.asUintN(w, value(lane));
    const y = BigInt.asUintN(w, value(lane + lanes));
    const field = (x >> BigInt(offset)) & ((1n << BigInt(count)) - 1n);
    const mask = ((1n << BigInt(count)) - 1n) << BigInt(offset);
    const digits = x.toString(2).padStart(w, "0");
    return [
      field,
      BigInt.asUintN(w, BigInt.asIntN(count, field)),
      (x & ~mask) | ((y << BigInt(offset)) & mask),
      BigInt(`0b${[...digits].reverse().join("")}`),
      BigInt([...digits].filter((digit) => digit === "1").length),
    ];
  });
}

describe("bit fields of 8, 16 and 64 bits", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  it.each([0, 1, 2] as const)("are what their definition says at level %i", (optimization) => {
    const result = core.compile({
      words: asmToWords(module),
      stage: "compute",
      entryPoint: "main",
      specialization: [],
      bindings: [0, 1].map((binding) => ({ set: 0, binding, offsetBytes: 16 * binding, strideBytes: 16, count: 1 })),
      optimization,
      contraction: false,
      robust: true,
    });
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    const { output } = result;
    const all = [...Array(lanes).keys()];
    const rows = all.flatMap((i) => [value(i), value(i + lanes), ...fields(i).map(BigInt)]);
    const [, after = new Uint32Array()] = new Simulator().run({
      emitted: { ...output, userSgprs: 3, pushPointer: false, pushInlined: 0 } as never,
      local: [lanes, 1, 1],
      groups: [1, 1, 1],
      groupIds: [...output.usesWorkgroupId],
      ldsBytes: output.ldsBytes,
      push: [],
      buffers: [new Uint32Array(BigUint64Array.from(rows).buffer), new Uint32Array(2 * lanes * outputs)],
    });
    const got = [...new BigUint64Array(after.slice().buffer)];
    for (const i of all) expect(got.slice(i * outputs, (i + 1) * outputs), `lane ${i}`).toEqual(expected(i));
  });
});
