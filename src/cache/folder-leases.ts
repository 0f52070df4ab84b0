import { randomUUID } from "node:crypto";
import { readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "./disk-folder.ts";
import { freeLease, heartbeat, type Lease, type Leases, leaseMs } from "./lease.ts";
import type { Key } from "./tier.ts";

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** Leases of the processes on one cache folder: a file a key, whose time says when the holder last lived. */
export class FolderLeases implements Leases {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = join(folder, "v1", "leases");
  }

  async acquire(key: Key): Promise<Lease | undefined> {
    const path = join(this.#folder, key);
    const token = randomUUID();
    try {
      await writeFile(path, token, { flag: "wx" });
      return this.#held(path, token);
    } catch (error) {
      const code = codeOf(error);
      if (code === "ENOENT") return this.#withoutFolder(key);
      // Full or read-only: nobody can tell the others, so each goes on alone.
      if (code !== "EEXIST") return freeLease;
    }
    await this.#dropStale(path);
    return undefined;
  }

  async #withoutFolder(key: Key): Promise<Lease | undefined> {
    try {
      makeFolder(this.#folder);
    } catch {
      return freeLease;
    }
    return this.acquire(key);
  }

  /** Takes a dead holder's file away. Renamed first, so that of several that see it stale one takes it. */
  async #dropStale(path: string): Promise<void> {
    try {
      const { mtimeMs } = await stat(path);
      // A clock that jumped shows as a time far off in either direction.
      if (Math.abs(Date.now() - mtimeMs) <= leaseMs) return;
      const aside = `${path}.${randomUUID().slice(0, 8)}`;
      await rename(path, aside);
      await rm(aside, { force: true });
    } catch {
      // Released or taken meanwhile.
    }
  }

  #held(path: string, token: string): Lease {
    const beat = heartbeat(async () => {
      const now = new Date();
      await utimes(path, now, now).catch(() => beat.stop());
    });
    return {
      release: async () => {
        beat.stop();
        try {
          if ((await readFile(path, "utf8")) === token) await rm(path, { force: true });
        } catch {
          // Another took it for stale: it is not ours to remove.
        }
      },
    };
  }
}
