/** Quick vector instructions: straight code over whole rows, under the lane mask where not all lanes are active. */
import { Rec, Wave } from "../layout.ts";
import { Quick, Shape } from "./quick.ts";
import { Row } from "./row.ts";
import {
  Add,
  Add3,
  AddF,
  AddShift,
  And,
  EqF,
  EqI,
  FloatOfSigned,
  FloatOfUnsigned,
  Fma,
  FmaMinus,
  Fms,
  LeF,
  LeI,
  LeU,
  LtF,
  LtI,
  LtU,
  Mad24,
  MaxF,
  MinF,
  Mov,
  Mul,
  MulF,
  Not,
  Or,
  Rsq,
  ShiftAdd,
  ShiftLeft,
  ShiftOr,
  ShiftRight,
  ShiftRightSigned,
  Sub,
  SubF,
  Xor,
} from "./row-ops.ts";
import { maskRow, TEMP_SPLAT } from "./wave.ts";

/** Lane bit ? b : a, under the mask. */
function select(d: usize, a: usize, sa: usize, b: usize, sb: usize, bits: u32, m: usize): void {
  const bit = i32x4(1, 2, 4, 8);
  for (let i: usize = 0; i < 128; i += 16) {
    const wanted = i32x4.eq(v128.and(i32x4.splat(bits), bit), bit);
    Row.blend(d + i, v128.bitselect(v128.load(b), v128.load(a), wanted), m + i);
    a += sa;
    b += sb;
    bits >>= 4;
  }
}

function splat(at: usize, k: usize): usize {
  const place = TEMP_SPLAT + (k << 4);
  v128.store(place, v128.load32_splat(at));
  return place;
}

/** Inlined into the loop, whose variables then stay in registers. */
export class QuickVector {
  /** Runs one instruction of the wave at slot `w`, which is not a comparison. */
  @inline
  static run(w: usize, rec: usize, quick: u32): void {
    const lanes = load<u32>(w, Wave.EXEC);
    const shape = <u32>load<u8>(rec, Rec.SHAPE);
    if (lanes == 0xffffffff) {
      if (shape == 0 ? QuickVector.ofRows(w, rec, quick) : QuickVector.withScalar(w, rec, quick, shape)) return;
    } else if (lanes == 0) return;
    QuickVector.masked(w, rec, quick, shape);
  }

  /** Full rows in, all lanes active. False where there is no such form. */
  @inline
  static ofRows(w: usize, rec: usize, quick: u32): bool {
    const a = w + <usize>load<u16>(rec, Rec.SRC0);
    const b = w + <usize>load<u16>(rec, Rec.SRC1);
    const d = w + ((<usize>load<u16>(rec, Rec.DST)) << 7) + Wave.VGPR_FILE;
    let sum = f32x4.splat(0);
    switch (quick) {
      case Quick.MOV:
        Row.one<Mov>(d, a);
        return true;
      case Quick.AND:
        Row.two<And>(d, a, b);
        return true;
      case Quick.ADD:
        Row.two<Add>(d, a, b);
        return true;
      case Quick.MUL:
        Row.two<Mul>(d, a, b);
        return true;
      case Quick.ADD_F:
        sum = Row.two<AddF>(d, a, b);
        break;
      case Quick.SUB_F:
        sum = Row.two<SubF>(d, a, b);
        break;
      case Quick.MUL_F:
        sum = Row.two<MulF>(d, a, b);
        break;
      case Quick.FMA:
        sum = Row.three<Fma>(d, a, b, w + <usize>load<u16>(rec, Rec.SRC2));
        break;
      case Quick.FMS:
        sum = Row.three<Fms>(d, a, b, w + <usize>load<u16>(rec, Rec.SRC2));
        break;
      case Quick.RSQ:
        Row.one<Rsq>(d, a);
        return true;
      default:
        return false;
    }
    if (v128.any_true(f32x4.ne(sum, sum))) Row.mendNans(d, maskRow());
    return true;
  }

  /** One source is a scalar, the others full rows, all lanes active. False where there is no such form. */
  @inline
  static withScalar(w: usize, rec: usize, quick: u32, shape: u32): bool {
    if (shape & Shape.LITERAL) store<u32>(w, load<u32>(rec, Rec.EXTRA), Wave.LITERAL);
    const a = w + <usize>load<u16>(rec, Rec.SRC0);
    const b = w + <usize>load<u16>(rec, Rec.SRC1);
    const c = w + <usize>load<u16>(rec, Rec.SRC2);
    const d = w + ((<usize>load<u16>(rec, Rec.DST)) << 7) + Wave.VGPR_FILE;
    const which = shape & (Shape.SCALAR0 | Shape.SCALAR1 | Shape.SCALAR2);
    if (which != Shape.SCALAR0) {
      if (which == Shape.SCALAR1 && quick == Quick.SHL_ADD) Row.scaled<ShiftAdd>(d, a, c, load<i32>(b));
      else if (which == Shape.SCALAR2 && quick == Quick.ADD_SHL) Row.scaled<AddShift>(d, a, b, load<i32>(c));
      else if (which == (Shape.SCALAR0 | Shape.SCALAR2) && quick == Quick.ADD_SHL)
        Row.scaledSplat<AddShift>(d, v128.load32_splat(a), b, load<i32>(c));
      else return false;
      return true;
    }
    const s = v128.load32_splat(a);
    let sum = f32x4.splat(0);
    switch (quick) {
      case Quick.MOV:
        for (let i: usize = 0; i < 128; i += 16) v128.store(d + i, s);
        return true;
      case Quick.AND:
        Row.twoSplat<And>(d, s, b);
        return true;
      case Quick.ADD:
        Row.twoSplat<Add>(d, s, b);
        return true;
      case Quick.MUL:
        Row.twoSplat<Mul>(d, s, b);
        return true;
      case Quick.SHL:
        Row.scaled<ShiftLeft>(d, b, b, load<i32>(a));
        return true;
      case Quick.ADD_F:
        sum = Row.twoSplat<AddF>(d, s, b);
        break;
      case Quick.SUB_F:
        sum = Row.twoSplat<SubF>(d, s, b);
        break;
      case Quick.MUL_F:
        sum = Row.twoSplat<MulF>(d, s, b);
        break;
      case Quick.FMA:
        sum = Row.threeSplat<Fma>(d, s, b, c);
        break;
      default:
        return false;
    }
    if (v128.any_true(f32x4.ne(sum, sum))) Row.mendNans(d, maskRow());
    return true;
  }

  /** Any quick instruction under the lane mask. */
  static masked(w: usize, rec: usize, quick: u32, shape: u32): void {
    let a = w + <usize>load<u16>(rec, Rec.SRC0);
    let b = w + <usize>load<u16>(rec, Rec.SRC1);
    let c = w + <usize>load<u16>(rec, Rec.SRC2);
    let sa: usize = 16;
    let sb: usize = 16;
    let sc: usize = 16;
    if (shape) {
      if (shape & Shape.LITERAL) store<u32>(w, load<u32>(rec, Rec.EXTRA), Wave.LITERAL);
      if (shape & Shape.SCALAR0) {
        a = splat(a, 0);
        sa = 0;
      }
      if (shape & Shape.SCALAR1) {
        b = splat(b, 1);
        sb = 0;
      }
      if (shape & Shape.SCALAR2) {
        c = splat(c, 2);
        sc = 0;
      }
    }
    const d = w + ((<usize>load<u16>(rec, Rec.DST)) << 7) + Wave.VGPR_FILE;
    const m = maskRow();
    let sum = f32x4.splat(0);
    switch (quick) {
      case Quick.MOV:
        Row.oneMasked<Mov>(d, a, sa, m);
        return;
      case Quick.NOT:
        Row.oneMasked<Not>(d, a, sa, m);
        return;
      case Quick.CNDMASK:
        select(d, a, sa, b, sb, load<u32>(w + ((<usize>load<u16>(rec, Rec.SRC3)) << 2), Wave.SCALARS), m);
        return;
      case Quick.AND:
        Row.twoMasked<And>(d, a, sa, b, sb, m);
        return;
      case Quick.OR:
        Row.twoMasked<Or>(d, a, sa, b, sb, m);
        return;
      case Quick.XOR:
        Row.twoMasked<Xor>(d, a, sa, b, sb, m);
        return;
      case Quick.ADD:
        Row.twoMasked<Add>(d, a, sa, b, sb, m);
        return;
      case Quick.SUB:
        Row.twoMasked<Sub>(d, a, sa, b, sb, m);
        return;
      case Quick.MUL:
        Row.twoMasked<Mul>(d, a, sa, b, sb, m);
        return;
      case Quick.ADD3:
        Row.threeMasked<Add3>(d, a, sa, b, sb, c, sc, m);
        return;
      case Quick.MAD24:
        Row.threeMasked<Mad24>(d, a, sa, b, sb, c, sc, m);
        return;
      case Quick.SHL:
        Row.scaledMasked<ShiftLeft>(d, b, sb, b, sb, load<i32>(a), m);
        return;
      case Quick.SHR:
        Row.scaledMasked<ShiftRight>(d, b, sb, b, sb, load<i32>(a), m);
        return;
      case Quick.SAR:
        Row.scaledMasked<ShiftRightSigned>(d, b, sb, b, sb, load<i32>(a), m);
        return;
      case Quick.SHL_ADD:
        Row.scaledMasked<ShiftAdd>(d, a, sa, c, sc, load<i32>(b), m);
        return;
      case Quick.SHL_OR:
        Row.scaledMasked<ShiftOr>(d, a, sa, c, sc, load<i32>(b), m);
        return;
      case Quick.ADD_SHL:
        Row.scaledMasked<AddShift>(d, a, sa, b, sb, load<i32>(c), m);
        return;
      case Quick.CVT_F_I:
        Row.oneMasked<FloatOfSigned>(d, a, sa, m);
        return;
      case Quick.CVT_F_U:
        Row.oneMasked<FloatOfUnsigned>(d, a, sa, m);
        return;
      case Quick.ADD_F:
        sum = Row.twoMasked<AddF>(d, a, sa, b, sb, m);
        break;
      case Quick.SUB_F:
        sum = Row.twoMasked<SubF>(d, a, sa, b, sb, m);
        break;
      case Quick.MUL_F:
        sum = Row.twoMasked<MulF>(d, a, sa, b, sb, m);
        break;
      case Quick.FMA:
        sum = Row.threeMasked<Fma>(d, a, sa, b, sb, c, sc, m);
        break;
      case Quick.FMS:
        sum = Row.threeMasked<Fms>(d, a, sa, b, sb, c, sc, m);
        break;
      case Quick.FMA_MINUS:
        sum = Row.threeMasked<FmaMinus>(d, a, sa, b, sb, c, sc, m);
        break;
      case Quick.RSQ:
        Row.oneMasked<Rsq>(d, a, sa, m);
        return;
      case Quick.MIN_F:
        Row.twoMasked<MinF>(d, a, sa, b, sb, m);
        return;
      default:
        Row.twoMasked<MaxF>(d, a, sa, b, sb, m);
        return;
    }
    if (v128.any_true(f32x4.ne(sum, sum))) Row.mendNans(d, m);
  }

  /** Runs one comparison: the mask of active lanes where it holds goes to a scalar register. */
  @inline
  static compare(w: usize, rec: usize, quick: u32): void {
    let a = w + <usize>load<u16>(rec, Rec.SRC0);
    let b = w + <usize>load<u16>(rec, Rec.SRC1);
    let sa: usize = 16;
    let sb: usize = 16;
    const shape = <u32>load<u8>(rec, Rec.SHAPE);
    if (shape & Shape.LITERAL) store<u32>(w, load<u32>(rec, Rec.EXTRA), Wave.LITERAL);
    if (shape & Shape.SCALAR0) {
      a = splat(a, 0);
      sa = 0;
    }
    if (shape & Shape.SCALAR1) {
      b = splat(b, 1);
      sb = 0;
    }
    let holds: u32 = 0;
    switch (quick) {
      case Quick.LT_F:
        holds = Row.compare<LtF>(a, sa, b, sb);
        break;
      case Quick.EQ_F:
        holds = Row.compare<EqF>(a, sa, b, sb);
        break;
      case Quick.LE_F:
        holds = Row.compare<LeF>(a, sa, b, sb);
        break;
      case Quick.EQ_I:
        holds = Row.compare<EqI>(a, sa, b, sb);
        break;
      case Quick.LT_I:
        holds = Row.compare<LtI>(a, sa, b, sb);
        break;
      case Quick.LE_I:
        holds = Row.compare<LeI>(a, sa, b, sb);
        break;
      case Quick.LT_U:
        holds = Row.compare<LtU>(a, sa, b, sb);
        break;
      default:
        holds = Row.compare<LeU>(a, sa, b, sb);
        break;
    }
    if (shape & Shape.INVERT) holds = ~holds;
    const active = load<u32>(w, Wave.EXEC);
    store<u32>(w + ((<usize>load<u16>(rec, Rec.DST)) << 2), holds & active, Wave.SCALARS);
  }
}
