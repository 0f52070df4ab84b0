import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dwordsOf, findOp } from "../../src/isa/decode.ts";
import { assemble, branchTarget, classify, countInstructions, decode, disassemble } from "../../src/isa/index.ts";

function words(text: string): Uint32Array {
  const result = assemble(text);
  if (!result.ok) throw new Error(result.mistakes.map((m) => `${m.line}: ${m.message}`).join("\n"));
  return result.words;
}

const program = `
  s_load_dwordx4 s[4:7], s[2:3], 0x10
  v_lshlrev_b32 v0, 2, v0
  s_waitcnt lgkmcnt(0)
loop:
  buffer_load_dword v1, v0, s[4:7], 0 offen
  s_waitcnt vmcnt(0)
  v_rcp_f32 v1, v1
  v_mul_lo_u32 v2, v1, v0
  ds_write_b32 v0, v1
  s_cmp_lg_u32 s8, 0x12345678
  s_cbranch_scc1 loop
  s_barrier
  s_endpgm
  s_code_end
  s_code_end`;

describe("disassemble", () => {
  it("gives one line an instruction with offset, address and dwords", () => {
    const lines = disassemble(words("v_mov_b32 v0, 0x12345678\ns_endpgm"), { baseAddress: 0x8000_0000_0000n });
    expect(lines.map((l) => [l.offset, l.address, l.words, l.text])).toEqual([
      [0, 0x8000_0000_0000n, [0x7e0002ff, 0x12345678], "v_mov_b32_e32 v0, 0x12345678"],
      [8, 0x8000_0000_0008n, [0xbf810000], "s_endpgm"],
    ]);
  });

  it("marks a dword that is no instruction and goes on", () => {
    // SOP1 opcode 0 does not exist.
    const texts = disassemble([0xbf800000, 0xbe800000, 0xbf810000]).map((l) => l.text);
    expect(texts).toEqual(["s_nop 0x0", ".long 0xbe800000 ; unknown instruction at byte 4", "s_endpgm"]);
  });

  it("marks an instruction that the end of the code cuts off", () => {
    // v_mov_b32 v0, literal, without the literal
    expect(disassemble([0x7e0002ff])[0]?.text).toContain("unknown instruction");
  });

  it("finds branch targets", () => {
    const lines = disassemble(words(program));
    const branch = lines.find((l) => l.text.startsWith("s_cbranch"))!;
    expect(branchTarget(branch)).toBe(lines.find((l) => l.text.startsWith("buffer_load"))!.offset);
    expect(branchTarget(lines[0]!)).toBeUndefined();
  });

  it("prints or marks any words, and assembling what it printed gives them back or fails cleanly", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffffffff }), { minLength: 1, maxLength: 6 }), (random) => {
        const lines = disassemble(random);
        expect(lines.flatMap((l) => l.words)).toEqual(random);
        for (const line of lines) expect(typeof assemble(line.text).ok).toBe("boolean");
      }),
      { numRuns: 2000, seed: 4 },
    );
  });
});

describe("countInstructions", () => {
  it("counts each instruction once in its class, without s_code_end", () => {
    expect(countInstructions(words(program))).toMatchObject({
      instructions: 12,
      smem: 1,
      valu: 3,
      vmem: 1,
      lds: 1,
      branches: 1,
      waits: 2,
      // s_cmp, s_barrier, s_endpgm
      salu: 3,
      exports: 0,
      unknown: 0,
    });
  });

  it("estimates issue cycles plus a latency per stalling wait", () => {
    // 12 issues, v_rcp_f32 and v_mul_lo_u32 3 more each; waits: lgkm 64, vm 120, barrier 32.
    expect(countInstructions(words(program)).estimatedCycles).toBe(12 + 6 + 64 + 120 + 32);
  });

  it("counts unknown dwords apart", () => {
    expect(countInstructions([0xbe800000, 0xbf810000])).toMatchObject({ instructions: 1, unknown: 1 });
  });

  it("puts program-counter writers among the branches", () => {
    for (const text of ["s_setpc_b64 s[0:1]", "s_swappc_b64 s[0:1], s[2:3]", "s_call_b64 s[0:1], 5", "s_branch 3"]) {
      expect(classify(decode(words(text), 0)!), text).toBe("branch");
    }
  });
});

it("findOp and dwordsOf have the op and the length that decode has", () => {
  const program = `
    s_add_u32 s0, s1, 0x12345678
    s_load_dwordx4 s[4:7], s[2:3], 0x10
    v_add_f32_e32 v0, 0x41200000, v1
    v_add_f32_e64 v0, s4, 0x41200000
    v_fmaak_f32 v0, v1, v2, 0x40490fdb
    v_lshrrev_b64 v[0:1], 0, 0xbf000000
    buffer_load_dword v0, v1, s[4:7], 0 offen
    ds_read2_b32 v[0:1], v2 offset0:0 offset1:1
    global_load_dword v0, v1, s[2:3]
    s_endpgm`;
  // v_mov_b32 v0, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
  const code = Uint32Array.of(0x7e0002fa, 0xff00b101, ...words(program));
  let instructions = 0;
  for (let at = 0; at < code.length; instructions++) {
    const whole = decode(code, at);
    const op = findOp(code, at);
    expect(op).toBe(whole?.op);
    expect(op && dwordsOf(op, code, at)).toBe(whole?.dwords);
    at += whole?.dwords ?? 1;
  }
  expect(instructions).toBe(11);
  // A literal that the words end before.
  expect(countInstructions(words(program).slice(0, 1))).toMatchObject({ instructions: 0, unknown: 1 });
});
