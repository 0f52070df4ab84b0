/**
 * A sync object outside any file, as a file descriptor would carry it: who holds it may import it, in any process of any
 * machine in this program. Opaque: only kernels look inside.
 */
export interface SharedSyncobj {
  readonly kind: "syncobj";
  /** A timeline, else binary. */
  readonly timeline: boolean;
}

/** A BO outside any file, to be passed to another process of the same machine. Opaque: only its kernel looks inside. */
export interface SharedBo {
  readonly kind: "bo";
}

/** A block of a process's heap: its address as the process knows it, and its bytes. */
export interface HeapView {
  readonly address: bigint;
  readonly view: Uint8Array;
}

/** What a user-mode driver sees of the kernel: files, ioctls, CPU mappings. All numbers below 0 are `Errno`. */
export interface KernelPort {
  /** Opens the device for a new simulated process: its own handles and address space. A file descriptor or -errno. */
  open(processName: string): number;
  /** Closes a file: cancels its jobs, frees its BOs. 0 or -errno. */
  close(fd: number): number;
  /** 0 or -errno; fields of direction `out` are written into `arg`. Blocking rows answer -EINVAL here. */
  ioctl(fd: number, number: number, arg: DataView): number;
  /** Takes interrupts and timers that are due, for a caller that must not go back to its event loop. */
  poll(): void;
  /** The same for rows that may wait. */
  ioctlWait(fd: number, number: number, arg: DataView): Promise<number>;
  /** A live CPU view of a BO (`GEM_MMAP` answers the offset); it keeps the BO alive. -errno on a bad offset or size. */
  mmap(fd: number, offset: bigint, sizeBytes: number): Uint8Array | number;
  /** Ends one mmap of that offset. JavaScript can't revoke the view: the caller must drop it. 0 or -errno. */
  munmap(fd: number, offset: bigint): number;
  /** The sync object behind a handle, to be passed to another process. -errno where it is none. */
  exportSyncobj(fd: number, handle: number): SharedSyncobj | number;
  /** A new handle of this file for a passed object; -errno on what is none. */
  importSyncobj(fd: number, shared: SharedSyncobj): number;
  /** The BO behind a handle, to be passed to another process. -errno where it is none. */
  exportBo(fd: number, handle: number): SharedBo | number;
  /** The file's handle of a passed BO; -EINVAL on what is none, or is another machine's memory. */
  importBo(fd: number, shared: SharedBo): number;
  /** Memory of the process itself, as malloc gives it: system memory, zeroed, whole pages. -errno. */
  allocateHeap(fd: number, sizeBytes: number): HeapView | number;
  /** Frees a block; BOs over it (GEM_USERPTR) keep its memory. 0 or -errno. */
  freeHeap(fd: number, address: bigint): number;
}

/** What the kernel sees of the GPU: the shared memory and two wires. */
export interface GpuPort {
  /** All of physical memory; `PhysicalMap` and the control block say what lies where. */
  readonly memory: SharedArrayBuffer;
  /** Wakes the GPU after a change in the control block (the caller has already added 1 to `Control.DOORBELL`). */
  doorbell(): void;
  /** A turn of a GPU that has no thread of its own. */
  turn?(): void;
  /** Sets the one handler; called (once or more) after entries were put in the interrupt ring. */
  onInterrupt(handler: () => void): void;
  /** Stops the engine. The memory must not be used after it resolves. */
  close(): Promise<void>;
}
