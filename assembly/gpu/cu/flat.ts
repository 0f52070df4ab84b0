/** FLAT, GLOBAL, SCRATCH. Source: RDNA2 ISA, flat memory chapter; scratch swizzle as in the rows' reference. */
import { Format, Op, opFormat, SourceCode } from "../../gen/isa-ops.ts";
import { FaultAccess, FaultKind } from "../../gen/uapi.ts";
import { faultKind, nameLane, raiseMemory, raiseNotModelled } from "../fault.ts";
import { Mod, Rec, Wave } from "../layout.ts";
import { cached } from "../mem/cache-state.ts";
import { READ, translate, WRITE } from "../mem/translate.ts";
import { beginCached } from "./cached.ts";
import { markPending } from "./pending.ts";
import { Row } from "./row.ts";
import { Mov } from "./row-ops.ts";
import {
  Access,
  accessBytes,
  atomicLane32,
  atomicLane64,
  beginQuick,
  loadLane,
  Move,
  quickAddress,
  storeLane,
} from "./vmem.ts";
import { exec, sgpr, sgpr64, vgprRow, wave } from "./wave.ts";

/** Address of one lane's scratch byte `offset`: dwords of the 32 lanes interleave. */
function scratchAddress(offset: u32, lane: u32): u64 {
  return load<u64>(wave, Wave.FLAT_SCRATCH) + <u64>(offset >> 2) * 128 + <u64>(lane * 4 + (offset & 3));
}

/** Scratch: each dword of a wide access lies in another row of lanes. */
function scratchLane(what: u32, kind: u32, offset: u32, lane: u32, column: usize): void {
  const limit = load<u32>(wave, Wave.SCRATCH_LIMIT);
  if (<u64>offset + accessBytes(kind) > <u64>limit) {
    raiseMemory(
      FaultKind.PAST_SCRATCH,
      what == Move.STORE ? FaultAccess.WRITE : FaultAccess.READ,
      scratchAddress(offset, lane),
      offset,
      limit,
    );
    return;
  }
  const parts: u32 = kind <= <u32>Access.DWORDX4 ? kind : 1;
  for (let i: u32 = 0; i < parts; i++) {
    const va = scratchAddress(offset + 4 * i, lane);
    const part = column + ((<usize>i) << 7);
    const access: u32 = kind <= <u32>Access.DWORDX4 ? Access.DWORD : kind;
    if (what == Move.STORE) storeLane(access, va, part);
    else loadLane(access, va, part);
    if (faultKind != 0) return;
  }
}

/** 32 lanes at consecutive dwords within a page. */
function straight(what: u32, row: usize, start: u64, data: usize): bool {
  const first = load<u32>(row);
  const step = i32x4(0, 4, 8, 12);
  let same = i32x4.splat(-1);
  for (let i: u32 = 0; i < 8; i++) {
    const want = i32x4.add(i32x4.splat(first + 16 * i), step);
    same = v128.and(same, i32x4.eq(v128.load(row + ((<usize>i) << 4)), want));
  }
  if (!i32x4.all_true(same) || first > 0xffffff80) return false;
  const va = start + <u64>first;
  if ((va & 0xfff) > 4096 - 128) return false;
  const at = translate(va, what == Move.LOAD ? READ : WRITE);
  if (at == 0) {
    nameLane(0);
    return true;
  }
  if (what == Move.LOAD) Row.one<Mov>(data, at);
  else Row.one<Mov>(at, data);
  return true;
}

export function executeFlat(rec: usize): void {
  const op = <u32>load<u16>(rec, Rec.OP);
  const format = opFormat(op);
  const move = load<u32>(rec, Rec.EXTRA);
  if (move == Move.UNKNOWN || op == Op.none) {
    raiseNotModelled();
    return;
  }
  const what = move & Move.WHAT;
  const kind = move & Move.KIND;
  const saddr = <u32>load<u16>(rec, Rec.DST2);
  const imm = <i64>load<i32>(rec, Rec.IMM);
  const address = vgprRow(load<u16>(rec, Rec.SRC0));
  const data = vgprRow(load<u16>(rec, Rec.SRC1));
  const dst = vgprRow(load<u16>(rec, Rec.DST));
  const returns = (load<u32>(rec, Rec.MODS) & Mod.GLC) != 0;
  const lanes = exec();
  const bySaddr = format == Format.GLOBAL && saddr != SourceCode.nullReg && saddr != SourceCode.execHi;
  const start = bySaddr ? sgpr64(saddr) + <u64>imm : <u64>imm;
  if (!cached && bySaddr && lanes == 0xffffffff && what <= <u32>Move.STORE && kind == Access.DWORD) {
    if (straight(what, address, start, what == Move.LOAD ? dst : data)) {
      if (faultKind == 0 && what == Move.LOAD) markPending(rec);
      return;
    }
  }
  beginQuick();
  if (cached) beginCached(rec, what == Move.STORE || (what >= <u32>Move.ATOMIC && !returns));
  for (let lane: u32 = 0; lane < 32; lane++) {
    if (!((lanes >> lane) & 1)) continue;
    const column = (<usize>lane) << 2;
    const moved = (what == Move.STORE ? data : dst) + column;
    if (format == Format.SCRATCH) {
      let offset = <u32>imm;
      if (saddr == SourceCode.nullReg) offset += load<u32>(address + column);
      else if (saddr != SourceCode.execHi) offset += sgpr(saddr);
      scratchLane(what, kind, offset, lane, moved);
    } else {
      const va = bySaddr
        ? start + <u64>load<u32>(address + column)
        : (<u64>load<u32>(address + column) | ((<u64>load<u32>(address + column, 128)) << 32)) + <u64>imm;
      if (!cached && what == Move.LOAD && kind <= <u32>Access.DWORDX4) {
        const at: usize = quickAddress(va, kind * 4, READ);
        if (at != 0)
          for (let i: usize = 0; i < <usize>kind; i++) store<u32>(moved + (i << 7), load<u32>(at + (i << 2)));
        else if (faultKind == 0) loadLane(kind, va, moved);
      } else if (what == Move.LOAD) loadLane(kind, va, moved);
      else if (what == Move.STORE) storeLane(kind, va, moved);
      else if (what == Move.ATOMIC) atomicLane32(kind, va, data + column, returns ? dst + column : 0);
      else atomicLane64(kind, va, data + column, returns ? dst + column : 0);
    }
    if (faultKind != 0) {
      nameLane(lane);
      return;
    }
  }
  if (what == Move.LOAD || (returns && what >= <u32>Move.ATOMIC)) markPending(rec);
}
