import type { CompileRequest } from "../codeobj/index.ts";
import {
  type CacheOutcome,
  type CompileSuccess,
  recordAssembly,
  recordFlow,
  recordLiveRegisters,
} from "../service/index.ts";
import type { EmitName } from "./schemas.ts";

const base64 = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

/** What an answer says beside the record. */
export interface AnswerFacts {
  readonly request: CompileRequest;
  readonly emit: ReadonlySet<EmitName>;
  /** JSON of the compiler's version and build. */
  readonly compiler: string;
  readonly microseconds: number;
  readonly cache: CacheOutcome;
}

/**
 * The JSON of a compile's answer, written by hand: the record has its large parts as JSON already, so a hit from disk
 * parses none and writes none. `microseconds` is the last field, which `AnswerMemo` relies on.
 */
export function answerText(compiled: CompileSuccess, facts: AnswerFacts): string {
  const { stored, key, reports } = compiled;
  const { request, emit, cache } = facts;
  let text = `{"key":"${key}","cache":${JSON.stringify(cache)},"target":"${request.target}","stage":"${stored.text("stage")}"`;
  const add = (name: string, json: string) => {
    text += `,"${name}":${json}`;
  };
  add("entryPoint", JSON.stringify(stored.text("entryPoint")));
  if (emit.has("code")) add("code", `"${stored.codeBase64()}"`);
  add("codeSha256", `"${stored.text("codeSha256")}"`);
  add("codeSizeBytes", stored.text("codeSizeBytes"));
  if (emit.has("asm")) add("asm", JSON.stringify(recordAssembly(compiled.record)));
  if (emit.has("spirv") && reports !== undefined) add("spirv", `"${base64(reports.spirv)}"`);
  if (emit.has("ir") && reports?.ir !== undefined) add("ir", JSON.stringify(reports.ir));
  if (emit.has("passes") && reports !== undefined) add("passes", JSON.stringify(reports.passes));
  if (emit.has("stats")) add("stats", stored.text("stats"));
  if (emit.has("reflection")) add("reflection", stored.text("reflection"));
  if (emit.has("sourceMap")) add("sourceMap", JSON.stringify(compiled.record.sourceMap));
  if (emit.has("liveRegisters")) add("liveRegisters", JSON.stringify(recordLiveRegisters(compiled.record)));
  if (emit.has("cfg")) add("cfg", JSON.stringify(recordFlow(compiled.record)));
  add("pipeline", pipelineText(compiled, request));
  // Most records have no warnings; those that do name the request's file.
  const warnings = stored.text("diagnostics");
  add("diagnostics", warnings === "[]" ? warnings : JSON.stringify(compiled.record.diagnostics));
  add("compiler", facts.compiler);
  add("microseconds", String(facts.microseconds));
  return `${text}}`;
}

/** The pipeline state in force: what the request gave, and what was derived from the shader. */
function pipelineText({ stored }: CompileSuccess, { pipeline }: CompileRequest): string {
  const { layout, floatControls, vertexInput, colorFormats } = pipeline;
  let text = `{"layout":${layout === undefined ? stored.text("layout") : JSON.stringify(layout)}`;
  text += `,"floatControls":{"contraction":${floatControls?.contraction ?? true}}`;
  const attributes = stored.text("vertexAttributes");
  if (attributes !== "[]") {
    const bindings = vertexInput?.bindings === undefined ? "" : `,"bindings":${JSON.stringify(vertexInput.bindings)}`;
    text += `,"vertexInput":{"attributes":${attributes}${bindings}}`;
  }
  if (colorFormats !== undefined) text += `,"colorFormats":${JSON.stringify(colorFormats)}`;
  return `${text}}`;
}
