import { type Diagnostic, fileSpan, reporter } from "../base/index.ts";
import { spirvCodes } from "./codes.ts";
import { type Instruction, type Module, spanOf } from "./module.ts";
import { maxDiagnostics } from "./reader.ts";

const report = reporter(spirvCodes);

export type RuleCode = "SPIRV_LAYOUT" | "SPIRV_TYPE" | "SPIRV_CFG" | "SPIRV_DECORATION";

/** Collects messages about a module up to the limit; what comes after `full` is dropped. */
export class Reports {
  readonly diagnostics: Diagnostic[] = [];
  readonly module: Module;

  constructor(module: Module) {
    this.module = module;
  }

  get full(): boolean {
    return this.diagnostics.length >= maxDiagnostics;
  }

  /** A broken rule at an instruction. */
  rule(code: RuleCode, instruction: Instruction, rule: string): void {
    if (this.full) return;
    const { at: word, row } = instruction;
    this.diagnostics.push(report(code, { op: row.name, word, rule }, spanOf(this.module, word)));
  }

  id(code: "SPIRV_ID_UNDEFINED" | "SPIRV_ID_FORWARD", instruction: Instruction, id: number): void {
    if (this.full) return;
    const { at: word, row } = instruction;
    this.diagnostics.push(report(code, { op: row.name, word, id }, spanOf(this.module, word)));
  }

  unsupported(instruction: Instruction, what: string): void {
    if (this.full) return;
    const { at: word, row } = instruction;
    this.diagnostics.push(report("SPIRV_UNSUPPORTED", { op: row.name, word, what }, spanOf(this.module, word)));
  }

  /** A module without any instruction. */
  empty(): void {
    this.diagnostics.push(report("SPIRV_EMPTY", {}, fileSpan(this.module.file)));
  }

  noEntryPoint(stage: string, name: string, found: string): void {
    const span = fileSpan(this.module.file);
    this.diagnostics.push(report("SPIRV_NO_ENTRY_POINT", { stage, name, found }, span));
  }
}
