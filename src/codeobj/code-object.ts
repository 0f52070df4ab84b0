import { Bug } from "../base/index.ts";
import type { SourceMapEntry, Stage } from "./compile-interface.ts";
import { ElfError, type ElfInput, type ElfSection, type ReadElf, readElf, sectionType, writeElf } from "./elf.ts";
import { graphicsRegisters } from "./graphics.ts";
import { type ComputeHardware, type ComputeRegisters, computeRegisterOffsets, computeRegisters } from "./hardware.ts";
import { type MessageWriter, messageWriter, packMessage, unpackMessage } from "./message-pack.ts";
import { type CodePlace, readPlaces, readReflection, readStatistics, stages } from "./metadata.ts";
import { writeComputeStage, writeGraphicsStage, writeReflection, writeStatistics } from "./metadata-writer.ts";
import type { Reflection } from "./reflection.ts";
import { count, list, object, oneOf, optional, type Reader, SchemaError, text } from "./schema.ts";
import { type SourceTable, sourceRowWords, sourceTable } from "./source-table.ts";
import type { Statistics } from "./statistics.ts";

/** One entry point to write. */
export interface CodeObjectEntry {
  readonly name: string;
  readonly stage: Stage;
  /** Machine code without padding. */
  readonly code: Uint32Array;
  /** Constants of the code, which finds them behind its padding. */
  readonly table?: Uint32Array;
  readonly hardware: ComputeHardware;
  readonly reflection: Reflection;
  readonly stats: Statistics;
  readonly sourceMap: readonly SourceMapEntry[] | SourceTable;
}

const entryAlignment = 256;
/** The instruction prefetcher runs ahead: this many dwords behind the last instruction must be `s_code_end`. */
const paddingDwords = 64;
const codeEnd = 0xbf9f0000;
const descriptorBytes = 64;
const noteType = 32;
/** Version of the `kiln` map; readers refuse others. */
const kilnVersion = 1;

const tableAlignment = 64;

/** Where the code of so many dwords finds its tables, in bytes from its first instruction. Source: docs/abi.md. */
const tableOffsetBytes = (codeDwords: number): number =>
  Math.ceil((4 * (codeDwords + paddingDwords)) / tableAlignment) * tableAlignment;

/** How many user SGPRs the entries of `userData` take. */
export function userSgprCount(userData: Reflection["userData"]): number {
  return userData.reduce((most, entry) => Math.max(most, entry.sgpr + entry.count), 0);
}

/**
 * Writes an AMDGPU ELF for gfx1030 (docs/abi.md, "Code object"): code with a symbol per entry point, a `.kd`
 * descriptor per compute entry point, a MessagePack note. The same entries give the same bytes.
 */
export function writeCodeObject(entries: readonly CodeObjectEntry[]): Uint8Array {
  const names = new Set<string>();
  const offsets: number[] = [];
  let end = 0;
  let rodataBytes = 0;
  const symbols: ElfInput["symbols"][number][] = [];
  for (const { name, stage, code, table } of entries) {
    if (name === "" || name.includes("\0") || names.has(name))
      throw new Bug("entry point names must be distinct C strings");
    names.add(name);
    const offsetBytes = Math.ceil(end / entryAlignment) * entryAlignment;
    offsets.push(offsetBytes);
    end = offsetBytes + code.length * 4;
    symbols.push({ name, kind: "function", section: "text", offsetBytes, sizeBytes: code.length * 4 });
    if (table !== undefined && table.length > 0) {
      const tableAt = offsetBytes + tableOffsetBytes(code.length);
      const sizeBytes = 4 * table.length;
      symbols.push({ name: `${name}.table`, kind: "object", section: "text", offsetBytes: tableAt, sizeBytes });
      end = tableAt + sizeBytes;
    }
    if (stage !== "compute") continue;
    symbols.push({
      name: `${name}.kd`,
      kind: "object",
      section: "rodata",
      offsetBytes: rodataBytes,
      sizeBytes: descriptorBytes,
    });
    rodataBytes += descriptorBytes;
  }
  const out = messageWriter();
  writeMetadata(out, entries);
  return writeElf({
    note: out.bytes(),
    rodataBytes,
    textBytes: end + paddingDwords * 4,
    symbols,
    fill: (words, places) => {
      const text = places.text / 4;
      words.fill(codeEnd, text, text + end / 4 + paddingDwords);
      let descriptor = places.rodata;
      for (let i = 0; i < entries.length; i++) {
        const { stage, code, table, hardware } = entries[i]!;
        // dwords in this machine's order: WebAssembly's memory is read in place, too
        words.set(code, text + offsets[i]! / 4);
        if (table !== undefined) words.set(table, text + (offsets[i]! + tableOffsetBytes(code.length)) / 4);
        if (stage !== "compute") continue;
        writeDescriptor(words, descriptor / 4, hardware, places.textAddress + offsets[i]! - descriptor);
        descriptor += descriptorBytes;
      }
    },
  });
}

/** The HSA kernel descriptor: LDS stands in bytes 0..3, so RSRC2 leaves it to the loader. */
function writeDescriptor(words: Uint32Array, at: number, hardware: ComputeHardware, entryOffset: number): void {
  const { rsrc1, rsrc2, rsrc3 } = computeRegisters(hardware, 0);
  words[at] = hardware.ldsBytes;
  words[at + 1] = hardware.scratchBytes;
  // text stands behind rodata: 64 bits with nothing in the upper half
  words[at + 4] = entryOffset;
  words[at + 11] = rsrc3;
  words[at + 12] = rsrc1;
  words[at + 13] = rsrc2;
  // Bit 10: wave32. No user SGPR is of HSA's kinds.
  words[at + 14] = 1 << 10;
}

const key = {
  version: packMessage("amdpal.version"),
  versionValue: packMessage([2, 1]),
  pipelines: packMessage("amdpal.pipelines"),
  kiln: packMessage("kiln"),
  kilnVersion: packMessage("version"),
  entries: packMessage("entries"),
  pipelineName: packMessage(".name"),
  type: packMessage(".type"),
  hardwareStages: packMessage(".hardware_stages"),
  cs: packMessage(".cs"),
  registers: packMessage(".registers"),
  name: packMessage("name"),
  stage: packMessage("stage"),
  reflection: packMessage("reflection"),
  statistics: packMessage("statistics"),
  sourceMap: packMessage("sourceMap"),
} as const;

function writeMetadata(out: MessageWriter, entries: readonly CodeObjectEntry[]): void {
  out.map(3);
  out.raw(key.version);
  out.raw(key.versionValue);
  out.raw(key.pipelines);
  out.list(entries.length);
  for (const entry of entries) {
    if (entry.stage === "compute") writeComputePipeline(out, entry);
    else writeGraphicsPipeline(out, entry);
  }
  out.raw(key.kiln);
  out.map(2);
  out.raw(key.kilnVersion);
  out.number(kilnVersion);
  out.raw(key.entries);
  out.list(entries.length);
  for (const { name, stage, reflection, stats, sourceMap } of entries) {
    out.map(5);
    out.raw(key.name);
    out.text(name);
    out.raw(key.stage);
    out.text(stage);
    out.raw(key.reflection);
    writeReflection(out, reflection);
    out.raw(key.statistics);
    writeStatistics(out, stats);
    out.raw(key.sourceMap);
    writePlaces(out, sourceMap);
  }
}

function writeGraphicsPipeline(out: MessageWriter, { name, stage, hardware, reflection }: CodeObjectEntry): void {
  if (stage === "compute" || reflection.interface === undefined) throw new Bug("a graphics stage without an interface");
  out.map(4);
  out.raw(key.pipelineName);
  out.text(name);
  out.raw(key.type);
  out.text("VsPs");
  out.raw(key.hardwareStages);
  out.map(1);
  out.text(stage === "vertex" ? ".vs" : ".ps");
  writeGraphicsStage(out, name, hardware);
  out.raw(key.registers);
  const { vgprs, userSgprs, scratchBytes } = hardware;
  const registers = graphicsRegisters({ stage, vgprs, userSgprs, scratchBytes, interface: reflection.interface });
  out.map(registers.length / 2);
  for (let k = 0; k < registers.length; k++) out.number(registers[k]!);
}

function writeComputePipeline(out: MessageWriter, { name, hardware, reflection }: CodeObjectEntry): void {
  const { rsrc1, rsrc2, rsrc3 } = computeRegisters(hardware);
  out.map(4);
  out.raw(key.pipelineName);
  out.text(name);
  out.raw(key.type);
  out.text("Cs");
  out.raw(key.hardwareStages);
  out.map(1);
  out.raw(key.cs);
  writeComputeStage(out, name, hardware, reflection.workgroupSize);
  out.raw(key.registers);
  out.map(3);
  out.number(computeRegisterOffsets.rsrc1);
  out.number(rsrc1);
  out.number(computeRegisterOffsets.rsrc2);
  out.number(rsrc2);
  out.number(computeRegisterOffsets.rsrc3);
  out.number(rsrc3);
}

/** Files are numbered by the first appearance of their names. */
function writePlaces(out: MessageWriter, map: CodeObjectEntry["sourceMap"]): void {
  const { rows, files, ownFile } = "rows" in map ? map : sourceTable(map);
  const numbers = new Map<string, number>();
  let file = -1;
  let number = 0;
  out.list(rows.length / sourceRowWords);
  for (let k = 0; k < rows.length; k += sourceRowWords) {
    if (rows[k + 1] !== file) {
      file = rows[k + 1]!;
      const name = files.get(file) ?? ownFile;
      number = numbers.get(name) ?? numbers.size;
      numbers.set(name, number);
    }
    out.four(rows[k]!, number, rows[k + 2]!, rows[k + 3]!);
  }
}

/** One entry point of a code object that was read. */
export interface EntryPoint {
  readonly name: string;
  readonly stage: Stage;
  /** Byte offset of its first instruction in `text`; a multiple of 256. */
  readonly offsetBytes: number;
  readonly code: Uint32Array;
  /** Of a compute entry point; zeros for the other stages. */
  readonly registers: ComputeRegisters;
  /** Register values by byte offset: vertex and fragment stages. */
  readonly graphicsRegisters?: ReadonlyMap<number, number>;
  readonly ldsBytes: number;
  readonly scratchBytes: number;
  readonly reflection: Reflection;
  readonly statistics: Statistics;
  readonly sourceMap: readonly CodePlace[];
}

export interface CodeObject {
  /** All of `.text`, padding included. */
  readonly text: Uint8Array;
  readonly entries: readonly EntryPoint[];
}

export type ReadCodeObject =
  | { readonly ok: true; readonly object: CodeObject }
  /** `message`: one lower-case sentence, why the bytes are refused. */
  | { readonly ok: false; readonly message: string };

/** Reads a code object. Nothing in the bytes is trusted: whatever is wrong with them becomes a message. */
export function readCodeObject(elf: Uint8Array): ReadCodeObject {
  try {
    return { ok: true, object: read(elf) };
  } catch (error) {
    if (error instanceof ElfError || error instanceof SchemaError) return { ok: false, message: error.message };
    throw error;
  }
}

const hardwareStage = object({ ".scratch_memory_size": count, ".lds_size": count });

/** Values by byte offset; keys come as text. */
const registerMap: Reader<ReadonlyMap<number, number>> = (value, path) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new SchemaError(path, "map");
  return new Map(Object.entries(value).map(([key, v]) => [Number(key), count(v, `${path}.${key}`)]));
};

const readMetadata = object({
  "amdpal.pipelines": list(
    object({
      ".name": text,
      ".hardware_stages": object({
        ".cs": optional(hardwareStage),
        ".vs": optional(hardwareStage),
        ".ps": optional(hardwareStage),
      }),
      ".registers": registerMap,
    }),
  ),
  kiln: object({
    version: oneOf([kilnVersion]),
    entries: list(
      object({
        name: text,
        stage: oneOf(stages),
        reflection: readReflection,
        statistics: readStatistics,
        sourceMap: readPlaces,
      }),
    ),
  }),
});

function read(elf: Uint8Array): CodeObject {
  const file = readElf(elf);
  const section = (name: string): ElfSection => {
    const found = file.sections.find((s) => s.name === name);
    if (found === undefined) throw new ElfError(`no section ${name}`);
    return found;
  };
  const code = section(".text");
  const note = file.sections.find((s) => s.type === sectionType.note);
  if (note === undefined) throw new ElfError("no note section");
  const metadata = readMetadata(unpack(noteDescription(note.bytes)), "metadata");
  const entries = metadata.kiln.entries.map((entry): EntryPoint => {
    const pipeline = metadata["amdpal.pipelines"].find((p) => p[".name"] === entry.name);
    if (pipeline === undefined) throw new ElfError(`no pipeline of entry point ${entry.name}`);
    const registers = pipeline[".registers"];
    const { ".cs": cs, ".vs": vs, ".ps": ps } = pipeline[".hardware_stages"];
    const hardware = entry.stage === "compute" ? cs : entry.stage === "vertex" ? vs : ps;
    if (hardware === undefined) throw new ElfError(`no hardware stage of entry point ${entry.name}`);
    const register = (offset: number): number => {
      const found = registers.get(offset);
      if (found === undefined) throw new ElfError(`no register 0x${offset.toString(16)} of entry point ${entry.name}`);
      return found;
    };
    const { rsrc1, rsrc2, rsrc3 } = computeRegisterOffsets;
    return {
      ...entry,
      ...codeOf(file, code, entry.name),
      registers:
        entry.stage === "compute"
          ? { rsrc1: register(rsrc1), rsrc2: register(rsrc2), rsrc3: register(rsrc3) }
          : { rsrc1: 0, rsrc2: 0, rsrc3: 0 },
      ...(entry.stage !== "compute" && { graphicsRegisters: registers }),
      ldsBytes: hardware[".lds_size"],
      scratchBytes: hardware[".scratch_memory_size"],
    };
  });
  return { text: code.bytes, entries };
}

function codeOf(file: ReadElf, section: ElfSection, name: string): Pick<EntryPoint, "offsetBytes" | "code"> {
  const symbol = file.symbols.find((s) => s.name === name && s.kind === 2);
  if (symbol === undefined) throw new ElfError(`no function symbol ${name}`);
  const offsetBytes = symbol.address - section.address;
  const { sizeBytes } = symbol;
  if (offsetBytes < 0 || offsetBytes > section.bytes.length || sizeBytes > section.bytes.length - offsetBytes) {
    throw new ElfError(`code of ${name} lies outside .text`);
  }
  if (offsetBytes % entryAlignment !== 0 || sizeBytes % 4 !== 0) throw new ElfError(`code of ${name} is misaligned`);
  return { offsetBytes, code: toDwords(section.bytes.subarray(offsetBytes, offsetBytes + sizeBytes)) };
}

/** The description of the first AMDGPU metadata note. */
function noteDescription(notes: Uint8Array): Uint8Array {
  const view = new DataView(notes.buffer, notes.byteOffset, notes.byteLength);
  for (let at = 0; at + 12 <= notes.length; ) {
    const nameBytes = view.getUint32(at, true);
    const sizeBytes = view.getUint32(at + 4, true);
    const nameAt = at + 12;
    const descriptionAt = nameAt + Math.ceil(nameBytes / 4) * 4;
    if (descriptionAt + sizeBytes > notes.length) throw new ElfError("note reaches beyond its section");
    const name = new TextDecoder("latin1").decode(notes.subarray(nameAt, nameAt + nameBytes));
    if (name === "AMDGPU\0" && view.getUint32(at + 8, true) === noteType) {
      return notes.subarray(descriptionAt, descriptionAt + sizeBytes);
    }
    at = descriptionAt + Math.ceil(sizeBytes / 4) * 4;
  }
  throw new ElfError("no AMDGPU metadata note");
}

function unpack(description: Uint8Array): unknown {
  try {
    return unpackMessage(description);
  } catch (error) {
    throw new ElfError(`metadata is no MessagePack: ${error instanceof Error ? error.message : "malformed"}`);
  }
}

function toDwords(source: Uint8Array): Uint32Array {
  const out = new Uint32Array(source.length >> 2);
  const view = new DataView(source.buffer, source.byteOffset, source.byteLength);
  for (let i = 0; i < out.length; i++) out[i] = view.getUint32(i * 4, true);
  return out;
}

/**
 * What a driver uploads for an entry point, to an address that is a multiple of 256: its code and all that follows
 * it in `.text`: at least 64 dwords of `s_code_end`, and the constants that it finds behind them.
 */
export function loadDwords(codeObject: CodeObject, entry: EntryPoint): Uint32Array {
  return toDwords(codeObject.text.subarray(entry.offsetBytes));
}
