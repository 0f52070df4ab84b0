import type { FastifyReply, FastifyRequest } from "fastify";
import { httpError } from "./codes.ts";

const windowMs = 60_000;
/** A request weighs one, and one more for each of these bytes. */
const bytesPerWeight = 16 << 10;
const maxCallers = 10_000;

interface Bucket {
  left: number;
  at: number;
}

/** Weights that flow back evenly: a caller may send its minute's worth at once, and then what has come back. */
class RateLimit {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Seconds to wait; 0 where the weight was taken. A weight above the whole limit is judged as the limit. */
  take(caller: string, weight: number): number {
    const now = this.#now();
    const bucket = this.#buckets.get(caller) ?? { left: this.#perMinute, at: now };
    const left = Math.min(this.#perMinute, bucket.left + ((now - bucket.at) * this.#perMinute) / windowMs);
    const cost = Math.min(weight, this.#perMinute);
    const ok = left >= cost;
    this.#buckets.delete(caller);
    this.#buckets.set(caller, { left: ok ? left - cost : left, at: now });
    if (this.#buckets.size > maxCallers) {
      for (const oldest of this.#buckets.keys()) {
        this.#buckets.delete(oldest);
        break;
      }
    }
    return ok ? 0 : Math.ceil((((cost - left) / this.#perMinute) * windowMs) / 1000);
  }
}

/** The hook that limits what a caller sends: by its API key where keys are on, else by address. */
export function limitRate(perMinute: number) {
  const limit = new RateLimit(perMinute);
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    if (request.routeOptions.config?.role !== "write") {
      done();
      return;
    }
    const caller = request.headers.authorization ?? request.ip;
    const weight = 1 + Math.ceil(Number(request.headers["content-length"] ?? bytesPerWeight) / bytesPerWeight);
    const waitSeconds = limit.take(caller, weight);
    if (waitSeconds === 0) {
      done();
      return;
    }
    reply.header("retry-after", waitSeconds);
    throw httpError("RATE_LIMIT", { seconds: waitSeconds });
  };
}
