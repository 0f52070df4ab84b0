import { type Command, InvalidArgumentError, Option } from "commander";
import type { SpirvTarget } from "../spirv/index.ts";
import type { BenchFlags, BenchName } from "./bench.ts";
import type { BenchStage } from "./bench-corpus.ts";
import type { CacheAction } from "./cache.ts";
import { addCompile, collect, rootCommand, runCommand, type SetStatus, sourceFlags } from "./compile-command.ts";
import { bearLostReaders, type CliEnvironment, CliError, print, type ServeFlags } from "./environment.ts";
import type { RunFlags } from "./run.ts";
import type { SmiFlags } from "./smi.ts";
import type { SourceFlags } from "./source-files.ts";
import type { SpirvAction, SpirvFlags } from "./spirv.ts";
import type { StatsFlags } from "./stats.ts";

export { compileAlone } from "./compile-alone.ts";
export { hasPrinted } from "./environment.ts";

/** The flags of whatever compiles for others. */
function serviceFlags(command: Command): Command {
  return command
    .option("--cache-dir <dir>", "folder of the disk cache")
    .option("--cache-bytes <n>", "bound of the disk cache")
    .option("--memory-bytes <n>", "bound of the memory cache")
    .option("--redis <url>", "queue of a farm for large batches; also the shared cache where none is named")
    .option("--shared-cache <url>", "cache that other machines use too: redis://… or http://… of a bazel-remote")
    .option("--verify-rate <share>", "share of the hits that are compiled again and compared, default 0.001")
    .option("--workers <n>", "compile workers")
    .option("--time-limit-ms <n>", "time limit of one compile")
    .option("--memory-limit-mb <n>", "memory limit of one compile worker")
    .option("--traces", "spans by OpenTelemetry, for the SDK of `node --import`")
    .option("--isolate <how>", "where compiles run: thread (default), or process for untrusted input")
    .option("--drain-ms <n>", "how long a stop waits for what runs")
    .option("--config <file>", "JSON file of settings, below flags and environment");
}

/** The commands. Each loads what it needs when it runs: `--help` and `--version` need nothing. */
function program(environment: CliEnvironment, setStatus: SetStatus): Command {
  const kiln = rootCommand()
    .helpCommand(true)
    .description("Compiles shaders to gfx1030 machine code, serves them, and runs them on a simulated GPU")
    .option("--version", "print version and build id")
    .action((_flags: object, command: Command) => command.help({ error: true }));

  serviceFlags(kiln.command("serve"))
    .description("the compile service over HTTP")
    .option("--host <host>", "address to listen on, default 127.0.0.1")
    .option("--port <n>", "port, default 7420; 0 picks one")
    .option("--max-waiting <n>", "compiles that may wait for a worker")
    .option("--body-bytes <n>", "largest request body")
    .option("--api-keys <file>", "file of key hashes: lines `read|write|admin SHA256`")
    .option("--rate-limit <n>", "weight a key may send in a minute; default 0: no limit")
    .option("--insecure", "no API key, whatever the address")
    .option("--log-level <level>", "fatal, error, warn, info, debug or trace")
    .action(async (flags: ServeFlags) => {
      const settings = environment.loadConfig(flags);
      const { serve } = await import("./serve.ts");
      await serve(settings);
    });

  serviceFlags(kiln.command("worker"))
    .description("compile the jobs of a farm")
    .option("--host <host>", "address of --health-port, default 127.0.0.1")
    .option("--health-port <n>", "port that answers /health/live and /health/ready, for probes")
    .action(async (flags: ServeFlags) => {
      const settings = environment.loadConfig(flags);
      const { worker } = await import("./worker.ts");
      await worker(settings);
    });

  addCompile(kiln, environment, setStatus);

  sourceFlags(kiln.command("stats"))
    .description("statistics of shaders: a row each, a total, and how they differ from a saved file")
    .argument("<path...>", "shaders, or folders of them")
    .addOption(
      new Option("--format <format>", "how to print").choices(["table", "json", "csv", "junit"]).default("table"),
    )
    .option("--save <file>", "keep the rows for a later --compare")
    .option("--compare <file>", "show differences from a file of --save")
    .option("--budget <bounds>", "bounds of each shader, such as 'instructions<=+1%,vgprs<=+0': exit 1 over them")
    .option("-o, --output <file>", "write there; - is standard output")
    .option("--server <url>", "compile on this service; its key in KILN_API_KEY")
    .action(async (paths: string[], { server, ...flags }: StatsFlags & { server?: string }) => {
      const settings = environment.loadConfig(server === undefined ? {} : { server });
      const { stats } = await import("./stats.ts");
      setStatus(await stats(paths, flags, settings));
    });

  kiln
    .command("render")
    .description("run one fragment shader over a rectangle (not in this version)")
    .argument("[arguments...]")
    .allowUnknownOption()
    .action(() => {
      const instead = "kiln compile compiles fragment shaders, kiln exec runs compute shaders";
      throw new CliError(3, `render: the simulated GPU of this version draws no pictures; ${instead}`);
    });

  sourceFlags(kiln.command("exec"))
    .description("run one compute shader on raw buffers")
    .argument("<file>", "compute shader")
    .option("--bind <binding=source>", "buffer of a file's bytes, or zero:N bytes", collect)
    .option("--push <values>", "push constants: u32 1024 f32 2.0", "")
    .option("--groups <x,y,z>", "workgroups: X, X,Y or X,Y,Z; a count left out is 1", "1,1,1")
    .option("--out <binding=file>", "write a buffer's bytes afterwards; - is standard output", collect)
    .option("--timeout-seconds <n>", "end the shader after this long", "60")
    .option("--seed <s>", "seed of the machine's scheduling")
    .option("--coherence", "caches hold data: a missing flush, invalidate or wait shows as stale data")
    .option("--counters", "count cache hits and stalls, estimate cycles")
    .option("--server <url>", "compile on this service; its key in KILN_API_KEY")
    .option("--json [file]", "what the run counted and how exact it was, as JSON; - is standard output")
    .action(async (file: string, { server, ...flags }: ExecFlags & { server?: string }) => {
      const parse = await import("./exec-arguments.ts");
      const { requestOf } = await import("./source-files.ts");
      const execution = {
        binds: (flags.bind ?? []).map(parse.parseBind),
        outs: (flags.out ?? []).map(parse.parseOut),
        push: parse.parsePush(flags.push),
        groups: parse.parseGroups(flags.groups),
        timeoutSeconds: parse.parseSeconds(flags.timeoutSeconds),
        request: requestOf(file, flags),
        machine: parse.parseMachine(flags),
        ...(flags.json === undefined ? {} : { json: flags.json === true ? "-" : flags.json }),
      };
      const { exec } = await import("./exec.ts");
      const settings = environment.loadConfig(server === undefined ? {} : { server });
      setStatus(await exec(execution, settings));
    });

  kiln
    .command("run")
    .description("run Amber and VkScript scripts on the simulated GPU")
    .argument("[path...]", "scripts, or folders of them")
    .option("--root <dir>", "folder that the paths of --list count from")
    .option(
      "--list <file>",
      "scripts to run, one path a line; may be given again",
      (file: string, files: string[] = []) => [...files, file],
    )
    .option("--jobs <n>", "scripts that run side by side")
    .option("--timeout-seconds <n>", "end a script after this long", "60")
    .addOption(new Option("--engine <engine>", "simulator").choices(["auto", "interpret", "translate"]).default("auto"))
    .option("--repeat <n>", "runs of each script, each with the next seed", "1")
    .option("--seed <s>", "seed of the machine's scheduling")
    .option("--coherence", "caches hold data: a missing flush, invalidate or wait shows as stale data")
    .option("--counters", "count cache hits and stalls, estimate cycles")
    .option("--bisect", "on a failure, name the submit that it comes from")
    .option("--server <url>", "compile on this service; its key in KILN_API_KEY")
    .option("--from-comments", "also shaders (.comp) with their script in comments // amber: …")
    .option("--json [file]", "results as JSON; - is standard output")
    .option("--junit <file>", "results as JUnit XML")
    .action(async (paths: string[], { server, ...flags }: RunFlags & { server?: string }) => {
      const { run } = await import("./run.ts");
      const settings = environment.loadConfig(server === undefined ? {} : { server });
      setStatus(await run(paths, flags, settings));
    });

  kiln
    .command("bench")
    .description("code quality, compile and simulation time, beside the peers where they are; the service's speed")
    .argument("[what]", "compile, codegen, simulate or service; default compile and codegen", benchName)
    .option("--peers", "compare: compile and codegen need glslangValidator and --radv, simulate --lavapipe")
    .option("--corpus <dir>", "folder of shaders; default: the example kernels", collect)
    .option("--stage <stage>", "comp, vert or frag, several times for several; default all", collectStages)
    .option("--radv <command>", "measures a driver: run with MANIFEST -n RUNS -d DUMPS, answers JSON lines")
    .option("--glslang <command>", "measures a GLSL front end: run with LIST -n RUNS, answers JSON lines")
    .option("--lavapipe <command>", "runs the example kernels at full size, answers JSON lines: kernel, cpu_min_ms")
    .option("--work <dir>", "folder that the peers run in and leave their files in; default a temporary one")
    .option("--json [file]", "figures as JSON; - is standard output")
    .option("--check", "of service: status 1 where a figure misses its bar")
    .action(async (what: BenchName | undefined, flags: BenchFlags) => {
      const { bench } = await import("./bench.ts");
      setStatus(await bench(what, flags));
    });
  // The other side of `bench service`, in a process of its own.
  kiln.command("bench-floor", { hidden: true }).action(async () => {
    const { benchFloor } = await import("./bench-service.ts");
    await benchFloor();
  });

  kiln
    .command("smi")
    .description("simulated machines that run: memory, queue time and faults of their processes")
    .option("--machine <id>", "only this one")
    .option("--watch", "again every second")
    .option("--json", "print JSON")
    .action(async (flags: SmiFlags) => {
      const { smi } = await import("./smi.ts");
      setStatus(await smi(environment.loadConfig({}), flags));
    });

  kiln
    .command("dmesg")
    .description("the kernel log of a simulated machine that runs")
    .option("--machine <id>", "of several, this one")
    .option("--json", "print JSON")
    .action(async (flags: SmiFlags) => {
      const { dmesg } = await import("./smi.ts");
      setStatus(await dmesg(environment.loadConfig({}), flags));
    });

  kiln
    .command("disasm")
    .description("print a code object's assembler text")
    .argument("<file>", "code object; - is standard input")
    .action(async (file: string) => {
      const { disasm } = await import("./disasm.ts");
      disasm(file);
    });

  kiln
    .command("spirv")
    .description("SPIR-V text tools: assemble, disassemble, validate")
    .argument("<action>", "as, dis or val", spirvAction)
    .argument("<file>", "text for as, a binary for dis and val; - is standard input")
    .addOption(new Option("--target <environment>", "version of what as writes").choices(spirvTargets))
    .option("-o, --output <file>", "write there; - is standard output", "-")
    .action(async (action: SpirvAction, file: string, flags: SpirvFlags) => {
      const { spirvTool } = await import("./spirv.ts");
      setStatus(spirvTool(action, file, flags));
    });

  kiln
    .command("cache")
    .description("look at, empty or check the on-disk cache")
    .argument("<action>", "stats, clear or verify", cacheAction)
    .option("--server <url>", "stats or clear of this service")
    .option("--cache-dir <dir>", "folder of the disk cache")
    .option("--json", "print JSON")
    .action(async (action: CacheAction, { json, ...flags }: ServeFlags & { json?: boolean }) => {
      const settings = environment.loadConfig(flags);
      const { cacheCommand } = await import("./cache.ts");
      setStatus(await cacheCommand(action, settings, json === true));
    });

  kiln
    .command("doctor")
    .description("check this installation")
    .option("--cache-dir <dir>", "folder of the disk cache")
    .option("--json", "print JSON")
    .action(async ({ json, ...flags }: ServeFlags & { json?: boolean }) => {
      const settings = environment.loadConfig(flags);
      const { doctor } = await import("./doctor.ts");
      setStatus(await doctor(environment, settings.cacheDir, json === true));
    });
  return kiln;
}

interface ExecFlags extends SourceFlags {
  readonly seed?: string;
  readonly coherence?: boolean;
  readonly counters?: boolean;
  readonly json?: string | true;
  readonly bind?: readonly string[];
  readonly out?: readonly string[];
  readonly push: string;
  readonly groups: string;
  readonly timeoutSeconds: string;
}

function benchName(text: string): BenchName {
  if (text === "compile" || text === "codegen" || text === "simulate" || text === "service") return text;
  throw new InvalidArgumentError("expected compile, codegen, simulate or service");
}

function collectStages(text: string, before: readonly BenchStage[] | undefined): readonly BenchStage[] {
  if (text === "comp" || text === "vert" || text === "frag") return [...(before ?? []), text];
  throw new InvalidArgumentError("expected comp, vert or frag");
}

const spirvTargets: readonly SpirvTarget[] = ["vulkan1.0", "vulkan1.1", "vulkan1.2", "vulkan1.3"];

function spirvAction(text: string): SpirvAction {
  if (text === "as" || text === "dis" || text === "val") return text;
  throw new InvalidArgumentError("expected as, dis or val");
}

function cacheAction(text: string): CacheAction {
  if (text === "stats" || text === "clear" || text === "verify") return text;
  throw new InvalidArgumentError("expected stats, clear or verify");
}

/** Runs a command line (without `node` and the script). Answers the exit status: 0, 1, 2 or 3 as the contract says. */
export function main(args: readonly string[], environment: CliEnvironment): Promise<number> {
  bearLostReaders();
  return runCommand(
    (setStatus) => program(environment, setStatus),
    args,
    async (kiln) => {
      if (args.includes("--version")) return await printVersion();
      const [first] = args;
      if (first !== undefined && /^[^-]/.test(first) && !kiln.commands.some((command) => command.name() === first)) {
        if (first !== "help") throw new CliError(2, `there is no command ${first}: see kiln --help`);
      }
      return undefined;
    },
  );
}

async function printVersion(): Promise<0> {
  const { readBuildInfo } = await import("../service/index.ts");
  const { version, buildId } = readBuildInfo();
  print(`kiln ${version} (build ${buildId})`);
  return 0;
}
