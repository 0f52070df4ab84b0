import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allOps, assemble, decode, encode, print } from "../../src/isa/index.ts";
import { oracle } from "../oracles.ts";
import { llvmAssemble } from "./llvm.ts";
import { choices, sample } from "./samples.ts";

const samples = allOps().flatMap((op) => Array.from({ length: choices }, (_, c) => sample(op, c)));

function words(text: string): number[] {
  const result = assemble(text);
  if (!result.ok) throw new Error(`${text}: ${result.mistakes[0]?.message}`);
  return [...result.words];
}

describe("assemble", () => {
  it("reads every sample text and every printed text of it", () => {
    const wrong: string[] = [];
    for (const s of samples) {
      const want = encode(s);
      for (const text of [s.text, print(decode(want, 0)!)]) {
        const result = assemble(text);
        if (!result.ok) wrong.push(`${text}: ${result.mistakes[0]?.message}`);
        else if (String([...result.words]) !== String(want)) wrong.push(`${text}: ${[...result.words]}, want ${want}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("resolves labels forwards and backwards, in dwords from the next instruction", () => {
    const text = `
start:            ; a comment
  s_cbranch_scc1 done   // another
  v_mov_b32 v0, 0x12345678
  s_branch start
done: s_endpgm`;
    // s_cbranch_scc1 is one dword, v_mov_b32 two with its literal, s_branch one.
    expect(words(text)).toEqual([0xbf850003, 0x7e0002ff, 0x12345678, 0xbf82fffc, 0xbf810000]);
  });

  it("takes the long form where the short one can't hold the operands", () => {
    expect(words("v_add_f32 v0, v1, v2")).toEqual(words("v_add_f32_e32 v0, v1, v2"));
    expect(words("v_add_f32 v0, v1, s2")).toEqual(words("v_add_f32_e64 v0, v1, s2"));
    expect(words("v_add_f32 v0, -v1, v2 clamp")).toEqual(words("v_add_f32_e64 v0, -v1, v2 clamp"));
  });

  it("names the line of each mistake", () => {
    const result = assemble(
      "s_nop 0\ns_mov_b32 s0\n\nv_frobnicate v0\ns_branch nowhere\nv_mov_b32 v0, s[0:1]\ns_endpgm",
    );
    expect(result).toEqual({
      ok: false,
      mistakes: [
        { line: 2, message: "s_mov_b32 needs more operands" },
        { line: 4, message: "unknown instruction v_frobnicate" },
        { line: 6, message: "s[0:1] is no operand of 1 dwords" },
      ],
    });
    expect(assemble("s_branch nowhere")).toEqual({ ok: false, mistakes: [{ line: 1, message: "no label nowhere" }] });
  });

  it("refuses what the fields can't hold", () => {
    const bad = [
      "s_mov_b32 s106, 0",
      "v_mov_b32 v256, 0",
      "s_load_dword s0, s[3:4], 0x0",
      "s_load_dword s0, s[2:3], 0x100000",
      "buffer_load_dword v0, v1, s[4:7], 0",
      "buffer_load_dword v0, off, s[5:8], 0",
      "buffer_load_dword v0, off, s[4:7], 0x12345678",
      "ds_read_b32 v0, v1 offset:65536",
      "global_load_dword v0, v1, off",
      "v_fma_f32 v0, 0x12345678, 0x12345679, v0",
      "v_mov_b32 v0, 0x123456789",
      "v_add_nc_u32 v0, -v1, v2",
      "s_waitcnt vmcnt(64)",
      "v_readlane_b32 s0, v1, 0x1234",
    ];
    for (const text of bad) expect(assemble(text).ok, text).toBe(false);
  });

  it("never throws, whatever the text", () => {
    const token = fc.constantFrom(
      "v_add_f32",
      "s_load_dword",
      "v0",
      "s[0:1]",
      ",",
      "[",
      ")",
      "-",
      "|",
      "0x",
      "1.0",
      ":",
      "offset:",
      "neg(",
      "lit(",
      "s_waitcnt",
      "vmcnt(",
      "\n",
      ".long",
      "op_sel:[1",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(token, fc.string()), { maxLength: 12 }), (parts) => {
        expect(typeof assemble(parts.join(" ")).ok).toBe("boolean");
      }),
      { numRuns: 2000, seed: 3 },
    );
  });
});

describe.skipIf(!oracle("llvm-mc-19"))("against llvm-mc", () => {
  it("chooses inline constants and literals as llvm-mc does", () => {
    const values = [
      "0",
      "64",
      "65",
      "-16",
      "-17",
      "0x3f800000",
      "0xc0800000",
      "0x3e22f983",
      "0xffffffff",
      "1.0",
      "-4.0",
      "3.5",
      "0.15915494",
      "2147483647",
      "0.1",
    ];
    const lines = values.flatMap((v) => [
      `v_mov_b32_e32 v0, ${v}`,
      `v_add_f32_e32 v0, ${v}, v1`,
      `v_fma_f32 v0, v1, ${v}, v2`,
      `s_add_u32 s0, s1, ${v}`,
      `v_add_f64 v[0:1], v[2:3], ${v === "0.1" ? "3.5" : v === "0.15915494" ? "0.15915494309189532" : v}`,
    ]);
    const want = llvmAssemble(lines);
    expect(lines.map((line) => [line, words(line)])).toEqual(lines.map((line, i) => [line, want[i]]));
  });
});

describe("literals whose value is also an inline constant", () => {
  it("stay literals through our text", () => {
    // v_mov_b32 v0, literal 1; v_add_f32 v0, literal 1.0, v1; s_mov_b32 s0, literal -1
    const odd = [
      [0x7e0002ff, 1],
      [0x060002ff, 0x3f800000],
      [0xbe8003ff, 0xffffffff],
    ];
    const texts = odd.map((w) => print(decode(w, 0)!));
    expect(texts[0]).toBe("v_mov_b32_e32 v0, lit(0x1)");
    expect(texts.map(words)).toEqual(odd);
  });
});
