import { dwordsOf, findOp, type Instruction } from "./decode.ts";
import { Flag } from "./flags.ts";
import type { Op } from "./table.ts";

/** Exactly one for each instruction, so that the counts add up. `salu` takes what else the sequencer executes. */
export type InstructionClass = "salu" | "valu" | "smem" | "vmem" | "lds" | "branch" | "wait" | "export";

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

/** What `countInstructions` finds. `unknown` dwords are counted apart and not as instructions. */
export interface InstructionCounts {
  readonly instructions: number;
  readonly salu: number;
  readonly valu: number;
  readonly smem: number;
  readonly vmem: number;
  readonly lds: number;
  readonly exports: number;
  readonly branches: number;
  readonly waits: number;
  readonly unknown: number;
  readonly estimatedCycles: number;
}

/** Model latencies in cycles of what a wait waits for. Source: public figures (our model, not a measurement). */
const latency = { lgkm: 64, vm: 120, barrier: 32 } as const;

/** Issue cycles of a wave32 instruction: full rate 1, transcendental and 32-bit multiply 4, double precision 16. */
export function issueCycles({ op }: Pick<Instruction, "op">): number {
  if (!op.format.startsWith("VOP")) return 1;
  if (/_f64/.test(op.name)) return 16;
  if ((op.flags & Flag.Trans) !== 0 || /^v_(mul_(lo|hi)_[iu]32|mad_[iu]64)/.test(op.name)) return 4;
  return 1;
}

/** Of `s_waitcnt`. */
function waitCycles(simm16: number): number {
  const vm = ((simm16 & 15) | ((simm16 >> 10) & 0x30)) !== 63;
  const lgkm = ((simm16 >> 8) & 63) !== 63;
  return vm ? latency.vm : lgkm ? latency.lgkm : 0;
}

const units: readonly InstructionClass[] = ["salu", "valu", "smem", "vmem", "lds", "export", "branch", "wait"];

/** What the counts need of an op, worked out once. */
interface OpFacts {
  readonly unit: number;
  /** Without the wait of `s_waitcnt`. */
  readonly cycles: number;
  readonly isWaitcnt: boolean;
  readonly isPadding: boolean;
}

/** By the op's number. */
const factsOfOp: (OpFacts | undefined)[] = [];

function factsOf(op: Op): OpFacts {
  let facts = factsOfOp[op.id];
  if (facts === undefined) {
    const isWaitcnt = op.name === "s_waitcnt";
    facts = {
      unit: units.indexOf(classify({ op })),
      cycles: issueCycles({ op }) + (op.name === "s_barrier" ? latency.barrier : 0),
      isWaitcnt,
      isPadding: op.name === "s_code_end",
    };
    factsOfOp[op.id] = facts;
  }
  return facts;
}

/**
 * Counts by class over one straight walk of `words`; `s_code_end` padding is left out. `estimatedCycles` is a model:
 * issue cycles of every instruction once (no loop weights), plus a memory latency at each wait that can stall.
 */
export function countInstructions(words: ArrayLike<number>): InstructionCounts {
  // by `units`
  const counts = [0, 0, 0, 0, 0, 0, 0, 0];
  let instructions = 0;
  let unknown = 0;
  let estimatedCycles = 0;
  for (let at = 0; at < words.length; ) {
    const op = findOp(words, at);
    const dwords = op === undefined ? 1 : dwordsOf(op, words, at);
    if (op === undefined || at + dwords > words.length) {
      unknown++;
      at++;
      continue;
    }
    const { unit, cycles, isWaitcnt, isPadding } = factsOf(op);
    if (!isPadding) {
      instructions++;
      counts[unit]!++;
      estimatedCycles += isWaitcnt ? cycles + waitCycles(words[at]! & 0xffff) : cycles;
    }
    at += dwords;
  }
  const [salu, valu, smem, vmem, lds, exports, branches, waits] = counts as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { instructions, salu, valu, smem, vmem, lds, exports, branches, waits, unknown, estimatedCycles };
}
