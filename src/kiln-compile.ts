/** `kiln compile` alone, for `src/launch.ts`. */
import { compileAlone, hasPrinted } from "./cli/index.ts";
import { loadConfig } from "./config.ts";

/** Loads and runs `kiln-all.js`; of `src/launch.ts`, since a script of `node:vm` has no import of its own. */
declare const everything: () => Promise<unknown>;

/** The compiler core, on its way. */
declare const compilerCore: Promise<WebAssembly.Module>;

async function elsewhere(): Promise<number> {
  await everything();
  return Number(process.exitCode ?? 0);
}

compileAlone(process.argv.slice(3), { loadConfig, elsewhere, core: compilerCore }).then((status) => {
  process.exitCode = status;
  // Nothing is left to do, and taking down a process orderly takes a tenth of such a compile.
  if (!hasPrinted()) process.exit();
});
