import { Flag, type Op, type Operand } from "../../src/isa/index.ts";
import { exportSample, imageSample, interpolationSample } from "./graphics-samples.ts";

/** One instruction written twice, independently: as assembler text and as field values. */
export interface Sample {
  readonly op: Op;
  readonly text: string;
  readonly fields: Readonly<Record<string, number>>;
  readonly literal?: number;
  readonly addresses?: readonly number[];
}

export const choices = 7;

interface Draft {
  fields: Record<string, number>;
  literal: number | undefined;
  scalars: number;
  tail: string[];
}

const NULL = 125;
const VGPR0 = 256;

/** `v5`, `v[5:6]` … by letter, number, count. */
function tuple(letter: string, first: number, count: number): string {
  return count <= 1 ? `${letter}${first}` : `${letter}[${first}:${first + count - 1}]`;
}

const vgprNumbers = [8, 200, 34, 61, 0, 120, 77];
const sgprNumbers = [4, 64, 20, 32, 0, 96, 48];

/** Scalar registers with names, for one-dword operands. */
const special: readonly (readonly [number, string])[] = [
  [106, "vcc_lo"],
  [124, "m0"],
  [126, "exec_lo"],
  [NULL, "null"],
  [107, "vcc_hi"],
];

function scalarRegister(dwords: number, choice: number, slot: number): readonly [number, string] {
  if (dwords === 1 && choice === 5) return special[slot % special.length]!;
  if (dwords === 2 && choice === 5) return slot === 0 ? [106, "vcc"] : [126, "exec"];
  const n = sgprNumbers[choice]! + (dwords > 4 ? 0 : 4 * slot);
  return [n, tuple("s", n, dwords)];
}

function sourceOperand(op: Op, o: Operand, choice: number, slot: number, draft: Draft): readonly [number, string] {
  const vector = o.kind === "vsrc";
  const isFloat = o.type[0] === "f";
  if (choice === 2 && slot % 2 === 0) return isFloat ? [243, "-1.0"] : [128 + 33, "33"];
  if (choice === 6 && slot % 2 === 0)
    return isFloat ? [248, o.type === "f64" ? "0.15915494309189532" : "0.15915494"] : [193 + 15, "-16"];
  if (choice === 4 && slot === 0) return isFloat ? [240, "0.5"] : [128, "0"];
  if (choice === 3 && o.literal && o.dwords === 1 && draft.literal === undefined && !hasFixedLiteral(op)) {
    draft.literal = o.type.endsWith("16") ? 0x1234 : 0x92345678;
    return [255, `0x${draft.literal.toString(16)}`];
  }
  const wantScalar = !vector || ((choice === 1 || choice === 5) && draft.scalars === 0);
  if (wantScalar) {
    draft.scalars++;
    return scalarRegister(o.dwords, choice, slot);
  }
  const n = vgprNumbers[choice]! + 4 * slot;
  return [VGPR0 + n, tuple("v", n, o.dwords)];
}

function hasFixedLiteral(op: Op): boolean {
  return op.src.some((o) => o.kind === "literal");
}

function operand(op: Op, o: Operand, choice: number, slot: number, draft: Draft): string | undefined {
  const set = (value: number) => {
    if (o.field !== undefined) draft.fields[o.field] = value;
  };
  switch (o.kind) {
    case "exec":
      return undefined;
    case "vcc":
      return "vcc_lo";
    case "literal":
      draft.literal = o.type === "b16" ? 0x1234 : 0x12345678;
      return `0x${draft.literal.toString(16)}`;
    case "vgpr": {
      const n = vgprNumbers[choice]! + 4 * slot;
      const wide =
        o.field === "src0" ||
        ((op.format === "VOP3" || op.format === "VOP3B" || op.format === "VOP3P") && o.field!.startsWith("src"));
      set(wide ? VGPR0 + n : n);
      return tuple("v", n, o.dwords);
    }
    case "sgpr":
    case "mask": {
      const [code, text] = op.name.startsWith("s_waitcnt")
        ? ([NULL, "null"] as const)
        : scalarRegister(o.dwords, o.kind === "mask" || op.format !== "VOP3" ? choice : Math.min(choice, 4), slot);
      set(code);
      return text;
    }
    case "imm": {
      if (op.name === "s_waitcnt") {
        // [3:0]+[15:14] vmcnt, [6:4] expcnt, [13:8] lgkmcnt
        const [value, text] = (
          [
            [0x3f70, "vmcnt(0)"],
            [0xc07f, "lgkmcnt(0)"],
            [0x3f73, "vmcnt(3)"],
            [0xc37f, "lgkmcnt(3)"],
            [0xff0f, "expcnt(0)"],
            [0x7f7f, "vmcnt(31)"],
            [0x0070, "vmcnt(0) lgkmcnt(0)"],
          ] as const
        )[choice]!;
        set(value);
        return text;
      }
      const value = [7, 0x1234, 0x7fff, 1, 0, 0xffff, 0x8000][choice]!;
      set(value);
      return op.name === "s_endpgm" && value === 0 ? undefined : String(value);
    }
    case "label": {
      const value = [5, 100, 3000, 1, 0, 0xfff0, 0x8000][choice]!;
      set(value);
      return String(value);
    }
    case "hwreg": {
      const [id, offset, width] = (
        [
          [1, 0, 32],
          [1, 4, 4],
          [2, 0, 8],
          [1, 2, 5],
          [20, 0, 32],
          [7, 31, 1],
          [29, 0, 20],
        ] as const
      )[choice]!;
      set(id | (offset << 6) | ((width - 1) << 11));
      return `hwreg(${id}, ${offset}, ${width})`;
    }
    default: {
      const [code, text] = sourceOperand(op, o, choice, slot, draft);
      set(code);
      return o.neg || o.abs ? modified(o, choice, code, text, draft) : text;
    }
  }
}

/** Puts neg and abs on register sources: neg on choice 1, neg and abs on 0, abs on 4. */
function modified(o: Operand, choice: number, code: number, text: string, draft: Draft): string {
  const isRegister = code >= VGPR0 || code < 128;
  const bit = 1 << Number(o.field![3]);
  const neg = o.neg && (choice === 1 || choice === 0);
  const abs = o.abs && (choice === 0 || choice === 4);
  if (!neg && !abs) return text;
  if (neg) draft.fields.neg = (draft.fields.neg ?? 0) | bit;
  if (abs) draft.fields.abs = (draft.fields.abs ?? 0) | bit;
  if (abs) return `${neg ? "-" : ""}|${text}|`;
  return isRegister ? `-${text}` : `neg(${text})`;
}

/** VOP3P: which halves the results take, and what is negated. */
function halves(op: Op, choice: number, draft: Draft): void {
  const isMix = op.name.startsWith("v_fma_mix");
  const count = op.src.length;
  const list = (name: string, bits: number) => {
    draft.tail.push(`${name}:[${Array.from({ length: count }, (_, k) => (bits >> k) & 1).join(",")}]`);
  };
  const all = (1 << count) - 1;
  // By choice: op_sel, op_sel_hi, neg_lo, neg_hi; the usual ones are not written.
  const low = [0, 1, 2, 0, 3, 0, all][choice]!;
  const high = [isMix ? 0 : all, 2, 1, isMix ? 0 : all, 0, all, 3][choice]!;
  if (low !== 0) list("op_sel", low);
  draft.fields.opSel = low;
  if (high !== (isMix ? 0 : all)) list("op_sel_hi", high);
  draft.fields.opSelHi = high & 3;
  draft.fields.opSelHi2 = count < 3 ? (isMix ? 0 : 1) : high >> 2;
  if (isMix) return;
  const negLow = [0, 2, 0, 0, 1, 0, 3][choice]!;
  const negHigh = [0, 1, 0, 0, 3, 0, 2][choice]!;
  if (negLow !== 0) list("neg_lo", negLow);
  if (negHigh !== 0) list("neg_hi", negHigh);
  draft.fields.neg = negLow;
  draft.fields.abs = negHigh;
}

function aluSample(op: Op, choice: number): Sample {
  const draft: Draft = { fields: {}, literal: undefined, scalars: 0, tail: [] };
  const texts = [...op.dst, ...op.src].map((o, slot) => operand(op, o, choice, slot, draft));
  if ((op.flags & Flag.OpSel) !== 0 && choice === 1) {
    draft.fields.opSel = 1;
    const zeros = op.name.startsWith("v_permlane") ? ["0"] : op.src.map(() => "0");
    draft.tail.push(`op_sel:[${["1", ...zeros].join(",")}]`);
  }
  if (op.format === "VOP3P") halves(op, choice, draft);
  if ((op.flags & Flag.Clamp) !== 0 && (choice === 1 || choice === 2)) {
    draft.fields.clamp = 1;
    draft.tail.push("clamp");
  }
  if ((op.flags & Flag.Omod) !== 0 && choice !== 1) {
    const omod = [1, 0, 3, 2, 0, 1, 0][choice]!;
    if (omod !== 0) {
      draft.fields.omod = omod;
      draft.tail.push(["", "mul:2", "mul:4", "div:2"][omod]!);
    }
  }
  return finish(op, texts, draft);
}

function finish(op: Op, texts: readonly (string | undefined)[], draft: Draft): Sample {
  const operands = texts.filter((t) => t !== undefined).join(", ");
  const text = [`${op.mnemonic}${operands === "" ? "" : ` ${operands}`}`, ...draft.tail].join(" ");
  return draft.literal === undefined
    ? { op, text, fields: draft.fields }
    : { op, text, fields: draft.fields, literal: draft.literal };
}

function newDraft(): Draft {
  return { fields: {}, literal: undefined, scalars: 0, tail: [] };
}

function set(draft: Draft, names: readonly string[]): void {
  for (const name of names) {
    draft.fields[name] = 1;
    draft.tail.push(name);
  }
}

function smemSample(op: Op, choice: number): Sample {
  const draft = newDraft();
  const texts: string[] = [];
  if (op.dst[0]) {
    const n = [8, 16, 24, 32, 40, 48, 64][choice]!;
    draft.fields.sdata = n;
    texts.push(tuple("s", n, op.dst[0].dwords));
  }
  if (op.src[0]) {
    const n = [4, 40, 48, 60, 0, 100, 8][choice]!;
    draft.fields.sbase = n / 2;
    texts.push(tuple("s", n, op.src[0].dwords));
    const offset = [0, 0x1234, op.src[0].dwords === 4 ? 0xffffc : -8, 16, 0xfffff, 0, 4][choice]!;
    draft.fields.offset = offset;
    if (choice === 3 || choice === 5) {
      draft.fields.soffset = choice === 3 ? 77 : 124;
      texts.push(choice === 3 ? "s77" : "m0");
      if (offset !== 0) draft.tail.push(`offset:${offset}`);
    } else texts.push(String(offset));
    if (choice === 1) set(draft, ["glc", "dlc"]);
    if (choice === 2) set(draft, ["glc"]);
  }
  return finish(op, texts, draft);
}

function dsSample(op: Op, choice: number): Sample {
  const draft = newDraft();
  const texts = [...op.dst, ...op.src].map((o, slot) => {
    const n = vgprNumbers[choice]! + 5 * slot;
    draft.fields[o.field!] = n;
    return tuple("v", n, o.dwords);
  });
  if ((op.flags & Flag.PairOffset) !== 0) {
    if (choice !== 0) {
      draft.fields.offset0 = choice;
      draft.fields.offset1 = 255 - choice;
      draft.tail.push(`offset0:${choice} offset1:${255 - choice}`);
    }
  } else if (op.dst.length + op.src.length > 0) {
    const offset = (
      op.name.includes("swizzle")
        ? [0, 0x801b, 0x041f, 0x80e4, 1, 0x8000, 0x7c1f]
        : [0, 4, 0x1234, 0xffff, 1, 0x8000, 252]
    )[choice]!;
    draft.fields.offset0 = offset & 255;
    draft.fields.offset1 = offset >> 8;
    if (offset !== 0) draft.tail.push(`offset:${offset}`);
  }
  return finish(op, texts, draft);
}

function mubufSample(op: Op, choice: number): Sample {
  const draft = newDraft();
  if ((op.flags & Flag.Cache) !== 0) return finish(op, [], draft);
  const isLoad = (op.flags & Flag.Load) !== 0;
  const data = op.src[0] ?? op.dst[0]!;
  const vdata = vgprNumbers[choice]!;
  draft.fields.vdata = vdata;
  const tfe = isLoad && op.format === "MUBUF" && choice === 2 && !op.name.includes("d16") && !op.name.includes("lds");
  const texts = [tuple("v", vdata, data.dwords + (tfe ? 1 : 0))];
  const [idxen, offen] = (
    [
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
      [0, 1],
      [0, 0],
      [1, 0],
    ] as const
  )[choice]!;
  if (idxen + offen > 0) draft.fields.vaddr = 100;
  texts.push(idxen + offen === 0 ? "off" : tuple("v", 100, idxen + offen));
  const srsrc = [2, 10, 3, 20, 0, 24, 1][choice]!;
  draft.fields.srsrc = srsrc;
  texts.push(tuple("s", srsrc * 4, 4));
  const [soffset, soffsetText] = (
    [
      [4, "s4"],
      [124, "m0"],
      [128, "0"],
      [77, "s77"],
      [128, "0"],
      [192, "64"],
      [NULL, "null"],
    ] as const
  )[choice]!;
  draft.fields.soffset = soffset;
  texts.push(soffsetText);
  if (op.format === "MTBUF") {
    draft.fields.format = [22, 1, 127, 77, 0, 63, 14][choice]!;
    draft.tail.push(`format:${draft.fields.format}`);
  }
  if (idxen === 1) set(draft, ["idxen"]);
  if (offen === 1) set(draft, ["offen"]);
  const offset = [0, 4, 4095, 128, 16, 1, 0][choice]!;
  if (offset !== 0) {
    draft.fields.offset = offset;
    draft.tail.push(`offset:${offset}`);
  }
  const atomic = (op.flags & Flag.Atomic) !== 0;
  if (atomic ? (op.flags & Flag.ReturnOnly) !== 0 || choice === 1 || choice === 3 : choice === 1) set(draft, ["glc"]);
  if (choice === 2) set(draft, ["slc"]);
  if (choice === 1 && !atomic) set(draft, ["dlc"]);
  if (tfe) set(draft, ["tfe"]);
  return finish(op, texts, draft);
}

function flatSample(op: Op, choice: number): Sample {
  const draft = newDraft();
  const atomic = (op.flags & Flag.Atomic) !== 0;
  const glc = atomic ? (op.flags & Flag.ReturnOnly) !== 0 || choice === 1 || choice === 2 : choice === 1;
  const texts: string[] = [];
  if (op.dst[0] && (!atomic || glc)) {
    draft.fields.vdst = 40 + choice;
    texts.push(tuple("v", 40 + choice, op.dst[0].dwords));
  }
  const useSaddr = choice % 2 === 1;
  const noAddress = op.format === "SCRATCH" && (useSaddr || choice === 2);
  const addressDwords = op.format === "FLAT" || (op.format === "GLOBAL" && !useSaddr) ? 2 : 1;
  if ((op.flags & Flag.AddTid) !== 0) {
    // no address operand
  } else if (noAddress) texts.push("off");
  else {
    draft.fields.addr = 100 + choice;
    texts.push(tuple("v", 100 + choice, addressDwords));
  }
  if (op.src[0]) {
    draft.fields.data = 60 + choice;
    texts.push(tuple("v", 60 + choice, op.src[0].dwords));
  }
  if (op.format !== "FLAT") {
    const n = 8 + 2 * choice;
    if (useSaddr) draft.fields.saddr = n;
    else if (noAddress) draft.fields.saddr = 127;
    texts.push(useSaddr ? tuple("s", n, op.format === "GLOBAL" ? 2 : 1) : "off");
  }
  const offset = [0, 16, op.format === "FLAT" ? 2047 : -8, 2047, 0, op.format === "FLAT" ? 1 : -2048, 4][choice]!;
  if (offset !== 0) {
    draft.fields.offset = offset;
    draft.tail.push(`offset:${offset}`);
  }
  if (glc) set(draft, ["glc"]);
  if (choice === 2) set(draft, ["slc"]);
  if (choice === 1 && !atomic) set(draft, ["dlc"]);
  return finish(op, texts, draft);
}

/** Sample number `choice` (0 to `choices` - 1) of an op. */
export function sample(op: Op, choice: number): Sample {
  switch (op.format) {
    case "SMEM":
      return smemSample(op, choice);
    case "DS":
      return dsSample(op, choice);
    case "MUBUF":
    case "MTBUF":
      return mubufSample(op, choice);
    case "MIMG":
      return imageSample(op, choice);
    case "EXP":
      return exportSample(op, choice);
    case "VINTRP":
      return interpolationSample(op, choice);
    case "FLAT":
    case "SCRATCH":
    case "GLOBAL":
      return flatSample(op, choice);
    default:
      return aluSample(op, choice);
  }
}
