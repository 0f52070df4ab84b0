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
}

export interface PassReport {
  readonly name: string;
  readonly instructions: number;
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
