import { existsSync, mkdirSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";

export const shardCount = 256;

export function shardName(shard: number): string {
  return shard.toString(16).padStart(2, "0");
}

/** Makes a folder and those above it. Node's own recursive form never returns where the file system answers ENOENT (/proc). */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") {
      // Fails with ENOTDIR where a file has the name.
      mkdirSync(join(path, "."), { recursive: true });
      return;
    }
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    mkdirSync(path);
  }
}

export function makeShards(root: string): void {
  for (let shard = 0; shard < shardCount; shard++) makeFolder(join(root, shardName(shard)));
}

/** A folder, or the disk under it, that takes no writes from this process; `code` is the system's. */
export class ReadOnlyFolder extends Error {
  override readonly name = "ReadOnlyFolder";
  readonly code: string;

  constructor(code: string) {
    super(`the cache folder cannot be written (${code})`);
    this.code = code;
  }
}

/** Whether this is how a system says that it takes no writes. */
export const isReadOnlyCode = (code: string | undefined): code is string =>
  code === "EROFS" || code === "EACCES" || code === "EPERM";

/** True when the file was there. Errors: `ReadOnlyFolder` for one that is there and stays. */
export function unlinkFile(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    if (!isReadOnlyCode(code)) throw error;
    // Such a disk says so of files that it does not have, too.
    if (existsSync(path)) throw new ReadOnlyFolder(code);
    return false;
  }
}

/** True when the file was there and is gone. A folder that is gone or cannot be written is no failure of the caller. */
export function unlinkQuietly(path: string): boolean {
  try {
    return unlinkFile(path);
  } catch (error) {
    if (error instanceof ReadOnlyFolder) return false;
    throw error;
  }
}
