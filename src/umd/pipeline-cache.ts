import { createHash } from "node:crypto";
import { type CompileRecord, type CompileRequest, decodeRecord, encodeRecord } from "../codeobj/index.ts";
import { API_VERSION, DRIVER_VERSION } from "./loader.ts";

/** Vulkan's header of cache data, version one: its length, version, vendor, device, then 16 bytes that name the driver. */
const HEADER_BYTES = 32;
const HEADER_VERSION = 1;
/** AMD, Navi 21. */
const VENDOR_ID = 0x1002;
const DEVICE_ID = 0x73bf;
const KEY_BYTES = 32;

const uuid = createHash("sha256").update(`kiln ${API_VERSION} ${DRIVER_VERSION}`).digest().subarray(0, 16);

/** The request as one text, fields in the order of their names. */
function canonical(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  const fields = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${fields
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => `${name}:${canonical(item)}`)
    .join(",")}}`;
}

/** Compiled shaders that an application keeps between runs. It does not know the compiler's build: that is its owner's to tell by `tag`. */
export class PipelineCache {
  readonly #tag: string;
  readonly #records = new Map<string, Uint8Array>();
  /** Why the initial data was not taken; undefined where it was, or there was none. */
  readonly rejected: string | undefined;
  hits = 0;
  misses = 0;

  constructor(initial: Uint8Array = new Uint8Array(), tag = "") {
    this.#tag = tag;
    this.rejected = initial.length === 0 ? undefined : this.#read(initial);
  }

  #read(bytes: Uint8Array): string | undefined {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < HEADER_BYTES) return `${bytes.length} bytes are no header`;
    const [length, version, vendor, device] = [0, 4, 8, 12].map((at) => view.getUint32(at, true));
    if (length !== HEADER_BYTES || version !== HEADER_VERSION) return `header of ${length} bytes, version ${version}`;
    if (vendor !== VENDOR_ID || device !== DEVICE_ID) return `made for vendor ${vendor}, device ${device}`;
    if (!uuid.equals(bytes.subarray(16, HEADER_BYTES))) return "made by another version of the driver";
    for (let at = HEADER_BYTES; at < bytes.length; ) {
      const head = at + KEY_BYTES + 4;
      const size = head <= bytes.length ? view.getUint32(at + KEY_BYTES, true) : 0;
      if (head > bytes.length || head + size > bytes.length) return "cut off in the middle of an entry";
      const record = bytes.slice(head, head + size);
      // An entry is checked as a whole when it is used.
      this.#records.set(Buffer.from(bytes.subarray(at, at + KEY_BYTES)).toString("hex"), record);
      at = head + size;
    }
    return undefined;
  }

  get size(): number {
    return this.#records.size;
  }

  keyOf(request: CompileRequest): string {
    return createHash("sha256").update(this.#tag).update("\0").update(canonical(request)).digest("hex");
  }

  /** Undefined on a miss; a damaged entry is one, and goes. */
  get(key: string): CompileRecord | undefined {
    const bytes = this.#records.get(key);
    const record = bytes === undefined ? undefined : decodeRecord(bytes);
    if (record === undefined) this.#records.delete(key);
    if (record === undefined) this.misses++;
    else this.hits++;
    return record;
  }

  put(key: string, record: CompileRecord): void {
    this.#records.set(key, encodeRecord(record));
  }

  /** Takes over what others have. */
  merge(others: readonly PipelineCache[]): void {
    for (const other of others) for (const [key, bytes] of other.#records) this.#records.set(key, bytes);
  }

  /** Header and entries, to be given to a cache of a later run. */
  data(): Uint8Array {
    const header = new Uint8Array(HEADER_BYTES);
    const view = new DataView(header.buffer);
    for (const [i, word] of [HEADER_BYTES, HEADER_VERSION, VENDOR_ID, DEVICE_ID].entries())
      view.setUint32(i * 4, word, true);
    header.set(uuid, 16);
    const entries = [...this.#records].flatMap(([key, bytes]) => {
      const size = new Uint8Array(4);
      new DataView(size.buffer).setUint32(0, bytes.length, true);
      return [Buffer.from(key, "hex"), size, bytes];
    });
    return new Uint8Array(Buffer.concat([header, ...entries]));
  }
}
