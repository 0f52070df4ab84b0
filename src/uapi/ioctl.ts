import type { ErrnoName } from "./errno.ts";

/** A field of an ioctl's struct: byte offset, little-endian type, and who writes it. */
export type IoctlField = readonly [name: string, offset: number, type: "u32" | "i32" | "u64", way: "in" | "out"];

export interface IoctlRow {
  readonly number: number;
  /** `w`: the caller writes the struct; `wr`: the KMD answers in it too. */
  readonly direction: "w" | "r" | "wr";
  readonly sizeBytes: number;
  readonly fields: readonly IoctlField[];
  /** A list of u32 after the struct; its length stands in the named field. */
  readonly tail?: readonly [name: string, countField: string];
  /** The call may wait: it goes through `ioctlWait`. */
  readonly blocking?: boolean;
  readonly errors: Readonly<Partial<Record<ErrnoName, string>>>;
  readonly about: string;
}

/** Flags of VA_MAP. PRT alone: a range of holes, for SPARSE_BIND. */
export const VaFlag = { READ: 1, WRITE: 2, EXECUTE: 4, PRT: 8 } as const;

/** CTX_QUERY states. */
export const ContextState = { GOOD: 0, GUILTY: 1, INNOCENT: 2 } as const;

/** SYNCOBJ_CREATE kinds: one fence at a time, or a counter that only goes up. */
export const SyncobjKind = { BINARY: 0, TIMELINE: 1 } as const;

/** Flags of SYNCOBJ_WAIT: all points, else any. */
export const SyncobjWait = { ALL: 1 } as const;

/** Words of one entry in lists of sync points: handle, point low half, point high half. */
export const SYNC_POINT_WORDS = 3;

/** The kernel's interface. Fields are little-endian at their offsets; other bytes are padding. */
export const ioctlRows = {
  QUERY_INFO: {
    number: 0x00,
    direction: "r",
    sizeBytes: 64,
    fields: [
      ["apiVersion", 0, "u32", "out"],
      ["pageBytes", 4, "u32", "out"],
      ["vramBytes", 8, "u64", "out"],
      ["vramFreeBytes", 16, "u64", "out"],
      ["gttBytes", 24, "u64", "out"],
      ["gttFreeBytes", 32, "u64", "out"],
      ["computeQueues", 40, "u32", "out"],
      ["maxIbDwords", 44, "u32", "out"],
      ["resets", 48, "u32", "out"],
      ["maxBoList", 52, "u32", "out"],
      ["transferQueues", 56, "u32", "out"],
    ],
    errors: {},
    about: "sizes and limits of the machine",
  },
  GEM_CREATE: {
    number: 0x01,
    direction: "wr",
    sizeBytes: 24,
    fields: [
      ["size", 0, "u64", "in"],
      ["domain", 8, "u32", "in"],
      ["handle", 12, "u32", "out"],
      ["flags", 16, "u32", "in"],
    ],
    errors: {
      EINVAL: "size 0, a domain that is no row, or flags set",
      ENOMEM: "the domain has no free range of that size",
      ENOSPC: "the file's handle table is full",
    },
    about: "reserves zeroed bytes, rounded up to pages, in a domain; answers a handle of this file",
  },
  GEM_CLOSE: {
    number: 0x02,
    direction: "w",
    sizeBytes: 8,
    fields: [["handle", 0, "u32", "in"]],
    errors: { ENOENT: "no such handle" },
    about: "drops the handle and its mappings; memory is freed when no submitted job lists it",
  },
  GEM_MMAP: {
    number: 0x03,
    direction: "wr",
    sizeBytes: 24,
    fields: [
      ["handle", 0, "u32", "in"],
      ["offset", 8, "u64", "out"],
      ["size", 16, "u64", "out"],
    ],
    errors: { ENOENT: "no such handle" },
    about: "answers the offset to give to mmap() for a CPU view of the whole BO",
  },
  VA_MAP: {
    number: 0x04,
    direction: "w",
    sizeBytes: 40,
    fields: [
      ["handle", 0, "u32", "in"],
      ["flags", 4, "u32", "in"],
      ["va", 8, "u64", "in"],
      ["boOffset", 16, "u64", "in"],
      ["size", 24, "u64", "in"],
    ],
    errors: {
      ENOENT: "no such handle",
      EINVAL:
        "not page aligned, size 0, range outside the BO or the address space, flags that are no row, or PRT with a handle",
      EEXIST: "overlaps a mapping",
      ENOMEM: "no memory for page tables",
    },
    about:
      "maps pages of a BO at a virtual address of this file's address space; with flag PRT and no handle, reserves holes: reads give 0, writes are dropped",
  },
  VA_UNMAP: {
    number: 0x05,
    direction: "w",
    sizeBytes: 16,
    fields: [
      ["va", 0, "u64", "in"],
      ["size", 8, "u64", "in"],
    ],
    errors: {
      EINVAL: "not page aligned or size 0",
      ENOENT: "the range is not exactly one mapping",
      EBUSY: "a job that lists the mapped BO has not ended",
    },
    about: "removes one mapping",
  },
  CTX_CREATE: {
    number: 0x06,
    direction: "wr",
    sizeBytes: 16,
    fields: [
      ["priority", 0, "i32", "in"],
      ["context", 4, "u32", "out"],
      ["timeoutMs", 8, "u32", "in"],
    ],
    errors: {
      EINVAL: "priority outside -1..2",
      EPERM: "priority 2, which only the machine's own services may have",
      ENOSPC: "the file's context table is full",
    },
    about: "a stream of jobs that run in order; timeoutMs 0 takes the watchdog's default",
  },
  CTX_DESTROY: {
    number: 0x07,
    direction: "w",
    sizeBytes: 8,
    fields: [["context", 0, "u32", "in"]],
    errors: { ENOENT: "no such context", EBUSY: "jobs of it have not ended, and it is not lost" },
    about: "drops a context",
  },
  CTX_QUERY: {
    number: 0x08,
    direction: "wr",
    sizeBytes: 24,
    fields: [
      ["context", 0, "u32", "in"],
      ["state", 4, "u32", "out"],
      ["lastFence", 8, "u64", "out"],
      ["faultKind", 16, "u32", "out"],
    ],
    errors: { ENOENT: "no such context" },
    about: "whether the context was lost, and its last signalled fence",
  },
  SUBMIT: {
    number: 0x09,
    direction: "wr",
    sizeBytes: 40,
    fields: [
      ["context", 0, "u32", "in"],
      ["queueKind", 4, "u32", "in"],
      ["ibVa", 8, "u64", "in"],
      ["ibDwords", 16, "u32", "in"],
      ["boCount", 20, "u32", "in"],
      ["fence", 24, "u64", "out"],
    ],
    tail: ["handles", "boCount"],
    errors: {
      ENOENT: "no such context, or a handle of the list that is none",
      EINVAL:
        "no such queue kind, IB address not 4-byte aligned (32-byte for SDMA), its length 0 or over the limit, or a BO of the list that is mapped nowhere",
      ENOMEM: "a BO of the list is not where it belongs, and there is no room for it",
      EPERM: "the IB does not lie in readable mappings of listed BOs",
      ECANCELED: "the context is lost",
      EBUSY: "too many jobs of this file wait",
    },
    about: "queues an indirect buffer; answers the context's fence number, counting from 1",
  },
  WAIT_FENCE: {
    number: 0x0a,
    direction: "w",
    sizeBytes: 24,
    fields: [
      ["context", 0, "u32", "in"],
      ["timeoutMs", 4, "u32", "in"],
      ["fence", 8, "u64", "in"],
    ],
    blocking: true,
    errors: {
      ENOENT: "no such context",
      EINVAL: "a fence that was never answered",
      ETIME: "not signalled within timeoutMs (0 polls, 0xffffffff waits for ever)",
      ECANCELED: "the context was lost before the fence signalled",
    },
    about: "waits until the fence has signalled",
  },
  SYNCOBJ_CREATE: {
    number: 0x0b,
    direction: "wr",
    sizeBytes: 24,
    fields: [
      ["kind", 0, "u32", "in"],
      ["handle", 4, "u32", "out"],
      ["value", 8, "u64", "in"],
    ],
    errors: {
      EINVAL: "no such kind, or a value other than 0 or 1 of a binary one",
      ENOSPC: "the file's table of sync objects is full",
    },
    about: "a sync object: binary (value 1: signalled) or a timeline that starts at value",
  },
  SYNCOBJ_DESTROY: {
    number: 0x0c,
    direction: "w",
    sizeBytes: 8,
    fields: [["handle", 0, "u32", "in"]],
    errors: { ENOENT: "no such sync object" },
    about: "drops the handle; jobs and other files that hold the object keep it",
  },
  SYNCOBJ_SIGNAL: {
    number: 0x0d,
    direction: "w",
    sizeBytes: 16,
    fields: [
      ["handle", 0, "u32", "in"],
      ["point", 8, "u64", "in"],
    ],
    errors: {
      ENOENT: "no such sync object",
      EINVAL: "a timeline's point that is not above its value",
    },
    about: "signals from the CPU; a binary one takes point 0",
  },
  SYNCOBJ_RESET: {
    number: 0x0e,
    direction: "w",
    sizeBytes: 8,
    fields: [["handle", 0, "u32", "in"]],
    errors: { ENOENT: "no such sync object", EINVAL: "a timeline" },
    about: "makes a binary sync object unsignalled, without a fence",
  },
  SYNCOBJ_QUERY: {
    number: 0x0f,
    direction: "wr",
    sizeBytes: 24,
    fields: [
      ["handle", 0, "u32", "in"],
      ["value", 8, "u64", "out"],
      ["submitted", 16, "u64", "out"],
    ],
    errors: { ENOENT: "no such sync object" },
    about: "a timeline's value and the highest point that a submitted job will signal; 0 or 1 of a binary one",
  },
  SYNCOBJ_WAIT: {
    number: 0x10,
    direction: "w",
    sizeBytes: 16,
    fields: [
      ["words", 0, "u32", "in"],
      ["flags", 4, "u32", "in"],
      ["timeoutMs", 8, "u32", "in"],
    ],
    tail: ["points", "words"],
    blocking: true,
    errors: {
      ENOENT: "no such sync object in the list",
      EINVAL: "no points, a list that is not whole entries, or flags that are no row",
      ETIME: "not signalled within timeoutMs (0 polls, 0xffffffff waits for ever)",
    },
    about: "waits for all or any of the points (handle, low, high); points nobody has submitted yet may be waited for",
  },
  SUBMIT_SYNC: {
    number: 0x11,
    direction: "wr",
    sizeBytes: 48,
    fields: [
      ["context", 0, "u32", "in"],
      ["queueKind", 4, "u32", "in"],
      ["ibVa", 8, "u64", "in"],
      ["ibDwords", 16, "u32", "in"],
      ["boCount", 20, "u32", "in"],
      ["waitCount", 24, "u32", "in"],
      ["signalCount", 28, "u32", "in"],
      ["fence", 32, "u64", "out"],
      ["words", 40, "u32", "in"],
    ],
    tail: ["list", "words"],
    errors: {
      ENOENT: "no such context, or a BO handle or sync object of the list that is none",
      ENOMEM: "a BO of the list is not where it belongs, and there is no room for it",
      EINVAL:
        "as SUBMIT; a list of another length than its counts say; a wait for a binary object without a fence; a timeline's signal point that is not above its value, or not above the one before in the list",
      EPERM: "the IB does not lie in readable mappings of listed BOs",
      ECANCELED: "the context is lost",
      EBUSY: "too many jobs of this file wait",
    },
    about:
      "SUBMIT whose list goes on behind the BO handles with sync points to wait for and to signal (handle, low, high); the job starts when all waits are over, and signals when it ends, also by a fault",
  },
  GEM_USERPTR: {
    number: 0x12,
    direction: "wr",
    sizeBytes: 24,
    fields: [
      ["address", 0, "u64", "in"],
      ["size", 8, "u64", "in"],
      ["handle", 16, "u32", "out"],
    ],
    errors: {
      EINVAL: "not page aligned, or size 0",
      EFAULT: "not within one block of the process's heap",
      ENOSPC: "the file's handle table is full",
    },
    about: "a BO over memory that the process has already: its heap. The memory stays where it is",
  },
  GEM_CLONE: {
    number: 0x13,
    direction: "wr",
    sizeBytes: 8,
    fields: [
      ["handle", 0, "u32", "in"],
      ["clone", 4, "u32", "out"],
    ],
    errors: {
      ENOENT: "no such handle",
      EBUSY: "a job that lists the BO has not ended",
      ENOMEM: "the BO has a CPU view, so it is copied at once, and the domain has no room",
      ENOSPC: "the file's handle table is full",
    },
    about:
      "a BO with the same contents. The memory is shared until one of them is listed by a job with a writable mapping of it, or mapped for the CPU; till then writes by a job that does not list it fault",
  },
  SPARSE_BIND: {
    number: 0x14,
    direction: "w",
    sizeBytes: 40,
    fields: [
      ["handle", 0, "u32", "in"],
      ["flags", 4, "u32", "in"],
      ["va", 8, "u64", "in"],
      ["boOffset", 16, "u64", "in"],
      ["size", 24, "u64", "in"],
    ],
    errors: {
      ENOENT: "no such handle, or the range is not within one reservation",
      EINVAL: "not page aligned, size 0, range outside the BO, or flags that are no row (none with handle 0)",
      EBUSY: "a job that lists a BO bound there has not ended",
    },
    about: "binds pages of a BO in part of a range of holes, or with handle 0 makes them holes again",
  },
  GEM_INFO: {
    number: 0x15,
    direction: "wr",
    sizeBytes: 32,
    fields: [
      ["handle", 0, "u32", "in"],
      ["domain", 4, "u32", "out"],
      ["size", 8, "u64", "out"],
      ["placement", 16, "u32", "out"],
      ["sharedBy", 20, "u32", "out"],
      ["holders", 24, "u32", "out"],
      ["mappings", 28, "u32", "out"],
    ],
    errors: { ENOENT: "no such handle" },
    about:
      "the domain that a BO wants and the one it is in (eviction moves it), how many clones share its memory, files that hold it, mappings of it",
  },
} as const satisfies Readonly<Record<string, IoctlRow>>;

export type IoctlName = keyof typeof ioctlRows;

/** Errors any ioctl may answer. */
export const commonErrors: Readonly<Partial<Record<ErrnoName, string>>> = {
  EBADF: "not an open file",
  ENOTTY: "no such ioctl",
  EFAULT: "the argument is shorter than the struct and its list",
  ENODEV: "the machine is closed",
};

const byNumber = new Map<number, readonly [IoctlName, IoctlRow]>(
  (Object.entries(ioctlRows) as [IoctlName, IoctlRow][]).map(([name, row]) => [row.number, [name, row]]),
);

/** The row of an ioctl number. */
export function ioctlByNumber(number: number): readonly [name: IoctlName, row: IoctlRow] | undefined {
  return byNumber.get(number);
}
