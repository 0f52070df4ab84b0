import { hash } from "node:crypto";
import type { Identity, Key } from "../cache/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";

const format = "kiln key 1";

function sha256(...parts: readonly (string | Uint8Array)[]): Key {
  // The length in front keeps two splits of the same bytes apart.
  let text = "";
  for (const part of parts) {
    if (typeof part !== "string") return sha256OfBytes(parts);
    text += `${Buffer.byteLength(part)}:${part}`;
  }
  return hash("sha256", text) as Key;
}

function sha256OfBytes(parts: readonly (string | Uint8Array)[]): Key {
  const framed = parts.map((part) => {
    if (typeof part === "string") return `${Buffer.byteLength(part)}:${part}`;
    return Buffer.concat([Buffer.from(`${part.byteLength}:`), part]);
  });
  return hash("sha256", Buffer.concat(framed.map((part) => Buffer.from(part)))) as Key;
}

/** JSON with sorted keys and without undefined fields: equal values give equal text. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** Canonical texts by plain ones: nearly all requests have one of a few sets of options. */
export class CanonicalTexts {
  readonly #texts = new Map<string, string>();

  of(value: object): string {
    const plain = JSON.stringify(value);
    const known = this.#texts.get(plain);
    if (known !== undefined) return known;
    const text = canonical(value);
    if (plain.length <= maxTextLength) {
      if (this.#texts.size >= maxTexts) this.#texts.clear();
      this.#texts.set(plain, text);
    }
    return text;
  }
}
const maxTexts = 256;
const maxTextLength = 2048;

const includeNames = (includes: CompileRequest["includes"]) => Object.keys(includes).sort();
const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1);

/** The hashes of one request that do not depend on which includes it reads. */
export class RequestKeys {
  readonly #request: CompileRequest;
  readonly #buildId: string;
  readonly #sourceKey: Key;
  readonly #bareKey: Key;
  /** Names the whole request, every include counted: two requests with the same one can share a compile. */
  readonly flightKey: Key;
  readonly #whole: Identity;

  constructor(request: CompileRequest, buildId: string, texts = new CanonicalTexts()) {
    const { source, spirv, includes, filename: _, specialization, ...rest } = request;
    this.#request = request;
    this.#buildId = buildId;
    this.#sourceKey = sha256("source", request.language, spirv ?? source ?? "");
    const ordered = [...specialization].sort((a, b) => a.id - b.id);
    this.#bareKey = sha256("input", format, this.#sourceKey, texts.of({ ...rest, specialization: ordered }));
    this.#whole = this.#identity(includeNames(includes));
    this.flightKey = this.#whole.key;
  }

  /** True when the record's key depends on which includes a compile reads. */
  get hasIncludes(): boolean {
    return includeNames(this.#request.includes).length > 0;
  }

  /** Under this key the cache keeps which files were read, for each way that was seen. */
  get manifestKey(): Key {
    return sha256("manifest", this.#bareKey, this.#buildId);
  }

  /** The identity of the record, given which include files the compile read. */
  identity(filesRead: readonly string[]): Identity {
    if (filesRead.length === 0 && !this.hasIncludes) return this.#whole;
    return this.#identity([...new Set(filesRead)].sort());
  }

  #identity(read: readonly string[]): Identity {
    const { includes } = this.#request;
    // A file that was not read may still decide which one is: `a.h` in a nearer folder. Such names share the last part.
    const names = new Set(read.map(baseName));
    const rivals = includeNames(includes).filter((name) => names.has(baseName(name)));
    const parts = read.flatMap((name) => [name, includes[name] ?? ""]);
    const inputKey = sha256("includes", this.#bareKey, String(read.length), ...parts, ...rivals);
    const { sourceKey, buildId } = { sourceKey: this.#sourceKey, buildId: this.#buildId };
    return { key: sha256("record", inputKey, buildId), inputKey, sourceKey, buildId };
  }
}

/** The ways a source was seen to read includes, newest first. */
export type Manifest = readonly (readonly string[])[];
const maxWays = 8;

export function readManifest(bytes: Uint8Array): Manifest {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return [];
  }
  const isWay = (way: unknown) => Array.isArray(way) && way.every((name) => typeof name === "string");
  return Array.isArray(parsed) && parsed.every(isWay) ? (parsed as Manifest) : [];
}

/** The manifest with `filesRead` in front. */
export function addWay(manifest: Manifest, filesRead: readonly string[]): Uint8Array {
  const way = [...new Set(filesRead)].sort();
  const others = manifest.filter((other) => canonical(other) !== canonical(way));
  return Buffer.from(JSON.stringify([way, ...others].slice(0, maxWays)));
}
