/**
 * Vector memory data movement shared by buffer and flat instructions: one lane's load, store or atomic at a virtual
 * address. `Access` says width and treatment; results go to lane columns of VGPR rows.
 */
import { Op } from "../../gen/isa-ops.ts";
import { FaultAccess, FaultKind } from "../../gen/uapi.ts";
import { faultKind, raiseMemory } from "../fault.ts";
import { cached } from "../mem/cache-state.ts";
import { atomicPlace } from "../mem/hierarchy.ts";
import { READ, READ_WRITE, read8, read16, read32, translate, write8, write16, write32 } from "../mem/translate.ts";
import { Atomic, atomic32, atomic64 } from "./atomic.ts";
import { cachedLoad, cachedStore } from "./cached.ts";

/** What an instruction moves. Dword counts 1-4 stand for themselves. */
export const enum Access {
  DWORD = 1,
  DWORDX2 = 2,
  DWORDX3 = 3,
  DWORDX4 = 4,
  UBYTE = 5,
  SBYTE,
  USHORT,
  SSHORT,
  UBYTE_D16,
  UBYTE_D16_HI,
  SBYTE_D16,
  SBYTE_D16_HI,
  SHORT_D16,
  SHORT_D16_HI,
  STORE_BYTE,
  STORE_BYTE_HI,
  STORE_SHORT,
  STORE_SHORT_HI,
}

/** Bytes that an access touches. */
export function accessBytes(access: u32): u32 {
  if (access <= <u32>Access.DWORDX4) return access * 4;
  switch (access) {
    case Access.USHORT:
    case Access.SSHORT:
    case Access.SHORT_D16:
    case Access.SHORT_D16_HI:
    case Access.STORE_SHORT:
    case Access.STORE_SHORT_HI:
      return 2;
    default:
      return 1;
  }
}

/** Merges what a sub-dword load read into the register's old value. */
export function placeSubDword(access: u32, raw: u32, old: u32): u32 {
  switch (access) {
    case Access.SBYTE:
      return <u32>(<i32>(<i8>raw));
    case Access.SSHORT:
      return <u32>(<i32>(<i16>raw));
    case Access.UBYTE_D16:
    case Access.SHORT_D16:
      return (old & 0xffff0000) | raw;
    case Access.UBYTE_D16_HI:
    case Access.SHORT_D16_HI:
      return (old & 0xffff) | (raw << 16);
    case Access.SBYTE_D16:
      return (old & 0xffff0000) | (<u32>(<i32>(<i8>raw)) & 0xffff);
    case Access.SBYTE_D16_HI:
      return (old & 0xffff) | ((<u32>(<i32>(<i8>raw))) << 16);
    default:
      return raw;
  }
}

/** Loads one lane: `column` is the lane's place in the first destination row. */
export function loadLane(access: u32, va: u64, column: usize): void {
  if (cached) {
    loadCached(access, va, column);
    return;
  }
  if (access <= <u32>Access.DWORDX4) {
    if ((va & 0xfff) + 4 * access <= 4096) {
      const at = translate(va, READ);
      if (at == 0) return;
      for (let i: usize = 0; i < <usize>access; i++) store<u32>(column + (i << 7), load<u32>(at + (i << 2)));
      return;
    }
    for (let i: u32 = 0; i < access; i++) {
      const value = read32(va + 4 * i, READ);
      if (faultKind != 0) return;
      store<u32>(column + ((<usize>i) << 7), value);
    }
    return;
  }
  const raw = accessBytes(access) == 2 ? read16(va) : read8(va);
  if (faultKind == 0) store<u32>(column, placeSubDword(access, raw, load<u32>(column)));
}

function loadCached(access: u32, va: u64, column: usize): void {
  if (access > <u32>Access.DWORDX4) {
    const raw = cachedLoad(va, accessBytes(access));
    if (faultKind == 0) store<u32>(column, placeSubDword(access, raw, load<u32>(column)));
    return;
  }
  for (let i: u32 = 0; i < access; i++) {
    const value = cachedLoad(va + 4 * i, 4);
    if (faultKind != 0) return;
    store<u32>(column + ((<usize>i) << 7), value);
  }
}

/** Page that the running instruction touched last, and where it lies. */
let quickPage: u64 = 0;
let quickAt: usize = 0;

/** Forgets the page of the instruction before: permissions and address space may differ. */
export function beginQuick(): void {
  quickPage = <u64>-1;
}

/** Address of [va, va+bytes) where it lies in one page; 0 where the slow path must look (or a fault was raised). */
export function quickAddress(va: u64, bytes: u32, need: u32): usize {
  const page = va >> 12;
  const within = <usize>va & 4095;
  if (within + bytes > 4096) return 0;
  if (page != quickPage) {
    const at = translate(va, need);
    if (at == 0) return 0;
    quickAt = at - within;
    quickPage = page;
  }
  return quickAt + within;
}

export function storeLane(access: u32, va: u64, column: usize): void {
  if (cached) {
    storeCached(access, va, column);
    return;
  }
  switch (access) {
    case Access.STORE_BYTE:
      write8(va, load<u32>(column));
      return;
    case Access.STORE_BYTE_HI:
      write8(va, load<u32>(column) >> 16);
      return;
    case Access.STORE_SHORT:
      write16(va, load<u32>(column));
      return;
    case Access.STORE_SHORT_HI:
      write16(va, load<u32>(column) >> 16);
      return;
    default:
      for (let i: u32 = 0; i < access; i++) {
        write32(va + 4 * i, load<u32>(column + ((<usize>i) << 7)));
        if (faultKind != 0) return;
      }
      return;
  }
}

function storeCached(access: u32, va: u64, column: usize): void {
  if (access > <u32>Access.DWORDX4) {
    const isHigh = access == Access.STORE_BYTE_HI || access == Access.STORE_SHORT_HI;
    cachedStore(va, load<u32>(column) >> (isHigh ? 16 : 0), accessBytes(access));
    return;
  }
  for (let i: u32 = 0; i < access && faultKind == 0; i++)
    cachedStore(va + 4 * i, load<u32>(column + ((<usize>i) << 7)), 4);
}

/** One lane's 32-bit atomic; the old value goes to `out` where that is not 0. Atomics are naturally aligned. */
export function atomicLane32(kind: u32, va: u64, data: usize, out: usize): void {
  if (va & 3) {
    raiseMemory(FaultKind.MISALIGNED, FaultAccess.ATOMIC, va, 0);
    return;
  }
  let at = translate(va, READ_WRITE);
  if (at == 0) return;
  if (cached) at = atomicPlace(at, 4);
  const old = load<u32>(at);
  const value = load<u32>(data);
  const second = kind == Atomic.CMPSWAP || kind == Atomic.FCMPSWAP ? load<u32>(data, 128) : 0;
  store<u32>(at, atomic32(kind, old, value, second));
  if (out) store<u32>(out, old);
}

function pair(column: usize): u64 {
  return <u64>load<u32>(column) | ((<u64>load<u32>(column, 128)) << 32);
}

export function atomicLane64(kind: u32, va: u64, data: usize, out: usize): void {
  if (va & 7) {
    raiseMemory(FaultKind.MISALIGNED, FaultAccess.ATOMIC, va, 0);
    return;
  }
  let at = translate(va, READ_WRITE);
  if (at == 0) return;
  if (cached) at = atomicPlace(at, 8);
  const old = load<u64>(at);
  const value = pair(data);
  const second = kind == Atomic.CMPSWAP || kind == Atomic.FCMPSWAP ? pair(data + 256) : 0;
  store<u64>(at, atomic64(kind, old, value, second));
  if (out) {
    store<u32>(out, <u32>old);
    store<u32>(out, <u32>(old >> 32), 128);
  }
}

/** Result of a classification: access or atomic kind, and whether it stores or is 64-bit atomic. */
export const enum Move {
  LOAD = 0x000,
  STORE = 0x100,
  ATOMIC = 0x200,
  ATOMIC64 = 0x300,
  KIND = 0xff,
  WHAT = 0x300,
  /** A load or store that converts by the V#'s format; the kind is `Typed`. */
  TYPED = 0x400,
  UNKNOWN = 0xffff,
}

/** The kind of a typed move. */
export const enum Typed {
  COMPONENTS = 0x07,
  /** Components are 16-bit halves of registers, two in each; one alone leaves the other half as it is. */
  D16 = 0x08,
  /** The one component is in the high half. */
  HIGH = 0x10,
}

/** What an instruction moves: `Move` bits with an `Access` or `Atomic`. */
export function moveOf(op: u32): u32 {
  switch (op) {
    case Op.buffer_load_dword:
    case Op.global_load_dword:
    case Op.flat_load_dword:
    case Op.scratch_load_dword:
      return Move.LOAD | Access.DWORD;
    case Op.buffer_load_dwordx2:
    case Op.global_load_dwordx2:
    case Op.flat_load_dwordx2:
    case Op.scratch_load_dwordx2:
      return Move.LOAD | Access.DWORDX2;
    case Op.buffer_load_dwordx3:
    case Op.global_load_dwordx3:
    case Op.flat_load_dwordx3:
    case Op.scratch_load_dwordx3:
      return Move.LOAD | Access.DWORDX3;
    case Op.buffer_load_dwordx4:
    case Op.global_load_dwordx4:
    case Op.flat_load_dwordx4:
    case Op.scratch_load_dwordx4:
      return Move.LOAD | Access.DWORDX4;
    case Op.buffer_load_ubyte:
    case Op.global_load_ubyte:
    case Op.flat_load_ubyte:
    case Op.scratch_load_ubyte:
      return Move.LOAD | Access.UBYTE;
    case Op.buffer_load_sbyte:
    case Op.global_load_sbyte:
    case Op.flat_load_sbyte:
    case Op.scratch_load_sbyte:
      return Move.LOAD | Access.SBYTE;
    case Op.buffer_load_ushort:
    case Op.global_load_ushort:
    case Op.flat_load_ushort:
    case Op.scratch_load_ushort:
      return Move.LOAD | Access.USHORT;
    case Op.buffer_load_sshort:
    case Op.global_load_sshort:
    case Op.flat_load_sshort:
    case Op.scratch_load_sshort:
      return Move.LOAD | Access.SSHORT;
    case Op.buffer_load_ubyte_d16:
    case Op.global_load_ubyte_d16:
    case Op.flat_load_ubyte_d16:
    case Op.scratch_load_ubyte_d16:
      return Move.LOAD | Access.UBYTE_D16;
    case Op.buffer_load_ubyte_d16_hi:
    case Op.global_load_ubyte_d16_hi:
    case Op.flat_load_ubyte_d16_hi:
    case Op.scratch_load_ubyte_d16_hi:
      return Move.LOAD | Access.UBYTE_D16_HI;
    case Op.buffer_load_sbyte_d16:
    case Op.global_load_sbyte_d16:
    case Op.flat_load_sbyte_d16:
    case Op.scratch_load_sbyte_d16:
      return Move.LOAD | Access.SBYTE_D16;
    case Op.buffer_load_sbyte_d16_hi:
    case Op.global_load_sbyte_d16_hi:
    case Op.flat_load_sbyte_d16_hi:
    case Op.scratch_load_sbyte_d16_hi:
      return Move.LOAD | Access.SBYTE_D16_HI;
    case Op.buffer_load_short_d16:
    case Op.global_load_short_d16:
    case Op.flat_load_short_d16:
    case Op.scratch_load_short_d16:
      return Move.LOAD | Access.SHORT_D16;
    case Op.buffer_load_short_d16_hi:
    case Op.global_load_short_d16_hi:
    case Op.flat_load_short_d16_hi:
    case Op.scratch_load_short_d16_hi:
      return Move.LOAD | Access.SHORT_D16_HI;
    case Op.buffer_store_dword:
    case Op.global_store_dword:
    case Op.flat_store_dword:
    case Op.scratch_store_dword:
      return Move.STORE | Access.DWORD;
    case Op.buffer_store_dwordx2:
    case Op.global_store_dwordx2:
    case Op.flat_store_dwordx2:
    case Op.scratch_store_dwordx2:
      return Move.STORE | Access.DWORDX2;
    case Op.buffer_store_dwordx3:
    case Op.global_store_dwordx3:
    case Op.flat_store_dwordx3:
    case Op.scratch_store_dwordx3:
      return Move.STORE | Access.DWORDX3;
    case Op.buffer_store_dwordx4:
    case Op.global_store_dwordx4:
    case Op.flat_store_dwordx4:
    case Op.scratch_store_dwordx4:
      return Move.STORE | Access.DWORDX4;
    case Op.buffer_store_byte:
    case Op.global_store_byte:
    case Op.flat_store_byte:
    case Op.scratch_store_byte:
      return Move.STORE | Access.STORE_BYTE;
    case Op.buffer_store_byte_d16_hi:
    case Op.global_store_byte_d16_hi:
    case Op.flat_store_byte_d16_hi:
    case Op.scratch_store_byte_d16_hi:
      return Move.STORE | Access.STORE_BYTE_HI;
    case Op.buffer_store_short:
    case Op.global_store_short:
    case Op.flat_store_short:
    case Op.scratch_store_short:
      return Move.STORE | Access.STORE_SHORT;
    case Op.buffer_store_short_d16_hi:
    case Op.global_store_short_d16_hi:
    case Op.flat_store_short_d16_hi:
    case Op.scratch_store_short_d16_hi:
      return Move.STORE | Access.STORE_SHORT_HI;
    case Op.buffer_atomic_swap:
    case Op.global_atomic_swap:
    case Op.flat_atomic_swap:
      return Move.ATOMIC | Atomic.SWAP;
    case Op.buffer_atomic_swap_x2:
    case Op.global_atomic_swap_x2:
    case Op.flat_atomic_swap_x2:
      return Move.ATOMIC64 | Atomic.SWAP;
    case Op.buffer_atomic_cmpswap:
    case Op.global_atomic_cmpswap:
    case Op.flat_atomic_cmpswap:
      return Move.ATOMIC | Atomic.CMPSWAP;
    case Op.buffer_atomic_cmpswap_x2:
    case Op.global_atomic_cmpswap_x2:
    case Op.flat_atomic_cmpswap_x2:
      return Move.ATOMIC64 | Atomic.CMPSWAP;
    case Op.buffer_atomic_add:
    case Op.global_atomic_add:
    case Op.flat_atomic_add:
      return Move.ATOMIC | Atomic.ADD;
    case Op.buffer_atomic_add_x2:
    case Op.global_atomic_add_x2:
    case Op.flat_atomic_add_x2:
      return Move.ATOMIC64 | Atomic.ADD;
    case Op.buffer_atomic_sub:
    case Op.global_atomic_sub:
    case Op.flat_atomic_sub:
      return Move.ATOMIC | Atomic.SUB;
    case Op.buffer_atomic_sub_x2:
    case Op.global_atomic_sub_x2:
    case Op.flat_atomic_sub_x2:
      return Move.ATOMIC64 | Atomic.SUB;
    case Op.buffer_atomic_csub:
    case Op.global_atomic_csub:
      return Move.ATOMIC | Atomic.CSUB;
    case Op.buffer_atomic_smin:
    case Op.global_atomic_smin:
    case Op.flat_atomic_smin:
      return Move.ATOMIC | Atomic.SMIN;
    case Op.buffer_atomic_smin_x2:
    case Op.global_atomic_smin_x2:
    case Op.flat_atomic_smin_x2:
      return Move.ATOMIC64 | Atomic.SMIN;
    case Op.buffer_atomic_umin:
    case Op.global_atomic_umin:
    case Op.flat_atomic_umin:
      return Move.ATOMIC | Atomic.UMIN;
    case Op.buffer_atomic_umin_x2:
    case Op.global_atomic_umin_x2:
    case Op.flat_atomic_umin_x2:
      return Move.ATOMIC64 | Atomic.UMIN;
    case Op.buffer_atomic_smax:
    case Op.global_atomic_smax:
    case Op.flat_atomic_smax:
      return Move.ATOMIC | Atomic.SMAX;
    case Op.buffer_atomic_smax_x2:
    case Op.global_atomic_smax_x2:
    case Op.flat_atomic_smax_x2:
      return Move.ATOMIC64 | Atomic.SMAX;
    case Op.buffer_atomic_umax:
    case Op.global_atomic_umax:
    case Op.flat_atomic_umax:
      return Move.ATOMIC | Atomic.UMAX;
    case Op.buffer_atomic_umax_x2:
    case Op.global_atomic_umax_x2:
    case Op.flat_atomic_umax_x2:
      return Move.ATOMIC64 | Atomic.UMAX;
    case Op.buffer_atomic_and:
    case Op.global_atomic_and:
    case Op.flat_atomic_and:
      return Move.ATOMIC | Atomic.AND;
    case Op.buffer_atomic_and_x2:
    case Op.global_atomic_and_x2:
    case Op.flat_atomic_and_x2:
      return Move.ATOMIC64 | Atomic.AND;
    case Op.buffer_atomic_or:
    case Op.global_atomic_or:
    case Op.flat_atomic_or:
      return Move.ATOMIC | Atomic.OR;
    case Op.buffer_atomic_or_x2:
    case Op.global_atomic_or_x2:
    case Op.flat_atomic_or_x2:
      return Move.ATOMIC64 | Atomic.OR;
    case Op.buffer_atomic_xor:
    case Op.global_atomic_xor:
    case Op.flat_atomic_xor:
      return Move.ATOMIC | Atomic.XOR;
    case Op.buffer_atomic_xor_x2:
    case Op.global_atomic_xor_x2:
    case Op.flat_atomic_xor_x2:
      return Move.ATOMIC64 | Atomic.XOR;
    case Op.buffer_atomic_inc:
    case Op.global_atomic_inc:
    case Op.flat_atomic_inc:
      return Move.ATOMIC | Atomic.INC;
    case Op.buffer_atomic_inc_x2:
    case Op.global_atomic_inc_x2:
    case Op.flat_atomic_inc_x2:
      return Move.ATOMIC64 | Atomic.INC;
    case Op.buffer_atomic_dec:
    case Op.global_atomic_dec:
    case Op.flat_atomic_dec:
      return Move.ATOMIC | Atomic.DEC;
    case Op.buffer_atomic_dec_x2:
    case Op.global_atomic_dec_x2:
    case Op.flat_atomic_dec_x2:
      return Move.ATOMIC64 | Atomic.DEC;
    case Op.buffer_atomic_fmin:
    case Op.global_atomic_fmin:
    case Op.flat_atomic_fmin:
      return Move.ATOMIC | Atomic.FMIN;
    case Op.buffer_atomic_fmin_x2:
    case Op.global_atomic_fmin_x2:
    case Op.flat_atomic_fmin_x2:
      return Move.ATOMIC64 | Atomic.FMIN;
    case Op.buffer_atomic_fmax:
    case Op.global_atomic_fmax:
    case Op.flat_atomic_fmax:
      return Move.ATOMIC | Atomic.FMAX;
    case Op.buffer_atomic_fmax_x2:
    case Op.global_atomic_fmax_x2:
    case Op.flat_atomic_fmax_x2:
      return Move.ATOMIC64 | Atomic.FMAX;
    case Op.buffer_atomic_fcmpswap:
    case Op.global_atomic_fcmpswap:
    case Op.flat_atomic_fcmpswap:
      return Move.ATOMIC | Atomic.FCMPSWAP;
    case Op.buffer_atomic_fcmpswap_x2:
    case Op.global_atomic_fcmpswap_x2:
    case Op.flat_atomic_fcmpswap_x2:
      return Move.ATOMIC64 | Atomic.FCMPSWAP;
    case Op.buffer_load_format_x:
      return Move.TYPED | Move.LOAD | 1;
    case Op.buffer_load_format_xy:
      return Move.TYPED | Move.LOAD | 2;
    case Op.buffer_load_format_xyz:
      return Move.TYPED | Move.LOAD | 3;
    case Op.buffer_load_format_xyzw:
      return Move.TYPED | Move.LOAD | 4;
    case Op.buffer_load_format_d16_x:
      return Move.TYPED | Move.LOAD | Typed.D16 | 1;
    case Op.buffer_load_format_d16_xy:
      return Move.TYPED | Move.LOAD | Typed.D16 | 2;
    case Op.buffer_load_format_d16_xyz:
      return Move.TYPED | Move.LOAD | Typed.D16 | 3;
    case Op.buffer_load_format_d16_xyzw:
      return Move.TYPED | Move.LOAD | Typed.D16 | 4;
    case Op.buffer_load_format_d16_hi_x:
      return Move.TYPED | Move.LOAD | Typed.D16 | Typed.HIGH | 1;
    case Op.buffer_store_format_x:
      return Move.TYPED | Move.STORE | 1;
    case Op.buffer_store_format_xy:
      return Move.TYPED | Move.STORE | 2;
    case Op.buffer_store_format_xyz:
      return Move.TYPED | Move.STORE | 3;
    case Op.buffer_store_format_xyzw:
      return Move.TYPED | Move.STORE | 4;
    case Op.buffer_store_format_d16_x:
      return Move.TYPED | Move.STORE | Typed.D16 | 1;
    case Op.buffer_store_format_d16_xy:
      return Move.TYPED | Move.STORE | Typed.D16 | 2;
    case Op.buffer_store_format_d16_xyz:
      return Move.TYPED | Move.STORE | Typed.D16 | 3;
    case Op.buffer_store_format_d16_xyzw:
      return Move.TYPED | Move.STORE | Typed.D16 | 4;
    case Op.buffer_store_format_d16_hi_x:
      return Move.TYPED | Move.STORE | Typed.D16 | Typed.HIGH | 1;
    default:
      return Move.UNKNOWN;
  }
}
