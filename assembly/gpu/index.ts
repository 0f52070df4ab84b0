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
import { blocked, hasPackets, resetPackets } from "./cp/stream.ts";
import { faultKind } from "./fault.ts";
import { Context, QUEUES, Wave } from "./layout.ts";
import { dropTranslations, setMemoryEnd, useVmid } from "./mem/translate.ts";
import { runSdmaPacket } from "./sdma/packets.ts";

const NO_WAVE: u32 = 0xffffffff;
const PACKETS_PER_TURN: u32 = 64;

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
  let more: u32 = IDLE;
  for (let queue: u32 = 0; queue < QUEUES; queue++) {
    if (!queueWord(queue, Queue.ENABLED)) continue;
    const stale = takeControlWord(Control.TLB_INVALIDATE);
    if (stale) dropTranslations(stale);
    const state = runQueue(queue, budget);
    if (state == MORE || more == IDLE) more = state;
  }
  setControlWord(Control.GPU_STATE, more ? GpuState.BUSY : GpuState.IDLE);
  return more;
}

/** A wave of the running dispatch that has not ended, for the record of a halt. */
function liveWave(queue: u32): u32 {
  const context = contextOf(queue);
  if (!load<u32>(context, Context.DISPATCHING)) return NO_WAVE;
  const waves = load<u32>(context, Context.WAVES);
  const turn = load<u32>(context, Context.TURN);
  for (let k: u32 = 0; k < waves; k++) {
    const i = (turn + k) % waves;
    if (load<u32>(slotOf(queue, i), Wave.STATUS) != WaveStatus.ENDED) return i;
  }
  return NO_WAVE;
}

function runQueue(queue: u32, budget: u32): u32 {
  const wanted = queueWord(queue, Queue.RESET_REQUEST);
  if (wanted != queueWord(queue, Queue.RESET_ACK)) {
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
  for (let packets: u32 = 0; packets < PACKETS_PER_TURN && used < budget; ) {
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
