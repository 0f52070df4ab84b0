import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { shardCount, shardName, unlinkQuietly } from "./disk-folder.ts";
import type { DiskIndex } from "./disk-index.ts";
import { type Row, RowKind } from "./journal-row.ts";
import { keyBytes } from "./key-table.ts";
import { isKey, type Key } from "./tier.ts";

/** A temporary file lives for the time of one write; this old it belongs to a process that was killed. */
const staleTemporaryMs = 5000;
/** A row comes before its file, in the same turn of the process that stores. */
const graceMs = 250;
const lostAtOnce = 256;

export interface Reconciled {
  readonly root: string;
  readonly index: DiskIndex;
  readonly isOver: () => boolean;
  readonly append: (rows: readonly Row[]) => void;
  readonly chargeBytes: (fileBytes: number) => number;
  /** Evicts some of what is over the limit; false when nothing is. */
  readonly trim: () => boolean;
}

/** Brings the index in line with the files, a folder at a time, while the cache is in use. */
export async function reconcile(at: Reconciled): Promise<void> {
  const { index, isOver } = at;
  index.entries.markAll();
  for (let shard = 0; shard < shardCount && !isOver(); shard++) at.append(await unlistedFiles(at, shardName(shard)));
  if (!isOver()) await dropLost(at);
  while (!isOver() && at.trim()) await nextTurn();
  await dropTemporaries(join(at.root, "tmp"));
  // Those of holders that were killed, of which nobody may ask for the key again. A live one is younger than a few seconds.
  await dropTemporaries(join(at.root, "leases"));
}

/** Rows for files that the journal does not know. Takes the mark of those that it knows. */
async function unlistedFiles({ root, index, chargeBytes }: Reconciled, shard: string): Promise<Row[]> {
  const rows: Row[] = [];
  const bytes = Buffer.alloc(keyBytes);
  for (const name of await readdir(join(root, shard))) {
    if (!isKey(name)) continue;
    bytes.write(name, "hex");
    const id = index.entries.find(bytes);
    if (id >= 0) {
      index.entries.unmark(id);
      continue;
    }
    const found = statSync(join(root, shard, name), { throwIfNoEntry: false });
    if (found) rows.push({ kind: RowKind.put, key: name, value: chargeBytes(found.size) });
  }
  return rows;
}

/** Rows without a file go: what still has its mark. */
async function dropLost({ root, index, append, isOver }: Reconciled): Promise<void> {
  const { entries } = index;
  const marked = () => entries.ids().filter((id) => entries.isMarked(id));
  if (marked().length === 0) return;
  await sleep(graceMs);
  const keys = [...marked()].map((id) => entries.hex(id) as Key);
  for (let from = 0; from < keys.length && !isOver(); from += lostAtOnce) {
    const lost = keys
      .slice(from, from + lostAtOnce)
      .filter((key) => !statSync(join(root, key.slice(0, 2), key), { throwIfNoEntry: false }));
    append(lost.map((key): Row => ({ kind: RowKind.remove, key, value: 0 })));
    await nextTurn();
  }
}

async function dropTemporaries(folder: string): Promise<void> {
  // That of the leases comes with the first.
  if (!existsSync(folder)) return;
  for (const name of await readdir(folder)) {
    const made = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs;
    // A clock that jumped shows as a time far off in either direction.
    if (made !== undefined && Math.abs(Date.now() - made) > staleTemporaryMs) unlinkQuietly(join(folder, name));
  }
}
