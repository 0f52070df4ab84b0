import { Capability, GlslStd450 as G, Op, Scope, StorageClass } from "../enums.ts";
import { glslInstruction } from "../grammar.ts";
import { decodeString } from "../literals.ts";
import { type Instruction, type Module, operand, operandCount } from "../module.ts";
import type { Reports } from "../reports.ts";
import { checkComposite } from "./composites.ts";
import { Context } from "./context.ts";
import { applyRule, glslRules, instructionRules } from "./rules.ts";
import type { FunctionBody, Structure } from "./structure.ts";
import { isReadOnlyStorage, type Types } from "./types.ts";

const atomics: ReadonlyMap<number, number> = new Map<number, number>([
  // opcode → operands after the pointer: scope, semantics, …, value
  [Op.OpAtomicLoad, 3],
  [Op.OpAtomicStore, 4],
  [Op.OpAtomicExchange, 4],
  [Op.OpAtomicCompareExchange, 6],
  [Op.OpAtomicIIncrement, 3],
  [Op.OpAtomicIDecrement, 3],
  [Op.OpAtomicIAdd, 4],
  [Op.OpAtomicISub, 4],
  [Op.OpAtomicSMin, 4],
  [Op.OpAtomicUMin, 4],
  [Op.OpAtomicSMax, 4],
  [Op.OpAtomicUMax, 4],
  [Op.OpAtomicAnd, 4],
  [Op.OpAtomicOr, 4],
  [Op.OpAtomicXor, 4],
]);

/** Storage classes that atomics work on. Source: Vulkan specification, VUID-StandaloneSpirv-None-04686. */
const atomicStorage: ReadonlySet<number> = new Set([
  StorageClass.Uniform,
  StorageClass.Workgroup,
  StorageClass.Image,
  StorageClass.StorageBuffer,
  StorageClass.PhysicalStorageBuffer,
  StorageClass.TaskPayloadWorkgroupEXT,
]);

/** Storage classes whose variables may have an initialiser. Source: VUID-StandaloneSpirv-OpVariable-04651. */
const initialised: ReadonlySet<number> = new Set([
  StorageClass.Output,
  StorageClass.Private,
  StorageClass.Function,
  StorageClass.Workgroup,
]);

/** Checks result and operand types of each constant, global and instruction in a block. */
export function checkInstructions(module: Module, structure: Structure, types: Types, reports: Reports): void {
  const context = new Context(module, types);
  const check = (instruction: Instruction, body: FunctionBody | undefined): void => {
    if (reports.full) return;
    context.at(instruction);
    const rule = ruleOf(context, instruction, body, structure);
    if (rule !== undefined) reports.rule("SPIRV_TYPE", instruction, rule);
  };
  for (const instruction of structure.globals) check(instruction, undefined);
  for (const body of structure.functions) {
    const rule = signatureRule(module, types, body);
    if (rule !== undefined) reports.rule("SPIRV_TYPE", body.fn, rule);
    for (const block of body.blocks) {
      for (const instruction of block.instructions) check(instruction, body);
      check(block.terminator, body);
    }
  }
}

function signatureRule(module: Module, types: Types, body: FunctionBody): string | undefined {
  const type = operand(module, body.fn, 1);
  const declared = types.at(type);
  if (declared?.opcode !== Op.OpTypeFunction) return "function type is no OpTypeFunction";
  if (types.part(type, 0) !== body.fn.type) return "result type differs from the function type's";
  const parameters = operandCount(declared) - 1;
  if (parameters !== body.parameters.length) return `has ${body.parameters.length} parameters, its type ${parameters}`;
  const wrong = body.parameters.findIndex((p, i) => p.type !== types.part(type, i + 1));
  return wrong < 0 ? undefined : `parameter ${wrong} differs from the function type's`;
}

function ruleOf(c: Context, instruction: Instruction, body: FunctionBody | undefined, structure: Structure) {
  const plain = instructionRules.get(instruction.opcode);
  if (plain !== undefined) return applyRule(c, plain, instruction.type, 0);
  if (atomics.has(instruction.opcode)) return atomicRule(c, instruction);
  if (instruction.opcode >= Op.OpGroupNonUniformElect && instruction.opcode <= Op.OpGroupNonUniformQuadSwap) {
    const scope = constantOf(c, 0);
    return scope === undefined || scope === Scope.Subgroup ? undefined : "execution scope must be Subgroup";
  }
  return (
    checkComposite(c, instruction) ?? memoryRule(c, instruction, body) ?? controlRule(c, instruction, body, structure)
  );
}

function operandTypes(c: Context, from: number): number[] {
  const list: number[] = [];
  for (let i = from; i < c.count; i++) list.push(c.typeOf(i));
  return list;
}

/** The type that a pointer value points to, 0 where the operand is no pointer. */
function pointee(c: Context, index: number): number {
  const type = c.typeOf(index);
  return c.types.isPointer(type) ? c.types.part(type, 1) : 0;
}

function memoryRule(c: Context, instruction: Instruction, body: FunctionBody | undefined): string | undefined {
  const { types } = c;
  switch (instruction.opcode) {
    case Op.OpVariable: {
      if (!types.isPointer(instruction.type)) return "result type must be a pointer";
      const storage = c.word(0);
      if (types.part(instruction.type, 0) !== storage) return "storage class differs from its pointer type's";
      if ((storage === StorageClass.Function) !== (body !== undefined)) return "storage class does not fit its place";
      const initial = c.word(1);
      if (initial === 0) return undefined;
      const found = c.module.definitions[initial];
      const constant = found !== undefined && (found.row.isConstant || found.opcode === Op.OpUndef);
      if (!constant && found?.opcode !== Op.OpVariable) return "initialiser must be a constant";
      if (!initialised.has(storage)) return "variables of this storage class have no initialiser";
      if (storage === StorageClass.Workgroup && found.opcode !== Op.OpConstantNull)
        return "initialiser of a Workgroup variable must be an OpConstantNull";
      return types.ofValue(initial) === types.part(instruction.type, 1) ? undefined : "initialiser has the wrong type";
    }
    case Op.OpLoad: {
      const to = pointee(c, 0);
      if (to === 0) return "operand must be a pointer";
      if (types.at(to) === undefined || types.hasRuntimeArray(to)) return "cannot load that type";
      return to === instruction.type ? undefined : "result type differs from the pointer's";
    }
    case Op.OpStore: {
      const to = pointee(c, 0);
      if (to === 0) return "first operand must be a pointer";
      if (isReadOnlyStorage(types.part(c.typeOf(0), 0))) return "storage class is read-only";
      return to === c.typeOf(1) ? undefined : "value has another type than the pointer";
    }
    case Op.OpCopyMemory: {
      const to = pointee(c, 0);
      if (to === 0 || pointee(c, 1) === 0) return "operands must be pointers";
      if (isReadOnlyStorage(types.part(c.typeOf(0), 0))) return "target's storage class is read-only";
      return to === pointee(c, 1) ? undefined : "pointers have different types";
    }
    case Op.OpAccessChain:
    case Op.OpInBoundsAccessChain:
      return accessChainRule(c, instruction);
    case Op.OpImageTexelPointer:
      return texelPointerRule(c, instruction);
    case Op.OpArrayLength: {
      const struct = pointee(c, 0);
      const parts = types.opcode(struct) === Op.OpTypeStruct ? types.parts(struct) : undefined;
      if (parts?.count === undefined || parts.count === 0) return "operand must point to a struct";
      if (c.word(1) !== parts.count - 1) return "must name the last member";
      if (types.opcode(parts.of(parts.count - 1)) !== Op.OpTypeRuntimeArray) return "last member is no runtime array";
      const uint = types.base(instruction.type) === "int" && types.dimension(instruction.type) === 1;
      return uint && !types.signed(instruction.type) && types.width(instruction.type) === 32
        ? undefined
        : "result must be a 32-bit unsigned integer";
    }
    default:
      return undefined;
  }
}

function texelPointerRule(c: Context, instruction: Instruction): string | undefined {
  const { types } = c;
  if (!types.isPointer(instruction.type) || types.part(instruction.type, 0) !== StorageClass.Image)
    return "result type must be a pointer with storage class Image";
  const image = pointee(c, 0);
  if (types.opcode(image) !== Op.OpTypeImage) return "image must be a pointer to an image";
  if (types.part(image, 0) !== types.part(instruction.type, 1)) return "result points to another type than the texel's";
  if (types.base(c.typeOf(1)) !== "int") return "coordinate must be integers";
  return isInteger(c, 2) ? undefined : "sample must be an integer";
}

/** The operand is a scalar integer. */
function isInteger(c: Context, index: number): boolean {
  const type = c.typeOf(index);
  return c.types.base(type) === "int" && c.types.dimension(type) === 1;
}

function accessChainRule(c: Context, instruction: Instruction): string | undefined {
  const { types } = c;
  if (!types.isPointer(instruction.type)) return "result type must be a pointer";
  let at = pointee(c, 0);
  if (at === 0) return "base must be a pointer";
  for (let i = 1; i < c.count; i++) {
    const parts = types.parts(at);
    if (parts === undefined) return `index ${i} goes into a type without parts`;
    const index = c.typeOf(i);
    if (types.base(index) !== "int" || types.dimension(index) !== 1) return `index ${i} is no integer`;
    if (types.opcode(at) === Op.OpTypeStruct) {
      const constant = c.module.definitions[c.word(i)];
      if (constant?.opcode !== Op.OpConstant) return `index ${i} into a struct must be a constant`;
      const member = operand(c.module, constant, 0);
      if (parts.count === undefined || member >= parts.count) return `index ${i} is past the last member`;
      at = parts.of(member);
    } else {
      at = parts.of(0);
    }
  }
  if (types.part(instruction.type, 1) !== at) return "result type differs from what the indices reach";
  return types.part(instruction.type, 0) === types.part(c.typeOf(0), 0)
    ? undefined
    : "storage class differs from the base's";
}

function atomicRule(c: Context, instruction: Instruction): string | undefined {
  const { types } = c;
  const expected = atomics.get(instruction.opcode)!;
  const to = pointee(c, 0);
  if (to === 0) return "first operand must be a pointer";
  if (!atomicStorage.has(types.part(c.typeOf(0), 0))) return "storage class has no atomics";
  const { opcode } = instruction;
  const exact = opcode === Op.OpAtomicLoad || opcode === Op.OpAtomicStore || opcode === Op.OpAtomicExchange;
  const base = types.base(to);
  if (types.dimension(to) !== 1 || (base !== "int" && !(exact && base === "float"))) return "must point to an integer";
  for (let i = 1; i < expected; i++) {
    const type = c.typeOf(i);
    const isValue = i >= (opcode === Op.OpAtomicCompareExchange ? 4 : 3);
    if (isValue ? type !== to : types.base(type) !== "int" || types.dimension(type) !== 1) {
      return `operand ${i + 1} has the wrong type`;
    }
  }
  if (instruction.type !== 0 && instruction.type !== to) return "result type differs from the pointer's";
  return scopeRule(c, 1);
}

function isBoolScalar(c: Context, type: number): boolean {
  return c.types.opcode(type) === Op.OpTypeBool;
}

function controlRule(
  c: Context,
  instruction: Instruction,
  body: FunctionBody | undefined,
  structure: Structure,
): string | undefined {
  const { types } = c;
  switch (instruction.opcode) {
    case Op.OpBranchConditional:
      if (c.count !== 3 && c.count !== 5) return "has either two weights or none";
      return isBoolScalar(c, c.typeOf(0)) ? undefined : "condition must be a scalar bool";
    case Op.OpSwitch:
      return types.base(c.typeOf(0)) === "int" && types.dimension(c.typeOf(0)) === 1
        ? undefined
        : "selector must be a scalar integer";
    case Op.OpReturn:
      return body !== undefined && types.opcode(body.fn.type) !== Op.OpTypeVoid
        ? "function returns a value"
        : undefined;
    case Op.OpReturnValue:
      return body !== undefined && c.typeOf(0) !== body.fn.type
        ? "value has another type than the function"
        : undefined;
    case Op.OpPhi:
      for (let i = 0; i < c.count; i += 2)
        if (c.typeOf(i) !== instruction.type) return `value ${i / 2} has another type`;
      return undefined;
    case Op.OpFunctionCall: {
      const callee = structure.functionOf.get(c.word(0));
      if (callee === undefined) return "calls no function";
      if (callee.fn.type !== instruction.type) return "result type differs from the function's";
      if (callee.parameters.length !== c.count - 1)
        return `passes ${c.count - 1} arguments to ${callee.parameters.length} parameters`;
      const wrong = callee.parameters.findIndex((p, i) => p.type !== c.typeOf(i + 1));
      return wrong < 0 ? undefined : `argument ${wrong + 1} has another type than the parameter`;
    }
    case Op.OpControlBarrier:
    case Op.OpMemoryBarrier:
      if (!operandTypes(c, 0).every((t) => types.base(t) === "int" && types.dimension(t) === 1)) {
        return "operands must be integers";
      }
      return barrierRule(c, instruction);
    case Op.OpExtInst:
      return extInstRule(c, instruction);
    default:
      return undefined;
  }
}

/** The value of an OpConstant operand, undefined for any other. */
function constantOf(c: Context, index: number): number | undefined {
  const found = c.module.definitions[c.word(index)];
  return found?.opcode === Op.OpConstant ? operand(c.module, found, 0) : undefined;
}

/** A memory scope of Vulkan (CrossDevice is none); QueueFamily came with Vulkan's memory model. */
function scopeRule(c: Context, index: number): string | undefined {
  const scope = constantOf(c, index);
  if (scope === undefined) return undefined;
  if (scope < Scope.Device || scope > Scope.ShaderCallKHR) return `${scope} is no scope`;
  return scope === Scope.QueueFamily && !c.capabilities.has(Capability.VulkanMemoryModel)
    ? "scope QueueFamily needs the capability VulkanMemoryModel"
    : undefined;
}

/** Scopes, and at most one ordering among the semantics. */
function barrierRule(c: Context, instruction: Instruction): string | undefined {
  const control = instruction.opcode === Op.OpControlBarrier;
  const semanticsAt = control ? 2 : 1;
  if (control) {
    const scope = constantOf(c, 0);
    if (scope !== undefined && scope !== Scope.Workgroup && scope !== Scope.Subgroup)
      return "execution scope must be Workgroup or Subgroup";
  }
  const rule = scopeRule(c, semanticsAt - 1);
  if (rule !== undefined) return rule;
  const orders = (constantOf(c, semanticsAt) ?? 0) & 0x1e;
  return (orders & (orders - 1)) === 0 ? undefined : "memory semantics name two orders";
}

function extInstRule(c: Context, instruction: Instruction): string | undefined {
  const set = c.module.definitions[c.word(0)];
  if (set === undefined || decodeString(c.module.words, set.first, set.end) !== "GLSL.std.450") return undefined;
  const number = c.word(1);
  const row = glslInstruction(number);
  if (row === undefined) return `GLSL.std.450 has no instruction ${number}`;
  const operands = operandTypes(c, 2);
  if (operands.length !== row.operands) return `${row.name} takes ${row.operands} operands, not ${operands.length}`;
  if (operands.includes(0)) return `an operand of ${row.name} has no value`;
  const rule = glslRules.get(number);
  const problem =
    rule === undefined ? glslSpecial(c, instruction, number, operands) : applyRule(c, rule, instruction.type, 2);
  return problem === undefined ? undefined : `${row.name}: ${problem}`;
}

/** Packing, pointers, structs and matrices. */
function glslSpecial(c: Context, instruction: Instruction, number: number, operands: readonly number[]) {
  const { types } = c;
  const result = instruction.type;
  const first = operands[0] ?? 0;
  const shape = (type: number, base: "int" | "float", dimension: number, width = 32): boolean =>
    types.base(type) === base && types.dimension(type) === dimension && types.width(type) === width;
  const expect = (good: boolean): string | undefined => (good ? undefined : "wrong types");
  switch (number) {
    case G.PackHalf2x16:
    case G.PackUnorm2x16:
    case G.PackSnorm2x16:
      return expect(shape(result, "int", 1) && shape(first, "float", 2));
    case G.PackUnorm4x8:
    case G.PackSnorm4x8:
      return expect(shape(result, "int", 1) && shape(first, "float", 4));
    case G.UnpackHalf2x16:
    case G.UnpackUnorm2x16:
    case G.UnpackSnorm2x16:
      return expect(shape(result, "float", 2) && shape(first, "int", 1));
    case G.UnpackUnorm4x8:
    case G.UnpackSnorm4x8:
      return expect(shape(result, "float", 4) && shape(first, "int", 1));
    case G.PackDouble2x32:
      return expect(shape(result, "float", 1, 64) && shape(first, "int", 2));
    case G.UnpackDouble2x32:
      return expect(shape(result, "int", 2) && shape(first, "float", 1, 64));
    case G.Modf:
    case G.Frexp: {
      const second = operands[1] ?? 0;
      const target = types.isPointer(second) ? types.part(second, 1) : 0;
      const whole =
        number === G.Modf
          ? target === result
          : types.base(target) === "int" && types.dimension(target) === types.dimension(result);
      return expect(types.base(result) === "float" && first === result && whole);
    }
    case G.InterpolateAtCentroid:
    case G.InterpolateAtSample:
    case G.InterpolateAtOffset: {
      const target = types.isPointer(first) && types.part(first, 0) === StorageClass.Input ? types.part(first, 1) : 0;
      const second = operands[1] ?? 0;
      const place =
        number === G.InterpolateAtCentroid ||
        (number === G.InterpolateAtSample ? shape(second, "int", 1, 32) : shape(second, "float", 2));
      return expect(types.base(result) === "float" && target === result && place);
    }
    case G.ModfStruct:
    case G.FrexpStruct: {
      const parts = types.opcode(result) === Op.OpTypeStruct ? types.parts(result) : undefined;
      if (parts?.count !== 2 || parts.of(0) !== first || types.base(first) !== "float") return "wrong types";
      const second = parts.of(1);
      const exponent = types.base(second) === "int" && types.dimension(second) === types.dimension(first);
      return expect(number === G.ModfStruct ? second === first : exponent);
    }
    case G.Determinant:
    case G.MatrixInverse: {
      const square =
        types.opcode(first) === Op.OpTypeMatrix && types.dimension(types.part(first, 0)) === types.part(first, 1);
      const wanted = number === G.MatrixInverse ? first : types.component(types.part(first, 0));
      return expect(square && result === wanted);
    }
    default:
      return undefined;
  }
}
