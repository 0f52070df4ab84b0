import { Flag } from "../flags.ts";
import { rows } from "../row.ts";

const { Branch, ReadsExec, ReadsM0, ReadsMode, ReadsScc, ReadsVcc, Terminator, Wait } = Flag;

/** SOPP: program control; a 16-bit immediate. Source: RDNA2 ISA, SOPP chapter. */
// biome-ignore format: one row a line, columns aligned
export const sopp = rows("SOPP", [
  // code, name, destinations, sources, flags, meaning
  [0x00, "s_nop",                      [], ["imm16"], 0,                               "idle simm16[3:0]+1 issue slots"],
  [0x01, "s_endpgm",                   [], ["imm16"], Terminator,                      "end the wave"],
  [0x02, "s_branch",                   [], ["label"], Branch | Terminator,             "PC=next+4*simm16"],
  [0x03, "s_wakeup",                   [], [],        0,                               "wake sleeping waves of the workgroup"],
  [0x04, "s_cbranch_scc0",             [], ["label"], ReadsScc | Branch | Terminator,  "if SCC==0: PC=next+4*simm16"],
  [0x05, "s_cbranch_scc1",             [], ["label"], ReadsScc | Branch | Terminator,  "if SCC==1: PC=next+4*simm16"],
  [0x06, "s_cbranch_vccz",             [], ["label"], ReadsVcc | Branch | Terminator,  "if VCC==0: PC=next+4*simm16"],
  [0x07, "s_cbranch_vccnz",            [], ["label"], ReadsVcc | Branch | Terminator,  "if VCC!=0: PC=next+4*simm16"],
  [0x08, "s_cbranch_execz",            [], ["label"], ReadsExec | Branch | Terminator, "if EXEC==0: PC=next+4*simm16"],
  [0x09, "s_cbranch_execnz",           [], ["label"], ReadsExec | Branch | Terminator, "if EXEC!=0: PC=next+4*simm16"],
  [0x0a, "s_barrier",                  [], [],        0,                               "wait until every wave of the workgroup has arrived"],
  [0x0b, "s_setkill",                  [], ["imm16"], 0,                               "kill flag=simm16[0]"],
  [0x0c, "s_waitcnt",                  [], ["imm16"], Wait,                            "wait until each counter <= its field (see reference)"],
  [0x0d, "s_sethalt",                  [], ["imm16"], 0,                               "halt flag=simm16[0]"],
  [0x0e, "s_sleep",                    [], ["imm16"], 0,                               "sleep about 64*simm16[6:0] clocks"],
  [0x0f, "s_setprio",                  [], ["imm16"], 0,                               "wave priority=simm16[1:0]"],
  [0x10, "s_sendmsg",                  [], ["imm16"], ReadsExec | ReadsM0,             "message simm16 to the fixed-function unit (payload M0)"],
  [0x11, "s_sendmsghalt",              [], ["imm16"], ReadsExec | ReadsM0,             "s_sendmsg, then halt"],
  [0x12, "s_trap",                     [], ["imm16"], 0,                               "enter trap handler simm16[7:0]"],
  [0x13, "s_icache_inv",               [], [],        0,                               "invalidate the instruction cache"],
  [0x14, "s_incperflevel",             [], ["imm16"], 0,                               "performance counter level"],
  [0x15, "s_decperflevel",             [], ["imm16"], 0,                               "performance counter level"],
  [0x16, "s_ttracedata",               [], [],        ReadsM0,                         "thread trace marker"],
  [0x17, "s_cbranch_cdbgsys",          [], ["label"], Branch | Terminator,             "debugger conditional branch"],
  [0x18, "s_cbranch_cdbguser",         [], ["label"], Branch | Terminator,             "debugger conditional branch"],
  [0x19, "s_cbranch_cdbgsys_or_user",  [], ["label"], Branch | Terminator,             "debugger conditional branch"],
  [0x1a, "s_cbranch_cdbgsys_and_user", [], ["label"], Branch | Terminator,             "debugger conditional branch"],
  [0x1b, "s_endpgm_saved",             [], [],        Terminator,                      "end the wave after a context save"],
  [0x1e, "s_endpgm_ordered_ps_done",   [], [],        Terminator,                      "end the wave and release pixel ordering"],
  [0x1f, "s_code_end",                 [], [],        Terminator,                      "padding after the last instruction; never executed"],
  [0x20, "s_inst_prefetch",            [], ["imm16"], 0,                               "instruction prefetch depth=simm16[1:0]"],
  [0x21, "s_clause",                   [], ["imm16"], 0,                               "the next simm16[5:0]+1 instructions form one clause (same memory type)"],
  [0x22, "s_wait_idle",                [], [],        0,                               "wait until all memory is idle"],
  [0x23, "s_waitcnt_depctr",           [], ["imm16"], Wait,                            "wait on internal dependency counters (hazard work-arounds)"],
  [0x24, "s_round_mode",               [], ["imm16"], ReadsMode,                       "MODE[3:0]=simm16[3:0] (rounding)"],
  [0x25, "s_denorm_mode",              [], ["imm16"], ReadsMode,                       "MODE[7:4]=simm16[3:0] (denormals)"],
  [0x28, "s_ttracedata_imm",           [], ["imm16"], 0,                               "thread trace marker"],
]);
