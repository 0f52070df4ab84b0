/** Errors across the ioctl boundary: Linux numbers, returned negated. 0 is success. Source: Linux uapi asm-generic/errno. */
export const Errno = {
  /** The process may not do that to this object. */
  EPERM: -1,
  /** No such object: BO handle, context, fence. */
  ENOENT: -2,
  /** Not an open file. */
  EBADF: -9,
  /** Memory or address space ran out. */
  ENOMEM: -12,
  /** The argument block is shorter than the ioctl's struct. */
  EFAULT: -14,
  /** The object is still in use. */
  EBUSY: -16,
  /** The range overlaps a mapping. */
  EEXIST: -17,
  /** A field has a value outside its row. */
  EINVAL: -22,
  /** No ioctl has that number. */
  ENOTTY: -25,
  /** The table of handles, contexts or files is full. */
  ENOSPC: -28,
  /** The wait ended before the fence signalled. */
  ETIME: -62,
  /** The context was lost: it, or the machine under it, was reset. */
  ECANCELED: -125,
  /** The machine is closed. */
  ENODEV: -19,
} as const;

export type ErrnoName = keyof typeof Errno;

/** `-12` → `ENOMEM`; undefined where the number is no row. */
export function errnoName(value: number): ErrnoName | undefined {
  for (const [name, number] of Object.entries(Errno)) if (number === value) return name as ErrnoName;
  return undefined;
}
