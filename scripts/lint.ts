/** `npm run lint`: formatter and linter, types, import matrix, unused code, stale generated files. asc checks the types of `assembly` when it builds. */
import { spawnSync } from "node:child_process";

const checks: readonly (readonly [string, ...string[]])[] = [
  ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings"],
  ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"],
  ["node_modules/tsx/dist/cli.mjs", "scripts/import-matrix.ts"],
  ["node_modules/knip/bin/knip.js"],
  ["node_modules/tsx/dist/cli.mjs", "scripts/generate.ts", "--check"],
];
let failed = 0;
for (const [script, ...args] of checks) {
  const name = [script.replace(/^node_modules\/(@biomejs\/)?([^/]+)\/.*$/, "$2"), ...args].join(" ");
  const done = spawnSync(process.execPath, [script, ...args], { stdio: "inherit" });
  console.log(`${done.status === 0 ? "good" : "FAILED"}: ${name}`);
  if (done.status !== 0) failed++;
}
process.exit(failed === 0 ? 0 : 1);
