/** A lean HTTP client for benchmarks: prepared requests on plain sockets, so that the server's time is what is measured. */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";

export interface Loaded {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the server, user and system, a request; NaN off Linux. */
  readonly cpuUs: number;
}

export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

const sortedBy = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
export const median = (values: readonly number[]): number => percentile(sortedBy(values), 0.5);
export const rounded = (value: number, digits = 3): number => Number(value.toFixed(digits));

/** User and system time of a process so far, all threads; ms. */
export function cpuMsOf(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    // Fields 14 and 15 of proc(5), in ticks of 10 ms.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}

/** One kept-alive connection that posts JSON, one request at a time. */
export class Connection {
  readonly #socket: Socket;
  #onAnswer: (answer: Buffer) => void = () => {};
  #onError: (error: Error) => void = () => {};
  #parts: Buffer[] = [];
  #have = 0;
  #need = 0;
  #bodyAt = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (part) => this.#read(part as Buffer));
    socket.on("error", (error) => this.#onError(error));
    socket.on("close", () => this.#onError(new Error("the server closed the connection")));
  }

  static open(address: string): Promise<Connection> {
    const { hostname, port } = new URL(address);
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) }, () => resolve(new Connection(socket)));
      socket.once("error", reject);
    });
  }

  #read(part: Buffer): void {
    this.#parts.push(part);
    this.#have += part.length;
    if (this.#need === 0) {
      const all = this.#parts.length === 1 ? part : Buffer.concat(this.#parts);
      const end = all.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = all.toString("latin1", 0, end);
      const status = head.slice(9, 12);
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
      if (status !== "200" || length === undefined) {
        this.#onError(new Error(`answer ${head}`));
        return;
      }
      this.#bodyAt = end + 4;
      this.#need = this.#bodyAt + Number(length);
    }
    if (this.#have < this.#need) return;
    const answer = Buffer.concat(this.#parts).subarray(this.#bodyAt, this.#need);
    this.#parts = [];
    this.#have = 0;
    this.#need = 0;
    this.#onAnswer(answer);
  }

  /** Sends a prepared request; answers the body of a 200. Throws on anything else. */
  ask(prepared: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#onAnswer = resolve;
      this.#onError = reject;
      this.#socket.write(prepared);
    });
  }

  close(): void {
    this.#onError = () => {};
    this.#socket.destroy();
  }
}

export function prepared(address: string, body: string, path = "/compile"): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nhost: ${new URL(address).host}\r\nconnection: keep-alive\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  return Buffer.from(`${head}\r\n\r\n${body}`);
}

/** Requests a second and latency of `connections` clients that ask without pause, after a second of warming. */
export async function load(
  address: string,
  pid: number | undefined,
  body: string,
  connections: number,
  seconds: number,
): Promise<Loaded> {
  const request = prepared(address, body);
  const lanes = await Promise.all(Array.from({ length: connections }, () => Connection.open(address)));
  const run = (ms: number, kept: number[]) => {
    const until = performance.now() + ms;
    return Promise.all(
      lanes.map(async (lane) => {
        for (let from = performance.now(); from < until; ) {
          await lane.ask(request);
          const now = performance.now();
          kept.push(now - from);
          from = now;
        }
      }),
    );
  };
  await run(1000, []);
  const times: number[] = [];
  const [cpu, from] = [cpuMsOf(pid), performance.now()];
  await run(seconds * 1000, times);
  const took = (performance.now() - from) / 1000;
  const cpuUs = ((cpuMsOf(pid) - cpu) * 1000) / times.length;
  for (const lane of lanes) lane.close();
  times.sort((a, b) => a - b);
  return { perSecond: times.length / took, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99), cpuUs };
}
