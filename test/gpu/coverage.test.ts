import { describe, expect, it } from "vitest";
import { allOps, encode, type FormatName, type Op } from "../../src/isa/index.ts";
import { high, low, Rig } from "./rig.ts";

/** Formats of graphics stages and images. */
const graphicsFormats: readonly string[] = ["EXP", "VINTRP", "MIMG", "MTBUF"];

/** Names that the simulator refuses with NOT_MODELLED: debugging, traps, wave64; no compiler of compute emits them. */
const notModelled =
  /^(s_(rfe_b64|movrelsd_2_b32|setkill|sethalt|sendmsg|sendmsghalt|cbranch_cdbg\w+|endpgm_saved|endpgm_ordered_ps_done|subvector_loop_\w+)|v_(pipeflush|clrexcp|movrelsd_b32|movrelsd_2_b32|swaprel_b32|mullit_f32|m?qsad_pk_u16_u8|mqsad_u32_u8|trig_preop_f64|div_fixup_f16)|ds_condxchg32_rtn_b64|global_(load|store)_dword_addtid)$/;

/** Faults that show the handler ran: what the instruction is for, or an address that is not there. */
const expectedFaults: Readonly<Record<string, string>> = {
  s_trap: "TRAP",
  s_code_end: "ILLEGAL_INSTRUCTION",
  // The way back leads to address 0.
  s_setpc_b64: "NOT_MAPPED",
  s_swappc_b64: "NOT_MAPPED",
};

const scalarFields: Readonly<Partial<Record<FormatName, readonly string[]>>> = {
  SOP1: ["sdst", "src0"],
  SOP2: ["sdst", "src0", "src1"],
  SOPC: ["src0", "src1"],
  SOPK: ["sdst"],
};
/** MODE, all 32 bits. */
const MODE = 1 | (31 << 11);

/** Harmless operands: zeros in scalars from s16 and vectors from v8 on; memory at s[0:1], a page. */
function words(op: Op): number[] {
  const fields: Record<string, number> = {};
  for (const field of scalarFields[op.format] ?? []) fields[field] = field === "sdst" ? 16 : 20;
  if (/^s_[gs]etreg/.test(op.name)) fields.simm16 = MODE;
  if (op.format === "SMEM") Object.assign(fields, { sdata: 16, sbase: 0 });
  if (op.format === "MUBUF") Object.assign(fields, { vdata: 8, vaddr: 8, srsrc: 5, soffset: 128 });
  if (op.format === "DS") Object.assign(fields, { vdst: 8, addr: 8, data0: 8, data1: 8 });
  if (op.format === "GLOBAL") Object.assign(fields, { vdst: 8, addr: 8, data: 8, saddr: 0 });
  const literal = /fma[am]k/.test(op.name) || op.name === "s_setreg_imm32_b32" ? { literal: 0xf0 } : {};
  return encode({ op, fields, ...literal });
}

describe("every row of the compute formats", () => {
  const rows = allOps().filter((op) => !graphicsFormats.includes(op.format));

  it("executes, but for the named few", () => {
    const rig = new Rig();
    const page = rig.alloc(4096);
    const wrong: string[] = [];
    for (const op of rows) {
      const code = rig.code(Uint32Array.from([...words(op), 0xbf810000]));
      const fault = rig.run({ code, user: [low(page.va), high(page.va)], ldsBytes: 512 });
      // FLAT addresses a page that is not there, SCRATCH a lane's memory of no bytes: the fault is theirs.
      const memory = { FLAT: "NOT_MAPPED", SCRATCH: "PAST_SCRATCH" }[op.format as string];
      const want = notModelled.test(op.name) ? "NOT_MODELLED" : (expectedFaults[op.name] ?? memory);
      if (fault?.name !== want) wrong.push(`${op.mnemonic}: ${fault?.name}, not ${want}`);
    }
    expect(wrong).toEqual([]);
    expect(rows.length).toBeGreaterThan(1200);
  });
});
