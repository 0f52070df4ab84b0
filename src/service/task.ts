import type { Diagnostic } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";

/** Reports that are recomputed when asked for. */
export const reportNames = ["spirv", "ir", "passes"] as const;
export type ReportName = (typeof reportNames)[number];

/** What goes to a worker: plain data. `reports` asks for a compile whose record is not wanted. */
export interface CompileTask {
  readonly request: CompileRequest;
  readonly reports?: readonly ReportName[];
  readonly dumpAfter?: readonly string[];
  /** By the build of the core that validates the IR after each pass. */
  readonly checked?: boolean;
  /** Eight bytes where the worker writes when it took the task up: the time limit counts from then. */
  readonly startedAt?: SharedArrayBuffer;
}

const epochNow = () => performance.timeOrigin + performance.now();

/** For the worker: the compile begins now. */
export function markStarted({ startedAt }: CompileTask): void {
  if (startedAt !== undefined) new Float64Array(startedAt)[0] = epochNow();
}

/** Milliseconds since the worker took the task up; undefined while it has not. */
export function sinceStartedMs(startedAt: SharedArrayBuffer): number | undefined {
  const at = new Float64Array(startedAt)[0] ?? 0;
  return at === 0 ? undefined : epochNow() - at;
}

/** One pass, or phase of the back end, of a compile, as `emit: passes` reports it. @public */
export interface PassReport {
  readonly name: string;
  /** Behind it: of the IR, or of the machine. */
  readonly instructions: number;
  readonly machine: boolean;
  readonly microseconds: number;
  readonly ir?: string;
}

export interface TaskReports {
  readonly spirv: Uint8Array;
  readonly ir?: string;
  readonly passes: readonly PassReport[];
}

/** What comes back. `record` is encoded as the cache keeps it; `bug` is a mistake of ours, for the log. */
export type TaskAnswer =
  | {
      readonly kind: "record";
      readonly record: Uint8Array;
      readonly filesRead: readonly string[];
      readonly microseconds: number;
      readonly reports?: TaskReports;
    }
  | { readonly kind: "refused"; readonly diagnostics: readonly Diagnostic[]; readonly microseconds: number }
  | { readonly kind: "bug"; readonly detail: string };
