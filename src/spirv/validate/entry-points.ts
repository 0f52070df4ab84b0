import { type Annotations, type EntryPoint, entryInstruction, entryPoints } from "../annotations.ts";
import { BuiltIn, Decoration, ExecutionMode, ExecutionModel, Op, StorageClass } from "../enums.ts";
import { type FunctionInfo, forEachId, functionsOf, reachableFunctions } from "../functions.ts";
import { stringWords } from "../literals.ts";
import { type Instruction, type Module, operand, operandCount } from "../module.ts";
import type { Reports } from "../reports.ts";
import type { Structure } from "./structure.ts";
import type { Types } from "./types.ts";

/** Checks entry points and their execution modes. */
export function checkEntryPoints(module: Module, structure: Structure, types: Types, reports: Reports): void {
  const seen = new Set<string>();
  const entries = entryPoints(module.index).map((e) => ({ ...e, instruction: entryInstruction(module, e) }));
  const fns = new Set(entries.map((e) => e.fn));
  for (const entry of entries) {
    const key = `${entry.model} ${entry.name}`;
    if (seen.has(key)) reports.rule("SPIRV_LAYOUT", entry.instruction, `entry point ${entry.name} is there already`);
    seen.add(key);
    const body = structure.functionOf.get(entry.fn);
    if (body === undefined) continue;
    if (types.opcode(body.fn.type) !== Op.OpTypeVoid || body.parameters.length > 0) {
      reports.rule("SPIRV_LAYOUT", entry.instruction, "an entry point takes and returns nothing");
    }
    const nameAt = entry.instruction.first + 2;
    let at = nameAt + stringWords(module.words, nameAt, entry.instruction.end);
    for (; at < entry.instruction.end; at++) {
      const variable = module.definitions[module.words[at]!];
      if (variable?.opcode !== Op.OpVariable || operand(module, variable, 0) === StorageClass.Function) {
        reports.rule("SPIRV_LAYOUT", entry.instruction, `interface %${module.words[at]} is no global variable`);
      }
    }
    if (entry.model === ExecutionModel.GLCompute && !hasLocalSize(module, structure.globals, entry.fn)) {
      reports.rule(
        "SPIRV_LAYOUT",
        entry.instruction,
        "a compute entry point needs LocalSize, LocalSizeId or WorkgroupSize",
      );
    }
  }
  checkOrigins(module, entries, reports);
  for (const instruction of structure.globals) {
    const mode = instruction.opcode === Op.OpExecutionMode || instruction.opcode === Op.OpExecutionModeId;
    if (mode && !fns.has(operand(module, instruction, 0)))
      reports.rule("SPIRV_LAYOUT", instruction, "names no entry point");
  }
  for (const body of structure.functions) {
    for (const block of body.blocks) {
      for (const instruction of block.instructions) {
        if (instruction.opcode === Op.OpFunctionCall && fns.has(operand(module, instruction, 0))) {
          reports.rule("SPIRV_LAYOUT", instruction, "calls an entry point");
        }
      }
    }
  }
}

/** A fragment shader says where its picture starts. */
function checkOrigins(
  module: Module,
  entries: readonly (EntryPoint & { instruction: Instruction })[],
  reports: Reports,
) {
  const { words, index } = module;
  const isOrigin = (mode: number): boolean =>
    mode === ExecutionMode.OriginUpperLeft || mode === ExecutionMode.OriginLowerLeft;
  for (const { model, fn, instruction } of entries) {
    if (model !== ExecutionModel.Fragment) continue;
    if (!index.modes.some((at) => words[at + 1] === fn && isOrigin(words[at + 2]!)))
      reports.rule("SPIRV_LAYOUT", instruction, "a fragment entry point needs OriginUpperLeft or OriginLowerLeft");
  }
}

function hasLocalSize(module: Module, globals: readonly Instruction[], fn: number): boolean {
  return globals.some((g) => {
    const mode = operand(module, g, 1);
    if (g.opcode === Op.OpExecutionMode) return operand(module, g, 0) === fn && mode === ExecutionMode.LocalSize;
    if (g.opcode === Op.OpExecutionModeId) return operand(module, g, 0) === fn && mode === ExecutionMode.LocalSizeId;
    return g.opcode === Op.OpDecorate && mode === Decoration.BuiltIn && operand(module, g, 2) === BuiltIn.WorkgroupSize;
  });
}

/**
 * Every variable that an entry point's functions use stands in its interface: inputs and outputs, from SPIR-V 1.4 on all
 * global variables. Source: SPIR-V specification, OpEntryPoint.
 */
export function checkInterfaceLists(module: Module, structure: Structure, reports: Reports): void {
  const { words } = module;
  const all = module.version >= 0x10400;
  const variables = structure.globals.filter((g) => {
    const storage = operand(module, g, 0);
    return g.opcode === Op.OpVariable && (all || storage === StorageClass.Input || storage === StorageClass.Output);
  });
  if (variables.length === 0) return;
  // by id: 1 must be listed, 2 is listed
  const state = new Uint8Array(module.bound);
  const functions = functionsOf(module);
  const usedBy = new Map<number, readonly number[]>();
  const used = (fn: FunctionInfo): readonly number[] => {
    const known = usedBy.get(fn.id);
    if (known !== undefined) return known;
    const found = new Set<number>();
    for (const instruction of fn.instructions)
      forEachId(module, instruction, (id) => {
        if (state[id] !== 0) found.add(id);
      });
    const list = [...found];
    usedBy.set(fn.id, list);
    return list;
  };
  for (const entry of entryPoints(module.index)) {
    for (const { result } of variables) state[result] = 1;
    const instruction = entryInstruction(module, entry);
    const nameAt = instruction.first + 2;
    for (let at = nameAt + stringWords(words, nameAt, instruction.end); at < instruction.end; at++)
      if (state[words[at]!] === 1) state[words[at]!] = 2;
    for (const fn of reachableFunctions(functions, entry.fn)) {
      for (const id of used(fn)) {
        if (state[id] !== 1) continue;
        state[id] = 2;
        reports.rule("SPIRV_LAYOUT", module.definitions[id]!, `entry point ${entry.name} uses it without listing it`);
      }
    }
  }
}

/** Storage classes whose variables have no Location. */
const unlocated: ReadonlySet<number> = new Set([
  StorageClass.UniformConstant,
  StorageClass.Uniform,
  StorageClass.StorageBuffer,
  StorageClass.PushConstant,
  StorageClass.Workgroup,
  StorageClass.Private,
]);

/** Checks that each block of a buffer or of push constants says where all of it lies, and where buffers are bound. */
export function checkInterfaces(
  module: Module,
  structure: Structure,
  types: Types,
  annotations: Annotations,
  reports: Reports,
): void {
  const checked = new Set<number>();
  for (const variable of structure.globals) {
    if (variable.opcode !== Op.OpVariable || reports.full) continue;
    const storage = operand(module, variable, 0);
    const buffer = storage === StorageClass.Uniform || storage === StorageClass.StorageBuffer;
    const bound = buffer || storage === StorageClass.UniformConstant;
    for (const decoration of [Decoration.Binding, Decoration.DescriptorSet]) {
      const name = decoration === Decoration.Binding ? "Binding" : "DescriptorSet";
      const there = annotations.value(variable.result, decoration) !== undefined;
      if (bound && !there) reports.rule("SPIRV_DECORATION", variable, `needs a ${name}`);
      if (!bound && there) reports.rule("SPIRV_DECORATION", variable, `has a ${name} but is no resource`);
    }
    if (unlocated.has(storage) && annotations.has(variable.result, Decoration.Location))
      reports.rule("SPIRV_DECORATION", variable, "has a Location but is no input or output");
    let type = types.part(variable.type, 1);
    const isArray = (): boolean =>
      types.opcode(type) === Op.OpTypeArray || types.opcode(type) === Op.OpTypeRuntimeArray;
    if (bound && isArray()) type = types.part(type, 0);
    if (bound && isArray()) {
      reports.rule("SPIRV_DECORATION", variable, "Vulkan has no arrays of arrays of resources");
      continue;
    }
    if (!buffer && storage !== StorageClass.PushConstant) continue;
    if (types.opcode(type) !== Op.OpTypeStruct || !annotations.isBlock(type)) {
      reports.rule("SPIRV_DECORATION", variable, "must be a struct decorated Block or BufferBlock");
      continue;
    }
    checkLayout(module, type, types, annotations, reports, checked);
  }
}

/** Bytes that the largest scalar of a type is aligned to: the weakest rule, that of scalar block layout. */
function scalarAlignment(types: Types, type: number): number {
  const width = types.width(type);
  if (width > 0) return width / 8;
  if (types.isPointer(type)) return 8;
  const parts = types.parts(type);
  let alignment = 1;
  const count = types.opcode(type) === Op.OpTypeStruct ? (parts?.count ?? 0) : parts === undefined ? 0 : 1;
  for (let i = 0; i < count; i++) alignment = Math.max(alignment, scalarAlignment(types, parts!.of(i)));
  return alignment;
}

function checkLayout(
  module: Module,
  struct: number,
  types: Types,
  annotations: Annotations,
  reports: Reports,
  checked: Set<number>,
): void {
  const work = [struct];
  const aligned = (bytes: number | undefined, type: number): boolean =>
    bytes === undefined || bytes % scalarAlignment(types, type) === 0;
  for (let id = work.pop(); id !== undefined; id = work.pop()) {
    const found = types.at(id);
    if (found === undefined || checked.has(id)) continue;
    checked.add(id);
    for (let m = 0; m < operandCount(found); m++) {
      if (annotations.memberValue(id, m, Decoration.Offset) === undefined) {
        reports.rule("SPIRV_DECORATION", found, `member ${m} has no Offset`);
      }
      let type = operand(module, found, m);
      if (!aligned(annotations.memberValue(id, m, Decoration.Offset), type)) {
        reports.rule("SPIRV_DECORATION", found, `the Offset of member ${m} is not aligned to its scalars`);
      }
      if (!aligned(annotations.memberValue(id, m, Decoration.MatrixStride), type)) {
        reports.rule("SPIRV_DECORATION", found, `the MatrixStride of member ${m} is not aligned to its scalars`);
      }
      while (types.opcode(type) === Op.OpTypeArray || types.opcode(type) === Op.OpTypeRuntimeArray) {
        if (!annotations.value(type, Decoration.ArrayStride)) {
          reports.rule("SPIRV_DECORATION", found, `array %${type} in member ${m} has no ArrayStride`);
        } else if (!aligned(annotations.value(type, Decoration.ArrayStride), type)) {
          reports.rule("SPIRV_DECORATION", found, `the ArrayStride of member ${m} is not aligned to its scalars`);
        }
        type = types.part(type, 0);
      }
      if (types.opcode(type) === Op.OpTypeMatrix && !annotations.memberValue(id, m, Decoration.MatrixStride)) {
        reports.rule("SPIRV_DECORATION", found, `matrix in member ${m} has no MatrixStride`);
      }
      if (types.base(type) === "bool")
        reports.rule("SPIRV_DECORATION", found, `member ${m} is a bool, which has no layout`);
      if (types.opcode(type) === Op.OpTypeStruct) work.push(type);
    }
  }
}
