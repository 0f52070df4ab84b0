/**
 * Which local variables live in scratch memory: those of many scalars that some index reaches which is no constant of the
 * module. Fewer scalars become values of their own and an index a chain of selects, which costs less than memory. The
 * module's access chains are looked through once, when its first large local variable is declared.
 */
import { Fail, fail, spend, U32Column } from "../../base/index.ts";
import { SpvOp } from "../../gen/spirv.ts";
import { Option, option, words } from "../io.ts";
import { privateBytes, setPrivateBytes } from "../ir/index.ts";
import { PASS_BASE } from "../memory-map.ts";
import { idAt, idLeaf, idType, MAX_IDS, typeA, typeAlign, typeB, typeKind, typeLeaves, typeSize } from "./ids.ts";
import { partType, TypeKind } from "./types.ts";

/** Scalars up to which a variable stays out of scratch memory. */
const MAX_SCALARS: u32 = 64;
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

let looked = false;
/** Some function indexes what it is given. */
let parameterIndexed = false;

export function resetScratch(): void {
  looked = false;
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
      case SpvOp.OpConstant:
      case SpvOp.OpConstantNull:
      case SpvOp.OpSpecConstant:
      case SpvOp.OpSpecConstantOp:
        if (count > 2) facts[idAt(at + 2)] = CONSTANT;
        break;
      case SpvOp.OpVariable:
      case SpvOp.OpFunctionParameter:
        if (count < 3) break;
        root[idAt(at + 2)] = idAt(at + 2);
        if (op == SpvOp.OpFunctionParameter) facts[idAt(at + 2)] = PARAMETER;
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
        break;
    }
    at += count;
  }
  for (let id: u32 = 0; id < words[3]; id++) {
    if ((facts[id] & (PARAMETER | INDEXED)) == (PARAMETER | INDEXED)) parameterIndexed = true;
  }
}
/** Scalars of known sizes all the way down, nothing that is a pointer or an image. Types nest at most 64 deep. */
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
