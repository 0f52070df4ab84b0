import { Op } from "../enums.ts";
import { opcodeTable } from "../grammar.ts";
import type { Instruction, Module } from "../module.ts";
import type { Reports } from "../reports.ts";
import type { Structure } from "./structure.ts";

/** Instructions whose operands may stand for something further down: all of them, the first, or all but the first. */
const Forward = { none: 0, all: 1, first: 2, rest: 3 } as const;
const forward = opcodeTable([
  [Op.OpEntryPoint, Forward.all],
  [Op.OpExecutionMode, Forward.all],
  [Op.OpExecutionModeId, Forward.all],
  [Op.OpName, Forward.all],
  [Op.OpMemberName, Forward.all],
  [Op.OpDecorate, Forward.all],
  [Op.OpDecorateId, Forward.all],
  [Op.OpDecorateString, Forward.all],
  [Op.OpMemberDecorate, Forward.all],
  [Op.OpMemberDecorateString, Forward.all],
  [Op.OpGroupDecorate, Forward.all],
  [Op.OpGroupMemberDecorate, Forward.all],
  [Op.OpTypeForwardPointer, Forward.all],
  [Op.OpPhi, Forward.all],
  [Op.OpBranch, Forward.all],
  [Op.OpSelectionMerge, Forward.all],
  [Op.OpLoopMerge, Forward.all],
  [Op.OpFunctionCall, Forward.first],
  [Op.OpBranchConditional, Forward.rest],
  [Op.OpSwitch, Forward.rest],
]);

/** What an id can name; `any` is asked for where everything is right. */
const Kind = { any: 0, value: 1, type: 2, label: 3, function: 4, string: 5, set: 6, group: 7 } as const;
const kindNames = ["", "value", "type", "label", "function", "string", "set", "group"];

const definedKind = opcodeTable(
  [
    [Op.OpLabel, Kind.label],
    [Op.OpFunction, Kind.function],
    [Op.OpString, Kind.string],
    [Op.OpExtInstImport, Kind.set],
    [Op.OpDecorationGroup, Kind.group],
  ],
  Kind.value,
);

function kindOf(definition: Instruction): number {
  return definition.row.isType ? Kind.type : definedKind[definition.opcode]!;
}

/** What the operand words of an instruction must name: the first in bits 0 to 2, the second in 3 to 5, the others above. */
const naming = (first: number, second: number, rest: number): number => first | (second << 3) | (rest << 6);
const same = (kind: number): number => naming(kind, kind, kind);
const names = new Map<number, number>([
  [Op.OpLine, same(Kind.string)],
  [Op.OpSource, same(Kind.string)],
  [Op.OpFunction, same(Kind.type)],
  [Op.OpFunctionCall, naming(Kind.function, Kind.value, Kind.value)],
  [Op.OpExtInst, naming(Kind.set, Kind.any, Kind.any)],
  [Op.OpBranch, same(Kind.label)],
  [Op.OpSelectionMerge, same(Kind.label)],
  [Op.OpLoopMerge, same(Kind.label)],
  [Op.OpBranchConditional, naming(Kind.value, Kind.label, Kind.label)],
  [Op.OpSwitch, naming(Kind.value, Kind.label, Kind.label)],
  [Op.OpTypeArray, naming(Kind.type, Kind.value, Kind.type)],
  [Op.OpEntryPoint, naming(Kind.value, Kind.function, Kind.value)],
  [Op.OpExecutionMode, naming(Kind.function, Kind.value, Kind.value)],
  [Op.OpExecutionModeId, naming(Kind.function, Kind.value, Kind.value)],
  [Op.OpGroupDecorate, naming(Kind.group, Kind.any, Kind.any)],
  [Op.OpGroupMemberDecorate, naming(Kind.group, Kind.any, Kind.any)],
  [Op.OpName, naming(Kind.any, Kind.value, Kind.value)],
  [Op.OpDecorate, naming(Kind.any, Kind.value, Kind.value)],
  [Op.OpDecorateString, naming(Kind.any, Kind.value, Kind.value)],
  [Op.OpDecorateId, naming(Kind.any, Kind.value, Kind.value)],
  [Op.OpMemberName, naming(Kind.type, Kind.value, Kind.value)],
  [Op.OpMemberDecorate, naming(Kind.type, Kind.value, Kind.value)],
  [Op.OpMemberDecorateString, naming(Kind.type, Kind.value, Kind.value)],
]);
const typeNames = same(Kind.type);
const valueNames = same(Kind.value);

/** The function that an id belongs to, by id; -1 for what stands outside functions. */
function owners(module: Module, structure: Structure): Int32Array {
  const owner = new Int32Array(module.bound).fill(-1);
  structure.functions.forEach((body, index) => {
    for (const parameter of body.parameters) owner[parameter.result] = index;
    for (const block of body.blocks) {
      owner[block.label.result] = index;
      for (const instruction of block.instructions) if (instruction.result !== 0) owner[instruction.result] = index;
    }
  });
  return owner;
}

const holdsPointers = new Set<number>([Op.OpTypeStruct, Op.OpTypeArray, Op.OpTypeRuntimeArray]);

/**
 * Checks every id in use: defined, before its use where that is asked for, of the right kind, and not of another
 * function.
 */
export function checkIds(module: Module, structure: Structure, reports: Reports): void {
  const { words, definitions, ids } = module;
  const owner = owners(module, structure);

  // members of a struct and elements of an array may be pointers that are declared ahead, as spirv-val takes them
  const forwardPointers = new Set<number>();
  for (const { opcode, first } of structure.globals) {
    if (opcode !== Op.OpTypeForwardPointer) continue;
    const id = words[first]!;
    if (definitions[id]?.opcode === Op.OpTypePointer) forwardPointers.add(id);
  }

  let current = -1;
  let seenFunctions = 0;
  for (const instruction of module.instructions) {
    if (reports.full) return;
    const { opcode, row, first, index } = instruction;
    if (opcode === Op.OpFunction) current = seenFunctions++;
    if (row.hasType) checkType(module, instruction, reports);
    const last = ids.start[index + 1]!;
    let k = ids.start[index]!;
    if (k < last) {
      const late = forward[opcode]!;
      const phi = opcode === Op.OpPhi;
      const naming = names.get(opcode) ?? (row.isType ? typeNames : valueNames);
      for (; k < last; k++) {
        const at = ids.at[k]!;
        const id = words[at]!;
        const found = definitions[id];
        if (found === undefined) {
          reports.id("SPIRV_ID_UNDEFINED", instruction, id);
          continue;
        }
        const place = at - first;
        if (found.at >= instruction.at) {
          const ahead =
            late === Forward.all || (late === Forward.first ? place === 0 : late === Forward.rest && place > 0);
          const declared = holdsPointers.has(opcode) && forwardPointers.has(id);
          if (!ahead && !declared) reports.id("SPIRV_ID_FORWARD", instruction, id);
        }
        const wanted = phi
          ? place % 2 === 0
            ? Kind.value
            : Kind.label
          : (naming >> (place === 0 ? 0 : place === 1 ? 3 : 6)) & 7;
        if (wanted !== Kind.any && kindOf(found) !== wanted) {
          reports.rule("SPIRV_TYPE", instruction, `%${id} is no ${kindNames[wanted]}`);
        } else if (wanted === Kind.value && found.type === 0) {
          reports.rule("SPIRV_TYPE", instruction, `%${id} has no value`);
        }
        const home = owner[id]!;
        if (current >= 0 && home >= 0 && home !== current) {
          reports.rule("SPIRV_TYPE", instruction, `%${id} belongs to another function`);
        }
      }
    }
    if (opcode === Op.OpFunctionEnd) current = -1;
  }
}

function checkType(module: Module, instruction: Instruction, reports: Reports): void {
  const type = module.definitions[instruction.type];
  if (type === undefined) reports.id("SPIRV_ID_UNDEFINED", instruction, instruction.type);
  else if (!type.row.isType) reports.rule("SPIRV_TYPE", instruction, `result type %${instruction.type} is no type`);
  else if (type.at >= instruction.at) reports.id("SPIRV_ID_FORWARD", instruction, instruction.type);
}
