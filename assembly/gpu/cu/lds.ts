/** DS: local data share of the workgroup, lane permutes. Source: RDNA2 ISA, LDS chapter. Out of range reads give 0, writes are dropped. */
import { Op } from "../../gen/isa-ops.ts";
import { Control, FaultAccess, FaultKind, PhysicalMap, Vmid } from "../../gen/uapi.ts";
import { faultKind, nameLane, raiseMemory, raiseNotModelled } from "../fault.ts";
import { LoadKind, Rec, TEMP_BASE, Wave } from "../layout.ts";
import { currentVmid } from "../mem/translate.ts";
import { Atomic, atomic32, atomic64 } from "./atomic.ts";
import { countLds, markPending } from "./pending.ts";
import { Access, accessBytes, placeSubDword } from "./vmem.ts";
import { exec, vgprRow, wave } from "./wave.ts";

let block: usize = 0;
let limit: u32 = 0;

/** The LDS of the running workgroup: where it starts and its bytes. */
export function useLds(start: usize, bytes: u32): void {
  block = start;
  limit = bytes;
}

const enum Lds {
  READ = 0x000,
  WRITE = 0x100,
  /** Two elements at element offsets; the low bits: bytes per element, times 64 with ST64. */
  READ2 = 0x200,
  WRITE2 = 0x300,
  ATOMIC = 0x400,
  ATOMIC64 = 0x500,
  SWAP2 = 0x600,
  WHAT = 0xf00,
  KIND = 0xff,
  ST64 = 0x1000,
  UNKNOWN = 0xffff,
}

/** Are [at, at+bytes) inside? Raises where `at` is misaligned. */
function inside(at: u32, bytes: u32, alignment: u32, access: u32): bool {
  if (at & (alignment - 1)) {
    raiseMemory(FaultKind.LDS_MISALIGNED, access, at, 0);
    return false;
  }
  if (<u64>at + bytes <= <u64>limit) return true;
  const count = PhysicalMap.CONTROL + Control.VMID_TABLE + currentVmid() * Control.VMID_BYTES;
  store<u32>(count, load<u32>(count, Vmid.LDS_OUTSIDE) + 1, Vmid.LDS_OUTSIDE);
  return false;
}

function readElement(at: u32, dwords: u32, column: usize): void {
  if (!(at & 3) && <u64>at + 4 * dwords <= <u64>limit) {
    const from = block + <usize>at;
    store<u32>(column, load<u32>(from));
    if (dwords > 1) store<u32>(column, load<u32>(from, 4), 128);
    if (dwords > 2) store<u32>(column, load<u32>(from, 8), 256);
    if (dwords > 3) store<u32>(column, load<u32>(from, 12), 384);
    return;
  }
  for (let i: u32 = 0; i < dwords; i++) {
    const ok = inside(at + 4 * i, 4, 4, FaultAccess.READ);
    if (faultKind != 0) return;
    store<u32>(column + ((<usize>i) << 7), ok ? load<u32>(block + <usize>(at + 4 * i)) : 0);
  }
}

function writeElement(at: u32, dwords: u32, column: usize): void {
  for (let i: u32 = 0; i < dwords; i++) {
    const ok = inside(at + 4 * i, 4, 4, FaultAccess.WRITE);
    if (faultKind != 0) return;
    if (ok) store<u32>(block + <usize>(at + 4 * i), load<u32>(column + ((<usize>i) << 7)));
  }
}

function readSub(access: u32, at: u32, column: usize): void {
  const bytes = accessBytes(access);
  const ok = inside(at, bytes, bytes, FaultAccess.READ);
  if (faultKind != 0) return;
  const raw: u32 = !ok ? 0 : bytes == 2 ? <u32>load<u16>(block + <usize>at) : <u32>load<u8>(block + <usize>at);
  store<u32>(column, placeSubDword(access, raw, load<u32>(column)));
}

function writeSub(access: u32, at: u32, column: usize): void {
  const bytes = accessBytes(access);
  if (!inside(at, bytes, bytes, FaultAccess.WRITE)) return;
  const high = access == Access.STORE_BYTE_HI || access == Access.STORE_SHORT_HI;
  const value = load<u32>(column) >> (high ? 16 : 0);
  if (bytes == 2) store<u16>(block + <usize>at, value);
  else store<u8>(block + <usize>at, value);
}

function pair(column: usize): u64 {
  return <u64>load<u32>(column) | ((<u64>load<u32>(column, 128)) << 32);
}

/** LDS compare-and-swap has the compare value first, unlike memory's. */
function atomicElement(kind: u32, wide: bool, at: u32, data0: usize, data1: usize, out: usize): void {
  const ok = inside(at, wide ? 8 : 4, wide ? 8 : 4, FaultAccess.ATOMIC);
  if (faultKind != 0) return;
  const compares = kind == Atomic.CMPSWAP || kind == Atomic.FCMPSWAP;
  const value = compares ? data1 : data0;
  const second = compares ? data0 : data1;
  const place = block + <usize>at;
  if (wide) {
    const old = ok ? load<u64>(place) : 0;
    if (ok) store<u64>(place, atomic64(kind, old, pair(value), pair(second)));
    if (out) {
      store<u32>(out, <u32>old);
      store<u32>(out, <u32>(old >> 32), 128);
    }
  } else {
    const old = ok ? load<u32>(place) : 0;
    if (ok) store<u32>(place, atomic32(kind, old, load<u32>(value), load<u32>(second)));
    if (out) store<u32>(out, old);
  }
}

/** ds_permute (push), ds_bpermute (pull), ds_swizzle; a byte address selects the lane. */
function permute(rec: usize, op: u32): void {
  const active = exec();
  const address = vgprRow(load<u16>(rec, Rec.SRC0));
  const data = vgprRow(load<u16>(rec, Rec.SRC1));
  const dst = vgprRow(load<u16>(rec, Rec.DST));
  const offset = load<u32>(rec, Rec.IMM);
  memory.fill(TEMP_BASE, 0, 128);
  for (let l: u32 = 0; l < 32; l++) {
    const at = (<usize>l) << 2;
    if (op == Op.ds_permute_b32) {
      if (!((active >> l) & 1)) continue;
      const to = ((load<u32>(address + at) + offset) >> 2) & 31;
      store<u32>(TEMP_BASE + ((<usize>to) << 2), load<u32>(data + at));
      continue;
    }
    let from: u32;
    let source = data;
    if (op == Op.ds_bpermute_b32) from = ((load<u32>(address + at) + offset) >> 2) & 31;
    else {
      source = address;
      if (offset & 0x8000) from = (l & ~3) | ((offset >> (2 * (l & 3))) & 3);
      else from = ((l & offset & 31) | ((offset >> 5) & 31)) ^ ((offset >> 10) & 31);
    }
    if ((active >> from) & 1) store<u32>(TEMP_BASE + at, load<u32>(source + ((<usize>from) << 2)));
  }
  for (let l: u32 = 0; l < 32; l++) {
    if ((active >> l) & 1) store<u32>(dst + ((<usize>l) << 2), load<u32>(TEMP_BASE + ((<usize>l) << 2)));
  }
}

/** ds_append, ds_consume: one atomic for the whole wave at M0's base plus offset. */
function append(rec: usize, subtract: bool): void {
  const active = exec();
  const at = (load<u32>(wave, Wave.M0) >> 16) + (load<u32>(rec, Rec.IMM) & 0xffff);
  const ok = inside(at, 4, 4, FaultAccess.ATOMIC);
  if (faultKind != 0) return;
  const old = ok ? load<u32>(block + <usize>at) : 0;
  const count = popcnt<u32>(active);
  if (ok) store<u32>(block + <usize>at, subtract ? old - count : old + count);
  const dst = vgprRow(load<u16>(rec, Rec.DST));
  for (let l: u32 = 0; l < 32; l++) if ((active >> l) & 1) store<u32>(dst + ((<usize>l) << 2), old);
}

function addTid(rec: usize, write: bool): void {
  const active = exec();
  const start = (load<u32>(rec, Rec.IMM) & 0xffff) + (load<u32>(wave, Wave.M0) & 0xffff);
  const row = vgprRow(write ? load<u16>(rec, Rec.SRC1) : load<u16>(rec, Rec.DST));
  for (let l: u32 = 0; l < 32; l++) {
    if (!((active >> l) & 1)) continue;
    if (write) writeElement(start + 4 * l, 1, row + ((<usize>l) << 2));
    else readElement(start + 4 * l, 1, row + ((<usize>l) << 2));
    if (faultKind != 0) return;
  }
}

export function executeLds(rec: usize): void {
  const op = <u32>load<u16>(rec, Rec.OP);
  switch (op) {
    case Op.ds_nop:
      return;
    case Op.ds_permute_b32:
    case Op.ds_bpermute_b32:
    case Op.ds_swizzle_b32:
      permute(rec, op);
      break;
    case Op.ds_append:
      append(rec, false);
      break;
    case Op.ds_consume:
      append(rec, true);
      break;
    case Op.ds_read_addtid_b32:
      addTid(rec, false);
      break;
    case Op.ds_write_addtid_b32:
      addTid(rec, true);
      break;
    default:
      move(rec, load<u32>(rec, Rec.EXTRA));
      break;
  }
  if (faultKind != 0) return;
  if (load<u8>(rec, Rec.LOAD) == LoadKind.LDS) markPending(rec);
  else countLds();
}

function move(rec: usize, what: u32): void {
  if (what == Lds.UNKNOWN) {
    raiseNotModelled();
    return;
  }
  const lanes = exec();
  const address = vgprRow(load<u16>(rec, Rec.SRC0));
  const data0 = vgprRow(load<u16>(rec, Rec.SRC1));
  const data1 = vgprRow(load<u16>(rec, Rec.SRC2));
  const dst = vgprRow(load<u16>(rec, Rec.DST));
  const imm = load<u32>(rec, Rec.IMM);
  const kind = what & Lds.KIND;
  const scale: u32 = what & Lds.ST64 ? 64 * kind : kind;
  const returns = load<u8>(rec, Rec.LOAD) == LoadKind.LDS;
  const one = what == (Lds.READ | Access.DWORD) || what == (Lds.WRITE | Access.DWORD);
  const two = kind == 4 && ((what & Lds.WHAT) == Lds.READ2 || (what & Lds.WHAT) == Lds.WRITE2);
  if (one || two) {
    const read = (what & Lds.WHAT) == (one ? Lds.READ : Lds.READ2);
    const second = two ? (imm >> 16) * scale : 0;
    // A result that lands on the address register must come last.
    const swapped = two && address == dst;
    if (swapped) dwords(read, lanes, address, second, dst + 128, data1);
    if (faultKind == 0) dwords(read, lanes, address, one ? imm : (imm & 0xffff) * scale, dst, data0);
    if (two && !swapped && faultKind == 0) dwords(read, lanes, address, second, dst + 128, data1);
    return;
  }
  for (let lane: u32 = 0; lane < 32; lane++) {
    if (!((lanes >> lane) & 1)) continue;
    const column = (<usize>lane) << 2;
    const at = load<u32>(address + column);
    const first = at + (imm & 0xffff) * scale;
    const second = at + (imm >> 16) * scale;
    const words = kind >> 2;
    switch (what & Lds.WHAT) {
      case Lds.READ:
        if (kind <= <u32>Access.DWORDX4) readElement(at + imm, kind, dst + column);
        else readSub(kind, at + imm, dst + column);
        break;
      case Lds.WRITE:
        if (kind <= <u32>Access.DWORDX4) writeElement(at + imm, kind, data0 + column);
        else writeSub(kind, at + imm, data0 + column);
        break;
      case Lds.READ2:
        readElement(first, words, dst + column);
        readElement(second, words, dst + column + ((<usize>words) << 7));
        break;
      case Lds.WRITE2:
        writeElement(first, words, data0 + column);
        writeElement(second, words, data1 + column);
        break;
      case Lds.SWAP2:
        atomicElement(Atomic.SWAP, words == 2, first, data0 + column, data0 + column, dst + column);
        atomicElement(
          Atomic.SWAP,
          words == 2,
          second,
          data1 + column,
          data1 + column,
          dst + column + ((<usize>words) << 7),
        );
        break;
      case Lds.ATOMIC:
        atomicElement(kind, false, at + imm, data0 + column, data1 + column, returns ? dst + column : 0);
        break;
      default:
        atomicElement(kind, true, at + imm, data0 + column, data1 + column, returns ? dst + column : 0);
        break;
    }
    if (faultKind != 0) {
      nameLane(lane);
      return;
    }
  }
}

/** One dword a lane. Four lanes go at once where they are consecutive, or read the same; the rest one by one, in order. */
function dwords(read: bool, lanes: u32, address: usize, offset: u32, dst: usize, data: usize): void {
  const last = <i64>limit - 4;
  const step = i32x4(0, 4, 8, 12);
  for (let lane: u32 = 0; lane < 32; lane += 4) {
    const wanted = (lanes >> lane) & 15;
    if (wanted == 0) continue;
    const column = (<usize>lane) << 2;
    const o = v128.load(address + column);
    const first = <u32>i32x4.extract_lane(o, 0);
    const apart = i32x4.sub(o, i32x4.splat(first));
    const row = i32x4.bitmask(i32x4.eq(apart, step)) == 15;
    const at = first + offset;
    // Offsets that wrap around are for the slow way.
    if (
      wanted != 15 ||
      !(row || (read && !v128.any_true(apart))) ||
      (at & 3) != 0 ||
      at < offset ||
      <i64>at + (row ? 12 : 0) > last
    ) {
      singles(read, wanted << lane, address, offset, dst, data);
      if (faultKind != 0) return;
      continue;
    }
    const place = block + <usize>at;
    if (!read) v128.store(place, v128.load(data + column));
    else v128.store(dst + column, row ? v128.load(place) : v128.load32_splat(place));
  }
}

/** One dword a lane, straight where it is aligned and inside. */
function singles(read: bool, lanes: u32, address: usize, offset: u32, dst: usize, data: usize): void {
  const last = <i64>limit - 4;
  for (let left = lanes; left != 0; left &= left - 1) {
    const column = (<usize>ctz<u32>(left)) << 2;
    const at = load<u32>(address + column) + offset;
    if (!(at & 3) && <i64>at <= last) {
      const place = block + <usize>at;
      if (read) store<u32>(dst + column, load<u32>(place));
      else store<u32>(place, load<u32>(data + column));
      continue;
    }
    if (read) readElement(at, 1, dst + column);
    else writeElement(at, 1, data + column);
    if (faultKind != 0) {
      nameLane(ctz<u32>(left));
      return;
    }
  }
}

/** What a DS instruction moves: `Lds` bits with an `Access`, element bytes or an `Atomic`. */
export function ldsMove(op: u32): u32 {
  switch (op) {
    case Op.ds_read_b32:
      return Lds.READ | Access.DWORD;
    case Op.ds_read_b64:
      return Lds.READ | Access.DWORDX2;
    case Op.ds_read_b96:
      return Lds.READ | Access.DWORDX3;
    case Op.ds_read_b128:
      return Lds.READ | Access.DWORDX4;
    case Op.ds_read_u8:
      return Lds.READ | Access.UBYTE;
    case Op.ds_read_i8:
      return Lds.READ | Access.SBYTE;
    case Op.ds_read_u16:
      return Lds.READ | Access.USHORT;
    case Op.ds_read_i16:
      return Lds.READ | Access.SSHORT;
    case Op.ds_read_u8_d16:
      return Lds.READ | Access.UBYTE_D16;
    case Op.ds_read_u8_d16_hi:
      return Lds.READ | Access.UBYTE_D16_HI;
    case Op.ds_read_i8_d16:
      return Lds.READ | Access.SBYTE_D16;
    case Op.ds_read_i8_d16_hi:
      return Lds.READ | Access.SBYTE_D16_HI;
    case Op.ds_read_u16_d16:
      return Lds.READ | Access.SHORT_D16;
    case Op.ds_read_u16_d16_hi:
      return Lds.READ | Access.SHORT_D16_HI;
    case Op.ds_write_b32:
      return Lds.WRITE | Access.DWORD;
    case Op.ds_write_b64:
      return Lds.WRITE | Access.DWORDX2;
    case Op.ds_write_b96:
      return Lds.WRITE | Access.DWORDX3;
    case Op.ds_write_b128:
      return Lds.WRITE | Access.DWORDX4;
    case Op.ds_write_b8:
      return Lds.WRITE | Access.STORE_BYTE;
    case Op.ds_write_b8_d16_hi:
      return Lds.WRITE | Access.STORE_BYTE_HI;
    case Op.ds_write_b16:
      return Lds.WRITE | Access.STORE_SHORT;
    case Op.ds_write_b16_d16_hi:
      return Lds.WRITE | Access.STORE_SHORT_HI;
    case Op.ds_read2_b32:
      return Lds.READ2 | 4;
    case Op.ds_read2st64_b32:
      return Lds.READ2 | Lds.ST64 | 4;
    case Op.ds_write2_b32:
      return Lds.WRITE2 | 4;
    case Op.ds_write2st64_b32:
      return Lds.WRITE2 | Lds.ST64 | 4;
    case Op.ds_wrxchg2_rtn_b32:
      return Lds.SWAP2 | 4;
    case Op.ds_wrxchg2st64_rtn_b32:
      return Lds.SWAP2 | Lds.ST64 | 4;
    case Op.ds_read2_b64:
      return Lds.READ2 | 8;
    case Op.ds_read2st64_b64:
      return Lds.READ2 | Lds.ST64 | 8;
    case Op.ds_write2_b64:
      return Lds.WRITE2 | 8;
    case Op.ds_write2st64_b64:
      return Lds.WRITE2 | Lds.ST64 | 8;
    case Op.ds_wrxchg2_rtn_b64:
      return Lds.SWAP2 | 8;
    case Op.ds_wrxchg2st64_rtn_b64:
      return Lds.SWAP2 | Lds.ST64 | 8;
    case Op.ds_add_u32:
    case Op.ds_add_rtn_u32:
      return Lds.ATOMIC | Atomic.ADD;
    case Op.ds_sub_u32:
    case Op.ds_sub_rtn_u32:
      return Lds.ATOMIC | Atomic.SUB;
    case Op.ds_rsub_u32:
    case Op.ds_rsub_rtn_u32:
      return Lds.ATOMIC | Atomic.RSUB;
    case Op.ds_inc_u32:
    case Op.ds_inc_rtn_u32:
      return Lds.ATOMIC | Atomic.INC;
    case Op.ds_dec_u32:
    case Op.ds_dec_rtn_u32:
      return Lds.ATOMIC | Atomic.DEC;
    case Op.ds_min_i32:
    case Op.ds_min_rtn_i32:
      return Lds.ATOMIC | Atomic.SMIN;
    case Op.ds_max_i32:
    case Op.ds_max_rtn_i32:
      return Lds.ATOMIC | Atomic.SMAX;
    case Op.ds_min_u32:
    case Op.ds_min_rtn_u32:
      return Lds.ATOMIC | Atomic.UMIN;
    case Op.ds_max_u32:
    case Op.ds_max_rtn_u32:
      return Lds.ATOMIC | Atomic.UMAX;
    case Op.ds_and_b32:
    case Op.ds_and_rtn_b32:
      return Lds.ATOMIC | Atomic.AND;
    case Op.ds_or_b32:
    case Op.ds_or_rtn_b32:
      return Lds.ATOMIC | Atomic.OR;
    case Op.ds_xor_b32:
    case Op.ds_xor_rtn_b32:
      return Lds.ATOMIC | Atomic.XOR;
    case Op.ds_mskor_b32:
    case Op.ds_mskor_rtn_b32:
      return Lds.ATOMIC | Atomic.MSKOR;
    case Op.ds_cmpst_b32:
    case Op.ds_cmpst_rtn_b32:
      return Lds.ATOMIC | Atomic.CMPSWAP;
    case Op.ds_cmpst_f32:
    case Op.ds_cmpst_rtn_f32:
      return Lds.ATOMIC | Atomic.FCMPSWAP;
    case Op.ds_min_f32:
    case Op.ds_min_rtn_f32:
      return Lds.ATOMIC | Atomic.FMIN;
    case Op.ds_max_f32:
    case Op.ds_max_rtn_f32:
      return Lds.ATOMIC | Atomic.FMAX;
    case Op.ds_add_f32:
    case Op.ds_add_rtn_f32:
      return Lds.ATOMIC | Atomic.FADD;
    case Op.ds_wrxchg_rtn_b32:
      return Lds.ATOMIC | Atomic.SWAP;
    case Op.ds_wrap_rtn_b32:
      return Lds.ATOMIC | Atomic.WRAP;
    case Op.ds_add_u64:
    case Op.ds_add_rtn_u64:
      return Lds.ATOMIC64 | Atomic.ADD;
    case Op.ds_sub_u64:
    case Op.ds_sub_rtn_u64:
      return Lds.ATOMIC64 | Atomic.SUB;
    case Op.ds_rsub_u64:
    case Op.ds_rsub_rtn_u64:
      return Lds.ATOMIC64 | Atomic.RSUB;
    case Op.ds_inc_u64:
    case Op.ds_inc_rtn_u64:
      return Lds.ATOMIC64 | Atomic.INC;
    case Op.ds_dec_u64:
    case Op.ds_dec_rtn_u64:
      return Lds.ATOMIC64 | Atomic.DEC;
    case Op.ds_min_i64:
    case Op.ds_min_rtn_i64:
      return Lds.ATOMIC64 | Atomic.SMIN;
    case Op.ds_max_i64:
    case Op.ds_max_rtn_i64:
      return Lds.ATOMIC64 | Atomic.SMAX;
    case Op.ds_min_u64:
    case Op.ds_min_rtn_u64:
      return Lds.ATOMIC64 | Atomic.UMIN;
    case Op.ds_max_u64:
    case Op.ds_max_rtn_u64:
      return Lds.ATOMIC64 | Atomic.UMAX;
    case Op.ds_and_b64:
    case Op.ds_and_rtn_b64:
      return Lds.ATOMIC64 | Atomic.AND;
    case Op.ds_or_b64:
    case Op.ds_or_rtn_b64:
      return Lds.ATOMIC64 | Atomic.OR;
    case Op.ds_xor_b64:
    case Op.ds_xor_rtn_b64:
      return Lds.ATOMIC64 | Atomic.XOR;
    case Op.ds_mskor_b64:
    case Op.ds_mskor_rtn_b64:
      return Lds.ATOMIC64 | Atomic.MSKOR;
    case Op.ds_cmpst_b64:
    case Op.ds_cmpst_rtn_b64:
      return Lds.ATOMIC64 | Atomic.CMPSWAP;
    case Op.ds_cmpst_f64:
    case Op.ds_cmpst_rtn_f64:
      return Lds.ATOMIC64 | Atomic.FCMPSWAP;
    case Op.ds_min_f64:
    case Op.ds_min_rtn_f64:
      return Lds.ATOMIC64 | Atomic.FMIN;
    case Op.ds_max_f64:
    case Op.ds_max_rtn_f64:
      return Lds.ATOMIC64 | Atomic.FMAX;
    case Op.ds_wrxchg_rtn_b64:
      return Lds.ATOMIC64 | Atomic.SWAP;
    default:
      return Lds.UNKNOWN;
  }
}
