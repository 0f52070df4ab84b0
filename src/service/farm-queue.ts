import { createHash, createHmac } from "node:crypto";
import { createRequire } from "node:module";
import type * as BullMq from "bullmq";
import type { Redis } from "ioredis";
import type { Diagnostic } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import type { Elsewhere } from "./compile-service.ts";

/** A job has at least this many shaders; a smaller batch is compiled where it came in. */
export const shadersPerJob = 100;
/** Inputs of a batch that nobody fetched by then are dropped by the server that keeps them. */
const blobSeconds = 24 * 3600;

/** What a job's message carries: names of inputs, never the inputs. */
export interface FarmJobData {
  /** For each shader its place in the batch, and the name of its input. */
  readonly shaders: readonly (readonly [index: number, blob: string])[];
}

/** What became of one shader. The code itself stands in the shared cache, refusals under a blob's name. */
export type FarmOutcome =
  | ({ readonly index: number } & Elsewhere)
  | ({ readonly index: number; readonly refused: string } & Elsewhere)
  | { readonly index: number; readonly code: string; readonly message: string };

/** Progress of a job: what is new since it last told. */
export interface FarmProgress {
  readonly news: readonly FarmOutcome[];
}

export type FarmJob = BullMq.Job<FarmJobData, readonly FarmOutcome[]>;

/** Optional packages, by names that the bundler does not follow. */
const packageNames = ["bullmq", "ioredis"];

/** Why there can be no farm here; undefined where its packages are installed. Loads nothing. */
export function farmProblem(url: string): string | undefined {
  if (!/^rediss?:/i.test(url)) return "expected redis://…";
  const { resolve } = createRequire(import.meta.url);
  const missing = packageNames.filter((name) => {
    try {
      resolve(name);
      return false;
    } catch {
      return true;
    }
  });
  if (missing.length === 0) return undefined;
  return `a farm needs the package${missing.length > 1 ? "s" : ""} ${missing.join(" and ")}: npm install ${missing.join(" ")}`;
}

export async function loadFarmPackages(): Promise<{ bullmq: typeof BullMq; Client: typeof Redis }> {
  const [queueName = "", clientName = ""] = packageNames;
  const queue = (await import(queueName)) as { default?: typeof BullMq } & typeof BullMq;
  const { Redis: Client } = (await import(clientName)) as { Redis: typeof Redis };
  return { bullmq: queue.default ?? queue, Client };
}

/** Where a farm's jobs stand: a queue for each build, so that no worker of another build takes them. */
export const farmPlace = (buildId: string) => ({ name: `build-${buildId.slice(0, 16)}`, prefix: "kiln-farm" }) as const;

/** The batch whose blob has this name. */
export const batchOf = (name: string) => name.slice(0, name.indexOf(":"));

/**
 * Inputs and refusals in the queue's Redis, each named by its batch, which drops them at its end, and its content: "batch:hash".
 * With a secret the hashes are MACs: nobody else can make them.
 */
export class FarmBlobs {
  readonly #redis: Redis;
  readonly #secret: string | undefined;

  constructor(redis: Redis, secret: string | undefined) {
    this.#redis = redis;
    this.#secret = secret;
  }

  #hashOf(bytes: Buffer): string {
    const hash = this.#secret === undefined ? createHash("sha256") : createHmac("sha256", this.#secret);
    return hash.update(bytes).digest("hex");
  }

  async #put(batch: string, value: object): Promise<string> {
    const bytes = Buffer.from(JSON.stringify(value));
    const name = `${batch}:${this.#hashOf(bytes)}`;
    await this.#redis.set(`kiln:blob:${name}`, bytes, "EX", blobSeconds);
    return name;
  }

  /** Errors: a blob that is gone or is not what its name says. */
  #read(name: string, bytes: Buffer | null | undefined): unknown {
    if (bytes === null || bytes === undefined) throw new Error(`input ${name} is gone`);
    if (this.#hashOf(bytes) !== name.slice(batchOf(name).length + 1))
      throw new Error(`input ${name} is not what its name says`);
    return JSON.parse(bytes.toString("utf8"));
  }

  putRequest(batch: string, request: CompileRequest): Promise<string> {
    return this.#put(batch, asJson(request));
  }

  /** In the order of the names. Errors: a blob that is gone or is not what its name says; those of the connection. */
  async getRequests(names: readonly string[]): Promise<CompileRequest[]> {
    const blobs = await this.#redis.mgetBuffer(names.map((name) => `kiln:blob:${name}`));
    return names.map((name, i) => fromJson(this.#read(name, blobs[i]) as JsonRequest));
  }

  putRefusal(batch: string, diagnostics: readonly Diagnostic[]): Promise<string> {
    return this.#put(batch, { diagnostics });
  }

  async getRefusal(name: string): Promise<readonly Diagnostic[]> {
    const bytes = await this.#redis.getBuffer(`kiln:blob:${name}`);
    return (this.#read(name, bytes) as { diagnostics: readonly Diagnostic[] }).diagnostics;
  }

  async drop(names: readonly string[]): Promise<void> {
    for (let at = 0; at < names.length; at += 1000) {
      await this.#redis.unlink(names.slice(at, at + 1000).map((name) => `kiln:blob:${name}`));
    }
  }
}

/** A request whose words are base64. */
type JsonRequest = Omit<CompileRequest, "spirv" | "linked"> & {
  readonly spirv?: string;
  readonly linked?: JsonRequest;
};

function asJson({ spirv, linked, ...request }: CompileRequest): JsonRequest {
  return {
    ...request,
    ...(spirv && { spirv: Buffer.from(spirv).toString("base64") }),
    ...(linked && { linked: asJson(linked) }),
  };
}

function fromJson({ spirv, linked, ...request }: JsonRequest): CompileRequest {
  return {
    ...request,
    ...(spirv !== undefined && { spirv: new Uint8Array(Buffer.from(spirv, "base64")) }),
    ...(linked && { linked: fromJson(linked) }),
  };
}
