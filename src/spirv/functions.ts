import { Op } from "./enums.ts";
import type { Instruction, Module } from "./module.ts";

/** A function: its instructions from OpFunction to OpFunctionEnd and the functions it calls. */
export interface FunctionInfo {
  readonly id: number;
  readonly instructions: readonly Instruction[];
  readonly calls: readonly number[];
}

/** Every function of the module by id. */
export function functionsOf(module: Module): ReadonlyMap<number, FunctionInfo> {
  const functions = new Map<number, FunctionInfo>();
  let start = -1;
  const { instructions, words } = module;
  for (let i = 0; i < instructions.length; i++) {
    const { opcode } = instructions[i]!;
    if (opcode === Op.OpFunction) start = i;
    if (opcode !== Op.OpFunctionEnd || start < 0) continue;
    const body = instructions.slice(start, i + 1);
    const calls: number[] = [];
    for (const b of body) if (b.opcode === Op.OpFunctionCall) calls.push(words[b.first]!);
    const id = body[0]!.result;
    functions.set(id, { id, instructions: body, calls: calls.length > 1 ? [...new Set(calls)] : calls });
    start = -1;
  }
  return functions;
}

/** The functions that `root` reaches by calls, itself included; unknown ids are left out. */
export function reachableFunctions(functions: ReadonlyMap<number, FunctionInfo>, root: number): FunctionInfo[] {
  const seen = new Set<number>();
  const found: FunctionInfo[] = [];
  const work = [root];
  for (let id = work.pop(); id !== undefined; id = work.pop()) {
    const info = seen.has(id) ? undefined : functions.get(id);
    seen.add(id);
    if (info === undefined) continue;
    found.push(info);
    work.push(...info.calls);
  }
  return found;
}

/** Calls `visit` with each id operand of an instruction (result type and result not among them) and its word index. */
export function forEachId(module: Module, instruction: Instruction, visit: (id: number, at: number) => void): void {
  const { words, ids } = module;
  const last = ids.start[instruction.index + 1]!;
  for (let k = ids.start[instruction.index]!; k < last; k++) visit(words[ids.at[k]!]!, ids.at[k]!);
}
