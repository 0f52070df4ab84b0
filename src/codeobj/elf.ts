import { Bug } from "../base/index.ts";

/** ELF numbers that an AMDGPU code object uses. Source: ELF-64 format; AMDGPU back-end documentation. */
const machineAmdgpu = 224;
const flagsGfx1030 = 0x36;
/** HSA: with it llvm's tools take the CPU from the flags and find `.kd` descriptors. ABI version 3 is code object v5. */
const osabi = 64;
const abiVersion = 3;
export const sectionType = { progbits: 1, symtab: 2, strtab: 3, note: 7 } as const;
const sectionFlag = { alloc: 2, exec: 4 } as const;
const headerBytes = 64;
const programHeaderBytes = 56;
const sectionHeaderBytes = 64;
const symbolBytes = 24;
/** Sections of different rights stand on different pages: addresses run ahead of file offsets by one page each. */
const pageBytes = 0x1000;

interface ElfSymbol {
  readonly name: string;
  readonly kind: "function" | "object";
  readonly section: "text" | "rodata";
  readonly offsetBytes: number;
  readonly sizeBytes: number;
}

export interface ElfInput {
  readonly note: Uint8Array;
  readonly rodata: (addresses: { rodata: number; text: number }) => Uint8Array;
  readonly rodataBytes: number;
  readonly text: Uint8Array;
  readonly symbols: readonly ElfSymbol[];
}

const utf8 = new TextEncoder();

class Strings {
  private text = "\0";
  private size = 1;
  add(value: string): number {
    const at = this.size;
    this.text += `${value}\0`;
    this.size += Buffer.byteLength(value) + 1;
    return at;
  }
  bytes(): Uint8Array {
    return utf8.encode(this.text);
  }
}

/** Offsets of the section names, from section 1 on, and their table. */
const sectionNames = ((): { readonly names: readonly number[]; readonly bytes: Uint8Array } => {
  const strings = new Strings();
  const names = [".note", ".rodata", ".text", ".symtab", ".strtab", ".shstrtab"].map((n) => strings.add(n));
  return { names, bytes: strings.bytes() };
})();

const align = (value: number, step: number) => Math.ceil(value / step) * step;

/** Lays out and writes an AMDGPU ELF: note, rodata, text (256-byte aligned), symbols. */
export function writeElf(input: ElfInput): Uint8Array {
  const strings = new Strings();
  const symbols = input.symbols.map((s) => ({ ...s, nameAt: strings.add(s.name) }));
  const strtab = strings.bytes();
  const noteAt = align(headerBytes + 3 * programHeaderBytes, 4);
  const rodataAt = align(noteAt + input.note.length, 64);
  const textAt = align(rodataAt + input.rodataBytes, 256);
  const textAddress = textAt + pageBytes;
  const symtabAt = align(textAt + input.text.length, 8);
  const symtabBytes = symbolBytes * (symbols.length + 1);
  const strtabAt = symtabAt + symtabBytes;
  const { names, bytes: shstrtab } = sectionNames;
  const shstrtabAt = strtabAt + strtab.length;
  const sectionsAt = align(shstrtabAt + shstrtab.length, 8);
  const out = new Uint8Array(sectionsAt + sectionHeaderBytes * 7);
  const view = new DataView(out.buffer);
  const u16 = (at: number, v: number) => view.setUint16(at, v, true);
  const u32 = (at: number, v: number) => view.setUint32(at, v, true);
  // sizes and offsets of a file fit into 32 bits
  const u64 = u32;

  out.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, osabi, abiVersion]);
  u16(16, 3); // ET_DYN
  u16(18, machineAmdgpu);
  u32(20, 1);
  u64(32, headerBytes);
  u64(40, sectionsAt);
  u32(48, flagsGfx1030);
  u16(52, headerBytes);
  u16(54, programHeaderBytes);
  u16(56, 3);
  u16(58, sectionHeaderBytes);
  u16(60, 7);
  u16(62, 6);

  const segment = (i: number, type: number, flags: number, at: number, address: number, size: number, step: number) => {
    const p = headerBytes + i * programHeaderBytes;
    u32(p, type);
    u32(p + 4, flags);
    u64(p + 8, at);
    u64(p + 16, address);
    u64(p + 24, address);
    u64(p + 32, size);
    u64(p + 40, size);
    u64(p + 48, step);
  };
  segment(0, 1, 4, 0, 0, rodataAt + input.rodataBytes, pageBytes);
  segment(1, 1, 5, textAt, textAddress, input.text.length, pageBytes);
  segment(2, 4, 4, noteAt, noteAt, input.note.length, 4);

  const section = (
    i: number,
    type: number,
    flags: number,
    address: number,
    at: number,
    size: number,
    rest: { link?: number; info?: number; step?: number; entry?: number } = {},
  ) => {
    const s = sectionsAt + i * sectionHeaderBytes;
    u32(s, names[i - 1]!);
    u32(s + 4, type);
    u64(s + 8, flags);
    u64(s + 16, address);
    u64(s + 24, at);
    u64(s + 32, size);
    u32(s + 40, rest.link ?? 0);
    u32(s + 44, rest.info ?? 0);
    u64(s + 48, rest.step ?? 1);
    u64(s + 56, rest.entry ?? 0);
  };
  section(1, sectionType.note, sectionFlag.alloc, noteAt, noteAt, input.note.length, { step: 4 });
  section(2, sectionType.progbits, sectionFlag.alloc, rodataAt, rodataAt, input.rodataBytes, { step: 64 });
  const text = sectionFlag.alloc | sectionFlag.exec;
  section(3, sectionType.progbits, text, textAddress, textAt, input.text.length, { step: 256 });
  section(4, sectionType.symtab, 0, 0, symtabAt, symtabBytes, { link: 5, info: 1, step: 8, entry: symbolBytes });
  section(5, sectionType.strtab, 0, 0, strtabAt, strtab.length);
  section(6, sectionType.strtab, 0, 0, shstrtabAt, shstrtab.length);

  const rodata = input.rodata({ rodata: rodataAt, text: textAddress });
  if (rodata.length !== input.rodataBytes) throw new Bug("rodata is not as long as announced");
  out.set(input.note, noteAt);
  out.set(rodata, rodataAt);
  out.set(input.text, textAt);
  out.set(strtab, strtabAt);
  out.set(shstrtab, shstrtabAt);
  symbols.forEach((s, i) => {
    const at = symtabAt + symbolBytes * (i + 1);
    const inText = s.section === "text";
    u32(at, s.nameAt);
    // Global; function or object; default visibility.
    out[at + 4] = (1 << 4) | (s.kind === "function" ? 2 : 1);
    u16(at + 6, inText ? 3 : 2);
    u64(at + 8, (inText ? textAddress : rodataAt) + s.offsetBytes);
    u64(at + 16, s.sizeBytes);
  });
  return out;
}

/** Why bytes are no code object that we can read; `message` is one lower-case sentence. */
export class ElfError extends Error {
  override readonly name = "ElfError";
}

export interface ElfSection {
  readonly name: string;
  readonly type: number;
  readonly address: number;
  readonly bytes: Uint8Array;
}

export interface ReadElf {
  readonly sections: readonly ElfSection[];
  readonly symbols: readonly { name: string; kind: number; section: number; address: number; sizeBytes: number }[];
}

/** Reads sections and symbols; every offset, size and count is checked against the input. Throws `ElfError`. */
export function readElf(bytes: Uint8Array): ReadElf {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const u16 = (at: number) => view.getUint16(at, true);
  const u32 = (at: number) => view.getUint32(at, true);
  const u64 = (at: number): number => {
    const value = view.getBigUint64(at, true);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new ElfError(`number at byte ${at} is too large`);
    return Number(value);
  };
  const slice = (at: number, size: number, what: string): Uint8Array => {
    if (at > bytes.length || size > bytes.length - at) throw new ElfError(`${what} reaches beyond the file`);
    return bytes.subarray(at, at + size);
  };
  if (bytes.length < headerBytes || u32(0) !== 0x464c457f) throw new ElfError("not an ELF file");
  if (bytes[4] !== 2 || bytes[5] !== 1) throw new ElfError("not a little-endian ELF64 file");
  if (u16(18) !== machineAmdgpu) throw new ElfError(`machine ${u16(18)} is not AMDGPU`);
  if ((u32(48) & 0xff) !== flagsGfx1030) throw new ElfError("not for gfx1030");
  const sectionsAt = u64(40);
  const sectionCount = u16(60);
  if (u16(58) !== sectionHeaderBytes) throw new ElfError("section headers have an unknown size");
  slice(sectionsAt, sectionCount * sectionHeaderBytes, "section table");
  const headers = Array.from({ length: sectionCount }, (_, i) => {
    const at = sectionsAt + i * sectionHeaderBytes;
    const type = u32(at + 4);
    const content = type === 0 || type === 8 ? new Uint8Array(0) : slice(u64(at + 24), u64(at + 32), `section ${i}`);
    return { nameAt: u32(at), type, address: u64(at + 16), bytes: content, link: u32(at + 40) };
  });
  const names = headers[u16(62)]?.bytes ?? new Uint8Array(0);
  const sections = headers.map((h) => ({
    name: stringAt(names, h.nameAt),
    type: h.type,
    address: h.address,
    bytes: h.bytes,
  }));
  const symtab = headers.find((h) => h.type === sectionType.symtab);
  const symbols: ReadElf["symbols"][number][] = [];
  if (symtab !== undefined) {
    const strings = headers[symtab.link]?.bytes ?? new Uint8Array(0);
    const table = new DataView(symtab.bytes.buffer, symtab.bytes.byteOffset, symtab.bytes.byteLength);
    for (let at = symbolBytes; at + symbolBytes <= symtab.bytes.length; at += symbolBytes) {
      const address = table.getBigUint64(at + 8, true);
      const size = table.getBigUint64(at + 16, true);
      const limit = BigInt(Number.MAX_SAFE_INTEGER);
      if (address > limit || size > limit) throw new ElfError("symbol lies outside every section");
      symbols.push({
        name: stringAt(strings, table.getUint32(at, true)),
        kind: symtab.bytes[at + 4]! & 15,
        section: table.getUint16(at + 6, true),
        address: Number(address),
        sizeBytes: Number(size),
      });
    }
  }
  return { sections, symbols };
}

const decoder = new TextDecoder("utf-8", { fatal: true });

function stringAt(table: Uint8Array, at: number): string {
  const end = at < table.length ? table.indexOf(0, at) : -1;
  if (end < 0) throw new ElfError("string reaches beyond its table");
  try {
    return decoder.decode(table.subarray(at, end));
  } catch {
    throw new ElfError("string is not UTF-8");
  }
}
