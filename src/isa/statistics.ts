import type { Instruction } from "./decode.ts";
import { Flag } from "./flags.ts";

/** Exactly one for each instruction, so that the counts add up. `salu` takes what else the sequencer executes. */
export type InstructionClass = "salu" | "valu" | "smem" | "vmem" | "lds" | "branch" | "wait" | "export";

/** In the order of their numbers in `count-rows.ts`. */
export const instructionClasses: readonly InstructionClass[] = [
  "salu",
  "valu",
  "smem",
  "vmem",
  "lds",
  "export",
  "branch",
  "wait",
];

/** The unit that an instruction occupies. */
export function classify({ op }: Pick<Instruction, "op">): InstructionClass {
  if ((op.flags & Flag.Branch) !== 0) return "branch";
  if ((op.flags & Flag.Wait) !== 0) return "wait";
  switch (op.format) {
    case "SMEM":
      return "smem";
    case "DS":
      return "lds";
    case "MUBUF":
    case "MTBUF":
    case "MIMG":
    case "FLAT":
    case "SCRATCH":
    case "GLOBAL":
      return "vmem";
    default:
      if (op.format === "EXP") return "export";
      return op.format.startsWith("VOP") || op.format === "VINTRP" ? "valu" : "salu";
  }
}

/** Issue cycles of a wave32 instruction: full rate 1, transcendental and 32-bit multiply 4, double precision 16. */
export function issueCycles({ op }: Pick<Instruction, "op">): number {
  if (!op.format.startsWith("VOP")) return 1;
  if (/_f64/.test(op.name)) return 16;
  if ((op.flags & Flag.Trans) !== 0 || /^v_(mul_(lo|hi)_[iu]32|mad_[iu]64)/.test(op.name)) return 4;
  return 1;
}
