import { type SharedSyncobj, SyncobjKind } from "../uapi/index.ts";
import { DriverError, valid } from "./errors.ts";
import type { KernelFile } from "./kernel.ts";
import { Lifetime } from "./lifetime.ts";
import type { DeviceOwner } from "./owner.ts";
import type { ApiLayer } from "./validate/index.ts";

/** Timelines count in 64 bits. */
const maxValue = 2n ** 64n - 1n;

/** VALIDATION on what is no value of a timeline. */
function checkValue(value: unknown, what: string): void {
  const isValue = typeof value === "bigint" && value >= 0n && value <= maxValue;
  if (!isValue) throw new DriverError("VALIDATION", `${what} of ${String(value)}: no timeline has that value`);
}

export interface SemaphoreOptions {
  readonly timeline: boolean;
  readonly layer: ApiLayer | undefined;
  readonly owner: DeviceOwner;
  /** Part of another object, which is the one that may leak. */
  readonly hidden?: boolean;
}

/** Orders submissions: binary (one signal, one wait), or a timeline whose value only rises. A kernel sync object. */
export class Semaphore {
  readonly handle: number;
  readonly timeline: boolean;
  /** Its device. */
  readonly owner: DeviceOwner;
  readonly #kernel: KernelFile;
  readonly #layer: ApiLayer | undefined;
  readonly #life: Lifetime | undefined;
  /** Where a timeline was given its highest value. */
  #signalled = "";

  private constructor(kernel: KernelFile, handle: number, { timeline, layer, owner, hidden }: SemaphoreOptions) {
    this.owner = owner;
    this.#kernel = kernel;
    this.#layer = layer;
    this.handle = handle;
    this.timeline = timeline;
    if (hidden !== true) this.#life = new Lifetime("a semaphore", layer, this);
  }

  static create(kernel: KernelFile, options: SemaphoreOptions, value: bigint): Semaphore {
    checkValue(value, "semaphore with a value");
    const kind = options.timeline ? SyncobjKind.TIMELINE : SyncobjKind.BINARY;
    return new Semaphore(kernel, kernel.call("SYNCOBJ_CREATE", { kind, value }).handle, options);
  }

  static import(kernel: KernelFile, shared: SharedSyncobj, options: SemaphoreOptions): Semaphore {
    const [is, wanted] = [shared.timeline, options.timeline].map((timeline) => (timeline ? "timeline" : "binary"));
    valid(is === wanted, `import of a ${is} semaphore as a ${wanted} one`);
    return new Semaphore(kernel, kernel.importSyncobj(shared), options);
  }

  /** VALIDATION after its end. */
  use(): void {
    this.#life?.use();
  }

  /** For another device, of this or another machine. */
  export(): SharedSyncobj {
    this.use();
    return this.#kernel.exportSyncobj(this.handle);
  }

  /** A timeline's value; 0 or 1 of a binary one. */
  value(): bigint {
    this.use();
    return this.#kernel.call("SYNCOBJ_QUERY", { handle: this.handle }).value;
  }

  /** The highest value that something submitted will signal. After its end: all, for those who still look out for one. */
  submitted(): bigint {
    if (this.#life?.over === true) return maxValue;
    return this.#kernel.call("SYNCOBJ_QUERY", { handle: this.handle }).submitted;
  }

  /** Signals a timeline from the host. */
  signal(value: bigint): void {
    valid(this.timeline, "only timelines are signalled by the host");
    this.#life?.use();
    checkValue(value, "signal");
    this.refuseBackwards(value, this.value());
    this.#kernel.call("SYNCOBJ_SIGNAL", { handle: this.handle, point: value });
    this.promised();
  }

  /** VALIDATION where a timeline that is at `now` would not rise. */
  refuseBackwards(value: bigint, now: bigint): void {
    valid(value > now, `signal of ${value}: the timeline is at ${now} already${this.#signalled}`);
  }

  /** A signal was made or submitted here. */
  promised(): void {
    if (this.#layer !== undefined) this.#signalled = `, signalled at ${this.#layer.place()}`;
  }

  /** Makes a binary one unsignalled. */
  reset(): void {
    this.#kernel.call("SYNCOBJ_RESET", { handle: this.handle });
  }

  /** A wait took a binary semaphore's signal. */
  consume(): void {
    if (!this.timeline) this.reset();
  }

  destroy(): void {
    this.#life?.end(this);
    this.#kernel.call("SYNCOBJ_DESTROY", { handle: this.handle });
  }
}

/** A semaphore and, of a timeline, the value to wait for or to signal. */
export interface SemaphorePoint {
  readonly semaphore: Semaphore;
  readonly value?: bigint;
}

/** VALIDATION on points that no submission may wait for or signal. */
export function checkPoints(points: readonly SemaphorePoint[], what: "wait" | "signal"): void {
  for (const { semaphore, value = 0n } of points) {
    semaphore.use();
    if (semaphore.timeline) checkValue(value, what);
  }
}

/** The kernel's list of points: handle, low and high half. */
export function pointWords(points: readonly SemaphorePoint[]): number[] {
  return points.flatMap(({ semaphore, value = 0n }) => [
    semaphore.handle,
    Number(value & 0xffff_ffffn),
    Number(value >> 32n),
  ]);
}
