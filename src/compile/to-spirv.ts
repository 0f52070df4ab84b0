import { Bug, type Diagnostic } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import { compileGlsl } from "../glsl/index.ts";
import { assemble, type Module, moduleSupport, ownModule, readModule, validateModule } from "../spirv/index.ts";
import { reportCompile } from "./codes.ts";
import type { PhaseClock } from "./phases.ts";

export type SpirvResult =
  | {
      readonly ok: true;
      readonly module: Module;
      /** The words are the front end's and nobody has looked at them: `ownMistake` does where something goes wrong. */
      readonly unchecked: boolean;
      readonly warnings: readonly Diagnostic[];
      readonly filesRead: readonly string[];
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[]; readonly filesRead: readonly string[] };

/**
 * Front half of a compile: the request's text or words to a module that the validator has accepted. Words of our own
 * front end are looked at in `checking` mode only.
 */
export function toSpirv(request: CompileRequest, clock: PhaseClock, checking: boolean): SpirvResult {
  switch (request.language) {
    case "glsl":
      return fromGlsl(request, clock, checking);
    case "spirv-asm":
      return fromAssembly(request, clock);
    case "spirv":
      return checked(request, readModule(request.spirv ?? new Uint8Array(), { file: request.filename }), clock);
  }
}

function fromGlsl(request: CompileRequest, clock: PhaseClock, checking: boolean): SpirvResult {
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
  if (checking) {
    return checked(request, readModule(words, { file: request.filename }), clock, diagnostics, filesRead);
  }
  const module = ownModule(words, request.filename);
  const unsupported = moduleSupport(module, request.entryPoint, stage);
  clock.end("validate");
  if (unsupported.length > 0) return refused(unsupported, filesRead);
  return { ok: true, module, unchecked: true, warnings: diagnostics, filesRead };
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
  const diagnostics = validateModule(read.module, stage === undefined ? { entryPoint } : { entryPoint, stage });
  clock.end("validate");
  if (diagnostics.length > 0) return refused(diagnostics, filesRead);
  return { ok: true, module: read.module, unchecked: false, warnings, filesRead };
}

/** What the reader or the validator has against words of our own front end: a bug of ours. Undefined: nothing. */
export function ownMistake({ words, file }: Module, { entryPoint, stage }: CompileRequest): Bug | undefined {
  const read = readModule(words, { file });
  const found = read.ok
    ? validateModule(read.module, { entryPoint, ...(stage !== undefined && { stage }) })
    : read.diagnostics;
  const list = found.slice(0, 3).map(({ code, line, message }) => `line ${line}: ${code}: ${message}`);
  return list.length === 0 ? undefined : new Bug(`the front end's SPIR-V is not valid: ${list.join("; ")}`);
}

function refused(diagnostics: readonly Diagnostic[], filesRead: readonly string[] = []): SpirvResult {
  return { ok: false, diagnostics, filesRead };
}
