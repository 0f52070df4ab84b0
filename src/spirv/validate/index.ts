import type { Diagnostic } from "../../base/index.ts";
import { entryPoints } from "../annotations.ts";
import type { Module } from "../module.ts";
import { findEntryPoint, type ShaderStage } from "../reflect.ts";
import { Reports } from "../reports.ts";
import { checkControlFlow } from "./cfg.ts";
import { checkAnnotationTargets, checkCapabilities } from "./declarations.ts";
import { checkEntryPoints, checkInterfaceLists, checkInterfaces } from "./entry-points.ts";
import { checkIds } from "./ids.ts";
import { checkInstructions } from "./instructions.ts";
import { checkStructure } from "./structure.ts";
import { checkSupport } from "./support.ts";
import { checkTypes, Types } from "./types.ts";

export interface ValidateOptions {
  /** Also check that the compiler supports what this entry point reaches. */
  readonly entryPoint?: string;
  readonly stage?: ShaderStage;
}

/**
 * Checks what a consumer relies on: section order and block structure, ids, capabilities, types of declarations and operands,
 * structured control flow, dominance, phis, entry points, buffer layouts. Later groups are skipped where an earlier one
 * failed. No diagnostics: the module is good. Errors: SPIRV_*, at most 100, each naming instruction and word; with
 * `entryPoint` also SPIRV_NO_ENTRY_POINT and SPIRV_UNSUPPORTED.
 */
export function validateModule(module: Module, options: ValidateOptions = {}): readonly Diagnostic[] {
  const reports = new Reports(module);
  const failed = (): boolean => reports.diagnostics.length > 0;
  const structure = checkStructure(module, reports);
  if (structure === undefined) return reports.diagnostics;
  checkIds(module, structure, reports);
  if (failed()) return reports.diagnostics;
  const types = new Types(module);
  const { annotations } = module;
  checkTypes(module, structure.globals, types, reports);
  if (failed()) return reports.diagnostics;
  checkCapabilities(module, reports);
  checkAnnotationTargets(module, structure.globals, reports);
  checkInstructions(module, structure, types, reports);
  checkControlFlow(module, structure, reports);
  checkEntryPoints(module, structure, types, reports);
  checkInterfaceLists(module, structure, reports);
  checkInterfaces(module, structure, types, annotations, reports);
  if (failed() || options.entryPoint === undefined) return reports.diagnostics;
  reportSupport(module, options.entryPoint, options.stage, reports);
  return reports.diagnostics;
}

/**
 * Whether the compiler supports what an entry point of a valid module reaches. Errors: SPIRV_NO_ENTRY_POINT,
 * SPIRV_UNSUPPORTED.
 */
export function moduleSupport(module: Module, entryPoint: string, stage?: ShaderStage): readonly Diagnostic[] {
  const reports = new Reports(module);
  reportSupport(module, entryPoint, stage, reports);
  return reports.diagnostics;
}

function reportSupport(module: Module, name: string, stage: ShaderStage | undefined, reports: Reports): void {
  const entry = findEntryPoint(entryPoints(module.index), name, stage, reports);
  if (entry !== undefined) checkSupport(module, entry, reports);
}
