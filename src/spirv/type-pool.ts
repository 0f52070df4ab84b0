import { invariant } from "../base/index.ts";
import { Decoration, Op } from "./enums.ts";
import { doubleBits, floatBits, halfBits } from "./literals.ts";
import { WordBuffer } from "./word-buffer.ts";

/** A result id; ids count from 1. */
export type Id = number;

interface Scalar {
  readonly kind: "int" | "float";
  readonly width: number;
}

/**
 * Types, constants and global variables of a module in the making, each type and constant once.
 * Types that carry layout decorations are one per layout: an array with a stride is another type than one without.
 */
export class TypePool {
  readonly globals = new WordBuffer();
  readonly annotations = new WordBuffer();
  readonly #known = new Map<string, Id>();
  readonly #scalars = new Map<Id, Scalar>();
  #bound = 1;

  /** A fresh id. */
  id(): Id {
    return this.#bound++;
  }

  /** One more than the highest id handed out. */
  get bound(): number {
    return this.#bound;
  }

  /** Adds a decoration; `operands` are the words after it. */
  decorate(target: Id, decoration: number, ...operands: readonly number[]): void {
    this.annotations.instruction(Op.OpDecorate, [target, decoration, ...operands]);
  }

  /** As `decorate`, for a member of a struct type. */
  memberDecorate(struct: Id, member: number, decoration: number, ...operands: readonly number[]): void {
    this.annotations.instruction(Op.OpMemberDecorate, [struct, member, decoration, ...operands]);
  }

  #type(opcode: number, operands: readonly number[], layout = ""): { id: Id; fresh: boolean } {
    const key = `${opcode}:${operands.join(",")}:${layout}`;
    const known = this.#known.get(key);
    if (known !== undefined) return { id: known, fresh: false };
    const id = this.id();
    this.globals.instruction(opcode, [id, ...operands]);
    this.#known.set(key, id);
    return { id, fresh: true };
  }

  #constant(opcode: number, type: Id, operands: readonly number[]): Id {
    const key = `${opcode}:${type}:${operands.join(",")}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const id = this.#global(opcode, type, operands);
    this.#known.set(key, id);
    return id;
  }

  #global(opcode: number, type: Id, operands: readonly number[]): Id {
    const id = this.id();
    this.globals.instruction(opcode, [type, id, ...operands]);
    return id;
  }

  typeVoid(): Id {
    return this.#type(Op.OpTypeVoid, []).id;
  }

  typeBool(): Id {
    return this.#type(Op.OpTypeBool, []).id;
  }

  /** Widths other than 32 need their capability. */
  typeInt(width: 8 | 16 | 32 | 64 = 32, signed = true): Id {
    const { id } = this.#type(Op.OpTypeInt, [width, signed ? 1 : 0]);
    this.#scalars.set(id, { kind: "int", width });
    return id;
  }

  typeFloat(width: 16 | 32 | 64 = 32): Id {
    const { id } = this.#type(Op.OpTypeFloat, [width]);
    this.#scalars.set(id, { kind: "float", width });
    return id;
  }

  typeVector(component: Id, count: number): Id {
    return this.#type(Op.OpTypeVector, [component, count]).id;
  }

  /** `column` is a vector type of floats. */
  typeMatrix(column: Id, columns: number): Id {
    return this.#type(Op.OpTypeMatrix, [column, columns]).id;
  }

  /** `length` is the id of an integer constant. With a stride the type is decorated and kept apart. */
  typeArray(element: Id, length: Id, strideBytes?: number): Id {
    const { id, fresh } = this.#type(Op.OpTypeArray, [element, length], String(strideBytes ?? ""));
    if (fresh && strideBytes !== undefined) this.decorate(id, Decoration.ArrayStride, strideBytes);
    return id;
  }

  typeRuntimeArray(element: Id, strideBytes?: number): Id {
    const { id, fresh } = this.#type(Op.OpTypeRuntimeArray, [element], String(strideBytes ?? ""));
    if (fresh && strideBytes !== undefined) this.decorate(id, Decoration.ArrayStride, strideBytes);
    return id;
  }

  /** A new struct type at each call; with `key`, one for each (key, members), to be decorated by its first caller. */
  typeStruct(members: readonly Id[], key?: string): Id {
    if (key !== undefined) return this.#type(Op.OpTypeStruct, members, `key ${key}`).id;
    const id = this.id();
    this.globals.instruction(Op.OpTypeStruct, [id, ...members]);
    return id;
  }

  typePointer(storageClass: number, pointee: Id): Id {
    return this.#type(Op.OpTypePointer, [storageClass, pointee]).id;
  }

  /** The id of a pointer type that is declared before its pointee: `completePointer` makes it whole. */
  forwardPointer(storageClass: number): Id {
    const id = this.id();
    this.globals.instruction(Op.OpTypeForwardPointer, [id, storageClass]);
    return id;
  }

  completePointer(id: Id, storageClass: number, pointee: Id): void {
    this.globals.instruction(Op.OpTypePointer, [id, storageClass, pointee]);
  }

  typeFunction(returns: Id, parameters: readonly Id[]): Id {
    return this.#type(Op.OpTypeFunction, [returns, ...parameters]).id;
  }

  /** `sampled`: 1 with a sampler, 2 storage. Operands as OpTypeImage has them. */
  typeImage(
    sampledType: Id,
    dim: number,
    depth: 0 | 1 | 2,
    arrayed: boolean,
    multisampled: boolean,
    sampled: 0 | 1 | 2,
    format: number,
  ): Id {
    const operands = [sampledType, dim, depth, arrayed ? 1 : 0, multisampled ? 1 : 0, sampled, format];
    return this.#type(Op.OpTypeImage, operands).id;
  }

  typeSampler(): Id {
    return this.#type(Op.OpTypeSampler, []).id;
  }

  typeSampledImage(image: Id): Id {
    return this.#type(Op.OpTypeSampledImage, [image]).id;
  }

  constBool(value: boolean): Id {
    return this.#constant(value ? Op.OpConstantTrue : Op.OpConstantFalse, this.typeBool(), []);
  }

  /** A 32-bit constant of GLSL's `int`. */
  constInt(value: number): Id {
    return this.constScalar(this.typeInt(32, true), value);
  }

  /** A 32-bit constant of GLSL's `uint`. */
  constUint(value: number): Id {
    return this.constScalar(this.typeInt(32, false), value);
  }

  /** A constant of any integer or float type of this module, rounded to it. */
  constScalar(type: Id, value: number | bigint): Id {
    return this.#constant(Op.OpConstant, type, this.#literal(type, value));
  }

  /** A constant from its literal words: exact bits, NaNs included. */
  constBits(type: Id, ...words: readonly number[]): Id {
    return this.#constant(
      Op.OpConstant,
      type,
      words.map((word) => word >>> 0),
    );
  }

  constComposite(type: Id, parts: readonly Id[]): Id {
    return this.#constant(Op.OpConstantComposite, type, parts);
  }

  constNull(type: Id): Id {
    return this.#constant(Op.OpConstantNull, type, []);
  }

  /** A specialisation constant with its SpecId; not deduplicated. */
  specConstBool(value: boolean, specId: number): Id {
    const id = this.#global(value ? Op.OpSpecConstantTrue : Op.OpSpecConstantFalse, this.typeBool(), []);
    this.decorate(id, Decoration.SpecId, specId);
    return id;
  }

  /** As `specConstBool` for integers and floats. */
  specConstScalar(type: Id, value: number | bigint, specId: number): Id {
    const id = this.#global(Op.OpSpecConstant, type, this.#literal(type, value));
    this.decorate(id, Decoration.SpecId, specId);
    return id;
  }

  specConstComposite(type: Id, parts: readonly Id[]): Id {
    return this.#global(Op.OpSpecConstantComposite, type, parts);
  }

  /** An operation on specialisation constants, done when the module is specialised. */
  specConstOp(type: Id, opcode: number, ...operands: readonly number[]): Id {
    return this.#constant(Op.OpSpecConstantOp, type, [opcode, ...operands]);
  }

  undef(type: Id): Id {
    return this.#constant(Op.OpUndef, type, []);
  }

  #literal(type: Id, value: number | bigint): number[] {
    const scalar = this.#scalars.get(type);
    invariant(scalar !== undefined, `type ${type} is no scalar of this module`);
    if (scalar.kind === "float") {
      const real = Number(value);
      if (scalar.width === 64) return doubleBits(real);
      return [scalar.width === 32 ? floatBits(real) : halfBits(real)];
    }
    const bits = BigInt.asUintN(64, BigInt(value));
    if (scalar.width === 64) return [Number(bits & 0xffffffffn), Number(bits >> 32n)];
    // narrow literals fill their word by sign extension where the type is signed, which the caller's sign already says
    return [Number(bits & 0xffffffffn)];
  }
}
