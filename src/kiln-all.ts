/** Every command of `kiln`, by the arguments of this process, whose exit code it sets. */
import { main } from "./cli/index.ts";
import { loadConfig, searchPath } from "./config.ts";

process.exitCode = await main(process.argv.slice(2), { loadConfig, searchPath: searchPath() });
