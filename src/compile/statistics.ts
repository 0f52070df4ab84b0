import { Bug } from "../base/index.ts";
import {
  allocatedSgprs,
  allocatedVgprs,
  graphicsOccupancy,
  occupancyWaves,
  type Stage,
  type Statistics,
} from "../codeobj/index.ts";
import type { CoreOutput } from "../core/index.ts";
import { countInstructions } from "../isa/index.ts";

/** Statistics of a compiled entry point, counted on the bytes that the GPU will execute. A word that isn't gfx1030: `Bug`. */
export function statisticsOf(output: CoreOutput, stage: Stage): Statistics {
  const counts = countInstructions(output.code);
  if (counts.unknown > 0) throw new Bug(`the compiler wrote ${counts.unknown} words that are no gfx1030 instructions`);
  const [x, y, z] = output.workgroupSize;
  return {
    // member by member: copying what is left of an object takes longer than the counting
    instructions: counts.instructions,
    salu: counts.salu,
    valu: counts.valu,
    smem: counts.smem,
    vmem: counts.vmem,
    lds: counts.lds,
    exports: counts.exports,
    branches: counts.branches,
    waits: counts.waits,
    estimatedCycles: counts.estimatedCycles,
    codeSizeBytes: output.code.length * 4,
    sgprs: output.sgprs,
    vgprs: output.vgprs,
    sgprsAllocated: allocatedSgprs,
    vgprsAllocated: allocatedVgprs(output.vgprs),
    spilledSgprs: output.spilledSgprs,
    spilledVgprs: output.spilledVgprs,
    ldsBytes: output.ldsBytes,
    scratchBytes: output.scratchBytes,
    occupancyWaves:
      stage === "compute"
        ? occupancyWaves({ vgprs: output.vgprs, ldsBytes: output.ldsBytes, workgroupThreads: x * y * z })
        : graphicsOccupancy(output.vgprs),
    contractions: output.contractions,
  };
}
