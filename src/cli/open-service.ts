import { distFile } from "../base/index.ts";
import { ShaderCache, storeProblem } from "../cache/index.ts";
import {
  CompilePool,
  CompileService,
  farmProblem,
  loadTracing,
  readBuildInfo,
  type Tracing,
  tracingProblem,
} from "../service/index.ts";
import { debugDump, showDebug } from "./debug-output.ts";
import { CliError, complain, type ServeSettings } from "./environment.ts";

/** The compile service of `serve` and `worker`. Errors: `CliError` 2 for a store that cannot be used here. */
export function openService(settings: ServeSettings, tracing?: Tracing): CompileService {
  const isOff = settings.cacheDisable || settings.debug.includes("nocache");
  const { redis, sharedSecret: secret, verifyRate } = settings;
  const noFarm = redis === undefined ? undefined : farmProblem(redis);
  if (noFarm !== undefined) throw new CliError(2, `--redis: ${noFarm}`);
  const url = settings.sharedCache ?? redis;
  const cannot = url === undefined ? undefined : storeProblem(url);
  if (cannot !== undefined) throw new CliError(2, `--shared-cache: ${cannot}`);
  const cache = new ShaderCache(
    isOff
      ? { memoryBytes: 0 }
      : {
          memoryBytes: settings.memoryBytes,
          disk: { folder: settings.cacheDir, capacityBytes: settings.cacheBytes },
          ...(url !== undefined && { shared: { url, ...(secret !== undefined && { secret }) } }),
        },
  );
  const problem = cache.disk?.problem;
  if (problem !== undefined) {
    const without = cache.disk?.isReadOnly === true ? "serving what it has" : "serving without a disk cache";
    complain(`kiln: cannot store in ${settings.cacheDir} (${problem}): ${without}`);
  }
  const { workers, maxWaiting, timeLimitMs, memoryLimitMb, isolate } = settings;
  const pool = new CompilePool({
    workerFile: distFile("compile-worker.js"),
    workers,
    maxWaiting,
    timeLimitMs,
    memoryLimitMb,
    isolate,
    ...(tracing !== undefined && { tracing }),
  });
  const onBug = (id: string, detail: string) => complain(`bug ${id}: ${detail}`);
  return new CompileService({ cache, pool, build: readBuildInfo(), verifyRate, onBug, ...debugOf(settings.debug) });
}

/** Undefined where no traces are wanted. Errors: `CliError` 2 without the package. */
export async function openTracing({ traces }: ServeSettings): Promise<Tracing | undefined> {
  if (!traces) return undefined;
  const problem = tracingProblem();
  if (problem !== undefined) throw new CliError(2, `--traces: ${problem}`);
  return loadTracing(readBuildInfo().version);
}

type ServiceOptions = ConstructorParameters<typeof CompileService>[0];

/** What `KILN_DEBUG` asks of each compile, and what is printed of it on standard error. */
function debugOf(names: readonly string[]): Pick<ServiceOptions, "onCompiled" | "debugTask"> {
  const dumpAfter = debugDump(names);
  const isChecked = names.includes("validate");
  return {
    debugTask: { ...(dumpAfter && { dumpAfter, reports: ["ir", "passes"] }), ...(isChecked && { checked: true }) },
    ...(names.length > 0 && {
      onCompiled: (key, record, microseconds, reports) => showDebug(names, key, record, microseconds, reports),
    }),
  };
}
