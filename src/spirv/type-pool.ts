import { invariant } from "../base/index.ts";
import { Decoration, Op } from "./enums.ts";
import { doubleBits, floatBits, halfBits } from "./literals.ts";
import { WordBuffer } from "./word-buffer.ts";

/** A result id; ids count from 1. */
export type Id = number;

/** Buckets of the table of types and constants at first, a power of two, and its entries. */
const BUCKETS = 256;
const ENTRY_WORDS = 7;
const ENTRIES = 2 * BUCKETS;
/** Scalar types of a module that are noted; there are a dozen kinds. */
const SCALARS = 16;

/**
 * Types, constants and global variables of a module in the making, each type and constant once.
 * Types that carry layout decorations are one per layout: an array with a stride is another type than one without.
 */
export class TypePool {
  readonly globals = new WordBuffer(1024);
  readonly annotations = new WordBuffer(512);
  /**
   * Types and constants by a hash. An entry is seven numbers: the next entry of its bucket (0: none), opcode, two operands,
   * layout, id, bucket. Of an instruction with more operands the opcode is inverted, and the two numbers are its offset in
   * `globals` and the hash of its words. The first entry is none.
   */
  private buckets = new Int32Array(BUCKETS);
  private entries = new Int32Array(ENTRIES * ENTRY_WORDS);
  private entriesEnd = ENTRY_WORDS;
  /** Numbers of the keys of `typeStruct`. */
  private readonly structKeys = new Map<string, number>();
  /** Ids of the scalar types, and their widths: negative for floats. */
  private readonly scalarIds = new Int32Array(SCALARS);
  private readonly scalarWidths = new Int32Array(SCALARS);
  private scalarCount = 0;
  private int32: Id = 0;
  private uint32: Id = 0;
  private float32: Id = 0;
  private nextId = 1;
  /** Whether the last type or constant that was asked for was not there yet. */
  private fresh = false;

  /** Forgets everything, for another module. */
  protected resetPool(): void {
    this.globals.clear();
    this.annotations.clear();
    if (this.buckets.length === BUCKETS) {
      // few buckets are in use: clearing those is less than clearing all
      const { buckets, entries, entriesEnd } = this;
      for (let entry = ENTRY_WORDS; entry < entriesEnd; entry += ENTRY_WORDS) buckets[entries[entry + 6]!] = 0;
    } else {
      this.buckets = new Int32Array(BUCKETS);
      this.entries = new Int32Array(ENTRIES * ENTRY_WORDS);
    }
    this.entriesEnd = ENTRY_WORDS;
    if (this.structKeys.size > 0) this.structKeys.clear();
    this.scalarCount = 0;
    this.int32 = 0;
    this.uint32 = 0;
    this.float32 = 0;
    this.nextId = 1;
  }

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
    const at = annotations.open(Op.OpDecorate, operand === undefined ? 3 : 4);
    const { store } = annotations;
    store[at] = target;
    store[at + 1] = decoration;
    if (operand !== undefined) store[at + 2] = operand;
  }

  /** As `decorate`, for a member of a struct type. */
  memberDecorate(struct: Id, member: number, decoration: number, operand?: number): void {
    const { annotations } = this;
    const at = annotations.open(Op.OpMemberDecorate, operand === undefined ? 4 : 5);
    const { store } = annotations;
    store[at] = struct;
    store[at + 1] = member;
    store[at + 2] = decoration;
    if (operand !== undefined) store[at + 3] = operand;
  }

  /** The id of what these numbers say, or 0 where it is not there yet. */
  private find(hash: number, opcode: number, first: number, second: number, layout: number): Id {
    const { buckets, entries } = this;
    for (let entry = buckets[hash & (buckets.length - 1)]!; entry !== 0; entry = entries[entry]!) {
      if (entries[entry + 2] !== first || entries[entry + 3] !== second) continue;
      if (entries[entry + 1] === opcode && entries[entry + 4] === layout) return entries[entry + 5]!;
    }
    return 0;
  }

  private remember(hash: number, opcode: number, first: number, second: number, layout: number, id: Id): void {
    if (this.entriesEnd === this.entries.length) this.growTable();
    const { buckets, entries } = this;
    const entry = this.entriesEnd;
    this.entriesEnd += ENTRY_WORDS;
    const slot = hash & (buckets.length - 1);
    entries[entry] = buckets[slot]!;
    entries[entry + 1] = opcode;
    entries[entry + 2] = first;
    entries[entry + 3] = second;
    entries[entry + 4] = layout;
    entries[entry + 5] = id;
    entries[entry + 6] = slot;
    buckets[slot] = entry;
  }

  private growTable(): void {
    const held = this.entries;
    const entries = new Int32Array(4 * held.length);
    entries.set(held);
    const buckets = new Int32Array(4 * this.buckets.length);
    for (let entry = ENTRY_WORDS; entry < this.entriesEnd; entry += ENTRY_WORDS) {
      const opcode = entries[entry + 1]!;
      const first = entries[entry + 2]!;
      const second = entries[entry + 3]!;
      const hash = opcode < 0 ? second : hashOf(opcode, first, second, entries[entry + 4]!);
      const slot = hash & (buckets.length - 1);
      entries[entry] = buckets[slot]!;
      entries[entry + 6] = slot;
      buckets[slot] = entry;
    }
    this.buckets = buckets;
    this.entries = entries;
  }

  /**
   * The id of the instruction that was just written at `start` of `globals`, with 0 as the `idAt`th word where its id
   * belongs: that of an earlier one with the same words and layout, and it is taken back, or a new one.
   */
  private settle(opcode: number, start: number, idAt: number, layout: number): Id {
    const { globals, buckets, entries } = this;
    const count = globals.length - start;
    const hash = globals.hashFrom(start, start + idAt, layout);
    for (let entry = buckets[hash & (buckets.length - 1)]!; entry !== 0; entry = entries[entry]!) {
      if (entries[entry + 3] !== hash || entries[entry + 1] !== ~opcode || entries[entry + 4] !== layout) continue;
      if (!globals.sameWords(entries[entry + 2]!, start, count, idAt)) continue;
      globals.truncate(start);
      this.fresh = false;
      return entries[entry + 5]!;
    }
    const id = this.id();
    globals.store[start + idAt] = id;
    this.remember(hash, ~opcode, start, hash, layout, id);
    this.fresh = true;
    return id;
  }

  /** A type of up to two operands; a negative one is none. `layout` tells apart types of the same words; 0: none. */
  private shortType(opcode: number, first: number, second: number, layout = 0): Id {
    const hash = hashOf(opcode, first, second, layout);
    const known = this.find(hash, opcode, first, second, layout);
    this.fresh = known === 0;
    if (known !== 0) return known;
    const { globals } = this;
    const at = globals.open(opcode, second >= 0 ? 4 : first >= 0 ? 3 : 2);
    const { store } = globals;
    const id = this.id();
    store[at] = id;
    if (first >= 0) store[at + 1] = first;
    if (second >= 0) store[at + 2] = second;
    this.remember(hash, opcode, first, second, layout, id);
    return id;
  }

  private longType(opcode: number, operands: readonly number[], layout = 0): Id {
    const { globals } = this;
    const start = globals.length;
    const at = globals.open(opcode, operands.length + 2);
    const { store } = globals;
    store[at] = 0;
    for (let each = 0; each < operands.length; each++) store[at + 1 + each] = operands[each]!;
    return this.settle(opcode, start, 1, layout);
  }

  /** A constant of any words; one of one word is `wordConstant`. */
  private longConstant(opcode: number, type: Id, operands: readonly number[]): Id {
    const { globals } = this;
    const start = globals.length;
    const at = globals.open(opcode, operands.length + 3);
    const { store } = globals;
    store[at] = type;
    store[at + 1] = 0;
    for (let each = 0; each < operands.length; each++) store[at + 2 + each] = operands[each]!;
    return this.settle(opcode, start, 2, 0);
  }

  /** A constant that its type says all about. */
  private bareConstant(opcode: number, type: Id): Id {
    const hash = hashOf(opcode, type, -1, 0);
    const known = this.find(hash, opcode, type, -1, 0);
    if (known !== 0) return known;
    const id = this.id();
    const at = this.globals.open(opcode, 3);
    const { store } = this.globals;
    store[at] = type;
    store[at + 1] = id;
    this.remember(hash, opcode, type, -1, 0, id);
    return id;
  }

  /** An `OpConstant` of one word, given as a signed number: most constants are. */
  private wordConstant(type: Id, word: number): Id {
    const hash = hashOf(Op.OpConstant, type, word, 0);
    const known = this.find(hash, Op.OpConstant, type, word, 0);
    if (known !== 0) return known;
    const id = this.id();
    const at = this.globals.open(Op.OpConstant, 4);
    const { store } = this.globals;
    store[at] = type;
    store[at + 1] = id;
    store[at + 2] = word;
    this.remember(hash, Op.OpConstant, type, word, 0, id);
    return id;
  }

  private bitsConstant(type: Id, words: readonly number[]): Id {
    if (words.length === 1) return this.wordConstant(type, words[0]! | 0);
    return this.longConstant(Op.OpConstant, type, words);
  }

  private global(opcode: number, type: Id, operands: readonly number[]): Id {
    const id = this.id();
    const at = this.globals.open(opcode, operands.length + 3);
    const { store } = this.globals;
    store[at] = type;
    store[at + 1] = id;
    for (let each = 0; each < operands.length; each++) store[at + 2 + each] = operands[each]!;
    return id;
  }

  private noteScalar(id: Id, width: number): void {
    this.scalarIds[this.scalarCount] = id;
    this.scalarWidths[this.scalarCount++] = width;
  }

  typeVoid(): Id {
    return this.shortType(Op.OpTypeVoid, -1, -1);
  }

  typeBool(): Id {
    return this.shortType(Op.OpTypeBool, -1, -1);
  }

  /** Widths other than 32 need their capability. */
  typeInt(width: 8 | 16 | 32 | 64 = 32, signed = true): Id {
    if (width === 32) {
      const known = signed ? this.int32 : this.uint32;
      if (known !== 0) return known;
    }
    const id = this.shortType(Op.OpTypeInt, width, signed ? 1 : 0);
    if (this.fresh) this.noteScalar(id, width);
    if (width === 32) {
      if (signed) this.int32 = id;
      else this.uint32 = id;
    }
    return id;
  }

  typeFloat(width: 16 | 32 | 64 = 32): Id {
    if (width === 32 && this.float32 !== 0) return this.float32;
    const id = this.shortType(Op.OpTypeFloat, width, -1);
    if (this.fresh) this.noteScalar(id, -width);
    if (width === 32) this.float32 = id;
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
    const id = this.shortType(Op.OpTypeArray, element, length, strideBytes === undefined ? 0 : (strideBytes + 1) | 0);
    if (this.fresh && strideBytes !== undefined) this.decorate(id, Decoration.ArrayStride, strideBytes);
    return id;
  }

  typeRuntimeArray(element: Id, strideBytes?: number): Id {
    const id = this.shortType(
      Op.OpTypeRuntimeArray,
      element,
      -1,
      strideBytes === undefined ? 0 : (strideBytes + 1) | 0,
    );
    if (this.fresh && strideBytes !== undefined) this.decorate(id, Decoration.ArrayStride, strideBytes);
    return id;
  }

  /** A new struct type at each call; with `key`, one for each (key, members), to be decorated by its first caller. */
  typeStruct(members: readonly Id[], key?: string): Id {
    if (key !== undefined) {
      const layout = this.structKeys.get(key) ?? this.structKeys.size + 1;
      this.structKeys.set(key, layout);
      return this.longType(Op.OpTypeStruct, members, layout);
    }
    const id = this.id();
    const at = this.globals.open(Op.OpTypeStruct, members.length + 2);
    const { store } = this.globals;
    store[at] = id;
    for (let each = 0; each < members.length; each++) store[at + 1 + each] = members[each]!;
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
    return this.longType(Op.OpTypeFunction, [returns, ...parameters]);
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
    return this.longType(Op.OpTypeImage, operands);
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
    return this.wordConstant(this.typeInt(32, true), value | 0);
  }

  /** A 32-bit constant of GLSL's `uint`. */
  constUint(value: number): Id {
    return this.wordConstant(this.typeInt(32, false), value | 0);
  }

  /** A constant of any integer or float type of this module, rounded to it. */
  constScalar(type: Id, value: number | bigint): Id {
    if (typeof value === "number") {
      if (type === this.float32) return this.wordConstant(type, floatBits(value) | 0);
      if ((type === this.int32 || type === this.uint32) && Number.isInteger(value)) {
        return this.wordConstant(type, value | 0);
      }
    }
    return this.bitsConstant(type, this.literal(type, value));
  }

  /** A constant from its literal words: exact bits, NaNs included. */
  constBits(type: Id, ...words: readonly number[]): Id {
    return this.bitsConstant(type, words);
  }

  constComposite(type: Id, parts: readonly Id[]): Id {
    return this.longConstant(Op.OpConstantComposite, type, parts);
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
    return this.longConstant(Op.OpSpecConstantOp, type, [opcode, ...operands]);
  }

  undef(type: Id): Id {
    return this.bareConstant(Op.OpUndef, type);
  }

  private literal(type: Id, value: number | bigint): number[] {
    let at = 0;
    while (at < this.scalarCount && this.scalarIds[at] !== type) at++;
    invariant(at < this.scalarCount, `type ${type} is no scalar of this module`);
    const width = this.scalarWidths[at]!;
    if (width < 0) {
      const real = Number(value);
      if (width === -64) return doubleBits(real);
      return [width === -32 ? floatBits(real) : halfBits(real)];
    }
    if (width !== 64 && typeof value === "number" && Number.isInteger(value)) return [value >>> 0];
    const bits = BigInt.asUintN(64, BigInt(value));
    if (width === 64) return [Number(bits & 0xffffffffn), Number(bits >> 32n)];
    // narrow literals fill their word by sign extension where the type is signed, which the caller's sign already says
    return [Number(bits & 0xffffffffn)];
  }
}

/** A hash of up to four numbers: FNV-1a by numbers instead of bytes, its high bits mixed down. */
function hashOf(opcode: number, first: number, second: number, layout: number): number {
  let hash = Math.imul(opcode ^ layout, 0x01000193) ^ first;
  hash = Math.imul(hash, 0x01000193) ^ second;
  hash = Math.imul(hash, 0x85ebca6b);
  return hash ^ (hash >>> 15);
}
