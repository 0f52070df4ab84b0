import { hash } from "node:crypto";
import type { Diagnostic, DiagnosticNote } from "../base/index.ts";
import type { CompileRecord, Stage } from "./compile-interface.ts";
import { readReflection, readStatistics, stages } from "./metadata.ts";
import { bytes, count, list, object, oneOf, optional, type Reader, text } from "./schema.ts";

/**
 * `KILR`, version u32, SHA-256 of what follows, length u32 of each part in the order of `parts`, the parts. A part is
 * text in UTF-8 that an answer takes as it is, so that a hit parses and writes no JSON; `elf` is bytes.
 */
const magic = 0x524c494b;
const version = 2;
const sumAt = 8;
const tableAt = sumAt + 32;
const parts = [
  "stage",
  "entryPoint",
  "codeSha256",
  "codeSizeBytes",
  "elf",
  "stats",
  "reflection",
  "layout",
  "vertexAttributes",
  "diagnostics",
  "sourceMap",
] as const;
type Part = (typeof parts)[number];
const partsAt = tableAt + parts.length * 4;
const partIndex = Object.fromEntries(parts.map((name, i) => [name, i])) as Readonly<Record<Part, number>>;

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

function checksum(payload: Uint8Array): Buffer {
  return hash("sha256", payload, "buffer");
}

/** The layout that a pipeline without one of its own gets, as an answer repeats it. */
function derivedLayout({ sets, pushConstantBytes }: CompileRecord["reflection"]) {
  const derived = sets.map(({ set, bindings }) => ({
    set,
    bindings: bindings.map(({ binding, type, count: length }) => ({ binding, type, count: length })),
  }));
  return { sets: derived, pushConstantBytes };
}

/** A record as the cache keeps it: versioned and checksummed; equal records give equal bytes. */
export function encodeRecord(record: CompileRecord): Uint8Array {
  return encodeRead(readRecord(record, "record"));
}

/** Of a record that came through its own schema, which drops what does not belong and fixes the key order. */
function encodeRead(record: CompileRecord): Uint8Array {
  const { elf, stage, entryPoint, stats, reflection, diagnostics, sourceMap } = record;
  const values: Readonly<Record<Part, string | Uint8Array>> = {
    stage,
    entryPoint,
    codeSha256: hash("sha256", elf),
    codeSizeBytes: String(stats.codeSizeBytes),
    elf,
    stats: JSON.stringify(stats),
    reflection: JSON.stringify(reflection),
    layout: JSON.stringify(derivedLayout(reflection)),
    vertexAttributes: JSON.stringify(reflection.interface?.vertexAttributes ?? []),
    diagnostics: JSON.stringify(diagnostics),
    sourceMap: JSON.stringify(sourceMap),
  };
  const contents = parts.map((name) => {
    const value = values[name];
    return typeof value === "string" ? Buffer.from(value) : value;
  });
  const out = Buffer.concat([Buffer.alloc(partsAt), ...contents]);
  out.writeUInt32LE(magic, 0);
  out.writeUInt32LE(version, 4);
  for (const [i, content] of contents.entries()) out.writeUInt32LE(content.byteLength, tableAt + i * 4);
  out.set(checksum(out.subarray(tableAt)), sumAt);
  // A view of its own: Node's pool of small buffers stays out of the cache.
  return new Uint8Array(out);
}

/**
 * A record whose parts are read when they are asked for. Its bytes come from where a checksum over all of them was just
 * compared (a cache tier), or from `encodeRecord`: what comes from elsewhere goes through `decodeRecord`.
 */
export class StoredRecord {
  readonly bytes: Uint8Array;
  readonly #buffer: Buffer;
  /** Where each part starts, and the end of the last. */
  readonly #starts: readonly number[];
  #record: CompileRecord | undefined;

  private constructor(stored: Uint8Array, buffer: Buffer, starts: readonly number[]) {
    this.bytes = stored;
    this.#buffer = buffer;
    this.#starts = starts;
  }

  /** Undefined where the bytes are no record of this version, or their lengths do not fit. */
  static open(stored: Uint8Array): StoredRecord | undefined {
    const buffer = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
    if (buffer.length < partsAt || buffer.readUInt32LE(0) !== magic || buffer.readUInt32LE(4) !== version)
      return undefined;
    const starts = [partsAt];
    let end = partsAt;
    for (let at = tableAt; at < partsAt; at += 4) {
      end += buffer.readUInt32LE(at);
      starts.push(end);
    }
    return end === buffer.length ? new StoredRecord(stored, buffer, starts) : undefined;
  }

  #start(part: Part): number {
    return this.#starts[partIndex[part]] as number;
  }

  #end(part: Part): number {
    return this.#starts[partIndex[part] + 1] as number;
  }

  /** A part's text: JSON of what is no plain word or number. */
  text(part: Exclude<Part, "elf">): string {
    return this.#buffer.toString("utf8", this.#start(part), this.#end(part));
  }

  get elf(): Uint8Array {
    return this.bytes.subarray(this.#start("elf"), this.#end("elf"));
  }

  /** The code object in base64. */
  codeBase64(): string {
    return this.#buffer.toString("base64", this.#start("elf"), this.#end("elf"));
  }

  /** Everything, read once. Throws where another build wrote another shape under this version. */
  get record(): CompileRecord {
    if (this.#record === undefined) {
      const json = (part: Exclude<Part, "elf">): unknown => JSON.parse(this.text(part));
      const whole = {
        elf: this.elf,
        stage: this.text("stage") as Stage,
        entryPoint: this.text("entryPoint"),
        diagnostics: json("diagnostics"),
        stats: json("stats"),
        reflection: json("reflection"),
        sourceMap: json("sourceMap"),
      };
      this.#record = readRecord(whole, "record");
    }
    return this.#record;
  }

  /** True where the record's own checksum holds, every part can be read, and those that repeat others agree with them. */
  isSound(): boolean {
    if (!checksum(this.#buffer.subarray(tableAt)).equals(this.#buffer.subarray(sumAt, tableAt))) return false;
    try {
      return Buffer.compare(encodeRead(this.record), this.bytes) === 0;
    } catch {
      // The checksum holds, so another build wrote another shape under this version: not ours to use.
      return false;
    }
  }
}

/** The record, or undefined where the bytes are of another version, damaged or cut: a corrupt entry is a miss. */
export function decodeRecord(stored: Uint8Array): CompileRecord | undefined {
  const opened = StoredRecord.open(stored);
  return opened?.isSound() === true ? opened.record : undefined;
}
