/** `npm run soak [-- ROUNDS]`: kills a server 200 times during writes and checks every answer. Build first. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crashRounds } from "../test/service/crash-rounds.ts";

const rounds = Number(process.argv[2] ?? 200);
const folder = mkdtempSync(join(tmpdir(), "kiln-soak-"));
const started = performance.now();
const report = await crashRounds(folder, rounds, 2000, Date.now() & 0xffff);
rmSync(folder, { recursive: true, force: true });
const seconds = Math.round((performance.now() - started) / 1000);
console.log(JSON.stringify({ ...report, seconds }));
const isGood = report.wrong.length === 0 && report.corrupt === 0 && report.errors === 0 && report.diskHits > 0;
console.log(isGood ? "soak: good" : "soak: FAILED");
process.exitCode = isGood ? 0 : 1;
