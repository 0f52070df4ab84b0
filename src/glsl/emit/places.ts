import { Bug } from "../../base/index.ts";
import {
  AddressingModel,
  Capability,
  Decoration,
  type Id,
  MemoryModel,
  Op,
  Scope,
  type SpirvTarget,
  StorageClass,
} from "../../spirv/index.ts";
import type { BlockLayout, Expr } from "../check/index.ts";
import {
  coreType,
  elementType,
  type OpaqueType,
  scalarOf,
  scalarType,
  type Type,
  uintType,
  vectorType,
} from "../types/index.ts";
import { accessOf, variableAccess } from "./memory-model.ts";
import { memberLayout } from "./types.ts";
import { VariableEmitter } from "./variables.ts";

/** Somewhere in memory: a pointer, the way from there, and the swizzle on what is found. It moves on as it is resolved. */
export interface Place {
  readonly pointer: Id;
  readonly storageClass: number;
  /** Its indices are a run in the emitter's list of them. */
  readonly first: number;
  count: number;
  /** Type at the end of the indices, before the swizzle. */
  type: Type;
  layout: BlockLayout | undefined;
  swizzle: readonly number[] | undefined;
  /** Some index may differ between invocations of a subgroup. */
  nonUniform: boolean;
  /** Memory behind a reference: what the address is a multiple of, in bytes; 0 for other memory. */
  readonly referenceAlign: number;
  /** What the Vulkan memory model wants to know of its accesses; 0 in the other model. See `accessOf`. */
  access: number;
}

/** Whether a value is marked, or worked out from one that is. */
function isNonUniform(expr: Expr): boolean {
  switch (expr.kind) {
    case "variable":
      return expr.variable.nonUniform === true;
    case "index":
      return isNonUniform(expr.base) || isNonUniform(expr.index);
    case "builtin":
      return expr.overload.lowering === "nonuniform" || expr.args.some(isNonUniform);
    case "binary":
      return isNonUniform(expr.left) || isNonUniform(expr.right);
    case "unary":
    case "convert":
      return isNonUniform(expr.operand);
    case "construct":
      return expr.args.some(isNonUniform);
    case "member":
    case "swizzle":
      return isNonUniform(expr.base);
    default:
      return false;
  }
}

/** Type of the parts that an index takes. */
function partOf(type: Type): Type {
  const part = elementType(type);
  if (part === undefined) throw new Bug("index of no array");
  return part;
}

/** The type of a sampler or image that is passed to a function, with the image's format. Undefined for other parameters. */
export type OpaqueArgument = Type | undefined;

/** Access chains. */
export abstract class PlaceEmitter extends VariableEmitter {
  protected abstract value(expr: Expr): Id;

  protected override startModule(target: SpirvTarget): void {
    super.startModule(target);
    this.indexTop = 0;
  }

  /** Whether the expression is a chain that starts at memory. */
  protected isPlace(expr: Expr): boolean {
    let at = expr;
    while (at.kind === "index" || at.kind === "member" || at.kind === "swizzle") at = at.base;
    if (at.kind !== "variable") return at.kind === "deref";
    const { storage } = at.variable;
    return storage !== "constant" && storage !== "specialization";
  }

  /** Ids of the indices of the places in the making, each place's in one run. */
  private indices = new Int32Array(64);
  /** Where the run of the last place ends; a statement starts at 0. */
  protected indexTop = 0;

  private pushIndex(place: Place, id: Id): void {
    // what an index's own places left behind it is done with
    const at = place.first + place.count++;
    if (at === this.indices.length) {
      const grown = new Int32Array(2 * at);
      grown.set(this.indices);
      this.indices = grown;
    }
    this.indices[at] = id;
    this.indexTop = at + 1;
  }

  /** Walks an access chain, evaluating its indices in order. */
  protected resolve(expr: Expr): Place {
    switch (expr.kind) {
      case "variable": {
        const { variable } = expr;
        const { id, storageClass, type = variable.type } = this.slot(variable);
        const access = this.vulkanMemory ? variableAccess(variable) : 0;
        return this.placeAt(id, storageClass, type, variable.layout, 0, access);
      }
      case "deref": {
        const { type } = expr.base;
        if (type.kind !== "reference") throw new Bug("no reference");
        const layout = { packing: type.packing, rowMajor: type.rowMajor };
        const pointer = this.value(expr.base);
        const access = this.vulkanMemory ? this.referenceAccess(expr.base) : 0;
        return this.placeAt(pointer, StorageClass.PhysicalStorageBuffer, expr.type, layout, type.alignBytes, access);
      }
      case "member": {
        const place = this.resolve(expr.base);
        if (place.type.kind !== "struct") throw new Bug("member of no struct");
        const member = place.type.members[expr.member]!;
        this.pushIndex(place, this.b.constInt(expr.member));
        if (this.vulkanMemory) place.access |= accessOf(member.memory);
        place.type = member.type;
        place.layout = memberLayout(member, place.layout);
        return place;
      }
      case "index":
        return this.resolveIndex(this.resolve(expr.base), expr.index);
      case "swizzle": {
        const place = this.resolve(expr.base);
        const single = place.type.kind === "scalar" && expr.components.length === 1;
        place.swizzle = single ? undefined : expr.components;
        return place;
      }
      default:
        throw new Bug(`${expr.kind} is no place`);
    }
  }

  /** Every place is made here, with the same fields in one order, which keeps access to them fast. */
  private placeAt(
    pointer: Id,
    storageClass: number,
    type: Type,
    layout: BlockLayout | undefined,
    referenceAlign: number,
    access: number,
  ): Place {
    const first = this.indexTop;
    return {
      pointer,
      storageClass,
      first,
      count: 0,
      type,
      layout,
      swizzle: undefined,
      nonUniform: false,
      referenceAlign,
      access,
    };
  }

  private resolveIndex(place: Place, index: Expr): Place {
    if (index.kind === "constant" && place.swizzle === undefined) {
      this.pushIndex(place, this.value(index));
      place.type = partOf(place.type);
      return place;
    }
    if (place.type.kind === "array") this.noteDynamicBlocks(place, index);
    const { swizzle } = place;
    if (isNonUniform(index)) {
      if (place.type.kind === "array") this.nonUniformIndexing(place);
      this.pushIndex(place, this.value(index));
      place.nonUniform = true;
    } else {
      this.pushIndex(place, swizzle === undefined ? this.value(index) : this.swizzledIndex(swizzle, index));
      place.swizzle = undefined;
    }
    place.type = partOf(place.type);
    return place;
  }

  /** What the qualifiers of a variable or member that holds a reference say of accesses to its memory. */
  private referenceAccess(reference: Expr): number {
    let at = reference;
    let access = 0;
    for (;;) {
      if (at.kind === "member" && at.base.type.kind === "struct") {
        access |= accessOf(at.base.type.members[at.member]!.memory);
        at = at.base;
      } else if (at.kind === "index") at = at.base;
      else break;
    }
    return at.kind === "variable" ? access | accessOf(at.variable.memory) : access;
  }

  /** Declares the Vulkan memory model. */
  protected useVulkanMemoryModel(): void {
    this.vulkanMemory = true;
    this.b.capability(Capability.VulkanMemoryModel);
    if (this.b.version < 0x10500) this.b.extension("SPV_KHR_vulkan_memory_model");
    this.b.memoryModel(AddressingModel.Logical, MemoryModel.Vulkan);
  }

  /** The id of a scope, with what the Vulkan memory model needs for it. */
  protected readonly scopeId = (scope: number): Id => {
    if (this.vulkanMemory && scope === Scope.Device) this.b.capability(Capability.VulkanMemoryModelDeviceScope);
    // Vulkan 1.0 has no scope of a subgroup: the next wider one holds as well
    const known = scope === Scope.Subgroup && this.b.version < 0x10300 ? Scope.Workgroup : scope;
    return this.b.constUint(known);
  };

  /** The scope of what says none, which all of the device's queues that matter here are in. */
  protected widestScope(): Id {
    return this.scopeId(this.vulkanMemory ? Scope.QueueFamily : Scope.Device);
  }

  /** `v.zyx[i]` as a place: which component of `v` that is. */
  private swizzledIndex(swizzle: readonly number[], index: Expr): Id {
    const at = this.value(index);
    if (index.kind === "constant") return this.int(swizzle[Number(index.values[0])] ?? 0);
    const table = this.constantId(vectorType("uint", swizzle.length), swizzle);
    return this.b.emitResult(Op.OpVectorExtractDynamic, this.typeId(uintType), table, at);
  }

  /** An array of blocks under an index that is no constant needs a capability. */
  private noteDynamicBlocks(base: Place, index: Expr): void {
    const core = coreType(base.type);
    if (index.kind === "constant") return;
    if (core.kind === "opaque") this.namedCapability(indexingCapability(core));
    if (core.kind !== "struct" || !core.block) return;
    const buffer = base.storageClass === StorageClass.StorageBuffer;
    const uniform = base.storageClass === StorageClass.Uniform;
    if (buffer) this.b.capability(Capability.StorageBufferArrayDynamicIndexing);
    if (uniform) this.b.capability(Capability.UniformBufferArrayDynamicIndexing);
  }

  /** The pointer of a place, without its swizzle, optionally one component further. */
  protected pointerOf(place: Place, component?: number): Id {
    const { type, count } = place;
    if (component === undefined) {
      if (count === 0) return place.pointer;
      return this.chainTo(place, this.typeId(type, place.layout), undefined);
    }
    const last = this.b.constInt(component);
    const part = type.kind === "vector" || type.kind === "scalar" ? type.vectors[1]! : scalarType(scalarOf(type)!);
    return this.chainTo(place, this.typeId(part, place.layout), last);
  }

  private chainTo(place: Place, type: Id, last: Id | undefined): Id {
    const pointer = this.pointerId(place.storageClass, type);
    const id = this.b.accessChain(pointer, place.pointer, this.indices, place.first, place.count, last);
    if (place.nonUniform) this.nonUniform(id);
    return id;
  }

  /** Decorates a value that may differ between invocations of a subgroup. */
  protected nonUniform(id: Id): void {
    this.namedCapability("ShaderNonUniform");
    this.b.decorate(id, Decoration.NonUniform);
  }

  /** What indexing an array of resources by such a value needs. */
  private nonUniformIndexing(base: Place): void {
    const core = coreType(base.type);
    if (core.kind === "opaque") {
      const texels = core.dim === "Buffer";
      if (core.family === "subpass") this.namedCapability("InputAttachmentArrayNonUniformIndexing");
      else if (core.family === "image") {
        this.namedCapability(`Storage${texels ? "TexelBuffer" : "Image"}ArrayNonUniformIndexing`);
      } else {
        this.namedCapability(
          texels ? "UniformTexelBufferArrayNonUniformIndexing" : "SampledImageArrayNonUniformIndexing",
        );
      }
    } else if (core.kind === "struct" && core.block) {
      if (base.storageClass === StorageClass.StorageBuffer) {
        this.namedCapability("StorageBufferArrayNonUniformIndexing");
      } else if (base.storageClass === StorageClass.Uniform) {
        this.namedCapability("UniformBufferArrayNonUniformIndexing");
      }
    }
  }
}

/** What dynamic indexing of an array of the type needs. */
function indexingCapability({ family, dim }: OpaqueType): string {
  const texels = dim === "Buffer";
  switch (family) {
    case "image":
      return texels ? "StorageTexelBufferArrayDynamicIndexing" : "StorageImageArrayDynamicIndexing";
    case "subpass":
      return "InputAttachmentArrayDynamicIndexing";
    default:
      return texels ? "UniformTexelBufferArrayDynamicIndexing" : "SampledImageArrayDynamicIndexing";
  }
}
