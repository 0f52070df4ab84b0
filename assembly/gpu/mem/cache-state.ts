/** Which caches the running wave uses, and where its accesses are counted. */
import { ControlFlag } from "../../gen/uapi.ts";
import { SHADER_ARRAYS } from "./cache-layout.ts";

/** The caches are in the path of shader accesses: they hold data, or only count. */
export let cached: bool = false;
/** Coherence mode: caches hold data, and stores take their time. */
export let holds: bool = false;
export let counting: bool = false;
/** Counters of the running dispatch: u64 at `Perf` offsets. */
export let counters: usize = 0;
export let cu: u32 = 0;
export let wgp: u32 = 0;
export let shaderArray: u32 = 0;
export let runningQueue: u32 = 0;

/** Counters of a dispatch, u64 each. A request is one line of one instruction. */
export const enum Perf {
  GL0_HIT = 0,
  GL0_MISS = 8,
  GL1_HIT = 16,
  GL1_MISS = 24,
  L2_HIT = 32,
  L2_MISS = 40,
  SCALAR_HIT = 48,
  SCALAR_MISS = 56,
  STORES = 64,
  ATOMICS = 72,
  /** Cycles that waves wait for vector memory, for scalar memory and LDS, and at barriers. */
  STALL_VM = 80,
  STALL_LGKM = 88,
  STALL_BARRIER = 96,
  /** Issue cycles of all waves. */
  ISSUE = 104,
  /** The dispatch's estimated cycles. */
  CYCLES = 112,
  BYTES = 128,
}

/** `ControlFlag` bits of the machine. */
export function useCaches(flags: u32): void {
  holds = (flags & ControlFlag.COHERENCE) != 0;
  counting = (flags & ControlFlag.COUNTERS) != 0;
  cached = holds || counting;
}

/** Before a wave's slice on SIMD `simd` of a machine of `wgps` WGPs. */
export function runOn(queue: u32, simd: u32, wgps: u32, perf: usize): void {
  runningQueue = queue;
  cu = simd >> 1;
  wgp = simd >> 2;
  shaderArray = (wgp * SHADER_ARRAYS) / wgps;
  counters = perf;
}

export function count(counter: usize): void {
  const at = counters + counter;
  store<u64>(at, load<u64>(at) + 1);
}
