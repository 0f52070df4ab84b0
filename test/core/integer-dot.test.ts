import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { readModule, validateModule } from "../../src/spirv/index.ts";
import { Simulator } from "../backend/simulate.ts";
import { asmToWords } from "./spirv-source.ts";

const lanes = 32;

/** `width` bits a component, `size` of them; packed: bytes of a word. `to`: bits of the result. */
interface Shape {
  readonly width: 8 | 16 | 32;
  readonly size: number;
  readonly packed?: boolean;
  readonly to: 16 | 32 | 64;
}
const shapes: readonly Shape[] = [
  { width: 8, size: 4, packed: true, to: 32 },
  { width: 8, size: 4, packed: true, to: 64 },
  { width: 8, size: 3, to: 32 },
  { width: 8, size: 2, to: 16 },
  { width: 16, size: 2, to: 32 },
  { width: 16, size: 4, to: 64 },
  { width: 32, size: 3, to: 32 },
  { width: 32, size: 2, to: 64 },
];
const ops = ["SDot", "UDot", "SUDot"] as const;

/** Accumulators near the ends of what 32 and 64 bits hold, signed or not. */
const accumulators = [
  [0x7fff_fff0, 0x7fff_ffff],
  [0x8000_0010, 0x8000_0000],
  [0xffff_fff0, 0x7fff_ffff],
  [0xffff_fff0, 0xffff_ffff],
];

/** Of a lane and number: bytes that are at the ends of their range, or anything. */
function word(lane: number, k: number): number {
  if (k >= 6) return accumulators[lane & 3]?.[k - 6] ?? 0;
  const mixed = Math.imul(lane * 8 + k + 1, 0x9e37_79b9) ^ (lane << 3);
  return [0, 0x8080_8080, 0x7f7f_7f7f, 0xffff_ffff, 0x8000_0000, 0x7fff_ffff][lane * 3 + k] ?? mixed >>> 0;
}

/** A shader that loads 8 words a lane and stores for each op the 64 bits of its result; words 6 and 7 are the accumulator. */
function module({ width, size, packed, to }: Shape, saturates: boolean): string {
  const part = width === 32 ? "%u32" : `%u${width}`;
  const vector = width === 32 && size === 2 ? "%pairs" : "%vec";
  const load = (k: number): string => `%i${k} = OpIAdd %u32 %base %c${k}
%p${k} = OpAccessChain %pword %in %c0 %i${k}
%w${k} = OpLoad %u32 %p${k}`;
  // Three words hold the first vector, the next three the second.
  const component = (name: string, from: number, c: number): string => {
    const at = Math.floor((c * width) / 32);
    const down = `%${name}d${c} = OpShiftRightLogical %u32 %w${from + at} %c${(c * width) % 32}`;
    return `${down}\n%${name}${c} = ${width === 32 ? "OpCopyObject" : "OpUConvert"} ${part} %${name}d${c}`;
  };
  const make = (name: string, from: number): string => {
    if (packed === true) return `%${name} = OpCopyObject %u32 %w${from}`;
    const all = [...Array(size).keys()];
    return `${all.map((c) => component(name, from, c)).join("\n")}
%${name} = OpCompositeConstruct ${vector} ${all.map((c) => `%${name}${c}`).join(" ")}`;
  };
  const kind = packed === true ? " PackedVectorFormat4x8Bit" : "";
  const accumulator = {
    16: "%acc = OpUConvert %u16 %w6",
    32: "%acc = OpCopyObject %u32 %w6",
    64: "%acc = OpBitcast %u64 %w67",
  };
  return `OpCapability Shader
OpCapability Int64
OpCapability Int16
OpCapability Int8
OpCapability DotProduct
OpCapability DotProductInputAll
OpCapability DotProductInput4x8Bit
OpCapability DotProductInput4x8BitPacked
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %id %in %out
OpExecutionMode %main LocalSize ${lanes} 1 1
OpDecorate %id BuiltIn LocalInvocationIndex
OpDecorate %words ArrayStride 4
OpDecorate %longs ArrayStride 8
OpDecorate %inb Block
OpMemberDecorate %inb 0 Offset 0
OpDecorate %outb Block
OpMemberDecorate %outb 0 Offset 0
OpDecorate %in DescriptorSet 0
OpDecorate %in Binding 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 1
%void = OpTypeVoid
%fn = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%u64 = OpTypeInt 64 0
%u16 = OpTypeInt 16 0
%u8 = OpTypeInt 8 0
%pairs = OpTypeVector %u32 2
${packed !== true && vector === "%vec" ? `%vec = OpTypeVector ${part} ${size}` : ""}
%words = OpTypeRuntimeArray %u32
%longs = OpTypeRuntimeArray %u64
%inb = OpTypeStruct %words
%outb = OpTypeStruct %longs
%pin = OpTypePointer StorageBuffer %inb
%pout = OpTypePointer StorageBuffer %outb
%pword = OpTypePointer StorageBuffer %u32
%plong = OpTypePointer StorageBuffer %u64
%pid = OpTypePointer Input %u32
${[0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 24].map((k) => `%c${k} = OpConstant %u32 ${k}`).join("\n")}
%in = OpVariable %pin StorageBuffer
%out = OpVariable %pout StorageBuffer
%id = OpVariable %pid Input
%main = OpFunction %void None %fn
%start = OpLabel
%lane = OpLoad %u32 %id
%base = OpIMul %u32 %lane %c8
%first = OpIMul %u32 %lane %c3
${[0, 1, 2, 3, 4, 5, 6, 7].map(load).join("\n")}
%w67 = OpCompositeConstruct %pairs %w6 %w7
${make("a", 0)}
${make("b", 3)}
${accumulator[to]}
${ops
  .map((op, k) => {
    const extend = `%x${k} = ${to === 64 ? "OpCopyObject" : "OpUConvert"} %u64 %r${k}`;
    return `%r${k} = Op${op}${saturates ? "AccSat" : ""} %u${to} %a %b${saturates ? " %acc" : ""}${kind}
${extend}
%o${k} = OpIAdd %u32 %first %c${k}
%q${k} = OpAccessChain %plong %out %c0 %o${k}
OpStore %q${k} %x${k}`;
  })
  .join("\n")}
OpReturn
OpFunctionEnd
`;
}

/** What the definition says, in whole numbers; undefined where it leaves the result open. */
function expected(
  { width, size, to }: Shape,
  words: readonly number[],
  op: string,
  saturates: boolean,
): bigint | undefined {
  const signs = [op !== "UDot", op === "SDot"] as const;
  const as = (bits: number, value: bigint, signed: boolean) =>
    signed ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
  const part = (from: number, c: number, signed: boolean): bigint => {
    const at = c * width;
    return as(width, BigInt(words[from + (at >>> 5)]! >>> (at & 31)), signed);
  };
  let sum = 0n;
  for (let c = 0; c < size; c++) {
    sum += part(0, c, signs[0]) * part(3, c, signs[1]);
    if (saturates && as(to, sum, signs[0]) !== sum) return undefined;
  }
  if (!saturates) return BigInt.asUintN(to, sum);
  const accumulator = as(to, BigInt(words[6]!) | (BigInt(words[7]!) << 32n), signs[0]);
  const least = signs[0] ? -(1n << BigInt(to - 1)) : 0n;
  const most = (1n << BigInt(signs[0] ? to - 1 : to)) - 1n;
  const total = sum + accumulator;
  return BigInt.asUintN(to, total < least ? least : total > most ? most : total);
}

describe("integer dot products", () => {
  let core: CoreTools;
  const simulator = new Simulator();
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });
  const input = Uint32Array.from({ length: 8 * lanes }, (_, k) => word(k >> 3, k & 7));

  for (const shape of shapes) {
    for (const saturates of [false, true]) {
      const { width, size, packed, to } = shape;
      // Products of whole words hardly ever fit into one, and nothing else is defined.
      if (saturates && width === to) continue;
      it(`${size} of ${width} bits${packed === true ? " in a word" : ""} to ${to}${saturates ? ", saturating" : ""}`, () => {
        const words = asmToWords(module(shape, saturates));
        const read = readModule(new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
        if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
        expect(validateModule(read.module, { entryPoint: "main", stage: "compute" })).toEqual([]);
        let seen = 0;
        let held = 0;
        for (const optimization of [0, 2] as const) {
          const result = core.compile({
            words,
            stage: "compute",
            entryPoint: "main",
            specialization: [],
            bindings: [0, 1].map((binding) => ({
              set: 0,
              binding,
              offsetBytes: 16 * binding,
              strideBytes: 16,
              count: 1,
            })),
            optimization,
            contraction: false,
            robust: true,
          });
          if (!result.ok) throw new Error(JSON.stringify(result.failures));
          const { output } = result;
          const [, after = new Uint32Array()] = simulator.run({
            emitted: { ...output, userSgprs: 3, pushPointer: false, pushInlined: 0 } as never,
            local: [lanes, 1, 1],
            groups: [1, 1, 1],
            groupIds: [...output.usesWorkgroupId],
            ldsBytes: output.ldsBytes,
            push: [],
            buffers: [input.slice(), new Uint32Array(6 * lanes)],
          });
          const got = new BigUint64Array(after.slice().buffer);
          for (let lane = 0; lane < lanes; lane++) {
            ops.forEach((op, k) => {
              const wanted = expected(shape, [...input.subarray(8 * lane, 8 * lane + 8)], op, saturates);
              if (wanted === undefined) return;
              seen++;
              if (wanted === 0n || wanted + 1n === 1n << BigInt(to) || (wanted & (wanted + 1n)) === 0n) held++;
              else if (wanted === 1n << BigInt(to - 1)) held++;
              expect(got[3 * lane + k], `level ${optimization}, lane ${lane}, ${op}`).toBe(wanted);
            });
          }
        }
        // Most have a result that is defined.
        expect(seen).toBeGreaterThan(lanes);
        if (saturates) expect(held).toBeGreaterThan(4);
      });
    }
  }
});
