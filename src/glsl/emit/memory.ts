import { type Id, MemoryAccess, Op } from "../../spirv/index.ts";
import type { BlockLayout } from "../check/index.ts";
import {
  alignBytes,
  containsBool,
  elementCount,
  elementType,
  scalarOf,
  scalarType,
  type Type,
  vectorType,
  withScalar,
} from "../types/index.ts";
import { memoryOperands } from "./memory-model.ts";
import { type Place, PlaceEmitter } from "./places.ts";
import { memberLayout } from "./types.ts";

/** Loads and stores, and values between their form in memory and that of expressions. */
export abstract class MemoryEmitter extends PlaceEmitter {
  protected load(place: Place): Id {
    const { swizzle, type } = place;
    const scalar = scalarOf(type);
    if (swizzle === undefined || scalar === undefined) {
      return this.loadWhole(this.pointerOf(place), type, place);
    }
    if (type.kind === "scalar") {
      return this.splat(this.loadWhole(this.pointerOf(place), type, place), type.vectors[swizzle.length]!);
    }
    if (swizzle.length === 1) return this.loadWhole(this.pointerOf(place, swizzle[0]!), scalarType(scalar), place);
    const whole = this.loadWhole(this.pointerOf(place), type, place);
    return this.shuffle(whole, type, swizzle);
  }

  private loadWhole(pointer: Id, type: Type, place: Place): Id {
    const { layout } = place;
    const result = this.typeId(type, layout);
    const special = place.access !== 0 || place.referenceAlign !== 0;
    const id = special ? this.specialLoad(pointer, result, type, place) : this.b.emitResult(Op.OpLoad, result, pointer);
    if (place.nonUniform && type.kind === "opaque") this.nonUniform(id);
    return this.differsInMemory(type, layout) ? this.fromMemory(id, type, layout) : id;
  }

  /** A load that says more than its pointer. */
  private specialLoad(pointer: Id, result: Id, type: Type, place: Place): Id {
    const align = accessAlign(place, type);
    if (place.access === 0) return this.b.emitResult(Op.OpLoad, result, pointer, MemoryAccess.Aligned, align);
    const operands = memoryOperands(place.access, align, false, this.scopeId);
    return this.b.emitResultWords(Op.OpLoad, result, [pointer, ...operands]);
  }

  /** Components of a vector value by number. */
  protected shuffle(id: Id, type: Type, components: readonly number[]): Id {
    const count = components.length;
    const result = type.kind === "vector" ? type.vectors[count]! : vectorType(scalarOf(type)!, count);
    const resultId = this.typeId(result);
    if (type.kind === "scalar") return this.splat(id, result);
    const first = components[0]!;
    if (count === 1) return this.b.emitResult(Op.OpCompositeExtract, resultId, id, first);
    if (type.kind === "vector" && count === type.size && isInOrder(components)) return id;
    const third = count > 2 ? components[2] : undefined;
    const fourth = count > 3 ? components[3] : undefined;
    return this.b.emitResult(Op.OpVectorShuffle, resultId, id, id, first, components[1], third, fourth);
  }

  /** A scalar in every component of a vector type. */
  protected splat(id: Id, type: Type): Id {
    if (type.kind !== "vector") return id;
    const { size } = type;
    const more = size > 2 ? id : undefined;
    return this.b.emitResult(Op.OpCompositeConstruct, this.typeId(type), id, id, more, size > 3 ? id : undefined);
  }

  /** Writes a value; a swizzle writes just its components, one by one, so that neighbours are left alone. */
  protected store(place: Place, value: Id): void {
    const { swizzle, type } = place;
    if (swizzle === undefined || type.kind === "scalar") {
      this.storeWhole(this.pointerOf(place), value, type, place);
      return;
    }
    const scalar = scalarType(scalarOf(type)!);
    for (let at = 0; at < swizzle.length; at++) {
      const component = swizzle[at]!;
      const one =
        swizzle.length === 1 ? value : this.b.emitResult(Op.OpCompositeExtract, this.typeId(scalar), value, at);
      this.storeWhole(this.pointerOf(place, component), one, scalar, place);
    }
  }

  private storeWhole(pointer: Id, value: Id, type: Type, place: Place): void {
    const { layout } = place;
    const stored = this.differsInMemory(type, layout) ? this.toMemory(value, type, layout) : value;
    if (place.access === 0 && place.referenceAlign === 0) {
      this.b.emit(Op.OpStore, pointer, stored);
      return;
    }
    const align = accessAlign(place, type);
    if (place.access === 0) this.b.emit(Op.OpStore, pointer, stored, MemoryAccess.Aligned, align);
    else this.b.emitWords(Op.OpStore, [pointer, stored, ...memoryOperands(place.access, align, true, this.scopeId)]);
  }

  private fromMemory(id: Id, type: Type, layout: BlockLayout | undefined): Id {
    const scalar = scalarOf(type);
    if (scalar === "bool") {
      const zero = this.filledConstant(withScalar(type, "uint"), 0);
      return this.b.emitResult(Op.OpINotEqual, this.typeId(type), id, zero);
    }
    if (scalar !== undefined || type.kind === "reference") return id;
    return this.relay(id, type, layout, true);
  }

  private toMemory(id: Id, type: Type, layout: BlockLayout | undefined): Id {
    const scalar = scalarOf(type);
    if (scalar === "bool") {
      const words = withScalar(type, "uint");
      const one = this.filledConstant(words, 1);
      return this.b.emitResult(Op.OpSelect, this.typeId(words), id, one, this.filledConstant(words, 0));
    }
    if (scalar !== undefined || type.kind === "reference") return id;
    return this.relay(id, type, layout, false);
  }

  /** An array or struct between its plain type and the one of a block. */
  private relay(id: Id, type: Type, layout: BlockLayout | undefined, loading: boolean): Id {
    const b = this.b;
    const target = this.typeId(type, loading ? undefined : layout);
    if (b.version >= 0x10400 && !containsBool(type)) return b.emitResult(Op.OpCopyLogical, target, id);
    const parts: Id[] = [];
    const count = type.kind === "struct" ? type.members.length : (elementCount(type) ?? 0);
    for (let at = 0; at < count; at++) {
      const member = type.kind === "struct" ? type.members[at]! : undefined;
      const partType = member?.type ?? elementType(type)!;
      const partLayout = member === undefined ? layout : memberLayout(member, layout);
      const part = b.emitResult(Op.OpCompositeExtract, this.typeId(partType, loading ? partLayout : undefined), id, at);
      parts.push(loading ? this.fromMemory(part, partType, partLayout) : this.toMemory(part, partType, partLayout));
    }
    return b.emitResultWords(Op.OpCompositeConstruct, target, parts);
  }
}

function isInOrder(components: readonly number[]): boolean {
  for (let at = 0; at < components.length; at++) if (components[at] !== at) return false;
  return true;
}

/** Bytes that an access behind a reference has to say it is aligned to; 0 for other accesses. */
function accessAlign({ referenceAlign }: Place, type: Type): number {
  return referenceAlign === 0 ? 0 : Math.min(referenceAlign, alignBytes(type, "scalar", false));
}
