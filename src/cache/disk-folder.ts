import { mkdirSync, unlinkSync } from "node:fs";
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

/** True when the file was there. A folder that is gone or cannot be written is no failure of the caller. */
export function unlinkQuietly(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isExpected =
      code === "ENOENT" || code === "ENOTDIR" || code === "EROFS" || code === "EACCES" || code === "EPERM";
    if (isExpected) return false;
    throw error;
  }
}
