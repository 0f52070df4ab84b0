import type { Annotations } from "./annotations.ts";
import type { ConstantValues } from "./constants.ts";
import { Decoration, Op, StorageClass } from "./enums.ts";
import type { ModuleIndex } from "./module-index.ts";

/** One location of the vertex stage's inputs that its code refers to. */
export interface VertexInput {
  readonly location: number;
  /** Up to and with the last component that the shader declares. */
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
  const add = (input: VertexInput): void => {
    const other = found.get(input.location);
    found.set(input.location, other !== undefined && other.components >= input.components ? other : input);
  };
  /** Adds the locations of a type from `location` on; the next free one. */
  const walk = (id: number, location: number, component: number): number => {
    const part = index.operand(id, 0);
    switch (index.opcode(id)) {
      case Op.OpTypeInt:
        add({
          location,
          components: component + 1,
          kind: index.operand(id, 1) === 0 ? "uint" : "int",
          widthBits: part,
        });
        return location + 1;
      case Op.OpTypeFloat:
        add({ location, components: component + 1, kind: "float", widthBits: part });
        return location + 1;
      case Op.OpTypeVector:
        walk(part, location, component + index.operand(id, 1) - 1);
        return location + 1;
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
    walk(index.operand(index.type(variable), 1), location, annotations.value(variable, Decoration.Component) ?? 0);
  }
  return [...found.values()].sort((a, b) => a.location - b.location);
}
