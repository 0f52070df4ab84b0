import { createHash } from "node:crypto";
import type { Key } from "./tier.ts";

/** `KRC1`: magic, value length, SHA-256 over key and value. Then the value. */
const magic = 0x3143524b;
export const headerBytes = 40;

function digest(key: Key, value: Uint8Array): Buffer {
  return createHash("sha256").update(key).update(value).digest();
}

/** The bytes of one record file. The key is hashed in, so that a file under another name is corrupt too. */
export function sealRecord(key: Key, value: Uint8Array): Uint8Array {
  const file = Buffer.allocUnsafe(headerBytes + value.byteLength);
  file.writeUInt32LE(magic, 0);
  file.writeUInt32LE(value.byteLength, 4);
  file.set(digest(key, value), 8);
  file.set(value, headerBytes);
  return file;
}

/** The value, or undefined where any byte of the file is not what was written. */
export function openRecord(key: Key, file: Buffer): Uint8Array | undefined {
  if (file.byteLength < headerBytes) return undefined;
  if (file.readUInt32LE(0) !== magic || file.readUInt32LE(4) !== file.byteLength - headerBytes) return undefined;
  const value = file.subarray(headerBytes);
  if (!digest(key, value).equals(file.subarray(8, headerBytes))) return undefined;
  // A view on a pooled buffer would keep the whole pool alive in the memory tier.
  return new Uint8Array(value);
}
