import type { Diagnostic } from "../base/index.ts";
import {
  type CompileRecord,
  type CompileRequest,
  type CompileResult,
  type Reflection,
  type SourceMapEntry,
  type Stage,
  userSgprCount,
  writeCodeObject,
} from "../codeobj/index.ts";
import type { Core, CoreFailure, CoreOutput, CorePassReport } from "../core/index.ts";
import { type Module, moduleStrings, reflectModule } from "../spirv/index.ts";
import { reportCompile } from "./codes.ts";
import { layoutResources } from "./layout.ts";
import { PhaseClock, type Phases } from "./phases.ts";
import { interfaceOf, usedPipeline } from "./pipeline.ts";
import { specialize } from "./specialize.ts";
import { statisticsOf } from "./statistics.ts";
import { toSpirv } from "./to-spirv.ts";

/** What a caller may ask for besides the record; recomputed each time, never cached. */
export interface CompileReports {
  readonly spirv: Uint32Array;
  readonly ir?: string;
  readonly passes: readonly CorePassReport[];
  /** Absent where another process has compiled. */
  readonly phases?: Phases;
}

export interface CompileExtras {
  /** The include files that were read, in the order of first reading: the part of `includes` that the key depends on. */
  readonly filesRead: readonly string[];
  readonly reports?: CompileReports;
}

export type CompileOutcome = CompileResult & CompileExtras;

/**
 * Text or words to a code object. Pure: the same request gives the same bytes. All mistakes of the input come back as
 * diagnostics; a `Bug` thrown is ours. `dumpAfter` names passes whose IR to report, `["all"]` for each.
 */
export function compileShader(request: CompileRequest, core: Core, dumpAfter?: readonly string[]): CompileOutcome {
  const clock = new PhaseClock();
  const front = toSpirv(request, clock);
  const { filesRead } = front;
  const refuse = (diagnostics: readonly Diagnostic[]): CompileOutcome => ({ ok: false, diagnostics, filesRead });
  if (!front.ok) return refuse(front.diagnostics);
  const { module, warnings } = front;
  if (request.options.warningsAsErrors && warnings.length > 0) {
    return refuse([...warnings, reportCompile("COMPILE_WARNING_AS_ERROR", {}, request.filename)]);
  }

  const reflected = reflectModule(module, request.entryPoint, request.stage, request.specialization);
  if (!reflected.ok) return refuse(reflected.diagnostics);
  const { reflection } = reflected;
  const state = usedPipeline(request, reflection);
  if (!state.ok) return refuse(state.diagnostics);
  const layout = layoutResources(request, reflection);
  if (!layout.ok) return refuse(layout.diagnostics);

  const specialized = specialize(request, reflection.specializationConstants);
  if (!specialized.ok) return refuse(specialized.diagnostics);

  clock.end("reflect");
  const compiled = core.compile({
    words: module.words,
    stage: reflection.stage,
    entryPoint: request.entryPoint,
    specialization: specialized.values,
    bindings: layout.resources,
    optimization: request.options.optimization,
    pipeline: state.pipeline.core,
    contraction: request.pipeline.floatControls?.contraction ?? true,
    robust: request.robustness === "buffer",
    ...(dumpAfter !== undefined && { dumpAfter }),
  });
  if (!compiled.ok) return refuse(compiled.failures.map((failure) => diagnosticOf(failure, module, request)));

  clock.end("core");
  const { output } = compiled;
  const record = recordOf(request, reflection.stage, output, warnings, sourceMapOf(output, module, request), {
    workgroupSize: output.workgroupSize,
    sets: layout.sets,
    resources: layout.resources,
    pushConstantBytes: request.pipeline.layout?.pushConstantBytes ?? reflection.pushConstantBytes,
    userData: output.userData,
    ...(reflection.stage !== "compute" && {
      interface: interfaceOf(output.interface, reflection, state.pipeline),
    }),
    specializationConstants: reflection.specializationConstants.map(({ id, name }) => ({ id, name })),
  });
  clock.end("record");
  const reports = {
    spirv: module.words,
    phases: clock.phases,
    passes: output.passes,
    ...(output.ir !== undefined && { ir: output.ir }),
  };
  return { ok: true, record, filesRead, reports };
}

function recordOf(
  request: CompileRequest,
  stage: Stage,
  output: CoreOutput,
  diagnostics: readonly Diagnostic[],
  sourceMap: readonly SourceMapEntry[],
  reflection: Reflection,
): CompileRecord {
  const stats = statisticsOf(output, stage);
  const elf = writeCodeObject([
    {
      name: request.entryPoint,
      stage,
      code: output.code,
      hardware: {
        vgprs: output.vgprs,
        sgprs: output.sgprs,
        userSgprs: userSgprCount(output.userData),
        usesWorkgroupId: output.usesWorkgroupId,
        threadIdComponents: output.threadIdComponents,
        ldsBytes: output.ldsBytes,
        scratchBytes: output.scratchBytes,
      },
      reflection,
      stats,
      sourceMap,
    },
  ]);
  return { elf, stage, entryPoint: request.entryPoint, diagnostics, stats, reflection, sourceMap };
}

function sourceMapOf(output: CoreOutput, module: Module, request: CompileRequest): SourceMapEntry[] {
  const strings = moduleStrings(module);
  return output.lines.map(({ offset, fileId, line, column }) => ({
    offset,
    file: strings.get(fileId) ?? request.filename,
    line,
    column,
  }));
}

function diagnosticOf(failure: CoreFailure, module: Module, request: CompileRequest): Diagnostic {
  const { code, message } = failure;
  const file = moduleStrings(module).get(failure.fileId) ?? request.filename;
  const line = Math.max(failure.line, 1);
  const column = Math.max(failure.column, 1);
  return { severity: "error", code, message, file, line, column, endLine: line, endColumn: column };
}
