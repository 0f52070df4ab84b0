import type { Annotations } from "./annotations.ts";
import type { ConstantValues } from "./constants.ts";
import { Decoration, Op, StorageClass } from "./enums.ts";
import type { ModuleIndex } from "./module-index.ts";

/** One location of the vertex stage's inputs that its code refers to: the first of two for vectors of 3 or 4 64-bit components. */
export interface VertexInput {
  /** Of the variable that declares it, `%id` without one. */
  readonly name: string;
  readonly location: number;
  /** Up to and with the last component that the shader declares; of 64 bits, of both locations where it takes two. */
  readonly components: number;
  readonly kind: "float" | "int" | "uint";
  readonly widthBits: number;
}

/** The locations that input variables take, ascending. Two variables that share a location count together. */
export function vertexInputs(
  index: ModuleIndex,
  variables: readonly number[],
  annotations: Annotations,
  constants: ConstantValues,
): readonly VertexInput[] {
  const found = new Map<number, VertexInput>();
  let name = "";
  const add = (location: number, components: number, kind: VertexInput["kind"], widthBits: number): void => {
    const other = found.get(location);
    // 64 bits have components of two words: whoever has them is kept, whatever stands beside it.
    const kept = other !== undefined && (other.widthBits === 64 || other.components >= components);
    if (!kept || (widthBits === 64 && other.widthBits !== 64))
      found.set(location, { name, location, components, kind, widthBits });
  };
  /** Adds the locations of a type from `location` on; the next free one. */
  const walk = (id: number, location: number, component: number): number => {
    const part = index.operand(id, 0);
    switch (index.opcode(id)) {
      case Op.OpTypeInt:
        add(location, component / (part === 64 ? 2 : 1) + 1, index.operand(id, 1) === 0 ? "uint" : "int", part);
        return location + 1;
      case Op.OpTypeFloat:
        add(location, component / (part === 64 ? 2 : 1) + 1, "float", part);
        return location + 1;
      case Op.OpTypeVector: {
        // Components are counted in words.
        const words = index.operand(part, 0) === 64 ? 2 : 1;
        const last = component + words * (index.operand(id, 1) - 1);
        walk(part, location, last);
        return location + (last + words > 4 ? 2 : 1);
      }
      case Op.OpTypeMatrix: {
        let next = location;
        for (let k = 0; k < index.operand(id, 1); k++) next = walk(part, next, component);
        return next;
      }
      case Op.OpTypeArray: {
        let next = location;
        const count = constants.value(index.operand(id, 1)) ?? 0;
        // Locations end at 32 for vertices.
        for (let k = 0; k < count && next < 32; k++) next = walk(part, next, component);
        return next;
      }
      default:
        return location;
    }
  };
  for (const variable of variables) {
    if (index.operand(variable, 0) !== StorageClass.Input) continue;
    const location = annotations.value(variable, Decoration.Location);
    if (location === undefined) continue;
    name = annotations.name(variable) || `%${variable}`;
    walk(index.operand(index.type(variable), 1), location, annotations.value(variable, Decoration.Component) ?? 0);
  }
  return [...found.values()].sort((a, b) => a.location - b.location);
}
