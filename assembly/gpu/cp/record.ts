/** Writes the fault record of a queue that stops, and raises the interrupt. */
import { Fault, FaultKind, InterruptSource, PhysicalMap, Queue, QueueState, WaveRecord } from "../../gen/uapi.ts";
import {
  clearFault,
  faultAccess,
  faultAddress,
  faultDetail0,
  faultDetail1,
  faultKind,
  faultLane,
  raise,
} from "../fault.ts";
import { Context, Wave } from "../layout.ts";
import { currentVmid, EXECUTE, read32 } from "../mem/translate.ts";
import { contextOf, interrupt, setQueueWord, slotOf } from "./control.ts";

const NO_WAVE: u32 = 0xffffffff;

function put64(at: usize, value: u64): void {
  store<u32>(at, <u32>value);
  store<u32>(at, <u32>(value >> 32), 4);
}

/** An instruction word for the record; 0 where the code can't be read. */
function peek(va: u64): u32 {
  clearFault();
  const value = read32(va, EXECUTE);
  clearFault();
  return value;
}

function writeWave(at: usize, slot: usize): void {
  put64(at + WaveRecord.PC_LO, load<u64>(slot, Wave.PC));
  store<u32>(at, load<u32>(slot, Wave.EXEC), WaveRecord.EXEC);
  store<u32>(at, load<u32>(slot, Wave.VCC), WaveRecord.VCC);
  store<u32>(at, load<u32>(slot, Wave.SCC), WaveRecord.SCC);
  store<u32>(at, load<u32>(slot, Wave.M0), WaveRecord.M0);
  store<u32>(at, load<u32>(slot, Wave.MODE), WaveRecord.MODE);
  store<u32>(at, load<u32>(slot, Wave.STATUS), WaveRecord.STATUS);
  store<u32>(at, load<u32>(slot, Wave.GROUP_X), WaveRecord.WORKGROUP_X);
  store<u32>(at, load<u32>(slot, Wave.GROUP_Y), WaveRecord.WORKGROUP_Y);
  store<u32>(at, load<u32>(slot, Wave.GROUP_Z), WaveRecord.WORKGROUP_Z);
  store<u32>(at, load<u32>(slot, Wave.INDEX), WaveRecord.WAVE_IN_GROUP);
}

/**
 * Halts `queue`: record of the current fault (or of kind HALTED where none is raised), interrupt, state. `waveIndex`
 * is the wave whose registers the record holds, NO_WAVE for a packet's fault.
 */
export function haltQueue(queue: u32, waveIndex: u32): void {
  if (faultKind == 0) raise(FaultKind.HALTED);
  const context = contextOf(queue);
  const record = <usize>PhysicalMap.FAULTS + <usize>(queue * Fault.SLOT_BYTES);
  const kind = faultKind;
  const vmid = currentVmid();
  memory.fill(record, 0, Fault.WAVES);
  store<u32>(record, kind, Fault.KIND);
  store<u32>(record, vmid, Fault.VMID);
  store<u32>(record, queue, Fault.QUEUE);
  store<u32>(record, faultAccess, Fault.ACCESS);
  put64(record + Fault.ADDRESS_LO, faultAddress);
  put64(record + Fault.PACKET_LO, load<u64>(context, Context.PACKET));
  store<u32>(record, load<u32>(context, Context.PACKET_HEADER), Fault.PACKET_HEADER);
  store<u32>(record, faultDetail0, Fault.DETAIL_0);
  store<u32>(record, faultDetail1, Fault.DETAIL_1);
  store<u32>(record, faultLane, Fault.LANE);
  store<u32>(
    record,
    waveIndex == NO_WAVE ? NO_WAVE : load<u32>(slotOf(queue, waveIndex), Wave.INDEX),
    Fault.WAVE_INDEX,
  );
  const dispatching = load<u32>(context, Context.DISPATCHING) != 0;
  if (dispatching) {
    store<u32>(record, load<u32>(context, Context.GROUPS_X), Fault.GROUPS_X);
    store<u32>(record, load<u32>(context, Context.GROUPS_Y), Fault.GROUPS_Y);
    store<u32>(record, load<u32>(context, Context.GROUPS_Z), Fault.GROUPS_Z);
    put64(record + Fault.PROGRAM_LO, load<u64>(context, Context.PROGRAM));
    const waves = load<u32>(context, Context.WAVES);
    store<u32>(record, waves, Fault.WAVE_COUNT);
    // The workgroup of the wave at hand.
    const first = waveIndex == NO_WAVE ? 0 : waveIndex - (waveIndex % waves);
    for (let i: u32 = 0; i < waves; i++)
      writeWave(record + Fault.WAVES + <usize>(i * Fault.WAVE_BYTES), slotOf(queue, first + i));
  }
  if (waveIndex != NO_WAVE) {
    const slot = slotOf(queue, waveIndex);
    const pc = load<u64>(slot, Wave.PC);
    put64(record + Fault.PC_LO, pc);
    store<u32>(record, peek(pc), Fault.INSTRUCTION_0);
    store<u32>(record, peek(pc + 4), Fault.INSTRUCTION_1);
    memory.copy(record + Fault.SGPRS, slot + Wave.SCALARS, 128 * 4);
    const vgprs = load<u32>(slot, Wave.VGPRS);
    store<u32>(record, vgprs, Fault.VGPR_COUNT);
    memory.copy(record + Fault.VGPRS, slot + Wave.VGPR_FILE, (<usize>vgprs) << 7);
  }
  clearFault();
  setQueueWord(queue, Queue.STATE, QueueState.HALTED);
  const source = kind == FaultKind.HALTED ? InterruptSource.HALTED : InterruptSource.FAULT;
  interrupt(source, queue, vmid, kind, 0);
}
