import { Errno, QueueKind } from "../uapi/index.ts";
import type { CommandBuffer } from "./command-buffer.ts";
import type { QueueName } from "./encode.ts";
import { DriverError, valid } from "./errors.ts";
import type { Fence } from "./fence.ts";
import { type KernelFile, kernelError } from "./kernel.ts";
import { pointWords, type SemaphorePoint } from "./semaphore.ts";

/** What a submission waits for before its first command buffer, and signals after its last. */
export interface SubmitOptions {
  readonly queue?: QueueName;
  readonly wait?: readonly SemaphorePoint[];
  readonly signal?: readonly SemaphorePoint[];
  /** Is signalled when all is done. */
  readonly fence?: Fence;
}

const kinds: Readonly<Record<QueueName, number>> = { compute: QueueKind.COMPUTE, transfer: QueueKind.SDMA };

/** Says which timeline the kernel refused, where it is one that would not rise. */
function refuseBackwards(signal: readonly SemaphorePoint[]): void {
  for (const { semaphore, value = 0n } of signal) {
    if (semaphore.timeline) semaphore.refuseBackwards(value, semaphore.value());
  }
}

/** Most submissions of a device that may wait or run at once: the kernel's number. */
const maxPending = 1024;

/** Why the kernel refused a submission. */
function refusal(errno: number, queue: QueueName, { wait = [], signal = [] }: SubmitOptions): DriverError {
  if (errno === Errno.EINVAL) {
    refuseBackwards(signal);
    const at = wait.findIndex(({ semaphore }) => !semaphore.timeline && semaphore.submitted() === 0n);
    valid(at < 0, `wait ${at} of the submission is for a binary semaphore that nothing submitted will signal`);
  }
  if (errno === Errno.EBUSY) {
    const text = `submit to the ${queue} queue: ${maxPending} submissions of the device are pending, the most there may be; wait for one`;
    return new DriverError("TOO_MANY_OBJECTS", text);
  }
  return kernelError(errno, `submit to the ${queue} queue`);
}

/** A stream of submissions that run in order: a kernel context and an engine. */
export class DeviceQueue {
  readonly name: QueueName;
  readonly context: number;
  readonly #kernel: KernelFile;
  #last = 0n;
  #signalled = 0n;

  constructor(kernel: KernelFile, name: QueueName, timeoutMs: number) {
    this.#kernel = kernel;
    this.name = name;
    this.context = kernel.call("CTX_CREATE", { priority: 0, timeoutMs }).context;
  }

  get lastFence(): bigint {
    return this.#last;
  }

  get signalled(): bigint {
    return this.#signalled;
  }

  get idle(): boolean {
    return this.#signalled >= this.#last;
  }

  /** Queues one command buffer; `handles` are the BOs it reaches. An error is the caller's to judge. */
  submit(command: CommandBuffer, handles: readonly number[], options: SubmitOptions): DriverError | undefined {
    valid(command.queue === this.name, `command buffer of the ${command.queue} queue on the ${this.name} queue`);
    valid(command.level === "primary", "submit of a secondary command buffer");
    const { wait = [], signal = [] } = options;
    const { va, dwords } = command.submission();
    const input = { context: this.context, queueKind: kinds[this.name], ibVa: va, ibDwords: dwords };
    if (wait.length + signal.length === 0) {
      const { result, out } = this.#kernel.try("SUBMIT", input, handles);
      if (result < 0) return refusal(result, this.name, options);
      this.#last = out.fence;
      return undefined;
    }
    const counts = { boCount: handles.length, waitCount: wait.length, signalCount: signal.length };
    const list = [...handles, ...pointWords(wait), ...pointWords(signal)];
    const { result, out } = this.#kernel.try("SUBMIT_SYNC", { ...input, ...counts }, list);
    if (result < 0) return refusal(result, this.name, options);
    this.#last = out.fence;
    for (const { semaphore } of signal) if (semaphore.timeline) semaphore.promised();
    // A binary semaphore that the same submission signals again keeps its new fence.
    const again = new Set(signal.map(({ semaphore }) => semaphore));
    for (const { semaphore } of wait) if (!again.has(semaphore)) semaphore.consume();
    return undefined;
  }

  /** True: signalled; false: the time is over. */
  async wait(fence: bigint, timeoutMs: number): Promise<boolean | DriverError> {
    const result = await this.#kernel.wait(this.context, fence, timeoutMs);
    if (result === Errno.ETIME) return false;
    if (result < 0) return kernelError(result, `fence ${fence}`);
    if (fence > this.#signalled) this.#signalled = fence;
    return true;
  }

  /** Asks the kernel how far the queue has come; false where its context is lost. */
  refresh(): boolean {
    const { lastFence, state } = this.#kernel.call("CTX_QUERY", { context: this.context });
    this.#signalled = lastFence;
    return state === 0;
  }
}
