import { createHash } from "node:crypto";
import { type CompileRecord, type CompileRequest, writeCodeObject } from "../../src/codeobj/index.ts";

const stats = {
  instructions: 1,
  codeSizeBytes: 4,
  sgprs: 2,
  vgprs: 1,
  sgprsAllocated: 128,
  vgprsAllocated: 8,
  spilledSgprs: 0,
  spilledVgprs: 0,
  ldsBytes: 0,
  scratchBytes: 0,
  occupancyWaves: 16,
  branches: 0,
  waits: 0,
  salu: 1,
  valu: 0,
  smem: 0,
  vmem: 0,
  lds: 0,
  exports: 0,
  estimatedCycles: 1,
  contractions: 0,
};

/** A true record (code object and all) whose only instruction is `s_endpgm`, and whose source map tells the text apart. */
export function fakeRecord(text: string, request: CompileRequest, note = ""): CompileRecord {
  const reflection = {
    workgroupSize: [64, 1, 1],
    sets: [
      {
        set: 0,
        sizeBytes: 16,
        bindings: [{ binding: 0, type: "storageBuffer", count: 1, offsetBytes: 0, strideBytes: 16 }],
      },
    ],
    resources: [],
    pushConstantBytes: 0,
    userData: [],
    specializationConstants: [],
  } as const;
  const line = createHash("sha256").update(text).digest().readUInt16LE();
  const sourceMap = [{ offset: 0, file: request.filename, line, column: 1 }];
  const elf = writeCodeObject([
    {
      name: request.entryPoint,
      stage: "compute",
      code: new Uint32Array([0xbf810000]),
      hardware: {
        vgprs: 1,
        sgprs: 2,
        userSgprs: 2,
        usesWorkgroupId: [false, false, false],
        threadIdComponents: 0,
        ldsBytes: 0,
        scratchBytes: 0,
      },
      reflection,
      stats,
      sourceMap,
    },
  ]);
  const warning = {
    severity: "warning",
    code: "FAKE_WARNING",
    message: `made by ${note}`,
    file: request.filename,
    line: 1,
    column: 1,
    endLine: 1,
    endColumn: 1,
  } as const;
  return {
    elf,
    stage: "compute",
    entryPoint: request.entryPoint,
    diagnostics: [warning],
    stats,
    reflection,
    sourceMap,
  };
}
