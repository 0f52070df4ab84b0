import { decode, type Instruction } from "./decode.ts";
import { print } from "./print.ts";

/** One line of a disassembly. `instruction` is undefined for a dword that is no instruction of the rows. */
export interface DisassemblyLine {
  /** Byte offset from the first word. */
  readonly offset: number;
  readonly address: bigint;
  readonly words: readonly number[];
  readonly text: string;
  readonly instruction: Instruction | undefined;
}

/**
 * Disassembles `words`, one line an instruction, in llvm's syntax. A dword that decodes to nothing becomes
 * `.long 0x…` with a remark that says "unknown instruction", and decoding goes on behind it.
 */
export function disassemble(
  words: ArrayLike<number>,
  options: { readonly baseAddress?: bigint } = {},
): readonly DisassemblyLine[] {
  const base = options.baseAddress ?? 0n;
  const lines: DisassemblyLine[] = [];
  for (let at = 0; at < words.length; ) {
    const instruction = decode(words, at);
    const dwords = instruction?.dwords ?? 1;
    const raw = Array.from({ length: dwords }, (_, i) => words[at + i]! >>> 0);
    const offset = at * 4;
    lines.push({
      offset,
      address: base + BigInt(offset),
      words: raw,
      text: instruction ? print(instruction) : unknownText(raw[0]!, offset),
      instruction,
    });
    at += dwords;
  }
  return lines;
}

function unknownText(word: number, offset: number): string {
  return `.long 0x${word.toString(16).padStart(8, "0")} ; unknown instruction at byte ${offset}`;
}

/** Where a branch goes: byte offset of its target from the first word; undefined for other instructions. */
export function branchTarget(line: Pick<DisassemblyLine, "offset" | "instruction">): number | undefined {
  const { instruction } = line;
  const label = instruction?.op.src.find((o) => o.kind === "label");
  if (instruction === undefined || label === undefined) return undefined;
  const delta = (instruction.fields.simm16! << 16) >> 16;
  return line.offset + instruction.dwords * 4 + delta * 4;
}
