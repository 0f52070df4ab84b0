/** Where the caches lie in the GPU's private memory, and their shapes: navi21's sizes. */
import { PhysicalMap } from "../../gen/uapi.ts";
import { MAX_SLOTS, MAX_WGPS, QUEUES } from "../layout.ts";

export const LINE_SHIFT: u32 = 7;
export const LINE_BYTES: u32 = 128;

export const enum CacheField {
  EPOCH = 0,
  /** Way of a full set that goes next. */
  TURN = 4,
  TAGS = 16,
}

/** Vector L0 of a CU: 16 KiB. */
export const GL0_LINES: u32 = 128;
export const GL0_WAYS: u32 = 4;
/** Scalar cache of a WGP: 16 KiB. */
export const SCALAR_LINES: u32 = 128;
export const SCALAR_WAYS: u32 = 4;
/** GL1 of a shader array: 128 KiB. */
export const GL1_LINES: u32 = 1024;
export const GL1_WAYS: u32 = 16;
export const SHADER_ARRAYS: u32 = 8;
/** L2: 4 MiB. */
export const L2_LINES: u32 = 32768;
export const L2_WAYS: u32 = 16;

const SMALL_BYTES: u32 = 0x4800;
const GL1_BYTES: u32 = 0x22400;
const L2_BYTES: u32 = 0x440100;
const REGION_BYTES: u32 = 0xb00000;

const REGION: usize = <usize>PhysicalMap.GPU_PRIVATE + <usize>(<u32>PhysicalMap.GPU_PRIVATE_BYTES - REGION_BYTES);
const SCALAR_BASE: usize = REGION + <usize>(MAX_WGPS * 2 * SMALL_BYTES);
const GL1_BASE: usize = SCALAR_BASE + <usize>(MAX_WGPS * SMALL_BYTES);
export const L2: usize = GL1_BASE + <usize>(SHADER_ARRAYS * GL1_BYTES);
/** Dirty bytes of each L2 line: 16 bytes of bits. */
export const L2_DIRTY: usize = L2 + <usize>L2_BYTES;
/** Stores under way: `Entry` records after a count. */
export const STORES: usize = L2_DIRTY + <usize>(L2_LINES * 16);

/** Counters mode: per wave slot, when its outstanding loads return (`Timing`). */
export const TIMES: usize = STORES + 0x4000;
export const TIMES_BYTES: u32 = 512;
/** Per queue, when each place of the modelled machine is free, and how long each SIMD issues; u32 each. */
export const MODEL: usize = TIMES + <usize>(QUEUES * MAX_SLOTS * TIMES_BYTES);
export const MODEL_PLACES: u32 = 4096;
export const MODEL_BYTES: u32 = (MODEL_PLACES + MAX_WGPS * 4) * 4;

export function gl0Of(cu: u32): usize {
  return REGION + <usize>(cu * SMALL_BYTES);
}

export function scalarOf(wgp: u32): usize {
  return SCALAR_BASE + <usize>(wgp * SMALL_BYTES);
}

export function gl1Of(array: u32): usize {
  return GL1_BASE + <usize>(array * GL1_BYTES);
}
