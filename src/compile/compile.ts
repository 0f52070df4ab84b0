import type { Bug, Diagnostic } from "../base/index.ts";
import {
  type CompileRecord,
  type CompileRequest,
  type CompileResult,
  type Reflection,
  type SourceTable,
  type Stage,
  sourceEntries,
  userSgprCount,
  writeCodeObject,
} from "../codeobj/index.ts";
import type { Core, CoreFailure, CoreLink, CoreOutput, CorePassReport, CoreRequest } from "../core/index.ts";
import { type Module, type ModuleReflection, reflectModule } from "../spirv/index.ts";
import { reportCompile } from "./codes.ts";
import { layoutResources, type ResourceLayout } from "./layout.ts";
import { linkStages, type StageSide } from "./link.ts";
import { PhaseClock, type Phases } from "./phases.ts";
import { interfaceOf, type UsedPipeline, usedPipeline } from "./pipeline.ts";
import { specialize } from "./specialize.ts";
import { statisticsOf } from "./statistics.ts";
import { ownMistake, toSpirv } from "./to-spirv.ts";

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
 * Text or words to a code object. Pure: the same request gives the same bytes. A checked core is the checking mode: then our
 * own SPIR-V is validated, too. All mistakes of the input come back as
 * diagnostics; a `Bug` thrown is ours. `dumpAfter` names passes whose IR to report, `["all"]` for each.
 */
export function compileShader(request: CompileRequest, core: Core, dumpAfter?: readonly string[]): CompileOutcome {
  const clock = new PhaseClock();
  const own = prepare(request, core, clock);
  const { filesRead } = own;
  const refuse = (diagnostics: readonly Diagnostic[]): CompileOutcome => ({ ok: false, diagnostics, filesRead });
  if (!own.ok) return refuse(own.diagnostics);
  const { module, warnings, reflection, pipeline, layout } = own;
  const linked = linkOf(own, core, clock);
  if (linked.diagnostics !== undefined) return refuse(linked.diagnostics);

  clock.end("reflect");
  const wanted = wantedOf(own.core, linked.link, dumpAfter);
  const compiled = checkedOnFailure([own], () => core.compile(wanted));
  if (!compiled.ok) return refuse(compiled.failures.map((failure) => diagnosticOf(failure, module, request)));

  clock.end("core");
  const { output } = compiled;
  const sourceMap = sourceTableOf(output, module, request);
  const described = reflectionOf(request, reflection, pipeline, layout, output);
  const record = recordOf(request, reflection.stage, output, warnings, sourceMap, described);
  clock.end("record");
  const { phases } = clock;
  const { ir, passes } = output;
  const spirv = module.words;
  const reports = ir === undefined ? { spirv, phases, passes } : { spirv, phases, passes, ir };
  return { ok: true, record, filesRead, reports };
}

/** Each shape written out, here and below: spreading takes longer than filling in. */
function wantedOf(
  own: StageSide["core"],
  link: CoreLink | undefined,
  dumpAfter: readonly string[] | undefined,
): CoreRequest {
  if (link === undefined && dumpAfter === undefined) return own;
  return { ...own, ...(link !== undefined && { link }), ...(dumpAfter !== undefined && { dumpAfter }) };
}

function reflectionOf(
  request: CompileRequest,
  reflection: ModuleReflection,
  pipeline: UsedPipeline,
  { sets, resources }: ResourceLayout & { readonly ok: true },
  output: CoreOutput,
): Reflection {
  const { workgroupSize, userData } = output;
  const pushConstantBytes = request.pipeline.layout?.pushConstantBytes ?? reflection.pushConstantBytes;
  const specializationConstants = reflection.specializationConstants.map(({ id, name }) => ({ id, name }));
  if (reflection.stage === "compute")
    return { workgroupSize, sets, resources, pushConstantBytes, userData, specializationConstants };
  return {
    workgroupSize,
    sets,
    resources,
    pushConstantBytes,
    userData,
    interface: interfaceOf(output.interface, reflection, pipeline),
    specializationConstants,
  };
}

/** A request as far as the core's door. */
type Prepared =
  | (StageSide & {
      readonly ok: true;
      readonly unchecked: boolean;
      readonly filesRead: readonly string[];
      readonly warnings: readonly Diagnostic[];
      readonly reflection: ModuleReflection;
      readonly pipeline: UsedPipeline;
      readonly layout: ResourceLayout & { readonly ok: true };
    })
  | { readonly ok: false; readonly filesRead: readonly string[]; readonly diagnostics: readonly Diagnostic[] };

function prepare(request: CompileRequest, { checked }: Core, clock: PhaseClock): Prepared {
  const front = toSpirv(request, clock, checked);
  const { filesRead } = front;
  const refuse = (diagnostics: readonly Diagnostic[]): Prepared => ({ ok: false, diagnostics, filesRead });
  if (!front.ok) return refuse(front.diagnostics);
  const { module, unchecked, warnings } = front;
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
  const { stage } = reflection;
  const core = {
    words: module.words,
    stage,
    entryPoint: request.entryPoint,
    specialization: specialized.values,
    bindings: layout.resources,
    optimization: request.options.optimization,
    pipeline: state.pipeline.core,
    contraction: request.pipeline.floatControls?.contraction ?? true,
    robust: request.robustness === "buffer",
  };
  const { pipeline } = state;
  return { ok: true, request, module, unchecked, stage, core, filesRead, warnings, reflection, pipeline, layout };
}

const noLink = {};

/** What the core has to know of the other stage; nothing where there is none. */
function linkOf(
  own: Unchecked & StageSide,
  core: Core,
  clock: PhaseClock,
): { readonly link?: CoreLink; readonly diagnostics?: undefined } | { readonly diagnostics: readonly Diagnostic[] } {
  const { linked, filename } = own.request;
  if (linked === undefined) return noLink;
  const other = prepare(linked, core, clock);
  const refuse = (stage: Stage) => ({ diagnostics: [reportCompile("COMPILE_LINKED_STAGE", { stage }, filename)] });
  // Its own compile says why.
  if (!other.ok) return refuse(linked.stage ?? (own.stage === "vertex" ? "fragment" : "vertex"));
  const found = checkedOnFailure([own, other], () => linkStages(own, other, core));
  if (found.ok) return { link: found.link };
  if ("diagnostics" in found) return { diagnostics: found.diagnostics };
  if (found.stage !== own.stage) return refuse(found.stage);
  return { diagnostics: [diagnosticOf(found.failure, own.module, own.request)] };
}

interface Unchecked {
  readonly module: Module;
  readonly request: CompileRequest;
  readonly unchecked: boolean;
}

/** Words that nobody has looked at are looked at when the core refuses them or fails on them. */
function checkedOnFailure<Result extends { readonly ok: boolean }>(
  sides: readonly Unchecked[],
  run: () => Result,
): Result {
  const mistake = (): Bug | undefined => {
    for (const { module, request, unchecked } of sides) {
      const found = unchecked ? ownMistake(module, request) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  let result: Result;
  try {
    result = run();
  } catch (error) {
    throw mistake() ?? error;
  }
  const found = result.ok ? undefined : mistake();
  if (found !== undefined) throw found;
  return result;
}

function recordOf(
  request: CompileRequest,
  stage: Stage,
  output: CoreOutput,
  diagnostics: readonly Diagnostic[],
  sourceMap: SourceTable,
  reflection: Reflection,
): CompileRecord {
  const stats = statisticsOf(output, stage);
  const elf = writeCodeObject([
    {
      name: request.entryPoint,
      stage,
      code: output.code,
      table: output.table,
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
  return {
    elf,
    stage,
    entryPoint: request.entryPoint,
    diagnostics,
    stats,
    reflection,
    sourceMap: sourceEntries(sourceMap),
  };
}

function sourceTableOf({ lines }: CoreOutput, module: Module, request: CompileRequest): SourceTable {
  return { rows: lines, files: lines.length === 0 ? noFiles : module.index.strings(), ownFile: request.filename };
}

const noFiles: ReadonlyMap<number, string> = new Map();

function diagnosticOf(failure: CoreFailure, module: Module, request: CompileRequest): Diagnostic {
  const { code, message } = failure;
  const file = module.index.strings().get(failure.fileId) ?? request.filename;
  const line = Math.max(failure.line, 1);
  const column = Math.max(failure.column, 1);
  return { severity: "error", code, message, file, line, column, endLine: line, endColumn: column };
}
