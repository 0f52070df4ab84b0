/** MUBUF: memory through a V#. Source: RDNA2 ISA, vector memory buffer chapter; register data for the V# words. */
import { Op } from "../../gen/isa-ops.ts";
import { faultKind, nameLane, raiseNotModelled } from "../fault.ts";
import { Mod, Rec } from "../layout.ts";
import { cached } from "../mem/cache-state.ts";
import { invalidateGl0, invalidateGl1 } from "../mem/hierarchy.ts";
import { READ, translate, WRITE } from "../mem/translate.ts";
import { beginCached } from "./cached.ts";
import { markPending } from "./pending.ts";
import { address, addThreadId, moveLane, Oob, oob, readDescriptor, records, swizzled } from "./resource.ts";
import { Row } from "./row.ts";
import { Mov } from "./row-ops.ts";
import { typedLane } from "./typed.ts";
import { Access, Move } from "./vmem.ts";
import { exec, vgprRow, wave } from "./wave.ts";

export function executeBuffer(rec: usize): void {
  const op = <u32>load<u16>(rec, Rec.OP);
  if (op == Op.buffer_gl0_inv || op == Op.buffer_gl1_inv) {
    if (!cached) return;
    if (op == Op.buffer_gl0_inv) invalidateGl0();
    else invalidateGl1();
    return;
  }
  const move = load<u32>(rec, Rec.EXTRA);
  if (move == Move.UNKNOWN) {
    raiseNotModelled();
    return;
  }
  const mods = load<u32>(rec, Rec.MODS);
  const word3 = readDescriptor(load<u16>(rec, Rec.SRC0));
  // A type other than buffer is not modelled.
  if (word3 >> 30) {
    raiseNotModelled();
    return;
  }
  const soffset = load<u32>(wave + <usize>load<u16>(rec, Rec.SRC1));
  const imm = <u32>load<i32>(rec, Rec.IMM);
  const data = vgprRow(load<u16>(rec, Rec.DST));
  const idxen = (mods & Mod.IDXEN) != 0;
  const offen = (mods & Mod.OFFEN) != 0;
  const indexRow = vgprRow(load<u16>(rec, Rec.DST2));
  const offsetRow = idxen ? indexRow + 128 : indexRow;
  const plain = (move & Move.TYPED) == 0 && !idxen && !swizzled && !addThreadId && !cached;
  const what = move & Move.WHAT;
  const kind = move & Move.KIND;
  const lanes = exec();
  const returns = (mods & Mod.GLC) != 0;
  if (cached) beginCached(rec, what == Move.STORE || (what >= <u32>Move.ATOMIC && !returns));
  if (plain && offen && oob == Oob.RAW && what <= <u32>Move.STORE && kind <= <u32>Access.DWORDX4) {
    if (kind == Access.DWORD) rawQuads(what, offsetRow, imm, soffset, data, lanes);
    else rawDwords(what, kind, offsetRow, imm, soffset, data, lanes);
    if (faultKind == 0 && what == Move.LOAD) markPending(rec);
    return;
  }
  const typed = (move & Move.TYPED) != 0;
  for (let lane: u32 = 0; lane < 32; lane++) {
    if (!((lanes >> lane) & 1)) continue;
    const column = (<usize>lane) << 2;
    const index = (idxen ? load<u32>(indexRow + column) : 0) + (addThreadId ? lane : 0);
    const offset = imm + (offen ? load<u32>(offsetRow + column) : 0);
    const wide = <u64>imm + (offen ? <u64>load<u32>(offsetRow + column) : 0);
    if (typed) typedLane(what, kind, word3, index, wide, offset, soffset, data + column);
    else moveLane(what, kind, index, wide, offset, soffset, data + column, returns);
    if (faultKind != 0) {
      nameLane(lane);
      return;
    }
  }
  if (what == Move.LOAD || (returns && what >= <u32>Move.ATOMIC)) markPending(rec);
}

/** 32 consecutive, in-range dwords of one page: eight vector moves. False where the lanes are not like that. */
function straight(what: u32, offsets: usize, imm: u32, soffset: u32, data: usize): bool {
  const first = load<u32>(offsets);
  if (load<u32>(offsets, 124) != first + 124) return false;
  const step = i32x4(0, 4, 8, 12);
  let want = i32x4.add(i32x4.splat(first), step);
  let same = i32x4.eq(v128.load(offsets), want);
  for (let i: usize = 16; i < 128; i += 16) {
    want = i32x4.add(want, i32x4.splat(16));
    same = v128.and(same, i32x4.eq(v128.load(offsets + i), want));
  }
  const start = <u64>first + <u64>imm;
  if (!i32x4.all_true(same) || start + 128 > <u64>records || first > 0xffffff80) return false;
  const va = address(0, first + imm, soffset);
  if ((va & 0xfff) > 4096 - 128) return false;
  const at = translate(va, what == Move.LOAD ? READ : WRITE);
  if (at == 0) nameLane(0);
  else if (what == Move.LOAD) Row.one<Mov>(data, at);
  else Row.one<Mov>(at, data);
  return true;
}

/** One dword a lane. Four lanes go at once where they are consecutive, or load the same; the rest one by one, in order. */
function rawQuads(what: u32, offsets: usize, imm: u32, soffset: u32, data: usize, lanes: u32): void {
  if (lanes == 0xffffffff && straight(what, offsets, imm, soffset, data)) return;
  // Offsets below this keep a dword inside; 16 bytes are inside 12 earlier.
  const needed = <u64>imm + 4;
  const inside: u32 = <u64>records >= needed ? <u32>(<u64>records - needed) + 1 : 0;
  const insideRow: u32 = inside > 12 ? inside - 12 : 0;
  const start = address(0, 0, soffset) + <u64>imm;
  const need = what == Move.LOAD ? READ : WRITE;
  const step = i32x4(0, 4, 8, 12);
  // Offsets have 32 bits, so the low bits of an address tell its page.
  let page: u32 = <u32>-1;
  let pageAt: usize = 0;
  for (let lane: u32 = 0; lane < 32; lane += 4) {
    const wanted = (lanes >> lane) & 15;
    if (wanted == 0) continue;
    const column = (<usize>lane) << 2;
    const o = v128.load(offsets + column);
    const first = <u32>i32x4.extract_lane(o, 0);
    const apart = i32x4.sub(o, i32x4.splat(first));
    const low = <u32>start + first;
    const within = <usize>(low & 4095);
    const row = i32x4.bitmask(i32x4.eq(apart, step)) == 15;
    const fits: bool = row
      ? first < insideRow && within <= 4080
      : what == Move.LOAD && !v128.any_true(apart) && first < inside && within <= 4092;
    if (wanted != 15 || !fits) {
      rawDwords(what, 1, offsets, imm, soffset, data, wanted << lane);
      if (faultKind != 0) return;
      continue;
    }
    if (low >> 12 != page) {
      page = low >> 12;
      pageAt = translate(start + <u64>first, need) - within;
      if (faultKind != 0) {
        nameLane(lane);
        return;
      }
    }
    const at = pageAt + within;
    const place = data + column;
    if (what == Move.STORE) v128.store(at, v128.load(place));
    else v128.store(place, row ? v128.load(at) : v128.load32_splat(at));
  }
}

/** Dwords of a raw buffer by offset VGPR: lanes in range and within a page go straight, the others one by one. */
function rawDwords(what: u32, dwords: u32, offsets: usize, imm: u32, soffset: u32, data: usize, lanes: u32): void {
  const bytes = dwords * 4;
  // Highest offset that keeps the whole access inside; below 0: none does.
  const last = <i64>records - <i64>imm - <i64>bytes;
  const start = address(0, 0, soffset) + <u64>imm;
  const need = what == Move.LOAD ? READ : WRITE;
  let page: u64 = <u64>-1;
  let pageAt: usize = 0;
  for (let left = lanes; left != 0; left &= left - 1) {
    const column = (<usize>ctz<u32>(left)) << 2;
    const offset = load<u32>(offsets + column);
    const place = data + column;
    const va = start + <u64>offset;
    const within = <usize>va & 4095;
    if (<i64>offset > last || within + bytes > 4096) {
      moveLane(what, dwords, 0, <u64>imm + <u64>offset, imm + offset, soffset, place, false);
    } else {
      if (va >> 12 != page) {
        page = va >> 12;
        pageAt = translate(va, need) - within;
      }
      if (faultKind == 0) {
        const at = pageAt + within;
        if (what == Move.LOAD) {
          store<u32>(place, load<u32>(at));
          if (dwords > 1) moreLoads(dwords, place, at);
        } else {
          store<u32>(at, load<u32>(place));
          if (dwords > 1) moreStores(dwords, place, at);
        }
        continue;
      }
    }
    if (faultKind != 0) {
      nameLane(ctz<u32>(left));
      return;
    }
  }
}

function moreLoads(dwords: u32, place: usize, at: usize): void {
  store<u32>(place, load<u32>(at, 4), 128);
  if (dwords > 2) store<u32>(place, load<u32>(at, 8), 256);
  if (dwords > 3) store<u32>(place, load<u32>(at, 12), 384);
}

function moreStores(dwords: u32, place: usize, at: usize): void {
  store<u32>(at, load<u32>(place, 128), 4);
  if (dwords > 2) store<u32>(at, load<u32>(place, 256), 8);
  if (dwords > 3) store<u32>(at, load<u32>(place, 384), 12);
}
