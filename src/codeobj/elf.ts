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

/** Where the contents of a file stand: byte offsets, and the address of the text. */
interface ElfPlaces {
  readonly rodata: number;
  readonly text: number;
  readonly textAddress: number;
}

export interface ElfInput {
  /** Description of the note; its owner is AMDGPU. */
  readonly note: Uint8Array;
  readonly rodataBytes: number;
  readonly textBytes: number;
  /** Writes rodata (whose addresses are its offsets) and text into the file's words. */
  readonly fill: (words: Uint32Array, places: ElfPlaces) => void;
  readonly symbols: readonly ElfSymbol[];
}

const utf8 = new TextEncoder();

/** Strings with their offsets, each ended by a zero byte. */
interface StringTable {
  readonly offsets: readonly number[];
  readonly bytes: Uint8Array;
}

function stringTable(names: readonly string[]): StringTable {
  const offsets: number[] = [];
  let text = "\0";
  let size = 1;
  for (const name of names) {
    offsets.push(size);
    text += `${name}\0`;
    size += Buffer.byteLength(name) + 1;
  }
  return { offsets, bytes: utf8.encode(text) };
}

let lastNames: { readonly names: readonly string[]; readonly table: StringTable } = {
  names: [],
  table: stringTable([]),
};

/** Of the symbols; most code objects have the same ones, and the last one's table is kept. */
function symbolNames(symbols: readonly ElfSymbol[]): StringTable {
  const { names, table } = lastNames;
  if (names.length === symbols.length && symbols.every(({ name }, i) => name === names[i])) return table;
  const own = symbols.map(({ name }) => name);
  lastNames = { names: own, table: stringTable(own) };
  return lastNames.table;
}

/** Names of the sections, from section 1 on. */
const sectionNames = stringTable([".note", ".rodata", ".text", ".symtab", ".strtab", ".shstrtab"]);
const noteType = 32;
const noteOwner = stringTable(["AMDGPU"]).bytes.subarray(1);
/** Name bytes, description bytes and type; the owner with its padding. */
const noteHeaderBytes = 12 + 8;

const align = (value: number, step: number) => Math.ceil(value / step) * step;

/**
 * Lays out and writes an AMDGPU ELF: note, rodata, text (256-byte aligned), symbols. All in words of this machine's
 * order, which is the file's: sizes and offsets of a file fit into 32 bits.
 */
export function writeElf(input: ElfInput): Uint8Array {
  const { symbols } = input;
  const strtab = symbolNames(symbols);
  const noteBytes = noteHeaderBytes + align(input.note.length, 4);
  const noteAt = align(headerBytes + 3 * programHeaderBytes, 4);
  const rodataAt = align(noteAt + noteBytes, 64);
  const textAt = align(rodataAt + input.rodataBytes, 256);
  const textAddress = textAt + pageBytes;
  const symtabAt = align(textAt + input.textBytes, 8);
  const symtabBytes = symbolBytes * (symbols.length + 1);
  const strtabAt = symtabAt + symtabBytes;
  const shstrtabAt = strtabAt + strtab.bytes.length;
  const sectionsAt = align(shstrtabAt + sectionNames.bytes.length, 8);
  const words = new Uint32Array((sectionsAt + sectionHeaderBytes * 7) / 4);
  const out = new Uint8Array(words.buffer);

  words[0] = 0x464c457f;
  out[4] = 2;
  out[5] = 1;
  out[6] = 1;
  out[7] = osabi;
  out[8] = abiVersion;
  words[4] = 3 | (machineAmdgpu << 16); // ET_DYN
  words[5] = 1;
  words[8] = headerBytes;
  words[10] = sectionsAt;
  words[12] = flagsGfx1030;
  words[13] = headerBytes | (programHeaderBytes << 16);
  words[14] = 3 | (sectionHeaderBytes << 16);
  words[15] = 7 | (6 << 16);

  segment(words, 0, 1, 4, 0, 0, rodataAt + input.rodataBytes, pageBytes);
  segment(words, 1, 1, 5, textAt, textAddress, input.textBytes, pageBytes);
  segment(words, 2, 4, 4, noteAt, noteAt, noteBytes, 4);

  const table = sectionsAt / 4;
  const { progbits, symtab, strtab: strings, note } = sectionType;
  const { alloc, exec } = sectionFlag;
  section(words, table, 1, note, alloc, noteAt, noteAt, noteBytes, 4);
  section(words, table, 2, progbits, alloc, rodataAt, rodataAt, input.rodataBytes, 64);
  section(words, table, 3, progbits, alloc | exec, textAddress, textAt, input.textBytes, 256);
  section(words, table, 4, symtab, 0, 0, symtabAt, symtabBytes, 8);
  // its strings' section, its first global symbol, bytes of a symbol
  words[table + 16 * 4 + 10] = 5;
  words[table + 16 * 4 + 11] = 1;
  words[table + 16 * 4 + 14] = symbolBytes;
  section(words, table, 5, strings, 0, 0, strtabAt, strtab.bytes.length, 1);
  section(words, table, 6, strings, 0, 0, shstrtabAt, sectionNames.bytes.length, 1);

  words[noteAt / 4] = noteOwner.length;
  words[noteAt / 4 + 1] = input.note.length;
  words[noteAt / 4 + 2] = noteType;
  out.set(noteOwner, noteAt + 12);
  out.set(input.note, noteAt + noteHeaderBytes);
  input.fill(words, { rodata: rodataAt, text: textAt, textAddress });
  out.set(strtab.bytes, strtabAt);
  out.set(sectionNames.bytes, shstrtabAt);
  for (let i = 0; i < symbols.length; i++) {
    const { kind, section: home, offsetBytes, sizeBytes } = symbols[i]!;
    const s = (symtabAt + symbolBytes * (i + 1)) / 4;
    const inText = home === "text";
    words[s] = strtab.offsets[i]!;
    // Global; function or object; default visibility; section.
    words[s + 1] = (1 << 4) | (kind === "function" ? 2 : 1) | ((inText ? 3 : 2) << 16);
    words[s + 2] = (inText ? textAddress : rodataAt) + offsetBytes;
    words[s + 4] = sizeBytes;
  }
  return out;
}

function segment(
  words: Uint32Array,
  i: number,
  type: number,
  flags: number,
  at: number,
  address: number,
  size: number,
  step: number,
): void {
  const p = (headerBytes + i * programHeaderBytes) / 4;
  words[p] = type;
  words[p + 1] = flags;
  words[p + 2] = at;
  words[p + 4] = address;
  words[p + 6] = address;
  words[p + 8] = size;
  words[p + 10] = size;
  words[p + 12] = step;
}

function section(
  words: Uint32Array,
  table: number,
  i: number,
  type: number,
  flags: number,
  address: number,
  at: number,
  size: number,
  step: number,
): void {
  const s = table + i * (sectionHeaderBytes / 4);
  words[s] = sectionNames.offsets[i - 1]!;
  words[s + 1] = type;
  words[s + 2] = flags;
  words[s + 4] = address;
  words[s + 6] = at;
  words[s + 8] = size;
  words[s + 12] = step;
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
