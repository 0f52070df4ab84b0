import { Bug } from "../../base/index.ts";
import {
  Capability,
  Decoration,
  Dim,
  type Id,
  ImageFormat,
  ModuleBuilder,
  type SpirvTarget,
  StorageClass,
} from "../../spirv/index.ts";
import type { BlockLayout, Expr, Variable } from "../check/index.ts";
import {
  arrayStride,
  basicFormats,
  containsType,
  type Member,
  type MemoryQualifier,
  markOf,
  matrixStride,
  type OpaqueType,
  partTest,
  type ReferenceType,
  type ScalarKind,
  type StructType,
  scalarFacts,
  scalarOf,
  scalarType,
  structLayout,
  type Type,
} from "../types/index.ts";

const none: readonly MemoryQualifier[] = [];

const nonWritable = [Decoration.NonWritable] as const;
const nonReadable = [Decoration.NonReadable] as const;
const coherent = [Decoration.Coherent] as const;
const volatileCoherent = [Decoration.Volatile, Decoration.Coherent] as const;
const restrict = [Decoration.Restrict] as const;
const nothing: readonly number[] = [];

/** Decorations of a memory qualifier; without the Vulkan memory model every scope is as wide as all of them. */
function memoryDecorations(qualifier: MemoryQualifier): readonly number[] {
  switch (qualifier) {
    case "readonly":
      return nonWritable;
    case "writeonly":
      return nonReadable;
    case "volatile":
      return volatileCoherent;
    case "restrict":
      return restrict;
    case "nonprivate":
      return nothing;
    default:
      return coherent;
  }
}

export const interpolationDecorations: Readonly<Record<string, number>> = {
  flat: Decoration.Flat,
  noperspective: Decoration.NoPerspective,
  centroid: Decoration.Centroid,
  sample: Decoration.Sample,
};

let modules = 0;
/** Numbers modules from 1: blank marks have 0. */
function nextModule(): number {
  modules = (modules + 1) & 0x3fffffff || 1;
  return modules;
}

/** SPIR-V types: plain ones for values, and laid-out ones for what stands in a block (bool is uint there). */
export abstract class TypeEmitter {
  /** One for all modules: what it keeps of one is memory only. */
  protected readonly b = new ModuleBuilder("vulkan1.0");
  /** Tells this module's marks on types and variables from those of modules before. */
  protected module = 0;
  /** The module is of the Vulkan memory model. */
  protected vulkanMemory = false;
  /** The module has some number of 8 or 16 bits. */
  private hasNarrow = false;
  private referenceIds: Map<ReferenceType, Id> | undefined;

  /** Starts another module; each class forgets what it kept of the one before. */
  protected startModule(target: SpirvTarget): void {
    this.b.reset(target);
    this.module = nextModule();
    this.vulkanMemory = false;
    this.hasNarrow = false;
    this.referenceIds = undefined;
  }

  /**
   * Decorates a variable (`member` -1) or a member once with each decoration that a variable's qualifiers, and then a
   * member's, ask for. In the Vulkan memory model the accesses say what is coherent and volatile.
   */
  protected decorateMemory(
    target: Id,
    member: number,
    first: readonly MemoryQualifier[],
    second: readonly MemoryQualifier[] = none,
  ): void {
    const count = first.length + second.length;
    // their numbers are below 32
    let done = this.vulkanMemory ? (1 << Decoration.Coherent) | (1 << Decoration.Volatile) : 0;
    for (let at = 0; at < count; at++) {
      const qualifier = at < first.length ? first[at]! : second[at - first.length]!;
      for (const each of memoryDecorations(qualifier)) {
        if ((done & (1 << each)) !== 0) continue;
        done |= 1 << each;
        if (member < 0) this.b.decorate(target, each);
        else this.b.memberDecorate(target, member, each);
      }
    }
  }

  /** A constant or specialisation-constant expression as a module-level id. */
  protected abstract specValue(expr: Expr): Id;

  /** The type's id, in the layout of a block where one is given. */
  protected typeId(type: Type, layout?: BlockLayout): Id {
    const mark = markOf(type);
    const { kindNumber } = mark;
    // layouts change neither numbers nor vectors and matrices of them
    if (layout !== undefined && (kindNumber < 0 || kindNumber > 2)) return this.makeType(type, layout);
    if (mark.module === this.module) return mark.id;
    const id = this.makeType(type, undefined);
    mark.module = this.module;
    mark.id = id;
    return id;
  }

  protected pointerId(storageClass: number, pointee: Id): Id {
    return this.b.typePointer(storageClass, pointee);
  }

  private makeType(type: Type, layout: BlockLayout | undefined): Id {
    const b = this.b;
    switch (type.kind) {
      case "void":
        return b.typeVoid();
      case "scalar":
        switch (type.scalar) {
          case "bool":
            return layout === undefined ? b.typeBool() : b.typeInt(32, false);
          case "int":
            return b.typeInt(32, true);
          case "uint":
            return b.typeInt(32, false);
          case "float":
            return b.typeFloat(32);
          default:
            return this.otherScalar(type.scalar);
        }
      case "vector":
        return b.typeVector(this.typeId(type.vectors[1]!, layout), type.size);
      case "matrix":
        return b.typeMatrix(this.typeId(type.vectors[type.rows]!), type.columns);
      case "array": {
        const element = this.typeId(type.element, layout);
        const stride = layout === undefined ? undefined : arrayStride(type.element, layout.packing, layout.rowMajor);
        if (type.size === undefined) return b.typeRuntimeArray(element, stride);
        const length = type.specSize === undefined ? b.constUint(type.size) : this.specValue(type.specSize as Expr);
        return b.typeArray(element, length, stride);
      }
      case "struct":
        return this.structId(type, layout);
      case "reference":
        return this.referenceId(type);
      case "opaque":
        return this.opaqueId(type);
      default:
        throw new Bug(`no SPIR-V type for ${type.kind}`);
    }
  }

  /** Numbers of other widths than 32; each needs a capability, a narrow one at least that of having it in memory. */
  private otherScalar(scalar: ScalarKind): Id {
    const { kind, bits } = scalarFacts[scalar];
    if (bits < 32) this.hasNarrow = true;
    const name = `${kind === "float" ? "Float" : "Int"}${bits}`;
    const capabilities: Readonly<Record<string, number>> = Capability;
    this.b.capability(capabilities[name]!);
    return kind === "float" ? this.b.typeFloat(bits as 16 | 64) : this.b.typeInt(bits, kind === "int");
  }

  /** Capabilities of having narrow numbers in a block or between stages. */
  protected narrowStorage(type: Type, storageClass: number): void {
    if (!this.hasNarrow || !containsType(type, narrowParts)) return;
    for (const bits of [8, 16] as const) {
      if (!containsType(type, bits === 8 ? byteParts : halfParts)) continue;
      const b = this.b;
      const wide = bits === 8 ? 0x10500 : 0x10300;
      const name = bits === 8 ? "SPV_KHR_8bit_storage" : "SPV_KHR_16bit_storage";
      if (storageClass === StorageClass.Workgroup) {
        b.capability(
          bits === 8
            ? Capability.WorkgroupMemoryExplicitLayout8BitAccessKHR
            : Capability.WorkgroupMemoryExplicitLayout16BitAccessKHR,
        );
        continue;
      }
      if (storageClass === StorageClass.StorageBuffer) {
        b.capability(bits === 8 ? Capability.StorageBuffer8BitAccess : Capability.StorageBuffer16BitAccess);
      } else if (storageClass === StorageClass.Uniform) {
        b.capability(
          bits === 8 ? Capability.UniformAndStorageBuffer8BitAccess : Capability.UniformAndStorageBuffer16BitAccess,
        );
      } else if (storageClass === StorageClass.PushConstant) {
        b.capability(bits === 8 ? Capability.StoragePushConstant8 : Capability.StoragePushConstant16);
      } else if (storageClass === StorageClass.Input || storageClass === StorageClass.Output) {
        b.capability(Capability.StorageInputOutput16);
      } else {
        continue;
      }
      if (b.version < wide) b.extension(name);
    }
  }

  private opaqueId(type: OpaqueType): Id {
    const b = this.b;
    if (type.family === "sampler") return b.typeSampler();
    const { family, arrayed, multisampled, shadow } = type;
    const storage = family === "image" || family === "subpass";
    // rectangles are plain textures here, whose coordinates are divided where they are sampled
    const dim = Dim[type.dim === "Rect" ? "2D" : type.dim];
    const sampled = storage ? 2 : 1;
    for (const capability of imageCapabilities(type)) b.capability(capability);
    const scalar = this.typeId(scalarType(type.scalar));
    const formats: Readonly<Record<string, number>> = ImageFormat;
    const image = b.typeImage(scalar, dim, shadow ? 1 : 0, arrayed, multisampled, sampled, formats[type.format]!);
    return family === "sampled" && type.dim !== "Buffer" ? b.typeSampledImage(image) : image;
  }

  /** The image type inside a combined sampler's type. */
  protected imageIdOf(type: OpaqueType): Id {
    return this.opaqueId(type.family === "sampled" ? { ...type, family: "texture" } : type);
  }

  /** A pointer to a block anywhere in memory. Blocks may hold pointers to themselves, so its id comes first. */
  private referenceId(type: ReferenceType): Id {
    const b = this.b;
    const known = this.referenceIds?.get(type);
    if (known !== undefined) return known;
    if (type.block === undefined) throw new Bug(`reference ${type.name} without a block`);
    b.physicalAddressing();
    const id = b.forwardPointer(StorageClass.PhysicalStorageBuffer);
    this.referenceIds ??= new Map();
    this.referenceIds.set(type, id);
    const struct = this.structId(type.block, { packing: type.packing, rowMajor: type.rowMajor });
    b.decorate(struct, Decoration.Block);
    const { members } = type.block;
    for (let at = 0; at < members.length; at++) this.decorateMemory(struct, at, members[at]!.memory);
    this.narrowStorage(type.block, StorageClass.StorageBuffer);
    b.completePointer(id, StorageClass.PhysicalStorageBuffer, struct);
    return id;
  }

  /** A struct's id: one without a layout, one with each. */
  private structId(type: StructType, layout: BlockLayout | undefined): Id {
    const mark = layout === undefined ? markOf(type) : structLayout(type, layout.packing, layout.rowMajor);
    if (mark.module === this.module) return mark.id;
    const id = this.makeStruct(type, layout);
    mark.module = this.module;
    mark.id = id;
    return id;
  }

  private makeStruct(type: StructType, layout: BlockLayout | undefined): Id {
    const b = this.b;
    const { members } = type;
    const types = new Array<Id>(members.length);
    for (let at = 0; at < members.length; at++) {
      const member = members[at]!;
      types[at] = this.typeId(member.type, memberLayout(member, layout));
    }
    const id = b.typeStruct(types);
    b.name(id, type.name === "" ? "struct" : type.name);
    const offsets = layout === undefined ? undefined : structLayout(type, layout.packing, layout.rowMajor).offsets;
    for (let at = 0; at < members.length; at++) {
      const member = members[at]!;
      b.memberName(id, at, member.name);
      if (layout === undefined || offsets === undefined) continue;
      b.memberDecorate(id, at, Decoration.Offset, offsets[at]!);
      this.decorateMatrix(id, at, member, layout);
    }
    return id;
  }

  private decorateMatrix(struct: Id, at: number, member: Member, around: BlockLayout): void {
    let core = member.type;
    while (core.kind === "array") core = core.element;
    if (core.kind !== "matrix") return;
    const layout = memberLayout(member, around)!;
    const major = layout.rowMajor ? Decoration.RowMajor : Decoration.ColMajor;
    this.b.memberDecorate(struct, at, major);
    const stride = matrixStride(core, layout.packing, layout.rowMajor);
    this.b.memberDecorate(struct, at, Decoration.MatrixStride, stride);
  }

  /** A block's struct type, decorated with the block's memory qualifiers. Each block has its own. */
  protected blockId(type: StructType, variable: Variable, decoration: number): Id {
    const id = this.structId(type, variable.layout);
    this.b.decorate(id, decoration);
    if (variable.layout === undefined) this.interfaceMembers(id, type);
    const own = variable.memory ?? none;
    const { members } = type;
    for (let at = 0; at < members.length; at++) this.decorateMemory(id, at, own, members[at]!.memory);
    return id;
  }

  private interfaceMembers(id: Id, type: StructType): void {
    const { members } = type;
    for (let at = 0; at < members.length; at++) {
      const { layout, interpolation, invariant } = members[at]!;
      if (layout.location !== undefined) this.b.memberDecorate(id, at, Decoration.Location, layout.location);
      if (layout.xfbOffset !== undefined) this.b.memberDecorate(id, at, Decoration.Offset, layout.xfbOffset);
      if (layout.component !== undefined) this.b.memberDecorate(id, at, Decoration.Component, layout.component);
      if (invariant) this.b.memberDecorate(id, at, Decoration.Invariant);
      for (const name of interpolation) {
        const decoration = interpolationDecorations[name];
        if (decoration !== undefined) this.b.memberDecorate(id, at, decoration);
        if (name === "sample") this.b.capability(Capability.SampleRateShading);
      }
    }
  }

  /** Whether values of the type have another type in memory. */
  protected differsInMemory(type: Type, layout: BlockLayout | undefined): boolean {
    return layout !== undefined && (type.kind === "array" || type.kind === "struct" || markOf(type).kindNumber === 3);
  }
}

/** Capabilities that having an image type needs. Source: SPIR-V specification, Dim and ImageFormat. */
function imageCapabilities({ family, dim, arrayed, multisampled, format }: OpaqueType): number[] {
  const needed: number[] = [];
  const storage = family === "image";
  if (family === "subpass") needed.push(Capability.InputAttachment);
  if (dim === "1D") needed.push(storage ? Capability.Image1D : Capability.Sampled1D);
  if (dim === "Buffer") needed.push(storage ? Capability.ImageBuffer : Capability.SampledBuffer);
  if (dim === "Cube" && arrayed) needed.push(storage ? Capability.ImageCubeArray : Capability.SampledCubeArray);
  if (storage && multisampled) {
    needed.push(Capability.StorageImageMultisample);
    if (arrayed) needed.push(Capability.ImageMSArray);
  }
  if (!basicFormats.has(format)) needed.push(Capability.StorageImageExtendedFormats);
  return needed;
}

function bitsOf(type: Type): number {
  const scalar = scalarOf(type);
  return scalar === undefined ? 0 : scalarFacts[scalar].bits;
}

const byteParts = partTest((type) => bitsOf(type) === 8);
const halfParts = partTest((type) => bitsOf(type) === 16);
const narrowParts = partTest((type) => bitsOf(type) === 8 || bitsOf(type) === 16);

/** The layout that holds inside a member: its own matrix order wins. */
export function memberLayout(member: Member, layout: BlockLayout | undefined): BlockLayout | undefined {
  const own = member.layout.rowMajor;
  if (layout === undefined || own === undefined || own === layout.rowMajor) return layout;
  return { packing: layout.packing, rowMajor: own };
}
