/** Accesses to the invocation's scratch memory, whose lanes the hardware interleaves. Source: RDNA2 ISA, scratch. */
import { Op as Isa } from "../../gen/isa-ops.ts";
import { componentsOf, constBits, imm, isConst, src } from "../ir/index.ts";
import { constantOperand, inSgpr, inVgpr, raw, saluNew, valuNew } from "./build.ts";
import { mDst0, mImm, mSrc0, mSrc1, mSrc2 } from "./columns.ts";
import { storedHigh } from "./half-patterns.ts";
import { isScalarOperand, operandSize } from "./machine.ts";
import { dataOperand, slice } from "./select-memory.ts";
import { scratchOp } from "./spill.ts";
import { define, operandOf } from "./values.ts";

/** Immediates have 12 bits with a sign. */
const IMM_MAX: u32 = 2047;

// What `address` found: a VGPR or an SGPR or neither, and the immediate.
let lanes: u32 = 0;
let scalar: u32 = 0;
let immediate: u32 = 0;

/** Offset source and base of an access of `count` words. There is no form with both a VGPR and an SGPR. */
function address(offset: u32, base: u32, count: u32): void {
  lanes = 0;
  scalar = 0;
  const room = ((count - 1) & ~3) << 2;
  if (isConst(offset)) {
    const at = base + constBits(offset);
    const far = at + room > IMM_MAX;
    if (far) scalar = saluNew(Isa.s_mov_b32, constantOperand(at & ~IMM_MAX), 0);
    immediate = far ? at & IMM_MAX : at;
    if (immediate + room <= IMM_MAX) return;
    scalar = saluNew(Isa.s_mov_b32, constantOperand(at), 0);
    immediate = 0;
    return;
  }
  const operand = operandOf(offset);
  const far = base + room > IMM_MAX;
  immediate = far ? 0 : base;
  if (isScalarOperand(operand)) {
    scalar = far ? saluNew(Isa.s_add_u32, operand, constantOperand(base)) : inSgpr(operand);
    return;
  }
  lanes = far ? valuNew(Isa.v_add_nc_u32_e64, operand, constantOperand(base), 0) : inVgpr(operand);
}

function access(op: u32, more: u32): u32 {
  const i = raw(op);
  mSrc0[i] = lanes;
  mSrc2[i] = scalar;
  mImm[i] = immediate + more;
  return i;
}

export function selectScratchLoad(i: u32): void {
  const count = componentsOf(i);
  address(src(i, 0), imm(i, 0), count);
  const dst = define(i);
  if (imm(i, 1) != 0) {
    mDst0[access(imm(i, 1) == 8 ? Isa.scratch_load_ubyte : Isa.scratch_load_ushort, 0)] = dst;
    return;
  }
  for (let done: u32 = 0; done < count; done += 4) {
    const part = min<u32>(4, count - done);
    mDst0[access(scratchOp(false, part), done * 4)] = slice(dst, done, part);
  }
}

export function selectScratchStore(i: u32): void {
  const word = imm(i, 1) == 16 ? storedHigh(src(i, 0)) : 0;
  const data = dataOperand(word != 0 ? word : src(i, 0));
  const count = operandSize(data);
  address(src(i, 1), imm(i, 0), count);
  if (imm(i, 1) != 0) {
    let op: u32 = imm(i, 1) == 8 ? Isa.scratch_store_byte : Isa.scratch_store_short;
    if (word != 0) op = Isa.scratch_store_short_d16_hi;
    mSrc1[access(op, 0)] = data;
    return;
  }
  for (let done: u32 = 0; done < count; done += 4) {
    const part = min<u32>(4, count - done);
    mSrc1[access(scratchOp(true, part), done * 4)] = slice(data, done, part);
  }
}
