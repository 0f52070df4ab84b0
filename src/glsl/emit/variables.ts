import { Bug } from "../../base/index.ts";
import { BuiltIn, Capability, Decoration, type Id, type SpirvTarget, StorageClass } from "../../spirv/index.ts";
import type { Capture, Slot, Variable } from "../check/index.ts";
import { coreType, type Type } from "../types/index.ts";
import { ConstantEmitter } from "./constants.ts";
import { interpolationDecorations } from "./types.ts";

const builtIns: ReadonlyMap<string, number> = new Map(Object.entries(BuiltIn));
const capabilities: ReadonlyMap<string, number> = new Map(Object.entries(Capability));
const noStrides: ReadonlyMap<number, number> = new Map();

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

/** Variables: where they live, their types and decorations. */
export abstract class VariableEmitter extends ConstantEmitter {
  /** Slots of the function in the making: it may be made again for other images. */
  private ownSlots: Variable[] = [];
  /** Strides of the buffers that transform feedback writes. */
  protected captureStrides = noStrides;

  protected override startModule(target: SpirvTarget): void {
    super.startModule(target);
    this.ownSlots = [];
    this.captureStrides = noStrides;
  }

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
    if (this.ownSlots.length === 0) return;
    for (const variable of this.ownSlots) variable.slot = undefined;
    this.ownSlots = [];
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
    const core = coreType(variable.type);
    if (core.kind !== "struct") throw new Bug("a block that is no struct");
    const old = variable.storage === "buffer" && this.b.version < 0x10300;
    const id = this.blockId(core, variable, old ? Decoration.BufferBlock : Decoration.Block);
    if (variable.storage === "shared") {
      this.b.capability(Capability.WorkgroupMemoryExplicitLayoutKHR);
      this.b.extension("SPV_KHR_workgroup_memory_explicit_layout");
    }
    return variable.type === core ? id : this.blockArray(variable.type, id);
  }

  /** The array type around the block of id `block`. */
  private blockArray(type: Type, block: Id): Id {
    if (type.kind !== "array") return block;
    const element = this.blockArray(type.element, block);
    if (type.size !== undefined) return this.b.typeArray(element, this.b.constUint(type.size));
    this.runtimeDescriptors();
    return this.b.typeRuntimeArray(element);
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
      if (memory !== undefined) this.decorateMemory(id, -1, memory);
    }
    if (variable.invariant) b.decorate(id, Decoration.Invariant);
    if (variable.interpolation !== undefined) this.decorateInterpolation(id, variable.interpolation);
  }

  private decorateInterpolation(id: Id, interpolation: readonly string[]): void {
    for (const name of interpolation) {
      const decoration = interpolationDecorations[name];
      if (decoration !== undefined) this.b.decorate(id, decoration);
      if (name === "sample") this.b.capability(Capability.SampleRateShading);
    }
  }

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
}
