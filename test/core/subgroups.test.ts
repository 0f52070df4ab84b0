import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { readModule, validateModule } from "../../src/spirv/index.ts";
import { Simulator } from "../backend/simulate.ts";
import { oracle, runOracle } from "../oracles.ts";

const lanes = 32;
const input = Uint32Array.from({ length: 64 }, (_, i) => Math.imul(i + 3, 0x9e3779b1) >>> 0);

interface Launch {
  readonly name: string;
  readonly threads: number;
  /** In GLSL: the invocations that take part. */
  readonly condition: string;
  readonly isActive: (i: number) => boolean;
}
const launches: readonly Launch[] = [
  {
    name: "gaps within both waves, and the second wave half full",
    threads: 48,
    condition: "i % 3u != 1u && i != 0u",
    isActive: (i) => i % 3 !== 1 && i !== 0,
  },
  { name: "the second wave half full", threads: 48, condition: "true", isActive: () => true },
  { name: "whole waves", threads: 64, condition: "true", isActive: () => true },
];

interface Lane {
  readonly i: number;
  readonly l: number;
  readonly x: number;
  /** Active lanes of the wave, ascending, as places in the workgroup. */
  readonly active: readonly number[];
}
const at = (i: number): number => input[i] ?? 0;
const mask = (lane: Lane, test: (i: number) => boolean): number =>
  lane.active.reduce((word, i) => (test(i) ? word | (1 << (i % lanes)) : word), 0);
const sum = (places: readonly number[]): number => places.reduce((total, i) => total + at(i), 0);
const below = (lane: Lane, self: boolean): number[] => lane.active.filter((i) => i < lane.i || (self && i === lane.i));
const of = (value: number | undefined): number => value ?? 0;

/** Expression in GLSL, and its value in a lane from the definition of the function. */
const cases: readonly (readonly [string, (lane: Lane) => number])[] = [
  ["gl_SubgroupSize * 100u + gl_NumSubgroups * 10u + gl_SubgroupID", ({ i }) => 3220 + Math.floor(i / lanes)],
  ["gl_SubgroupInvocationID", ({ l }) => l],
  ["(i & 2u) != 0u ? gl_SubgroupID : gl_SubgroupID * 3u + 5u", ({ i }) => (i & 2 ? i >> 5 : (i >> 5) * 3 + 5)],
  ["uint(subgroupElect())", ({ i, active }) => Number(active[0] === i)],
  ["uint(subgroupAll(x != 0u)) + uint(subgroupAll(l > 9u)) * 2u", () => 1],
  ["uint(subgroupAny(l > 9u)) + uint(subgroupAny(i == 0u)) * 2u", ({ active }) => 1 + 2 * Number(active[0] === 0)],
  ["uint(subgroupAllEqual(x)) + uint(subgroupAllEqual(gl_WorkGroupID.x)) * 2u", () => 2],
  ["uint(subgroupAllEqual(l < 40u)) + uint(subgroupAllEqual(float(x))) * 2u", () => 1],
  ["subgroupBroadcastFirst(x)", ({ active }) => at(of(active[0]))],
  ["subgroupBroadcast(x, 6u)", ({ active }) => at(of(active.find((i) => i % lanes === 6)))],
  ["uint(subgroupBroadcast(vec2(x & 255u, l), 6u).y)", () => 6],
  ["subgroupBallot((x & 1u) != 0u).x", (lane) => mask(lane, (i) => (at(i) & 1) !== 0)],
  ["uint(subgroupInverseBallot(uvec4(0x12345678u, 0u, 0u, 0u)))", ({ l }) => (0x12345678 >>> l) & 1],
  ["uint(subgroupBallotBitExtract(uvec4(x, 0u, 0u, 0u), l ^ 3u))", ({ x, l }) => (x >>> (l ^ 3)) & 1],
  ["subgroupBallotBitCount(subgroupBallot(true))", ({ active }) => active.length],
  ["subgroupBallotExclusiveBitCount(subgroupBallot(true))", (lane) => below(lane, false).length],
  ["subgroupBallotInclusiveBitCount(subgroupBallot(true))", (lane) => below(lane, true).length],
  ["subgroupBallotFindLSB(subgroupBallot(true))", ({ active }) => of(active[0]) % lanes],
  ["subgroupBallotFindMSB(subgroupBallot(true))", ({ active }) => of(active.at(-1)) % lanes],
  ["gl_SubgroupEqMask.x ^ gl_SubgroupGtMask.x * 3u", ({ l }) => (1 << l) ^ Math.imul(l === 31 ? 0 : -1 << (l + 1), 3)],
  ["gl_SubgroupLtMask.x ^ gl_SubgroupLeMask.x * 3u", ({ l }) => (2 ** l - 1) ^ Math.imul(2 ** (l + 1) - 1, 3)],
  ["gl_SubgroupGeMask.x", ({ l }) => -1 << l],
  // Only lanes that are active are read.
  ["subgroupShuffle(x, l == 2u ? 5u : l)", ({ i, l }) => at(l === 2 ? i + 3 : i)],
  ["mix(7u, subgroupShuffleXor(x, 2u), (i ^ 2u) % 3u != 1u && (i ^ 2u) != 0u)", () => -1],
  ["subgroupAdd(x)", ({ active }) => sum(active)],
  ["subgroupInclusiveAdd(x)", (lane) => sum(below(lane, true))],
  ["subgroupExclusiveAdd(x)", (lane) => sum(below(lane, false))],
  ["subgroupMul(x | 1u)", ({ active }) => active.reduce((p, i) => Math.imul(p, at(i) | 1), 1)],
  ["subgroupMin(x)", ({ active }) => Math.min(...active.map(at))],
  ["uint(subgroupMax(int(x)))", ({ active }) => Math.max(...active.map((i) => at(i) | 0))],
  ["uint(subgroupExclusiveMin(float(l)) > 1e38)", ({ i, active }) => Number(active[0] === i)],
  ["uint(subgroupInclusiveMax(float(l)))", ({ l }) => l],
  ["uint(subgroupAdd(float(l)))", ({ active }) => active.reduce((total, i) => total + (i % lanes), 0)],
  [
    "subgroupAnd(x) ^ subgroupOr(x & 0xffu) ^ subgroupXor(x)",
    ({ active }) => {
      const values = active.map(at);
      return (
        values.reduce((a, b) => a & b, -1) ^
        (values.reduce((a, b) => a | b, 0) & 255) ^
        values.reduce((a, b) => a ^ b, 0)
      );
    },
  ],
  [
    "uint(subgroupInclusiveOr(l > 9u)) + uint(subgroupAnd(l > 1u)) * 2u",
    ({ l, active }) => Number(l > 9) + 2 * Number(active.every((i) => i % lanes > 1)),
  ],
  ["subgroupExclusiveMul(x | 1u)", (lane) => below(lane, false).reduce((p, i) => Math.imul(p, at(i) | 1), 1)],
  ["subgroupInclusiveMul(x | 1u)", (lane) => below(lane, true).reduce((p, i) => Math.imul(p, at(i) | 1), 1)],
  ["uint(subgroupInclusiveMin(int(x)))", (lane) => Math.min(...below(lane, true).map((i) => at(i) | 0))],
  ["subgroupExclusiveMax(x)", (lane) => Math.max(0, ...below(lane, false).map(at))],
  [
    "uint(subgroupXor(l > 9u)) + uint(subgroupOr(l > 40u)) * 2u",
    ({ active }) => active.filter((i) => i % lanes > 9).length & 1,
  ],
  ["subgroupAdd(gl_WorkGroupID.x + 3u) ^ subgroupMax(gl_WorkGroupID.x + 5u)", ({ active }) => (active.length * 3) ^ 5],
  ...[2, 4, 8, 16, 32].map(
    (size) =>
      [
        `subgroupClusteredAdd(x, ${size}u)`,
        ({ l, active }) => sum(active.filter((i) => Math.floor((i % lanes) / size) === Math.floor(l / size))),
      ] as [string, (lane: Lane) => number],
  ),
  // Partners by xor, where they are active: within quads, within rows, in the other row.
  ...[1, 2, 3, 5, 8, 15, 16, 21, 31].map(
    (by) =>
      [
        `mix(7u, (x - subgroupShuffleXor(x, ${by}u)) ^ (subgroupShuffleXor(l * 3u, ${by}u) - i), subgroupBallotBitExtract(subgroupBallot(true), l ^ ${by}u))`,
        ({ i, l, active }) => (active.includes(i ^ by) ? (at(i) - at(i ^ by)) ^ ((l ^ by) * 3 - i) : 7),
      ] as [string, (lane: Lane) => number],
  ),
  [
    "subgroupClusteredMul(x | 1u, 16u)",
    ({ l, active }) => active.filter((i) => (i % lanes) >> 4 === l >> 4).reduce((p, i) => Math.imul(p, at(i) | 1), 1),
  ],
];
/** The shuffle by xor is worked out apart: its operand must be an active lane. */
const xorCase = cases.findIndex(([expression]) => expression.includes("subgroupShuffleXor(x, 2u)"));
const partner = ({ i }: Lane): number => ((i ^ 2) % 3 !== 1 && (i ^ 2) !== 0 ? at(i ^ 2) : 7);

const source = ({ threads, condition }: Launch): string => `#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_clustered : require
layout(local_size_x = 16, local_size_y = ${threads / 16}) in;
layout(std430, set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(std430, set = 0, binding = 1) buffer R { uint r[]; };
void main() { uint i = gl_LocalInvocationIndex; uint x = a[i]; uint l = gl_SubgroupInvocationID;
  if (${condition}) {
    ${cases.map(([expression], k) => `r[i * ${cases.length}u + ${k}u] = ${expression};`).join("\n    ")}
  }
}
`;

function toSpirv(launch: Launch): Uint32Array {
  const folder = mkdtempSync(join(tmpdir(), "kiln-core-"));
  try {
    writeFileSync(join(folder, "a.comp"), source(launch));
    const output = join(folder, "a.spv");
    const done = runOracle("glslangValidator", [
      "-V",
      "--target-env",
      "vulkan1.1",
      join(folder, "a.comp"),
      "-o",
      output,
    ]);
    if (done.status !== 0) throw new Error(done.stdout + done.stderr);
    return new Uint32Array(Uint8Array.from(readFileSync(output)).buffer);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.skipIf(!oracle("glslangValidator")).each(launches)("subgroup operations: $name", (launch) => {
  const { threads, isActive } = launch;
  let core: CoreTools;
  let words: Uint32Array;
  beforeAll(async () => {
    core = await createCore({ checked: true });
    words = toSpirv(launch);
  });

  it("are accepted by the validator", () => {
    const read = readModule(words, { file: "a.spv" });
    expect(read.ok ? validateModule(read.module, { entryPoint: "main" }) : read.diagnostics).toEqual([]);
  });

  it.each([0, 1, 2] as const)("give what their definition says at level %i", (optimization) => {
    const result = core.compile({
      words,
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
    const buffers = new Simulator().run({
      emitted: { ...output, userSgprs: 3, pushPointer: false, pushInlined: 0 } as never,
      local: [16, threads / 16, 1],
      groups: [1, 1, 1],
      groupIds: [...output.usesWorkgroupId],
      ldsBytes: output.ldsBytes,
      push: [],
      buffers: [input.slice(0, threads), new Uint32Array(threads * cases.length)],
    });
    const places = Array.from({ length: threads }, (_, i) => i).filter(isActive);
    for (const [k, [expression, value]] of cases.entries()) {
      const got = places.map((i) => buffers[1]?.[i * cases.length + k]);
      const wanted = places.map((i) => {
        const active = places.filter((p) => Math.floor(p / lanes) === Math.floor(i / lanes));
        const lane = { i, l: i % lanes, x: at(i), active };
        return (k === xorCase ? partner(lane) : value(lane)) >>> 0;
      });
      expect(got, expression).toEqual(wanted);
    }
  });
});
