import { Bug } from "../base/index.ts";
import { type CompileRecord, readCodeObject } from "../codeobj/index.ts";
import { disassemble, type FlowGraph, flowGraph, type LiveCount, liveRegisters } from "../isa/index.ts";

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/** The code object's assembler text: a label an entry point, a line an instruction with its offset and words. */
export function assemblerText(
  elf: Uint8Array,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string } {
  const read = readCodeObject(elf);
  if (!read.ok) return read;
  const lines: string[] = [];
  for (const entry of read.object.entries) {
    lines.push(`${entry.name}:`);
    for (const line of disassemble(entry.code)) {
      const words = line.words.map((word) => hex(word, 8)).join(" ");
      lines.push(`  ${line.text.padEnd(58)} // ${hex(line.offset, 6)}: ${words}`);
    }
  }
  return { ok: true, text: `${lines.join("\n")}\n` };
}

function recordCode(record: CompileRecord): Uint32Array {
  const read = readCodeObject(record.elf);
  if (!read.ok) throw new Bug(`our own code object cannot be read: ${read.message}`);
  const entry = read.object.entries.find(({ name }) => name === record.entryPoint) ?? read.object.entries[0];
  if (entry === undefined) throw new Bug("our own code object has no entry point");
  return entry.code;
}

/** Basic blocks of a record's code; offsets from its first instruction, as those of its source map. */
export const recordFlow = (record: CompileRecord): FlowGraph => flowGraph(recordCode(record));

/** Live registers at each instruction of a record's code; offsets as those of `recordFlow`. */
export const recordLiveRegisters = (record: CompileRecord): readonly LiveCount[] => liveRegisters(recordCode(record));

/** The assembler text of a record of ours. */
export function recordAssembly(record: CompileRecord): string {
  const read = assemblerText(record.elf);
  if (!read.ok) throw new Bug(`our own code object cannot be read: ${read.message}`);
  return read.text;
}
