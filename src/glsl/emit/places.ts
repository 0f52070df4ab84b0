import { Bug } from "../../base/index.ts";
import {
  AddressingModel,
  BuiltIn,
  Capability,
  Decoration,
  type Id,
  MemoryAccess,
  MemoryModel,
  Op,
  Scope,
  StorageClass,
} from "../../spirv/index.ts";
import {
  type BlockLayout,
  type Capture,
  type Component,
  type Expr,
  rootVariable,
  type Slot,
  throughReference,
  type Variable,
} from "../check/index.ts";
import {
  alignBytes,
  containsBool,
  coreType,
  elementCount,
  elementType,
  type OpaqueType,
  scalarOf,
  scalarType,
  type Type,
  vectorType,
  withScalar,
} from "../types/index.ts";
import { ConstantEmitter } from "./constants.ts";
import { accessOf, memoryOperands, variableAccess } from "./memory-model.ts";
import { interpolationDecorations, memberLayout } from "./types.ts";

/** Somewhere in memory: a pointer, the way from there, and the swizzle on what is found. */
export interface Place {
  readonly pointer: Id;
  readonly storageClass: number;
  readonly indices: readonly Id[];
  /** Type at the end of `indices`, before the swizzle. */
  readonly type: Type;
  readonly layout: BlockLayout | undefined;
  readonly swizzle: readonly number[] | undefined;
  /** Some index may differ between invocations of a subgroup. */
  readonly nonUniform: boolean;
  /** Memory behind a reference: what the address is a multiple of, in bytes. */
  readonly referenceAlign: number | undefined;
  /** What the Vulkan memory model wants to know of its accesses; 0 in the other model. See `accessOf`. */
  readonly access: number;
}

const builtIns: ReadonlyMap<string, number> = new Map(Object.entries(BuiltIn));
const capabilities: ReadonlyMap<string, number> = new Map(Object.entries(Capability));
const noIndices: readonly Id[] = [];
const none: readonly string[] = [];

/** One index further than `base`. Every place is made with the same fields in one order, which keeps access to them fast. */
function placeIn(
  base: Place,
  index: Id,
  type: Type,
  layout: BlockLayout | undefined,
  swizzle: readonly number[] | undefined,
  nonUniform: boolean,
  access = base.access,
): Place {
  const { pointer, storageClass, referenceAlign } = base;
  const indices = base.indices.length === 0 ? [index] : [...base.indices, index];
  return { pointer, storageClass, indices, type, layout, swizzle, nonUniform, referenceAlign, access };
}

/** Extensions of capabilities, and the version of SPIR-V from which they are part of the core. */
const capabilityExtensions: Readonly<Record<string, readonly [string, number]>> = {
  DrawParameters: ["SPV_KHR_shader_draw_parameters", 0x10300],
  MultiView: ["SPV_KHR_multiview", 0x10300],
  DeviceGroup: ["SPV_KHR_device_group", 0x10300],
  StencilExportEXT: ["SPV_EXT_shader_stencil_export", Number.POSITIVE_INFINITY],
  SampleMaskPostDepthCoverage: ["SPV_KHR_post_depth_coverage", Number.POSITIVE_INFINITY],
  DemoteToHelperInvocation: ["SPV_EXT_demote_to_helper_invocation", 0x10600],
};

const descriptorIndexingNames =
  /ArrayNonUniform|ShaderNonUniform|RuntimeDescriptor|TexelBufferArrayDynamic|InputAttachmentArrayDynamic/;
const descriptorIndexing = ["SPV_EXT_descriptor_indexing", 0x10500] as const;

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

/** The type of a sampler or image that is passed to a function, with the image's format. Undefined for other parameters. */
export type OpaqueArgument = Type | undefined;

/** Variables, access chains, loads and stores. */
export abstract class PlaceEmitter extends ConstantEmitter {
  /** Function variables that hold a constant for dynamic indexing, by the constant's values. */
  protected tables: Map<readonly Component[], Id> | undefined;

  protected abstract value(expr: Expr): Id;

  /** Whether the expression is a chain that starts at memory. */
  protected isPlace(expr: Expr): boolean {
    if (throughReference(expr)) return true;
    const storage = rootVariable(expr)?.storage;
    return storage !== undefined && storage !== "constant" && storage !== "specialization";
  }

  /** Slots of the function in the making: it may be made again for other images. */
  private readonly ownSlots: Variable[] = [];

  private newSlot(id: Id, storageClass: number, type?: Type): Slot {
    return { module: this.module, id, storageClass, type };
  }

  protected setSlot(variable: Variable, id: Id): void {
    variable.slot = this.newSlot(id, StorageClass.Function);
    this.ownSlots.push(variable);
  }

  /** The slot of a parameter that is a sampler or image: the argument's pointer and type. */
  protected setOpaqueSlot(variable: Variable, id: Id, type: Type): void {
    variable.slot = this.newSlot(id, StorageClass.UniformConstant, type);
    this.ownSlots.push(variable);
  }

  protected dropOwnSlots(): void {
    for (const variable of this.ownSlots) variable.slot = undefined;
    this.ownSlots.length = 0;
  }

  /** The variable's type, as the argument has it where it is a parameter. */
  protected slotType(variable: Variable): Type {
    return variable.slot?.type ?? variable.type;
  }

  /** A fresh function variable. */
  protected temporary(type: Type, name: string): Id {
    const id = this.b.localVariable(this.pointerId(StorageClass.Function, this.typeId(type)));
    this.b.name(id, name);
    if (coreType(type).kind === "reference") this.b.decorate(id, Decoration.AliasedPointer);
    return id;
  }

  protected slot(variable: Variable): Slot {
    const known = variable.slot;
    // a variable may be emitted once more, into another module
    if (known !== undefined && known.module === this.module) return known;
    const slot = this.makeSlot(variable);
    variable.slot = slot;
    return slot;
  }

  private makeSlot(variable: Variable): Slot {
    const { type, storage, name } = variable;
    if (storage === "local" || storage === "parameter") {
      this.ownSlots.push(variable);
      return this.newSlot(this.temporary(type, name), StorageClass.Function);
    }
    const storageClass = this.storageClass(variable);
    let typeId: Id;
    const core = coreType(type);
    const interfaceBlock = core.kind === "struct" && core.block && variable.layout === undefined;
    if (variable.layout !== undefined || interfaceBlock) typeId = this.blockTypeId(variable);
    else typeId = this.typeId(type);
    if (variable.runtimeSized === true) this.runtimeDescriptors();
    // workgroup memory has no other initialiser than zeros
    const zeroed = variable.storage === "shared" && variable.initializer !== undefined;
    const zero = zeroed ? this.b.constNull(typeId) : undefined;
    if (storageClass !== StorageClass.Workgroup || variable.layout !== undefined) {
      this.narrowStorage(type, storageClass);
    }
    const id = this.b.globalVariable(this.pointerId(storageClass, typeId), storageClass, zero);
    this.b.name(id, name);
    if (storageClass === StorageClass.Private && coreType(type).kind === "reference") {
      this.b.decorate(id, Decoration.AliasedPointer);
    }
    this.decorateVariable(variable, id);
    return this.newSlot(id, storageClass);
  }

  private storageClass(variable: Variable): number {
    switch (variable.storage) {
      case "shared":
        return StorageClass.Workgroup;
      case "buffer":
        return this.b.version >= 0x10300 ? StorageClass.StorageBuffer : StorageClass.Uniform;
      case "uniform":
        return variable.layout === undefined ? StorageClass.UniformConstant : StorageClass.Uniform;
      case "pushConstant":
        return StorageClass.PushConstant;
      case "in":
        return StorageClass.Input;
      case "out":
        return StorageClass.Output;
      default:
        return StorageClass.Private;
    }
  }

  private blockTypeId(variable: Variable): Id {
    const sizes: Type[] = [];
    let core = variable.type;
    for (; core.kind === "array"; core = core.element) sizes.push(core);
    if (core.kind !== "struct") throw new Bug("a block that is no struct");
    const old = variable.storage === "buffer" && this.b.version < 0x10300;
    let id = this.blockId(core, variable, old ? Decoration.BufferBlock : Decoration.Block);
    if (variable.storage === "shared") {
      this.b.capability(Capability.WorkgroupMemoryExplicitLayoutKHR);
      this.b.extension("SPV_KHR_workgroup_memory_explicit_layout");
    }
    for (const array of sizes.reverse()) {
      if (array.kind === "array" && array.size === undefined) {
        this.runtimeDescriptors();
        id = this.b.typeRuntimeArray(id);
        continue;
      }
      const size = array.kind === "array" ? (array.size ?? 1) : 1;
      id = this.b.typeArray(id, this.b.constUint(size));
    }
    return id;
  }

  /** Arrays of resources whose size the descriptor set gives. */
  private runtimeDescriptors(): void {
    this.namedCapability("RuntimeDescriptorArray");
  }

  private decorateVariable(variable: Variable, id: Id): void {
    const b = this.b;
    if (variable.builtIn !== undefined) {
      b.decorate(id, Decoration.BuiltIn, builtIns.get(variable.builtIn)!);
    }
    if (variable.capability !== undefined) this.namedCapability(variable.capability);
    if (variable.set !== undefined) b.decorate(id, Decoration.DescriptorSet, variable.set);
    if (variable.binding !== undefined) b.decorate(id, Decoration.Binding, variable.binding);
    if (variable.location !== undefined) b.decorate(id, Decoration.Location, variable.location);
    if (variable.component !== undefined) b.decorate(id, Decoration.Component, variable.component);
    if (variable.index !== undefined) b.decorate(id, Decoration.Index, variable.index);
    if (variable.capture !== undefined) this.decorateCapture(id, variable.capture);
    if (variable.inputAttachmentIndex !== undefined) {
      b.decorate(id, Decoration.InputAttachmentIndex, variable.inputAttachmentIndex);
    }
    if (variable.layout === undefined) {
      const { memory } = variable;
      if (memory !== undefined && memory.length > 0) {
        for (const each of this.memoryDecorations(memory)) b.decorate(id, each);
      }
    }
    if (variable.invariant) b.decorate(id, Decoration.Invariant);
    for (const name of variable.interpolation ?? none) {
      const decoration = interpolationDecorations[name];
      if (decoration !== undefined) b.decorate(id, decoration);
      if (name === "sample") b.capability(Capability.SampleRateShading);
    }
  }

  /** Strides of the buffers that transform feedback writes. */
  protected captureStrides: ReadonlyMap<number, number> = new Map();

  private decorateCapture(id: Id, { buffer, offset }: Capture): void {
    this.b.decorate(id, Decoration.XfbBuffer, buffer);
    this.b.decorate(id, Decoration.XfbStride, this.captureStrides.get(buffer) ?? 0);
    if (offset !== undefined) this.b.decorate(id, Decoration.Offset, offset);
  }

  /** Declares a capability, and the extension that a module of an older version needs for it. */
  protected namedCapability(name: string): void {
    if (name === "GroupNonUniform" && this.b.version < 0x10300) {
      // size and number of the invocation are all that the older form has
      this.b.capability(Capability.SubgroupBallotKHR);
      this.b.extension("SPV_KHR_shader_ballot");
      return;
    }
    this.b.capability(capabilities.get(name)!);
    const own = Object.hasOwn(capabilityExtensions, name) ? capabilityExtensions[name] : undefined;
    const row = own ?? (descriptorIndexingNames.test(name) ? descriptorIndexing : undefined);
    if (row !== undefined && this.b.version < row[1]) this.b.extension(row[0]);
  }

  /** Walks an access chain, evaluating its indices in order. */
  protected resolve(expr: Expr): Place {
    switch (expr.kind) {
      case "variable": {
        const { id, storageClass, type = expr.variable.type } = this.slot(expr.variable);
        const { layout } = expr.variable;
        const swizzle = undefined;
        const nonUniform = false;
        const referenceAlign = undefined;
        const access = this.vulkanMemory ? variableAccess(expr.variable) : 0;
        return {
          pointer: id,
          storageClass,
          indices: noIndices,
          type,
          layout,
          swizzle,
          nonUniform,
          referenceAlign,
          access,
        };
      }
      case "deref": {
        const { type } = expr.base;
        if (type.kind !== "reference") throw new Bug("no reference");
        const layout = { packing: type.packing, rowMajor: type.rowMajor };
        const pointer = this.value(expr.base);
        const storageClass = StorageClass.PhysicalStorageBuffer;
        const place = { pointer, storageClass, indices: noIndices, type: expr.type, layout, swizzle: undefined };
        const access = this.vulkanMemory ? this.referenceAccess(expr.base) : 0;
        return { ...place, nonUniform: false, referenceAlign: type.alignBytes, access };
      }
      case "member": {
        const base = this.resolve(expr.base);
        if (base.type.kind !== "struct") throw new Bug("member of no struct");
        const member = base.type.members[expr.member]!;
        const at = this.int(expr.member);
        const access = this.vulkanMemory ? base.access | accessOf(member.memory) : 0;
        return placeIn(base, at, member.type, memberLayout(member, base.layout), base.swizzle, base.nonUniform, access);
      }
      case "index": {
        const base = this.resolve(expr.base);
        if (base.type.kind === "array") this.noteDynamicBlocks(base, expr.index);
        const type = elementType(base.type);
        if (type === undefined) throw new Bug("index of no array");
        if (isNonUniform(expr.index)) {
          if (base.type.kind === "array") this.nonUniformIndexing(base);
          return placeIn(base, this.value(expr.index), type, base.layout, base.swizzle, true);
        }
        const { swizzle } = base;
        const at = swizzle === undefined ? this.value(expr.index) : this.swizzledIndex(swizzle, expr.index);
        return placeIn(base, at, type, base.layout, undefined, base.nonUniform);
      }
      case "swizzle": {
        const base = this.resolve(expr.base);
        if (base.type.kind === "scalar")
          return { ...base, swizzle: expr.components.length > 1 ? expr.components : undefined };
        return { ...base, swizzle: expr.components };
      }
      default:
        throw new Bug(`${expr.kind} is no place`);
    }
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
    const uint = scalarType("uint");
    const at = this.value(index);
    if (index.kind === "constant") return this.int(swizzle[Number(index.values[0])] ?? 0);
    const table = this.constantId(vectorType("uint", swizzle.length), swizzle);
    return this.b.emitResult(Op.OpVectorExtractDynamic, this.typeId(uint), table, at);
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
    const { indices } = place;
    const last = component === undefined ? undefined : this.int(component);
    if (indices.length === 0 && last === undefined) return place.pointer;
    const type = component === undefined ? place.type : scalarType(scalarOf(place.type)!);
    const pointer = this.pointerId(place.storageClass, this.typeId(type, place.layout));
    const id = this.b.accessChain(pointer, place.pointer, indices, 0, indices.length, last);
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

  protected load(place: Place): Id {
    const { swizzle, type } = place;
    const scalar = scalarOf(type);
    if (swizzle === undefined || scalar === undefined) {
      return this.loadWhole(this.pointerOf(place), type, place);
    }
    if (type.kind === "scalar")
      return this.splat(this.loadWhole(this.pointerOf(place), type, place), vectorType(scalar, swizzle.length));
    if (swizzle.length === 1) return this.loadWhole(this.pointerOf(place, swizzle[0]!), scalarType(scalar), place);
    const whole = this.loadWhole(this.pointerOf(place), type, place);
    return this.shuffle(whole, type, swizzle);
  }

  private loadWhole(pointer: Id, type: Type, place: Place): Id {
    const { layout, nonUniform } = place;
    const result = this.typeId(type, layout);
    const align = accessAlign(place, type);
    const id =
      place.access !== 0
        ? this.b.emitResultWords(Op.OpLoad, result, [
            pointer,
            ...memoryOperands(place.access, align, false, this.scopeId),
          ])
        : align === 0
          ? this.b.emitResult(Op.OpLoad, result, pointer)
          : this.b.emitResult(Op.OpLoad, result, pointer, MemoryAccess.Aligned, align);
    if (nonUniform && type.kind === "opaque") this.nonUniform(id);
    return this.differsInMemory(type, layout) ? this.fromMemory(id, type, layout) : id;
  }

  /** Components of a vector value by number. */
  protected shuffle(id: Id, type: Type, components: readonly number[]): Id {
    const scalar = scalarOf(type)!;
    const result = this.typeId(vectorType(scalar, components.length));
    if (type.kind === "scalar") return this.splat(id, vectorType(scalar, components.length));
    if (components.length === 1) return this.b.emitResult(Op.OpCompositeExtract, result, id, components[0]!);
    const whole = type.kind === "vector" && components.length === type.size && isInOrder(components);
    return whole
      ? id
      : this.b.emitResult(
          Op.OpVectorShuffle,
          result,
          id,
          id,
          components[0],
          components[1],
          components[2],
          components[3],
        );
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
    const align = accessAlign(place, type);
    if (place.access !== 0) {
      this.b.emitWords(Op.OpStore, [pointer, stored, ...memoryOperands(place.access, align, true, this.scopeId)]);
    } else if (align === 0) this.b.emit(Op.OpStore, pointer, stored);
    else this.b.emit(Op.OpStore, pointer, stored, MemoryAccess.Aligned, align);
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
  return referenceAlign === undefined ? 0 : Math.min(referenceAlign, alignBytes(type, "scalar", false));
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
