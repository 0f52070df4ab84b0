import { Flag } from "../flags.ts";
import { rows } from "../row.ts";

const { Branch, ReadsExec, ReadsMode, ReadsScc, Terminator, TiedDst, Wait, WritesExec, WritesScc } = Flag;

/** SOPK: a 16-bit immediate. Source: RDNA2 ISA, SOPK chapter. */
// biome-ignore format: one row a line, columns aligned
export const sopk = rows("SOPK", [
  // code, name, destinations, sources, flags, meaning
  [0x00, "s_movk_i32",             ["s1"], ["imm16"],          0,                                        "D=sign-extended simm16"],
  [0x01, "s_version",              [],     ["imm16"],          0,                                        "no operation; simm16 names the ISA version"],
  [0x02, "s_cmovk_i32",            ["s1"], ["imm16"],          ReadsScc | TiedDst,                       "if SCC: D=sign-extended simm16"],
  [0x03, "s_cmpk_eq_i32",          [],     ["s1", "imm16"],    WritesScc,                                "SCC=(SGPR == simm16 sign-extended), signed"],
  [0x04, "s_cmpk_lg_i32",          [],     ["s1", "imm16"],    WritesScc,                                "SCC=(SGPR != simm16 sign-extended), signed"],
  [0x05, "s_cmpk_gt_i32",          [],     ["s1", "imm16"],    WritesScc,                                "SCC=(SGPR > simm16 sign-extended), signed"],
  [0x06, "s_cmpk_ge_i32",          [],     ["s1", "imm16"],    WritesScc,                                "SCC=(SGPR >= simm16 sign-extended), signed"],
  [0x07, "s_cmpk_lt_i32",          [],     ["s1", "imm16"],    WritesScc,                                "SCC=(SGPR < simm16 sign-extended), signed"],
  [0x08, "s_cmpk_le_i32",          [],     ["s1", "imm16"],    WritesScc,                                "SCC=(SGPR <= simm16 sign-extended), signed"],
  [0x09, "s_cmpk_eq_u32",          [],     ["s1", "imm16"],    WritesScc,                                "SCC=(SGPR == simm16 zero-extended), unsigned"],
  [0x0a, "s_cmpk_lg_u32",          [],     ["s1", "imm16"],    WritesScc,                                "SCC=(SGPR != simm16 zero-extended), unsigned"],
  [0x0b, "s_cmpk_gt_u32",          [],     ["s1", "imm16"],    WritesScc,                                "SCC=(SGPR > simm16 zero-extended), unsigned"],
  [0x0c, "s_cmpk_ge_u32",          [],     ["s1", "imm16"],    WritesScc,                                "SCC=(SGPR >= simm16 zero-extended), unsigned"],
  [0x0d, "s_cmpk_lt_u32",          [],     ["s1", "imm16"],    WritesScc,                                "SCC=(SGPR < simm16 zero-extended), unsigned"],
  [0x0e, "s_cmpk_le_u32",          [],     ["s1", "imm16"],    WritesScc,                                "SCC=(SGPR <= simm16 zero-extended), unsigned"],
  [0x0f, "s_addk_i32",             ["s1"], ["imm16"],          WritesScc | TiedDst,                      "D=D+sign-extended simm16; SCC=signed overflow"],
  [0x10, "s_mulk_i32",             ["s1"], ["imm16"],          TiedDst,                                  "D=D*sign-extended simm16"],
  [0x12, "s_getreg_b32",           ["s1"], ["hwreg"],          ReadsMode,                                "D=field of a hardware register: simm16[5:0] id, [10:6] offset, [15:11] width-1"],
  [0x13, "s_setreg_b32",           [],     ["hwreg", "s1"],    ReadsMode,                                "field of a hardware register=SGPR (simm16 as s_getreg)"],
  [0x15, "s_setreg_imm32_b32",     [],     ["hwreg", "lit32"], ReadsMode,                                "field of a hardware register=literal"],
  [0x16, "s_call_b64",             ["s2"], ["label"],          Branch,                                   "D=address of the next instruction; PC+=4*simm16 from the next instruction"],
  [0x17, "s_waitcnt_vscnt",        [],     ["s1", "imm16"],    Wait,                                     "wait until vscnt<=simm16 (sdst = null)"],
  [0x18, "s_waitcnt_vmcnt",        [],     ["s1", "imm16"],    Wait,                                     "wait until vmcnt<=simm16"],
  [0x19, "s_waitcnt_expcnt",       [],     ["s1", "imm16"],    Wait,                                     "wait until expcnt<=simm16"],
  [0x1a, "s_waitcnt_lgkmcnt",      [],     ["s1", "imm16"],    Wait,                                     "wait until lgkmcnt<=simm16"],
  [0x1b, "s_subvector_loop_begin", [],     ["s1", "label"],    ReadsExec | WritesExec | Branch | Terminator, "wave64 half-wave loop start (no use in wave32)"],
  [0x1c, "s_subvector_loop_end",   [],     ["s1", "label"],    ReadsExec | WritesExec | Branch | Terminator, "wave64 half-wave loop end"],
]);
