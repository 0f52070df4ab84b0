import { invariant } from "../base/index.ts";
import { Decoration, Op } from "./enums.ts";
import { doubleBits, floatBits, halfBits } from "./literals.ts";
import { WordBuffer } from "./word-buffer.ts";

/** A result id; ids count from 1. */
export type Id = number;

/** Buckets of the table of types and constants at first, a power of two, and its entries. */
const BUCKETS = 256;
const ENTRY_WORDS = 5;
const ENTRIES = 2 * BUCKETS;
const SPARE_TABLES = 4;
/** Tables of pools that are done, their buckets all zero. */
const spareTables: Table[] = [];

interface Table {
  readonly buckets: Int32Array;
  readonly entries: Int32Array;
}

const takeTable = (): Table =>
  spareTables.pop() ?? { buckets: new Int32Array(BUCKETS), entries: new Int32Array(ENTRIES * ENTRY_WORDS) };

interface Scalar {
  readonly id: Id;
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
  /**
   * Types and constants by a hash of their words. An entry is five numbers: the next entry of its bucket (0: none), hash,
   * offset in `globals`, layout, id. The first is none.
   */
  private table = takeTable();
  private entriesEnd = ENTRY_WORDS;
  /** Numbers of the keys of `typeStruct`. */
  private structKeys: Map<string, number> | undefined;
  /** A dozen at most. */
  private readonly scalars: Scalar[] = [];
  private uint: Id = 0;
  private nextId = 1;
  /** Whether the last type or constant that was asked for was not there yet. */
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

  /**
   * The id of the instruction that was just written at `start` of `globals`, with 0 as the `idAt`th word where its id
   * belongs: that of an earlier one with the same words and layout, and it is taken back, or a new one.
   */
  private settle(start: number, idAt: number, layout: number): Id {
    const { globals } = this;
    const { buckets, entries } = this.table;
    const count = globals.length - start;
    const hash = globals.hashFrom(start, start + idAt, layout);
    for (let entry = buckets[hash & (buckets.length - 1)]!; entry !== 0; entry = entries[entry]!) {
      if (entries[entry + 1] !== hash || entries[entry + 3] !== (layout | 0)) continue;
      if (!globals.sameWords(entries[entry + 2]!, start, count, idAt)) continue;
      globals.truncate(start);
      this.fresh = false;
      return entries[entry + 4]!;
    }
    const id = this.id();
    globals.setAt(start + idAt, id);
    this.remember(hash, start, layout, id);
    this.fresh = true;
    return id;
  }

  private remember(hash: number, start: number, layout: number, id: Id): void {
    if (this.entriesEnd === this.table.entries.length) this.growTable();
    const { buckets, entries } = this.table;
    const entry = this.entriesEnd;
    this.entriesEnd += ENTRY_WORDS;
    const slot = hash & (buckets.length - 1);
    entries[entry] = buckets[slot]!;
    entries[entry + 1] = hash;
    entries[entry + 2] = start;
    entries[entry + 3] = layout;
    entries[entry + 4] = id;
    buckets[slot] = entry;
  }

  private growTable(): void {
    const { buckets: old, entries: held } = this.table;
    const entries = new Int32Array(4 * held.length);
    entries.set(held);
    const buckets = new Int32Array(4 * old.length);
    for (let entry = ENTRY_WORDS; entry < this.entriesEnd; entry += ENTRY_WORDS) {
      const slot = entries[entry + 1]! & (buckets.length - 1);
      entries[entry] = buckets[slot]!;
      buckets[slot] = entry;
    }
    this.table = { buckets, entries };
  }

  /** Ends the pool's life: its table goes to a later one. */
  protected releaseTable(): void {
    const { table } = this;
    if (table.buckets.length > BUCKETS || spareTables.length >= SPARE_TABLES) return;
    table.buckets.fill(0);
    spareTables.push(table);
  }

  /** A type of up to two operands; a negative one is none. `layout` tells apart types of the same words; 0: none. */
  private shortType(opcode: number, first: number, second: number, layout = 0): Id {
    const { globals } = this;
    const start = globals.length;
    globals.start(opcode, second >= 0 ? 4 : first >= 0 ? 3 : 2);
    globals.push(0);
    if (first >= 0) globals.push(first);
    if (second >= 0) globals.push(second);
    return this.settle(start, 1, layout);
  }

  private pooledType(opcode: number, operands: readonly number[], layout = 0): Id {
    const { globals } = this;
    const start = globals.length;
    globals.start(opcode, operands.length + 2);
    globals.push(0);
    for (let at = 0; at < operands.length; at++) globals.push(operands[at]!);
    return this.settle(start, 1, layout);
  }

  private pooledConstant(opcode: number, type: Id, operands: readonly number[]): Id {
    const { globals } = this;
    const start = globals.length;
    globals.start(opcode, operands.length + 3);
    globals.push(type);
    globals.push(0);
    for (let at = 0; at < operands.length; at++) globals.push(operands[at]!);
    return this.settle(start, 2, 0);
  }

  /** A constant that its type says all about. */
  private bareConstant(opcode: number, type: Id): Id {
    const { globals } = this;
    const start = globals.length;
    globals.start(opcode, 3);
    globals.push(type);
    globals.push(0);
    return this.settle(start, 2, 0);
  }

  /** An `OpConstant` of one word: most constants are. */
  private pooledWord(type: Id, word: number): Id {
    const { globals } = this;
    const start = globals.length;
    globals.start(Op.OpConstant, 4);
    globals.push(type);
    globals.push(0);
    globals.push(word);
    return this.settle(start, 2, 0);
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
    return this.shortType(Op.OpTypeVoid, -1, -1);
  }

  typeBool(): Id {
    return this.shortType(Op.OpTypeBool, -1, -1);
  }

  /** Widths other than 32 need their capability. */
  typeInt(width: 8 | 16 | 32 | 64 = 32, signed = true): Id {
    const id = this.shortType(Op.OpTypeInt, width, signed ? 1 : 0);
    if (this.fresh) this.scalars.push({ id, kind: "int", width });
    return id;
  }

  typeFloat(width: 16 | 32 | 64 = 32): Id {
    const id = this.shortType(Op.OpTypeFloat, width, -1);
    if (this.fresh) this.scalars.push({ id, kind: "float", width });
    return id;
  }

  typeVector(component: Id, count: number): Id {
    return this.shortType(Op.OpTypeVector, component, count);
  }

  /** `column` is a vector type of floats. */
  typeMatrix(column: Id, columns: number): Id {
    return this.shortType(Op.OpTypeMatrix, column, columns);
  }

  /** `length` is the id of an integer constant. With a stride the type is decorated and kept apart. */
  typeArray(element: Id, length: Id, strideBytes?: number): Id {
    const id = this.shortType(Op.OpTypeArray, element, length, strideBytes === undefined ? 0 : strideBytes + 1);
    if (this.fresh && strideBytes !== undefined) this.decorate(id, Decoration.ArrayStride, strideBytes);
    return id;
  }

  typeRuntimeArray(element: Id, strideBytes?: number): Id {
    const id = this.shortType(Op.OpTypeRuntimeArray, element, -1, strideBytes === undefined ? 0 : strideBytes + 1);
    if (this.fresh && strideBytes !== undefined) this.decorate(id, Decoration.ArrayStride, strideBytes);
    return id;
  }

  /** A new struct type at each call; with `key`, one for each (key, members), to be decorated by its first caller. */
  typeStruct(members: readonly Id[], key?: string): Id {
    if (key !== undefined) {
      this.structKeys ??= new Map();
      const layout = this.structKeys.get(key) ?? this.structKeys.size + 1;
      this.structKeys.set(key, layout);
      return this.pooledType(Op.OpTypeStruct, members, layout);
    }
    const id = this.id();
    const { globals } = this;
    globals.start(Op.OpTypeStruct, members.length + 2);
    globals.push(id);
    for (let at = 0; at < members.length; at++) globals.push(members[at]!);
    return id;
  }

  typePointer(storageClass: number, pointee: Id): Id {
    return this.shortType(Op.OpTypePointer, storageClass, pointee);
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
    if (parameters.length < 2) return this.shortType(Op.OpTypeFunction, returns, parameters[0] ?? -1);
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
    return this.shortType(Op.OpTypeSampler, -1, -1);
  }

  typeSampledImage(image: Id): Id {
    return this.shortType(Op.OpTypeSampledImage, image, -1);
  }

  constBool(value: boolean): Id {
    return this.bareConstant(value ? Op.OpConstantTrue : Op.OpConstantFalse, this.typeBool());
  }

  /** A 32-bit constant of GLSL's `int`. */
  constInt(value: number): Id {
    return this.constScalar(this.typeInt(32, true), value);
  }

  /** A 32-bit constant of GLSL's `uint`. */
  constUint(value: number): Id {
    if (this.uint === 0) this.uint = this.typeInt(32, false);
    return this.constScalar(this.uint, value);
  }

  /** A constant of any integer or float type of this module, rounded to it. */
  constScalar(type: Id, value: number | bigint): Id {
    const scalar = this.scalarOf(type);
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
    return this.bareConstant(Op.OpConstantNull, type);
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
    return this.bareConstant(Op.OpUndef, type);
  }

  private scalarOf(type: Id): Scalar | undefined {
    const { scalars } = this;
    for (let at = 0; at < scalars.length; at++) if (scalars[at]!.id === type) return scalars[at];
    return undefined;
  }

  private literal(type: Id, value: number | bigint): number[] {
    const scalar = this.scalarOf(type);
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
