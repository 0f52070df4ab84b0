/** `kiln compile` alone, for `src/launch.ts`. */
import { compileMain } from "./cli/index.ts";
import { loadConfig, searchPath } from "./config.ts";

compileMain(process.argv.slice(2), { loadConfig, searchPath: searchPath() }).then((status) => {
  process.exitCode = status;
});
