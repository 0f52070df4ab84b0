import { compileFiles } from "./compile.ts";
import type { CliEnvironment } from "./environment.ts";
import { statusOf } from "./exit-status.ts";
import { plainArguments } from "./source-flags.ts";

/** What a compile alone has of the process. */
export interface AloneEnvironment extends Pick<CliEnvironment, "loadConfig"> {
  /** Runs this process's command line with all commands; answers its exit status. */
  readonly elsewhere: () => Promise<number>;
  /** The release build of the compiler core, already being made ready. */
  readonly core?: Promise<WebAssembly.Module>;
}

/**
 * `kiln compile` to ELF files in this process: what is behind `compile`. Whatever more is wanted, by flags or by the
 * environment, and all wrong usage, is left to `elsewhere`. Answers the exit status.
 */
export async function compileAlone(words: readonly string[], environment: AloneEnvironment): Promise<number> {
  const parsed = plainArguments(words);
  if (parsed === undefined) return environment.elsewhere();
  try {
    const settings = environment.loadConfig({});
    if (settings.server !== undefined || settings.debug.length > 0) return await environment.elsewhere();
    return await compileFiles(parsed.files, { ...parsed.flags, emit: "elf" }, settings, environment.core);
  } catch (error) {
    return statusOf(error);
  }
}
