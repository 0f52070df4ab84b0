import { existsSync } from "node:fs";
import { join } from "node:path";
import { ReadOnlyFolder, ShaderCache } from "../cache/index.ts";
import { CliError, print, type ServeSettings } from "./environment.ts";
import { asking, remoteService } from "./remote.ts";

export type CacheAction = "stats" | "clear" | "verify";

/** Works on the on-disk cache; a running server may use it at the same time. */
export async function cacheCommand(action: CacheAction, settings: ServeSettings, asJson: boolean): Promise<0 | 1> {
  const service = remoteService(settings);
  if (service !== undefined) {
    if (action === "verify") throw new CliError(2, "verify reads a folder: not with --server");
    const answer =
      action === "stats" ? await asking(service.cacheStats()) : { removed: await asking(service.clearCache()) };
    print(JSON.stringify(answer, null, asJson ? 0 : 2));
    return 0;
  }
  const folder = settings.cacheDir;
  if (!existsSync(join(folder, "v1"))) throw new CliError(1, `${folder}: no cache here yet`);
  const cache = new ShaderCache({ memoryBytes: 0, disk: { folder, capacityBytes: settings.cacheBytes } });
  const { disk } = cache;
  if (disk === undefined) throw new CliError(3, `${folder}: the cache cannot be opened`);
  try {
    await disk.ready;
    switch (action) {
      case "stats": {
        const stats = { folder, ...disk.stats() };
        print(asJson ? JSON.stringify(stats) : table(stats));
        return 0;
      }
      case "clear": {
        const removed = await cache.clear();
        print(asJson ? JSON.stringify({ removed }) : `removed ${removed} entries`);
        return 0;
      }
      case "verify": {
        const { entries, corrupt } = await disk.verify();
        print(
          asJson
            ? JSON.stringify({ entries, corrupt })
            : [
                ...corrupt.map((key) => `corrupt, dropped: ${key}`),
                `${entries} entries, ${corrupt.length} corrupt`,
              ].join("\n"),
        );
        return corrupt.length === 0 ? 0 : 1;
      }
    }
  } catch (error) {
    if (error instanceof ReadOnlyFolder) throw new CliError(3, `${folder}: ${error.message}`);
    throw error;
  } finally {
    await cache.close();
  }
}

function table(fields: Readonly<Record<string, string | number>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(14)} ${value}`)
    .join("\n");
}
