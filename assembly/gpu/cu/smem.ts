/** Scalar memory: loads into SGPRs by address or through a V#. Source: RDNA2 ISA, scalar memory chapter. */
import { Op } from "../../gen/isa-ops.ts";
import { faultKind, raiseNotModelled } from "../fault.ts";
import { Rec } from "../layout.ts";
import { cached } from "../mem/cache-state.ts";
import { invalidateGl1, invalidateScalar } from "../mem/hierarchy.ts";
import { READ, read32, translate } from "../mem/translate.ts";
import { beginCached, cachedScalar } from "./cached.ts";
import { markPending } from "./pending.ts";
import { setSgpr, setSgpr64, sgpr, sgpr64 } from "./wave.ts";

/** Instructions executed, the model's clock. */
let clock: u64 = 0;

export function tick(instructions: u64): void {
  clock += instructions;
}

function loadDwords(dst: u32, count: u32, address: u64): void {
  if (cached) {
    for (let i: u32 = 0; i < count; i++) {
      const value = cachedScalar(address + 4 * i);
      if (faultKind != 0) return;
      setSgpr(dst + i, value);
    }
    return;
  }
  const last = address + 4 * count - 1;
  if (address >> 12 == last >> 12) {
    const at = translate(address, READ);
    if (at == 0) return;
    for (let i: u32 = 0; i < count; i++) setSgpr(dst + i, load<u32>(at + ((<usize>i) << 2)));
    return;
  }
  for (let i: u32 = 0; i < count; i++) {
    const value = read32(address + 4 * i, READ);
    if (faultKind != 0) return;
    setSgpr(dst + i, value);
  }
}

/** The clock: instructions executed since start. */
export function now(): u64 {
  return clock;
}

/** Each dword of a buffer load is checked alone; outside it reads 0. Range: num_records, times stride where there is one. */
function loadBuffer(dst: u32, count: u32, resource: u32, offset: u32): void {
  const word1 = sgpr(resource + 1);
  const base = <u64>(<i64>((<u64>sgpr(resource) | ((<u64>word1) << 32)) << 16) >> 16);
  const stride = (word1 >> 16) & 0x3fff;
  const records = <u64>sgpr(resource + 2);
  const size = stride == 0 ? records : records * stride;
  for (let i: u32 = 0; i < count; i++) {
    const at = <u64>offset + 4 * i;
    const value = at + 4 > size ? 0 : cached ? cachedScalar(base + at) : read32(base + at, READ);
    if (faultKind != 0) return;
    setSgpr(dst + i, value);
  }
}

export function executeSmem(rec: usize): void {
  const op = <u32>load<u16>(rec, Rec.OP);
  const dst = <u32>load<u16>(rec, Rec.DST);
  const count = <u32>load<u16>(rec, Rec.DST2);
  const base = <u32>load<u16>(rec, Rec.SRC0);
  const soffset = sgpr(load<u16>(rec, Rec.SRC1));
  const imm = load<i32>(rec, Rec.IMM);
  if (cached) beginCached(rec, false);
  switch (op) {
    case Op.s_load_dword:
    case Op.s_load_dwordx2:
    case Op.s_load_dwordx4:
    case Op.s_load_dwordx8:
    case Op.s_load_dwordx16:
      loadDwords(dst, count, (sgpr64(base) + <u64>(<i64>imm) + <u64>soffset) & ~(<u64>3));
      break;
    case Op.s_buffer_load_dword:
    case Op.s_buffer_load_dwordx2:
    case Op.s_buffer_load_dwordx4:
    case Op.s_buffer_load_dwordx8:
    case Op.s_buffer_load_dwordx16:
      loadBuffer(dst, count, base, (imm + soffset) & ~3);
      break;
    case Op.s_memtime:
    case Op.s_memrealtime:
      setSgpr64(dst, clock);
      break;
    case Op.s_dcache_inv:
      if (cached) invalidateScalar();
      return;
    case Op.s_gl1_inv:
      if (cached) invalidateGl1();
      return;
    default:
      raiseNotModelled();
      return;
  }
  if (faultKind == 0) markPending(rec);
}
