import { type SharedSyncobj, SyncobjKind } from "../uapi/index.ts";
import { valid } from "./errors.ts";
import type { KernelFile } from "./kernel.ts";

/** Orders submissions: binary (one signal, one wait), or a timeline whose value only rises. A kernel sync object. */
export class Semaphore {
  readonly handle: number;
  readonly timeline: boolean;
  readonly #kernel: KernelFile;

  private constructor(kernel: KernelFile, handle: number, timeline: boolean) {
    this.#kernel = kernel;
    this.handle = handle;
    this.timeline = timeline;
  }

  static create(kernel: KernelFile, timeline: boolean, value: bigint): Semaphore {
    const kind = timeline ? SyncobjKind.TIMELINE : SyncobjKind.BINARY;
    return new Semaphore(kernel, kernel.call("SYNCOBJ_CREATE", { kind, value }).handle, timeline);
  }

  static import(kernel: KernelFile, shared: SharedSyncobj, timeline: boolean): Semaphore {
    return new Semaphore(kernel, kernel.importSyncobj(shared), timeline);
  }

  /** For another device, of this or another machine. */
  export(): SharedSyncobj {
    return this.#kernel.exportSyncobj(this.handle);
  }

  /** A timeline's value; 0 or 1 of a binary one. */
  value(): bigint {
    return this.#kernel.call("SYNCOBJ_QUERY", { handle: this.handle }).value;
  }

  /** The highest value that something submitted will signal. */
  submitted(): bigint {
    return this.#kernel.call("SYNCOBJ_QUERY", { handle: this.handle }).submitted;
  }

  /** Signals a timeline from the host. */
  signal(value: bigint): void {
    valid(this.timeline, "only timelines are signalled by the host");
    const now = this.value();
    valid(value > now, `signal of ${value}: the timeline is at ${now} already`);
    this.#kernel.call("SYNCOBJ_SIGNAL", { handle: this.handle, point: value });
  }

  /** A wait took a binary semaphore's signal. */
  consume(): void {
    if (!this.timeline) this.#kernel.call("SYNCOBJ_RESET", { handle: this.handle });
  }

  destroy(): void {
    this.#kernel.call("SYNCOBJ_DESTROY", { handle: this.handle });
  }
}

/** A semaphore and, of a timeline, the value to wait for or to signal. */
export interface SemaphorePoint {
  readonly semaphore: Semaphore;
  readonly value?: bigint;
}

/** The kernel's list of points: handle, low and high half. */
export function pointWords(points: readonly SemaphorePoint[]): number[] {
  return points.flatMap(({ semaphore, value = 0n }) => [
    semaphore.handle,
    Number(value & 0xffff_ffffn),
    Number(value >> 32n),
  ]);
}
