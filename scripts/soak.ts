/**
 * `npm run soak [-- ROUNDS]`: kills a server 200 times during writes and checks every answer. `npm run soak -- litmus
 * [SEEDS] [FIRST]`: the memory model's litmus tests, 5,000 seeds each. `npm run soak -- mixed [--minutes 10]`: good,
 * malformed and explosive requests against one server. `npm run soak -- faults [--kills 1000]`: the cache under kills, bad
 * disks, flipped bits, jumping clocks, a stopping Redis. Build first.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { litmusTests, soakLitmus } from "../test/gpu/litmus.ts";
import { crashRounds } from "../test/service/crash-rounds.ts";
import { soakFaults } from "./soak-faults.ts";
import { soakMixed } from "./soak-mixed.ts";

if (process.argv[2] === "mixed") process.exit(await soakMixed(process.argv.slice(3)));
if (process.argv[2] === "faults") process.exit(await soakFaults(process.argv.slice(3)));

process.exitCode = (process.argv[2] === "litmus" ? litmus() : await crashes()) ? 0 : 1;

async function crashes(): Promise<boolean> {
  const rounds = Number(process.argv[2] ?? 200);
  const folder = mkdtempSync(join(tmpdir(), "kiln-soak-"));
  const started = performance.now();
  const report = await crashRounds(folder, rounds, 2000, Date.now() & 0xffff);
  rmSync(folder, { recursive: true, force: true });
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(JSON.stringify({ ...report, seconds }));
  const isGood = report.wrong.length === 0 && report.corrupt === 0 && report.errors === 0 && report.diskHits > 0;
  console.log(isGood ? "soak: good" : "soak: FAILED");
  return isGood;
}

/** Right programs never fail; a wrong one fails for some seed, and that seed repeats it. */
function litmus(): boolean {
  const seeds = Number(process.argv[3] ?? 5000);
  const first = Number(process.argv[4] ?? 1);
  let isGood = true;
  for (const test of litmusTests) {
    const { failing, isReplayed } = soakLitmus(test, first, seeds);
    const holds = (failing.length === 0) === test.isRight && isReplayed;
    isGood &&= holds;
    const some = failing.length === 0 ? "" : `, first seeds ${failing.slice(0, 3).join(" ")}`;
    const about = `${test.isRight ? "right" : "wrong"}, fails for ${failing.length} of ${seeds} seeds${some}`;
    console.log(`${holds ? "good" : "FAILED"}  ${test.name}: ${about}${isReplayed ? "" : ", replay differs"}`);
  }
  console.log(isGood ? "litmus: good" : "litmus: FAILED");
  return isGood;
}
