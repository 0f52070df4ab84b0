import type { EntryPoint } from "./annotations.ts";
import { ConstantValues, type Specialization } from "./constants.ts";
import { Decoration, Op, StorageClass } from "./enums.ts";
import { forEachId, functionsOf, reachableFunctions } from "./functions.ts";
import { decodeString, stringWords } from "./literals.ts";
import { type Module, operand } from "./module.ts";

/** A component of a location that a variable takes: 32 bits, two of them for each 64-bit scalar. */
export interface InterfaceComponent {
  readonly location: number;
  readonly component: number;
  readonly kind: "float" | "int" | "uint";
  readonly widthBits: number;
  /** The variable's name, or its block's, with the member's behind a dot. */
  readonly name: string;
  readonly variable: number;
  /** Word of the first instruction in the entry point's code that refers to the variable; undefined: none does. */
  readonly usedAt: number | undefined;
}

/** Above what any device has; bounds the walk over array lengths. */
const maxLocations = 128;

/**
 * What an entry point's input or output variables take of the interface between stages, built-ins aside. Source: Vulkan,
 * "Location and Component Assignment".
 */
export function stageInterface(
  module: Module,
  entry: Pick<EntryPoint, "fn" | "at">,
  direction: "input" | "output",
  specialization: readonly Specialization[] = [],
): readonly InterfaceComponent[] {
  const { annotations } = module;
  const constants = new ConstantValues(module.index, annotations, specialization);
  const found: InterfaceComponent[] = [];
  const first = firstUses(module, entry.fn);
  const storage = direction === "input" ? StorageClass.Input : StorageClass.Output;

  for (const id of interfaceIds(module, entry.at)) {
    const variable = module.definitions[id];
    if (variable?.opcode !== Op.OpVariable || operand(module, variable, 0) !== storage) continue;
    if (annotations.has(id, Decoration.BuiltIn)) continue;
    const pointer = module.definitions[variable.type];
    const type = pointer === undefined ? 0 : operand(module, pointer, 1);
    const usedAt = first[id] || undefined;

    /** Adds what a type takes from a location and component on; the next free location. */
    const walk = (typeId: number, location: number, component: number, name: string): number => {
      const type = module.definitions[typeId];
      if (type === undefined || location >= maxLocations) return location;
      const part = operand(module, type, 0);
      switch (type.opcode) {
        case Op.OpTypeInt:
        case Op.OpTypeFloat: {
          const kind = type.opcode === Op.OpTypeFloat ? "float" : operand(module, type, 1) === 0 ? "uint" : "int";
          for (let k = 0; k < Math.max(1, part >>> 5); k++) {
            const at = component + k;
            const row = { location: location + (at >>> 2), component: at & 3 };
            found.push({ ...row, kind, widthBits: part, name, variable: id, usedAt });
          }
          return location + 1;
        }
        case Op.OpTypeVector: {
          const scalar = module.definitions[part];
          const words = scalar !== undefined && operand(module, scalar, 0) === 64 ? 2 : 1;
          const count = operand(module, type, 1);
          for (let k = 0; k < count; k++) {
            const at = component + k * words;
            walk(part, location + (at >>> 2), at & 3, name);
          }
          return location + (words * count > 4 ? 2 : 1);
        }
        case Op.OpTypeMatrix:
        case Op.OpTypeArray: {
          const length = operand(module, type, 1);
          const count = type.opcode === Op.OpTypeMatrix ? length : (constants.value(length) ?? 0);
          let next = location;
          for (let k = 0; k < count && next < maxLocations; k++) next = walk(part, next, component, name);
          return next;
        }
        case Op.OpTypeStruct: {
          let next = location;
          for (let m = 0; type.first + m < type.end; m++) {
            if (annotations.memberHas(typeId, m, Decoration.BuiltIn)) continue;
            const at = annotations.memberValue(typeId, m, Decoration.Location) ?? next;
            const from = annotations.memberValue(typeId, m, Decoration.Component) ?? 0;
            next = walk(operand(module, type, m), at, from, `${name}.${memberName(module, typeId, m)}`);
          }
          return next;
        }
        default:
          return location;
      }
    };
    const location = annotations.value(id, Decoration.Location) ?? 0;
    const name = annotations.name(id) || annotations.name(type) || `%${id}`;
    walk(type, location, annotations.value(id, Decoration.Component) ?? 0, name);
  }
  return found;
}

/** Ids that the OpEntryPoint at a word lists behind its name. */
function interfaceIds({ words }: Module, at: number): Uint32Array {
  const name = at + 3;
  const end = at + (words[at]! >>> 16);
  return words.subarray(name + stringWords(words, name, end), end);
}

/** By id: word of the first instruction that names it, in the functions that `fn` reaches; 0 without one. */
function firstUses(module: Module, fn: number): Uint32Array {
  const first = new Uint32Array(module.bound);
  for (const { instructions } of reachableFunctions(functionsOf(module), fn)) {
    for (const instruction of instructions) {
      forEachId(module, instruction, (id) => {
        first[id] ||= instruction.at;
      });
    }
  }
  return first;
}

function memberName(module: Module, struct: number, member: number): string {
  for (const i of module.instructions) {
    if (i.opcode === Op.OpFunction) break;
    if (i.opcode === Op.OpMemberName && operand(module, i, 0) === struct && operand(module, i, 1) === member) {
      return decodeString(module.words, i.first + 2, i.end);
    }
  }
  return String(member);
}
