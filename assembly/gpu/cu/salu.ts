/** Scalar ALU: SOP1, SOP2, SOPC, SOPK. Source: the rows' meanings (src/isa). */
import { Op, SourceCode } from "../../gen/isa-ops.ts";
import { raiseNotModelled } from "../fault.ts";
import { Rec, Wave } from "../layout.ts";
import { bitReplicate, field, quadMask, reverse, signedField, signRun, wholeQuads } from "./bits.ts";
import { getReg, setReg } from "./hw-registers.ts";
import {
  arithmetic,
  checkIndexed,
  logic,
  logic64,
  movrelSource,
  plain,
  saveExec,
  saveExec64,
  shiftAdd,
  src0,
  src1,
  wide0,
  wide1,
  writeExec,
  writeExec64,
} from "./salu-operands.ts";
import { scalar64, scc, setScc, setSgpr, setSgpr64, sgpr, sgpr64, wave } from "./wave.ts";

const EXEC: u32 = SourceCode.execLo;

/** Runs one SALU instruction. `next` is the address of the following instruction. */
export function executeSalu(rec: usize, next: u64): void {
  const op = <u32>load<u16>(rec, Rec.OP);
  const imm = load<i32>(rec, Rec.IMM);
  switch (op) {
    case Op.s_mov_b32:
      plain(rec, src0(rec));
      return;
    case Op.s_mov_b64:
      setSgpr64(load<u16>(rec, Rec.DST), wide0(rec));
      return;
    case Op.s_cmov_b32:
      if (scc()) plain(rec, src0(rec));
      return;
    case Op.s_cmov_b64:
      if (scc()) setSgpr64(load<u16>(rec, Rec.DST), wide0(rec));
      return;
    case Op.s_not_b32:
      logic(rec, ~src0(rec));
      return;
    case Op.s_not_b64:
      logic64(rec, ~wide0(rec));
      return;
    case Op.s_wqm_b32:
      logic(rec, <u32>wholeQuads(src0(rec), 8));
      return;
    case Op.s_wqm_b64:
      logic64(rec, wholeQuads(wide0(rec), 16));
      return;
    case Op.s_brev_b32:
      plain(rec, reverse(src0(rec)));
      return;
    case Op.s_brev_b64: {
      const x = wide0(rec);
      setSgpr64(load<u16>(rec, Rec.DST), ((<u64>reverse(<u32>x)) << 32) | <u64>reverse(<u32>(x >> 32)));
      return;
    }
    case Op.s_bcnt0_i32_b32:
      logic(rec, popcnt<u32>(~src0(rec)));
      return;
    case Op.s_bcnt0_i32_b64:
      logic(rec, <u32>popcnt<u64>(~wide0(rec)));
      return;
    case Op.s_bcnt1_i32_b32:
      logic(rec, popcnt<u32>(src0(rec)));
      return;
    case Op.s_bcnt1_i32_b64:
      logic(rec, <u32>popcnt<u64>(wide0(rec)));
      return;
    case Op.s_ff0_i32_b32: {
      const x = ~src0(rec);
      plain(rec, x == 0 ? <u32>-1 : ctz<u32>(x));
      return;
    }
    case Op.s_ff0_i32_b64: {
      const x = ~wide0(rec);
      plain(rec, x == 0 ? <u32>-1 : <u32>ctz<u64>(x));
      return;
    }
    case Op.s_ff1_i32_b32: {
      const x = src0(rec);
      plain(rec, x == 0 ? <u32>-1 : ctz<u32>(x));
      return;
    }
    case Op.s_ff1_i32_b64: {
      const x = wide0(rec);
      plain(rec, x == 0 ? <u32>-1 : <u32>ctz<u64>(x));
      return;
    }
    case Op.s_flbit_i32_b32: {
      const x = src0(rec);
      plain(rec, x == 0 ? <u32>-1 : clz<u32>(x));
      return;
    }
    case Op.s_flbit_i32_b64: {
      const x = wide0(rec);
      plain(rec, x == 0 ? <u32>-1 : <u32>clz<u64>(x));
      return;
    }
    case Op.s_flbit_i32:
      plain(rec, signRun(src0(rec)));
      return;
    case Op.s_flbit_i32_i64: {
      const x = wide0(rec);
      const y = <i64>x < 0 ? ~x : x;
      plain(rec, y == 0 ? <u32>-1 : <u32>clz<u64>(y));
      return;
    }
    case Op.s_sext_i32_i8:
      plain(rec, <u32>(<i32>(<i8>src0(rec))));
      return;
    case Op.s_sext_i32_i16:
      plain(rec, <u32>(<i32>(<i16>src0(rec))));
      return;
    case Op.s_bitset0_b32:
      plain(rec, sgpr(load<u16>(rec, Rec.DST)) & ~(1 << (src0(rec) & 31)));
      return;
    case Op.s_bitset1_b32:
      plain(rec, sgpr(load<u16>(rec, Rec.DST)) | (1 << (src0(rec) & 31)));
      return;
    case Op.s_bitset0_b64:
      setSgpr64(load<u16>(rec, Rec.DST), sgpr64(load<u16>(rec, Rec.DST)) & ~((<u64>1) << (src0(rec) & 63)));
      return;
    case Op.s_bitset1_b64:
      setSgpr64(load<u16>(rec, Rec.DST), sgpr64(load<u16>(rec, Rec.DST)) | ((<u64>1) << (src0(rec) & 63)));
      return;
    case Op.s_getpc_b64:
      setSgpr64(load<u16>(rec, Rec.DST), next);
      return;
    case Op.s_and_saveexec_b32:
      saveExec(rec, src0(rec) & sgpr(EXEC));
      return;
    case Op.s_or_saveexec_b32:
      saveExec(rec, src0(rec) | sgpr(EXEC));
      return;
    case Op.s_xor_saveexec_b32:
      saveExec(rec, src0(rec) ^ sgpr(EXEC));
      return;
    case Op.s_andn2_saveexec_b32:
      saveExec(rec, src0(rec) & ~sgpr(EXEC));
      return;
    case Op.s_orn2_saveexec_b32:
      saveExec(rec, src0(rec) | ~sgpr(EXEC));
      return;
    case Op.s_nand_saveexec_b32:
      saveExec(rec, ~(src0(rec) & sgpr(EXEC)));
      return;
    case Op.s_nor_saveexec_b32:
      saveExec(rec, ~(src0(rec) | sgpr(EXEC)));
      return;
    case Op.s_xnor_saveexec_b32:
      saveExec(rec, ~(src0(rec) ^ sgpr(EXEC)));
      return;
    case Op.s_andn1_saveexec_b32:
      saveExec(rec, ~src0(rec) & sgpr(EXEC));
      return;
    case Op.s_orn1_saveexec_b32:
      saveExec(rec, ~src0(rec) | sgpr(EXEC));
      return;
    case Op.s_andn1_wrexec_b32:
      writeExec(rec, ~src0(rec) & sgpr(EXEC));
      return;
    case Op.s_andn2_wrexec_b32:
      writeExec(rec, src0(rec) & ~sgpr(EXEC));
      return;
    case Op.s_and_saveexec_b64:
      saveExec64(rec, wide0(rec) & sgpr64(EXEC));
      return;
    case Op.s_or_saveexec_b64:
      saveExec64(rec, wide0(rec) | sgpr64(EXEC));
      return;
    case Op.s_xor_saveexec_b64:
      saveExec64(rec, wide0(rec) ^ sgpr64(EXEC));
      return;
    case Op.s_andn2_saveexec_b64:
      saveExec64(rec, wide0(rec) & ~sgpr64(EXEC));
      return;
    case Op.s_orn2_saveexec_b64:
      saveExec64(rec, wide0(rec) | ~sgpr64(EXEC));
      return;
    case Op.s_nand_saveexec_b64:
      saveExec64(rec, ~(wide0(rec) & sgpr64(EXEC)));
      return;
    case Op.s_nor_saveexec_b64:
      saveExec64(rec, ~(wide0(rec) | sgpr64(EXEC)));
      return;
    case Op.s_xnor_saveexec_b64:
      saveExec64(rec, ~(wide0(rec) ^ sgpr64(EXEC)));
      return;
    case Op.s_andn1_saveexec_b64:
      saveExec64(rec, ~wide0(rec) & sgpr64(EXEC));
      return;
    case Op.s_orn1_saveexec_b64:
      saveExec64(rec, ~wide0(rec) | sgpr64(EXEC));
      return;
    case Op.s_andn1_wrexec_b64:
      writeExec64(rec, ~wide0(rec) & sgpr64(EXEC));
      return;
    case Op.s_andn2_wrexec_b64:
      writeExec64(rec, wide0(rec) & ~sgpr64(EXEC));
      return;
    case Op.s_quadmask_b32:
      logic(rec, <u32>quadMask(src0(rec), 8));
      return;
    case Op.s_quadmask_b64:
      logic64(rec, quadMask(wide0(rec), 16));
      return;
    case Op.s_movrels_b32: {
      const from = movrelSource(rec);
      if (checkIndexed(from, 1)) plain(rec, sgpr(from));
      return;
    }
    case Op.s_movreld_b32: {
      const to = <u32>load<u16>(rec, Rec.DST) + load<u32>(wave, Wave.M0);
      if (checkIndexed(to, 1)) setSgpr(to, src0(rec));
      return;
    }
    case Op.s_movrels_b64: {
      const from = movrelSource(rec);
      if (checkIndexed(from, 2)) setSgpr64(load<u16>(rec, Rec.DST), sgpr64(from));
      return;
    }
    case Op.s_movreld_b64: {
      const to = <u32>load<u16>(rec, Rec.DST) + load<u32>(wave, Wave.M0);
      if (checkIndexed(to, 2)) setSgpr64(to, wide0(rec));
      return;
    }
    case Op.s_abs_i32: {
      const x = <i32>src0(rec);
      logic(rec, x < 0 ? -x : x);
      return;
    }
    case Op.s_bitreplicate_b64_b32:
      setSgpr64(load<u16>(rec, Rec.DST), bitReplicate(src0(rec)));
      return;
    case Op.s_cmp_eq_i32:
    case Op.s_cmp_eq_u32:
      setScc(src0(rec) == src1(rec));
      return;
    case Op.s_cmp_lg_i32:
    case Op.s_cmp_lg_u32:
      setScc(src0(rec) != src1(rec));
      return;
    case Op.s_cmp_gt_i32:
      setScc(<i32>src0(rec) > <i32>src1(rec));
      return;
    case Op.s_cmp_ge_i32:
      setScc(<i32>src0(rec) >= <i32>src1(rec));
      return;
    case Op.s_cmp_lt_i32:
      setScc(<i32>src0(rec) < <i32>src1(rec));
      return;
    case Op.s_cmp_le_i32:
      setScc(<i32>src0(rec) <= <i32>src1(rec));
      return;
    case Op.s_cmp_gt_u32:
      setScc(src0(rec) > src1(rec));
      return;
    case Op.s_cmp_ge_u32:
      setScc(src0(rec) >= src1(rec));
      return;
    case Op.s_cmp_lt_u32:
      setScc(src0(rec) < src1(rec));
      return;
    case Op.s_cmp_le_u32:
      setScc(src0(rec) <= src1(rec));
      return;
    case Op.s_bitcmp0_b32:
      setScc(((src0(rec) >> (src1(rec) & 31)) & 1) == 0);
      return;
    case Op.s_bitcmp1_b32:
      setScc(((src0(rec) >> (src1(rec) & 31)) & 1) != 0);
      return;
    case Op.s_bitcmp0_b64:
      setScc(((wide0(rec) >> (src1(rec) & 63)) & 1) == 0);
      return;
    case Op.s_bitcmp1_b64:
      setScc(((wide0(rec) >> (src1(rec) & 63)) & 1) != 0);
      return;
    case Op.s_cmp_eq_u64:
      setScc(wide0(rec) == wide1(rec));
      return;
    case Op.s_cmp_lg_u64:
      setScc(wide0(rec) != wide1(rec));
      return;
    case Op.s_movk_i32:
      plain(rec, imm);
      return;
    case Op.s_version:
      return;
    case Op.s_cmovk_i32:
      if (scc()) plain(rec, imm);
      return;
    case Op.s_cmpk_eq_i32:
      setScc(<i32>sgpr(load<u16>(rec, Rec.DST)) == imm);
      return;
    case Op.s_cmpk_lg_i32:
      setScc(<i32>sgpr(load<u16>(rec, Rec.DST)) != imm);
      return;
    case Op.s_cmpk_gt_i32:
      setScc(<i32>sgpr(load<u16>(rec, Rec.DST)) > imm);
      return;
    case Op.s_cmpk_ge_i32:
      setScc(<i32>sgpr(load<u16>(rec, Rec.DST)) >= imm);
      return;
    case Op.s_cmpk_lt_i32:
      setScc(<i32>sgpr(load<u16>(rec, Rec.DST)) < imm);
      return;
    case Op.s_cmpk_le_i32:
      setScc(<i32>sgpr(load<u16>(rec, Rec.DST)) <= imm);
      return;
    case Op.s_cmpk_eq_u32:
      setScc(sgpr(load<u16>(rec, Rec.DST)) == (imm & 0xffff));
      return;
    case Op.s_cmpk_lg_u32:
      setScc(sgpr(load<u16>(rec, Rec.DST)) != (imm & 0xffff));
      return;
    case Op.s_cmpk_gt_u32:
      setScc(sgpr(load<u16>(rec, Rec.DST)) > <u32>(imm & 0xffff));
      return;
    case Op.s_cmpk_ge_u32:
      setScc(sgpr(load<u16>(rec, Rec.DST)) >= <u32>(imm & 0xffff));
      return;
    case Op.s_cmpk_lt_u32:
      setScc(sgpr(load<u16>(rec, Rec.DST)) < <u32>(imm & 0xffff));
      return;
    case Op.s_cmpk_le_u32:
      setScc(sgpr(load<u16>(rec, Rec.DST)) <= <u32>(imm & 0xffff));
      return;
    case Op.s_addk_i32: {
      const x = sgpr(load<u16>(rec, Rec.DST));
      const sum = x + imm;
      arithmetic(rec, sum, ((x ^ sum) & (<u32>imm ^ sum)) >> 31 != 0);
      return;
    }
    case Op.s_mulk_i32:
      plain(rec, sgpr(load<u16>(rec, Rec.DST)) * imm);
      return;
    case Op.s_getreg_b32:
      plain(rec, getReg(imm));
      return;
    case Op.s_setreg_b32:
      setReg(imm, sgpr(load<u16>(rec, Rec.DST)));
      return;
    case Op.s_setreg_imm32_b32:
      setReg(imm, load<u32>(rec, Rec.EXTRA));
      return;
    case Op.s_add_u32: {
      const x = src0(rec);
      const sum = x + src1(rec);
      arithmetic(rec, sum, sum < x);
      return;
    }
    case Op.s_sub_u32: {
      const x = src0(rec);
      const y = src1(rec);
      arithmetic(rec, x - y, x < y);
      return;
    }
    case Op.s_add_i32: {
      const x = src0(rec);
      const y = src1(rec);
      const sum = x + y;
      arithmetic(rec, sum, ((x ^ sum) & (y ^ sum)) >> 31 != 0);
      return;
    }
    case Op.s_sub_i32: {
      const x = src0(rec);
      const y = src1(rec);
      const difference = x - y;
      arithmetic(rec, difference, ((x ^ y) & (x ^ difference)) >> 31 != 0);
      return;
    }
    case Op.s_addc_u32: {
      const sum = <u64>src0(rec) + <u64>src1(rec) + <u64>scc();
      arithmetic(rec, <u32>sum, sum >> 32 != 0);
      return;
    }
    case Op.s_subb_u32: {
      const difference = <u64>src0(rec) - <u64>src1(rec) - <u64>scc();
      arithmetic(rec, <u32>difference, difference >> 32 != 0);
      return;
    }
    case Op.s_min_i32: {
      const x = <i32>src0(rec);
      const y = <i32>src1(rec);
      arithmetic(rec, min<i32>(x, y), x < y);
      return;
    }
    case Op.s_min_u32: {
      const x = src0(rec);
      const y = src1(rec);
      arithmetic(rec, min<u32>(x, y), x < y);
      return;
    }
    case Op.s_max_i32: {
      const x = <i32>src0(rec);
      const y = <i32>src1(rec);
      arithmetic(rec, max<i32>(x, y), x > y);
      return;
    }
    case Op.s_max_u32: {
      const x = src0(rec);
      const y = src1(rec);
      arithmetic(rec, max<u32>(x, y), x > y);
      return;
    }
    case Op.s_cselect_b32:
      plain(rec, scc() ? src0(rec) : src1(rec));
      return;
    case Op.s_cselect_b64:
      setSgpr64(load<u16>(rec, Rec.DST), scc() ? wide0(rec) : wide1(rec));
      return;
    case Op.s_and_b32:
      logic(rec, src0(rec) & src1(rec));
      return;
    case Op.s_and_b64:
      logic64(rec, wide0(rec) & wide1(rec));
      return;
    case Op.s_or_b32:
      logic(rec, src0(rec) | src1(rec));
      return;
    case Op.s_or_b64:
      logic64(rec, wide0(rec) | wide1(rec));
      return;
    case Op.s_xor_b32:
      logic(rec, src0(rec) ^ src1(rec));
      return;
    case Op.s_xor_b64:
      logic64(rec, wide0(rec) ^ wide1(rec));
      return;
    case Op.s_andn2_b32:
      logic(rec, src0(rec) & ~src1(rec));
      return;
    case Op.s_andn2_b64:
      logic64(rec, wide0(rec) & ~wide1(rec));
      return;
    case Op.s_orn2_b32:
      logic(rec, src0(rec) | ~src1(rec));
      return;
    case Op.s_orn2_b64:
      logic64(rec, wide0(rec) | ~wide1(rec));
      return;
    case Op.s_nand_b32:
      logic(rec, ~(src0(rec) & src1(rec)));
      return;
    case Op.s_nand_b64:
      logic64(rec, ~(wide0(rec) & wide1(rec)));
      return;
    case Op.s_nor_b32:
      logic(rec, ~(src0(rec) | src1(rec)));
      return;
    case Op.s_nor_b64:
      logic64(rec, ~(wide0(rec) | wide1(rec)));
      return;
    case Op.s_xnor_b32:
      logic(rec, ~(src0(rec) ^ src1(rec)));
      return;
    case Op.s_xnor_b64:
      logic64(rec, ~(wide0(rec) ^ wide1(rec)));
      return;
    case Op.s_lshl_b32:
      logic(rec, src0(rec) << (src1(rec) & 31));
      return;
    case Op.s_lshl_b64:
      logic64(rec, wide0(rec) << (src1(rec) & 63));
      return;
    case Op.s_lshr_b32:
      logic(rec, src0(rec) >> (src1(rec) & 31));
      return;
    case Op.s_lshr_b64:
      logic64(rec, wide0(rec) >> (src1(rec) & 63));
      return;
    case Op.s_ashr_i32:
      logic(rec, <i32>src0(rec) >> (src1(rec) & 31));
      return;
    case Op.s_ashr_i64:
      logic64(rec, <i64>scalar64(load<u16>(rec, Rec.SRC0), 1) >> (src1(rec) & 63));
      return;
    case Op.s_bfm_b32:
      plain(rec, ((1 << (src0(rec) & 31)) - 1) << (src1(rec) & 31));
      return;
    case Op.s_bfm_b64:
      setSgpr64(load<u16>(rec, Rec.DST), (((<u64>1) << (src0(rec) & 63)) - 1) << (src1(rec) & 63));
      return;
    case Op.s_mul_i32:
      plain(rec, src0(rec) * src1(rec));
      return;
    case Op.s_bfe_u32:
      logic(rec, <u32>field(src0(rec), src1(rec), 31));
      return;
    case Op.s_bfe_i32:
      logic(rec, <u32>signedField(<i64>(<i32>src0(rec)), src1(rec), 31));
      return;
    case Op.s_bfe_u64:
      logic64(rec, field(wide0(rec), src1(rec), 63));
      return;
    case Op.s_bfe_i64:
      logic64(rec, signedField(<i64>scalar64(load<u16>(rec, Rec.SRC0), 1), src1(rec), 63));
      return;
    case Op.s_absdiff_i32: {
      const difference = <i32>(src0(rec) - src1(rec));
      logic(rec, difference < 0 ? -difference : difference);
      return;
    }
    case Op.s_lshl1_add_u32:
      shiftAdd(rec, 1);
      return;
    case Op.s_lshl2_add_u32:
      shiftAdd(rec, 2);
      return;
    case Op.s_lshl3_add_u32:
      shiftAdd(rec, 3);
      return;
    case Op.s_lshl4_add_u32:
      shiftAdd(rec, 4);
      return;
    case Op.s_pack_ll_b32_b16:
      plain(rec, (src0(rec) & 0xffff) | (src1(rec) << 16));
      return;
    case Op.s_pack_lh_b32_b16:
      plain(rec, (src0(rec) & 0xffff) | (src1(rec) & 0xffff0000));
      return;
    case Op.s_pack_hh_b32_b16:
      plain(rec, (src0(rec) >> 16) | (src1(rec) & 0xffff0000));
      return;
    case Op.s_mul_hi_u32:
      plain(rec, <u32>((<u64>src0(rec) * <u64>src1(rec)) >> 32));
      return;
    case Op.s_mul_hi_i32:
      plain(rec, <u32>((<i64>(<i32>src0(rec)) * <i64>(<i32>src1(rec))) >> 32));
      return;
    default:
      raiseNotModelled();
      return;
  }
}
