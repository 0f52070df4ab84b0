/**
 * Which local variables live in memory: those of many scalars that some index reaches which is no constant of the module.
 * One that never has another value than a constant is a table behind the code; others are in the invocation's scratch
 * memory. Fewer scalars become values of their own and an index a chain of selects, which costs less than memory. The
 * module is looked through once, when its first variable of some size is declared.
 */
import { Fail, fail, spend, U32Column } from "../../base/index.ts";
import { SpvOp } from "../../gen/spirv.ts";
import { Option, option, words } from "../io.ts";
import { MAX_TABLE_WORDS, privateBytes, setPrivateBytes } from "../ir/index.ts";
import { PASS_BASE } from "../memory-map.ts";
import { idAt, idLeaf, idType, MAX_IDS, typeA, typeAlign, typeB, typeKind, typeLeaves, typeSize } from "./ids.ts";
import { partType, TypeKind } from "./types.ts";

/** Scalars up to which a variable stays out of scratch memory. */
const MAX_SCALARS: u32 = 64;
/** Scalars up to which a constant is selected from rather than loaded. */
const MAX_SELECTED: u32 = 8;
/** COMPUTE_TMPRING_SIZE has 13 bits of KiB a wave: 8 MiB, 256 KiB a lane of 32; half is left to spilling. */
const MAX_SCRATCH_BYTES: u32 = 1 << 17;

/** By id: the variable or parameter that a pointer stands for. Passes have not run yet: their columns are free. */
const root = changetype<U32Column>(PASS_BASE);
/** By id: bits below. */
const facts = changetype<U32Column>(PASS_BASE + ((<usize>MAX_IDS + 16) << 2));
const CONSTANT: u32 = 1;
/** Reached with an index that is no constant. */
const INDEXED: u32 = 2;
/** Given to a function. */
const PASSED: u32 = 4;
/** Is a function's parameter. */
const PARAMETER: u32 = 8;
/** A composite or boolean constant: what a table is filled from. */
const COMPOSITE: u32 = 16;
/** A constant is stored to the whole variable: `given`. */
const STORED: u32 = 32;
/** Stored to or handed on otherwise. */
const OTHERWISE: u32 = 64;
/** By id: the constant that is stored to the whole variable. */
const given = changetype<U32Column>(PASS_BASE + (((<usize>MAX_IDS + 16) << 2) << 1));
/** Bytes of the variables that became tables. */
let planned: u32 = 0;

let looked = false;
/** Some function indexes what it is given. */
let parameterIndexed = false;

export function resetScratch(): void {
  looked = false;
  planned = 0;
  parameterIndexed = false;
}

function chain(at: u32, count: u32): void {
  const from = root[idAt(at + 3)];
  root[idAt(at + 2)] = from;
  if (from == 0) return;
  for (let k: u32 = 4; k < count; k++) {
    if ((facts[idAt(at + k)] & CONSTANT) == 0) facts[from] = facts[from] | INDEXED;
  }
}

/** A store: a table's only one is a constant's to all of it. */
function stored(pointer: u32, value: u32): void {
  const variable = root[pointer];
  if (root[value] != 0) facts[root[value]] = facts[root[value]] | OTHERWISE;
  if (variable == 0) return;
  const known = facts[variable];
  const whole = variable == pointer && (facts[value] & COMPOSITE) != 0;
  if (!whole || ((known & STORED) != 0 && given[variable] != value)) {
    facts[variable] = known | OTHERWISE;
    return;
  }
  given[variable] = value;
  facts[variable] = known | STORED;
}

/** Variables among the operands of an instruction that does what this file does not know; numbers may look like them. */
function handedOn(at: u32, count: u32): void {
  const bound = words[3];
  for (let k: u32 = 1; k < count && spend(1); k++) {
    const id = words[at + k];
    if (id < bound && root[id] != 0) facts[root[id]] = facts[root[id]] | OTHERWISE;
  }
}

/** Fills the columns from the whole module. Words that are no instruction end it: the lifter fails at them. */
function look(): void {
  looked = true;
  const total = option(Option.WORD_COUNT);
  for (let id: u32 = 0; id < words[3]; id++) {
    root[id] = 0;
    facts[id] = 0;
  }
  for (let at: u32 = 5; at < total && spend(1); ) {
    const op = words[at] & 0xffff;
    const count = words[at] >> 16;
    if (count == 0 || at + count > total) return;
    switch (op) {
      case SpvOp.OpConstantTrue:
      case SpvOp.OpConstantFalse:
      case SpvOp.OpConstantComposite:
        if (count > 2) facts[idAt(at + 2)] = COMPOSITE;
        break;
      case SpvOp.OpConstantNull:
        if (count > 2) facts[idAt(at + 2)] = CONSTANT | COMPOSITE;
        break;
      case SpvOp.OpConstant:
      case SpvOp.OpSpecConstant:
      case SpvOp.OpSpecConstantOp:
        if (count > 2) facts[idAt(at + 2)] = CONSTANT;
        break;
      case SpvOp.OpVariable:
      case SpvOp.OpFunctionParameter:
        if (count < 3) break;
        root[idAt(at + 2)] = idAt(at + 2);
        if (op == SpvOp.OpFunctionParameter) facts[idAt(at + 2)] = PARAMETER;
        else if (count > 4) stored(idAt(at + 2), idAt(at + 4));
        break;
      case SpvOp.OpLine:
      case SpvOp.OpLoad:
        break;
      case SpvOp.OpStore:
        if (count > 2) stored(idAt(at + 1), idAt(at + 2));
        break;
      case SpvOp.OpAccessChain:
      case SpvOp.OpInBoundsAccessChain:
        if (count > 3) chain(at, count);
        break;
      case SpvOp.OpCopyObject:
        if (count > 3) root[idAt(at + 2)] = root[idAt(at + 3)];
        break;
      case SpvOp.OpFunctionCall:
        for (let k: u32 = 4; k < count; k++) {
          const given = root[idAt(at + k)];
          if (given != 0) facts[given] = facts[given] | PASSED;
        }
        break;
      default:
        handedOn(at, count);
        break;
    }
    at += count;
  }
  for (let id: u32 = 0; id < words[3]; id++) {
    if ((facts[id] & (PARAMETER | INDEXED)) == (PARAMETER | INDEXED)) parameterIndexed = true;
  }
}
/** Scalars of known sizes all the way down, nothing that is a pointer or an image. Types nest at most 512 deep (`types.ts`). */
function holdsScalars(type: u32): bool {
  const kind = typeKind[type];
  if (kind == TypeKind.BOOL || kind == TypeKind.INT || kind == TypeKind.FLOAT) return true;
  if (kind == TypeKind.STRUCT) {
    for (let m: u32 = 0; m < typeB[type]; m++) if (!holdsScalars(partType(type, m))) return false;
    return true;
  }
  if (kind != TypeKind.VECTOR && kind != TypeKind.MATRIX && kind != TypeKind.ARRAY) return false;
  return holdsScalars(typeA[type]);
}

/** Words, and nothing smaller. */
function holdsWords(type: u32): bool {
  const kind = typeKind[type];
  if (kind == TypeKind.BOOL) return true;
  if (kind == TypeKind.INT || kind == TypeKind.FLOAT) return typeA[type] >= 32;
  if (kind == TypeKind.STRUCT) {
    for (let m: u32 = 0; m < typeB[type]; m++) if (!holdsWords(partType(type, m))) return false;
    return true;
  }
  return holdsWords(typeA[type]);
}

/**
 * Whether the local variable of this type is a table: it never has another value than one constant, and an index that is
 * no constant reaches it. Its words then stand behind the code.
 */
export function inTable(variable: u32, type: u32): bool {
  if (typeLeaves[type] <= MAX_SELECTED || typeB[type] == 0 || !holdsScalars(type) || !holdsWords(type)) return false;
  if (!looked) look();
  if ((facts[variable] & (INDEXED | STORED | OTHERWISE | PASSED)) != (INDEXED | STORED)) return false;
  const end = <u64>planned + typeSize[type] + 16;
  if (end > <u64>MAX_TABLE_WORDS * 4) return false;
  planned = <u32>end;
  return true;
}

/** The constant that a table is filled from. */
export function tableConstant(variable: u32): u32 {
  return given[variable];
}

/** Whether the local variable of this type goes to scratch memory. */
export function inScratch(variable: u32, type: u32): bool {
  if (typeLeaves[type] <= MAX_SCALARS || typeB[type] == 0 || !holdsScalars(type)) return false;
  if (!looked) look();
  const known = facts[variable];
  return (known & INDEXED) != 0 || ((known & PASSED) != 0 && parameterIndexed);
}

/** Byte offset of a variable in scratch memory, assigned at its first use; it keeps it when its function is inlined again. */
export function scratchBase(variable: u32): u32 {
  if (idLeaf[variable] != 0) return idLeaf[variable] - 1;
  const type = idType[variable];
  const align = max<u32>(typeAlign[type], 4);
  const start = (privateBytes() + align - 1) & ~(align - 1);
  const end = (<u64>start + typeSize[type] + 3) & ~3;
  if (end > <u64>MAX_SCRATCH_BYTES) {
    fail(Fail.LIMIT, 16, end > 0xffff_ffff ? 0xffff_ffff : <u32>end, MAX_SCRATCH_BYTES);
    return 0;
  }
  setPrivateBytes(<u32>end);
  idLeaf[variable] = start + 1;
  return start;
}
