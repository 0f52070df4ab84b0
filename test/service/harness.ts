import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { ShaderCache } from "../../src/cache/index.ts";
import { type CompileRequest, defaultRequest } from "../../src/codeobj/index.ts";
import { CompilePool, type CompilePoolOptions, CompileService } from "../../src/service/index.ts";

const folders: string[] = [];

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "kiln-service-"));
  folders.push(folder);
  return folder;
}

export function removeTemporaryFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

let worker: Promise<string> | undefined;

/** The stand-in worker as JavaScript: a thread cannot start from TypeScript. */
function fakeWorkerFile(): Promise<string> {
  worker ??= (async () => {
    const outfile = join(mkdtempSync(join(tmpdir(), "kiln-worker-")), "worker.mjs");
    await build({
      entryPoints: [new URL("./fake-worker.ts", import.meta.url).pathname],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
    });
    return outfile;
  })();
  return worker;
}

export interface HarnessOptions {
  readonly folder?: string;
  readonly memoryBytes?: number;
  readonly buildId?: string;
  readonly pool?: Partial<CompilePoolOptions>;
  readonly bugs?: string[];
  readonly verifyRate?: number;
  readonly sharedUrl?: string;
}

/** A whole service on the stand-in worker. */
export async function startService(options: HarnessOptions = {}): Promise<CompileService> {
  const { folder, memoryBytes = 1 << 22, buildId = "build-1", bugs } = options;
  const disk = folder === undefined ? {} : { disk: { folder, capacityBytes: 64 << 20 } };
  const shared = options.sharedUrl === undefined ? {} : { shared: { url: options.sharedUrl, secret: "test" } };
  const pool = new CompilePool({
    workerFile: await fakeWorkerFile(),
    workers: 2,
    maxWaiting: 100,
    timeLimitMs: 5000,
    memoryLimitMb: 64,
    ...options.pool,
  });
  return new CompileService({
    cache: new ShaderCache({ memoryBytes, ...disk, ...shared }),
    pool,
    build: { version: "1.2.3", buildId },
    ...(options.verifyRate !== undefined && { verifyRate: options.verifyRate }),
    ...(bugs && { onBug: (id, detail) => bugs.push(`${id} ${detail}`) }),
  });
}

export const glsl = (source: string, fields: Partial<CompileRequest> = {}): CompileRequest => ({
  ...defaultRequest,
  language: "glsl",
  stage: "compute",
  source,
  ...fields,
});
