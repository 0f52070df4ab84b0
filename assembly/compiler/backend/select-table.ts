/** Loads from the tables of constants behind the code. Offsets lie inside: the lifter has seen to that. */
import { Op as Isa } from "../../gen/isa-ops.ts";
import { componentsOf, constBits, imm, isConst, src } from "../ir/index.ts";
import { constantOperand, inSgpr, inVgpr, raw, valuNew } from "./build.ts";
import { classOf, ValueClass } from "./classes.ts";
import { mDst0, mImm, mSrc0, mSrc2 } from "./columns.ts";
import { tablePair } from "./descriptors.ts";
import { globalLoadOp } from "./select-global.ts";
import { scalarLoad, slice } from "./select-memory.ts";
import { define, operandOf } from "./values.ts";

/** Immediates of global loads have 12 bits with a sign. */
const IMM_MAX: u32 = 2047;

export function selectTableLoad(i: u32): void {
  const pair = tablePair();
  const offset = src(i, 0);
  const base = imm(i, 0);
  // At most 64 KiB: the immediate has room.
  if (classOf(i) == ValueClass.SGPR) {
    if (isConst(offset)) scalarLoad(i, false, pair, 0, base + constBits(offset));
    else scalarLoad(i, false, pair, inSgpr(operandOf(offset)), base);
    return;
  }
  const count = componentsOf(i);
  const far = base + 4 * count > IMM_MAX;
  const lanes = far
    ? valuNew(Isa.v_add_nc_u32_e64, operandOf(offset), constantOperand(base), 0)
    : inVgpr(operandOf(offset));
  const dst = define(i);
  for (let done: u32 = 0; done < count; done += 4) {
    const part = min<u32>(4, count - done);
    const j = raw(globalLoadOp(part));
    mDst0[j] = slice(dst, done, part);
    mSrc0[j] = lanes;
    mSrc2[j] = pair;
    mImm[j] = (far ? 0 : base) + done * 4;
  }
}
