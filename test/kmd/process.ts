import {
  Domain,
  decodeIoctl,
  encodeIoctl,
  type IoctlInput,
  type IoctlName,
  type IoctlOutput,
  ioctlRows,
  type KernelPort,
  QueueKind,
  SyncobjKind,
  VaFlag,
} from "../../src/uapi/index.ts";

/** A test process: typed ioctls on one file. */
export class Process {
  readonly fd: number;
  readonly #kernel: KernelPort;

  constructor(kernel: KernelPort, name: string) {
    this.#kernel = kernel;
    this.fd = kernel.open(name);
  }

  call<N extends IoctlName>(name: N, input: Partial<IoctlInput<N>>, list: readonly number[] = []) {
    const arg = encodeIoctl(name, input, list);
    const result = this.#kernel.ioctl(this.fd, ioctlRows[name].number, arg);
    return { result, out: decodeIoctl(name, arg) as IoctlOutput<N> };
  }

  /** The same call again with a block that is there already. */
  raw(name: IoctlName, arg: DataView): number {
    return this.#kernel.ioctl(this.fd, ioctlRows[name].number, arg);
  }

  wait(context: number, fence: bigint, timeoutMs = 0xffff_ffff): Promise<number> {
    const arg = encodeIoctl("WAIT_FENCE", { context, fence, timeoutMs });
    return this.#kernel.ioctlWait(this.fd, ioctlRows.WAIT_FENCE.number, arg);
  }

  /** A mapped BO and its CPU view. */
  buffer(va: bigint, sizeBytes: number, flags = VaFlag.READ | VaFlag.WRITE, domain: number = Domain.VRAM) {
    const { handle } = this.call("GEM_CREATE", { size: BigInt(sizeBytes), domain }).out;
    const mapped = this.call("VA_MAP", { handle, flags, va, boOffset: 0n, size: BigInt(sizeBytes) }).result;
    if (mapped !== 0) throw new Error(`VA_MAP: ${mapped}`);
    const { offset } = this.call("GEM_MMAP", { handle }).out;
    const view = this.#kernel.mmap(this.fd, offset, sizeBytes);
    if (typeof view === "number") throw new Error(`mmap: ${view}`);
    return { handle, va, view, words: new Uint32Array(view.buffer, view.byteOffset, sizeBytes / 4) };
  }

  context(timeoutMs = 0, priority = 0): number {
    return this.call("CTX_CREATE", { priority, timeoutMs }).out.context;
  }

  /** Puts packets at the start of `ib` and submits them. */
  submit(
    context: number,
    ib: { handle: number; va: bigint; words: Uint32Array },
    packets: readonly number[],
    handles: readonly number[] = [],
  ) {
    ib.words.set(packets);
    const input = { context, queueKind: QueueKind.COMPUTE, ibVa: ib.va, ibDwords: packets.length };
    return this.call("SUBMIT", input, [ib.handle, ...handles]);
  }

  /** SUBMIT_SYNC of packets, with sync points (handle, point) to wait for and to signal. */
  submitSync(
    context: number,
    ib: { handle: number; va: bigint; words: Uint32Array },
    packets: readonly number[],
    waits: readonly Point[] = [],
    signals: readonly Point[] = [],
    handles: readonly number[] = [],
    queueKind: number = QueueKind.COMPUTE,
  ) {
    ib.words.set(packets);
    const list = [ib.handle, ...handles, ...waits.flatMap(pointWords), ...signals.flatMap(pointWords)];
    const counts = { boCount: 1 + handles.length, waitCount: waits.length, signalCount: signals.length };
    const input = { context, queueKind, ibVa: ib.va, ibDwords: packets.length, ...counts };
    return this.call("SUBMIT_SYNC", input, list);
  }

  syncobj(kind: number = SyncobjKind.BINARY, value = 0n): number {
    const { result, out } = this.call("SYNCOBJ_CREATE", { kind, value });
    if (result !== 0) throw new Error(`SYNCOBJ_CREATE: ${result}`);
    return out.handle;
  }

  waitPoints(points: readonly Point[], options: { flags?: number; timeoutMs?: number } = {}): Promise<number> {
    return this.waitWords(points.flatMap(pointWords), options);
  }

  waitWords(words: readonly number[], { flags = 1, timeoutMs = 0xffff_ffff } = {}): Promise<number> {
    const arg = encodeIoctl("SYNCOBJ_WAIT", { flags, timeoutMs }, words);
    return this.#kernel.ioctlWait(this.fd, ioctlRows.SYNCOBJ_WAIT.number, arg);
  }
}

/** Handle of a sync object, and the point of a timeline (0 of a binary one). */
type Point = readonly [handle: number, point: bigint];

function pointWords([handle, point]: Point): number[] {
  return [handle, Number(point & 0xffff_ffffn), Number(point >> 32n)];
}
