import { hash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import type { Key } from "./tier.ts";

/** `KRC1`: magic, value length, SHA-256 over key and value. Then the value. */
const magic = 0x3143524b;
const headerBytes = 40;
const keyTextBytes = 64;

/** Key and value in one piece give the digest at once; here they stand one after the other. */
function digestOf(keyed: Uint8Array): Buffer {
  return hash("sha256", keyed, "buffer");
}

/** The bytes of one record file. The key is hashed in, so that a file under another name is corrupt too. */
export function sealRecord(key: Key, value: Uint8Array): Uint8Array {
  const keyed = Buffer.allocUnsafe(keyTextBytes + value.byteLength);
  keyed.write(key, 0, "latin1");
  keyed.set(value, keyTextBytes);
  const digest = digestOf(keyed);
  const file = keyed.subarray(keyTextBytes - headerBytes);
  file.writeUInt32LE(magic, 0);
  file.writeUInt32LE(value.byteLength, 4);
  file.set(digest, 8);
  return file;
}

/**
 * The value, or undefined where any byte of the file is not what was written. `keyed` has the file from byte 24 on; the
 * header is overwritten, by the key that is hashed.
 */
function openKeyed(key: Key, keyed: Buffer): Uint8Array | undefined {
  const file = keyed.subarray(keyTextBytes - headerBytes);
  if (file.byteLength < headerBytes) return undefined;
  if (file.readUInt32LE(0) !== magic || file.readUInt32LE(4) !== file.byteLength - headerBytes) return undefined;
  const digest = Buffer.from(file.subarray(8, headerBytes));
  keyed.write(key, 0, "latin1");
  // A view on a pooled buffer would keep the whole pool alive in the memory tier.
  return digestOf(keyed).equals(digest) ? new Uint8Array(keyed.subarray(keyTextBytes)) : undefined;
}

/** The value in a record file's bytes, or undefined where they are not what was written. */
export function openRecord(key: Key, file: Uint8Array): Uint8Array | undefined {
  const before = keyTextBytes - headerBytes;
  const keyed = Buffer.allocUnsafe(before + file.byteLength);
  keyed.set(file, before);
  return openKeyed(key, keyed);
}

/** Reads record files into one buffer that grows with them: an open, a read, a close. */
export class RecordReader {
  #buffer = Buffer.allocUnsafeSlow(64 << 10);

  /** "corrupt" where the file is not what was written. Errors: those of the file system. */
  read(key: Key, path: string): Uint8Array | "corrupt" {
    const from = keyTextBytes - headerBytes;
    const file = openSync(path, "r");
    let end = from;
    try {
      for (;;) {
        const got = readSync(file, this.#buffer, end, this.#buffer.length - end, null);
        end += got;
        // A short read of a file is its end; a full buffer may not be.
        if (end < this.#buffer.length) break;
        const larger = Buffer.allocUnsafeSlow(this.#buffer.length * 4);
        this.#buffer.copy(larger);
        this.#buffer = larger;
      }
    } finally {
      closeSync(file);
    }
    return openKeyed(key, this.#buffer.subarray(0, end)) ?? "corrupt";
  }
}
