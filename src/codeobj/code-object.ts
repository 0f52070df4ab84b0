import { Bug } from "../base/index.ts";
import type { SourceMapEntry, Stage } from "./compile-interface.ts";
import { ElfError, type ElfSection, type ReadElf, readElf, sectionType, writeElf } from "./elf.ts";
import { graphicsRegisters } from "./graphics.ts";
import { type ComputeHardware, type ComputeRegisters, computeRegisterOffsets, computeRegisters } from "./hardware.ts";
import { type Packable, packMessage, unpackMessage } from "./message-pack.ts";
import { type CodePlace, numberFiles, readPlaces, readReflection, readStatistics, stages } from "./metadata.ts";
import type { Reflection } from "./reflection.ts";
import { count, list, object, oneOf, optional, type Reader, SchemaError, text } from "./schema.ts";
import type { Statistics } from "./statistics.ts";

/** One entry point to write. */
export interface CodeObjectEntry {
  readonly name: string;
  readonly stage: Stage;
  /** Machine code without padding. */
  readonly code: Uint32Array;
  readonly hardware: ComputeHardware;
  readonly reflection: Reflection;
  readonly stats: Statistics;
  readonly sourceMap: readonly SourceMapEntry[];
}

const entryAlignment = 256;
/** The instruction prefetcher runs ahead: this many dwords behind the last instruction must be `s_code_end`. */
const paddingDwords = 64;
const codeEnd = 0xbf9f0000;
const descriptorBytes = 64;
const noteType = 32;
/** Version of the `kiln` map; readers refuse others. */
const kilnVersion = 1;

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
  for (const { name } of entries) {
    if (name === "" || name.includes("\0") || names.has(name))
      throw new Bug("entry point names must be distinct C strings");
    names.add(name);
  }
  const { text: code, offsets } = layoutText(entries);
  const kernels = entries.filter(({ stage }) => stage === "compute");
  const symbols = entries.flatMap((entry, i) => [
    {
      name: entry.name,
      kind: "function",
      section: "text",
      offsetBytes: offsets[i]!,
      sizeBytes: entry.code.length * 4,
    } as const,
    ...(entry.stage === "compute"
      ? [
          {
            name: `${entry.name}.kd`,
            kind: "object",
            section: "rodata",
            offsetBytes: kernels.indexOf(entry) * descriptorBytes,
            sizeBytes: descriptorBytes,
          } as const,
        ]
      : []),
  ]);
  return writeElf({
    note: noteSection(packMessage(metadataOf(entries))),
    rodataBytes: kernels.length * descriptorBytes,
    rodata: (addresses) => {
      const out = new Uint8Array(kernels.length * descriptorBytes);
      kernels.forEach((entry, i) => {
        const at = i * descriptorBytes;
        const code = addresses.text + offsets[entries.indexOf(entry)]!;
        out.set(kernelDescriptor(entry.hardware, code - (addresses.rodata + at)), at);
      });
      return out;
    },
    text: code,
    symbols,
  });
}

function layoutText(entries: readonly CodeObjectEntry[]): { text: Uint8Array; offsets: readonly number[] } {
  const offsets: number[] = [];
  let end = 0;
  for (const { code } of entries) {
    const at = Math.ceil(end / entryAlignment) * entryAlignment;
    offsets.push(at);
    end = at + code.length * 4;
  }
  // dwords in this machine's order, which is the file's: WebAssembly's memory is read in place, too
  const dwords = new Uint32Array(end / 4 + paddingDwords).fill(codeEnd);
  for (const [i, { code }] of entries.entries()) dwords.set(code, (offsets[i] as number) / 4);
  return { text: new Uint8Array(dwords.buffer), offsets };
}

/** The HSA kernel descriptor: LDS stands in bytes 0..3, so RSRC2 leaves it to the loader. */
function kernelDescriptor(hardware: ComputeHardware, entryOffset: number): Uint8Array {
  const { rsrc1, rsrc2, rsrc3 } = computeRegisters({ ...hardware, ldsBytes: 0 });
  const out = new Uint8Array(descriptorBytes);
  const view = new DataView(out.buffer);
  view.setUint32(0, hardware.ldsBytes, true);
  view.setUint32(4, hardware.scratchBytes, true);
  view.setUint32(16, entryOffset, true);
  view.setInt32(20, Math.floor(entryOffset / 2 ** 32), true);
  view.setUint32(44, rsrc3, true);
  view.setUint32(48, rsrc1, true);
  view.setUint32(52, rsrc2, true);
  // Bit 10: wave32. No user SGPR is of HSA's kinds.
  view.setUint16(56, 1 << 10, true);
  return out;
}

const noteName = new TextEncoder().encode("AMDGPU\0\0");

function noteSection(description: Uint8Array): Uint8Array {
  const name = noteName;
  const padded = Math.ceil(description.length / 4) * 4;
  const out = new Uint8Array(12 + name.length + padded);
  const view = new DataView(out.buffer);
  view.setUint32(0, 7, true);
  view.setUint32(4, description.length, true);
  view.setUint32(8, noteType, true);
  out.set(name, 12);
  out.set(description, 12 + name.length);
  return out;
}

function metadataOf(entries: readonly CodeObjectEntry[]): Packable {
  return {
    "amdpal.version": [2, 1],
    "amdpal.pipelines": entries.map(pipelineOf),
    kiln: { version: kilnVersion, entries: entries.map(kilnOf) },
  };
}

function graphicsPipelineOf({ name, stage, hardware, reflection }: CodeObjectEntry): Packable {
  if (stage === "compute" || reflection.interface === undefined) throw new Bug("a graphics stage without an interface");
  const registers = graphicsRegisters({ ...hardware, stage, interface: reflection.interface });
  return {
    ".name": name,
    ".type": "VsPs",
    ".hardware_stages": {
      [stage === "vertex" ? ".vs" : ".ps"]: {
        ".entry_point": name,
        ".scratch_memory_size": hardware.scratchBytes,
        ".lds_size": 0,
        ".vgpr_count": hardware.vgprs,
        ".sgpr_count": hardware.sgprs,
        ".user_sgprs": hardware.userSgprs,
        ".wavefront_size": 32,
      },
    },
    ".registers": new Map(registers),
  };
}

function pipelineOf(entry: CodeObjectEntry): Packable {
  const { name, stage, hardware, reflection } = entry;
  if (stage !== "compute") return graphicsPipelineOf(entry);
  const { rsrc1, rsrc2, rsrc3 } = computeRegisters(hardware);
  return {
    ".name": name,
    ".type": "Cs",
    ".hardware_stages": {
      ".cs": {
        ".entry_point": name,
        ".scratch_memory_size": hardware.scratchBytes,
        ".lds_size": hardware.ldsBytes,
        ".vgpr_count": hardware.vgprs,
        ".sgpr_count": hardware.sgprs,
        ".user_sgprs": hardware.userSgprs,
        ".wavefront_size": 32,
        ".wgp_mode": true,
        ".threadgroup_dimensions": reflection.workgroupSize,
      },
    },
    ".registers": new Map([
      [computeRegisterOffsets.rsrc1, rsrc1],
      [computeRegisterOffsets.rsrc2, rsrc2],
      [computeRegisterOffsets.rsrc3, rsrc3],
    ]),
  };
}

function kilnOf({ name, stage, reflection, stats, sourceMap }: CodeObjectEntry): Packable {
  return {
    name,
    stage,
    reflection: canonical(readReflection(reflection, "reflection")),
    statistics: canonical(readStatistics(stats, "stats")),
    sourceMap: numberFiles(sourceMap).map((p) => [p.offset, p.file, p.line, p.column]),
  };
}

/** The readers build their objects in one key order, whatever order the caller's had. */
function canonical(value: object): Packable {
  return value as unknown as Packable;
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
 * it in `.text`, which ends with at least 64 dwords of `s_code_end`.
 */
export function loadDwords(codeObject: CodeObject, entry: EntryPoint): Uint32Array {
  return toDwords(codeObject.text.subarray(entry.offsetBytes));
}
