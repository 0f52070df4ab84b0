import { decode } from "@msgpack/msgpack";
import { Bug } from "../base/index.ts";

/** What we write: maps as objects (string keys, in their order) or as `Map` (integer keys, in insertion order). */
export type Packable =
  | undefined
  | boolean
  | number
  | string
  | Uint8Array
  | readonly Packable[]
  | ReadonlyMap<number, Packable>
  | { readonly [key: string]: Packable };

/**
 * MessagePack bytes, the shortest form of each value; the same value gives the same bytes. Absent (undefined) members
 * are left out. We write it ourselves because metadata needs integer keys and a fixed order.
 */
export function packMessage(value: Packable): Uint8Array {
  const out = messageWriter();
  out.value(value);
  return out.bytes().slice();
}

/** Decodes one MessagePack value; throws on anything malformed. No length in it is trusted beyond the input's size. */
export function unpackMessage(bytes: Uint8Array): unknown {
  const limit = bytes.length;
  return decode(bytes, {
    maxStrLength: limit,
    maxBinLength: limit,
    maxArrayLength: limit,
    maxMapLength: limit,
    maxExtLength: 0,
  });
}

const firstBytes = 4096;
const keptBytes = 1 << 20;

/** Writes a whole number from 0 on, up to 32 bits; returns where it ends. */
function putUnsigned(buffer: Uint8Array, at: number, value: number): number {
  if (value < 0x80) {
    buffer[at] = value;
    return at + 1;
  }
  if (value < 0x100) {
    buffer[at] = 0xcc;
    buffer[at + 1] = value;
    return at + 2;
  }
  let end = at + 1;
  buffer[at] = value < 0x10000 ? 0xcd : 0xce;
  if (value >= 0x10000) {
    buffer[end++] = value >>> 24;
    buffer[end++] = value >>> 16;
  }
  buffer[end] = value >>> 8;
  buffer[end + 1] = value;
  return end + 2;
}

/** Writes values one behind the other. */
export class MessageWriter {
  #buffer = new Uint8Array(firstBytes);
  #view = new DataView(this.#buffer.buffer);
  #length = 0;

  clear(): void {
    this.#length = 0;
    if (this.#buffer.length > keptBytes) this.#use(new Uint8Array(firstBytes));
  }

  /** What has been written: a view that the next message overwrites. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #use(buffer: Uint8Array<ArrayBuffer>): void {
    this.#buffer = buffer;
    this.#view = new DataView(buffer.buffer);
  }

  /** Place of `size` new bytes; may replace the buffer. */
  #reserve(size: number): number {
    const at = this.#length;
    if (at + size > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(this.#buffer.length * 2, at + size));
      grown.set(this.#buffer.subarray(0, at));
      this.#use(grown);
    }
    this.#length = at + size;
    return at;
  }

  #u8(value: number): void {
    const at = this.#reserve(1);
    this.#buffer[at] = value;
  }

  #tagged8(tag: number, value: number): void {
    const at = this.#reserve(2);
    this.#buffer[at] = tag;
    this.#buffer[at + 1] = value;
  }

  #tagged16(tag: number, value: number): void {
    const at = this.#reserve(3);
    this.#buffer[at] = tag;
    this.#view.setUint16(at + 1, value);
  }

  #tagged32(tag: number, value: number): void {
    const at = this.#reserve(5);
    this.#buffer[at] = tag;
    this.#view.setUint32(at + 1, value);
  }

  /** Bytes of whole values, as `packMessage` has them: keys. */
  raw(bytes: Uint8Array): void {
    const size = bytes.length;
    const at = this.#reserve(size);
    const buffer = this.#buffer;
    if (size > 64) buffer.set(bytes, at);
    else for (let k = 0; k < size; k++) buffer[at + k] = bytes[k]!;
  }

  value(value: Packable): void {
    if (value === undefined) throw new Bug("undefined outside a map has no MessagePack form");
    if (typeof value === "boolean") this.flag(value);
    else if (typeof value === "number") this.number(value);
    else if (typeof value === "string") this.text(value);
    else if (value instanceof Uint8Array) {
      this.#size(value.length, sizeTags.bytes);
      this.raw(value);
    } else if (Array.isArray(value)) {
      this.list(value.length);
      for (const item of value as readonly Packable[]) this.value(item);
    } else this.#members(value as ReadonlyMap<number, Packable> | { readonly [key: string]: Packable });
  }

  #members(map: ReadonlyMap<number, Packable> | { readonly [key: string]: Packable }): void {
    if (map instanceof Map) {
      const present = [...(map as ReadonlyMap<number, Packable>)].filter(([, item]) => item !== undefined);
      this.map(present.length);
      for (const [key, item] of present) {
        this.number(key);
        this.value(item);
      }
      return;
    }
    const members = map as { readonly [key: string]: Packable };
    let size = 0;
    for (const key in members) if (members[key] !== undefined) size++;
    this.map(size);
    for (const key in members) {
      const item = members[key];
      if (item === undefined) continue;
      this.text(key);
      this.value(item);
    }
  }

  flag(value: boolean): void {
    this.#u8(value ? 0xc3 : 0xc2);
  }

  number(value: number): void {
    if (!Number.isInteger(value) || Object.is(value, -0) || value > 0xffff_ffff || value < -0x8000_0000) {
      this.#u8(0xcb);
      const at = this.#reserve(8); // before the view is taken
      this.#view.setFloat64(at, value);
    } else if (value < -32) this.#tagged32(0xd2, value >>> 0);
    else if (value < 0x80) this.#u8(value & 0xff);
    else if (value < 0x100) this.#tagged8(0xcc, value);
    else if (value < 0x10000) this.#tagged16(0xcd, value);
    else this.#tagged32(0xce, value);
  }

  /** A list of four whole numbers from 0 on, up to 32 bits. */
  four(a: number, b: number, c: number, d: number): void {
    const start = this.#reserve(21);
    const buffer = this.#buffer;
    buffer[start] = 0x94;
    const end = putUnsigned(buffer, putUnsigned(buffer, start + 1, a), b);
    this.#length = putUnsigned(buffer, putUnsigned(buffer, end, c), d);
  }

  text(text: string): void {
    if (this.#ascii(text)) return;
    const bytes = utf8.encode(text);
    this.#size(bytes.length, sizeTags.string);
    this.raw(bytes);
  }

  /** A string of ASCII with its length in the tag; false when it is none such, and nothing is written. */
  #ascii(text: string): boolean {
    const size = text.length;
    const tag = sizeTags.string.short[0];
    if (size >= sizeTags.string.short[1]) return false;
    const at = this.#reserve(size + 1);
    const buffer = this.#buffer;
    buffer[at] = tag | size;
    for (let k = 0; k < size; k++) {
      const code = text.charCodeAt(k);
      if (code >= 0x80) {
        this.#length = at;
        return false;
      }
      buffer[at + 1 + k] = code;
    }
    return true;
  }

  /** The head of a list: its `size` values follow. */
  list(size: number): void {
    this.#size(size, sizeTags.list);
  }

  /** The head of a map: `size` times a key and a value follow. */
  map(size: number): void {
    this.#size(size, sizeTags.map);
  }

  #size(size: number, { short, tag8, tag16, tag32 }: SizeTags): void {
    if (short !== undefined && size < short[1]) this.#u8(short[0] | size);
    else if (tag8 !== undefined && size < 0x100) this.#tagged8(tag8, size);
    else if (size < 0x10000) this.#tagged16(tag16, size);
    else this.#tagged32(tag32, size);
  }
}

/** One for all messages: its buffer is as large as the largest of them, up to a bound. */
const writer = new MessageWriter();

/** The writer, empty. What is written with it is taken before somebody asks for it again. */
export function messageWriter(): MessageWriter {
  writer.clear();
  return writer;
}

const utf8 = new TextEncoder();

/** Tags of a type's lengths: in the tag itself below a limit, in 8 bits (where the type has that), 16 or 32 bits. */
interface SizeTags {
  readonly short?: readonly [tag: number, below: number];
  readonly tag8?: number;
  readonly tag16: number;
  readonly tag32: number;
}

/** Source: MessagePack specification. */
const sizeTags = {
  string: { short: [0xa0, 32], tag8: 0xd9, tag16: 0xda, tag32: 0xdb },
  bytes: { tag8: 0xc4, tag16: 0xc5, tag32: 0xc6 },
  list: { short: [0x90, 16], tag16: 0xdc, tag32: 0xdd },
  map: { short: [0x80, 16], tag16: 0xde, tag32: 0xdf },
} as const satisfies Readonly<Record<string, SizeTags>>;
