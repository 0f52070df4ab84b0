import { Type } from "@sinclair/typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Diagnostic } from "../base/index.ts";
import { type CompileService, type Elsewhere, type ReportName, reportNames } from "../service/index.ts";
import { AnswerMemo } from "./answer-memo.ts";
import { answerText } from "./answer-text.ts";
import { httpError } from "./codes.ts";
import { type ParsedCompile, parseBody, parseRaw, parseStages, validBody } from "./compile-request.ts";
import { JsonBytes } from "./json-body.ts";
import { wants } from "./media.ts";
import { type Problem, problemOf, sendProblem } from "./problem.ts";
import {
  answerOf,
  bytesOf,
  compileAnswer,
  compileBody,
  problemsOf,
  rawQuery,
  stagesAnswer,
  textOf,
} from "./schemas.ts";

/** The problem of a shader that does not compile. */
export function refusal(diagnostics: readonly Diagnostic[], id: string): Problem {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const detail = `the shader has ${errors} error${errors === 1 ? "" : "s"}`;
  return problemOf(422, "COMPILE_FAILED", detail, id, diagnostics);
}

/** A compile's answer: its JSON, which may name another tier than the one that had it; or a problem. Errors: `ServiceError`. */
export async function compileAnswerOf(
  service: CompileService,
  { request, emit }: ParsedCompile,
  id: string,
  was: "own" | Elsewhere = "own",
) {
  const started = performance.now();
  const reports: ReportName[] = reportNames.filter((name) => emit.has(name));
  const compiled = await service.compile(request, reports, was);
  if (!compiled.ok) return { ok: false, problem: refusal(compiled.diagnostics, id) } as const;
  const microseconds = Math.round((performance.now() - started) * 1000);
  const compiler = JSON.stringify(service.build);
  const text = (cache = compiled.cache) => answerText(compiled, { request, emit, compiler, microseconds, cache });
  return { ok: true, compiled, text } as const;
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
    if (!result.ok) return sendProblem(reply, result.problem);
    const { compiled } = result;
    if (!asElf) {
      const text = result.text();
      const { body } = request;
      if (body instanceof JsonBytes && compiled.cache === "memory" && compiled.reports === undefined) {
        this.#memo.keep(body.bytes, text, compiled);
      }
      return reply.type(jsonType).send(text);
    }
    const { key, cache, stored } = compiled;
    const { elf } = stored;
    return reply
      .headers({ "x-kiln-key": key, "x-kiln-cache": cache, etag: `"${stored.text("codeSha256")}"`, vary: "accept" })
      .type(elfType)
      .send(Buffer.from(elf.buffer, elf.byteOffset, elf.byteLength));
  }

  /** All stages' answers, or one problem with the diagnostics of every stage that does not compile. */
  async #answerStages(stages: readonly ParsedCompile[], id: string, reply: FastifyReply, asElf: boolean) {
    if (asElf) throw httpError("BAD_REQUEST", { reason: "stages have a code object each: ask for application/json" });
    const started = performance.now();
    const results = await Promise.all(stages.map((parsed) => compileAnswerOf(this.#service, parsed, id)));
    const diagnostics = results.flatMap((result, i) => {
      const { stage } = stages[i]!.request;
      return result.ok ? [] : (result.problem.diagnostics ?? []).map((diagnostic) => ({ ...diagnostic, stage }));
    });
    // Both stages tell of what does not go together; the one that stands in the way of the other says why itself.
    const told = diagnostics.filter(({ code, stage }) => !code.startsWith("LINK_") || stage === "fragment");
    const reasons = told.filter(({ code }) => code !== "COMPILE_LINKED_STAGE");
    if (results.some(({ ok }) => !ok)) {
      return sendProblem(reply, refusal((reasons.length > 0 ? reasons : told).slice(0, maxDiagnostics), id));
    }
    const microseconds = Math.round((performance.now() - started) * 1000);
    const answers = results.map((result) => (result.ok ? result.text() : ""));
    return reply.type(jsonType).send(`{"stages":[${answers.join(",")}],"microseconds":${microseconds}}`);
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
        querystring: rawQuery,
        body: {
          content: {
            "application/json": { schema: compileBody },
            "application/x-spirv": { schema: bytesOf("SPIR-V words; the other fields are query parameters") },
            "text/x-glsl": { schema: textOf("GLSL text; the other fields are query parameters") },
          },
        },
        response: {
          200: answerOf("the code and what was asked for beside it", {
            "application/json": Type.Union([compileAnswer, stagesAnswer]),
            [elfType]: bytesOf("the ELF code object, for those who accept it rather than JSON"),
          }),
          ...problemsOf(422, 504),
        },
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
