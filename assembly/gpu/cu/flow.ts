/** Program control: branches, waits, barrier, end. Source: RDNA2 ISA, SOPP and SOPK chapters. */
import { Op } from "../../gen/isa-ops.ts";
import { FaultKind, WaveStatus } from "../../gen/uapi.ts";
import { raise, raiseNotModelled } from "../fault.ts";
import { Rec, Wave } from "../layout.ts";
import { cached } from "../mem/cache-state.ts";
import { waitStores } from "./cached.ts";
import { waitCounters, waitLgkm, waitVm } from "./pending.ts";
import { scc, setSgpr64, sgpr, sgpr64, wave } from "./wave.ts";

/** What the loop does after a flow instruction. */
export const enum Next {
  STEP = 0,
  JUMP = 1,
  STOP = 2,
}

/** Where JUMP goes. */
export let target: u64 = 0;

function branch(taken: bool, next: u64, imm: i32): u32 {
  if (!taken) return Next.STEP;
  target = next + ((<i64>imm) << 2);
  return Next.JUMP;
}

function stop(status: u32): u32 {
  store<u32>(wave, status, Wave.STATUS);
  return Next.STOP;
}

/** Runs one instruction; `next` is the address after it. */
export function executeFlow(rec: usize, next: u64): u32 {
  const imm = load<i32>(rec, Rec.IMM);
  switch (<u32>load<u16>(rec, Rec.OP)) {
    case Op.s_nop:
    case Op.s_clause:
    case Op.s_inst_prefetch:
    case Op.s_setprio:
    case Op.s_waitcnt_depctr:
    case Op.s_waitcnt_expcnt:
    case Op.s_icache_inv:
    case Op.s_wakeup:
    case Op.s_incperflevel:
    case Op.s_decperflevel:
    case Op.s_ttracedata:
    case Op.s_ttracedata_imm:
      return Next.STEP;
    case Op.s_endpgm:
      return stop(WaveStatus.ENDED);
    case Op.s_sleep:
      // Ends the slice: who waits for another wave lets it run.
      return Next.STOP;
    case Op.s_barrier:
      return stop(WaveStatus.BARRIER);
    case Op.s_branch:
      return branch(true, next, imm);
    case Op.s_cbranch_scc0:
      return branch(scc() == 0, next, imm);
    case Op.s_cbranch_scc1:
      return branch(scc() != 0, next, imm);
    case Op.s_cbranch_vccz:
      return branch(load<u32>(wave, Wave.VCC) == 0, next, imm);
    case Op.s_cbranch_vccnz:
      return branch(load<u32>(wave, Wave.VCC) != 0, next, imm);
    case Op.s_cbranch_execz:
      return branch(load<u32>(wave, Wave.EXEC) == 0, next, imm);
    case Op.s_cbranch_execnz:
      return branch(load<u32>(wave, Wave.EXEC) != 0, next, imm);
    case Op.s_waitcnt:
      waitCounters(imm);
      return Next.STEP;
    case Op.s_waitcnt_vmcnt:
      // The wait ends at the smaller of the immediate and the register.
      waitVm((imm & 63) + sgpr(load<u16>(rec, Rec.DST)));
      return Next.STEP;
    case Op.s_waitcnt_lgkmcnt:
      waitLgkm((imm & 63) + sgpr(load<u16>(rec, Rec.DST)));
      return Next.STEP;
    case Op.s_waitcnt_vscnt:
      if (cached) waitStores((imm & 63) + sgpr(load<u16>(rec, Rec.DST)));
      return Next.STEP;
    case Op.s_wait_idle:
      if (cached) waitStores(0);
      waitVm(0);
      waitLgkm(0);
      return Next.STEP;
    case Op.s_setpc_b64:
      target = sgpr64((load<u16>(rec, Rec.SRC0) - Wave.SCALARS) >> 2);
      return Next.JUMP;
    case Op.s_swappc_b64:
      target = sgpr64((load<u16>(rec, Rec.SRC0) - Wave.SCALARS) >> 2);
      setSgpr64(load<u16>(rec, Rec.DST), next);
      return Next.JUMP;
    case Op.s_call_b64:
      setSgpr64(load<u16>(rec, Rec.DST), next);
      return branch(true, next, imm);
    case Op.s_round_mode:
      store<u32>(wave, (load<u32>(wave, Wave.MODE) & ~0xf) | (imm & 0xf), Wave.MODE);
      return Next.STEP;
    case Op.s_denorm_mode:
      store<u32>(wave, (load<u32>(wave, Wave.MODE) & ~0xf0) | ((imm & 0xf) << 4), Wave.MODE);
      return Next.STEP;
    case Op.s_trap:
      raise(FaultKind.TRAP);
      return Next.STOP;
    case Op.s_code_end:
      raise(FaultKind.ILLEGAL_INSTRUCTION);
      return Next.STOP;
    default:
      raiseNotModelled();
      return Next.STOP;
  }
}
