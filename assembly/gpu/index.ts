/** The simulated GPU: the host calls `initialise` once, then `run` whenever the doorbell rang and for as long as it answers 1. */
import {
  CONTROL_MAGIC,
  Control,
  Fault,
  GpuState,
  InterruptSource,
  PhysicalMap,
  Queue,
  QueueKind,
  QueueState,
  WaveStatus,
} from "../gen/uapi.ts";
import {
  contextOf,
  controlWord,
  interrupt,
  queueWord,
  setControlWord,
  setQueueWord,
  slotOf,
  takeControlWord,
} from "./cp/control.ts";
import { runDispatch } from "./cp/dispatch.ts";
import { runPacket } from "./cp/packets.ts";
import { haltQueue } from "./cp/record.ts";
import { groupAt, releaseAll } from "./cp/residency.ts";
import { blocked, hasPackets, resetPackets } from "./cp/stream.ts";
import { faultKind } from "./fault.ts";
import { Context, Group, MIX_RANDOM, QUEUES, Wave } from "./layout.ts";
import { useCaches } from "./mem/cache-state.ts";
import { dropTranslations, setMemoryEnd, useVmid } from "./mem/translate.ts";
import { runSdmaPacket } from "./sdma/packets.ts";

const NO_WAVE: u32 = 0xffffffff;
const PACKETS_PER_TURN: u32 = 64;
/** Instructions of a turn where a seed mixes the queues, on average; a power of two. */
const MIX_TURN: u32 = 128;

/** Tells the size of the whole memory, bytes. */
export function initialise(memoryBytes: f64): void {
  setMemoryEnd(<u64>memoryBytes);
}

/** What `run` answers. */
const IDLE: u32 = 0;
const MORE: u32 = 1;
/** All queues with work wait on memory: look again a little later. */
const WAITS: u32 = 2;

/** Runs every queue with work for about `budget` instructions each. */
export function run(budget: u32): u32 {
  if (controlWord(Control.MAGIC) != CONTROL_MAGIC || controlWord(Control.STOP)) return IDLE;
  useCaches(controlWord(Control.FLAGS));
  const more = controlWord(Control.SEED) ? runMixed(budget) : runInOrder(budget);
  setControlWord(Control.GPU_STATE, more ? GpuState.BUSY : GpuState.IDLE);
  return more;
}

function dropStale(): void {
  const stale = takeControlWord(Control.TLB_INVALIDATE);
  if (stale) dropTranslations(stale);
}

function runInOrder(budget: u32): u32 {
  let more: u32 = IDLE;
  for (let queue: u32 = 0; queue < QUEUES; queue++) {
    if (!queueWord(queue, Queue.ENABLED)) continue;
    dropStale();
    const state = runQueue(queue, budget, PACKETS_PER_TURN);
    if (state == MORE || more == IDLE) more = state;
  }
  return more;
}

/** Which queue runs next, and for how long: a random sequence of the seed's. */
function nextMix(): u32 {
  let x = load<u32>(MIX_RANDOM);
  if (x == 0) x = (controlWord(Control.SEED) * 0x85ebca6b) | 1;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  store<u32>(MIX_RANDOM, x);
  return x;
}

/** One packet or a short run of instructions of a queue drawn by the seed, again and again. */
function runMixed(budget: u32): u32 {
  let rest: u32 = 0;
  for (let queue: u32 = 0; queue < QUEUES; queue++) if (queueWord(queue, Queue.ENABLED)) rest |= 1 << queue;
  let waiting: u32 = 0;
  const turns = max<u32>(budget / MIX_TURN, 1) * <u32>popcnt(rest);
  for (let turn: u32 = 0; turn < turns && rest & ~waiting; turn++) {
    const drawn = nextMix();
    let able = rest & ~waiting;
    for (let skip = (drawn & 0xff) % <u32>popcnt(able); skip != 0; skip--) able &= able - 1;
    const queue = ctz<u32>(able);
    dropStale();
    const state = runQueue(queue, 1 + ((drawn >> 8) & (2 * MIX_TURN - 1)), 1);
    if (state == IDLE) rest &= ~(1 << queue);
    else if (state == WAITS) waiting |= 1 << queue;
    else waiting = 0;
  }
  if (rest & ~waiting) return MORE;
  return waiting ? WAITS : IDLE;
}

/** Slot of a wave of the running dispatch that has not ended, for the record of a halt. */
function liveWave(queue: u32): u32 {
  const context = contextOf(queue);
  if (!load<u32>(context, Context.DISPATCHING)) return NO_WAVE;
  const waves = load<u32>(context, Context.WAVES);
  const slots = load<u32>(context, Context.PLACES) * waves;
  const first = load<u32>(context, Context.CURRENT) * waves;
  for (let k: u32 = 0; k < slots; k++) {
    const i = (first + k) % slots;
    if (load<u32>(groupAt(queue, i / waves), Group.LIVE) == 0) continue;
    if (load<u32>(slotOf(queue, i), Wave.STATUS) != WaveStatus.ENDED) return i;
  }
  return NO_WAVE;
}

function runQueue(queue: u32, budget: u32, mostPackets: u32): u32 {
  const wanted = queueWord(queue, Queue.RESET_REQUEST);
  if (wanted != queueWord(queue, Queue.RESET_ACK)) {
    releaseAll(queue);
    resetPackets(queue);
    setQueueWord(queue, Queue.HALT_REQUEST, 0);
    store<u32>(<usize>PhysicalMap.FAULTS + <usize>(queue * Fault.SLOT_BYTES), 0, Fault.KIND);
    setQueueWord(queue, Queue.RESET_ACK, wanted);
    interrupt(InterruptSource.RESET_DONE, queue, 0, wanted, 0);
  }
  if (queueWord(queue, Queue.STATE) == QueueState.HALTED) return IDLE;
  const context = contextOf(queue);
  if (queueWord(queue, Queue.HALT_REQUEST)) {
    useVmid(load<u32>(context, Context.VMID));
    haltQueue(queue, liveWave(queue));
    return IDLE;
  }
  if (!load<u32>(context, Context.RANDOM))
    store<u32>(context, (controlWord(Control.SEED) * 0x9e3779b1) ^ (queue + 1), Context.RANDOM);
  setQueueWord(queue, Queue.STATE, QueueState.RUNNING);
  let used: u32 = 0;
  for (let packets: u32 = 0; packets < mostPackets && used < budget; ) {
    if (load<u32>(context, Context.DISPATCHING)) {
      useVmid(load<u32>(context, Context.VMID));
      used += runDispatch(queue, budget - used);
      if (queueWord(queue, Queue.STATE) == QueueState.HALTED) return IDLE;
      continue;
    }
    if (!hasPackets(queue)) {
      setQueueWord(queue, Queue.STATE, QueueState.IDLE);
      return IDLE;
    }
    packets++;
    if (queueWord(queue, Queue.KIND) == QueueKind.SDMA) runSdmaPacket(queue);
    else runPacket(queue);
    if (faultKind != 0) {
      haltQueue(queue, NO_WAVE);
      return IDLE;
    }
    if (blocked) return WAITS;
  }
  return MORE;
}

/** Statistics of the queue's last dispatch: instructions of class `unit` (`Unit`), for tests and reports. */
export function dispatchCount(queue: u32, unit: u32): f64 {
  return <f64>load<u64>(contextOf(queue) + Context.COUNTS + ((<usize>unit) << 3));
}
