import { hash } from "node:crypto";
import type { Identity, Key } from "../cache/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";

/** Of what explains misses over builds: stays as long as the same input means the same. */
const format = "kiln key 1";
const recordFormat = "kiln record 2";

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

/** What a compile depends on beside its text and includes; all of it stands here, or the compiler complains. */
type Settings = {
  readonly [K in keyof Omit<
    Required<CompileRequest>,
    "language" | "source" | "spirv" | "includes" | "filename" | "linked"
  >]: CompileRequest[K];
} & { readonly linked?: object };

/** All of the other stage, with every include that it was given. */
function linkedOf(linked: CompileRequest) {
  const { language, includes } = linked;
  return { ...settingsOf(linked), language, includes, text: sha256(linked.spirv ?? linked.source ?? "") };
}

function settingsOf(request: CompileRequest): Settings {
  const { specialization, linked } = request;
  return {
    ...(linked !== undefined && { linked: linkedOf(linked) }),
    stage: request.stage,
    entryPoint: request.entryPoint,
    defines: request.defines,
    specialization: specialization.length < 2 ? specialization : [...specialization].sort((a, b) => a.id - b.id),
    target: request.target,
    targetEnv: request.targetEnv,
    robustness: request.robustness,
    pipeline: request.pipeline,
    options: request.options,
  };
}

/** The record's key at once, for every hit; what explains a miss when it is asked for. */
class RequestIdentity implements Identity {
  readonly key: Key;
  readonly buildId: string;
  readonly #keys: RequestKeys;
  readonly #included: readonly string[];

  constructor(keys: RequestKeys, buildId: string, key: Key, included: readonly string[]) {
    this.#keys = keys;
    this.buildId = buildId;
    this.key = key;
    this.#included = included;
  }

  get inputKey(): Key {
    return sha256("includes", this.#keys.bareKey, ...this.#included);
  }

  get sourceKey(): Key {
    return this.#keys.sourceKey;
  }
}

const noIncludes = ["0"];

/** The hashes of one request. */
export class RequestKeys {
  readonly #request: CompileRequest;
  readonly #buildId: string;
  readonly #settings: string;
  /** Names the whole request, every include counted: two requests with the same one can share a compile. */
  readonly flightKey: Key;
  readonly #whole: Identity;

  constructor(request: CompileRequest, buildId: string, texts = new CanonicalTexts()) {
    this.#request = request;
    this.#buildId = buildId;
    this.#settings = texts.of(settingsOf(request));
    this.#whole = this.#identity(includeNames(request.includes));
    this.flightKey = this.#whole.key;
  }

  get #text(): string | Uint8Array {
    return this.#request.spirv ?? this.#request.source ?? "";
  }

  /** Names the text alone. */
  get sourceKey(): Key {
    return sha256("source", this.#request.language, this.#text);
  }

  /** Names everything but includes and build. */
  get bareKey(): Key {
    return sha256("input", format, this.sourceKey, this.#settings);
  }

  /** True when the record's key depends on which includes a compile reads. */
  get hasIncludes(): boolean {
    for (const _ in this.#request.includes) return true;
    return false;
  }

  /** Under this key the cache keeps which files were read, for each way that was seen. */
  get manifestKey(): Key {
    return sha256("manifest", this.bareKey, this.#buildId);
  }

  /** The identity of the record, given which include files the compile read. */
  identity(filesRead: readonly string[]): Identity {
    if (filesRead.length === 0 && !this.hasIncludes) return this.#whole;
    return this.#identity([...new Set(filesRead)].sort());
  }

  #identity(read: readonly string[]): Identity {
    const included = read.length === 0 ? noIncludes : this.#included(read);
    const key = sha256(
      "record",
      recordFormat,
      this.#buildId,
      this.#request.language,
      this.#settings,
      this.#text,
      ...included,
    );
    return new RequestIdentity(this, this.#buildId, key, included);
  }

  /** What the hash takes of the includes that were read. */
  #included(read: readonly string[]): readonly string[] {
    const { includes } = this.#request;
    // A file that was not read may still decide which one is: `a.h` in a nearer folder. Such names share the last part.
    const names = new Set(read.map(baseName));
    const rivals = includeNames(includes).filter((name) => names.has(baseName(name)));
    return [String(read.length), ...read.flatMap((name) => [name, includes[name] ?? ""]), ...rivals];
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
