import { Op } from "../enums.ts";
import { forEachId } from "../functions.ts";
import type { Instruction, Module } from "../module.ts";
import type { Reports } from "../reports.ts";
import type { Structure } from "./structure.ts";

/** Instructions whose operands may stand for something further down: all of them, or from that operand word on. */
const forward: ReadonlyMap<number, "all" | "first" | "labels"> = new Map<number, "all" | "first" | "labels">([
  [Op.OpEntryPoint, "all"],
  [Op.OpExecutionMode, "all"],
  [Op.OpExecutionModeId, "all"],
  [Op.OpName, "all"],
  [Op.OpMemberName, "all"],
  [Op.OpDecorate, "all"],
  [Op.OpDecorateId, "all"],
  [Op.OpDecorateString, "all"],
  [Op.OpMemberDecorate, "all"],
  [Op.OpMemberDecorateString, "all"],
  [Op.OpGroupDecorate, "all"],
  [Op.OpGroupMemberDecorate, "all"],
  [Op.OpTypeForwardPointer, "all"],
  [Op.OpPhi, "all"],
  [Op.OpBranch, "all"],
  [Op.OpSelectionMerge, "all"],
  [Op.OpLoopMerge, "all"],
  [Op.OpFunctionCall, "first"],
  [Op.OpBranchConditional, "labels"],
  [Op.OpSwitch, "labels"],
]);

type Kind = "value" | "type" | "label" | "function" | "string" | "set" | "group";

function kindOf(definition: Instruction): Kind {
  const { opcode, row } = definition;
  if (row.name.startsWith("OpType")) return "type";
  switch (opcode) {
    case Op.OpLabel:
      return "label";
    case Op.OpFunction:
      return "function";
    case Op.OpString:
      return "string";
    case Op.OpExtInstImport:
      return "set";
    case Op.OpDecorationGroup:
      return "group";
    default:
      return "value";
  }
}

/** What the `index`th operand word of an instruction must name; undefined: anything. */
function wanted(instruction: Instruction, index: number): Kind | undefined {
  const { opcode, row } = instruction;
  switch (opcode) {
    case Op.OpLine:
    case Op.OpSource:
      return "string";
    case Op.OpFunction:
      return "type";
    case Op.OpFunctionCall:
      return index === 0 ? "function" : "value";
    case Op.OpExtInst:
      return index === 0 ? "set" : undefined;
    case Op.OpPhi:
      return index % 2 === 0 ? "value" : "label";
    case Op.OpBranch:
    case Op.OpSelectionMerge:
    case Op.OpLoopMerge:
      return "label";
    case Op.OpBranchConditional:
    case Op.OpSwitch:
      return index === 0 ? "value" : "label";
    case Op.OpTypeArray:
      return index === 1 ? "value" : "type";
    case Op.OpEntryPoint:
      return index === 1 ? "function" : "value";
    case Op.OpExecutionMode:
    case Op.OpExecutionModeId:
      return index === 0 ? "function" : "value";
    case Op.OpGroupDecorate:
    case Op.OpGroupMemberDecorate:
      return index === 0 ? "group" : undefined;
    case Op.OpName:
    case Op.OpDecorate:
    case Op.OpDecorateString:
    case Op.OpDecorateId:
      return index === 0 ? undefined : "value";
    case Op.OpMemberName:
    case Op.OpMemberDecorate:
    case Op.OpMemberDecorateString:
      return index === 0 ? "type" : "value";
    default:
      return row.name.startsWith("OpType") ? "type" : "value";
  }
}

/**
 * Checks every id in use: defined, before its use where that is asked for, of the right kind, and not of another
 * function.
 */
export function checkIds(module: Module, structure: Structure, reports: Reports): void {
  const owner = new Map<number, number>();
  structure.functions.forEach((body, index) => {
    for (const parameter of body.parameters) owner.set(parameter.result, index);
    for (const block of body.blocks) {
      owner.set(block.label.result, index);
      for (const instruction of block.instructions) if (instruction.result !== 0) owner.set(instruction.result, index);
    }
  });

  // members of a struct may be pointers that are declared ahead
  const forwardPointers = new Set<number>();
  for (const { opcode, first } of structure.globals) {
    if (opcode !== Op.OpTypeForwardPointer) continue;
    const id = module.words[first]!;
    if (module.definitions[id]?.opcode === Op.OpTypePointer) forwardPointers.add(id);
  }

  let current = -1;
  let seenFunctions = 0;
  for (const instruction of module.instructions) {
    if (reports.full) return;
    if (instruction.opcode === Op.OpFunction) current = seenFunctions++;
    checkType(module, instruction, reports);
    forEachId(module, instruction, (id, at) => {
      const found = module.definitions[id];
      if (found === undefined) {
        reports.id("SPIRV_ID_UNDEFINED", instruction, id);
        return;
      }
      const index = at - instruction.first;
      const late = forward.get(instruction.opcode);
      const ahead = late === "all" || (late === "first" && index === 0) || (late === "labels" && index > 0);
      const declared = instruction.opcode === Op.OpTypeStruct && forwardPointers.has(id);
      if (found.at >= instruction.at && !ahead && !declared) reports.id("SPIRV_ID_FORWARD", instruction, id);
      const kind = wanted(instruction, index);
      if (kind !== undefined && kindOf(found) !== kind) {
        reports.rule("SPIRV_TYPE", instruction, `%${id} is no ${kind}`);
      } else if (kind === "value" && found.type === 0) {
        reports.rule("SPIRV_TYPE", instruction, `%${id} has no value`);
      }
      const home = owner.get(id);
      if (current >= 0 && home !== undefined && home !== current) {
        reports.rule("SPIRV_TYPE", instruction, `%${id} belongs to another function`);
      }
    });
    if (instruction.opcode === Op.OpFunctionEnd) current = -1;
  }
}

function checkType(module: Module, instruction: Instruction, reports: Reports): void {
  if (!instruction.row.hasType) return;
  const type = module.definitions[instruction.type];
  if (type === undefined) reports.id("SPIRV_ID_UNDEFINED", instruction, instruction.type);
  else if (kindOf(type) !== "type")
    reports.rule("SPIRV_TYPE", instruction, `result type %${instruction.type} is no type`);
  else if (type.at >= instruction.at) reports.id("SPIRV_ID_FORWARD", instruction, instruction.type);
}
