import type { Diagnostic } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import { compileGlsl } from "../glsl/index.ts";
import { assemble, type Module, readModule, validateModule } from "../spirv/index.ts";
import { reportCompile } from "./codes.ts";
import type { PhaseClock } from "./phases.ts";

export type SpirvResult =
  | {
      readonly ok: true;
      readonly module: Module;
      readonly warnings: readonly Diagnostic[];
      readonly filesRead: readonly string[];
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[]; readonly filesRead: readonly string[] };

/** Front half of a compile: the request's text or words to a module that the validator has accepted. */
export function toSpirv(request: CompileRequest, clock: PhaseClock): SpirvResult {
  switch (request.language) {
    case "glsl":
      return fromGlsl(request, clock);
    case "spirv-asm":
      return fromAssembly(request, clock);
    case "spirv":
      return checked(request, readModule(request.spirv ?? new Uint8Array(), { file: request.filename }), clock);
  }
}

function fromGlsl(request: CompileRequest, clock: PhaseClock): SpirvResult {
  const { stage } = request;
  if (stage === undefined) return refused([reportCompile("COMPILE_NO_STAGE", {}, request.filename)]);
  const compiled = compileGlsl({
    source: request.source ?? "",
    filename: request.filename,
    stage,
    defines: request.defines,
    includes: request.includes,
    targetEnv: request.targetEnv,
    dialect: request.options.dialect,
    mainImage: request.options.mainImage === true,
    entryPoint: request.entryPoint,
    debugInfo: request.options.debugInfo,
  });
  clock.end("frontEnd");
  if (!compiled.ok) return refused(compiled.diagnostics, compiled.filesRead);
  const { words, diagnostics, filesRead } = compiled;
  return checked(request, readModule(words, { file: request.filename }), clock, diagnostics, filesRead);
}

function fromAssembly(request: CompileRequest, clock: PhaseClock): SpirvResult {
  const assembled = assemble(request.source ?? "", { file: request.filename, target: request.targetEnv });
  clock.end("frontEnd");
  if (!assembled.ok) return refused(assembled.diagnostics);
  const { words, lineOfWord } = assembled;
  return checked(request, readModule(words, { file: request.filename, lineOfWord }), clock);
}

function checked(
  request: CompileRequest,
  read: ReturnType<typeof readModule>,
  clock: PhaseClock,
  warnings: readonly Diagnostic[] = [],
  filesRead: readonly string[] = [],
): SpirvResult {
  clock.end("read");
  if (!read.ok) return refused(read.diagnostics, filesRead);
  const { entryPoint, stage } = request;
  const diagnostics = validateModule(read.module, { entryPoint, ...(stage !== undefined && { stage }) });
  clock.end("validate");
  if (diagnostics.length > 0) return refused(diagnostics, filesRead);
  return { ok: true, module: read.module, warnings, filesRead };
}

function refused(diagnostics: readonly Diagnostic[], filesRead: readonly string[] = []): SpirvResult {
  return { ok: false, diagnostics, filesRead };
}
