import type { IoctlName } from "./ioctl.ts";

/** A range that is or was mapped in a process; `flags` are `VaFlag` bits. */
export interface MappingRecord {
  readonly va: bigint;
  readonly sizeBytes: number;
  readonly flags: number;
  readonly handle: number;
  readonly boOffset: number;
  /** Set for ranges that were unmapped before the dump. */
  readonly unmapped: boolean;
}

/** Bytes of a process's memory, as the dump could read them. */
export interface MemoryRecord {
  readonly va: bigint;
  readonly bytes: Uint8Array;
}

/**
 * What the KMD records when it resets a queue: raw, without knowing what a shader is. `src/debug` decodes it.
 * Parts that could not be read are named in `missing`.
 */
export interface RawDump {
  /** The queue's fault slot, copied (`Fault` offsets). */
  readonly record: Uint8Array;
  readonly processName: string;
  readonly fd: number;
  readonly context: number;
  readonly fence: bigint;
  /** `fault`: the GPU halted itself; `timeout`: the watchdog halted it; `closed`: its process went away. */
  readonly reason: "fault" | "timeout" | "closed" | "wedged";
  readonly timeMs: number;
  readonly ibVa: bigint;
  readonly ib: Uint32Array;
  /** `QueueKind` of the queue: PM4 or SDMA packets. */
  readonly queueKind: number;
  /** The last dwords of the kernel ring before the write pointer. */
  readonly ring: Uint32Array;
  readonly mappings: readonly MappingRecord[];
  /** Code around the faulting instruction. */
  readonly code: MemoryRecord | undefined;
  /** Small BOs of the job's list in the 32-bit window: where descriptors and spilled push constants are. */
  readonly window: readonly MemoryRecord[];
  /** Entries of the page-table walk of the faulting address, level 3 first, as far as it goes. */
  readonly walk: readonly { readonly level: number; readonly entry: bigint }[];
  /** Handles of the job's BO list. */
  readonly boList: readonly number[];
  readonly missing: readonly string[];
}

/** One ioctl as a trace sees it: the block before the call and after it. */
export interface IoctlTrace {
  readonly fd: number;
  readonly processName: string;
  readonly number: number;
  readonly name: IoctlName | undefined;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  readonly result: number;
  readonly microseconds: number;
}
