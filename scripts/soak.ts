/**
 * `npm run soak [-- ROUNDS]`: kills a server 200 times during writes and checks every answer. `npm run soak -- litmus
 * [SEEDS] [FIRST] [PART OF NAME]`: litmus tests of the memory model and of the driver, 5,000 seeds each. `npm run soak -- mixed [--minutes 10]`: good,
 * malformed and explosive requests against one server. `npm run soak -- faults [--kills 1000]`: the cache under kills, bad
 * disks, flipped bits, jumping clocks, a stopping Redis. `npm run soak -- isolation [SEQUENCES] [SEED]`: 100,000
 * sequences of ioctls, packets and shaders by processes that attack each other. `npm run soak -- memory [CYCLES] [SEED]`:
 * a million allocations and frees by processes with jobs, and a million by the driver, leave nothing behind. Build first.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { litmusTests, soakLitmus } from "../test/gpu/litmus.ts";
import { isolationRun } from "../test/kmd/isolation-fuzz.ts";
import { kernelMemoryCycles } from "../test/kmd/memory-cycles.ts";
import { crashRounds, isGoodReport } from "../test/service/crash-rounds.ts";
import { apiLitmusTests } from "../test/umd/litmus.ts";
import { memoryCycles } from "../test/umd/memory-cycles.ts";
import { soakFaults } from "./soak-faults.ts";
import { soakMixed } from "./soak-mixed.ts";
import { UsageError, wholeNumber, withUsage } from "./usage.ts";

const usage = `usage: npm run soak -- [ROUNDS]
       npm run soak -- litmus [SEEDS] [FIRST] [PART OF NAME]
       npm run soak -- mixed [--minutes 10]
       npm run soak -- faults [--kills 1000]
       npm run soak -- isolation [SEQUENCES] [SEED]
       npm run soak -- memory [CYCLES] [SEED]`;

const suites: Readonly<Record<string, () => boolean | Promise<boolean>>> = {
  litmus,
  isolation,
  memory,
  mixed: async () => (await soakMixed(process.argv.slice(3))) === 0,
  faults: async () => (await soakFaults(process.argv.slice(3))) === 0,
};
const name = process.argv[2];
await withUsage(usage, process.argv.slice(2), async () => {
  if (name === undefined || /^\d+$/.test(name)) return crashes();
  const suite = Object.hasOwn(suites, name) ? suites[name] : undefined;
  if (suite === undefined) throw new UsageError(`there is no soak ${JSON.stringify(name)}`);
  return suite();
});

function number(at: number, fallback: number): number {
  const text = process.argv[at];
  return text === undefined ? fallback : wholeNumber(text, `argument ${at - 2}`);
}

/** Runs of 1,000 sequences, each with the next seed: a failure names the one to run again. */
function isolation(): boolean {
  const [sequences, seed] = [number(3, 100_000), number(4, 1)];
  const sum = { sequences: 0, marks: 0, faults: 0, submits: 0 };
  const started = performance.now();
  for (let run = 0; sum.sequences < sequences; run++) {
    const report = isolationRun(seed + run, Math.min(1000, sequences - sum.sequences));
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += report[key];
    if (run % 10 === 9) console.error(`${sum.sequences} sequences`);
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(JSON.stringify({ ...sum, seconds }));
  console.log("isolation: good");
  return true;
}

/** Bytes of the heap that are in use after a collection. */
function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}

/** A million cycles by processes on the kernel driver, and as many by the user-mode driver. */
async function memory(): Promise<boolean> {
  const started = performance.now();
  const [cycles, seed] = [number(3, 1_000_000), number(4, 1)];
  const heaps: number[] = [];
  const { left: kernel, ...did } = kernelMemoryCycles(cycles, seed, (done) => {
    heaps.push(heapBytes());
    console.error(`${done} cycles, heap ${((heaps.at(-1) ?? 0) / 2 ** 20).toFixed(1)} MiB`);
  });
  const driver = await memoryCycles(cycles, seed, (done) => console.error(`${done} cycles of the driver`));
  // From when all code is warm to the end.
  const heapGrowth = (heaps.at(-1) ?? 0) - (heaps[Math.floor(heaps.length / 2)] ?? 0);
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(JSON.stringify({ cycles, ...did, left: { kernel, driver }, heapGrowth, seconds }));
  const isGood = [...Object.values(kernel), ...Object.values(driver)].every((amount) => amount === 0);
  const isFlat = heapGrowth < 1 << 20;
  console.log(isGood && isFlat ? "memory: good" : "memory: FAILED");
  return isGood && isFlat;
}

async function crashes(): Promise<boolean> {
  const rounds = number(2, 200);
  const folder = mkdtempSync(join(tmpdir(), "kiln-soak-"));
  const started = performance.now();
  const report = await crashRounds({ folder, kills: rounds, variants: 2000, seed: Date.now() & 0xffff });
  rmSync(folder, { recursive: true, force: true });
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(JSON.stringify({ ...report, seconds }));
  const isGood = isGoodReport(report);
  console.log(isGood ? "soak: good" : "soak: FAILED");
  return isGood;
}

/**
 * Right programs never fail; a wrong one fails for some seed, and that seed repeats it. First those of the machine, then
 * those through the driver's API; `only`: a part of their names.
 */
async function litmus(): Promise<boolean> {
  const [seeds, first, only] = [number(3, 5000), number(4, 1), process.argv[5] ?? ""];
  let isGood = true;
  for (const test of [...litmusTests, ...apiLitmusTests]) {
    if (!test.name.includes(only)) continue;
    const { failing, isReplayed } = await soakLitmus(test, first, seeds);
    const holds = (failing.length === 0) === test.isRight && isReplayed;
    isGood &&= holds;
    const some = failing.length === 0 ? "" : `, first seeds ${failing.slice(0, 3).join(" ")}`;
    const about = `${test.isRight ? "right" : "wrong"}, fails for ${failing.length} of ${seeds} seeds${some}`;
    console.log(`${holds ? "good" : "FAILED"}  ${test.name}: ${about}${isReplayed ? "" : ", replay differs"}`);
  }
  console.log(isGood ? "litmus: good" : "litmus: FAILED");
  return isGood;
}
