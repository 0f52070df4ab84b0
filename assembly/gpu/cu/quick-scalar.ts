/** Quick scalar instructions: 32-bit results in one register, sources anywhere in the scalar file. */
import { Rec, Wave } from "../layout.ts";
import { Quick, Shape } from "./quick.ts";

class Scalar {
  @inline
  static put(d: usize, value: u32): void {
    store<u32>(d, value);
  }

  /** A result whose SCC is "not 0". */
  @inline
  static logic(w: usize, d: usize, value: u32): void {
    store<u32>(d, value);
    store<u32>(w, value != 0 ? 1 : 0, Wave.SCC);
  }

  @inline
  static scc(w: usize, value: bool): void {
    store<u32>(w, value ? 1 : 0, Wave.SCC);
  }

  /** The old EXEC goes to `d` first. */
  @inline
  static saveExec(w: usize, d: usize, value: u32): void {
    store<u32>(d, load<u32>(w, Wave.EXEC));
    store<u32>(w, value, Wave.EXEC);
    store<u32>(w, value != 0 ? 1 : 0, Wave.SCC);
  }
}

/** Inlined into the loop, whose variables then stay in registers. */
export class QuickScalar {
  /** Runs one instruction of the wave at slot `w`. */
  @inline
  static run(w: usize, rec: usize, quick: u32): void {
    if (<u32>load<u8>(rec, Rec.SHAPE) & Shape.LITERAL) store<u32>(w, load<u32>(rec, Rec.EXTRA), Wave.LITERAL);
    const x = load<u32>(w + <usize>load<u16>(rec, Rec.SRC0));
    const y = load<u32>(w + <usize>load<u16>(rec, Rec.SRC1));
    const d = w + ((<usize>load<u16>(rec, Rec.DST)) << 2) + Wave.SCALARS;
    switch (quick) {
      case Quick.S_MOV:
        Scalar.put(d, x);
        return;
      case Quick.S_MOVK:
        Scalar.put(d, load<u32>(rec, Rec.IMM));
        return;
      case Quick.S_ADD_U32: {
        const sum = x + y;
        Scalar.put(d, sum);
        Scalar.scc(w, sum < x);
        return;
      }
      case Quick.S_ADD_I32: {
        const sum = x + y;
        Scalar.put(d, sum);
        Scalar.scc(w, ((x ^ sum) & (y ^ sum)) >> 31 != 0);
        return;
      }
      case Quick.S_SUB_U32:
        Scalar.put(d, x - y);
        Scalar.scc(w, x < y);
        return;
      case Quick.S_MUL:
        Scalar.put(d, x * y);
        return;
      case Quick.S_LSHL:
        Scalar.logic(w, d, x << (y & 31));
        return;
      case Quick.S_LSHR:
        Scalar.logic(w, d, x >> (y & 31));
        return;
      case Quick.S_AND:
        Scalar.logic(w, d, x & y);
        return;
      case Quick.S_OR:
        Scalar.logic(w, d, x | y);
        return;
      case Quick.S_XOR:
        Scalar.logic(w, d, x ^ y);
        return;
      case Quick.S_ANDN2:
        Scalar.logic(w, d, x & ~y);
        return;
      case Quick.S_CSELECT:
        Scalar.put(d, load<u32>(w, Wave.SCC) ? x : y);
        return;
      case Quick.S_EQ:
        Scalar.scc(w, x == y);
        return;
      case Quick.S_LG:
        Scalar.scc(w, x != y);
        return;
      case Quick.S_GT_I:
        Scalar.scc(w, <i32>x > <i32>y);
        return;
      case Quick.S_GE_I:
        Scalar.scc(w, <i32>x >= <i32>y);
        return;
      case Quick.S_LT_I:
        Scalar.scc(w, <i32>x < <i32>y);
        return;
      case Quick.S_LE_I:
        Scalar.scc(w, <i32>x <= <i32>y);
        return;
      case Quick.S_GT_U:
        Scalar.scc(w, x > y);
        return;
      case Quick.S_GE_U:
        Scalar.scc(w, x >= y);
        return;
      case Quick.S_LT_U:
        Scalar.scc(w, x < y);
        return;
      case Quick.S_LE_U:
        Scalar.scc(w, x <= y);
        return;
      case Quick.S_AND_SAVEEXEC:
        Scalar.saveExec(w, d, x & load<u32>(w, Wave.EXEC));
        return;
      case Quick.S_ANDN1_SAVEEXEC:
        Scalar.saveExec(w, d, ~x & load<u32>(w, Wave.EXEC));
        return;
      default:
        Scalar.saveExec(w, d, x | load<u32>(w, Wave.EXEC));
        return;
    }
  }
}
