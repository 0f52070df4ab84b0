import { Bug } from "../base/index.ts";
import type { Instruction } from "./decode.ts";
import { operandText, sgprText, vgprText } from "./print-operands.ts";
import { SourceCode } from "./registers.ts";
import type { Operand } from "./table.ts";

const selects = ["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "INVALID"];
const unused = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "INVALID"];

/** A VOP1, VOP2 or VOPC with a DPP16, DPP8 or SDWA dword, in llvm's syntax. */
export function printSecond(instruction: Instruction): string {
  const { op, second } = instruction;
  if (second === undefined) throw new Bug("not a DPP or SDWA form");
  const suffix = second.form === "SDWA" ? "_sdwa" : "_dpp";
  const operands: string[] = [];
  for (const o of op.dst) {
    const text = destination(instruction, o);
    if (text !== undefined) operands.push(text);
  }
  for (const o of op.src) {
    const text = source(instruction, o);
    if (text !== undefined) operands.push(text);
  }
  const list = operands.length > 0 ? ` ${operands.join(", ")}` : "";
  const tail =
    second.form === "DPP16" ? dpp16(second.fields) : second.form === "DPP8" ? dpp8(instruction) : sdwa(instruction);
  return [op.mnemonic.replace(/_e32$/, "") + suffix + list, ...tail].join(" ");
}

function destination(instruction: Instruction, o: Operand): string | undefined {
  const { op, second } = instruction;
  if (op.format === "VOPC" && o.kind === "vcc" && second!.form === "SDWA") {
    // Bits 15:8 of the SDWA dword: an SGPR destination and whether it is used.
    const sd = sdwaScalarDestination(second!.fields);
    return (sd & 0x80) !== 0 ? sgprText(sd & 0x7f, 1) : "vcc_lo";
  }
  return operandText(instruction, o);
}

function sdwaScalarDestination(fields: Readonly<Record<string, number>>): number {
  return fields.dstSel! | (fields.dstUnused! << 3) | (fields.clamp! << 5) | (fields.omod! << 6);
}

function source(instruction: Instruction, o: Operand): string | undefined {
  const { fields, second } = instruction;
  if (o.field !== "src0" && o.field !== "src1") return operandText(instruction, o);
  const f = second!.fields;
  const code = o.field === "src0" ? f.src0! : fields.src1!;
  const scalar = f[`${o.field}Scalar`] === 1;
  let text = scalar ? sgprText(code, o.dwords) : vgprText(code, o.dwords);
  if (scalar && code >= SourceCode.zero)
    text = operandText({ ...instruction, fields: { ...fields, src0: code } }, o) ?? text;
  if (f[`${o.field}Sext`] === 1) text = `sext(${text})`;
  if (f[`${o.field}Abs`] === 1) text = `|${text}|`;
  return f[`${o.field}Neg`] === 1 ? `-${text}` : text;
}

function dppControl(control: number): string {
  const low = control & 15;
  if (control <= 0xff) return `quad_perm:[${[0, 2, 4, 6].map((s) => (control >> s) & 3).join(",")}]`;
  switch (control >> 4) {
    case 0x10:
      return `row_shl:${low}`;
    case 0x11:
      return `row_shr:${low}`;
    case 0x12:
      return `row_ror:${low}`;
    case 0x15:
      return `row_share:${low}`;
    case 0x16:
      return `row_xmask:${low}`;
    default:
      return control === 0x140
        ? "row_mirror"
        : control === 0x141
          ? "row_half_mirror"
          : `dpp_ctrl:0x${control.toString(16)}`;
  }
}

function dpp16(f: Readonly<Record<string, number>>): string[] {
  const out = [
    dppControl(f.dppCtrl!),
    `row_mask:0x${f.rowMask!.toString(16)}`,
    `bank_mask:0x${f.bankMask!.toString(16)}`,
  ];
  if (f.boundCtrl === 1) out.push("bound_ctrl:0");
  if (f.fi === 1) out.push("fi:1");
  return out;
}

function dpp8({ fields, second }: Instruction): string[] {
  const { selectors = 0 } = second!.fields;
  const lanes = Array.from({ length: 8 }, (_, i) => (selectors >> (3 * i)) & 7);
  return [`dpp8:[${lanes.join(",")}]`, ...(fields.src0 === SourceCode.dpp8FetchInactive ? ["fi:1"] : [])];
}

function sdwa({ op, second }: Instruction): string[] {
  const f = second!.fields;
  const out: string[] = [];
  const sources = op.src.filter((o) => o.field === "src0" || o.field === "src1");
  if (sources.length === 0) return out;
  if (op.format !== "VOPC") {
    if (f.clamp === 1) out.push("clamp");
    if (f.omod) out.push(["", "mul:2", "mul:4", "div:2"][f.omod]!);
    if (op.dst[0]?.kind === "vgpr") out.push(`dst_sel:${selects[f.dstSel!]}`, `dst_unused:${unused[f.dstUnused!]}`);
  }
  for (const o of sources) out.push(`${o.field}_sel:${selects[f[`${o.field}Sel`]!]}`);
  return out;
}
