import { ClientError, createClient, recordOf } from "../client/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import type { CompileOutcome } from "../compile/index.ts";
import { CliError, type ServeSettings } from "./environment.ts";

/** The service of `--server` or `KILN_SERVER`; the key is `KILN_API_KEY`. */
export function remoteService(settings: ServeSettings) {
  const { server: baseUrl, apiKey } = settings;
  if (baseUrl === undefined) return undefined;
  return createClient({ baseUrl, ...(apiKey !== undefined && { apiKey }) });
}

/** What a service answered, else how the command ends: 1 for what it refused, 3 for one that does not answer. */
export async function asking<T>(ask: Promise<T>): Promise<T> {
  try {
    return await ask;
  } catch (error) {
    if (error instanceof ClientError) {
      const isRefused = error.status >= 400 && error.status < 500;
      throw new CliError(isRefused ? 1 : 3, `${error.message} [${error.code}]`);
    }
    throw error;
  }
}

/** `compileWithReports` of a local compiler, by a service. */
export function remoteCompiler(client: ReturnType<typeof createClient>) {
  return {
    async compileWithReports(request: CompileRequest, dumpAfter?: readonly string[]): Promise<CompileOutcome> {
      const emit = ["code", "stats", "reflection", "sourceMap", "spirv", "ir", ...(dumpAfter ? ["passes"] : [])];
      const result = await asking(client.compileWith(request, emit));
      if (!result.ok) return { ok: false, diagnostics: result.diagnostics, filesRead: [] } as CompileOutcome;
      const { spirv = "", ir, passes = [] } = result.answer;
      const bytes = new Uint8Array(Buffer.from(spirv, "base64"));
      const shown = passes.map((pass) => {
        const { ir: text, ...rest } = pass;
        const isWanted = dumpAfter?.includes("all") || dumpAfter?.includes(pass.name);
        return { microseconds: 0, machine: false, ...rest, ...(isWanted && text !== undefined && { ir: text }) };
      });
      const reports = { spirv: new Uint32Array(bytes.buffer), passes: shown, ...(ir !== undefined && { ir }) };
      return { ok: true, record: recordOf(result.answer), reports, filesRead: [] } as CompileOutcome;
    },
  };
}
