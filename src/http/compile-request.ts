import type { Static, TSchema } from "@sinclair/typebox";
import type { FastifyRequest } from "fastify";
import { type CompileRequest, defaultRequest } from "../codeobj/index.ts";
import { httpError } from "./codes.ts";
import { type CompileBody, compileBody, type EmitName } from "./schemas.ts";

const bad = (reason: string) => httpError("BAD_REQUEST", { reason });
const defaultEmit: readonly EmitName[] = ["code", "stats", "reflection"];

export interface ParsedCompile {
  readonly request: CompileRequest;
  readonly emit: ReadonlySet<EmitName>;
}

/** The value, found valid by the schema, which is compiled at its first use. Errors: BAD_REQUEST. */
export function validBody<T extends TSchema>(request: FastifyRequest, schema: T, value: unknown): Static<T> {
  // Kept by Fastify under the schema object.
  const validate = request.compileValidationSchema(schema);
  if (validate(value) !== false) return value as Static<T>;
  const first = validate.errors?.[0];
  const where = (first?.instancePath ?? "").slice(1).replaceAll("/", ".");
  const extra: unknown = first?.params.additionalProperty;
  const unknown = typeof extra === "string" ? `: ${extra.slice(0, 100)}` : "";
  throw bad(`${where === "" ? "the body" : where} ${first?.message ?? "is not valid"}${unknown}`);
}

/** The request of a JSON body that the schema accepted. Errors: BAD_REQUEST. */
export function parseBody(body: CompileBody): ParsedCompile {
  const { source, spirv, language, options, emit, stages, ...rest } = body;
  if (stages !== undefined) throw bad("stages stand in a JSON body of POST /compile only");
  if ((source === undefined) === (spirv === undefined)) throw bad("give either source or spirv");
  const chosen = language ?? (spirv === undefined ? "glsl" : "spirv");
  if ((chosen === "spirv") !== (spirv !== undefined)) throw bad(`language ${chosen} does not go with the given field`);
  const ids = (rest.specialization ?? []).map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) < at);
  if (twice !== undefined) throw bad(`specialization has the id ${twice} twice`);
  const input = spirv === undefined ? { source: source ?? "" } : { spirv: decodeBase64(spirv) };
  const request: CompileRequest = {
    ...defaultRequest,
    ...rest,
    options: { ...defaultRequest.options, ...options },
    language: chosen,
    ...input,
  };
  return { request, emit: new Set(emit ?? defaultEmit) };
}

/** A request for each stage of a body with `stages`, linked with the other one; undefined without. Errors: BAD_REQUEST. */
export function parseStages({ stages, ...shared }: CompileBody): readonly ParsedCompile[] | undefined {
  if (stages === undefined) return undefined;
  const own = (["source", "spirv", "language", "stage"] as const).find((name) => shared[name] !== undefined);
  if (own !== undefined) throw bad(`${own} stands in each of the stages`);
  const names = stages.map(({ stage }) => stage);
  if (new Set(names).size < names.length) throw bad("a stage stands twice in stages");
  if (names.length > 1 && names.includes("compute")) throw bad("a compute stage is a pipeline by itself");
  const parsed = stages.map((stage) => parseBody({ ...shared, ...stage }));
  const [first, second] = parsed;
  if (first === undefined || second === undefined) return parsed;
  const link = ({ request, emit }: ParsedCompile, { request: linked }: ParsedCompile) => ({
    request: { ...request, linked },
    emit,
  });
  return [link(first, second), link(second, first)];
}

function decodeBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw bad("spirv is not base64");
  return Buffer.from(text, "base64");
}

const optionNames: ReadonlySet<string> = new Set([
  "optimization",
  "dialect",
  "mainImage",
  "debugInfo",
  "warningsAsErrors",
]);
const jsonNames: ReadonlySet<string> = new Set(["pipeline", "defines", "includes", "specialization", "options"]);

/** The body that a raw request means: the bytes, and the other fields from the query. */
function bodyOfQuery(query: Readonly<Record<string, string | readonly string[]>>): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const options: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(query)) {
    const text = typeof given === "string" ? given : given.join(",");
    if (name === "emit") body.emit = text.split(",").filter((part) => part !== "");
    else if (name === "dialect") options.dialect = text;
    else if (optionNames.has(name)) options[name] = parseJson(name, text);
    else if (jsonNames.has(name)) body[name] = parseJson(name, text);
    else body[name] = text;
  }
  if (Object.keys(options).length > 0) body.options = { ...(body.options as object | undefined), ...options };
  return body;
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw bad(`query parameter ${name} is not JSON`);
  }
}

/** The request of a raw `application/x-spirv` or `text/x-glsl` body. Errors: BAD_REQUEST. */
export function parseRaw(request: FastifyRequest, bytes: Buffer, isSpirv: boolean): ParsedCompile {
  const fields = bodyOfQuery(request.query as Record<string, string | string[]>);
  if ("source" in fields || "spirv" in fields || "language" in fields) throw bad("the body is the source");
  const body = isSpirv ? { ...fields, spirv: "" } : { ...fields, source: decodeUtf8(bytes) };
  const parsed = parseBody(validBody(request, compileBody, body));
  return isSpirv ? { ...parsed, request: { ...parsed.request, spirv: bytes } } : parsed;
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw bad("the body is not UTF-8 text");
  }
}
