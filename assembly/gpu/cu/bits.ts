/** Bit operations of the scalar ALU, by value. Source: the rows' meanings (src/isa). */

/** The bits in the opposite order. */
export function reverse(x: u32): u32 {
  x = ((x >> 1) & 0x55555555) | ((x & 0x55555555) << 1);
  x = ((x >> 2) & 0x33333333) | ((x & 0x33333333) << 2);
  x = ((x >> 4) & 0x0f0f0f0f) | ((x & 0x0f0f0f0f) << 4);
  return bswap<u32>(x);
}

/** Leading bits equal to the sign bit, -1 if all are. */
export function signRun(x: u32): u32 {
  const y = <i32>x < 0 ? ~x : x;
  return y == 0 ? <u32>-1 : clz<u32>(y);
}

/** Bit q says whether any of the four bits 4q..4q+3 is set. */
export function quadMask(x: u64, quads: u32): u64 {
  let out: u64 = 0;
  for (let q: u32 = 0; q < quads; q++) if ((x >> (4 * q)) & 15) out |= (<u64>1) << q;
  return out;
}

/** All four bits of each quad that has any set. */
export function wholeQuads(x: u64, quads: u32): u64 {
  let out: u64 = 0;
  for (let q: u32 = 0; q < quads; q++) if ((x >> (4 * q)) & 15) out |= (<u64>15) << (4 * q);
  return out;
}

/** Each bit twice. */
export function bitReplicate(x: u32): u64 {
  let out: u64 = 0;
  for (let i: u32 = 0; i < 32; i++) if ((x >> i) & 1) out |= (<u64>3) << (2 * i);
  return out;
}

/** offset = spec[5:0] masked by `offsetMask`, width = spec[22:16]. */
export function field(x: u64, spec: u32, offsetMask: u32): u64 {
  const width = (spec >> 16) & 127;
  const shifted = x >> (spec & offsetMask);
  return width >= 64 ? shifted : shifted & (((<u64>1) << width) - 1);
}

/** `field`, sign-extended from its width. */
export function signedField(x: i64, spec: u32, offsetMask: u32): i64 {
  const width = (spec >> 16) & 127;
  if (width == 0) return 0;
  const shifted = x >> (spec & offsetMask);
  if (width >= 64) return shifted;
  const up: i64 = 64 - width;
  return (shifted << up) >> up;
}
