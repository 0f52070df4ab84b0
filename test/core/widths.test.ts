import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { readModule, validateModule } from "../../src/spirv/index.ts";
import { Simulator } from "../backend/simulate.ts";
import { oracle, runOracle } from "../oracles.ts";

const threads = 32;
const input = Uint32Array.from({ length: threads + 2 }, (_, i) =>
  i < 4 ? [0, 1, 0xffffffff, 0x80000000][i]! : Math.imul(i + 1, 0x9e3779b1) >>> 0,
);

const view = new DataView(new ArrayBuffer(8));
const u64 = (x: bigint): number[] => {
  const bits = BigInt.asUintN(64, x);
  return [Number(bits & 0xffffffffn), Number(bits >> 32n)];
};
const f64 = (x: number): number[] => {
  view.setFloat64(0, x);
  return u64(view.getBigUint64(0));
};
const f32 = (x: number): number => {
  view.setFloat32(0, x);
  return view.getUint32(0);
};
/** The f16 nearest to x, ties to even, as a number. */
const half = (x: number): number => {
  if (x === 0 || !Number.isFinite(x)) return x;
  const unit = 2 ** Math.max(Math.floor(Math.log2(Math.abs(x))) - 10, -24);
  const low = Math.floor(x / unit);
  const rest = x / unit - low;
  const kept = rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
  return Math.abs(kept * unit) >= 65520 ? Math.sign(x) * Number.POSITIVE_INFINITY : kept * unit;
};
const i8 = (x: number): number => (x << 24) >> 24;
const i16 = (x: number): number => (x << 16) >> 16;
const s64 = (x: bigint): bigint => BigInt.asIntN(64, x);
const ascending = (list: readonly bigint[]): bigint[] => [...list].sort((a, b) => (a < b ? -1 : 1));
const w64 = (x: bigint): bigint => BigInt.asUintN(64, x);

interface Values {
  readonly i: number;
  readonly x: number;
  readonly z: number;
  /** x + z * 2^32 unsigned, and x | z << 32 with the halves exchanged. */
  readonly p: bigint;
  readonly q: bigint;
  /** Of all invocations. */
  readonly all: readonly Omit<Values, "all">[];
}

/** Statements that set `y` and `y2`, and the two words by the definitions. */
const cases: readonly (readonly [string, (v: Values) => readonly (number | bigint)[]])[] = [
  ["y2 = unpackUint2x32(p + q)", ({ p, q }) => u64(p + q)],
  ["y2 = unpackUint2x32(p - q)", ({ p, q }) => u64(p - q)],
  ["y2 = unpackUint2x32(p * q)", ({ p, q }) => u64(p * q)],
  ["y2 = unpackUint2x32((p & q) ^ (~p | 5ul))", ({ p, q }) => u64((p & q) ^ (w64(~p) | 5n))],
  ["y2 = unpackUint2x32(p << (i * 2u + (x & 1u)))", ({ p, i, x }) => u64(p << BigInt(i * 2 + (x & 1)))],
  ["y2 = unpackUint2x32(p >> (i * 2u + (x & 1u)))", ({ p, i, x }) => u64(p >> BigInt(i * 2 + (x & 1)))],
  ["y2 = unpackUint2x32(uint64_t(int64_t(p) >> (i * 2u)))", ({ p, i }) => u64(s64(p) >> BigInt(i * 2))],
  [
    "y2 = uvec2(uint(p < q) | uint(p >= q) << 1 | uint(p == q) << 2 | uint(p == p) << 3, uint(int64_t(p) < int64_t(q)) | uint(int64_t(p) <= int64_t(q)) << 1)",
    ({ p, q }) => [
      Number(p < q) | (Number(p >= q) << 1) | (Number(p === q) << 2) | 8,
      Number(s64(p) < s64(q)) | (Number(s64(p) <= s64(q)) << 1),
    ],
  ],
  ["y2 = unpackUint2x32(max(p, q))", ({ p, q }) => u64([p, q].sort((a, b) => (a < b ? 1 : -1))[0] ?? 0n)],
  ["y2 = unpackUint2x32(uint64_t(min(int64_t(p), int64_t(q))))", ({ p, q }) => u64(s64(p) < s64(q) ? p : q)],
  ["y2 = unpackUint2x32(uint64_t(abs(int64_t(p)) - int64_t(-7)))", ({ p }) => u64((s64(p) < 0n ? -s64(p) : p) + 7n)],
  ["y2 = unpackUint2x32(uint64_t(int64_t(int(x))))", ({ x }) => u64(BigInt(x | 0))],
  ["y2 = unpackUint2x32(p / (q | 1ul))", ({ p, q }) => u64(p / (q | 1n))],
  ["y2 = unpackUint2x32(p % (q | 1ul))", ({ p, q }) => u64(p % (q | 1n))],
  ["y2 = unpackUint2x32(p / (uint64_t(z & 0xffffu) + 1ul))", ({ p, z }) => u64(p / (BigInt(z & 0xffff) + 1n))],
  ["y2 = unpackUint2x32(q % (p >> (i * 2u) | 1ul))", ({ p, q, i }) => u64(q % ((p >> BigInt(i * 2)) | 1n))],
  ["y2 = unpackUint2x32(uint64_t(int64_t(p) / int64_t(q | 1ul)))", ({ p, q }) => u64(s64(p) / s64(q | 1n))],
  ["y2 = unpackUint2x32(uint64_t(int64_t(q) / int64_t(int(x) | 1)))", ({ q, x }) => u64(s64(q) / BigInt(x | 0 | 1))],
  [
    "y2 = unpackUint2x32(uint64_t(int64_t(p) % int64_t(q >> 20 | 1ul)))",
    ({ p, q }) => u64(((s64(p) % ((q >> 20n) | 1n)) + ((q >> 20n) | 1n)) % ((q >> 20n) | 1n)),
  ],
  ["i64vec3 v = i64vec3(p, q, 3); v.zx = v.xy; y2 = unpackUint2x32(uint64_t(v.x ^ v.z))", ({ p, q }) => u64(p ^ q)],
  ["uint64_t t[3] = uint64_t[3](p, q, 9ul); y2 = unpackUint2x32(t[x % 3u])", ({ p, q, x }) => u64([p, q, 9n][x % 3]!)],
  // Over the lanes of the one wave: all 32 take part.
  ["y2 = unpackUint2x32(subgroupAdd(p))", ({ all }) => u64(all.reduce((sum, v) => sum + v.p, 0n))],
  [
    "y2 = unpackUint2x32(subgroupExclusiveMax(q)) + unpackUint2x32(subgroupInclusiveXor(p))",
    ({ all, i }) => {
      const [a, b] = u64(ascending(all.slice(0, i).map((v) => v.q)).at(-1) ?? 0n);
      const [c, d] = u64(all.slice(0, i + 1).reduce((sum, v) => sum ^ v.p, 0n));
      return [(a ?? 0) + (c ?? 0), (b ?? 0) + (d ?? 0)];
    },
  ],
  [
    "y2 = unpackUint2x32(uint64_t(subgroupClusteredMin(int64_t(q), 8u)))",
    ({ all, i }) => u64(ascending(all.filter((v) => v.i >> 3 === i >> 3).map((v) => s64(v.q)))[0] ?? 0n),
  ],
  [
    "y2 = uvec2(uint(subgroupAdd(uint16_t(x))), uint(int(subgroupMin(int8_t(x)))))",
    ({ all }) => [all.reduce((sum, v) => sum + v.x, 0) & 0xffff, Math.min(...all.map((v) => i8(v.x)))],
  ],
  [
    "y2 = uvec2(floatBitsToUint(float(subgroupMax(float16_t(float(x & 1023u))))), uint(subgroupAdd(double(i))))",
    ({ all }) => [f32(Math.max(...all.map((v) => v.x & 1023))), 496],
  ],
  [
    "y2 = uvec2(uint(subgroupAllEqual(p)) + uint(subgroupAllEqual(double(3.0))) * 2u, uint(subgroupAllEqual(uint8_t(i >> 7))))",
    () => [2, 1],
  ],
  // 8 and 16 bits wrap, compare and shift as such.
  [
    "uint8_t a8 = uint8_t(x); uint8_t b8 = uint8_t(z); y2 = uvec2(a8 * b8, a8 - b8 + uint8_t(i))",
    ({ x, z, i }) => [((x & 255) * (z & 255)) & 255, ((x & 255) - (z & 255) + i) & 255],
  ],
  [
    "int8_t a8 = int8_t(x); int8_t b8 = int8_t(z | 1u); y2 = uvec2(uint(int(a8 >> int8_t(2))), uint(a8 < b8) + uint(int(a8 / b8)) * 2u)",
    ({ x, z }) => [i8(x) >> 2, Number(i8(x) < i8(z | 1)) + 2 * i8(Math.trunc(i8(x) / i8(z | 1)))],
  ],
  [
    "int16_t a16 = int16_t(x); y2 = uvec2(uint(int(-a16)), uint(int(max(a16, int16_t(z)))))",
    ({ x, z }) => [i16(-i16(x)), Math.max(i16(x), i16(z))],
  ],
  [
    "uint16_t a16 = uint16_t(x); y2 = uvec2(~a16, (a16 << uint16_t(3)) >> uint16_t(1))",
    ({ x }) => [~x & 0xffff, ((x << 3) & 0xffff) >> 1],
  ],
  [
    "y2 = uvec2(pack32(u8vec4(x, z, 3, 4)), pack32(unpack16(x).yx))",
    ({ x, z }) => [(x & 255) | ((z & 255) << 8) | 0x04030000, (x >>> 16) | (x << 16)],
  ],
  [
    "y2 = unpack32(pack64(u16vec4(x, z, x >> 16, 7)))",
    ({ x, z }) => [(x & 0xffff) | (z << 16), (x >>> 16) | (7 << 16)],
  ],
  [
    "y2 = uvec2(floatBitsToUint(float(int8_t(x))), uint(int16_t(float(i) * -3.5)))",
    ({ x, i }) => [f32(i8(x)), Math.trunc(i * -3.5)],
  ],
  // f16: each operation rounds.
  [
    "float16_t h = float16_t(float(x & 4095u) * 0.37); float16_t k = float16_t(3.1) * h; y2 = uvec2(floatBitsToUint(float(h)), floatBitsToUint(float(k + h)))",
    ({ x }) => {
      const h = half(Math.fround(Math.fround(x & 4095) * Math.fround(0.37)));
      return [f32(h), f32(half(half(half(3.1) * h) + h))];
    },
  ],
  [
    "float16_t h = float16_t(float(i) * 0.001); y2 = uvec2(packFloat2x16(f16vec2(h * h, -h)), uint(h < float16_t(0.01)) | uint(isinf(float16_t(float(x)))) << 1)",
    ({ i, x }) => {
      const h = half(Math.fround(Math.fround(i) * Math.fround(0.001)));
      const bits = (v: number): number => {
        const size = Math.abs(v);
        const e = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
        return (v < 0 || Object.is(v, -0) ? 0x8000 : 0) | (((e + 14) << 10) + size * 2 ** (10 - e));
      };
      return [bits(half(h * h)) | (bits(-h) << 16), Number(h < half(0.01)) | (Number(Math.fround(x) >= 65520) << 1)];
    },
  ],
  [
    "f16vec3 v = f16vec3(1, 2, i & 7u); y2 = uvec2(uint(dot(v, v)), uint(float(ldexp(v.z, 3)) + float(max(v.z, v.y))))",
    ({ i }) => [5 + (i & 7) ** 2, (i & 7) * 8 + Math.max(i & 7, 2)],
  ],
  // f64.
  ["double a = double(int(x)) * 1.25lf; y2 = unpackDouble2x32(a + double(z))", ({ x, z }) => f64((x | 0) * 1.25 + z)],
  ["double a = double(int(x)); y2 = unpackDouble2x32(-abs(a) * 0.1lf)", ({ x }) => f64(-Math.abs(x | 0) * 0.1)],
  [
    "double a = double(int(x)) / 16.0lf; y2 = unpackDouble2x32(floor(a) + ceil(a) * 2.0lf + trunc(a) * 4.0lf + fract(a))",
    ({ x }) => {
      const a = (x | 0) / 16;
      return f64(Math.floor(a) + Math.ceil(a) * 2 + Math.trunc(a) * 4 + (a - Math.floor(a)));
    },
  ],
  [
    "double a = double(x) + 0.5lf; y2 = uvec2(floatBitsToUint(float(a)), uint(a < 1e6lf) | uint(a != a) << 1 | uint(double(z) >= a) << 2)",
    ({ x, z }) => [f32(x + 0.5), Number(x + 0.5 < 1e6) | (Number(z >= x + 0.5) << 2)],
  ],
  ["y2 = unpackUint2x32(uint64_t(int64_t(double(int(x)) * 1000000.0lf)))", ({ x }) => u64(BigInt((x | 0) * 1000000))],
  ["y2 = unpackDouble2x32(double(p >> 12))", ({ p }) => f64(Number(p >> 12n))],
  [
    "y2 = uvec2(floatBitsToUint(float(int64_t(p >> 24))), uint(double(x) * 0.5lf))",
    ({ p, x }) => [f32(Number(p >> 24n)), Math.floor(x / 2)],
  ],
  [
    "int e; double m = frexp(double(x) + 0.25lf, e); y2 = unpackDouble2x32(ldexp(m, e + 3))",
    ({ x }) => f64((x + 0.25) * 8),
  ],
  [
    "dmat2 m = dmat2(1, 2, 3, i); dvec2 v = m * dvec2(x & 15u, 2); y2 = unpackDouble2x32(v.y + determinant(m) + mix(1.0lf, 3.0lf, 0.5lf))",
    ({ x, i }) => f64((x & 15) * 2 + 2 * i + (i - 6) + 2),
  ],
  [
    "double a = double(x & 1023u); double b = a * a; y2 = uvec2(uint(sqrt(b) * 1024.0lf + 0.5lf), uint(b / (a + 1.0lf) * (a + 1.0lf) + 0.5lf))",
    ({ x }) => [(x & 1023) * 1024, (x & 1023) ** 2],
  ],
  // Storage: neighbours in memory keep their values.
  [
    "b8.v[i] = uint8_t(x); b8.w[i] = uint16_t(z); memoryBarrierBuffer(); y2 = uvec2(b8.v[i], b8.w[i])",
    ({ x, z }) => [x & 255, z & 0xffff],
  ],
  [
    "s8[i] = int8_t(x); s16[i] = float16_t(float(i)); s64[i] = q; barrier(); y2 = uvec2(uint(int(s8[i ^ 1u])) + uint(s16[i ^ 3u]), uint(s64[i ^ 1u] >> 32))",
    ({ i }) => [i8(input[i ^ 1]!) + (i ^ 3), input[i ^ 1]!],
  ],
];

const source = `#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_float16 : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_clustered : require
#extension GL_KHR_shader_subgroup_vote : require
layout(local_size_x = ${threads}) in;
layout(std430, set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(std430, set = 0, binding = 1) buffer R { uvec2 r[]; };
layout(std430, set = 0, binding = 2) buffer B { uint8_t v[${threads}]; uint16_t w[]; } b8;
shared int8_t s8[${threads}]; shared float16_t s16[${threads}]; shared uint64_t s64[${threads}];
void main() { uint i = gl_LocalInvocationIndex; uint x = a[i]; uint z = a[i + 1u];
  uint64_t p = packUint2x32(uvec2(x, z)); uint64_t q = packUint2x32(uvec2(z, x));
  ${cases.map(([text], k) => `{ uvec2 y2; ${text}; r[i * ${cases.length}u + ${k}u] = y2; }`).join("\n  ")}
}
`;

function toSpirv(): Uint32Array {
  const folder = mkdtempSync(join(tmpdir(), "kiln-core-"));
  try {
    writeFileSync(join(folder, "a.comp"), source);
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

describe.skipIf(!oracle("glslangValidator"))("8, 16 and 64 bits", () => {
  let core: CoreTools;
  let words: Uint32Array;
  beforeAll(async () => {
    core = await createCore({ checked: true });
    words = toSpirv();
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
      bindings: [0, 1, 2].map((binding) => ({ set: 0, binding, offsetBytes: 16 * binding, strideBytes: 16, count: 1 })),
      optimization,
      contraction: false,
      robust: true,
    });
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    const { output } = result;
    const buffers = new Simulator().run({
      emitted: { ...output, userSgprs: 3, pushPointer: false, pushInlined: 0 } as never,
      local: [threads, 1, 1],
      groups: [1, 1, 1],
      groupIds: [...output.usesWorkgroupId],
      ldsBytes: output.ldsBytes,
      push: [],
      buffers: [input, new Uint32Array(2 * threads * cases.length), new Uint32Array(threads)],
    });
    const all = Array.from({ length: threads }, (_, i) => {
      const [x = 0, z = 0] = input.subarray(i, i + 2);
      return { i, x, z, p: BigInt(x) + (BigInt(z) << 32n), q: BigInt(z) + (BigInt(x) << 32n) };
    });
    for (const [k, [text, expected]] of cases.entries()) {
      for (const { i, x, z, p, q } of all) {
        const wanted = expected({ i, x, z, p, q, all }).map((word) => Number(BigInt.asUintN(32, BigInt(word))));
        const place = 2 * (i * cases.length + k);
        expect([...(buffers[1] ?? []).slice(place, place + 2)], `${text} with ${x}, ${z}, i = ${i}`).toEqual(wanted);
      }
    }
  });
});
