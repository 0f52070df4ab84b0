/**
 * `npx tsx bench/service.ts [--seconds N] [--only-one] [--check]`: `kiln bench service`, and what takes more than one
 * server: 64 clients at each of four servers on one folder that want one cold shader; `--only-one`: that alone. With
 * `--check` status 1 where a figure misses its bar. `--entries N`: instead, hits from disk beside hits
 * from memory where the folder has N records; `--folder D` keeps them somewhere else than in the temporary folder.
 * Build first.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ShaderCache } from "../src/cache/index.ts";
import { benchService, benchShader, missedBars, serviceTable, startKiln, stopKiln } from "../src/cli/bench-service.ts";
import { Connection, prepared } from "../src/cli/http-load.ts";
import { diskHits } from "./disk-hits.ts";

const argument = (name: string) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};
const seconds = Number(argument("--seconds") ?? 4);
const entries = argument("--entries");

const clientsEach = 64;

interface OneCompile {
  readonly clients: number;
  readonly servers: number;
  readonly compiles: number;
  /** What the answers said, and what the folder's statistics say. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly counted: Readonly<Record<string, number>>;
}

async function oneCompile(folder: string): Promise<OneCompile> {
  const serve = ["serve", "--port", "0", "--cache-dir", folder, "--workers", "1"];
  const servers = await Promise.all([1, 2, 3, 4].map(() => startKiln(serve)));
  const body = JSON.stringify({ source: benchShader(424_242), stage: "compute" });
  const outcomes: Record<string, number> = {};
  const lanes = await Promise.all(
    Array.from({ length: clientsEach * servers.length }, async (_, client) => {
      const { address = "" } = servers[client % servers.length] ?? {};
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
  const { compiles = 0, requests = 0, joined = 0, failed = 0 } = cache.counters.read();
  const hits = Object.fromEntries(cache.tierStats().map((tier) => [tier.name, tier.hits]));
  const miss = Object.values(cache.missCounts()).reduce((sum, count) => sum + count, 0);
  await cache.close();
  const counted = { requests, miss, joined, failed, ...hits };
  return { clients: lanes.length, servers: servers.length, compiles, outcomes, counted };
}

/** One compile, and each request counted as what its answer says. */
function missedByOne({ clients, compiles, outcomes, counted }: OneCompile): string[] {
  const wrong = Object.entries(counted).filter(
    ([name, count]) => count !== (name === "requests" ? clients : (outcomes[name] ?? 0)),
  );
  const missed = wrong.map(([name, count]) => `${name}: ${count} are counted, not what the answers say`);
  return compiles === 1 ? missed : [`${compiles} compiles of one shader`, ...missed];
}

const folder = mkdtempSync(join(argument("--folder") ?? tmpdir(), "kiln-bench-"));
try {
  if (entries !== undefined) console.log(JSON.stringify({ diskHits: await diskHits(folder, Number(entries)) }));
  else {
    const missed: string[] = [];
    if (!process.argv.includes("--only-one")) {
      const figures = await benchService(seconds);
      console.log(serviceTable(figures));
      console.log(JSON.stringify(figures));
      missed.push(...missedBars(figures));
    }
    const one = await oneCompile(folder);
    console.log(JSON.stringify({ oneCompile: one }));
    missed.push(...missedByOne(one));
    for (const text of missed) console.error(`missed: ${text}`);
    if (process.argv.includes("--check") && missed.length > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
