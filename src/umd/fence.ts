import type { QueueName } from "./encode.ts";
import { valid } from "./errors.ts";
import { Lifetime } from "./lifetime.ts";
import type { DeviceOwner } from "./owner.ts";
import type { Semaphore, SemaphorePoint } from "./semaphore.ts";
import type { ApiLayer } from "./validate/index.ts";

/** What a fence needs of its device. */
export interface FenceOwner extends DeviceOwner {
  readonly layer: ApiLayer | undefined;
  waitFence(value: bigint, timeoutMs: number | undefined, queue: QueueName): Promise<"SUCCESS" | "TIMEOUT">;
  waitSemaphores(
    points: readonly SemaphorePoint[],
    options: { readonly timeoutMs?: number },
  ): Promise<"SUCCESS" | "TIMEOUT">;
}

/** A submission's completion: what `submit` answers, or an object of its own that is given to one submission at a time. */
export class Fence {
  readonly #owner: FenceOwner;
  readonly #semaphore: Semaphore | undefined;
  readonly #life: Lifetime | undefined;
  #submission: { readonly queue: QueueName; readonly value: bigint; readonly place: string } | undefined;

  private constructor(owner: FenceOwner, semaphore: Semaphore | undefined) {
    this.#owner = owner;
    this.#semaphore = semaphore;
    if (semaphore !== undefined) this.#life = new Lifetime("a fence", owner.layer, this);
  }

  /** Of a submission that was made. */
  static of(owner: FenceOwner, queue: QueueName, value: bigint): Fence {
    const fence = new Fence(owner, undefined);
    fence.#submission = { queue, value, place: "" };
    return fence;
  }

  /** Waits for a submission to come; `semaphore` is a binary one of its own. */
  static create(owner: FenceOwner, semaphore: Semaphore): Fence {
    return new Fence(owner, semaphore);
  }

  /** Its device. */
  get owner(): DeviceOwner {
    return this.#owner;
  }

  /** The kernel's number of the submission. */
  get value(): bigint {
    return this.#submission?.value ?? 0n;
  }

  /** What a submission signals for it. VALIDATION where it belongs to a submission already. */
  submitted(): readonly SemaphorePoint[] {
    this.#life?.use();
    if (this.#semaphore === undefined) return [];
    valid(
      this.#submission === undefined,
      `fence is a submission's already${this.#submission?.place ?? ""}: reset it first`,
    );
    return [{ semaphore: this.#semaphore }];
  }

  attach(queue: QueueName, value: bigint): void {
    const { layer } = this.#owner;
    this.#submission = { queue, value, place: layer === undefined ? "" : `, made at ${layer.place()}` };
  }

  /** Waits at most `timeoutMs` (for ever where absent), also for the submission to come. Throws DEVICE_LOST. */
  wait(timeoutMs?: number): Promise<"SUCCESS" | "TIMEOUT"> {
    this.#life?.use();
    if (this.#submission !== undefined) {
      return this.#owner.waitFence(this.#submission.value, timeoutMs, this.#submission.queue);
    }
    const semaphore = this.#semaphore as Semaphore;
    if (semaphore.submitted() === 0n) this.#owner.layer?.unsubmitted();
    return this.#owner.waitSemaphores([{ semaphore }], timeoutMs === undefined ? {} : { timeoutMs });
  }

  /** Ready for another submission. VALIDATION while one is pending. */
  reset(): void {
    this.#life?.use();
    valid(this.#semaphore !== undefined, "reset of the fence that submit answered");
    if (this.#submission !== undefined) {
      valid(this.#semaphore?.value() === 1n, `reset of a fence whose submission is pending${this.#submission.place}`);
    }
    this.#semaphore?.reset();
    this.#submission = undefined;
  }

  destroy(): void {
    valid(this.#semaphore !== undefined, "destroy of the fence that submit answered");
    this.#life?.end(this);
    this.#semaphore?.destroy();
  }
}
