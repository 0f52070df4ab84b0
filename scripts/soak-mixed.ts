/** `npm run soak -- mixed [--minutes 10]`: good, malformed and explosive requests for that long. Build first. */
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { memoryGrowthMb, mixedLoad } from "../test/service/mixed-load.ts";

const delayLimitMs = 50;
/**
 * From one third of the run to the next, MB a minute: the heap that collections leave, which shows a leak best, and the
 * resident memory, its mean over that time.
 */
const heapMbPerMinute = 1;
const rssMbPerMinute = 3;

/** Answers the exit status. */
export async function soakMixed(args: readonly string[]): Promise<0 | 1> {
  const at = args.indexOf("--minutes");
  const minutes = at < 0 ? 10 : Number(args[at + 1]);
  if (!(minutes > 0)) throw new Error("--minutes: expected a number");
  const cacheDir = mkdtempSync(join(tmpdir(), "kiln-mixed-"));
  const report = await mixedLoad({ minutes, clients: 8, cacheDir, seed: Date.now() >>> 0 });
  rmSync(cacheDir, { recursive: true, force: true });
  const growth = memoryGrowthMb(report.memoryMb);
  console.log(JSON.stringify({ minutes, load: loadavg(), ...report, growth }, null, 2));
  const failures = [
    ...report.unexpected,
    ...(report.loopDelayMs.p99 < delayLimitMs ? [] : [`event-loop delay p99 ${report.loopDelayMs.p99} ms`]),
    ...(growth.heap < (heapMbPerMinute * minutes) / 3
      ? []
      : [`the heap grows: ${growth.heap} MB in a third of the run`]),
    ...(growth.rss < (rssMbPerMinute * minutes) / 3 ? [] : [`memory grows: ${growth.rss} MB in a third of the run`]),
    ...(report.threads.end <= report.threads.settled ? [] : [`threads: ${JSON.stringify(report.threads)}`]),
  ];
  for (const failure of failures) console.log(`FAILED: ${failure}`);
  console.log(failures.length === 0 ? "soak: good" : "soak: FAILED");
  return failures.length === 0 ? 0 : 1;
}
