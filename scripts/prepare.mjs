// `prepare` of package.json: builds what is stale, after `npm ci` and whenever `npx kiln` links this folder. A production install has no build tools; it keeps the `dist` it has.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

if (!existsSync("node_modules/assemblyscript") || !existsSync("node_modules/tsx")) {
  if (!existsSync("dist/kiln.js")) {
    console.error("kiln: no build tools installed and no dist folder: run `npm ci` without --omit=dev");
    process.exit(1);
  }
  process.exit(0);
}
const built = spawnSync(process.execPath, ["node_modules/tsx/dist/cli.mjs", "scripts/build.ts", "--if-stale"], {
  stdio: "inherit",
});
process.exit(built.status ?? 1);
