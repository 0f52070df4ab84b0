import { randomUUID } from "node:crypto";
import {
  closeSync,
  fstatSync,
  futimesSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { makeFolder } from "./disk-folder.ts";
import { freeLease, heartbeat, type Lease, type Leases, leaseMs } from "./lease.ts";
import type { Key } from "./tier.ts";

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;
/** What systems answer where a file cannot have a second name, or has too many. */
const noLinkCodes: readonly (string | undefined)[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"];
/** The holder's file is this fresh at least when it is lent to a lease. */
const freshMs = 500;

/** An empty file of this process, open: its inode says whose a lease is, its time when the process last lived. */
interface Holder {
  readonly path: string;
  readonly file: number;
  readonly inode: bigint;
  /** Leases that are names of it: the last closes it where it is no longer lent. */
  leases: number;
  isLent: boolean;
}

function closeUnused({ file, leases, isLent }: Holder): void {
  if (leases === 0 && !isLent) closeSync(file);
}

const inodeOf = (file: number) => fstatSync(file, { bigint: true }).ino;

/**
 * Leases of the processes on one cache folder: a file a key. It is another name of one file of the holder's, which takes a
 * tenth of the time of a new file, or less, and no space. Small operations: sooner done here than by way of a thread.
 */
export class FolderLeases implements Leases {
  readonly #folder: string;
  readonly #temporary: string;
  #holder: Holder | undefined;
  #livedAt = 0;
  #canLink = true;
  /** Files whose time is kept fresh: the holder's, once, and those of leases that are files of their own. */
  readonly #open = new Map<string, number>();
  #beat: { stop(): void } | undefined;

  constructor(folder: string) {
    this.#folder = join(folder, "v1", "leases");
    this.#temporary = join(folder, "v1", "tmp");
  }

  async acquire(key: Key): Promise<Lease | undefined> {
    const path = join(this.#folder, key);
    for (let tries = 0; tries < 3; tries++) {
      try {
        return this.#canLink ? this.#linked(path) : this.#made(path);
      } catch (error) {
        const code = codeOf(error);
        if (code === "EEXIST") {
          this.#dropStale(path);
          return undefined;
        }
        if (this.#canLink && noLinkCodes.includes(code)) this.#canLink = false;
        // The folder is not there yet, or somebody emptied it and the holder's file with it.
        else if (code !== "ENOENT" || !this.#makeFolders()) break;
      }
    }
    // Full or read-only: nobody can tell the others, so each goes on alone.
    return freeLease;
  }

  #makeFolders(): boolean {
    try {
      this.#dropHolder();
      makeFolder(this.#folder);
      makeFolder(this.#temporary);
      return true;
    } catch {
      return false;
    }
  }

  /** Errors: EEXIST where another holds it; those of the file system. */
  #linked(path: string): Lease {
    const holder = this.#freshHolder();
    linkSync(holder.path, path);
    holder.leases++;
    return this.#held(path, holder.file, holder.inode, () => {
      holder.leases--;
      closeUnused(holder);
    });
  }

  /** As `#linked`, by a file of its own. */
  #made(path: string): Lease {
    const file = openSync(path, "wx");
    return this.#held(path, file, inodeOf(file), () => closeSync(file));
  }

  #freshHolder(): Holder {
    if (this.#holder === undefined) {
      const path = join(this.#temporary, `holder-${randomUUID()}`);
      const file = openSync(path, "wx");
      this.#holder = { path, file, inode: inodeOf(file), leases: 0, isLent: true };
      this.#livedAt = performance.now();
    } else if (performance.now() - this.#livedAt > freshMs) this.#tellAlive(this.#holder.file);
    return this.#holder;
  }

  #tellAlive(file: number): void {
    const now = new Date();
    futimesSync(file, now, now);
    if (file === this.#holder?.file) this.#livedAt = performance.now();
  }

  /** Takes a dead holder's file away. Renamed first, so that of several that see it stale one takes it. */
  #dropStale(path: string): void {
    try {
      const { mtimeMs } = statSync(path);
      // A clock that jumped shows as a time far off in either direction.
      if (Math.abs(Date.now() - mtimeMs) <= leaseMs) return;
      const aside = `${path}.${randomUUID().slice(0, 8)}`;
      renameSync(path, aside);
      rmSync(aside, { force: true });
    } catch {
      // Released or taken meanwhile.
    }
  }

  #held(path: string, file: number, inode: bigint, onRelease: () => void): Lease {
    this.#open.set(path, file);
    this.#beat ??= heartbeat(() => {
      try {
        for (const each of new Set(this.#open.values())) this.#tellAlive(each);
      } catch {
        // A folder that cannot be written any more: the leases end by themselves.
      }
    });
    return {
      release: async () => {
        this.#open.delete(path);
        if (this.#open.size === 0) {
          this.#beat?.stop();
          this.#beat = undefined;
        }
        try {
          if (statSync(path, { bigint: true }).ino === inode) unlinkSync(path);
        } catch {
          // Another took it for stale: it is not ours to remove.
        }
        onRelease();
      },
    };
  }

  #dropHolder(): void {
    const holder = this.#holder;
    if (holder === undefined) return;
    this.#holder = undefined;
    holder.isLent = false;
    closeUnused(holder);
    rmSync(holder.path, { force: true });
  }

  /** After the last lease. The holder's file of a process that was killed goes with the temporary ones. */
  close(): void {
    this.#dropHolder();
  }
}
