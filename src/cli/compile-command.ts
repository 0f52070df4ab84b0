import { Command, CommanderError, Option } from "commander";
import type { CompileFlags } from "./compile.ts";
import { type CliEnvironment, complain, printBytes } from "./environment.ts";
import { statusOf } from "./exit-status.ts";
import { type FlagRow, outputFlagRow, sourceFlagRows } from "./source-flags.ts";

export const collect = (value: string, before: readonly string[] | undefined) => [...(before ?? []), value];

function addFlag(command: Command, { flag, long, value, about, isList }: FlagRow): void {
  const names = long === undefined ? flag : `${flag}, ${long}`;
  const text = value === undefined ? names : `${names} <${value}>`;
  if (isList === true) command.option(text, about, collect);
  else command.option(text, about);
}

/** Adds the flags that say what a shader is. */
export function sourceFlags(command: Command): Command {
  for (const row of sourceFlagRows) addFlag(command, row);
  return command;
}

export type SetStatus = (status: number) => void;

/** `kiln` without its commands. */
export const rootCommand = (): Command =>
  new Command("kiln").exitOverride().configureOutput({ writeErr: complain, writeOut: printBytes });

/** `kiln compile`. */
export function addCompile(kiln: Command, environment: CliEnvironment, setStatus: SetStatus): void {
  const command = sourceFlags(kiln.command("compile"));
  command
    .description("compile shaders")
    .argument("<file...>", "shaders; - is standard input")
    .addOption(
      new Option("--emit <kind>", "what to write")
        .choices(["elf", "asm", "spirv", "spirv-asm", "ir", "stats", "json", "passes", "cfg", "liveRegisters"])
        .default("elf"),
    )
    .option("--dump-after <pass>", "print the IR after a pass, or after all");
  addFlag(command, outputFlagRow);
  command
    .option("--warm", "compile into the cache, of this user or of --server, and write nothing")
    .option("--cache-dir <dir>", "folder of the disk cache, for --warm")
    .option("--server <url>", "compile on this service; its key in KILN_API_KEY")
    .action(async (files: string[], flags: CompileFlags) => {
      const { server, cacheDir } = flags;
      const settings = environment.loadConfig({
        ...(server !== undefined && { server }),
        ...(cacheDir !== undefined && { cacheDir }),
      });
      const { compileFiles } = await import("./compile.ts");
      setStatus(await compileFiles(files, flags, settings));
    });
}

/** Parses and runs; `first` may answer before that. The exit status: 0, 1, 2 or 3 as the contract says. */
export async function runCommand(
  make: (setStatus: SetStatus) => Command,
  args: readonly string[],
  first?: (kiln: Command) => Promise<number | undefined>,
): Promise<number> {
  let status = 0;
  const kiln = make((answered) => {
    status = answered;
  });
  for (const command of kiln.commands)
    command.exitOverride().configureOutput({ writeErr: complain, writeOut: printBytes });
  try {
    const answered = await first?.(kiln);
    if (answered !== undefined) return answered;
    await kiln.parseAsync([...args], { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return statusOf(error);
  }
}
