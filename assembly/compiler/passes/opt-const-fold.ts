/**
 * Computes instructions whose sources are all constants, by the fold expressions of the op rows (exact IEEE f32 and
 * integer arithmetic only; a NaN becomes 0x7fc00000). An undefined source is 0 to them, as it is to the back end; two
 * undefined words packed for export stay undefined. Of what the hardware gives within an ulp only reciprocals are computed.
 * f64: `fold-double.ts`.
 * `iadd 2, 3` → `const 5`. O(instructions).
 */
import { spend } from "../../base/index.ts";
import { foldOp, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  componentsOf,
  constant,
  constantBool,
  constBits,
  entryBlock,
  firstInstr,
  imm,
  isConst,
  nextBlock,
  nextInstr,
  opOf,
  replaceUses,
  setSrc,
  src,
  srcCount,
  tableWord,
  tableWords,
  useCount,
  widthOf,
} from "../ir/index.ts";
import { foldDouble } from "./fold-double.ts";

function isUndef(v: u32): bool {
  return opOf(v) == Op.UNDEF;
}

/** A word of a table at an offset that is known: all of it, or what a reader takes. */
function foldTable(i: u32): bool {
  const isPart = opOf(i) == Op.EXTRACT;
  const load = isPart ? src(i, 0) : i;
  if (opOf(load) != Op.LOAD_TABLE || (!isPart && componentsOf(load) != 1) || !isConst(src(load, 0))) return false;
  const word = ((constBits(src(load, 0)) + imm(load, 0)) >> 2) + (isPart ? imm(i, 0) : 0);
  if (word >= tableWords()) return false;
  replaceUses(i, constant(tableWord[word]));
  return true;
}

/** Neither 0 nor denormal, infinite or NaN. */
function isNormal(bits: u32): bool {
  const exponent = (bits >> 23) & 0xff;
  return exponent != 0 && exponent != 0xff;
}

/** A reciprocal, which the hardware gives within 1 ulp, rounded to the nearest; not where denormals take part. */
function foldReciprocal(i: u32): bool {
  if (!isConst(src(i, 0)) || !isNormal(constBits(src(i, 0)))) return false;
  const bits = reinterpret<u32>(<f32>1 / reinterpret<f32>(constBits(src(i, 0))));
  if (!isNormal(bits)) return false;
  replaceUses(i, constant(bits));
  return true;
}

export function optConstFold(): bool {
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      const op = opOf(i);
      if (op == Op.LOAD_TABLE || op == Op.EXTRACT) {
        if (useCount(i) > 0 && foldTable(i)) progress = true;
        continue;
      }
      if (useCount(i) == 0) continue;
      if (op == Op.FRCP && foldReciprocal(i)) progress = true;
      if (op >= <u32>Op.DADD && op <= <u32>Op.DGE && foldDouble(i, op)) progress = true;
      if ((opFlags(op) & OpFlag.FOLDABLE) == 0) continue;
      const count = srcCount(i);
      if (op >= <u32>Op.PACK_HALF_RTZ && op <= <u32>Op.PACK_SINT16 && isUndef(src(i, 0)) && isUndef(src(i, 1))) {
        replaceUses(i, src(i, 0));
        progress = true;
        continue;
      }
      let known = true;
      for (let k: u32 = 0; k < count; k++) {
        const v = src(i, k);
        const from = opOf(v);
        if (from == Op.CONST) continue;
        if (from != Op.UNDEF) {
          known = false;
          continue;
        }
        setSrc(i, k, widthOf(v) == 1 ? constantBool(false) : constant(0));
        progress = true;
      }
      if (!known) continue;
      const x = constBits(src(i, 0));
      const y = count > 1 ? constBits(src(i, 1)) : 0;
      const z = count > 2 ? constBits(src(i, 2)) : 0;
      const bits = foldOp(op, x, y, z);
      replaceUses(i, widthOf(i) == 1 ? constantBool((bits & 1) != 0) : constant(bits));
      progress = true;
    }
  }
  return progress;
}
