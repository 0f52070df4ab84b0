import { createHash } from "node:crypto";
import type { CompileRecord, CompileRequest } from "../codeobj/index.ts";
import type { CompileReports } from "../compile/index.ts";
import { recordAssembly, recordFlow, recordLiveRegisters } from "../service/index.ts";
import { disassemble } from "../spirv/index.ts";

/** What `kiln compile` can write. */
export type EmitKind =
  | "elf"
  | "asm"
  | "spirv"
  | "spirv-asm"
  | "ir"
  | "stats"
  | "json"
  | "passes"
  | "cfg"
  | "liveRegisters";

interface Compiled {
  readonly record: CompileRecord;
  readonly reports: CompileReports;
}

/** A compile in the form asked for. */
export function emitted({ record, reports }: Compiled, request: CompileRequest, emit: EmitKind): string | Uint8Array {
  switch (emit) {
    case "elf":
      return record.elf;
    case "asm":
      return recordAssembly(record);
    case "spirv":
      return new Uint8Array(reports.spirv.buffer, reports.spirv.byteOffset, reports.spirv.byteLength);
    case "spirv-asm":
      return disassemble(reports.spirv);
    case "ir":
      return reports.ir ?? "";
    case "stats":
      return jsonText(record.stats);
    case "json":
      return jsonText(answerOf(record, request));
    case "passes":
      return jsonText(reports.passes);
    case "cfg":
      return jsonText(recordFlow(record));
    case "liveRegisters":
      return jsonText(recordLiveRegisters(record));
  }
}

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** The fields of the service's answer that a local compile has. */
function answerOf(record: CompileRecord, request: CompileRequest) {
  const { elf, stage, entryPoint, stats, reflection, sourceMap, diagnostics } = record;
  return {
    target: request.target,
    stage,
    entryPoint,
    code: Buffer.from(elf).toString("base64"),
    codeSha256: createHash("sha256").update(elf).digest("hex"),
    codeSizeBytes: stats.codeSizeBytes,
    stats,
    reflection,
    sourceMap,
    diagnostics,
  };
}
