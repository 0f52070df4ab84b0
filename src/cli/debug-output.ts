import type { CompileRecord } from "../codeobj/index.ts";
import { recordAssembly } from "../service/index.ts";
import { complain } from "./environment.ts";

/** What a compile reports of itself, in process or from a worker. */
interface Reports {
  readonly ir?: string;
  readonly passes: readonly {
    readonly name: string;
    readonly instructions: number;
    readonly machine?: boolean;
    readonly microseconds: number;
  }[];
}

/** The passes after which the core has to print, for what `KILN_DEBUG` names: the core knows no pass `none`. */
export function debugDump(names: readonly string[]): readonly string[] | undefined {
  if (names.includes("passes")) return ["all"];
  return names.includes("ir") ? ["none"] : undefined;
}

/** Prints on standard error what `KILN_DEBUG` names of one compile: time, a line a pass, the last IR, assembler text. */
export function showDebug(
  names: readonly string[],
  title: string,
  record: CompileRecord,
  microseconds: number,
  reports: Reports | undefined,
): void {
  if (names.includes("time")) {
    complain(`compiled ${title} ${record.stage} ${record.entryPoint}: ${Math.round(microseconds)} us`);
  }
  if (names.includes("passes")) {
    for (const pass of reports?.passes ?? []) {
      const of = pass.machine === true ? "machine instructions" : "instructions";
      complain(`; ${title} ${pass.name}: ${pass.instructions} ${of}, ${Math.round(pass.microseconds)} us`);
    }
  }
  if (names.includes("ir") && reports?.ir !== undefined) complain(`; ${title} ir\n${reports.ir}`);
  if (names.includes("shaders")) complain(`; ${title}\n${recordAssembly(record)}`);
}
