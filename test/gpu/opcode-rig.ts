import { noise } from "../math/exact.ts";
import { assembleAll } from "./assembler.ts";
import { type Build, high, low, Rig } from "./rig.ts";

/** Blocks of 32 lanes that each instruction is tried on. */
const BLOCKS = 32;
export const TRIES = BLOCKS * 32;

/** Bit patterns where arithmetic goes wrong: zeros, denormals, limits, infinities, NaNs, integer limits, shift counts. */
const edges: readonly number[] = [
  0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0xc0200000, 0x00000001, 0x807fffff, 0x00800000,
  0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 0x0da24260, 0x4f000000, 0xcf000000,
  0x4f800000, 0x3dcccccd, 0x437f8000, 0x50150000, 0x7fffffff, 0xffffffff, 0x0000001f, 0x00000020, 0x00000021,
  0x0000003f, 0x12345678, 0x00ffffff, 0xff800001, 0x00008000, 0x3fc00000, 0x40200000, 0x4b000001, 0x00010000,
];

/** Four words per try: every pair of edge values first, then noise. */
export function inputs(): Uint32Array {
  const next = noise(0x2545f491);
  const words = new Uint32Array(TRIES * 4);
  const n = edges.length;
  for (let i = 0; i < TRIES; i++) {
    const pair = i < n * n ? i : next() % (n * n);
    words[4 * i] = i < 900 ? edges[pair % n]! : next();
    words[4 * i + 1] = i < 900 ? edges[Math.floor(pair / n)]! : next();
    words[4 * i + 2] = i % 3 === 0 ? next() : edges[next() % n]!;
    words[4 * i + 3] = i % 5 === 0 ? edges[next() % n]! : next();
  }
  return words;
}

/** What one try gave: v8, v9, and its lane's bit of s20 (vector), or s20, s21, SCC (scalar). */
export interface Result {
  readonly value: number;
  readonly second: number;
  readonly bit: number;
}

const vectorKernel = (body: string) => `
  v_lshlrev_b32_e32 v1, 4, v0
  s_lshl_b32 s8, s6, 9
  v_add_nc_u32_e32 v1, s8, v1
  global_load_dwordx4 v[4:7], v1, s[0:1]
  s_waitcnt vmcnt(0)
  v_mov_b32_e32 v8, 0x5a5a5a5a
  v_mov_b32_e32 v9, 0
  s_mov_b32 s20, 0
  s_mov_b32 vcc_lo, 0x0f0f3355
  ${body}
  v_lshrrev_b32_e64 v10, v0, s20
  v_and_b32_e32 v10, 1, v10
  v_mov_b32_e32 v11, 0
  global_store_dwordx4 v1, v[8:11], s[2:3]
  s_endpgm`;

const scalarKernel = (body: string) => `
  s_lshl_b32 s8, s6, 4
  s_load_dwordx4 s[12:15], s[0:1], s8
  s_waitcnt lgkmcnt(0)
  s_mov_b32 s20, 0x5a5a5a5a
  s_mov_b32 s21, 0
  s_mov_b32 vcc_lo, 0x0f0f3355
  ${body}
  s_cselect_b32 s22, 1, 0
  v_lshlrev_b32_e32 v1, 4, v0
  v_add_nc_u32_e32 v1, s8, v1
  v_mov_b32_e32 v4, s20
  v_mov_b32_e32 v5, s21
  v_mov_b32_e32 v6, s22
  v_mov_b32_e32 v7, 0
  v_cmp_eq_u32_e32 vcc_lo, 0, v0
  s_and_b32 exec_lo, exec_lo, vcc_lo
  global_store_dwordx4 v1, v[4:7], s[2:3]
  s_endpgm`;

/** Runs each body over all tries; the operands are v4, v5, v6 and v7 (vector) or s12-s15 (scalar). */
export function runBodies(
  kind: "vector" | "scalar",
  bodies: readonly string[],
  words = inputs(),
  floatMode = 0xf0,
  build: Build = "release",
): Result[][] {
  const rig = new Rig({ memoryBytes: 0x1000_0000, build });
  const wrap = kind === "vector" ? vectorKernel : scalarKernel;
  const kernels = assembleAll(bodies.map(wrap));
  const input = rig.alloc(TRIES * 16);
  const output = rig.alloc(TRIES * 16);
  rig.u32(input.physical, TRIES * 4).set(words);
  const user = [input, output].flatMap(({ va }) => [low(va), high(va)]);
  // User data fill s0-s3; s4, s5 are padding so that the workgroup id is s6.
  user.push(0, 0);
  return kernels.map((kernel, i) => {
    rig.u32(output.physical, TRIES * 4).fill(0xdeadbeef);
    const groups = kind === "vector" ? BLOCKS : TRIES;
    const fault = rig.run({
      code: rig.code(kernel),
      user,
      groups: [groups, 1, 1],
      ids: [true, false, false],
      floatMode,
      ldsBytes: 512,
    });
    if (fault !== undefined) throw new Error(`${bodies[i]}: ${fault.name} at ${fault.pc.toString(16)}`);
    const out = rig.u32(output.physical, TRIES * 4);
    return Array.from({ length: TRIES }, (_, t) => ({
      value: out[4 * t]!,
      second: out[4 * t + 1]!,
      bit: out[4 * t + 2]!,
    }));
  });
}
