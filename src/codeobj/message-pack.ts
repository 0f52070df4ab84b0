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
  writer.clear();
  write(writer, value);
  return writer.bytes();
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

class Writer {
  private buffer = new Uint8Array(firstBytes);
  private view = new DataView(this.buffer.buffer);
  private length = 0;

  clear(): void {
    this.length = 0;
    if (this.buffer.length <= keptBytes) return;
    this.buffer = new Uint8Array(firstBytes);
    this.view = new DataView(this.buffer.buffer);
  }

  reserve(size: number): number {
    const at = this.length;
    if (at + size > this.buffer.length) {
      const grown = new Uint8Array(Math.max(this.buffer.length * 2, at + size));
      grown.set(this.buffer.subarray(0, at));
      this.buffer = grown;
      this.view = new DataView(grown.buffer);
    }
    this.length = at + size;
    return at;
  }

  u8(value: number): void {
    const at = this.reserve(1); // may replace the buffer
    this.view.setUint8(at, value);
  }

  u16(value: number): void {
    const at = this.reserve(2); // may replace the buffer
    this.view.setUint16(at, value);
  }

  u32(value: number): void {
    const at = this.reserve(4); // may replace the buffer
    this.view.setUint32(at, value);
  }

  f64(value: number): void {
    const at = this.reserve(8); // may replace the buffer
    this.view.setFloat64(at, value);
  }

  raw(bytes: Uint8Array): void {
    const at = this.reserve(bytes.length);
    this.buffer.set(bytes, at);
  }

  /** A string of ASCII below `limit` characters, its length in the tag; false when it is none, and nothing is written. */
  ascii(text: string, tag: number, limit: number): boolean {
    const size = text.length;
    if (size >= limit) return false;
    const at = this.reserve(size + 1); // may replace the buffer
    this.buffer[at] = tag | size;
    for (let k = 0; k < size; k++) {
      const code = text.charCodeAt(k);
      if (code >= 0x80) {
        this.length = at;
        return false;
      }
      this.buffer[at + 1 + k] = code;
    }
    return true;
  }

  bytes(): Uint8Array {
    return this.buffer.slice(0, this.length);
  }
}

/** One for all messages: its buffer is as large as the largest of them, up to a bound. */
const writer = new Writer();
const utf8 = new TextEncoder();

function write(out: Writer, value: Packable): void {
  if (value === undefined) throw new Bug("undefined outside a map has no MessagePack form");
  if (typeof value === "boolean") out.u8(value ? 0xc3 : 0xc2);
  else if (typeof value === "number") writeNumber(out, value);
  else if (typeof value === "string") {
    if (out.ascii(value, ...sizeTags.string.short)) return;
    const bytes = utf8.encode(value);
    writeSize(out, bytes.length, sizeTags.string);
    out.raw(bytes);
  } else if (value instanceof Uint8Array) {
    writeSize(out, value.length, sizeTags.bytes);
    out.raw(value);
  } else if (Array.isArray(value)) {
    writeSize(out, value.length, sizeTags.list);
    for (const item of value as readonly Packable[]) write(out, item);
  } else writeMap(out, value as ReadonlyMap<number, Packable> | { readonly [key: string]: Packable });
}

function writeMap(out: Writer, map: ReadonlyMap<number, Packable> | { readonly [key: string]: Packable }): void {
  if (map instanceof Map) {
    const present = [...(map as ReadonlyMap<number, Packable>)].filter(([, item]) => item !== undefined);
    writeSize(out, present.length, sizeTags.map);
    for (const [key, item] of present) {
      write(out, key);
      write(out, item);
    }
    return;
  }
  const members = map as { readonly [key: string]: Packable };
  let size = 0;
  for (const key in members) if (members[key] !== undefined) size++;
  writeSize(out, size, sizeTags.map);
  for (const key in members) {
    const item = members[key];
    if (item === undefined) continue;
    write(out, key);
    write(out, item);
  }
}

function writeNumber(out: Writer, value: number): void {
  if (!Number.isInteger(value) || Object.is(value, -0) || value > 0xffff_ffff || value < -0x8000_0000) {
    out.u8(0xcb);
    out.f64(value);
  } else if (value < -32) {
    out.u8(0xd2);
    out.u32(value >>> 0);
  } else if (value < 0x80) out.u8(value & 0xff);
  else if (value < 0x100) {
    out.u8(0xcc);
    out.u8(value);
  } else if (value < 0x10000) {
    out.u8(0xcd);
    out.u16(value);
  } else {
    out.u8(0xce);
    out.u32(value);
  }
}

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

function writeSize(out: Writer, size: number, { short, tag8, tag16, tag32 }: SizeTags): void {
  if (short !== undefined && size < short[1]) out.u8(short[0] | size);
  else if (tag8 !== undefined && size < 0x100) {
    out.u8(tag8);
    out.u8(size);
  } else if (size < 0x10000) {
    out.u8(tag16);
    out.u16(size);
  } else {
    out.u8(tag32);
    out.u32(size);
  }
}
