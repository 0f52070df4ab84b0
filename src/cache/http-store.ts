import { createHash } from "node:crypto";
import type { SharedStore } from "./shared-store.ts";
import type { Key } from "./tier.ts";

const gone = "deleted";

/**
 * The plain HTTP form of bazel-remote: `/ac/<key>` holds the SHA-256 of the record as text, `/cas/<hash>` the record,
 * whose hash the server enforces. It knows no leases and no deletes: a deleted key names no hash, and `clear` is refused.
 */
export class HttpStore implements SharedStore {
  readonly #base: string;
  readonly #headers: Record<string, string> = {};
  readonly #timeoutMs: number;

  /** `url` may carry a user and a password. */
  constructor(url: string, timeoutMs: number) {
    const { username, password, origin, pathname } = new URL(url);
    this.#base = `${origin}${pathname.replace(/\/+$/, "")}`;
    this.#timeoutMs = timeoutMs;
    if (username !== "") {
      const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
      this.#headers.authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
    }
  }

  async #ask(method: "GET" | "PUT", path: string, body?: Uint8Array): Promise<Buffer | undefined> {
    const response = await fetch(`${this.#base}${path}`, {
      method,
      headers: this.#headers,
      signal: AbortSignal.timeout(this.#timeoutMs),
      ...(body && { body: new Uint8Array(body) }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.ok) return bytes;
    if (response.status === 404 && method === "GET") return undefined;
    throw new Error(`${method} ${path.slice(0, 5)}: status ${response.status}`);
  }

  async get(key: Key): Promise<Uint8Array | undefined> {
    const hash = (await this.#ask("GET", `/ac/${key}`))?.toString("latin1");
    return hash !== undefined && /^[0-9a-f]{64}$/.test(hash) ? this.#ask("GET", `/cas/${hash}`) : undefined;
  }

  async put(key: Key, bytes: Uint8Array): Promise<void> {
    const hash = createHash("sha256").update(bytes).digest("hex");
    await this.#ask("PUT", `/cas/${hash}`, bytes);
    await this.#ask("PUT", `/ac/${key}`, Buffer.from(hash));
  }

  async delete(key: Key): Promise<boolean> {
    const had = /^[0-9a-f]{64}$/.test((await this.#ask("GET", `/ac/${key}`))?.toString("latin1") ?? "");
    if (had) await this.#ask("PUT", `/ac/${key}`, Buffer.from(gone));
    return had;
  }

  async clear(): Promise<number> {
    throw new Error("this store cannot be emptied over HTTP");
  }

  async size() {
    const status = JSON.parse((await this.#ask("GET", "/status"))?.toString("utf8") ?? "{}") as Record<string, unknown>;
    const field = (name: string) => (typeof status[name] === "number" ? (status[name] as number) : 0);
    return { entries: field("NumFiles"), bytes: field("CurrSize"), capacityBytes: field("MaxSize") };
  }

  async close(): Promise<void> {}
}
