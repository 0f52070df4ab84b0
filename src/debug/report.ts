import { fillHoles } from "../base/index.ts";
import type { Reflection, SourceMapEntry } from "../codeobj/index.ts";
import { type DisassemblyLine, disassemble } from "../isa/index.ts";
import {
  FaultAccess,
  type FaultName,
  faultKinds,
  type MappingRecord,
  packetByOpcode,
  QueueKind,
  type RawDump,
  RegisterClass,
  VaFlag,
} from "../uapi/index.ts";
import { type DescriptorState, descriptorsOf, descriptorText } from "./descriptors.ts";
import { decodePackets } from "./packets.ts";
import { decodeRecord, type FaultFields } from "./record.ts";
import { address, bytesText, hex } from "./text.ts";

/** Code that was on the machine: where it was loaded, and its source map. `name` is what the report calls it. */
export interface LoadedCode {
  readonly va: bigint;
  readonly sizeBytes: number;
  readonly name: string;
  readonly sourceMap: readonly SourceMapEntry[];
  /** With it the report shows the descriptors that the code uses. */
  readonly reflection?: Reflection;
}

/** A dump in words. Places that do not apply are absent. */
export interface FaultReport {
  readonly kind: FaultName | "UNKNOWN";
  /** One sentence: what happened. */
  readonly text: string;
  readonly reason: RawDump["reason"];
  readonly processName: string;
  readonly queue: number;
  readonly context: number;
  readonly fence: bigint;
  readonly instructionVa?: bigint;
  /** Bytes from the start of the code object's entry point. */
  readonly codeOffset?: number;
  readonly codeName?: string;
  /** The faulting instruction as assembler text. */
  readonly instruction?: string;
  readonly source?: SourceMapEntry;
  readonly address?: bigint;
  /** What is or was mapped at or near the address. */
  readonly nearest?: string;
  readonly packetVa?: bigint;
  readonly packet?: string;
  /** Disassembly around the instruction; `>` marks it. */
  readonly disassembly: readonly string[];
  /** Descriptors of the resources that the code uses. */
  readonly descriptors: readonly DescriptorState[];
  /** BOs of the job's list, and where they are mapped. */
  readonly bos: readonly string[];
  readonly fields: FaultFields;
  readonly missing: readonly string[];
}

const accessNames: Readonly<Record<number, string>> = {
  [FaultAccess.READ]: "read",
  [FaultAccess.WRITE]: "write",
  [FaultAccess.EXECUTE]: "instruction fetch",
  [FaultAccess.ATOMIC]: "atomic access",
};

function flagsText(flags: number): string {
  return `${flags & VaFlag.READ ? "r" : "-"}${flags & VaFlag.WRITE ? "w" : "-"}${flags & VaFlag.EXECUTE ? "x" : "-"}`;
}

function mappingText(m: MappingRecord): string {
  const range = `${address(m.va)}-${address(m.va + BigInt(m.sizeBytes))}`;
  if (m.flags === VaFlag.PRT) return `sparse hole ${range} (${bytesText(m.sizeBytes)})`;
  return `${m.unmapped ? "unmapped " : ""}BO ${m.handle} ${range} ${flagsText(m.flags)} (${bytesText(m.sizeBytes)})`;
}

/** The mapping that holds `va`, else one that held it, else the nearest below or above. */
export function nearestMapping(mappings: readonly MappingRecord[], va: bigint): string {
  const inside = (m: MappingRecord) => m.va <= va && va < m.va + BigInt(m.sizeBytes);
  const now = mappings.find((m) => !m.unmapped && inside(m));
  if (now) return `${Number(va - now.va)} bytes into ${mappingText(now)}`;
  const before = mappings.findLast((m) => m.unmapped && inside(m));
  if (before) return `${Number(va - before.va)} bytes into ${mappingText(before)}`;
  let best: { distance: bigint; text: string } | undefined;
  for (const m of mappings) {
    if (m.unmapped) continue;
    const end = m.va + BigInt(m.sizeBytes);
    const distance = va >= end ? va - end : m.va - va;
    if (best !== undefined && best.distance <= distance) continue;
    const side = va >= end ? "past the end" : "before the start";
    best = { distance, text: `${distance} bytes ${side} of ${mappingText(m)}` };
  }
  return best?.text ?? "nothing is mapped";
}

/** Disassembly of the dump's code. It starts where decoding meets `pc`: bytes before may begin inside an instruction. */
function linesAround(dump: RawDump, pc: bigint): readonly DisassemblyLine[] {
  const { code } = dump;
  if (code === undefined || pc < code.va || pc >= code.va + BigInt(code.bytes.length)) return [];
  const words = new Uint32Array(code.bytes.buffer, code.bytes.byteOffset, code.bytes.byteLength >> 2);
  for (let skip = 0; ; skip++) {
    const lines = disassemble(words.subarray(skip), { baseAddress: code.va + BigInt(skip * 4) });
    if (lines.some((line) => line.address === pc) || code.va + BigInt(skip * 4) >= pc) return lines;
  }
}

function sourceOf(code: LoadedCode | undefined, offset: number): SourceMapEntry | undefined {
  return code?.sourceMap.filter((entry) => entry.offset <= offset).sort((a, b) => b.offset - a.offset)[0];
}

function registerText([number, kind]: readonly [number, number]): string {
  return `${kind === RegisterClass.VGPR ? "v" : "s"}${number}`;
}

/** The failing packet: from the indirect buffer or, where it lies elsewhere, its header alone. */
function packetText(dump: RawDump, fields: FaultFields): string {
  const at = fields.packetVa - dump.ibVa;
  if (at >= 0n && at < BigInt(dump.ib.length * 4)) {
    const [line] = decodePackets(dump.ib.subarray(Number(at / 4n)), fields.packetVa, dump.queueKind);
    if (line) return line.text;
  }
  if (dump.queueKind === QueueKind.SDMA) return hex(fields.packetHeader, 8);
  const opcode = (fields.packetHeader >>> 8) & 0xff;
  return packetByOpcode(opcode)?.[0] ?? hex(fields.packetHeader, 8);
}

function boText(dump: RawDump, handle: number): string {
  const places = dump.mappings.filter((m) => m.handle === handle && !m.unmapped).map(mappingText);
  return places.length > 0 ? places.join("; ") : `BO ${handle}, not mapped`;
}

/** Scalar registers of the wave, eight a line; then the vector registers that the instruction names, lane by lane. */
function registerLines(report: FaultReport): string[] {
  const { sgprs, vgprs, lane } = report.fields;
  if (sgprs.length === 0) return [];
  const lines: string[] = [];
  for (let at = 0; at < LAST_SGPR; at += 8) {
    const words = [...sgprs.subarray(at, Math.min(at + 8, LAST_SGPR))];
    if (words.some((word) => word !== 0)) lines.push(`s${at}: ${words.map((word) => hex(word, 8)).join(" ")}`);
  }
  const [vcc = 0, m0 = 0, exec = 0] = [sgprs[106], sgprs[124], sgprs[126]];
  lines.push(`vcc ${hex(vcc, 8)} m0 ${hex(m0, 8)} exec ${hex(exec, 8)}`);
  for (const index of namedVgprs(report.instruction ?? "")) {
    const row = [...vgprs.subarray(index * 32, index * 32 + 32)];
    if (row.length === 0) continue;
    const first = lane === undefined ? row.slice(0, 8) : row.slice(lane, lane + 1);
    const where = lane === undefined ? "lanes 0-7" : `lane ${lane}`;
    lines.push(`v${index} ${where}: ${first.map((word) => hex(word, 8)).join(" ")}`);
  }
  return lines;
}

/** SGPRs that a report prints: those that a shader can have. */
const LAST_SGPR = 106;

/** `v3`, `v[4:5]` in assembler text → 3, 4, 5. */
function namedVgprs(text: string): readonly number[] {
  const found = new Set<number>();
  for (const [, single, first, last] of text.matchAll(/\bv(?:(\d+)|\[(\d+):(\d+)\])/g)) {
    const from = Number(single ?? first);
    for (let i = from; i <= Number(single ?? last); i++) found.add(i);
  }
  return [...found].sort((a, b) => a - b);
}

/** The report as JSON: addresses and 64-bit numbers as hexadecimal strings, register files as arrays. */
export function reportJson(report: FaultReport): string {
  const value = (_key: string, item: unknown): unknown => {
    if (typeof item === "bigint") return hex(item);
    return item instanceof Uint32Array ? [...item] : item;
  };
  return JSON.stringify(report, value, 2);
}

/** Decodes a raw dump. `codes` are the code objects that its process had loaded. */
export function decodeDump(dump: RawDump, codes: readonly LoadedCode[] = []): FaultReport {
  const fields = decodeRecord(dump.record);
  const row = faultKinds.find((candidate) => candidate.kind === fields.kind);
  // Halted between two waves of a dispatch no wave is there to name: the shader's start then says which shader it is.
  const pc = fields.pc || fields.program;
  const hasPc = pc !== 0n;
  const lines = hasPc ? linesAround(dump, pc) : [];
  const at = lines.findIndex((line) => line.address === pc);
  const code = codes.find((c) => c.va <= pc && pc < c.va + BigInt(c.sizeBytes));
  const codeOffset = hasPc && code ? Number(pc - code.va) : undefined;
  const source = codeOffset === undefined ? undefined : sourceOf(code, codeOffset);
  const instruction = lines[at]?.text ?? (fields.pc === 0n ? undefined : hex(fields.instruction[0], 8));
  const memory = fields.access !== FaultAccess.NONE;
  const packet = fields.packetVa === 0n ? undefined : packetText(dump, fields);
  const missing = [...dump.missing];
  if (hasPc && fields.pc === 0n) missing.push("a running wave: the instruction is the first one of the shader");
  if (hasPc && code === undefined) missing.push("source lines: no loaded code object holds the instruction");
  const reflection = code?.reflection;
  const descriptors = reflection === undefined ? [] : descriptorsOf(dump, reflection, fields.packetVa, missing);
  const text = fillHoles(row?.text ?? `fault kind ${fields.kind}`, {
    access: accessNames[fields.access] ?? "access",
    address: address(fields.address),
    instruction: instruction ?? hex(fields.instruction[0], 8),
    register: registerText(fields.detail),
    packet: packet ?? hex(fields.packetHeader, 8),
    detail: hex(fields.detail[0]),
    offset: `${fields.detail[0]}`,
    limit: `${fields.detail[1]}`,
  });
  return {
    kind: row?.name ?? "UNKNOWN",
    text,
    reason: dump.reason,
    processName: dump.processName,
    queue: fields.queue,
    context: dump.context,
    fence: dump.fence,
    ...(hasPc ? { instructionVa: pc } : {}),
    ...(codeOffset === undefined ? {} : { codeOffset }),
    ...(code ? { codeName: code.name } : {}),
    ...(instruction === undefined ? {} : { instruction }),
    ...(source ? { source } : {}),
    ...(memory ? { address: fields.address, nearest: nearestMapping(dump.mappings, fields.address) } : {}),
    ...(fields.packetVa === 0n ? {} : { packetVa: fields.packetVa }),
    ...(packet === undefined ? {} : { packet }),
    disassembly: lines
      .slice(Math.max(0, at - 6), at < 0 ? 0 : at + 7)
      .map((line) => `${line.address === pc ? ">" : " "} ${address(line.address)}  ${line.text}`),
    descriptors,
    bos: dump.boList.map((handle) => boText(dump, handle)),
    fields,
    missing,
  };
}

/** The report as text, a few lines: what, where in the code, where in memory, which packet, which waves. */
export function formatReport(report: FaultReport): string {
  const { fields } = report;
  const out = [`GPU ${report.reason} in ${report.processName}: ${report.text} [${report.kind}]`];
  if (report.source) out.push(`  source ${report.source.file}:${report.source.line}:${report.source.column}`);
  if (report.instructionVa !== undefined) {
    const offset = report.codeOffset === undefined ? "" : ` (${report.codeName} + ${hex(report.codeOffset)})`;
    out.push(`  instruction ${address(report.instructionVa)}${offset}: ${report.instruction ?? "not recorded"}`);
  }
  if (report.address !== undefined) out.push(`  address ${address(report.address)}: ${report.nearest}`);
  if (report.packetVa !== undefined) out.push(`  packet ${address(report.packetVa)}: ${report.packet}`);
  out.push(`  queue ${report.queue}, context ${report.context}, fence ${report.fence}, VMID ${fields.vmid}`);
  for (const [i, wave] of fields.waves.entries()) {
    const mark = i === fields.faultingWave ? ">" : " ";
    const place = `workgroup ${wave.workgroup.join(",")} wave ${wave.waveInGroup}`;
    out.push(` ${mark} ${place} ${wave.status} pc ${address(wave.pc)} exec ${hex(wave.exec, 8)}`);
  }
  out.push(...registerLines(report).map((line) => `  ${line}`));
  out.push(...report.disassembly.map((line) => `  ${line}`));
  out.push(...report.descriptors.map((state) => `  descriptor ${descriptorText(state)}`));
  out.push(...report.bos.map((bo) => `  listed ${bo}`));
  if (report.missing.length > 0) out.push(`  not recorded: ${report.missing.join(", ")}`);
  return out.join("\n");
}
