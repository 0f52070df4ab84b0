import { Op, StorageClass } from "../enums.ts";
import { type Instruction, type Module, operand, operandCount } from "../module.ts";
import type { Reports } from "../reports.ts";

/** Deepest nesting of structs and arrays: universal limit of the specification. */
const maxNesting = 255;

/** Facts about a type in one word: base in bits 0 and 1, signedness in 2, components in 3 to 10, bits from 11 on. */
const Base = { none: 0, int: 1, float: 2, bool: 3 } as const;
const baseNames = [undefined, "int", "float", "bool"] as const;

/** Questions about types, by type id; an unknown id answers like a type that is nothing in particular. */
export class Types {
  readonly #module: Module;
  readonly #facts: Uint32Array;

  constructor(module: Module) {
    this.#module = module;
    this.#facts = new Uint32Array(module.bound);
    for (const instruction of module.instructions) {
      if (instruction.opcode === Op.OpFunction) break;
      if (instruction.row.isType) this.#facts[instruction.result] = this.#factsOf(instruction);
    }
  }

  #factsOf(type: Instruction): number {
    const first = operand(this.#module, type, 0);
    const one = 1 << 3;
    switch (type.opcode) {
      case Op.OpTypeInt:
        return Base.int | one | (operand(this.#module, type, 1) === 0 ? 0 : 4) | (Math.min(first, 255) << 11);
      case Op.OpTypeFloat:
        return Base.float | one | (Math.min(first, 255) << 11);
      case Op.OpTypeBool:
        return Base.bool | one;
      case Op.OpTypeVector:
        // a vector of more components than 255 is refused before anybody asks
        return (this.#facts[first]! & ~0x7f8) | (Math.min(operand(this.#module, type, 1), 255) << 3);
      default:
        return one;
    }
  }

  at(id: number): Instruction | undefined {
    const found = this.#module.definitions[id];
    return found?.row.isType ? found : undefined;
  }

  /** The type of a value, 0 where `id` is no value. Functions have a type but are no values. */
  ofValue(id: number): number {
    const found = this.#module.definitions[id];
    return found === undefined || found.opcode === Op.OpFunction ? 0 : found.type;
  }

  opcode(id: number): number {
    return this.at(id)?.opcode ?? -1;
  }

  /** Operand of the type's declaration after its result. */
  part(id: number, index: number): number {
    const found = this.at(id);
    return found === undefined ? 0 : operand(this.#module, found, index);
  }

  /** A vector's component type, else the type itself. */
  component(id: number): number {
    return this.opcode(id) === Op.OpTypeVector ? this.part(id, 0) : id;
  }

  /** Components of a vector; 1 for other types. */
  dimension(id: number): number {
    const facts = this.#facts[id] ?? 0;
    return facts === 0 ? 1 : (facts >> 3) & 0xff;
  }

  /** `int`, `float` or `bool` of scalars and vectors, undefined for other types. */
  base(id: number): "int" | "float" | "bool" | undefined {
    return baseNames[(this.#facts[id] ?? 0) & 3];
  }

  /** Bits of the (component's) int or float type; 0 for bool and others. */
  width(id: number): number {
    return (this.#facts[id] ?? 0) >> 11;
  }

  signed(id: number): boolean {
    return ((this.#facts[id] ?? 0) & 4) !== 0;
  }

  isPointer(id: number): boolean {
    return this.opcode(id) === Op.OpTypePointer;
  }

  /** A runtime array, or something that holds one; only structs and arrays may. */
  hasRuntimeArray(id: number): boolean {
    // only the last member of a struct may be one, by itself or inside
    for (let at = id; ; ) {
      const found = this.at(at);
      if (found?.opcode === Op.OpTypeRuntimeArray) return true;
      if (found?.opcode === Op.OpTypeArray) at = operand(this.#module, found, 0);
      else if (found?.opcode === Op.OpTypeStruct && operandCount(found) > 0)
        at = operand(this.#module, found, operandCount(found) - 1);
      else return false;
    }
  }

  /** Same base, components and width; signedness may differ. */
  similar(a: number, b: number): boolean {
    const facts = this.#facts[a] ?? 0;
    return a === b || ((facts & 3) !== 0 && (facts & ~4) === ((this.#facts[b] ?? 0) & ~4));
  }

  /** Same number of components. */
  sameSize(a: number, b: number): boolean {
    return this.dimension(a) === this.dimension(b);
  }

  /** Parts of a composite, undefined for other types; `length` undefined for runtime arrays and specialised arrays. */
  parts(id: number): { readonly count: number | undefined; of(index: number): number } | undefined {
    const found = this.at(id);
    switch (found?.opcode) {
      case Op.OpTypeVector:
      case Op.OpTypeMatrix:
        return { count: this.part(id, 1), of: () => this.part(id, 0) };
      case Op.OpTypeArray: {
        const length = this.#module.definitions[this.part(id, 1)];
        const count = length?.opcode === Op.OpConstant ? operand(this.#module, length, 0) : undefined;
        return { count, of: () => this.part(id, 0) };
      }
      case Op.OpTypeRuntimeArray:
        return { count: undefined, of: () => this.part(id, 0) };
      case Op.OpTypeStruct:
        return { count: operandCount(found), of: (index) => operand(this.#module, found, index) };
      default:
        return undefined;
    }
  }
}

/** Checks each type declaration on its own; types are declared before use, so there are no cycles. */
export function checkTypes(module: Module, globals: readonly Instruction[], types: Types, reports: Reports): void {
  const depth = new Map<number, number>();
  const unique = new Set<string>();
  for (const instruction of globals) {
    if (!instruction.row.isType) continue;
    const rule = typeRule(module, instruction, types);
    if (rule !== undefined) reports.rule("SPIRV_TYPE", instruction, rule);
    const { opcode, result } = instruction;
    let nesting = 0;
    for (let i = 0; i < operandCount(instruction); i++)
      nesting = Math.max(nesting, depth.get(operand(module, instruction, i)) ?? 0);
    const aggregate = opcode === Op.OpTypeStruct || opcode === Op.OpTypeArray || opcode === Op.OpTypeRuntimeArray;
    depth.set(result, aggregate ? nesting + 1 : 0);
    if (aggregate && nesting >= maxNesting) reports.rule("SPIRV_TYPE", instruction, `nests deeper than ${maxNesting}`);
    if (aggregate || opcode === Op.OpTypePointer) continue;
    let key = `${opcode}`;
    for (let at = instruction.first; at < instruction.end; at++) key += `,${module.words[at]}`;
    if (unique.has(key)) reports.rule("SPIRV_TYPE", instruction, "declares a type that is there already");
    unique.add(key);
  }
}

function typeRule(module: Module, instruction: Instruction, types: Types): string | undefined {
  const first = operand(module, instruction, 0);
  const second = operand(module, instruction, 1);
  switch (instruction.opcode) {
    case Op.OpTypeInt:
      if (second > 1) return "signedness is 0 or 1";
      return isWidth(first) || first === 8 ? undefined : `no integer has ${first} bits`;
    case Op.OpTypeFloat:
      return isWidth(first) ? undefined : `no float has ${first} bits`;
    case Op.OpTypeVector:
      if (types.base(first) === undefined || types.opcode(first) === Op.OpTypeVector)
        return "components must be scalars";
      return second >= 2 && second <= 4 ? undefined : "a vector has 2 to 4 components";
    case Op.OpTypeMatrix:
      if (types.opcode(first) !== Op.OpTypeVector || types.base(first) !== "float")
        return "columns must be float vectors";
      return second >= 2 && second <= 4 ? undefined : "a matrix has 2 to 4 columns";
    case Op.OpTypeArray: {
      if (!isData(types, first) || types.opcode(first) === Op.OpTypeRuntimeArray) return "elements must be sized data";
      const length = module.definitions[second];
      if (length === undefined || !isLength(length.opcode)) return "length must be a constant";
      if (types.opcode(length.type) !== Op.OpTypeInt) return "length must be an integer";
      if (length.opcode !== Op.OpConstant) return undefined;
      const negative = types.signed(length.type) && types.width(length.type) <= 32 && operand(module, length, 0) >>> 31;
      return operand(module, length, 0) === 0 || negative ? "length must be at least 1" : undefined;
    }
    case Op.OpTypeRuntimeArray:
      return isData(types, first) && types.opcode(first) !== Op.OpTypeRuntimeArray
        ? undefined
        : "elements must be sized data";
    case Op.OpTypeStruct: {
      const count = operandCount(instruction);
      for (let i = 0; i < count; i++) {
        const member = operand(module, instruction, i);
        if (!isData(types, member)) return `member ${i} is no data`;
        if (types.opcode(member) === Op.OpTypeRuntimeArray && i < count - 1)
          return "only the last member may be a runtime array";
      }
      return undefined;
    }
    case Op.OpTypePointer:
      return types.at(second) === undefined ? "must point to a type" : undefined;
    case Op.OpTypeFunction: {
      if (types.at(first) === undefined || types.opcode(first) === Op.OpTypeFunction)
        return "return type is no data type";
      for (let i = 1; i < operandCount(instruction); i++) {
        const parameter = operand(module, instruction, i);
        if (!isData(types, parameter) && !types.isPointer(parameter)) return `parameter ${i - 1} is no data type`;
      }
      return undefined;
    }
    case Op.OpTypeSampledImage:
      return types.opcode(first) === Op.OpTypeImage ? undefined : "must name an image type";
    case Op.OpTypeImage: {
      if (types.at(first) === undefined) return "sampled type is no type";
      // depth, arrayed, multisampled, sampled: highest value of each
      const wrong = [2, 1, 1, 2].findIndex((highest, i) => operand(module, instruction, 2 + i) > highest);
      return wrong < 0 ? undefined : `operand ${wrong + 3} is out of range`;
    }
    default:
      return undefined;
  }
}

const isWidth = (bits: number): boolean => bits === 32 || bits === 16 || bits === 64;

const isLength = (opcode: number): boolean =>
  opcode === Op.OpConstant || opcode === Op.OpSpecConstant || opcode === Op.OpSpecConstantOp;

/** Types that variables, members and parameters can have. */
function isData(types: Types, id: number): boolean {
  const found = types.at(id);
  return found !== undefined && found.opcode !== Op.OpTypeVoid && found.opcode !== Op.OpTypeFunction;
}

/** Storage classes that a shader can't write. */
export function isReadOnlyStorage(storageClass: number): boolean {
  return (
    storageClass === StorageClass.Input ||
    storageClass === StorageClass.UniformConstant ||
    storageClass === StorageClass.PushConstant
  );
}
