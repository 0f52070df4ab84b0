import { hash as digest } from "node:crypto";
import { Type } from "@sinclair/typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Diagnostic } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import {
  type CompileService,
  type CompileSuccess,
  type ReportName,
  recordAssembly,
  recordFlow,
  recordLiveRegisters,
  reportNames,
} from "../service/index.ts";
import { AnswerMemo } from "./answer-memo.ts";
import { httpError } from "./codes.ts";
import { type ParsedCompile, parseBody, parseRaw, parseStages, validBody } from "./compile-request.ts";
import { JsonBytes } from "./json-body.ts";
import { wants } from "./media.ts";
import { type Problem, problemOf, sendProblem } from "./problem.ts";
import { compileAnswer, compileBody, type EmitName, problem, stagesAnswer } from "./schemas.ts";

/** Hashes of code objects, kept as long as the record that holds the bytes. */
const hashes = new WeakMap<Uint8Array, string>();

export function codeSha256(elf: Uint8Array): string {
  let hash = hashes.get(elf);
  if (hash === undefined) {
    hash = digest("sha256", elf);
    hashes.set(elf, hash);
  }
  return hash;
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

function answerOf(
  service: CompileService,
  { record, key, cache, reports }: CompileSuccess,
  request: CompileRequest,
  emit: ReadonlySet<EmitName>,
  microseconds: number,
) {
  return {
    key,
    cache,
    target: request.target,
    stage: record.stage,
    entryPoint: record.entryPoint,
    ...(emit.has("code") && { code: base64(record.elf) }),
    codeSha256: codeSha256(record.elf),
    codeSizeBytes: record.stats.codeSizeBytes,
    ...(emit.has("asm") && { asm: recordAssembly(record) }),
    ...(emit.has("spirv") && reports && { spirv: base64(reports.spirv) }),
    ...(emit.has("ir") && reports?.ir !== undefined && { ir: reports.ir }),
    ...(emit.has("passes") && reports && { passes: reports.passes }),
    ...(emit.has("stats") && { stats: record.stats }),
    ...(emit.has("reflection") && { reflection: record.reflection }),
    ...(emit.has("sourceMap") && { sourceMap: record.sourceMap }),
    ...(emit.has("liveRegisters") && { liveRegisters: recordLiveRegisters(record) }),
    ...(emit.has("cfg") && { cfg: recordFlow(record) }),
    pipeline: pipelineUsed(request, record.reflection),
    diagnostics: record.diagnostics,
    compiler: service.build,
    microseconds,
  };
}

/** The pipeline state in force: what the request gave, and what was derived from the shader. */
function pipelineUsed(request: CompileRequest, reflection: CompileSuccess["record"]["reflection"]) {
  const derived = reflection.sets.map(({ set, bindings }) => ({
    set,
    bindings: bindings.map(({ binding, type, count }) => ({ binding, type, count })),
  }));
  return {
    layout: request.pipeline.layout ?? { sets: derived, pushConstantBytes: reflection.pushConstantBytes },
    floatControls: { contraction: request.pipeline.floatControls?.contraction ?? true },
    ...(reflection.interface?.vertexAttributes.length && {
      vertexInput: {
        attributes: reflection.interface.vertexAttributes,
        ...(request.pipeline.vertexInput?.bindings && { bindings: request.pipeline.vertexInput.bindings }),
      },
    }),
    ...(request.pipeline.colorFormats && { colorFormats: request.pipeline.colorFormats }),
  };
}

/** The problem of a shader that does not compile. */
export function refusal(diagnostics: readonly Diagnostic[], id: string): Problem {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const detail = `the shader has ${errors} error${errors === 1 ? "" : "s"}`;
  return problemOf(422, "COMPILE_FAILED", detail, id, diagnostics);
}

/** The body of a compile's answer: what was asked for, or a problem with diagnostics. Errors: `ServiceError`. */
export async function compileAnswerOf(service: CompileService, { request, emit }: ParsedCompile, id: string) {
  const started = performance.now();
  const reports: ReportName[] = reportNames.filter((name) => emit.has(name));
  const compiled = await service.compile(request, reports);
  if (!compiled.ok) {
    return { ok: false, answer: refusal(compiled.diagnostics, id) } as const;
  }
  const microseconds = Math.round((performance.now() - started) * 1000);
  return { ok: true, compiled, answer: answerOf(service, compiled, request, emit, microseconds) } as const;
}

const elfType = "application/x-elf";
const jsonType = "application/json; charset=utf-8";
/** Some six thousand answers of usual size. */
const memoBytes = 32 << 20;

/** Of one problem. */
const maxDiagnostics = 100;

type Body = JsonBytes | Buffer | undefined;

class CompileRoute {
  readonly #service: CompileService;
  readonly #memo = new AnswerMemo(memoBytes);

  constructor(service: CompileService) {
    this.#service = service;
  }

  /** True where the answer was at hand and is on its way. */
  answerAgain(body: Uint8Array, reply: FastifyReply): boolean {
    const started = performance.now();
    const found = this.#memo.find(body);
    if (found === undefined || !this.#service.hitAgain(found.key, found.stored)) return false;
    const microseconds = Math.round((performance.now() - started) * 1000);
    reply.type(jsonType).send(`${found.head}${microseconds}}`);
    return true;
  }

  async answer(request: FastifyRequest<{ Body: Body }>, reply: FastifyReply, asElf: boolean): Promise<FastifyReply> {
    const parsed = parsedOf(request);
    if (!("request" in parsed)) return this.#answerStages(parsed, request.id, reply, asElf);
    const result = await compileAnswerOf(this.#service, parsed, request.id);
    if (!result.ok) return sendProblem(reply, result.answer);
    const { compiled, answer } = result;
    if (!asElf) {
      const text = JSON.stringify(answer);
      const { body } = request;
      if (body instanceof JsonBytes && compiled.cache === "memory" && compiled.reports === undefined) {
        this.#memo.keep(body.bytes, text, compiled);
      }
      return reply.type(jsonType).send(text);
    }
    const { key, cache, record } = compiled;
    return reply
      .headers({ "x-kiln-key": key, "x-kiln-cache": cache, etag: `"${codeSha256(record.elf)}"`, vary: "accept" })
      .type(elfType)
      .send(Buffer.from(record.elf.buffer, record.elf.byteOffset, record.elf.byteLength));
  }

  /** All stages' answers, or one problem with the diagnostics of every stage that does not compile. */
  async #answerStages(stages: readonly ParsedCompile[], id: string, reply: FastifyReply, asElf: boolean) {
    if (asElf) throw httpError("BAD_REQUEST", { reason: "stages have a code object each: ask for application/json" });
    const started = performance.now();
    const results = await Promise.all(stages.map((parsed) => compileAnswerOf(this.#service, parsed, id)));
    const diagnostics = results.flatMap((result, i) => {
      const { stage } = stages[i]!.request;
      return result.ok ? [] : (result.answer.diagnostics ?? []).map((diagnostic) => ({ ...diagnostic, stage }));
    });
    if (results.some(({ ok }) => !ok)) return sendProblem(reply, refusal(diagnostics.slice(0, maxDiagnostics), id));
    const microseconds = Math.round((performance.now() - started) * 1000);
    return reply.type(jsonType).send(JSON.stringify({ stages: results.map(({ answer }) => answer), microseconds }));
  }
}

function parsedOf(request: FastifyRequest<{ Body: Body }>): ParsedCompile | readonly ParsedCompile[] {
  const { body } = request;
  if (Buffer.isBuffer(body)) {
    return parseRaw(request, body, request.headers["content-type"]?.startsWith("application/x-spirv") === true);
  }
  const valid = validBody(request, compileBody, body?.parse(request));
  return parseStages(valid) ?? parseBody(valid);
}

const problems = Object.fromEntries(
  [400, 401, 403, 413, 415, 422, 429, 500, 503, 504].map((status) => [status, problem]),
);

export function compileRoute(app: FastifyInstance, service: CompileService): void {
  for (const type of ["application/x-spirv", "text/x-glsl"]) {
    app.addContentTypeParser(type, { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  }
  const route = new CompileRoute(service);
  app.post<{ Body: Body }>(
    "/compile",
    {
      config: { role: "write", bodyAsBytes: true },
      schema: {
        summary: "Compile one shader, or the stages of a pipeline",
        body: { content: { "application/json": { schema: compileBody } } },
        response: { 200: Type.Union([compileAnswer, stagesAnswer]), ...problems },
      },
    },
    (request, reply) => {
      const { body, headers } = request;
      const asElf = wants(headers.accept, elfType);
      if (!asElf && body instanceof JsonBytes && route.answerAgain(body.bytes, reply)) return undefined;
      return route.answer(request, reply, asElf);
    },
  );
}
