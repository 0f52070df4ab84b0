import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  allOps,
  assemble,
  branchTarget,
  classify,
  countInstructions,
  decode,
  disassemble,
  type Field,
  flatSegments,
  formats,
  issueCycles,
  secondDwords,
} from "../../src/isa/index.ts";

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

  it("counts unknown dwords apart", () => {
    expect(countInstructions([0xbe800000, 0xbf810000])).toMatchObject({ instructions: 1, unknown: 1 });
  });

  it("puts program-counter writers among the branches", () => {
    for (const text of ["s_setpc_b64 s[0:1]", "s_swappc_b64 s[0:1], s[2:3]", "s_call_b64 s[0:1], 5", "s_branch 3"]) {
      expect(classify(decode(words(text), 0)!), text).toBe("branch");
    }
  });
});

it("counting steps over each instruction by the length that decode has, and puts it into its class", () => {
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
  expect(countInstructions(code)).toMatchObject({
    instructions: 11,
    unknown: 0,
    valu: 5,
    vmem: 2,
    lds: 1,
    smem: 1,
    salu: 2,
  });
  // A literal that the words end before.
  expect(countInstructions(words(program).slice(0, 1))).toMatchObject({ instructions: 0, unknown: 1 });
});

it("counting knows every opcode as its row does: class, cycles, length with and without literal and second dword", () => {
  const classes = { salu: 0, valu: 0, smem: 0, vmem: 0, lds: 0, exports: 0, branches: 0, waits: 0 };
  const member = { branch: "branches", wait: "waits", export: "exports" } as const;
  for (const op of allOps()) {
    const { encoding, fields, dwords } = formats[op.format];
    const field = (name: string) => (fields as readonly Field[]).find((each) => each.name === name);
    const first = field("op")!;
    const encoded = new Uint32Array(8);
    const put = (lsb: number, width: number, value: number) => {
      encoded[lsb >> 5] = (encoded[lsb >> 5]! & ~((2 ** width - 1) << (lsb & 31))) | (value << (lsb & 31));
    };
    put(encoding.lsb, encoding.width, encoding.value);
    put(first.lsb, first.width, op.opcode);
    const segment = (flatSegments as Readonly<Record<string, number>>)[op.format];
    if (segment !== undefined) put(14, 2, segment);
    const check = (length: number, what: string) => {
      const found = countInstructions(encoded.subarray(0, length));
      if (op.name === "s_code_end") {
        expect(found, op.mnemonic).toMatchObject({ ...classes, instructions: 0, unknown: 0 });
        return;
      }
      const unit = classify({ op });
      const counted = { ...classes, [unit in member ? member[unit as keyof typeof member] : unit]: 1 };
      expect(found, `${op.mnemonic} ${what}`).toMatchObject({ ...counted, instructions: 1, unknown: 0 });
      // the immediate 0 of s_waitcnt waits for memory, but there is nothing to wait for
      const waits = op.name === "s_barrier" ? 32 : 0;
      expect(found.estimatedCycles, op.mnemonic).toBe(issueCycles({ op }) + waits);
      const cut = countInstructions(encoded.subarray(0, length - 1));
      expect(length === 1 || cut.unknown > 0, `${op.mnemonic} ${what} cut`).toBe(true);
    };
    const always = op.src.some(({ kind }) => kind === "literal");
    check(dwords + Number(always), "plain");
    if (always) continue;
    for (const operand of op.src) {
      const source = operand.field === undefined ? undefined : field(operand.field);
      if (source === undefined || op.format === "MIMG" || !/^[vs]src$/.test(operand.kind)) continue;
      put(source.lsb, source.width, 255);
      check(dwords + 1, `literal in ${source.name}`);
      put(source.lsb, source.width, 0);
    }
    if (op.format === "MIMG") {
      put(field("nsa")!.lsb, 2, 3);
      check(5, "addresses");
    }
    if (!/^VOP[12C]$/.test(op.format)) continue;
    for (const marker of Object.values(secondDwords).flatMap((form) => form.markers as readonly number[])) {
      put(0, 9, marker);
      check(2, `marker ${marker}`);
    }
  }
});
