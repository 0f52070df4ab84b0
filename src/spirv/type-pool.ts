import { invariant } from "../base/index.ts";
import { Decoration, Op } from "./enums.ts";
import { doubleBits, floatBits, halfBits } from "./literals.ts";
import { WordBuffer } from "./word-buffer.ts";

/** A result id; ids count from 1. */
export type Id = number;

const noWords: readonly number[] = [];
/** Buckets of the table of types and constants at first, a power of two. */
const BUCKETS = 256;
const SPARE_BUCKETS = 4;
/** All zero. */
const spareBuckets: Int32Array[] = [];
const noBuckets = new Int32Array(1);

interface Scalar {
  readonly kind: "int" | "float";
  readonly width: number;
}

/** FNV-1a over words, as a small integer. */
function hashWords(opcode: number, second: number, operands: readonly number[]): number {
  let hash = Math.imul(opcode ^ 0x811c9dc5, 0x01000193);
  hash = Math.imul(hash ^ second, 0x01000193);
  for (let at = 0; at < operands.length; at++) hash = Math.imul(hash ^ operands[at]!, 0x01000193);
  return (hash ^ (hash >>> 15)) & 0x3fffffff;
}

/**
 * Types, constants and global variables of a module in the making, each type and constant once.
 * Types that carry layout decorations are one per layout: an array with a stride is another type than one without.
 */
export class TypePool {
  readonly globals = new WordBuffer();
  readonly annotations = new WordBuffer();
  /**
   * Types and constants by a hash of their words. An entry is five numbers: the next entry of its bucket (0: none), hash,
   * offset in `globals`, layout, id.
   */
  private readonly pooled: number[] = [0, 0, 0, 0, 0];
  private buckets: Int32Array = spareBuckets.pop() ?? new Int32Array(BUCKETS);
  /** Numbers of the keys of `typeStruct`. */
  private readonly structKeys = new Map<string, number>();
  private readonly scalars = new Map<Id, Scalar>();
  /** Constants of `uint` by value, which scopes, semantics and sizes ask for again and again. */
  private readonly uints = new Map<number, Id>();
  private nextId = 1;
  /** Whether the last `pooledType` was made by it. */
  private fresh = false;

  /** A fresh id. */
  id(): Id {
    return this.nextId++;
  }

  /** One more than the highest id handed out. */
  get bound(): number {
    return this.nextId;
  }

  /** Adds a decoration; `operand` is the word after it. */
  decorate(target: Id, decoration: number, operand?: number): void {
    const { annotations } = this;
    annotations.start(Op.OpDecorate, operand === undefined ? 3 : 4);
    annotations.push(target);
    annotations.push(decoration);
    if (operand !== undefined) annotations.push(operand);
  }

  /** As `decorate`, for a member of a struct type. */
  memberDecorate(struct: Id, member: number, decoration: number, operand?: number): void {
    const { annotations } = this;
    annotations.start(Op.OpMemberDecorate, operand === undefined ? 4 : 5);
    annotations.push(struct);
    annotations.push(member);
    annotations.push(decoration);
    if (operand !== undefined) annotations.push(operand);
  }

  /** The id of an instruction with these words, or 0. `type` 0: it has no result type. */
  private find(hash: number, opcode: number, type: Id, operands: readonly number[], layout: number): Id {
    const { globals, pooled, buckets } = this;
    const count = operands.length;
    const skip = type === 0 ? 2 : 3;
    const head = (((count + skip) << 16) | opcode) >>> 0;
    for (let entry = buckets[hash & (buckets.length - 1)]!; entry !== 0; entry = pooled[entry]!) {
      if (pooled[entry + 1] !== hash || pooled[entry + 3] !== layout) continue;
      const offset = pooled[entry + 2]!;
      if (globals.at(offset) !== head) continue;
      if (type !== 0 && globals.at(offset + 1) !== type) continue;
      let at = 0;
      while (at < count && globals.at(offset + skip + at) === operands[at]! >>> 0) at++;
      if (at === count) return pooled[entry + 4]!;
    }
    return 0;
  }

  /** Enters the instruction that the next words of `globals` will be. */
  private remember(hash: number, layout: number, id: Id): void {
    const { pooled } = this;
    if (pooled.length > 10 * this.buckets.length) this.addBuckets();
    const slot = hash & (this.buckets.length - 1);
    const entry = pooled.length;
    pooled.push(this.buckets[slot]!, hash, this.globals.length, layout, id);
    this.buckets[slot] = entry;
  }

  private addBuckets(): void {
    const { pooled } = this;
    const buckets = new Int32Array(4 * this.buckets.length);
    for (let entry = 5; entry < pooled.length; entry += 5) {
      const slot = pooled[entry + 1]! & (buckets.length - 1);
      pooled[entry] = buckets[slot]!;
      buckets[slot] = entry;
    }
    this.buckets = buckets;
  }

  /** Ends the pool's life: its buckets go to a later one. */
  protected releaseBuckets(): void {
    if (this.buckets.length > BUCKETS || spareBuckets.length >= SPARE_BUCKETS) return;
    spareBuckets.push(this.buckets.fill(0));
    this.buckets = noBuckets;
  }

  /** `layout` tells apart types of the same words; 0: none. */
  private pooledType(opcode: number, operands: readonly number[], layout = 0): Id {
    const hash = hashWords(opcode, layout, operands);
    const known = this.find(hash, opcode, 0, operands, layout);
    this.fresh = known === 0;
    if (known !== 0) return known;
    const id = this.id();
    this.remember(hash, layout, id);
    this.globals.start(opcode, operands.length + 2);
    this.globals.push(id);
    for (let at = 0; at < operands.length; at++) this.globals.push(operands[at]!);
    return id;
  }

  private pooledConstant(opcode: number, type: Id, operands: readonly number[]): Id {
    const hash = hashWords(opcode, type, operands);
    const known = this.find(hash, opcode, type, operands, 0);
    if (known !== 0) return known;
    // the offset is that of the instruction, which follows
    this.remember(hash, 0, this.nextId);
    return this.global(opcode, type, operands);
  }

  /** As `pooledConstant` for an `OpConstant` of one word: most constants are. */
  private pooledWord(type: Id, word: number): Id {
    const { globals, pooled, buckets } = this;
    let hash = Math.imul(Op.OpConstant ^ 0x811c9dc5, 0x01000193);
    hash = Math.imul(hash ^ type, 0x01000193);
    hash = Math.imul(hash ^ word, 0x01000193);
    hash = (hash ^ (hash >>> 15)) & 0x3fffffff;
    const head = (4 << 16) | Op.OpConstant;
    for (let entry = buckets[hash & (buckets.length - 1)]!; entry !== 0; entry = pooled[entry]!) {
      const offset = pooled[entry + 2]!;
      if (pooled[entry + 1] !== hash || globals.at(offset) !== head) continue;
      if (globals.at(offset + 1) === type && (globals.at(offset + 3) | 0) === word) return pooled[entry + 4]!;
    }
    const id = this.id();
    this.remember(hash, 0, id);
    globals.start(Op.OpConstant, 4);
    globals.push(type);
    globals.push(id);
    globals.push(word);
    return id;
  }

  private global(opcode: number, type: Id, operands: readonly number[]): Id {
    const id = this.id();
    this.globals.start(opcode, operands.length + 3);
    this.globals.push(type);
    this.globals.push(id);
    for (let at = 0; at < operands.length; at++) this.globals.push(operands[at]!);
    return id;
  }

  typeVoid(): Id {
    return this.pooledType(Op.OpTypeVoid, []);
  }

  typeBool(): Id {
    return this.pooledType(Op.OpTypeBool, []);
  }

  /** Widths other than 32 need their capability. */
  typeInt(width: 8 | 16 | 32 | 64 = 32, signed = true): Id {
    const id = this.pooledType(Op.OpTypeInt, [width, signed ? 1 : 0]);
    if (this.fresh) this.scalars.set(id, { kind: "int", width });
    return id;
  }

  typeFloat(width: 16 | 32 | 64 = 32): Id {
    const id = this.pooledType(Op.OpTypeFloat, [width]);
    if (this.fresh) this.scalars.set(id, { kind: "float", width });
    return id;
  }

  typeVector(component: Id, count: number): Id {
    return this.pooledType(Op.OpTypeVector, [component, count]);
  }

  /** `column` is a vector type of floats. */
  typeMatrix(column: Id, columns: number): Id {
    return this.pooledType(Op.OpTypeMatrix, [column, columns]);
  }

  /** `length` is the id of an integer constant. With a stride the type is decorated and kept apart. */
  typeArray(element: Id, length: Id, strideBytes?: number): Id {
    const id = this.pooledType(Op.OpTypeArray, [element, length], strideBytes === undefined ? 0 : strideBytes + 1);
    if (this.fresh && strideBytes !== undefined) this.decorate(id, Decoration.ArrayStride, strideBytes);
    return id;
  }

  typeRuntimeArray(element: Id, strideBytes?: number): Id {
    const id = this.pooledType(Op.OpTypeRuntimeArray, [element], strideBytes === undefined ? 0 : strideBytes + 1);
    if (this.fresh && strideBytes !== undefined) this.decorate(id, Decoration.ArrayStride, strideBytes);
    return id;
  }

  /** A new struct type at each call; with `key`, one for each (key, members), to be decorated by its first caller. */
  typeStruct(members: readonly Id[], key?: string): Id {
    if (key !== undefined) {
      const layout = this.structKeys.get(key) ?? this.structKeys.size + 1;
      this.structKeys.set(key, layout);
      return this.pooledType(Op.OpTypeStruct, members, layout);
    }
    const id = this.id();
    this.globals.instruction(Op.OpTypeStruct, [id, ...members]);
    return id;
  }

  typePointer(storageClass: number, pointee: Id): Id {
    return this.pooledType(Op.OpTypePointer, [storageClass, pointee]);
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
    return this.pooledType(Op.OpTypeFunction, [returns, ...parameters]);
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
    return this.pooledType(Op.OpTypeImage, operands);
  }

  typeSampler(): Id {
    return this.pooledType(Op.OpTypeSampler, []);
  }

  typeSampledImage(image: Id): Id {
    return this.pooledType(Op.OpTypeSampledImage, [image]);
  }

  constBool(value: boolean): Id {
    return this.pooledConstant(value ? Op.OpConstantTrue : Op.OpConstantFalse, this.typeBool(), noWords);
  }

  /** A 32-bit constant of GLSL's `int`. */
  constInt(value: number): Id {
    return this.constScalar(this.typeInt(32, true), value);
  }

  /** A 32-bit constant of GLSL's `uint`. */
  constUint(value: number): Id {
    let id = this.uints.get(value);
    if (id === undefined) {
      id = this.constScalar(this.typeInt(32, false), value);
      this.uints.set(value, id);
    }
    return id;
  }

  /** A constant of any integer or float type of this module, rounded to it. */
  constScalar(type: Id, value: number | bigint): Id {
    const scalar = this.scalars.get(type);
    if (scalar?.width === 32 && typeof value === "number") {
      if (scalar.kind === "float") return this.pooledWord(type, floatBits(value) | 0);
      if (Number.isInteger(value)) return this.pooledWord(type, value | 0);
    }
    return this.pooledConstant(Op.OpConstant, type, this.literal(type, value));
  }

  /** A constant from its literal words: exact bits, NaNs included. */
  constBits(type: Id, ...words: readonly number[]): Id {
    return this.pooledConstant(
      Op.OpConstant,
      type,
      words.map((word) => word >>> 0),
    );
  }

  constComposite(type: Id, parts: readonly Id[]): Id {
    return this.pooledConstant(Op.OpConstantComposite, type, parts);
  }

  constNull(type: Id): Id {
    return this.pooledConstant(Op.OpConstantNull, type, []);
  }

  /** A specialisation constant with its SpecId; not deduplicated. */
  specConstBool(value: boolean, specId: number): Id {
    const id = this.global(value ? Op.OpSpecConstantTrue : Op.OpSpecConstantFalse, this.typeBool(), []);
    this.decorate(id, Decoration.SpecId, specId);
    return id;
  }

  /** As `specConstBool` for integers and floats. */
  specConstScalar(type: Id, value: number | bigint, specId: number): Id {
    const id = this.global(Op.OpSpecConstant, type, this.literal(type, value));
    this.decorate(id, Decoration.SpecId, specId);
    return id;
  }

  specConstComposite(type: Id, parts: readonly Id[]): Id {
    return this.global(Op.OpSpecConstantComposite, type, parts);
  }

  /** An operation on specialisation constants, done when the module is specialised. */
  specConstOp(type: Id, opcode: number, ...operands: readonly number[]): Id {
    return this.pooledConstant(Op.OpSpecConstantOp, type, [opcode, ...operands]);
  }

  undef(type: Id): Id {
    return this.pooledConstant(Op.OpUndef, type, []);
  }

  private literal(type: Id, value: number | bigint): number[] {
    const scalar = this.scalars.get(type);
    invariant(scalar !== undefined, `type ${type} is no scalar of this module`);
    if (scalar.kind === "float") {
      const real = Number(value);
      if (scalar.width === 64) return doubleBits(real);
      return [scalar.width === 32 ? floatBits(real) : halfBits(real)];
    }
    if (scalar.width !== 64 && typeof value === "number" && Number.isInteger(value)) return [value >>> 0];
    const bits = BigInt.asUintN(64, BigInt(value));
    if (scalar.width === 64) return [Number(bits & 0xffffffffn), Number(bits >> 32n)];
    // narrow literals fill their word by sign extension where the type is signed, which the caller's sign already says
    return [Number(bits & 0xffffffffn)];
  }
}
