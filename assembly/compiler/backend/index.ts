/** The back end: IR to gfx1030 machine code, in the order of README.md. */
import { Fail, fail, failed, failureCode } from "../../base/index.ts";
import { Phase } from "../../gen/ir-passes.ts";
import { phased } from "../host.ts";
import { Option, OptionFlag, option, optionFlag } from "../io.ts";
import { BACKEND_END } from "../memory-map.ts";
import { allocate, isOverfull, orderedCount, usedSgprs, usedVgprs } from "./allocate.ts";
import { checkAllocation } from "./check.ts";
import { checkBranches } from "./check-branches.ts";
import { checkLanes } from "./check-lanes.ts";
import { formClauses } from "./clause.ts";
import { cleanUp } from "./cleanup.ts";
import { coalesce } from "./coalesce.ts";
import { bFirst, bOrder, COLUMNS_END, codeWords, lineOffset, linePlace, mNext } from "./columns.ts";
import { selectFunction } from "./control.ts";
import { checkReach, codeLength, encode, lineRows } from "./encode.ts";
import { demotes, writesMemory } from "./exact.ts";
import { assignOperands, shrinkForms } from "./finish.ts";
import {
  drawBits,
  drawSgpr,
  flatBits,
  groupBits,
  inlinedPushDwords,
  locationBits,
  pushSgpr,
  setBits,
  stageInputs,
  threadComponents,
  UserData,
  userSgprs,
  usesPushPointer,
  usesWorkgroupCounts,
  workgroupCountSgpr,
} from "./launch.ts";
import { liveAgain, liveness } from "./liveness.ts";
import { hasDeep, layoutLength, resetMachine } from "./machine.ts";
import { nameEnds, nameOperands } from "./named.ts";
import { pairShared } from "./pair-shared.ts";
import { choosePatterns } from "./patterns.ts";
import { peephole } from "./peephole.ts";
import { needsIslands, relaxBranches } from "./relax.ts";
import { rotateLoops } from "./rotate.ts";
import { scanShader } from "./scan.ts";
import { schedule } from "./schedule.ts";
import { resetSpills, rewriteSpills, scratchBytes, spillDeepMasks, spilledSgprs, spilledVgprs } from "./spill.ts";
import { insertWaitcnt } from "./waitcnt.ts";

/** Each round's registers live shorter; a few are enough. */
const MAX_SPILL_ROUNDS = 20;

/** Reports a phase with the number of machine instructions behind it, where the host wants to know. */
function report(phase: Phase): void {
  if (!optionFlag(OptionFlag.PHASES)) return;
  let count: u32 = 0;
  for (let k: u32 = 0; k < layoutLength(); k++) for (let i = bFirst[bOrder[k]]; i != 0; i = mNext[i]) count++;
  phased(phase, count);
}

/** IR to machine IR with virtual registers, coalesced. `thrifty`: for few registers rather than for speed. */
export function select(thrifty: bool): void {
  assert(COLUMNS_END <= BACKEND_END);
  resetMachine();
  scanShader(thrifty);
  choosePatterns();
  if (failed()) return;
  selectFunction();
  if (failed()) return;
  report(Phase.SELECT);
  // At level 0 the order is that of selection.
  if (!thrifty && option(Option.LEVEL) > 0) {
    pairShared();
    schedule();
    report(Phase.SCHEDULE);
  }
  if (!ASC_NO_ASSERT) {
    nameOperands(layoutLength());
    nameEnds(layoutLength());
  }
  if (hasDeep()) spillDeepMasks();
  if (failed()) return;
  liveness(!thrifty && option(Option.LEVEL) == 0 && !hasDeep());
  report(Phase.LIVENESS);
  coalesce();
  report(Phase.COALESCE);
}

function spillMarked(): void {
  rewriteSpills(orderedCount());
  if (failed()) return;
  liveAgain();
  coalesce();
}

/** Gives all virtual registers places, spilling where the file is too small. */
export function allocateAll(): void {
  const overfull = isOverfull();
  const fits = !overfull && allocate(false);
  report(Phase.ALLOCATE);
  if (!fits && !failed()) {
    if (overfull) {
      spillMarked();
    } else {
      resetSpills();
      select(true);
    }
    for (let round = 0; !failed() && !allocate(true) && !failed(); round++) {
      if (round == MAX_SPILL_ROUNDS) fail(Fail.OUT_OF_REGISTERS, 1, 256, 0);
      spillMarked();
    }
    report(Phase.SPILL);
  }
  // What spilling set up for itself.
  if (!ASC_NO_ASSERT && !failed()) nameOperands(layoutLength());
}

/** Allocated machine IR to its final instructions, without islands for far branches. */
export function finish(): void {
  assignOperands();
  cleanUp();
  if (option(Option.LEVEL) > 0) {
    rotateLoops();
    peephole();
  }
  shrinkForms();
  report(Phase.CLEANUP);
  insertWaitcnt();
  if (option(Option.LEVEL) > 0) formClauses();
  report(Phase.WAITS);
}

/** Compiles the final IR; the results are read through the functions below. 0, or the failure's code. */
export function emit(): i32 {
  resetSpills();
  select(false);
  if (failed()) return failureCode();
  allocateAll();
  if (failed()) return failureCode();
  finish();
  if (!ASC_NO_ASSERT && !failed()) {
    checkBranches();
    checkLanes();
    checkAllocation();
  }
  if (failed()) return failureCode();
  encode();
  if (!failed() && needsIslands()) {
    relaxBranches();
    if (failed()) return failureCode();
    encode();
    checkReach();
  }
  report(Phase.ENCODE);
  return failureCode();
}

export {
  codeLength,
  codeWords,
  demotes,
  drawBits,
  drawSgpr,
  flatBits,
  groupBits,
  inlinedPushDwords,
  lineOffset,
  linePlace,
  lineRows,
  locationBits,
  pushSgpr,
  scratchBytes,
  setBits,
  spilledSgprs,
  spilledVgprs,
  stageInputs,
  threadComponents,
  UserData,
  usedSgprs,
  usedVgprs,
  userSgprs,
  usesPushPointer,
  usesWorkgroupCounts,
  workgroupCountSgpr,
  writesMemory,
};
