import { Bug } from "../../base/index.ts";
import { Capability, type Id, ImageOperands, MemorySemantics, Op, Scope, StorageClass } from "../../spirv/index.ts";
import { type BuiltinExpr, type Expr, rootVariable } from "../check/index.ts";
import { type OpaqueType, scalarType, type Type, vectorSize, vectorType } from "../types/index.ts";
import { accessOf, texelOperands, VOLATILE_ACCESS } from "./memory-model.ts";
import { OperatorEmitter } from "./operators.ts";

/** Sampling instructions: explicit level 1, comparison 2, projection 4. */
const sampleOpcodes: readonly number[] = [
  Op.OpImageSampleImplicitLod,
  Op.OpImageSampleExplicitLod,
  Op.OpImageSampleDrefImplicitLod,
  Op.OpImageSampleDrefExplicitLod,
  Op.OpImageSampleProjImplicitLod,
  Op.OpImageSampleProjExplicitLod,
  Op.OpImageSampleProjDrefImplicitLod,
  Op.OpImageSampleProjDrefExplicitLod,
];

const lowerings: ReadonlySet<string> = new Set([
  "sample",
  "shadow",
  "fetch",
  "gather",
  "querySize",
  "queryLevels",
  "querySamples",
  "queryLod",
  "imageLoad",
  "imageStore",
  "imageAtomic",
  "subpassLoad",
]);

const firstComponents: readonly (readonly number[])[] = [[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 3]];

/** Whether a row's lowering is one of textures and images. */
export function isImageLowering(lowering: string): boolean {
  return lowerings.has(lowering);
}

/** Components of the coordinates that address a texel; those of a cube are a direction or a face. */
function coordinateSize({ dim, arrayed }: OpaqueType): number {
  const plain = dim === "1D" || dim === "Buffer" ? 1 : dim === "3D" || dim === "Cube" ? 3 : 2;
  return plain + (arrayed ? 1 : 0);
}

/** Arguments of a sampling function by role; see `builtins/textures.ts`. */
type Roles = Record<"c" | "C" | "p" | "P" | "d" | "b" | "l" | "x" | "y" | "o" | "q" | "m" | "n", Id | undefined>;

/** Texture and image functions. Source: SPIR-V specification, Image Instructions. */
export abstract class ImageEmitter extends OperatorEmitter {
  /** Whether derivatives, and so implicit levels, exist here. */
  protected abstract readonly hasDerivatives: boolean;

  protected imageValue(expr: BuiltinExpr): Id {
    const { lowering } = expr.overload;
    const b = this.b;
    switch (lowering) {
      case "sample":
        return this.sample(expr);
      case "shadow": {
        // one comparison, which older versions give as a colour
        const float = scalarType("float");
        const one = this.sample({ ...expr, type: float });
        const parts = [one, one, one, this.constantId(float, [1])];
        return b.emitResultWords(Op.OpCompositeConstruct, this.typeId(expr.type), parts);
      }
      case "gather":
        return this.gather(expr);
      case "fetch":
        return this.fetch(expr);
      case "querySize":
      case "queryLevels":
      case "querySamples":
      case "queryLod":
        b.capability(Capability.ImageQuery);
        return this.query(expr);
      case "imageLoad":
        return this.imageLoad(expr);
      case "imageStore":
        return this.imageStore(expr);
      case "imageAtomic":
        return this.imageAtomic(expr);
      case "subpassLoad":
        return this.subpassLoad(expr);
      default:
        throw new Bug(`no image lowering ${lowering}`);
    }
  }

  /** Values of the arguments after the first by role; the sampler itself comes last, beside its use. */
  private roles(expr: BuiltinExpr): Roles {
    const roles: Roles = {
      c: undefined,
      C: undefined,
      p: undefined,
      P: undefined,
      d: undefined,
      b: undefined,
      l: undefined,
      x: undefined,
      y: undefined,
      o: undefined,
      q: undefined,
      m: undefined,
      n: undefined,
    };
    const { instruction } = expr.overload;
    for (let at = 1; at < instruction.length; at++) {
      roles[instruction[at] as keyof Roles] = this.value(expr.args[at]!);
    }
    return roles;
  }

  private sample(expr: BuiltinExpr): Id {
    const { instruction: names } = expr.overload;
    const sampler = expr.args[0]!;
    const type = this.imageType(sampler);
    const roles = this.roles(expr);
    const at = expr.args[1]!.type;
    const size = coordinateSize(type);
    const range = firstComponents[size]!;
    let coordinate = roles.c;
    let reference = roles.d;
    const projected = roles.p ?? roles.P;
    const float = scalarType("float");
    if (roles.C !== undefined) {
      // one-dimensional shadows leave a component unused
      reference = this.extract(roles.C, float, Math.max(size, 2));
      coordinate = this.shuffle(roles.C, at, range);
    } else if (projected !== undefined) {
      if (roles.P !== undefined) reference = this.extract(projected, float, 2);
      coordinate = this.shuffle(projected, at, [...range, vectorSize(at) - 1]);
    }
    if (type.dim === "Rect") coordinate = this.normalised(sampler, coordinate!, projected === undefined ? 2 : 3, roles);
    const implicit = roles.l === undefined && roles.x === undefined && this.hasDerivatives;
    if (!implicit && roles.l === undefined && roles.x === undefined) {
      roles.l = this.constantId(float, [0]);
    }
    const operands = this.imageOperands(roles, names.includes("o") ? expr.args[names.indexOf("o")] : undefined);
    const form = (implicit ? 0 : 1) + (reference === undefined ? 0 : 2) + (projected === undefined ? 0 : 4);
    const opcode = sampleOpcodes[form]!;
    const image = this.value(sampler);
    const words = [image, coordinate!];
    if (reference !== undefined) words.push(reference);
    for (const operand of this.accessOperands(sampler, undefined, operands)) words.push(operand);
    return this.b.emitResultWords(opcode, this.typeId(expr.type), words);
  }

  /** Coordinates of a rectangle texture count texels; `roles` has its derivatives, which do so too. */
  private normalised(sampler: Expr, coordinate: Id, components: 2 | 3, roles: Roles): Id {
    const b = this.b;
    b.capability(Capability.ImageQuery);
    const vec2 = this.typeId(vectorType("float", 2));
    const size = b.emitResult(
      Op.OpImageQuerySizeLod,
      this.typeId(vectorType("int", 2)),
      this.imageOf(sampler),
      this.int(0),
    );
    const texels = b.emitResult(Op.OpConvertSToF, vec2, size);
    const divided = (id: Id): Id => b.emitResult(Op.OpFDiv, vec2, id, texels);
    if (roles.x !== undefined) roles.x = divided(roles.x);
    if (roles.y !== undefined) roles.y = divided(roles.y);
    if (components === 2) return divided(coordinate);
    const vec3 = vectorType("float", 3);
    const xy = divided(this.shuffle(coordinate, vec3, [0, 1]));
    const q = this.shuffle(coordinate, vec3, [2]);
    return b.emitResult(Op.OpCompositeConstruct, this.typeId(vec3), xy, q);
  }

  /** Mask and operands, in the order of the mask's bits. */
  private imageOperands(roles: Roles, offset: Expr | undefined): number[] {
    let mask = 0;
    const ids: Id[] = [];
    const add = (bit: number, first: Id | undefined, second?: Id): void => {
      if (first === undefined) return;
      mask |= bit;
      ids.push(first);
      if (second !== undefined) ids.push(second);
    };
    add(ImageOperands.Bias, roles.b);
    add(ImageOperands.Lod, roles.l);
    add(ImageOperands.Grad, roles.x, roles.y);
    const constant = offset === undefined || offset.constness !== 0;
    if (roles.o !== undefined && !constant) this.b.capability(Capability.ImageGatherExtended);
    add(constant ? ImageOperands.ConstOffset : ImageOperands.Offset, roles.o);
    if (roles.q !== undefined) this.b.capability(Capability.ImageGatherExtended);
    add(ImageOperands.ConstOffsets, roles.q);
    add(ImageOperands.Sample, roles.n);
    return mask === 0 ? [] : [mask, ...ids];
  }

  private gather(expr: BuiltinExpr): Id {
    const { instruction: names } = expr.overload;
    const roles = this.roles(expr);
    const operands = this.imageOperands(roles, names.includes("o") ? expr.args[names.indexOf("o")] : undefined);
    if (this.imageType(expr.args[0]!).dim === "Rect") roles.c = this.normalised(expr.args[0]!, roles.c!, 2, roles);
    const image = this.value(expr.args[0]!);
    const type = this.typeId(expr.type);
    if (roles.d !== undefined) {
      return this.b.emitResultWords(Op.OpImageDrefGather, type, [image, roles.c!, roles.d, ...operands]);
    }
    const component = roles.m ?? this.int(0);
    return this.b.emitResultWords(Op.OpImageGather, type, [image, roles.c!, component, ...operands]);
  }

  /** The image of a combined sampler, or the image itself. */
  private imageOf(arg: Expr): Id {
    const type = this.imageType(arg);
    const value = this.value(arg);
    if (type.family !== "sampled" || type.dim === "Buffer") return value;
    return this.b.emitResult(Op.OpImage, this.imageIdOf(type), value);
  }

  private fetch(expr: BuiltinExpr): Id {
    const { instruction: names } = expr.overload;
    const roles = this.roles(expr);
    const operands = this.imageOperands(roles, names.includes("o") ? expr.args[names.indexOf("o")] : undefined);
    const image = this.imageOf(expr.args[0]!);
    return this.b.emitResultWords(Op.OpImageFetch, this.typeId(expr.type), [image, roles.c!, ...operands]);
  }

  private query(expr: BuiltinExpr): Id {
    const { overload, args } = expr;
    const type = this.typeId(expr.type);
    const [arg, second] = args;
    if (overload.lowering === "queryLod") {
      const coordinate = this.value(second!);
      return this.b.emitResult(Op.OpImageQueryLod, type, this.value(arg!), coordinate);
    }
    const isRectangle = this.imageType(arg!).dim === "Rect" && this.imageType(arg!).family !== "image";
    const level = second !== undefined ? [this.value(second)] : isRectangle ? [this.int(0)] : [];
    const image = this.imageOf(arg!);
    if (overload.lowering === "queryLevels") return this.b.emitResult(Op.OpImageQueryLevels, type, image);
    if (overload.lowering === "querySamples") return this.b.emitResult(Op.OpImageQuerySamples, type, image);
    return this.b.emitResult(level.length > 0 ? Op.OpImageQuerySizeLod : Op.OpImageQuerySize, type, image, level[0]);
  }

  /** Scope and semantics that arguments from `at` on give; undefined where the call has none. */
  protected memoryOrder(access: number, args: readonly Expr[], at: number, scopeAt = at): [Id, Id] | undefined {
    const scope = args[scopeAt];
    const storage = args[at + 1];
    const order = args[at + 2];
    if (scope === undefined || storage === undefined || order === undefined) return undefined;
    const semantics = constantNumber(order);
    if (this.vulkanMemory) {
      return [this.scopeId(constantNumber(scope)), this.semantics(access, constantNumber(storage) | semantics)];
    }
    // availability and visibility are of the Vulkan memory model; in the other every access has them
    const kept = semantics & 0xf;
    // a queue family is within one device
    const wide = constantNumber(scope) === Scope.QueueFamily ? Scope.Device : constantNumber(scope);
    return [this.b.constUint(wide), this.b.constUint(kept === 0 ? 0 : kept | constantNumber(storage))];
  }

  /** Memory semantics, which say in the Vulkan memory model what is volatile. */
  protected semantics(access: number, semantics: number): Id {
    return this.b.constUint((access & VOLATILE_ACCESS) === 0 ? semantics : semantics | MemorySemantics.Volatile);
  }

  /** Operands of an access to texels, with those of the Vulkan memory model. */
  private accessOperands(arg: Expr, store: boolean | undefined, operands: readonly number[]): readonly number[] {
    if (!this.vulkanMemory) return operands;
    const root = rootVariable(arg);
    return texelOperands(operands, accessOf(root?.memory), store, this.scopeId);
  }

  /** The sample's operands where the image has several samples. */
  private sampleOperands(type: OpaqueType, arg: Expr | undefined): number[] {
    return type.multisampled ? [ImageOperands.Sample, this.value(arg!)] : [];
  }

  private imageLoad(expr: BuiltinExpr): Id {
    const [arg, at, sample] = expr.args;
    const type = this.imageType(arg!);
    if (type.format === "Unknown") this.b.capability(Capability.StorageImageReadWithoutFormat);
    const coordinate = this.value(at!);
    const operands = this.accessOperands(arg!, false, this.sampleOperands(type, sample));
    const image = this.value(arg!);
    return this.b.emitResultWords(Op.OpImageRead, this.typeId(expr.type), [image, coordinate, ...operands]);
  }

  private imageStore(expr: BuiltinExpr): Id {
    const [arg, at, sample] = expr.args;
    const type = this.imageType(arg!);
    if (type.format === "Unknown") this.b.capability(Capability.StorageImageWriteWithoutFormat);
    const coordinate = this.value(at!);
    const operands = this.accessOperands(arg!, true, this.sampleOperands(type, sample));
    const texel = this.value(expr.args.at(-1)!);
    this.b.emitWords(Op.OpImageWrite, [this.value(arg!), coordinate, texel, ...operands]);
    return 0;
  }

  /** The type of an image argument, with its format. */
  private imageType(arg: Expr): OpaqueType {
    let at: Expr = arg;
    let depth = 0;
    while (at.kind === "builtin" && at.overload.lowering === "nonuniform") at = at.args[0]!;
    for (; at.kind === "index"; at = at.base) depth++;
    let type: Type = at.kind === "variable" ? this.slotType(at.variable) : at.type;
    for (; depth > 0 && type.kind === "array"; depth--) type = type.element;
    if (type.kind !== "opaque") throw new Bug(`image of ${type.kind}`);
    return type;
  }

  private imageAtomic(expr: BuiltinExpr): Id {
    const { overload, args } = expr;
    const type = this.imageType(args[0]!);
    const scalar = this.typeId(scalarType(type.scalar));
    const image = this.pointerOf(this.resolve(args[0]!));
    const coordinate = this.value(args[1]!);
    const sample = type.multisampled ? this.value(args[2]!) : this.b.constUint(0);
    const first = type.multisampled ? 3 : 2;
    const { instruction } = overload;
    const count = instruction === "OpAtomicLoad" ? 0 : instruction === "OpAtomicCompareExchange" ? 2 : 1;
    const data: Id[] = [];
    for (let at = 0; at < count; at++) data.push(this.value(args[first + at]!));
    const pointerType = this.pointerId(StorageClass.Image, scalar);
    const pointer = this.b.emitResult(Op.OpImageTexelPointer, pointerType, image, coordinate, sample);
    const access = this.vulkanMemory ? accessOf(rootVariable(args[0]!)?.memory) : 0;
    const after = first + count;
    const order = this.memoryOrder(access, args, after) ?? [this.widestScope(), this.semantics(access, 0)];
    switch (instruction) {
      case "OpAtomicCompareExchange": {
        const unequal = this.memoryOrder(access, args, after + 2, after) ?? order;
        const [compare, value] = data;
        const words = [pointer, ...order, unequal[1], value!, compare!];
        return this.b.emitResultWords(Op.OpAtomicCompareExchange, scalar, words);
      }
      case "OpAtomicStore":
        this.b.emit(Op.OpAtomicStore, pointer, order[0], order[1], data[0]);
        return 0;
      default:
        return this.b.emitResult(overload.opcode, scalar, pointer, order[0], order[1], data[0]);
    }
  }

  private subpassLoad(expr: BuiltinExpr): Id {
    const [arg, sample] = expr.args;
    const operands = sample === undefined ? [] : [ImageOperands.Sample, this.value(sample)];
    const zero = this.constantId(vectorType("int", 2), [0, 0]);
    const image = this.value(arg!);
    return this.b.emitResult(Op.OpImageRead, this.typeId(expr.type), image, zero, operands[0], operands[1]);
  }
}

/** The value of an argument that the checker made sure is constant. */
export function constantNumber(expr: Expr): number {
  if (expr.kind !== "constant") throw new Bug("a memory scope that is no constant");
  return Number(expr.values[0]);
}
