const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** A literal string's words: UTF-8, lowest byte first, ended by a zero byte and padded to a word. */
export function encodeString(text: string): number[] {
  const bytes = encoder.encode(text);
  const words = new Array<number>((bytes.length >> 2) + 1).fill(0);
  for (let i = 0; i < bytes.length; i++) words[i >> 2]! |= bytes[i]! << ((i & 3) * 8);
  return words.map((word) => word >>> 0);
}

/** Words that the literal string at `start` takes before `end`; 0 where no zero byte ends it. */
export function stringWords(words: Uint32Array, start: number, end: number): number {
  for (let i = start; i < end; i++) {
    const word = words[i]!;
    if (word >>> 24 === 0 || (word & 0xff0000) === 0 || (word & 0xff00) === 0 || (word & 0xff) === 0)
      return i - start + 1;
  }
  return 0;
}

/** The text of the literal string at `start`, up to its zero byte or `end`. Broken UTF-8 reads as U+FFFD. */
export function decodeString(words: Uint32Array, start: number, end: number): string {
  let text = "";
  for (let i = start; i < end; i++) {
    const word = words[i]!;
    if ((word & 0x80808080) !== 0) return decodeBytes(words, start, end);
    for (let shift = 0; shift < 32; shift += 8) {
      const byte = (word >>> shift) & 0xff;
      if (byte === 0) return text;
      text += String.fromCharCode(byte);
    }
  }
  return text;
}

/** As `decodeString`, for text that is not all ASCII. */
function decodeBytes(words: Uint32Array, start: number, end: number): string {
  const bytes: number[] = [];
  for (let i = start; i < end; i++) {
    for (let shift = 0; shift < 32; shift += 8) {
      const byte = (words[i]! >>> shift) & 0xff;
      if (byte === 0) return decoder.decode(Uint8Array.from(bytes));
      bytes.push(byte);
    }
  }
  return decoder.decode(Uint8Array.from(bytes));
}

const view = new DataView(new ArrayBuffer(8));

/** IEEE binary32 bits of `value`, rounded to nearest even. */
export function floatBits(value: number): number {
  view.setFloat32(0, value, true);
  return view.getUint32(0, true);
}

/** IEEE binary64 bits of `value` as [low word, high word]. */
export function doubleBits(value: number): [number, number] {
  view.setFloat64(0, value, true);
  return [view.getUint32(0, true), view.getUint32(4, true)];
}

/** The binary32 value of `bits`. */
export function bitsFloat(bits: number): number {
  view.setUint32(0, bits, true);
  return view.getFloat32(0, true);
}

/** The binary64 value of [low word, high word]. */
export function bitsDouble(low: number, high: number): number {
  view.setUint32(0, low, true);
  view.setUint32(4, high, true);
  return view.getFloat64(0, true);
}

/** Rounds half to even. `x` is finite, 0 ≤ x < 2^31. */
function roundEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

/** IEEE binary16 bits of `value`, rounded once to nearest even; overflow goes to infinity. */
export function halfBits(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  if (Number.isNaN(value)) return 0x7e00;
  const x = Math.abs(value);
  // 65520 is half way between the largest binary16 (65504) and 65536: the tie goes to even, which is infinity
  if (x >= 65520) return sign | 0x7c00;
  // below 2^-14 the value is a multiple of 2^-24; a carry out of the fraction lands on the first normal by itself
  if (x < 2 ** -14) return sign | roundEven(x * 2 ** 24);
  view.setFloat64(0, x, true);
  const exponent = ((view.getUint32(4, true) >>> 20) & 0x7ff) - 1023;
  return sign | (((exponent + 14) << 10) + roundEven(x * 2 ** (10 - exponent)));
}

/** The binary16 value of the low 16 of `bits`. */
export function bitsHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}
