import { Command, CommanderError, Option } from "commander";
import { fileProblem, isFileError } from "../base/index.ts";
import type { CompileFlags } from "./compile.ts";
import { type CliEnvironment, CliError, complain, printBytes, type ServeSettings } from "./environment.ts";

export const collect = (value: string, before: readonly string[] | undefined) => [...(before ?? []), value];

/** The flags that say what a shader is. */
export function sourceFlags(command: Command): Command {
  return command
    .option("--stage <stage>", "comp, vert or frag; default by the file's suffix")
    .option("--entry <name>", "entry point, default main")
    .option("-D <name=value>", "define a macro", collect)
    .option("-I <dir>", "search includes here", collect)
    .option("-O <level>", "optimisation 0, 1 or 2")
    .option("--dialect <dialect>", "vulkan or relaxed")
    .option("--main-image", "a fragment shader of Shadertoy: mainImage alone, in the relaxed dialect")
    .option("--spec <id=value>", "set a specialisation constant", collect);
}

export type SetStatus = (status: number) => void;

/** `kiln` without its commands. */
export const rootCommand = (): Command =>
  new Command("kiln").exitOverride().configureOutput({ writeErr: complain, writeOut: printBytes });

/** `kiln compile`. */
export function addCompile(kiln: Command, environment: CliEnvironment, setStatus: SetStatus): void {
  sourceFlags(kiln.command("compile"))
    .description("compile shaders")
    .argument("<file...>", "shaders; - is standard input")
    .addOption(
      new Option("--emit <kind>", "what to write")
        .choices(["elf", "asm", "spirv", "spirv-asm", "ir", "stats", "json"])
        .default("elf"),
    )
    .option("--dump-after <pass>", "print the IR after a pass, or after all")
    .option("-o, --output <path>", "file, or folder for several; - is standard output")
    .option("--warm", "compile into the cache, of this user or of --server, and write nothing")
    .option("--cache-dir <dir>", "folder of the disk cache, for --warm")
    .option("--server <url>", "compile on this service; its key in KILN_API_KEY")
    .action(async (files: string[], flags: CompileFlags) => {
      const { server, cacheDir } = flags;
      const settings = environment.loadConfig({
        ...(server !== undefined && { server }),
        ...(cacheDir !== undefined && { cacheDir }),
      });
      if (environment.elsewhere !== undefined && !isPlain(flags, settings)) {
        setStatus(await environment.elsewhere());
        return;
      }
      const { compileFiles } = await import("./compile.ts");
      setStatus(await compileFiles(files, flags, settings));
    });
}

/** Compiles to ELF files, here, and shows nothing besides. */
const isPlain = (flags: CompileFlags, { server, debug }: ServeSettings): boolean =>
  server === undefined &&
  debug.length === 0 &&
  flags.emit === "elf" &&
  flags.warm !== true &&
  flags.dumpAfter === undefined;

/**
 * `kiln compile` alone: what a process that compiles has to load. The arguments are those of `kiln`, `compile` first.
 * Answers the exit status.
 */
export function compileMain(args: readonly string[], environment: CliEnvironment): Promise<number> {
  const alone = (setStatus: SetStatus): Command => {
    const kiln = rootCommand();
    addCompile(kiln, environment, setStatus);
    return kiln;
  };
  return runCommand(alone, args);
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
    return statusOf(error);
  }
}

function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof CliError) {
    complain(error.status === 3 ? `kiln: ${error.message}` : error.message);
    return error.status;
  }
  if (error instanceof Error && error.name === "ConfigError") {
    complain(error.message);
    return 2;
  }
  // The driver tells by itself what it refuses for want of memory; its VALIDATION is misuse, which the commands prevent.
  if (error instanceof Error && error.name === "DriverError" && !error.message.startsWith("VALIDATION")) {
    complain(`kiln: ${error.message}`);
    return 3;
  }
  if (isFileError(error)) {
    complain(`kiln: ${error.path === undefined ? "" : `${error.path}: `}${fileProblem(error)}`);
    return 3;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  complain(`kiln: this is a mistake of ours; please report it with the command line and:\n${text}`);
  return 3;
}
