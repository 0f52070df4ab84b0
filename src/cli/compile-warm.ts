import { type Diagnostic, invariant } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import { type CompileService, ServiceError } from "../service/index.ts";
import { showDiagnostics } from "./diagnostics.ts";
import { complain, print, type ServeSettings } from "./environment.ts";
import { openService } from "./open-service.ts";
import { ProgressLine } from "./progress.ts";
import { asking, remoteService } from "./remote.ts";
import { readableRequest, type SourceFlags } from "./source-files.ts";

/** Compiles each file into the cache, a folder's or a service's, and writes nothing. Answers the exit status. */
export async function warmCache(files: readonly string[], flags: SourceFlags, settings: ServeSettings): Promise<0 | 1> {
  const remote = remoteService(settings);
  const service = remote === undefined ? openService({ ...settings, verifyRate: 0 }) : undefined;
  const progress = new ProgressLine("warmed", files.length);
  let [compiled, found, bad, done, next] = [0, 0, 0, 0, 0];
  const lane = async () => {
    for (let at = next++; at < files.length; at = next++) {
      const request = readableRequest(files[at] as string, flags);
      const answer =
        request &&
        (service === undefined ? await asking(remoteAnswer(remote, request)) : await warmed(service, request));
      if (answer === undefined) bad++;
      else if (answer === "miss") compiled++;
      else if (typeof answer === "string") found++;
      else {
        bad++;
        showDiagnostics(answer);
      }
      progress.show(++done);
    }
  };
  try {
    await Promise.all(Array.from({ length: settings.workers + 1 }, lane));
  } finally {
    progress.end();
    await service?.close(settings.drainMs);
  }
  print(`${compiled} compiled, ${found} were there, ${bad} failed`);
  return bad === 0 ? 0 : 1;
}

type Warmed = string | readonly Diagnostic[];

async function warmed(service: CompileService, request: CompileRequest): Promise<Warmed | undefined> {
  try {
    const answer = await service.compile(request);
    return answer.ok ? answer.cache : answer.diagnostics;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    complain(`${request.filename}: ${error.message}`);
    return undefined;
  }
}

async function remoteAnswer(client: ReturnType<typeof remoteService>, request: CompileRequest): Promise<Warmed> {
  invariant(client !== undefined, "a service was named");
  const result = await client.compileWith(request, []);
  return result.ok ? result.answer.cache : result.diagnostics;
}
