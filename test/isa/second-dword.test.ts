import { describe, expect, it } from "vitest";
import { allOps, decode, encode, Flag, type Op, print } from "../../src/isa/index.ts";
import { oracle } from "../oracles.ts";
import { llvmAssemble } from "./llvm.ts";

interface Sample {
  readonly text: string;
  readonly words: readonly number[];
}

const short = allOps().filter((op) => ["VOP1", "VOP2", "VOPC"].includes(op.format));
const withDpp = short.filter((op) => op.format !== "VOPC" && (op.flags & Flag.NoDpp) === 0 && hasNoForm(op));
const withSdwa = short.filter((op) => (op.flags & Flag.NoSdwa) === 0 && hasNoForm(op));

/** fmamk, swap and readfirstlane have neither form and no VOP3 form. */
function hasNoForm(op: Op): boolean {
  return op.mnemonic.endsWith("_e32");
}

/** Operands of the form in assembler order, with `v17` and `v23` as sources. */
function operands(op: Op): string[] {
  return [...op.dst, ...op.src].flatMap((o) => {
    if (o.kind === "exec") return [];
    if (o.kind === "vcc") return ["vcc_lo"];
    return [o.field === "vdst" ? "v9" : o.field === "src0" ? "v17" : "v23"];
  });
}

function build(
  op: Op,
  suffix: string,
  tail: string,
  form: "DPP16" | "DPP8" | "SDWA",
  fields: Record<string, number>,
  marker: number,
): Sample {
  const base: Record<string, number> = { src0: marker };
  if (op.dst[0]?.field === "vdst") base.vdst = 9;
  if (op.src.some((o) => o.field === "src1")) base.src1 = 23;
  const second = { form, fields: { ...(op.src.length > 0 ? { src0: 17 } : {}), ...fields } };
  const list = operands(op);
  const text = `${op.name}${suffix}${list.length > 0 ? ` ${list.join(", ")}` : ""}${tail}`;
  return { text, words: encode({ op, fields: base, second }) };
}

const dpp16Tails: readonly (readonly [string, Record<string, number>])[] = [
  [" row_shr:1 row_mask:0x3 bank_mask:0x5 bound_ctrl:0", { dppCtrl: 0x111, rowMask: 3, bankMask: 5, boundCtrl: 1 }],
  [" quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", { dppCtrl: 0xb1, rowMask: 15, bankMask: 15 }],
  [" row_share:7 row_mask:0xf bank_mask:0xf fi:1", { dppCtrl: 0x157, rowMask: 15, bankMask: 15, fi: 1 }],
  [" row_half_mirror row_mask:0x1 bank_mask:0x8", { dppCtrl: 0x141, rowMask: 1, bankMask: 8 }],
];

function sdwaSample(op: Op): Sample {
  const has1 = op.src.some((o) => o.field === "src1");
  if (op.src.length === 0) return build(op, "_sdwa", "", "SDWA", {}, 249);
  const selects = ` src0_sel:WORD_1${has1 ? " src1_sel:BYTE_2" : ""}`;
  const sources = { src0Sel: 5, ...(has1 ? { src1Sel: 2 } : {}) };
  if (op.format === "VOPC") return build(op, "_sdwa", selects, "SDWA", sources, 249);
  return build(
    op,
    "_sdwa",
    ` dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE${selects}`,
    "SDWA",
    { ...sources, dstSel: 4, dstUnused: 2 },
    249,
  );
}

const samples: readonly Sample[] = [
  ...withDpp.flatMap((op) => dpp16Tails.map(([tail, fields]) => build(op, "_dpp", tail, "DPP16", fields, 250))),
  ...withDpp.map((op) => build(op, "_dpp", " dpp8:[1,0,3,2,5,4,7,6]", "DPP8", { selectors: 0o67452301 }, 233)),
  ...withDpp.map((op) => build(op, "_dpp", " dpp8:[7,6,5,4,3,2,1,0] fi:1", "DPP8", { selectors: 0o01234567 }, 234)),
  ...withSdwa.map(sdwaSample),
];

const hex = (words: readonly number[] | string) =>
  typeof words === "string" ? words : words.map((w) => w.toString(16).padStart(8, "0")).join(" ");

describe.skipIf(!oracle("llvm-mc-19"))("DPP and SDWA forms against llvm-mc", () => {
  it("are sampled for every row that has them", () => {
    expect(withDpp.length).toBeGreaterThan(80);
    expect(withSdwa.length).toBeGreaterThan(180);
  });

  it("encode as llvm-mc does", () => {
    const want = llvmAssemble(samples.map((s) => s.text));
    expect(
      samples.flatMap((s, i) =>
        hex(want[i]!) === hex(s.words) ? [] : [`${s.text}: ${hex(s.words)}, llvm-mc ${hex(want[i]!)}`],
      ),
    ).toEqual([]);
  });

  it("print as text that llvm-mc assembles to the same dwords", () => {
    const texts = samples.map((s) => print(decode(s.words, 0)!));
    const back = llvmAssemble(texts);
    expect(
      samples.flatMap((s, i) =>
        hex(back[i]!) === hex(s.words) ? [] : [`${texts[i]}: ${hex(s.words)}, llvm-mc ${hex(back[i]!)}`],
      ),
    ).toEqual([]);
  });

  it("print SDWA modifiers, scalar sources and destinations", () => {
    // Words assembled by llvm-mc from the texts on the right.
    const lines = [
      "v_add_f32_sdwa v0, -|v1|, s2 clamp dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:WORD_0 src1_sel:DWORD",
      "v_cmp_eq_u32_sdwa s4, sext(v1), v2 src0_sel:BYTE_0 src1_sel:WORD_1",
      "v_mul_f32_sdwa v0, v1, v2 mul:4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
      "v_add_f32_dpp v0, -v1, |v2| row_mirror row_mask:0xf bank_mask:0xf",
    ];
    const words = llvmAssemble(lines);
    const texts = words.map((w) => (typeof w === "string" ? w : print(decode(w, 0)!)));
    expect(llvmAssemble(texts).map(hex)).toEqual(words.map(hex));
    expect(texts[1]).toBe(lines[1]);
  });
});
