import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOracle } from "../oracles.ts";

/** Assembles many kernels in one llvm-mc run; each text becomes a section of its own. */
export function assembleAll(texts: readonly string[]): Uint32Array[] {
  const source = texts.map((text, i) => `.section .text.k${i},"ax",@progbits\n${text}\n`).join("");
  const folder = mkdtempSync(join(tmpdir(), "kiln-asm-"));
  const out = join(folder, "k.o");
  const done = runOracle("llvm-mc-19", ["-triple=amdgcn", "-mcpu=gfx1030", "-filetype=obj", "-o", out], source);
  if (done.status !== 0) throw new Error(done.stderr);
  const elf = readFileSync(out);
  rmSync(folder, { recursive: true });
  const sections = elfSections(elf);
  return texts.map((_, i) => {
    const section = sections.get(`.text.k${i}`);
    if (section === undefined) throw new Error(`kernel ${i} has no section`);
    return new Uint32Array(Uint8Array.from(section).buffer);
  });
}

const known = new Map<string, Uint32Array>();

export function assemble(text: string): Uint32Array {
  let words = known.get(text);
  if (words === undefined) {
    words = assembleAll([text])[0]!;
    known.set(text, words);
  }
  return words;
}

/** Sections of a little-endian ELF64 by name. */
function elfSections(elf: Uint8Array): Map<string, Uint8Array> {
  const view = new DataView(elf.buffer, elf.byteOffset, elf.byteLength);
  const table = Number(view.getBigUint64(40, true));
  const size = view.getUint16(58, true);
  const count = view.getUint16(60, true);
  const header = (i: number) => {
    const at = table + i * size;
    return {
      name: view.getUint32(at, true),
      offset: Number(view.getBigUint64(at + 24, true)),
      bytes: Number(view.getBigUint64(at + 32, true)),
    };
  };
  const names = header(view.getUint16(62, true));
  const sections = new Map<string, Uint8Array>();
  for (let i = 0; i < count; i++) {
    const { name, offset, bytes } = header(i);
    let end = names.offset + name;
    while (elf[end] !== 0) end++;
    sections.set(
      new TextDecoder().decode(elf.subarray(names.offset + name, end)),
      elf.subarray(offset, offset + bytes),
    );
  }
  return sections;
}
