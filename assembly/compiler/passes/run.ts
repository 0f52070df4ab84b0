/**
 * The passes in their order, for each optimisation level: the one place where it stands. Between REPEAT and AGAIN the
 * passes run again while one of them changes something, at most MAX_ROUNDS times. With the VALIDATE option the IR is
 * validated after each pass, and a broken rule fails with the pass, the rule and the place.
 */
import { Fail, failAt, failed } from "../../base/index.ts";
import { Rule } from "../../gen/ir-invariants.ts";
import { Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import { Pass } from "../../gen/ir-passes.ts";
import { passed } from "../host.ts";
import { Option, OptionFlag, option, optionFlag } from "../io.ts";
import {
  brokenAt,
  brokenPlace,
  entryBlock,
  firstInstr,
  instrPlace,
  nextBlock,
  nextInstr,
  opOf,
  validate,
} from "../ir/index.ts";
import { divergence } from "./divergence.ts";
import { lowerBoolPhis } from "./lower-bool-phis.ts";
import { lowerIdiv } from "./lower-idiv.ts";
import { lowerLcssa } from "./lower-lcssa.ts";
import { lowerTranscendentals } from "./lower-transcendentals.ts";
import { lowerVarsToSsa } from "./lower-vars-to-ssa.ts";
import { optAlgebraic } from "./opt-algebraic.ts";
import { optBindings } from "./opt-bindings.ts";
import { optConstFold } from "./opt-const-fold.ts";
import { optContractFma } from "./opt-contract-fma.ts";
import { optCopyProp } from "./opt-copy-prop.ts";
import { optCse } from "./opt-cse.ts";
import { optDce } from "./opt-dce.ts";
import { optDeadCf } from "./opt-dead-cf.ts";
import { optHalf } from "./opt-half.ts";
import { optIfConvert } from "./opt-if-convert.ts";
import { optJumpThread } from "./opt-jump-thread.ts";
import { optLicm } from "./opt-licm.ts";
import { optMemory } from "./opt-memory.ts";
import { optNarrow } from "./opt-narrow.ts";
import { optOffsets } from "./opt-offsets.ts";
import { optPack } from "./opt-pack.ts";
import { optRange } from "./opt-range.ts";
import { optReassociate } from "./opt-reassociate.ts";
import { optSink } from "./opt-sink.ts";
import { optUnroll, resetUnrolled } from "./opt-unroll.ts";
import { optVectorize } from "./opt-vectorize.ts";
import { optWave } from "./opt-wave.ts";

const REPEAT: u32 = 100;
const AGAIN: u32 = 101;
const END: u32 = 0;
const MAX_ROUNDS = 6;

const LEVEL_0: usize = memory.data<u32>([
  Pass.LOWER_VARS_TO_SSA,
  Pass.LOWER_IDIV,
  Pass.LOWER_TRANSCENDENTALS,
  Pass.OPT_DCE,
  Pass.LOWER_LCSSA,
  Pass.DIVERGENCE,
  Pass.LOWER_BOOL_PHIS,
  END,
]);

const LEVEL_1: usize = memory.data<u32>([
  Pass.LOWER_VARS_TO_SSA,
  Pass.OPT_COPY_PROP,
  Pass.OPT_CONST_FOLD,
  Pass.OPT_ALGEBRAIC,
  Pass.OPT_CSE,
  Pass.OPT_DCE,
  Pass.OPT_DEAD_CF,
  Pass.OPT_IF_CONVERT,
  Pass.LOWER_IDIV,
  Pass.LOWER_TRANSCENDENTALS,
  Pass.OPT_HALF,
  Pass.OPT_CONTRACT_FMA,
  Pass.OPT_BINDINGS,
  Pass.OPT_COPY_PROP,
  Pass.OPT_CONST_FOLD,
  Pass.OPT_ALGEBRAIC,
  Pass.OPT_CSE,
  Pass.OPT_OFFSETS,
  Pass.OPT_DCE,
  Pass.OPT_NARROW,
  Pass.LOWER_LCSSA,
  Pass.DIVERGENCE,
  Pass.LOWER_BOOL_PHIS,
  Pass.OPT_DCE,
  END,
]);

const LEVEL_2: usize = memory.data<u32>([
  Pass.LOWER_VARS_TO_SSA,
  REPEAT,
  Pass.OPT_COPY_PROP,
  Pass.OPT_CONST_FOLD,
  Pass.OPT_ALGEBRAIC,
  Pass.OPT_CSE,
  Pass.OPT_DCE,
  Pass.OPT_DEAD_CF,
  Pass.OPT_IF_CONVERT,
  Pass.OPT_JUMP_THREAD,
  Pass.OPT_UNROLL,
  Pass.OPT_OFFSETS,
  Pass.OPT_MEMORY,
  AGAIN,
  Pass.OPT_RANGE,
  Pass.OPT_REASSOCIATE,
  Pass.OPT_WAVE,
  Pass.LOWER_IDIV,
  Pass.LOWER_TRANSCENDENTALS,
  Pass.OPT_HALF,
  Pass.OPT_CONTRACT_FMA,
  Pass.OPT_BINDINGS,
  REPEAT,
  Pass.OPT_COPY_PROP,
  Pass.OPT_CONST_FOLD,
  Pass.OPT_ALGEBRAIC,
  Pass.OPT_CSE,
  Pass.OPT_DCE,
  AGAIN,
  Pass.OPT_OFFSETS,
  Pass.OPT_MEMORY,
  Pass.OPT_VECTORIZE,
  Pass.OPT_PACK,
  Pass.OPT_COPY_PROP,
  Pass.OPT_CONST_FOLD,
  Pass.OPT_CSE,
  Pass.OPT_DCE,
  Pass.OPT_NARROW,
  Pass.OPT_LICM,
  Pass.OPT_SINK,
  Pass.LOWER_LCSSA,
  Pass.DIVERGENCE,
  Pass.LOWER_BOOL_PHIS,
  Pass.OPT_DCE,
  END,
]);

/** Runs one pass by number; true when it changed something. An unknown number does nothing. */
export function runPass(pass: u32): bool {
  switch (pass) {
    case Pass.LOWER_VARS_TO_SSA:
      return lowerVarsToSsa();
    case Pass.OPT_COPY_PROP:
      return optCopyProp();
    case Pass.OPT_CONST_FOLD:
      return optConstFold();
    case Pass.OPT_ALGEBRAIC:
      return optAlgebraic();
    case Pass.OPT_CSE:
      return optCse();
    case Pass.OPT_DCE:
      return optDce();
    case Pass.OPT_DEAD_CF:
      return optDeadCf();
    case Pass.OPT_IF_CONVERT:
      return optIfConvert();
    case Pass.LOWER_IDIV:
      return lowerIdiv();
    case Pass.LOWER_TRANSCENDENTALS:
      return lowerTranscendentals();
    case Pass.OPT_CONTRACT_FMA:
      return optContractFma();
    case Pass.OPT_OFFSETS:
      return optOffsets();
    case Pass.OPT_BINDINGS:
      return optBindings();
    case Pass.OPT_LICM:
      return optLicm();
    case Pass.LOWER_LCSSA:
      return lowerLcssa();
    case Pass.DIVERGENCE:
      return divergence();
    case Pass.LOWER_BOOL_PHIS:
      return lowerBoolPhis();
    case Pass.OPT_MEMORY:
      return optMemory();
    case Pass.OPT_VECTORIZE:
      return optVectorize();
    case Pass.OPT_WAVE:
      return optWave();
    case Pass.OPT_HALF:
      return optHalf();
    case Pass.OPT_PACK:
      return optPack();
    case Pass.OPT_UNROLL:
      return optUnroll();
    case Pass.OPT_JUMP_THREAD:
      return optJumpThread();
    case Pass.OPT_SINK:
      return optSink();
    case Pass.OPT_RANGE:
      return optRange();
    case Pass.OPT_REASSOCIATE:
      return optReassociate();
    case Pass.OPT_NARROW:
      return optNarrow();
    default:
      return false;
  }
}

/** Validates after a pass; a broken rule fails. */
export function checkAfter(pass: u32): void {
  if (failed()) return;
  const rule = validate();
  if (rule != 0) failAt(brokenPlace(), Fail.INVALID_IR, pass, rule, brokenAt());
}

function step(pass: u32): bool {
  if (!ASC_NO_ASSERT && pass == option(Option.WITHOUT)) return false;
  if (pass == Pass.OPT_CONTRACT_FMA && !optionFlag(OptionFlag.CONTRACTION)) return false;
  const changed = runPass(pass);
  if (failed()) return false;
  if (optionFlag(OptionFlag.VALIDATE)) checkAfter(pass);
  if (!failed()) passed(pass, changed ? 1 : 0);
  return changed;
}

/** Changes so far, and how many there were when each pass began its last run. */
let changes: u32 = 0;
const begunAt: usize = memory.data(4 * 64, 4);

/** Runs a pass unless nothing has changed since it ran last, when it found nothing to do; true when it changed something. */
function stepAgain(pass: u32): bool {
  const at = begunAt + ((<usize>pass) << 2);
  if (load<u32>(at) == changes) return false;
  store<u32>(at, changes);
  if (!step(pass)) return false;
  changes++;
  return true;
}

/** Runs all passes of a level over the lifted shader. */
export function runPasses(level: u32): void {
  const list = level == 0 ? LEVEL_0 : level == 1 ? LEVEL_1 : LEVEL_2;
  let start: u32 = 0;
  let round = 0;
  let progress = false;
  changes = 1;
  resetUnrolled();
  memory.fill(begunAt, 0, 4 * 64);
  for (let k: u32 = 0; !failed(); k++) {
    const pass = load<u32>(list + ((<usize>k) << 2));
    if (pass == END) break;
    if (pass == REPEAT) {
      start = k;
      round = 1;
      progress = false;
    } else if (pass == AGAIN) {
      if (!progress || round >= MAX_ROUNDS) continue;
      round++;
      progress = false;
      k = start;
    } else if (stepAgain(pass)) {
      progress = true;
    }
  }
  if (!failed()) checkLowered();
}

/** Nothing that a lower-* pass must remove may be left. */
function checkLowered(): void {
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) {
      if (opOf(i) != Op.NONE && (opFlags(opOf(i)) & OpFlag.LOWERED) != 0)
        failAt(instrPlace[i], Fail.INVALID_IR, 0, Rule.LOWERED, i);
    }
  }
}
