/** MUBUF: memory through a V#. Source: RDNA2 ISA, vector memory buffer chapter; register data for the V# words. */
import { Op } from "../../gen/isa-ops.ts";
import { faultKind, nameLane, raiseNotModelled } from "../fault.ts";
import { Mod, Rec } from "../layout.ts";
import { cached } from "../mem/cache-state.ts";
import { invalidateGl0, invalidateGl1 } from "../mem/hierarchy.ts";
import { READ, translate, WRITE } from "../mem/translate.ts";
import { beginCached } from "./cached.ts";
import { markPending } from "./pending.ts";
import { Row } from "./row.ts";
import { Mov } from "./row-ops.ts";
import { Access, accessBytes, atomicLane32, atomicLane64, loadLane, Move, storeLane } from "./vmem.ts";
import { exec, sgpr, vgprRow, wave } from "./wave.ts";

const enum Oob {
  STRUCTURED = 0,
  INDEX = 1,
  EMPTY = 2,
  RAW = 3,
}

/** The descriptor of the running instruction. */
let base: u64 = 0;
let stride: u32 = 0;
let records: u32 = 0;
let oob: u32 = 0;
let swizzled: bool = false;
let addThreadId: bool = false;
let indexStride: u32 = 0;

function readDescriptor(first: u32): u32 {
  const word1 = sgpr(first + 1);
  const word3 = sgpr(first + 3);
  base = (<u64>sgpr(first) | ((<u64>word1) << 32)) & 0xffffffffffff;
  stride = (word1 >> 16) & 0x3fff;
  swizzled = word1 >> 31 != 0;
  records = sgpr(first + 2);
  indexStride = (word3 >> 21) & 3;
  addThreadId = ((word3 >> 23) & 1) != 0;
  oob = (word3 >> 28) & 3;
  return word3;
}

/** Is [offset, offset+bytes) of record `index` outside? soffset takes no part. A partly covered dword is outside. */
function outside(index: u32, offset: u64, bytes: u32): bool {
  switch (oob) {
    case Oob.STRUCTURED:
      return index >= records || (stride != 0 && offset + bytes > <u64>stride);
    case Oob.INDEX:
      return index >= records;
    case Oob.EMPTY:
      return records == 0;
    default:
      return offset + <u64>stride * <u64>index + bytes > <u64>records;
  }
}

/** 48-bit sum, sign-extended. */
function address(index: u32, offset: u32, soffset: u32): u64 {
  let at = base + <u64>soffset;
  if (swizzled) {
    const group = 3 + indexStride;
    const high = index >> group;
    const low = index & ((1 << group) - 1);
    at += ((<u64>high * <u64>stride + <u64>(offset & ~3)) << group) + <u64>(low << 2) + <u64>(offset & 3);
  } else at += <u64>stride * <u64>index + <u64>offset;
  return <u64>(<i64>(at << 16) >> 16);
}

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
  const plain = !idxen && !swizzled && !addThreadId && !cached;
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
  for (let lane: u32 = 0; lane < 32; lane++) {
    if (!((lanes >> lane) & 1)) continue;
    const column = (<usize>lane) << 2;
    const index = (idxen ? load<u32>(indexRow + column) : 0) + (addThreadId ? lane : 0);
    const offset = imm + (offen ? load<u32>(offsetRow + column) : 0);
    const wide = <u64>imm + (offen ? <u64>load<u32>(offsetRow + column) : 0);
    moveLane(what, kind, index, wide, offset, soffset, data + column, returns);
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

/** One lane. Each dword of a raw access is checked alone: outside it reads 0, and stores and atomics are dropped. */
function moveLane(
  what: u32,
  kind: u32,
  index: u32,
  wide: u64,
  offset: u32,
  soffset: u32,
  column: usize,
  returns: bool,
): void {
  if (what >= <u32>Move.ATOMIC) {
    const bytes: u32 = what == Move.ATOMIC64 ? 8 : 4;
    if (outside(index, wide, bytes)) {
      if (!returns) return;
      store<u32>(column, 0);
      if (bytes == 8) store<u32>(column, 0, 128);
      return;
    }
    const va = address(index, offset, soffset);
    const out: usize = returns ? column : 0;
    if (bytes == 8) atomicLane64(kind, va, column, out);
    else atomicLane32(kind, va, column, out);
    return;
  }
  const bytes = accessBytes(kind);
  if (!outside(index, wide, bytes) && !swizzled) {
    const va = address(index, offset, soffset);
    if (what == Move.LOAD) loadLane(kind, va, column);
    else storeLane(kind, va, column);
    return;
  }
  if (kind > <u32>Access.DWORDX4) {
    if (outside(index, wide, bytes)) {
      if (what == Move.LOAD) loadNothing(kind, column);
      return;
    }
    const va = address(index, offset, soffset);
    if (what == Move.LOAD) loadLane(kind, va, column);
    else storeLane(kind, va, column);
    return;
  }
  for (let i: u32 = 0; i < kind; i++) {
    const part = column + ((<usize>i) << 7);
    if (outside(index, wide + 4 * i, 4)) {
      if (what == Move.LOAD) store<u32>(part, 0);
      continue;
    }
    const va = address(index, offset + 4 * i, soffset);
    if (what == Move.LOAD) loadLane(Access.DWORD, va, part);
    else storeLane(Access.DWORD, va, part);
    if (faultKind != 0) return;
  }
}

/** A sub-dword load outside the range: 0 in its part of the register. */
function loadNothing(kind: u32, column: usize): void {
  const old = load<u32>(column);
  switch (kind) {
    case Access.UBYTE_D16:
    case Access.SBYTE_D16:
    case Access.SHORT_D16:
      store<u32>(column, old & 0xffff0000);
      return;
    case Access.UBYTE_D16_HI:
    case Access.SBYTE_D16_HI:
    case Access.SHORT_D16_HI:
      store<u32>(column, old & 0xffff);
      return;
    default:
      store<u32>(column, 0);
      return;
  }
}
