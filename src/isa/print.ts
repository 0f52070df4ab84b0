import type { Instruction } from "./decode.ts";
import { Flag } from "./flags.ts";
import { printMemory } from "./print-memory.ts";
import { printOperands } from "./print-operands.ts";
import { printSecond } from "./print-second.ts";
import { isPacked, type Op } from "./table.ts";

/** One instruction in llvm's syntax: llvm-mc assembles the text to the same dwords. */
export function print(instruction: Instruction): string {
  const { op, fields, second } = instruction;
  if (second !== undefined) return printSecond(instruction);
  const memory = printMemory(instruction);
  if (memory !== undefined) return join(op.mnemonic, memory.operands, memory.modifiers);
  const operands = op.name === "s_endpgm" && fields.simm16 === 0 ? [] : printOperands(instruction);
  return join(op.mnemonic, operands, modifiers(instruction));
}

function join(mnemonic: string, operands: readonly string[], tail: readonly string[]): string {
  const list = operands.length > 0 ? ` ${operands.join(", ")}` : "";
  return [mnemonic + list, ...tail].join(" ");
}

/** Which halves a VOP3P instruction takes, what it negates. */
function halves(op: Op, fields: Instruction["fields"]): string[] {
  const packed = isPacked(op);
  const list = (name: string, bits: number, usual: 0 | 1): string[] => {
    const values = op.src.map((_, k) => (bits >> k) & 1);
    return values.every((v) => v === usual) ? [] : [`${name}:[${values.join(",")}]`];
  };
  return [
    ...list("op_sel", fields.opSel!, 0),
    ...list("op_sel_hi", fields.opSelHi! | (fields.opSelHi2! << 2), packed ? 1 : 0),
    ...(packed ? [...list("neg_lo", fields.neg!, 0), ...list("neg_hi", fields.abs!, 0)] : []),
  ];
}

function modifiers({ op, fields }: Instruction): string[] {
  const out: string[] = [];
  if ((op.flags & Flag.OpSel) !== 0 && fields.opSel !== 0) {
    // Sources in order, the destination last; v_permlane has two bits of its own there.
    const count = op.name.startsWith("v_permlane") ? 2 : op.src.length + 1;
    const bits = Array.from(
      { length: count },
      (_, i) => (i === op.src.length ? fields.opSel! >> 3 : fields.opSel! >> i) & 1,
    );
    out.push(`op_sel:[${bits.join(",")}]`);
  }
  if (op.format === "VOP3P") out.push(...halves(op, fields));
  if (fields.clamp === 1) out.push("clamp");
  if (fields.omod) out.push(["", "mul:2", "mul:4", "div:2"][fields.omod]!);
  return out;
}
