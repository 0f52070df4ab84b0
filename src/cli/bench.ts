import { writeFileSync } from "node:fs";
import { fileProblem } from "../base/index.ts";
import { benchCodegen, codegenTable } from "./bench-codegen.ts";
import { benchCompile } from "./bench-compile.ts";
import { compileTable } from "./bench-compile-table.ts";
import { type BenchStage, benchShaders } from "./bench-corpus.ts";
import { measurePeers, type PeerOptions } from "./bench-peers.ts";
import { benchService, missedBars, serviceTable } from "./bench-service.ts";
import { benchSimulate, simulateTable } from "./bench-simulate.ts";
import { CliError, complain, print } from "./environment.ts";

export interface BenchFlags {
  readonly peers?: boolean;
  readonly corpus?: readonly string[];
  readonly stage?: readonly BenchStage[];
  readonly json?: string | true;
  /** A figure of the service that misses its bar ends with status 1. */
  readonly check?: boolean;
  readonly radv?: string;
  readonly glslang?: string;
  readonly work?: string;
  readonly lavapipe?: string;
}

export type BenchName = "compile" | "codegen" | "service" | "simulate";

/** Timed runs of a simulated kernel. */
const simulateRuns = 5;
/** Timed compiles of a shader by the peers. */
const peerRuns = 7;

/** Runs one bench, or both of the compiler; prints tables, or JSON that scripts read. Errors: `CliError` 2 for flags, 3 for missing peers. */
export async function bench(name: BenchName | undefined, flags: BenchFlags): Promise<0 | 1> {
  const results: Record<string, object> = {};
  const tables: string[] = [];
  let missed: readonly string[] = [];
  if (flags.check === true && name !== "service") throw new CliError(2, "--check: of bench service only");
  if (name === "service") {
    const result = await benchService();
    results.service = result;
    tables.push(serviceTable(result));
    if (flags.check === true) missed = missedBars(result);
  } else if (name === "simulate") {
    if (flags.peers === true && flags.lavapipe === undefined)
      throw new CliError(2, "--peers: give --lavapipe COMMAND, which runs the same kernels on the CPU");
    const result = await benchSimulate(simulateRuns, flags.peers === true ? flags.lavapipe : undefined);
    results.simulate = result;
    tables.push(simulateTable(result));
  } else {
    await benchCompiler(name, flags, results, tables);
  }
  const json = `${JSON.stringify(name === undefined ? results : results[name], null, 1)}\n`;
  if (flags.json === "-" || flags.json === true) print(json);
  else print(tables.join("\n"));
  if (typeof flags.json === "string" && flags.json !== "-") {
    try {
      writeFileSync(flags.json, json);
    } catch (error) {
      throw new CliError(3, `${flags.json}: cannot write it: ${fileProblem(error)}`);
    }
  }
  for (const text of missed) complain(`missed: ${text}`);
  return missed.length === 0 ? 0 : 1;
}

async function benchCompiler(
  name: BenchName | undefined,
  flags: BenchFlags,
  results: Record<string, object>,
  tables: string[],
): Promise<void> {
  const shaders = benchShaders(flags.corpus ?? [], flags.stage);
  const runs = name === "codegen" ? 0 : peerRuns;
  const peers = flags.peers === true ? await measurePeers(shaders, peerOptions(flags, runs)) : undefined;
  if (name !== "compile") {
    const result = await benchCodegen(shaders, peers);
    results.codegen = result;
    tables.push(codegenTable(result));
  }
  if (name !== "codegen") {
    const result = await benchCompile(shaders, peers);
    results.compile = result;
    tables.push(compileTable(result));
  }
}

function peerOptions({ radv, glslang, work }: BenchFlags, runs: number): PeerOptions {
  if (radv === undefined)
    throw new CliError(2, "--peers: give --radv COMMAND, which measures the driver to compare with");
  return { radv, glslang: runs === 0 ? undefined : glslang, folder: work, runs };
}
