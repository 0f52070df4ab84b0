import type { Diagnostic } from "../base/index.ts";
import type {
  CompileRecord,
  CompileRequest,
  CompileResult,
  Reflection,
  ShaderCompiler,
  SourceMapEntry,
  Stage,
  Statistics,
} from "../codeobj/index.ts";

export interface ClientOptions {
  /** `http://127.0.0.1:7420`. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  /** Gives up on an answer after this; default 60 s. */
  readonly timeoutMs?: number;
}

/** What `POST /compile` answers with; fields come as `emit` asked. */
export interface CompileAnswer {
  readonly key: string;
  readonly cache: "miss" | "memory" | "disk" | "shared" | "joined";
  readonly target: string;
  readonly stage: Stage;
  readonly entryPoint: string;
  /** base64 of the ELF code object. */
  readonly code?: string;
  readonly codeSha256: string;
  readonly codeSizeBytes: number;
  readonly asm?: string;
  /** base64 of the SPIR-V words. */
  readonly spirv?: string;
  readonly ir?: string;
  readonly passes?: readonly { readonly name: string; readonly instructions: number; readonly ir?: string }[];
  readonly stats?: Statistics;
  readonly reflection?: Reflection;
  readonly sourceMap?: readonly SourceMapEntry[];
  readonly diagnostics: readonly Diagnostic[];
  readonly compiler: { readonly version: string; readonly buildId: string };
  readonly microseconds: number;
}

export type RemoteAnswer =
  | { readonly ok: true; readonly answer: CompileAnswer }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** The service refused or could not be reached; mistakes of the shader come as diagnostics instead. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  /** HTTP status; 0 where no answer came. */
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export interface Client extends ShaderCompiler {
  /** A record as a local compile gives it. Errors: `ClientError`. */
  compile(request: CompileRequest): Promise<CompileResult>;
  /** The service's own answer, with what `emit` names. Errors: `ClientError`. */
  compileWith(request: CompileRequest, emit: readonly string[]): Promise<RemoteAnswer>;
  /** Drops every cached compile; answers how many. */
  clearCache(): Promise<number>;
  cacheStats(): Promise<Readonly<Record<string, unknown>>>;
  version(): Promise<{ readonly version: string; readonly buildId: string }>;
}

const recordFields = ["code", "stats", "reflection", "sourceMap"] as const;

/** What each stage of a pipeline has of its own, as the route's JSON has it. */
function stageOf(request: CompileRequest) {
  const { spirv, source, language, stage, entryPoint, filename, defines, includes, specialization } = request;
  const input = spirv === undefined ? { source } : { spirv: Buffer.from(spirv).toString("base64") };
  return { ...input, language, stage, entryPoint, filename, defines, includes, specialization };
}

/** The request as the route's JSON; with another stage to link, both. */
function bodyOf(request: CompileRequest, emit: readonly string[]): string {
  const { target, targetEnv, robustness, pipeline, options, linked } = request;
  const shared = { target, targetEnv, robustness, pipeline, options, emit };
  const own = stageOf(request);
  return JSON.stringify(linked === undefined ? { ...shared, ...own } : { ...shared, stages: [own, stageOf(linked)] });
}

/** The record of an answer that holds all of it. Errors: `ClientError`. */
export function recordOf(answer: CompileAnswer): CompileRecord {
  const { code, stage, entryPoint, diagnostics, stats, reflection, sourceMap } = answer;
  if (code === undefined || stats === undefined || reflection === undefined || sourceMap === undefined) {
    throw new ClientError(200, "INCOMPLETE", "the service left out what was asked for");
  }
  const elf = new Uint8Array(Buffer.from(code, "base64"));
  return { elf, stage, entryPoint, diagnostics, stats, reflection, sourceMap };
}

/** A compile service over HTTP, in the shape of a local compiler. */
export function createClient(options: ClientOptions): Client {
  const base = options.baseUrl.replace(/\/+$/, "");
  const authorization = options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` };

  async function ask(path: string, init: RequestInit = {}): Promise<{ status: number; body: unknown }> {
    const signal = AbortSignal.timeout(options.timeoutMs ?? 60_000);
    try {
      const response = await fetch(`${base}${path}`, {
        ...init,
        signal,
        headers: { ...authorization, ...(init.body !== undefined && { "content-type": "application/json" }) },
      });
      return { status: response.status, body: await response.json() };
    } catch (error) {
      const cause = (error as Error).cause;
      const reason = cause instanceof Error ? cause.message : (error as Error).message;
      throw new ClientError(0, "UNREACHABLE", `${base}: ${reason}`);
    }
  }

  function refused(status: number, body: unknown): ClientError {
    const { code = "UNKNOWN", detail = `status ${status}` } = (body ?? {}) as { code?: string; detail?: string };
    return new ClientError(status, code, detail);
  }

  async function clearCache(): Promise<number> {
    const { status, body } = await ask("/cache", { method: "DELETE" });
    if (status !== 200) throw refused(status, body);
    return (body as { removed: number }).removed;
  }

  async function get(path: string): Promise<unknown> {
    const { status, body } = await ask(path);
    if (status !== 200) throw refused(status, body);
    return body;
  }

  async function compileWith(request: CompileRequest, emit: readonly string[]): Promise<RemoteAnswer> {
    const { status, body } = await ask("/compile", { method: "POST", body: bodyOf(request, emit) });
    if (status === 200) {
      const { stages } = body as { readonly stages?: readonly CompileAnswer[] };
      return { ok: true, answer: stages?.[0] ?? (body as CompileAnswer) };
    }
    const { diagnostics } = (body ?? {}) as { diagnostics?: readonly Diagnostic[] };
    if (status === 422 && diagnostics !== undefined) return { ok: false, diagnostics };
    throw refused(status, body);
  }

  return {
    compileWith,
    compile: async (request) => {
      const result = await compileWith(request, recordFields);
      return result.ok ? { ok: true, record: recordOf(result.answer) } : result;
    },
    clearCache,
    cacheStats: async () => (await get("/cache/stats")) as Readonly<Record<string, unknown>>,
    version: async () => (await get("/version")) as { version: string; buildId: string },
  };
}
