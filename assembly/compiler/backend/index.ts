/** The back end: IR to gfx1030 machine code, in the order of README.md. */
import { failed, failureCode } from "../../base/index.ts";
import { BACKEND_END } from "../memory-map.ts";
import { allocate, usedSgprs, usedVgprs } from "./allocate.ts";
import { checkAllocation } from "./check.ts";
import { classifyValues } from "./classes.ts";
import { cleanUp } from "./cleanup.ts";
import { coalesce } from "./coalesce.ts";
import { COLUMNS_END, codeWords, lineOffset, linePlace } from "./columns.ts";
import { selectFunction } from "./control.ts";
import { scanDescriptors } from "./descriptors.ts";
import { codeLength, encode, lineRows } from "./encode.ts";
import { assignOperands, shrinkForms } from "./finish.ts";
import {
  groupBits,
  inlinedPushDwords,
  pushSgpr,
  scanLaunch,
  setBits,
  threadComponents,
  UserData,
  userSgprs,
  usesPushPointer,
  usesWorkgroupCounts,
  workgroupCountSgpr,
} from "./launch.ts";
import { liveness } from "./liveness.ts";
import { resetMachine } from "./machine.ts";
import { choosePatterns } from "./patterns.ts";
import { relaxBranches } from "./relax.ts";
import { findBufferWrites } from "./scalar-loads.ts";
import { schedule } from "./schedule.ts";
import { insertWaitcnt } from "./waitcnt.ts";

/** IR to machine IR with virtual registers, coalesced. `thrifty`: for few registers rather than for speed. */
export function select(thrifty: bool): void {
  assert(COLUMNS_END <= BACKEND_END);
  resetMachine();
  scanLaunch();
  scanDescriptors(thrifty);
  findBufferWrites();
  classifyValues();
  choosePatterns();
  if (failed()) return;
  selectFunction();
  if (failed()) return;
  if (!thrifty) schedule();
  liveness();
  coalesce();
}

/** Compiles the final IR; the results are read through the functions below. 0, or the failure's code. */
export function emit(): i32 {
  select(false);
  if (failed()) return failureCode();
  if (!allocate(false) && !failed()) {
    select(true);
    if (failed()) return failureCode();
    allocate(true);
  }
  if (!ASC_NO_ASSERT && !failed()) checkAllocation();
  if (failed()) return failureCode();
  assignOperands();
  cleanUp();
  shrinkForms();
  insertWaitcnt();
  if (failed()) return failureCode();
  relaxBranches();
  if (failed()) return failureCode();
  encode();
  return failureCode();
}

export {
  codeLength,
  codeWords,
  groupBits,
  inlinedPushDwords,
  lineOffset,
  linePlace,
  lineRows,
  pushSgpr,
  setBits,
  threadComponents,
  UserData,
  usedSgprs,
  usedVgprs,
  userSgprs,
  usesPushPointer,
  usesWorkgroupCounts,
  workgroupCountSgpr,
};
