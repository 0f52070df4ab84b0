/**
 * Texels of buffer formats: bits in memory to 32-bit register values and back. Rows: src/uapi. An element's dwords lie a
 * VGPR row apart, as those of a lane do. Stores round to nearest even; small floats towards zero, as the API lets them;
 * integers keep their low bits (model).
 */
import { f16ToF32Bits, f32ToF16Bits, Round } from "../../base/math/index.ts";
import { BUFFER_FORMAT_LIMIT, BUFFER_FORMATS, NumericKind } from "../../gen/uapi.ts";

/** Bits of a component's exponent in formats of 16 bits and less, where a float has no sign from 11 bits on down. */
const HALF_BITS: u32 = 16;
const ONE_F32: u32 = 0x3f800000;

/** The row of a V#'s FORMAT: kind [2:0], components [5:3], widths of six bits from bit 8 on. 0: there is none. */
export function formatRow(format: u32): u32 {
  return format < BUFFER_FORMAT_LIMIT ? load<u32>(BUFFER_FORMATS + ((<usize>format) << 2)) : 0;
}

function kindOf(row: u32): u32 {
  return row & 7;
}

function width(row: u32, c: u32): u32 {
  return (row >> (8 + 6 * c)) & 63;
}

/** Of an element. */
export function formatBytes(row: u32): u32 {
  return (width(row, 0) + width(row, 1) + width(row, 2) + width(row, 3)) >> 3;
}

export function isIntegerFormat(row: u32): bool {
  return kindOf(row) == NumericKind.UINT || kindOf(row) == NumericKind.SINT;
}

/** The constant 1 of a format: what a component w that is not there reads as. */
export function oneOf(row: u32): u32 {
  return isIntegerFormat(row) ? 1 : ONE_F32;
}

/** Bit position of component c. */
function position(row: u32, c: u32): u32 {
  let at: u32 = 0;
  for (let k: u32 = 0; k < c; k++) at += width(row, k);
  return at;
}

function place(element: usize, at: u32): usize {
  return element + ((<usize>(at >> 5)) << 7);
}

function bits(x: f32): u32 {
  return reinterpret<u32>(x);
}

/** Component c of the element as a register holds it; one that the format lacks is 0, or 1 for w. */
export function unpackComponent(row: u32, element: usize, c: u32): u32 {
  const n = width(row, c);
  if (n == 0) return c == 3 ? oneOf(row) : 0;
  const at = position(row, c);
  const raw = n == 32 ? load<u32>(place(element, at)) : (load<u32>(place(element, at)) >> (at & 31)) & ((1 << n) - 1);
  const signed = <i32>(raw << (32 - n)) >> (32 - n);
  switch (kindOf(row)) {
    case NumericKind.UNORM:
      return bits(<f32>(<f64>raw / <f64>((1 << n) - 1)));
    case NumericKind.SNORM:
      return bits(max<f32>(<f32>(<f64>signed / <f64>((1 << (n - 1)) - 1)), -1));
    case NumericKind.USCALED:
      return bits(<f32>raw);
    case NumericKind.SSCALED:
      return bits(<f32>signed);
    case NumericKind.SINT:
      return <u32>signed;
    case NumericKind.FLOAT:
      return n == 32 ? raw : n == HALF_BITS ? f16ToF32Bits(raw) : f16ToF32Bits(raw << (15 - n));
    default:
      return raw;
  }
}

/** Nearest even of a value held to [low, high]; NaN gives 0. */
function held(x: f32, scale: f64, low: f64, high: f64): u32 {
  if (isNaN<f32>(x)) return 0;
  const y = <f64>x * scale;
  return <u32>(<i64>nearest<f64>(y < low ? low : y > high ? high : y));
}

/** A float without sign: five bits of exponent. Negative values are 0, too large ones the largest finite one. */
function smallFloat(value: u32, n: u32): u32 {
  const isNaNBits = (value & 0x7fffffff) > 0x7f800000;
  if (value >> 31 && !isNaNBits) return 0;
  return (f32ToF16Bits(value, Round.Zero) >> (15 - n)) & ((1 << n) - 1);
}

/** Sets component c of an element whose bits there are 0; nothing where the format lacks it. */
export function packComponent(row: u32, element: usize, c: u32, value: u32): void {
  const n = width(row, c);
  if (n == 0) return;
  const x = reinterpret<f32>(value);
  const most = <f64>(((<u64>1) << n) - 1);
  const half = <f64>(((<u64>1) << (n - 1)) - 1);
  let raw = value;
  switch (kindOf(row)) {
    case NumericKind.UNORM:
      raw = held(x, most, 0, most);
      break;
    case NumericKind.SNORM:
      raw = held(x, half, -half, half);
      break;
    case NumericKind.USCALED:
      raw = held(x, 1, 0, most);
      break;
    case NumericKind.SSCALED:
      raw = held(x, 1, -half - 1, half);
      break;
    case NumericKind.FLOAT:
      if (n == HALF_BITS) raw = f32ToF16Bits(value, Round.NearestEven);
      else if (n < HALF_BITS) raw = smallFloat(value, n);
      break;
    default:
      break;
  }
  const at = position(row, c);
  const to = place(element, at);
  const mask = n == 32 ? 0xffffffff : (1 << n) - 1;
  store<u32>(to, load<u32>(to) | ((raw & mask) << (at & 31)));
}
