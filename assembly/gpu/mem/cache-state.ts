/** Which caches the running wave uses, and where its accesses are counted. */
import { ControlFlag } from "../../gen/uapi.ts";
import { SHADER_ARRAYS } from "./cache-layout.ts";

/** The caches are in the path of shader accesses: they hold data, or only count. */
export let cached: bool = false;
/** Coherence mode: caches hold data, and stores take their time. */
export let holds: bool = false;
export let counting: bool = false;
/** Counters of the running dispatch: u64 at `CounterSum` offsets. */
export let counters: usize = 0;
export let cu: u32 = 0;
export let wgp: u32 = 0;
export let shaderArray: u32 = 0;
export let runningQueue: u32 = 0;

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
