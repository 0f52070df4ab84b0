import { fillHoles } from "../base/index.ts";
import type { SourceMapEntry } from "../codeobj/index.ts";
import { type DisassemblyLine, disassemble } from "../isa/index.ts";
import {
  FaultAccess,
  type FaultName,
  faultKinds,
  type MappingRecord,
  packetByOpcode,
  type RawDump,
  RegisterClass,
  VaFlag,
} from "../uapi/index.ts";
import { decodePackets } from "./packets.ts";
import { decodeRecord, type FaultFields } from "./record.ts";
import { address, bytesText, hex } from "./text.ts";

/** Code that was on the machine: where it was loaded, and its source map. `name` is what the report calls it. */
export interface LoadedCode {
  readonly va: bigint;
  readonly sizeBytes: number;
  readonly name: string;
  readonly sourceMap: readonly SourceMapEntry[];
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
    const [line] = decodePackets(dump.ib.subarray(Number(at / 4n)), fields.packetVa);
    if (line) return line.text;
  }
  const opcode = (fields.packetHeader >>> 8) & 0xff;
  return packetByOpcode(opcode)?.[0] ?? hex(fields.packetHeader, 8);
}

/** Decodes a raw dump. `codes` are the code objects that its process had loaded. */
export function decodeDump(dump: RawDump, codes: readonly LoadedCode[] = []): FaultReport {
  const fields = decodeRecord(dump.record);
  const row = faultKinds.find((candidate) => candidate.kind === fields.kind);
  const hasPc = fields.pc !== 0n;
  const lines = hasPc ? linesAround(dump, fields.pc) : [];
  const at = lines.findIndex((line) => line.address === fields.pc);
  const code = codes.find((c) => c.va <= fields.pc && fields.pc < c.va + BigInt(c.sizeBytes));
  const codeOffset = hasPc && code ? Number(fields.pc - code.va) : undefined;
  const source = codeOffset === undefined ? undefined : sourceOf(code, codeOffset);
  const instruction = lines[at]?.text ?? (hasPc ? hex(fields.instruction[0], 8) : undefined);
  const memory = fields.access !== FaultAccess.NONE;
  const packet = fields.packetVa === 0n ? undefined : packetText(dump, fields);
  const text = fillHoles(row?.text ?? `fault kind ${fields.kind}`, {
    access: accessNames[fields.access] ?? "access",
    address: address(fields.address),
    instruction: instruction ?? hex(fields.instruction[0], 8),
    register: registerText(fields.detail),
    packet: packet ?? hex(fields.packetHeader, 8),
    detail: hex(fields.detail[0]),
  });
  return {
    kind: row?.name ?? "UNKNOWN",
    text,
    reason: dump.reason,
    processName: dump.processName,
    queue: fields.queue,
    context: dump.context,
    fence: dump.fence,
    ...(hasPc ? { instructionVa: fields.pc } : {}),
    ...(codeOffset === undefined ? {} : { codeOffset }),
    ...(code ? { codeName: code.name } : {}),
    ...(instruction === undefined ? {} : { instruction }),
    ...(source ? { source } : {}),
    ...(memory ? { address: fields.address, nearest: nearestMapping(dump.mappings, fields.address) } : {}),
    ...(fields.packetVa === 0n ? {} : { packetVa: fields.packetVa }),
    ...(packet === undefined ? {} : { packet }),
    disassembly: lines
      .slice(Math.max(0, at - 6), at < 0 ? 0 : at + 7)
      .map((line) => `${line.address === fields.pc ? ">" : " "} ${address(line.address)}  ${line.text}`),
    fields,
    missing: dump.missing,
  };
}

/** The report as text, a few lines: what, where in the code, where in memory, which packet, which waves. */
export function formatReport(report: FaultReport): string {
  const { fields } = report;
  const out = [`GPU ${report.reason} in ${report.processName}: ${report.text} [${report.kind}]`];
  if (report.source) out.push(`  source ${report.source.file}:${report.source.line}:${report.source.column}`);
  if (report.instructionVa !== undefined) {
    const offset = report.codeOffset === undefined ? "" : ` (${report.codeName} + ${hex(report.codeOffset)})`;
    out.push(`  instruction ${address(report.instructionVa)}${offset}: ${report.instruction}`);
  }
  if (report.address !== undefined) out.push(`  address ${address(report.address)}: ${report.nearest}`);
  if (report.packetVa !== undefined) out.push(`  packet ${address(report.packetVa)}: ${report.packet}`);
  out.push(`  queue ${report.queue}, context ${report.context}, fence ${report.fence}, VMID ${fields.vmid}`);
  for (const [i, wave] of fields.waves.entries()) {
    const mark = i === fields.faultingWave ? ">" : " ";
    const place = `workgroup ${wave.workgroup.join(",")} wave ${wave.waveInGroup}`;
    out.push(` ${mark} ${place} ${wave.status} pc ${address(wave.pc)} exec ${hex(wave.exec, 8)}`);
  }
  out.push(...report.disassembly.map((line) => `  ${line}`));
  if (report.missing.length > 0) out.push(`  not recorded: ${report.missing.join(", ")}`);
  return out.join("\n");
}
