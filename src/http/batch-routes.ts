import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  Batches,
  type BatchItem,
  type BatchView,
  type CompileService,
  type Farm,
  type FarmItem,
  type FarmResult,
  ServiceError,
  type Spread,
  serviceCodes,
} from "../service/index.ts";
import { linesOf, shadersOfJson, Turns } from "./batch-body.ts";
import { httpError } from "./codes.ts";
import { type ParsedCompile, parseBody, validBody } from "./compile-request.ts";
import { compileAnswerOf, refusal } from "./compile-route.ts";
import { type JsonBytes, tooDeep } from "./json-body.ts";
import { isTooDeep } from "./json-scan.ts";
import { wants } from "./media.ts";
import { type Problem, problemOf } from "./problem.ts";
import { answerOf, batchBody, batchParams, batchProgress, compileBody, problemsOf, textOf } from "./schemas.ts";

const maxShaders = 10_000;
const maxBytes = 64 << 20;
const maxRunning = 8;
const ndjson = "application/x-ndjson";
/** A proxy cuts a stream on which nothing comes for long. */
const keepAliveMs = 15_000;

/**
 * Each element is a body of `POST /compile`: parsed already, or bytes: one line, or what is above the limit of such a body.
 * What a farm was given takes the place of the body it was made of.
 */
type Shaders = unknown[];

class Ready {
  readonly parsed: ParsedCompile;

  constructor(parsed: ParsedCompile) {
    this.parsed = parsed;
  }
}

const bytesEachOf = (request: FastifyRequest) => request.server.initialConfig.bodyLimit ?? maxBytes;

async function shadersOf(request: FastifyRequest): Promise<Shaders> {
  const { body } = request;
  if (body === undefined || body === null) {
    throw httpError("BAD_REQUEST", {
      reason: "there is no body: send a list of shaders as application/json, or as lines",
    });
  }
  const split = Buffer.isBuffer(body)
    ? await linesOf(body, maxShaders)
    : await shadersOfJson(request, body as JsonBytes, maxShaders, bytesEachOf(request));
  const shaders = [...(split ?? validBody(request, batchBody, (body as JsonBytes).parse(request)).shaders)];
  if (shaders.length === 0) throw httpError("BAD_REQUEST", { reason: "a batch has at least one shader" });
  if (shaders.length > maxShaders) throw httpError("BATCH_TOO_LARGE", { limit: maxShaders });
  // The request is kept as long as its batch runs; the text of what is parsed need not be.
  request.body = undefined;
  return shaders;
}

/** One shader of a batch; without an `emit` it asks for statistics. Errors: BAD_REQUEST, BODY_TOO_LARGE. */
function parseShader(request: FastifyRequest, shader: unknown): ParsedCompile {
  if (shader instanceof Ready) return shader.parsed;
  const body = Buffer.isBuffer(shader) ? parseLine(shader, bytesEachOf(request)) : shader;
  const parsed = parseBody(validBody(request, compileBody, body));
  const emit = (body as { emit?: unknown }).emit === undefined ? new Set(["stats"] as const) : parsed.emit;
  return { request: parsed.request, emit };
}

/** The JSON of an object with its index in front. */
const withIndex = (index: number, json: string) => `{"index":${index},${json.slice(1)}`;

const failure = (index: number, problem: Problem): BatchItem => ({
  ok: false,
  line: withIndex(index, JSON.stringify(problem)),
});

/** One shader's answer: that of `POST /compile`, success or problem, with its index. */
async function compileOne(
  service: CompileService,
  request: FastifyRequest,
  shader: unknown,
  index: number,
): Promise<BatchItem> {
  try {
    const result = await compileAnswerOf(service, parseShader(request, shader), request.id);
    return result.ok ? { ok: true, line: withIndex(index, result.text()) } : failure(index, result.problem);
  } catch (error) {
    if (error instanceof ServiceError && (error.code === "QUEUE_FULL" || error.code === "SHUTTING_DOWN")) throw error;
    const known =
      error instanceof ServiceError || isHttpError(error) ? error : httpError("INTERNAL", { id: request.id });
    if (known !== error) request.log.error({ reqId: request.id, err: error }, "bug");
    return failure(index, problemOf(known.row.status, known.code, known.message, request.id));
  }
}

/** The answer of a shader that the farm has seen: its code comes from the shared cache. */
async function farmAnswer(
  service: CompileService,
  request: FastifyRequest,
  shader: unknown,
  index: number,
  result: FarmResult,
): Promise<BatchItem> {
  if (result.kind === "failed") {
    const { code, message } = result;
    service.countFailure();
    return failure(index, problemOf(statusOf(code), code, message, request.id));
  }
  if (result.kind === "refused") {
    service.countElsewhere(result.was);
    return failure(index, refusal(result.diagnostics, request.id));
  }
  const answer = await compileAnswerOf(service, parseShader(request, shader), request.id, result.was);
  if (!answer.ok) return failure(index, answer.problem);
  const { cache } = answer.compiled;
  // What the shared cache lost since is compiled here, and says so.
  return {
    ok: true,
    line: withIndex(index, answer.text(cache === "miss" || cache === "joined" ? cache : result.was.cache)),
  };
}

const statusOf = (code: string) =>
  code in serviceCodes ? serviceCodes[code as keyof typeof serviceCodes].status : 500;

/** What parses of a batch; the rest is left to be refused one by one. Other requests get their turn in between. */
async function* farmItems(request: FastifyRequest, shaders: Shaders): AsyncIterable<FarmItem> {
  const turns = new Turns();
  for (const [index, shader] of shaders.entries()) {
    if (turns.isOver) await turns.next();
    let parsed: ParsedCompile;
    try {
      parsed = parseShader(request, shader);
      shaders[index] = new Ready(parsed);
    } catch {
      continue;
    }
    yield { index, request: parsed.request };
  }
}

function spreadOver(farm: Farm, service: CompileService, request: FastifyRequest, shaders: Shaders): Spread {
  return (add) =>
    farm.run(farmItems(request, shaders), shaders.length, async (index, result) =>
      add(await farmAnswer(service, request, shaders[index], index, result)),
    );
}

const isHttpError = (error: unknown): error is ReturnType<typeof httpError> =>
  error instanceof Error && error.name === "HttpError";

function parseLine(line: Buffer, limit: number): unknown {
  if (line.length > limit) throw httpError("BODY_TOO_LARGE", { limit });
  if (isTooDeep(line)) throw tooDeep();
  try {
    return JSON.parse(line.toString("utf8"));
  } catch {
    throw httpError("BAD_REQUEST", { reason: "the line is not JSON" });
  }
}

/** Sends each result after `from` as an event whose id is its number, then how the batch ended. */
async function sendEvents(batch: BatchView, from: number, reply: FastifyReply, isOver: () => boolean): Promise<void> {
  const { raw } = reply;
  const send = async (text: string) => {
    if (raw.write(text) || isOver()) return;
    await new Promise<void>((resolve) => {
      raw.once("drain", resolve);
      raw.once("close", resolve);
    });
  };
  const timer = setInterval(() => raw.write(": still here\n\n"), keepAliveMs).unref();
  const closed = new Promise<void>((resolve) => raw.once("close", resolve));
  try {
    for (let at = from; !isOver() && !raw.destroyed; ) {
      // Asked for before the look, so that what happens while we send is not missed.
      const changed = batch.changed();
      const { state, total, failed } = batch.progress();
      for (; at < batch.results.length && !raw.destroyed; at++) {
        await send(`id: ${at + 1}\nevent: shader\ndata: ${batch.results[at]}\n\n`);
      }
      if (state !== "running") {
        await send(`event: ${state}\ndata: ${JSON.stringify({ total, done: at, failed })}\n\n`);
        break;
      }
      await Promise.race([changed, closed]);
    }
  } finally {
    clearInterval(timer);
    raw.end();
  }
}

export function batchRoutes(app: FastifyInstance, service: CompileService, workers: number, farm?: Farm): void {
  const batches = new Batches({ width: workers, maxRunning, ...(farm !== undefined && { board: farm.board }) });
  let isOver = false;
  const streams = new Set<FastifyReply>();
  app.addHook("preClose", async () => {
    isOver = true;
    batches.stop();
    for (const { raw } of streams) raw.end();
  });
  const find = async (id: string): Promise<BatchView> => {
    const batch = await batches.find(id);
    if (batch === undefined) throw httpError("BATCH_UNKNOWN", {});
    return batch;
  };
  app.addContentTypeParser(ndjson, { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.post(
    "/batch",
    {
      config: { role: "write", bodyAsBytes: true },
      bodyLimit: maxBytes,
      schema: {
        summary: "Compile many shaders: a JSON object, or a line each (application/x-ndjson)",
        body: {
          content: {
            "application/json": { schema: batchBody },
            [ndjson]: { schema: textOf("a body of POST /compile on each line") },
          },
        },
        response: { 202: batchProgress },
      },
    },
    async (request, reply) => {
      const shaders = await shadersOf(request);
      const batch = await batches.start(
        shaders.length,
        (index) => compileOne(service, request, shaders[index], index),
        farm && spreadOver(farm, service, request, shaders),
      );
      if (batch === undefined) throw httpError("BATCHES_BUSY", { limit: maxRunning });
      return reply.code(202).header("location", `/batch/${batch.id}`).send(batch.progress());
    },
  );
  app.get<{ Params: { id: string } }>(
    "/batch/:id",
    {
      config: { role: "read" },
      schema: {
        summary: "Progress of a batch; with `accept: application/x-ndjson` its results so far, a line each",
        params: batchParams,
        response: {
          200: answerOf("how it stands, or what there is of its results", {
            "application/json": batchProgress,
            [ndjson]: textOf("an answer or a problem with its index on each line"),
          }),
          ...problemsOf(404),
        },
      },
    },
    async (request, reply) => {
      const batch = await find(request.params.id);
      if (!wants(request.headers.accept, ndjson)) return batch.progress();
      await batch.load();
      return reply.type(ndjson).send(batch.results.map((line) => `${line}\n`).join(""));
    },
  );
  app.get<{ Params: { id: string } }>(
    "/batch/:id/events",
    {
      config: { role: "read" },
      schema: {
        summary: "Results as Server-Sent Events, from after `last-event-id`",
        params: batchParams,
        response: {
          200: answerOf("one `shader` event a result, then `done` or `stopped`", {
            "text/event-stream": textOf("Server-Sent Events"),
          }),
          ...problemsOf(404),
        },
      },
    },
    async (request, reply) => {
      const batch = await find(request.params.id);
      const last = request.headers["last-event-id"] ?? "0";
      if (typeof last !== "string" || !/^\d{1,9}$/.test(last)) {
        throw httpError("BAD_REQUEST", { reason: "last-event-id is no event's id" });
      }
      await batch.load();
      reply.hijack();
      streams.add(reply);
      const headers = { ...reply.getHeaders(), "content-type": "text/event-stream", "cache-control": "no-store" };
      reply.raw.writeHead(200, headers as Record<string, string>);
      await sendEvents(batch, Math.min(Number(last), batch.total), reply, () => isOver);
      streams.delete(reply);
    },
  );
}
