import { type CodeRow, defineCodes, fillHoles, type HoleValues } from "../base/index.ts";

/** What the HTTP layer itself refuses. */
export const httpCodes = defineCodes({
  BAD_REQUEST: { status: 400, blame: "caller", text: "{reason}" },
  KEY_MISSING: { status: 401, blame: "caller", text: "an API key is needed: send `authorization: Bearer KEY`" },
  KEY_UNKNOWN: { status: 401, blame: "caller", text: "the API key is not known" },
  KEY_ROLE: { status: 403, blame: "caller", text: "this needs a key with the {role} role" },
  HOST_REFUSED: {
    status: 403,
    blame: "caller",
    text: "requests to a loopback listener must name it in Host and Origin",
  },
  NOT_FOUND: { status: 404, blame: "caller", text: "there is nothing at {path}" },
  KEY_NOT_CACHED: { status: 404, blame: "caller", text: "no cached record has this key" },
  METHOD_NOT_ALLOWED: { status: 405, blame: "caller", text: "{path} answers {methods}" },
  BODY_TOO_LARGE: { status: 413, blame: "caller", text: "the body is larger than {limit} bytes" },
  MEDIA_TYPE: { status: 415, blame: "caller", text: "send application/json, application/x-spirv or text/x-glsl" },
  CONTENT_ENCODING: { status: 415, blame: "caller", text: "bodies are read as they are: send no content-encoding" },
  BATCH_TOO_LARGE: { status: 413, blame: "caller", text: "a batch has at most {limit} shaders" },
  BATCH_UNKNOWN: { status: 404, blame: "caller", text: "no batch has this id, or its results are no longer kept" },
  BATCHES_BUSY: { status: 503, blame: "host", text: "{limit} batches are running, more may not" },
  RATE_LIMIT: { status: 429, blame: "caller", text: "too much in a minute: wait {seconds} s" },
  RANGE: { status: 416, blame: "caller", text: "the range is outside the {size} bytes of the code object" },
  INTERNAL: { status: 500, blame: "bug", text: "something went wrong here; the log has it under request {id}" },
  NOT_READY: { status: 503, blame: "host", text: "the service is not ready" },
});

export type HttpCode = keyof typeof httpCodes & string;

/** A refusal with a row: thrown by handlers, answered as a problem. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly code: HttpCode;
  readonly row: CodeRow;

  constructor(code: HttpCode, message: string) {
    super(message);
    this.code = code;
    this.row = httpCodes[code];
  }
}

export function httpError<K extends HttpCode>(code: K, values: HoleValues<(typeof httpCodes)[K]["text"]>): HttpError {
  return new HttpError(code, fillHoles(httpCodes[code].text, values));
}
