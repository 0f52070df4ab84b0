/** `npm run soak -- mixed [--minutes 10]`: good, malformed and explosive requests for that long. Build first. */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { mixedLoad } from "../test/service/mixed-load.ts";

const delayLimitMs = 50;
/** What a heap may wander in a minute without leaking. */
const growthMbPerMinute = 3;

/** Answers the exit status. */
export async function soakMixed(args: readonly string[]): Promise<0 | 1> {
  const at = args.indexOf("--minutes");
  const minutes = at < 0 ? 10 : Number(args[at + 1]);
  if (!(minutes > 0)) throw new Error("--minutes: expected a number");
  const cacheDir = mkdtempSync(join(tmpdir(), "kiln-mixed-"));
  const report = await mixedLoad({ minutes, clients: 8, cacheDir, seed: Date.now() >>> 0 });
  rmSync(cacheDir, { recursive: true, force: true });
  console.log(JSON.stringify({ minutes, load: loadavg(), ...report }, null, 2));
  const failures = [
    ...report.unexpected,
    ...(report.loopDelayMs.p99 < delayLimitMs ? [] : [`event-loop delay p99 ${report.loopDelayMs.p99} ms`]),
    ...(report.rssMb.slopeMbPerMinute < growthMbPerMinute
      ? []
      : [`memory grows ${report.rssMb.slopeMbPerMinute} MB/min`]),
    ...(report.threads.end <= report.threads.settled ? [] : [`threads: ${JSON.stringify(report.threads)}`]),
  ];
  for (const failure of failures) console.log(`FAILED: ${failure}`);
  console.log(failures.length === 0 ? "soak: good" : "soak: FAILED");
  return failures.length === 0 ? 0 : 1;
}
