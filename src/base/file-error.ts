const words: Readonly<Record<string, string>> = {
  EACCES: "no permission",
  EEXIST: "something else has this name",
  EINVAL: "not a path that the file system takes",
  EISDIR: "is a folder",
  ELOOP: "symbolic links in a circle",
  EMFILE: "too many open files",
  ENAMETOOLONG: "the name is too long",
  ENOENT: "no such file or folder",
  ENOSPC: "no space left",
  ENOTDIR: "a part of the path is no folder",
  ENXIO: "no such device",
  EPERM: "not permitted",
  EROFS: "the file system is read-only",
};

/** Whether an error is the operating system's answer to a call on a file, and so no mistake of the program. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && "syscall" in error;
}

/** Why a file could not be read or written, in words and without its path: `no such file or folder`. */
export function fileProblem(error: unknown): string {
  if (isFileError(error)) return words[error.code ?? ""] ?? error.message;
  return error instanceof Error ? error.message : String(error);
}
