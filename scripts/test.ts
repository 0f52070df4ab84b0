/**
 * `npm test [-- vitest arguments]`: finds the oracle tools (installs them where it is root on Debian), builds what is
 * stale, runs the suite, and ends with the line `N passed, N failed`. A failing test or a suite that ran nothing exits 1.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findOracle, oraclePackages } from "../test/oracles.ts";

function missingOracles(): string[] {
  return (Object.keys(oraclePackages) as (keyof typeof oraclePackages)[]).filter((name) => !findOracle(name));
}

function installOracles(names: readonly string[]): void {
  const packages = [...new Set(names.map((name) => oraclePackages[name as keyof typeof oraclePackages]))];
  const isDebianRoot = process.getuid?.() === 0 && existsSync("/etc/debian_version");
  if (!isDebianRoot) return;
  console.log(`installing the oracle tools: ${packages.join(" ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["update", "-qq"], { stdio: "inherit", env });
  spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], {
    stdio: ["ignore", "ignore", "inherit"],
    env,
  });
}

interface JsonReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly success: boolean;
}

const missing = missingOracles();
if (missing.length > 0) installOracles(missing);
for (const name of missingOracles()) {
  console.log(
    `oracle ${name} is missing (Debian package ${oraclePackages[name as keyof typeof oraclePackages]}): its tests are skipped`,
  );
}

const built = spawnSync(process.execPath, ["node_modules/tsx/dist/cli.mjs", "scripts/build.ts", "--if-stale"], {
  stdio: "inherit",
});
if (built.status !== 0) process.exit(1);

const folder = mkdtempSync(join(tmpdir(), "kiln-test-"));
const reportFile = join(folder, "report.json");
const ran = spawnSync(
  process.execPath,
  [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${reportFile}`,
    ...process.argv.slice(2),
  ],
  { stdio: "inherit" },
);
let report: JsonReport | undefined;
if (existsSync(reportFile)) report = JSON.parse(readFileSync(reportFile, "utf8")) as JsonReport;
rmSync(folder, { recursive: true, force: true });
if (report === undefined) {
  console.error("the test runner left no report");
  process.exit(1);
}
const skipped = report.numPendingTests > 0 ? `, ${report.numPendingTests} skipped` : "";
// A file that could not be loaded, or a worker that ended under its tests, is no failed test of the report.
const broken = ran.status !== 0 && report.numFailedTests === 0 ? 1 : 0;
console.log(`${report.numPassedTests} passed, ${report.numFailedTests + broken} failed${skipped}`);
process.exit(ran.status === 0 && report.numPassedTests > 0 ? 0 : 1);
