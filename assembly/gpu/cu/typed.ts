/** Buffer instructions that convert by the V#'s format. Source: RDNA2 ISA, "Buffer Instructions", typed data. */
import { f16ToF32Bits, f32ToF16Bits, Round } from "../../base/math/index.ts";
import { faultKind, raiseNotModelled } from "../fault.ts";
import { formatBytes, formatRow, isIntegerFormat, oneOf, packComponent, unpackComponent } from "../tex/format.ts";
import { moveLane, outside } from "./resource.ts";
import { Access, Move, Typed } from "./vmem.ts";

/** Bytes between the rows of an element's dwords. */
const ROW_BYTES: usize = 128;
/** Destination selects. */
const SEL_ONE: u32 = 1;
const SEL_X: u32 = 4;
/** The element at hand, a lane's dwords. */
const element = memory.data(128 * 4, 16);

function clearElement(): void {
  for (let i: usize = 0; i < 4; i++) store<u32>(element + i * ROW_BYTES, 0);
}

/** The plain access that moves an element of so many bytes. */
function accessOf(what: u32, bytes: u32): u32 {
  if (bytes == 1) return what == Move.LOAD ? Access.UBYTE : Access.STORE_BYTE;
  if (bytes == 2) return what == Move.LOAD ? Access.USHORT : Access.STORE_SHORT;
  return bytes >> 2;
}

/** Low or high half of a register's old value replaced. */
function setHalf(place: usize, value: u32, isHigh: bool): void {
  const old = load<u32>(place);
  store<u32>(place, isHigh ? (old & 0xffff) | (value << 16) : (old & 0xffff0000) | (value & 0xffff));
}

function register(column: usize, k: u32): usize {
  return column + <usize>k * ROW_BYTES;
}

/**
 * One lane of a typed load or store; `kind`: components [2:0] and `Typed` bits. Elements are in or out of range whole:
 * outside one reads as zero bits, and stores are dropped. Component c of memory is the one whose select says so, in both
 * directions; a store that gives no such component writes 0 (model).
 */
export function typedLane(
  what: u32,
  kind: u32,
  word3: u32,
  index: u32,
  wide: u64,
  offset: u32,
  soffset: u32,
  column: usize,
): void {
  const row = formatRow((word3 >> 12) & 0x7f);
  const bytes = formatBytes(row);
  const count = kind & Typed.COMPONENTS;
  const isOutside = outside(index, wide, bytes);
  if (row == 0 && !isOutside) {
    raiseNotModelled();
    return;
  }
  if (isOutside && what == Move.STORE) return;
  clearElement();
  const access = accessOf(what, bytes);
  if (what == Move.STORE) {
    for (let k: u32 = 0; k < count; k++) {
      const select = (word3 >> (3 * k)) & 7;
      if (select >= SEL_X && isFirst(word3, k, select))
        packComponent(row, element, select - SEL_X, stored(row, kind, column, k));
    }
    moveLane(what, access, index, wide, offset, soffset, element, false);
    return;
  }
  if (!isOutside) moveLane(what, access, index, wide, offset, soffset, element, false);
  if (faultKind != 0) return;
  for (let k: u32 = 0; k < count; k++) {
    const select = (word3 >> (3 * k)) & 7;
    let value: u32 = 0;
    if (select == SEL_ONE) value = oneOf(row);
    else if (select >= SEL_X) value = unpackComponent(row, element, select - SEL_X);
    if (!(kind & Typed.D16)) {
      store<u32>(register(column, k), value);
      continue;
    }
    if (!isIntegerFormat(row)) value = f32ToF16Bits(value, Round.NearestEven);
    setHalf(register(column, k >> 1), value, (k & 1) != 0 || (kind & Typed.HIGH) != 0);
  }
}

/** No component before k goes to the same place. */
function isFirst(word3: u32, k: u32, select: u32): bool {
  for (let j: u32 = 0; j < k; j++) if (((word3 >> (3 * j)) & 7) == select) return false;
  return true;
}

/** Component k of what a lane stores, as 32 bits. */
function stored(row: u32, kind: u32, column: usize, k: u32): u32 {
  if (!(kind & Typed.D16)) return load<u32>(register(column, k));
  const word = load<u32>(register(column, k >> 1));
  const half = (k & 1) != 0 || (kind & Typed.HIGH) != 0 ? word >> 16 : word & 0xffff;
  return isIntegerFormat(row) ? half : f16ToF32Bits(half);
}
