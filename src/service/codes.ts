import { type CodeRow, defineCodes, fillHoles, type HoleValues } from "../base/index.ts";

/** What the service itself answers with; the compiler's own codes come as diagnostics. */
export const serviceCodes = defineCodes({
  COMPILE_FAILED: { status: 422, blame: "caller", text: "the shader does not compile" },
  COMPILE_TIME_LIMIT: { status: 504, blame: "caller", text: "the compile took more than {limitMs} ms and was stopped" },
  COMPILE_MEMORY_LIMIT: {
    status: 504,
    blame: "caller",
    text: "the compile needed more than {limitMb} MB and was stopped",
  },
  QUEUE_FULL: { status: 503, blame: "host", text: "{waiting} compiles are waiting, at most {limit} may" },
  CACHE_READ_ONLY: {
    status: 503,
    blame: "host",
    text: "nothing was purged on disk: the cache folder cannot be written ({reason})",
  },
  SHUTTING_DOWN: { status: 503, blame: "host", text: "the service is stopping" },
  COMPILER_BUG: {
    status: 500,
    blame: "bug",
    text: "the compiler failed on this input, which is our mistake; please report it with the input and id {id}",
  },
  WORKER_LOST: { status: 500, blame: "bug", text: "the compile worker ended unexpectedly; id {id}" },
});

export type ServiceCode = keyof typeof serviceCodes & string;

/** A request that the service could not answer with code. `detail` is for the log, never for the caller. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ServiceCode;
  readonly row: CodeRow;
  readonly detail: string | undefined;

  constructor(code: ServiceCode, message: string, detail?: string) {
    super(message);
    this.code = code;
    this.row = serviceCodes[code];
    this.detail = detail;
  }
}

export function serviceError<K extends ServiceCode>(
  code: K,
  values: HoleValues<(typeof serviceCodes)[K]["text"]>,
  detail?: string,
): ServiceError {
  return new ServiceError(code, fillHoles(serviceCodes[code].text, values), detail);
}
