/** Selection of the graphics stages' own ops: interpolation, quads, vertex fetch, exports. */
import { Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { componentsOf, imm, nextInstr, opOf, prevInstr, src, srcCount } from "../ir/index.ts";
import { constantOperand, copy, inVgpr, raw, valu } from "./build.ts";
import { mDst0, mImm, mMods, mSrc0, mSrc1, mSrc2, mSrc3, valueOperand } from "./columns.ts";
import { vertexDescriptor } from "./descriptors.ts";
import { demote, helperMask, lastPixels } from "./exact.ts";
import { attributeOf, barycentricArgument, drawArgument, parameterOf, stageArgument } from "./launch.ts";
import { Hw, hw, isVgprOperand, Mod, newVreg, RegClass, setSource } from "./machine.ts";
import { selectPermutation } from "./select-dpp.ts";
import { define, maskOf, operandOf } from "./values.ts";

function interpolate(i: u32): void {
  const x = inVgpr(operandOf(src(i, 0)));
  const y = inVgpr(operandOf(src(i, 1)));
  const place = attributeOf(imm(i, 0)) | (imm(i, 1) << 8);
  const first = newVreg(RegClass.VGPR, 1);
  const p1 = raw(Isa.v_interp_p1_f32_e32);
  mDst0[p1] = first;
  mSrc0[p1] = x;
  mImm[p1] = place;
  const dst = define(i);
  // p2 adds to its destination.
  copy(dst, first);
  const p2 = raw(Isa.v_interp_p2_f32_e32);
  mDst0[p2] = dst;
  mSrc0[p2] = y;
  mImm[p2] = place;
}

function vertexFetch(i: u32): void {
  const descriptor = vertexDescriptor(imm(i, 0));
  const index = inVgpr(operandOf(src(i, 0)));
  const count = componentsOf(i);
  let base = imm(i, 1);
  let soffset = hw(Hw.ZERO, 1);
  if (base > 4095) {
    const far = newVreg(RegClass.SGPR, 1);
    copy(far, constantOperand(base));
    soffset = far;
    base = 0;
  }
  const dst = define(i);
  const op: u32 =
    count == 1
      ? Isa.tbuffer_load_format_x
      : count == 2
        ? Isa.tbuffer_load_format_xy
        : count == 3
          ? Isa.tbuffer_load_format_xyz
          : Isa.tbuffer_load_format_xyzw;
  const j = raw(op);
  mDst0[j] = dst;
  mSrc1[j] = index;
  mSrc2[j] = descriptor;
  mSrc3[j] = soffset;
  mImm[j] = base | (imm(i, 2) << 16);
  mMods[j] = Mod.IDXEN;
}

const MAX_EXPORTS: u32 = 64;
const sources = memory.data(64 * 4 * 4, 4);

/** Values of a run that were not in VGPRs, and the registers they were copied into. */
const MAX_COPIES: u32 = 16;
const copied = memory.data(16 * 8, 4);
let copies: u32 = 0;

/** The VGPR of an exported value; a constant or scalar has one for the whole run. */
function exported(value: u32): u32 {
  const operand = operandOf(value);
  if (isVgprOperand(operand)) return operand;
  // Undefined: whatever is at hand.
  if (opOf(value) == Op.UNDEF && copies > 0) return load<u32>(copied, 4);
  for (let k: u32 = 0; k < copies; k++) {
    const at = copied + ((<usize>k) << 3);
    if (load<u32>(at) == value) return load<u32>(at, 4);
  }
  const register = inVgpr(operand);
  if (copies < MAX_COPIES) {
    const at = copied + ((<usize>copies) << 3);
    store<u32>(at, value);
    store<u32>(at, register, 4);
    copies++;
  }
  return register;
}

/** The exports that stand together: all sources are in VGPRs before the first of them, so that none is overwritten. */
function exportRun(first: u32): void {
  let n: u32 = 0;
  copies = 0;
  for (let i = first; i != 0 && opOf(i) == Op.EXPORT && n < MAX_EXPORTS; i = nextInstr(i)) {
    for (let k: u32 = 0; k < srcCount(i); k++) {
      store<u32>(sources + ((<usize>(n * 4 + k)) << 2), exported(src(i, k)));
    }
    n++;
  }
  lastPixels();
  n = 0;
  for (let i = first; i != 0 && opOf(i) == Op.EXPORT && n < MAX_EXPORTS; i = nextInstr(i)) {
    const bits = imm(i, 1);
    const target = imm(i, 0) >= 256 ? 32 + parameterOf(imm(i, 0) - 256) : imm(i, 0);
    const j = raw(Isa.exp);
    mImm[j] = target | (bits << 8);
    let next: u32 = 0;
    for (let c: u32 = 0; c < 4; c++) {
      // Packed: a source stands for two components.
      const wanted = (bits & 16) != 0 ? (c & 1) == 0 && ((bits >> c) & 1) != 0 : ((bits >> c) & 1) != 0;
      if (!wanted) continue;
      const operand = load<u32>(sources + ((<usize>(n * 4 + next)) << 2));
      setSource(j, (bits & 16) != 0 ? c >> 1 : c, operand);
      next++;
    }
    n++;
  }
}

function pack(op: u32): u32 {
  switch (op) {
    case Op.PACK_HALF_RTZ:
      return Isa.v_cvt_pkrtz_f16_f32_e64;
    case Op.PACK_UNORM16:
      return Isa.v_cvt_pknorm_u16_f32;
    case Op.PACK_SNORM16:
      return Isa.v_cvt_pknorm_i16_f32;
    case Op.PACK_UINT16:
      return Isa.v_cvt_pk_u16_u32;
    default:
      return Isa.v_cvt_pk_i16_i32;
  }
}

function cube(op: u32): u32 {
  switch (op) {
    case Op.CUBE_ID:
      return Isa.v_cubeid_f32;
    case Op.CUBE_S:
      return Isa.v_cubesc_f32;
    case Op.CUBE_T:
      return Isa.v_cubetc_f32;
    default:
      return Isa.v_cubema_f32;
  }
}

/** True where the op was one of these. */
export function selectGraphics(i: u32): bool {
  const op = opOf(i);
  switch (op) {
    case Op.LOAD_BARY:
      valueOperand[i] = barycentricArgument(imm(i, 0), imm(i, 1));
      return true;
    case Op.LOAD_FRAG_COORD:
    case Op.LOAD_FRONT_FACE:
    case Op.LOAD_ANCILLARY:
    case Op.LOAD_SAMPLE_COVERAGE:
    case Op.LOAD_VERTEX_ID:
    case Op.LOAD_INSTANCE_ID:
      valueOperand[i] = stageArgument(op, imm(i, 0));
      return true;
    case Op.LOAD_DRAW:
      valueOperand[i] = drawArgument(imm(i, 0));
      return true;
    case Op.INTERP:
      interpolate(i);
      return true;
    case Op.INTERP_FLAT: {
      const dst = define(i);
      const j = raw(Isa.v_interp_mov_f32_e32);
      mDst0[j] = dst;
      // Slot 2 is P0, the provoking vertex.
      mImm[j] = attributeOf(imm(i, 0)) | (imm(i, 1) << 8) | (2 << 16);
      return true;
    }
    case Op.QUAD_PERM:
    case Op.LANE_XOR:
      selectPermutation(i);
      return true;
    case Op.DEMOTE:
      demote(i, srcCount(i) == 0 ? 0 : maskOf(src(i, 0)));
      return true;
    case Op.LOAD_HELPER:
      helperMask(define(i));
      return true;
    case Op.LOAD_VERTEX:
      vertexFetch(i);
      return true;
    case Op.EXPORT:
      if (prevInstr(i) == 0 || opOf(prevInstr(i)) != Op.EXPORT) exportRun(i);
      return true;
    case Op.PACK_HALF_RTZ:
    case Op.PACK_UNORM16:
    case Op.PACK_SNORM16:
    case Op.PACK_UINT16:
    case Op.PACK_SINT16:
      valu(pack(op), define(i), operandOf(src(i, 0)), operandOf(src(i, 1)), 0, 0);
      return true;
    case Op.CUBE_ID:
    case Op.CUBE_S:
    case Op.CUBE_T:
    case Op.CUBE_MA:
      valu(cube(op), define(i), operandOf(src(i, 0)), operandOf(src(i, 1)), operandOf(src(i, 2)), 0);
      return true;
    default:
      return false;
  }
}
