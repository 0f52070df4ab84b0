/**
 * `npx tsx bench/service.ts [--seconds N]`: `kiln bench service`, and what takes more than one server: 64
 * clients that want one cold shader from four servers on one folder. `--entries N`: instead, hits from disk beside hits
 * from memory where the folder has N records; `--folder D` keeps them somewhere else than in the temporary folder.
 * Build first.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ShaderCache } from "../src/cache/index.ts";
import { benchService, benchShader, serviceTable, startKiln, stopKiln } from "../src/cli/bench-service.ts";
import { Connection, prepared } from "../src/cli/http-load.ts";
import { diskHits } from "./disk-hits.ts";

const argument = (name: string) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const seconds = Number(argument("--seconds") ?? 4);
const entries = argument("--entries");

async function oneCompile(folder: string): Promise<object> {
  const serve = ["serve", "--port", "0", "--cache-dir", folder, "--workers", "1"];
  const servers = await Promise.all([1, 2, 3, 4].map(() => startKiln(serve)));
  const body = JSON.stringify({ source: benchShader(424_242), stage: "compute" });
  const outcomes: Record<string, number> = {};
  const lanes = await Promise.all(
    Array.from({ length: 64 }, async (_, client) => {
      const { address = "" } = servers[client % 4] ?? {};
      return { lane: await Connection.open(address), request: prepared(address, body) };
    }),
  );
  await Promise.all(
    lanes.map(async ({ lane, request }) => {
      const { cache } = JSON.parse((await lane.ask(request)).toString()) as { cache: string };
      outcomes[cache] = (outcomes[cache] ?? 0) + 1;
      lane.close();
    }),
  );
  await Promise.all(servers.map(stopKiln));
  const cache = new ShaderCache({ memoryBytes: 0, disk: { folder, capacityBytes: 1 << 30 } });
  const { compiles } = cache.counters.read();
  await cache.close();
  return { clients: 64, servers: 4, compiles, outcomes };
}

const folder = mkdtempSync(join(argument("--folder") ?? tmpdir(), "kiln-bench-"));
try {
  if (entries !== undefined) console.log(JSON.stringify({ diskHits: await diskHits(folder, Number(entries)) }));
  else {
    const figures = await benchService(seconds);
    console.log(serviceTable(figures));
    console.log(JSON.stringify(figures));
    console.log(JSON.stringify({ oneCompile: await oneCompile(folder) }));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
