import { STATUS_CODES } from "node:http";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { Diagnostic } from "../base/index.ts";
import { ServiceError } from "../service/index.ts";
import { HttpError, httpError } from "./codes.ts";

/** RFC 9457 problem details, and what we add to them. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly requestId: string;
  readonly diagnostics?: readonly Diagnostic[];
}

export const problemType = "application/problem+json";
const retryAfterSeconds = 1;
/** Of a body that is too large, this much is still read, and thrown away. */
const drainBytes = 64 << 20;

export function problemOf(
  status: number,
  code: string,
  detail: string,
  requestId: string,
  diagnostics?: readonly Diagnostic[],
): Problem {
  return {
    type: `urn:kiln:problem:${code}`,
    title: STATUS_CODES[status] ?? "Error",
    status,
    detail,
    code,
    requestId,
    ...(diagnostics !== undefined && { diagnostics }),
  };
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.status === 503) reply.header("retry-after", retryAfterSeconds);
  if (problem.status === 401) reply.header("www-authenticate", "Bearer");
  // Serialised here: a route's response schema is not for problems.
  return reply
    .code(problem.status)
    .type(problemType)
    .send(Buffer.from(JSON.stringify(problem)));
}

/** Turns whatever was thrown into a row of ours. What we do not know is a mistake of ours and says nothing of itself. */
function asKnown(error: FastifyError | HttpError | ServiceError, request: FastifyRequest, bodyBytes: number) {
  if (error instanceof HttpError || error instanceof ServiceError) return error;
  const { code, statusCode } = error;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return httpError("BODY_TOO_LARGE", { limit: bodyBytes });
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return httpError("MEDIA_TYPE", {});
  if (error.validation !== undefined || (statusCode !== undefined && statusCode >= 400 && statusCode < 500)) {
    return httpError("BAD_REQUEST", { reason: error.message });
  }
  return httpError("INTERNAL", { id: request.id });
}

export function errorHandler(bodyBytes: number) {
  return (error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const known = asKnown(error, request, bodyBytes);
    const { status, blame } = known.row;
    // A client that is still sending would lose the answer with the connection: Node reads off what is bounded.
    if (status === 413 && Number(request.headers["content-length"]) <= drainBytes) reply.removeHeader("connection");
    if (blame === "bug") request.log.error({ reqId: request.id, err: error, code: known.code }, "bug");
    return sendProblem(reply, problemOf(status, known.code, known.message, request.id));
  };
}
