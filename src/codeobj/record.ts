import { hash } from "node:crypto";
import type { Diagnostic, DiagnosticNote } from "../base/index.ts";
import type { CompileRecord } from "./compile-interface.ts";
import { type Packable, packMessage, unpackMessage } from "./message-pack.ts";
import { readReflection, readStatistics, stages } from "./metadata.ts";
import { bytes, count, list, object, oneOf, optional, type Reader, text } from "./schema.ts";

/** `KILR`, version u32, SHA-256 of the payload, payload (MessagePack). */
const magic = 0x524c494b;
const version = 1;
const headerBytes = 8 + 32;

const span = { file: text, line: count, column: count, endLine: count, endColumn: count };
const readNote: Reader<DiagnosticNote> = object({ ...span, message: text });
const readDiagnostic: Reader<Diagnostic> = object({
  severity: oneOf(["error", "warning", "note"]),
  code: text,
  message: text,
  ...span,
  notes: optional(list(readNote)),
});

const readRecord: Reader<CompileRecord> = object({
  elf: bytes,
  stage: oneOf(stages),
  entryPoint: text,
  diagnostics: list(readDiagnostic),
  stats: readStatistics,
  reflection: readReflection,
  sourceMap: list(object({ offset: count, file: text, line: count, column: count })),
});

function checksum(payload: Uint8Array): Uint8Array {
  return hash("sha256", payload, "buffer");
}

/** A record as the cache keeps it: versioned and checksummed; equal records give equal bytes. */
export function encodeRecord(record: CompileRecord): Uint8Array {
  // Reading it through its own schema drops what does not belong and fixes the key order.
  const payload = packMessage(readRecord(record, "record") as unknown as Packable);
  const out = new Uint8Array(headerBytes + payload.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, magic, true);
  view.setUint32(4, version, true);
  out.set(checksum(payload), 8);
  out.set(payload, headerBytes);
  return out;
}

/** The record, or undefined where the bytes are of another version, damaged or cut: a corrupt entry is a miss. */
export function decodeRecord(stored: Uint8Array): CompileRecord | undefined {
  if (stored.length < headerBytes) return undefined;
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
  if (view.getUint32(0, true) !== magic || view.getUint32(4, true) !== version) return undefined;
  const payload = stored.subarray(headerBytes);
  const sum = checksum(payload);
  for (let i = 0; i < sum.length; i++) if (sum[i] !== stored[8 + i]) return undefined;
  try {
    return readRecord(unpackMessage(payload), "record");
  } catch {
    // The checksum holds, so another build wrote another shape under this version: not ours to use.
    return undefined;
  }
}
