import {
  badDisks,
  bitFlips,
  clockJumps,
  countersAfterKill,
  faultFolder,
  killRounds,
  limitHolds,
  type Outcome,
  redisStops,
} from "../test/cache/faults.ts";
import { recount, recountAgrees } from "../test/cache/writers.ts";
import { oracle } from "../test/oracles.ts";
import { crashCapacityBytes, crashRounds, isGoodReport } from "../test/service/crash-rounds.ts";

/**
 * `npm run soak -- faults [--kills 1000] [--only NAME]`: so many kills of writers and of whole servers, full and read-only
 * disks, flipped bits, jumping clocks, a Redis that stops. Prints the figures of each; 0 where no byte was wrong, nothing crashed, and every recount agrees.
 */
export async function soakFaults(args: readonly string[]): Promise<number> {
  const argument = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
  const kills = Number(argument("--kills") ?? 1000);
  const only = argument("--only");
  const { base, writer, remove } = await faultFolder();
  const faults: Readonly<Record<string, () => Promise<Outcome | string>>> = {
    kills: () => killRounds(base, writer, kills),
    serverKills: () => serverKills(`${base}/server`, kills),
    limit: () => limitHolds(base, writer, 4, 10),
    counters: () => countersAfterKill(base, writer, 4),
    clock: () => clockJumps(base, writer, 8),
    flips: () => bitFlips(base, 5000),
    disks: async () => (await badDisks(base)) ?? "not run: mounting a tmpfs needs root",
    redis: async () => (oracle("redis-server") === undefined ? "not run: no redis-server" : redisStops(base, 8)),
  };
  let isGood = true;
  try {
    for (const [name, run] of Object.entries(faults)) {
      if (only !== undefined && only !== name) continue;
      const from = performance.now();
      const outcome = await run();
      const seconds = Math.round((performance.now() - from) / 1000);
      if (typeof outcome === "string") {
        console.log(`skipped ${name}: ${outcome}`);
        continue;
      }
      isGood &&= outcome.good;
      console.log(`${outcome.good ? "good" : "FAILED"}  ${name} ${JSON.stringify({ ...outcome.figures, seconds })}`);
    }
  } finally {
    remove();
  }
  console.log(isGood ? "faults: good" : "faults: FAILED");
  return isGood ? 0 : 1;
}

async function serverKills(folder: string, kills: number): Promise<Outcome> {
  const seed = Date.now() & 0xffff;
  // Starting is the most of a round: three at a time, and killed after few answers.
  const report = await crashRounds({ folder, kills, variants: 2000, seed, servers: 3, answers: 6 });
  const counted = await recount(folder, crashCapacityBytes);
  return { good: isGoodReport(report) && recountAgrees(counted), figures: { ...report, recount: counted } };
}
