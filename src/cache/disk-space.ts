import { existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { shardCount, shardName } from "./disk-folder.ts";

/** `st_blocks` counts these, whatever the file system's own block is. */
const statBlockBytes = 512;
/** The cache folder itself, `v1`, `tmp`, `leases`, and the counters. */
const fixedBlocks = 5;
/** Leases of running compiles, locks: small files that come and go. */
const smallFiles = 32;

/** What a cache folder takes on its file system beside its records: folders grow with the names in them, and stay so. */
export class DiskSpace {
  readonly #root: string;
  readonly #shardBytes: Float64Array;
  #blockBytes = 4096;
  #next = 0;
  #strayBytes = 0;

  constructor(root: string) {
    this.#root = root;
    this.#shardBytes = new Float64Array(shardCount).fill(this.#blockBytes);
  }

  /** Learns the size of a block. Errors: those of the file system. */
  open(): void {
    const { bsize } = statfsSync(this.#root);
    // Some file systems name a size that is good for transfers.
    if (bsize >= 512 && bsize <= 65_536) this.#blockBytes = bsize;
  }

  get blockBytes(): number {
    return this.#blockBytes;
  }

  /** Bytes that a file of this length takes. */
  fileBytes(length: number): number {
    return Math.ceil(length / this.#blockBytes) * this.#blockBytes;
  }

  #look(shard: number): void {
    const { blocks } = statSync(join(this.#root, shardName(shard)), { throwIfNoEntry: false }) ?? {};
    if (blocks !== undefined) this.#shardBytes[shard] = blocks * statBlockBytes;
  }

  /** After a file was stored: looks at its shard, and at one more that another process may have filled. */
  noteStored(shard: number): void {
    this.#look(shard);
    this.#look(this.#next);
    this.#next = (this.#next + 1) % shardCount;
  }

  lookAtAll(): void {
    for (let shard = 0; shard < shardCount; shard++) this.#look(shard);
    const journals = readdirSync(this.#root).filter((name) => name.startsWith("journal.new"));
    // The leases' folder comes with the first.
    const folders = ["tmp", "leases"].filter((name) => existsSync(join(this.#root, name)));
    const files = folders.flatMap((folder) => readdirSync(join(this.#root, folder)).map((name) => join(folder, name)));
    this.#strayBytes = 0;
    for (const name of [...journals, ...files]) {
      const { blocks } = statSync(join(this.#root, name), { throwIfNoEntry: false }) ?? {};
      this.#strayBytes += (blocks ?? 0) * statBlockBytes;
    }
  }

  /** All folders, with the counters' file, and as of the last look at all what is being written or was left by a kill. */
  get folderBytes(): number {
    let sum = fixedBlocks * this.#blockBytes + this.#strayBytes;
    for (const bytes of this.#shardBytes) sum += bytes;
    return sum;
  }

  /** All folders, and room for small files that come and go. */
  get otherBytes(): number {
    return this.folderBytes + smallFiles * this.#blockBytes;
  }
}
