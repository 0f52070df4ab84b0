import { encodeRecord } from "../codeobj/index.ts";
import { type CompileReports, compileShader } from "../compile/index.ts";
import type { Core } from "../core/index.ts";
import type { CompileTask, TaskAnswer, TaskReports } from "./task.ts";

/** Compiles one task on a core. A `bug` answer leaves the core unusable. */
export function runCompileTask(task: CompileTask, core: Core): TaskAnswer {
  const started = performance.now();
  const since = () => Math.round((performance.now() - started) * 1000);
  try {
    const outcome = compileShader(task.request, core, task.dumpAfter);
    if (!outcome.ok) return { kind: "refused", diagnostics: outcome.diagnostics, microseconds: since() };
    const { record, filesRead, reports } = outcome;
    const encoded = encodeRecord(record);
    return {
      kind: "record",
      record: encoded,
      filesRead,
      microseconds: since(),
      ...(task.reports !== undefined && reports !== undefined && { reports: plainReports(reports) }),
    };
  } catch (error) {
    return { kind: "bug", detail: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function plainReports(reports: CompileReports): TaskReports {
  const { spirv, ir, passes } = reports;
  return {
    spirv: new Uint8Array(spirv.buffer, spirv.byteOffset, spirv.byteLength).slice(),
    passes: passes.map((pass) => ({ ...pass })),
    ...(ir !== undefined && { ir }),
  };
}
