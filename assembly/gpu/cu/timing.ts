/**
 * Counters mode: a wave's clock and the machine's. A wave issues an instruction in `opIssueCycles` cycles, a memory
 * instruction in one for each line that it asks for; loads return after a latency by how far they had to go; a wait
 * stalls until the loads it names have returned. Stores cost their issue only. A dispatch takes the longest of three:
 * its workgroups, one after another on each place that occupancy allows; the issue of its busiest SIMD; the lines that L2
 * had to fetch, two cycles each. Latencies are public figures in cycles: a model, not a measurement.
 */
import { Op, opIssueCycles } from "../../gen/isa-ops.ts";
import { CounterSum, WaveStatus } from "../../gen/uapi.ts";
import { faultKind } from "../fault.ts";
import { Context, MAX_SLOTS, RECORD_SHIFT, Rec, Unit, Wave } from "../layout.ts";
import { MODEL, MODEL_BYTES, MODEL_PLACES, TIMES, TIMES_BYTES } from "../mem/cache-layout.ts";
import { Reach, reach, requests } from "../mem/hierarchy.ts";
import { codePage } from "./code-cache.ts";
import { runWave } from "./run.ts";
import { wave } from "./wave.ts";

const LDS_LATENCY: u32 = 64;
/** A scalar instruction that reads no memory: the clock. */
const CLOCK_LATENCY: u32 = 40;
const WAVES_PER_SIMD: u32 = 16;
const VGPRS_PER_SIMD: u32 = 1024;
const WGP_LDS_BYTES: u32 = 131072;
const CYCLES_PER_LINE: u64 = 2;
/** Numbers of outstanding loads that are remembered: a counter holds no more. */
const RING_MASK: u32 = 63;
const LGKM_RING: usize = 256;

function vectorLatency(): u32 {
  switch (reach) {
    case Reach.FIRST:
      return 110;
    case Reach.GL1:
      return 150;
    case Reach.L2:
      return 220;
    case Reach.MEMORY:
      return 500;
    default:
      // Every lane out of range, or none active.
      return 60;
  }
}

function scalarLatency(): u32 {
  switch (reach) {
    case Reach.FIRST:
      return 100;
    case Reach.GL1:
      return 140;
    case Reach.L2:
      return 200;
    case Reach.MEMORY:
      return 480;
    default:
      return CLOCK_LATENCY;
  }
}

function add(context: usize, counter: usize, amount: u64): void {
  const at = context + Context.PERF + counter;
  store<u64>(at, load<u64>(at) + amount);
}

/** When the loads with numbers above `from` up to `to` have returned; 0 where there are none. */
function latest(ring: usize, from: u32, to: u32): u32 {
  let time: u32 = 0;
  for (let n = from; n != to; n++) {
    const at = load<u32>(ring + ((<usize>((n + 1) & RING_MASK)) << 2));
    if (at > time) time = at;
  }
  return time;
}

function note(ring: usize, from: u32, to: u32, time: u32): void {
  for (let n = from; n != to; n++) store<u32>(ring + ((<usize>((n + 1) & RING_MASK)) << 2), time);
}

/** Waits until `time`; the cycles go to `counter`. */
function stall(context: usize, counter: usize, time: u32): void {
  const clock = load<u32>(wave, Wave.CLOCK);
  if (time <= clock) return;
  store<u32>(wave, time, Wave.CLOCK);
  add(context, counter, time - clock);
}

/** `runWave` for the wave in slot `index`, an instruction at a time, with its times. */
export function runCounted(context: usize, queue: u32, index: u32, slice: u32): u32 {
  const ring = TIMES + <usize>((queue * MAX_SLOTS + index) * TIMES_BYTES);
  let done: u32 = 0;
  while (done < slice) {
    const pc = load<u64>(wave, Wave.PC);
    const vmIssued = load<u32>(wave, Wave.VM_ISSUED);
    const vmDone = load<u32>(wave, Wave.VM_DONE);
    const lgkmIssued = load<u32>(wave, Wave.LGKM_ISSUED);
    const lgkmDone = load<u32>(wave, Wave.LGKM_DONE);
    if (runWave(context, queue, 1) == 0 || faultKind != 0) break;
    done++;
    const rec = codePage(context, queue, pc) + ((<usize>(pc & 4095)) << (RECORD_SHIFT - 2));
    const op = <u32>load<u16>(rec, Rec.OP);
    const unit = <u32>load<u8>(rec, Rec.UNIT);
    const memory = unit == Unit.VMEM || unit == Unit.SMEM;
    const cost = memory && requests > 1 ? requests : opIssueCycles(op);
    const clock = load<u32>(wave, Wave.CLOCK) + cost;
    store<u32>(wave, clock, Wave.CLOCK);
    store<u32>(wave, load<u32>(wave, Wave.ISSUED_CYCLES) + cost, Wave.ISSUED_CYCLES);
    const latency = unit == Unit.VMEM ? vectorLatency() : unit == Unit.SMEM ? scalarLatency() : LDS_LATENCY;
    note(ring, vmIssued, load<u32>(wave, Wave.VM_ISSUED), clock + latency);
    note(ring + LGKM_RING, lgkmIssued, load<u32>(wave, Wave.LGKM_ISSUED), clock + latency);
    stall(context, CounterSum.STALL_VECTOR, latest(ring, vmDone, load<u32>(wave, Wave.VM_DONE)));
    stall(context, CounterSum.STALL_SCALAR, latest(ring + LGKM_RING, lgkmDone, load<u32>(wave, Wave.LGKM_DONE)));
    if (load<u32>(wave, Wave.STATUS) != WaveStatus.RUNNING || op == Op.s_sleep) break;
  }
  return done;
}

function slotAt(slots: usize, bytes: u32, i: u32): usize {
  return slots + <usize>(i * bytes);
}

function lastClock(slots: usize, bytes: u32, waves: u32): u32 {
  let last: u32 = 0;
  for (let i: u32 = 0; i < waves; i++) last = max<u32>(last, load<u32>(slotAt(slots, bytes, i), Wave.CLOCK));
  return last;
}

/** A barrier opens: the workgroup's waves (from `slots` on, of `bytes` each) that wait there go on together. */
export function meetAtBarrier(context: usize, slots: usize, bytes: u32, waves: u32): void {
  let last: u32 = 0;
  for (let i: u32 = 0; i < waves; i++) {
    const slot = slotAt(slots, bytes, i);
    if (load<u32>(slot, Wave.STATUS) == WaveStatus.BARRIER) last = max<u32>(last, load<u32>(slot, Wave.CLOCK));
  }
  for (let i: u32 = 0; i < waves; i++) {
    const slot = slotAt(slots, bytes, i);
    if (load<u32>(slot, Wave.STATUS) != WaveStatus.BARRIER) continue;
    add(context, CounterSum.STALL_BARRIER, last - load<u32>(slot, Wave.CLOCK));
    store<u32>(slot, last, Wave.CLOCK);
  }
}

function modelOf(queue: u32): usize {
  return MODEL + <usize>(queue * MODEL_BYTES);
}

export function openModel(queue: u32, context: usize): void {
  memory.fill(modelOf(queue), 0, MODEL_BYTES);
  store<u32>(context, 0, Context.ENDED);
}

/** Workgroups that the machine holds at once. */
function modelPlaces(context: usize, wgps: u32): u32 {
  const vgprs = (load<u32>(context, Context.VGPRS) + 15) & ~15;
  const lds = load<u32>(context, Context.LDS_ALLOCATED);
  let perWgp = (min<u32>(WAVES_PER_SIMD, VGPRS_PER_SIMD / vgprs) * 4) / load<u32>(context, Context.WAVES);
  if (lds != 0) perWgp = min<u32>(perWgp, WGP_LDS_BYTES / lds);
  return min<u32>(max<u32>(perWgp, 1) * wgps, MODEL_PLACES);
}

/** A workgroup has ended. */
export function groupTimed(queue: u32, context: usize, slots: usize, bytes: u32, waves: u32, wgps: u32): void {
  const ordinal = load<u32>(context, Context.ENDED);
  store<u32>(context, ordinal + 1, Context.ENDED);
  const model = modelOf(queue);
  const place = ordinal % modelPlaces(context, wgps);
  const at = model + ((<usize>place) << 2);
  store<u32>(at, load<u32>(at) + lastClock(slots, bytes, waves));
  const simds = model + ((<usize>MODEL_PLACES) << 2) + ((<usize>(place % wgps)) << 4);
  for (let i: u32 = 0; i < waves; i++) {
    const issued = load<u32>(slotAt(slots, bytes, i), Wave.ISSUED_CYCLES);
    const simd = simds + ((<usize>((i + ordinal / wgps) & 3)) << 2);
    store<u32>(simd, load<u32>(simd) + issued);
    add(context, CounterSum.ISSUE, issued);
  }
}

/** The dispatch has ended: its estimated cycles. */
export function closeModel(queue: u32, context: usize): void {
  const model = modelOf(queue);
  let longest: u64 = load<u64>(context, Context.PERF + CounterSum.L2_MISS) * CYCLES_PER_LINE;
  for (let at = model; at < model + <usize>MODEL_BYTES; at += 4) longest = max<u64>(longest, load<u32>(at));
  add(context, CounterSum.CYCLES, longest);
}
