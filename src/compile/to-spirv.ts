import type { Diagnostic } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import { compileGlsl } from "../glsl/index.ts";
import { assemble, type Module, readModule, validateModule } from "../spirv/index.ts";
import { reportCompile } from "./codes.ts";

export type SpirvResult =
  | {
      readonly ok: true;
      readonly module: Module;
      readonly warnings: readonly Diagnostic[];
      readonly filesRead: readonly string[];
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[]; readonly filesRead: readonly string[] };

/** Front half of a compile: the request's text or words to a module that the validator has accepted. */
export function toSpirv(request: CompileRequest): SpirvResult {
  switch (request.language) {
    case "glsl":
      return fromGlsl(request);
    case "spirv-asm":
      return fromAssembly(request);
    case "spirv":
      return checked(request, readModule(request.spirv ?? new Uint8Array(), { file: request.filename }));
  }
}

function fromGlsl(request: CompileRequest): SpirvResult {
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
  if (!compiled.ok) return refused(compiled.diagnostics, compiled.filesRead);
  const { words, diagnostics, filesRead } = compiled;
  return checked(request, readModule(words, { file: request.filename }), diagnostics, filesRead);
}

function fromAssembly(request: CompileRequest): SpirvResult {
  const assembled = assemble(request.source ?? "", { file: request.filename, target: request.targetEnv });
  if (!assembled.ok) return refused(assembled.diagnostics);
  const { words, lineOfWord } = assembled;
  return checked(request, readModule(words, { file: request.filename, lineOfWord }));
}

function checked(
  request: CompileRequest,
  read: ReturnType<typeof readModule>,
  warnings: readonly Diagnostic[] = [],
  filesRead: readonly string[] = [],
): SpirvResult {
  if (!read.ok) return refused(read.diagnostics, filesRead);
  const { entryPoint, stage } = request;
  const diagnostics = validateModule(read.module, { entryPoint, ...(stage !== undefined && { stage }) });
  if (diagnostics.length > 0) return refused(diagnostics, filesRead);
  return { ok: true, module: read.module, warnings, filesRead };
}

function refused(diagnostics: readonly Diagnostic[], filesRead: readonly string[] = []): SpirvResult {
  return { ok: false, diagnostics, filesRead };
}
