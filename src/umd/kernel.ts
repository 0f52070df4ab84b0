import {
  ContextState,
  decodeIoctl,
  Errno,
  encodeIoctl,
  errnoName,
  type IoctlInput,
  type IoctlName,
  type IoctlOutput,
  ioctlRows,
  type KernelPort,
  type SharedSyncobj,
} from "../uapi/index.ts";
import { DriverError, type DriverResult, valid } from "./errors.ts";

/** How often a blocking submission looks for its end. */
const BLOCKING_POLL_MS = 0.2;

const results: Readonly<Record<number, DriverResult>> = {
  [Errno.ENOMEM]: "OUT_OF_DEVICE_MEMORY",
  [Errno.ENOSPC]: "TOO_MANY_OBJECTS",
  [Errno.ECANCELED]: "DEVICE_LOST",
  [Errno.ENODEV]: "DEVICE_LOST",
};

/** A negative errno as the driver's error. */
export function kernelError(errno: number, what: string): DriverError {
  return new DriverError(results[errno] ?? "UNKNOWN", `${what}: ${errnoName(errno) ?? errno}`);
}

/** The kernel's file of one device, with typed ioctls that throw. */
export class KernelFile {
  readonly fd: number;
  /** Ioctls and CPU mappings so far. */
  ioctls = 0;
  mmaps = 0;
  readonly #port: KernelPort;
  readonly #processName: string;
  #closed: string | undefined;

  constructor(port: KernelPort, processName: string) {
    this.#port = port;
    this.#processName = processName;
    this.fd = port.open(processName);
    if (this.fd < 0) throw kernelError(this.fd, "open");
  }

  /** How messages call the device. */
  get name(): string {
    return `device "${this.#processName}" (file ${this.fd})`;
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** VALIDATION after the device's end. */
  #open(): void {
    valid(this.#closed === undefined, `use of ${this.name} that was destroyed${this.#closed}`);
  }

  /** A wait's answer: that of a file that was closed meanwhile is an error with a reason. */
  async #answer(result: Promise<number>): Promise<number> {
    const number = await result;
    if (number === Errno.EBADF || number === Errno.ECANCELED) this.#open();
    return number;
  }

  /** Result number and outputs, without judging them. */
  try<N extends IoctlName>(
    name: N,
    input: Partial<IoctlInput<N>>,
    list: readonly number[] = [],
  ): { readonly result: number; readonly out: IoctlOutput<N> } {
    this.#open();
    const arg = encodeIoctl(name, input, list);
    this.ioctls++;
    const result = this.#port.ioctl(this.fd, ioctlRows[name].number, arg);
    return { result, out: decodeIoctl(name, arg) };
  }

  call<N extends IoctlName>(name: N, input: Partial<IoctlInput<N>>, list: readonly number[] = []): IoctlOutput<N> {
    const { result, out } = this.try(name, input, list);
    if (result < 0) throw kernelError(result, name);
    return out;
  }

  /** Waits for a fence without the event loop: every other callback of the program waits as well. */
  block(context: number, fence: bigint): void {
    const sleep = new Int32Array(new SharedArrayBuffer(4));
    for (;;) {
      this.#port.poll();
      const { lastFence, state } = this.call("CTX_QUERY", { context });
      if (lastFence >= fence || state !== ContextState.GOOD) return;
      Atomics.wait(sleep, 0, 0, BLOCKING_POLL_MS);
    }
  }

  wait(context: number, fence: bigint, timeoutMs: number): Promise<number> {
    this.#open();
    const arg = encodeIoctl("WAIT_FENCE", { context, fence, timeoutMs });
    return this.#answer(this.#port.ioctlWait(this.fd, ioctlRows.WAIT_FENCE.number, arg));
  }

  /** SYNCOBJ_WAIT over a list of points: 0, -ETIME, or another errno. */
  waitPoints(words: readonly number[], flags: number, timeoutMs: number): Promise<number> {
    this.#open();
    const arg = encodeIoctl("SYNCOBJ_WAIT", { flags, timeoutMs }, words);
    return this.#answer(this.#port.ioctlWait(this.fd, ioctlRows.SYNCOBJ_WAIT.number, arg));
  }

  exportSyncobj(handle: number): SharedSyncobj {
    this.#open();
    const shared = this.#port.exportSyncobj(this.fd, handle);
    if (typeof shared === "number") throw kernelError(shared, "export of a sync object");
    return shared;
  }

  importSyncobj(shared: SharedSyncobj): number {
    this.#open();
    const handle = this.#port.importSyncobj(this.fd, shared);
    if (handle < 0) throw kernelError(handle, "import of a sync object");
    return handle;
  }

  mmap(handle: number, sizeBytes: number): Uint8Array {
    this.mmaps++;
    const { offset } = this.call("GEM_MMAP", { handle });
    const view = this.#port.mmap(this.fd, offset, sizeBytes);
    if (typeof view === "number") throw new DriverError("MEMORY_MAP_FAILED", `mmap: ${errnoName(view) ?? view}`);
    return view;
  }

  munmap(handle: number): void {
    const { offset } = this.call("GEM_MMAP", { handle });
    const result = this.#port.munmap(this.fd, offset);
    if (result < 0) throw kernelError(result, "munmap");
  }

  /** `place`: where, for messages of uses after it (" at file:line:column", or nothing). */
  close(place: string): void {
    this.#open();
    const result = this.#port.close(this.fd);
    if (result < 0) throw kernelError(result, "close");
    this.#closed = place;
  }
}
