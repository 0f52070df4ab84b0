/**
 * The compiler core. The host (`src/core`) writes options, bindings, specialisation values and words (`io.ts`), calls an
 * export, reads status and output block. Each export starts from nothing: what was compiled before leaves no trace.
 */
import {
  Fail,
  fail,
  failed,
  failureA,
  failureB,
  failureC,
  failureCode,
  failurePlace,
  resetFailure,
} from "../base/index.ts";
import { Rule } from "../gen/ir-invariants.ts";
import { Pass } from "../gen/ir-passes.ts";
import {
  codeLength,
  codeWords,
  demotes,
  drawBits,
  drawSgpr,
  emit,
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
  usedSgprs,
  usedVgprs,
  userSgprs,
  usesPushPointer,
  usesWorkgroupCounts,
  workgroupCountSgpr,
  writesMemory,
} from "./backend/index.ts";
import { passed } from "./host.ts";
import {
  bindingRows,
  IO_VERSION,
  Option,
  OptionFlag,
  option,
  optionFlag,
  options,
  out,
  output,
  outputCount,
  outWords,
  pipeline,
  resetOutput,
  specRows,
  words,
} from "./io.ts";
import {
  brokenAt,
  contractions,
  entryBlock,
  firstInstr,
  ldsBytes,
  localSize,
  nameBytes,
  nextBlock,
  nextInstr,
  placeColumn,
  placeFile,
  placeLine,
  tableWord,
  tableWords,
  validate,
  validateLifted,
} from "./ir/index.ts";
import { readSnapshot, writeSnapshot } from "./ir/snapshot.ts";
import { lift } from "./lift/lift.ts";
import { colorExports, depthExport, vertexOutputs } from "./lift/outputs.ts";
import { repairDominance } from "./lift/repair.ts";
import { resetUnrolled } from "./passes/opt-unroll.ts";
import { checkAfter, runPass, runPasses } from "./passes/run.ts";

/** Addresses of the shared blocks: 0 options, 1 name, 2 bindings, 3 specialisation values, 4 words, 5 output, 6 pipeline state. */
export function address(which: u32): usize {
  switch (which) {
    case 0:
      return options.at(0);
    case 1:
      return nameBytes.at(0);
    case 2:
      return bindingRows.at(0);
    case 3:
      return specRows.at(0);
    case 4:
      return words.at(0);
    case 6:
      return pipeline.at(0);
    default:
      return output.at(0);
  }
}

/** The failure of the last call: 0 code, 1 to 3 its numbers, 4 file id, 5 line, 6 column. */
export function failure(which: u32): u32 {
  switch (which) {
    case 0:
      return failureCode();
    case 1:
      return failureA();
    case 2:
      return failureB();
    case 3:
      return failureC();
    case 4:
      return placeFile[failurePlace()];
    case 5:
      return placeLine[failurePlace()];
    default:
      return placeColumn[failurePlace()];
  }
}

function begin(): bool {
  resetFailure(<i64>option(Option.FUEL) * 1_000_000);
  resetOutput();
  placeFile[0] = 0;
  placeLine[0] = 0;
  placeColumn[0] = 0;
  if (option(Option.VERSION) == IO_VERSION) return true;
  fail(Fail.INVALID_IR, 0, 101, option(Option.VERSION));
  return false;
}

/** Lifts and checks: SPIR-V that breaks dominance or types breaks the IR's rules, and is the caller's mistake. */
function liftChecked(): void {
  lift();
  if (failed()) return;
  let rule = validateLifted(1);
  if (rule == Rule.DOMINANCE) {
    repairDominance();
    rule = validateLifted(2);
  }
  if (rule == 0 && optionFlag(OptionFlag.VALIDATE)) rule = validate();
  if (rule != 0) fail(Fail.MALFORMED, 2, rule, brokenAt());
  else passed(Pass.LIFT, 1);
}

/** Words to code in the output block. 0, or the failure's code. */
export function compile(): u32 {
  if (!begin()) return failureCode();
  liftChecked();
  if (!failed()) runPasses(option(Option.LEVEL));
  if (!failed() && optionFlag(OptionFlag.VALIDATE)) checkAfter(0);
  if (!failed()) emit();
  if (!failed()) writeResult();
  return failureCode();
}

/** Words to IR as the passes leave it, without code; `snapshot` reads it. */
export function lower(): u32 {
  if (!begin()) return failureCode();
  liftChecked();
  if (!failed()) runPasses(option(Option.LEVEL));
  return failureCode();
}

/** Snapshot in `words` to code. */
export function emitSnapshot(): u32 {
  if (!begin()) return failureCode();
  readSnapshot();
  if (!failed()) checkAfter(0);
  if (!failed()) emit();
  if (!failed()) writeResult();
  return failureCode();
}

/** Snapshot in `words` through one pass (0: none), validated before and after; the result in the output block. */
export function passSnapshot(pass: u32): u32 {
  if (!begin()) return failureCode();
  readSnapshot();
  if (!failed()) checkAfter(0);
  resetUnrolled();
  if (!failed()) runPass(pass);
  if (!failed()) checkAfter(pass);
  if (!failed()) writeSnapshot();
  return failureCode();
}

/** Writes the current IR to the output block; number of words. Also valid inside the `passed` call. */
export function snapshot(): u32 {
  resetOutput();
  writeSnapshot();
  return outputCount();
}

/** Instructions of the current IR. */
export function instructionCount(): u32 {
  let count: u32 = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) for (let i = firstInstr(b); i != 0; i = nextInstr(i)) count++;
  return count;
}

/**
 * The output block of a compile: version, code words, SGPRs, VGPRs, LDS bytes, workgroup size x y z, workgroup id bits,
 * highest thread id component, contractions, spilled SGPRs, spilled VGPRs, scratch bytes, user SGPRs, set bits, first
 * push SGPR, pushed by pointer, inlined dword bits low and high, first workgroup count SGPR or -1; stage inputs, draw bits,
 * first draw SGPR, location bits (four words), those of flat ones (four words), vertex outputs, colour formats, depth
 * format, whether lanes are demoted; line rows; table words; then the
 * code; then offset in bytes, file, line, column a row; then the tables.
 */
function writeResult(): void {
  resetOutput();
  out(IO_VERSION);
  out(codeLength());
  out(usedSgprs());
  out(usedVgprs());
  out(ldsBytes());
  for (let d: u32 = 0; d < 3; d++) out(localSize(d));
  out(groupBits());
  out(threadComponents());
  out(contractions());
  out(spilledSgprs());
  out(spilledVgprs());
  out(scratchBytes());
  out(userSgprs());
  out(setBits());
  out(pushSgpr());
  out(usesPushPointer() ? 1 : 0);
  out(<u32>inlinedPushDwords());
  out(<u32>(inlinedPushDwords() >> 32));
  out(usesWorkgroupCounts() ? workgroupCountSgpr() : 0xffff_ffff);
  out(stageInputs());
  out(drawBits());
  out(drawSgpr());
  for (let half: u32 = 0; half < 2; half++) {
    out(<u32>locationBits(half != 0));
    out(<u32>(locationBits(half != 0) >> 32));
  }
  for (let half: u32 = 0; half < 2; half++) {
    out(<u32>flatBits(half != 0));
    out(<u32>(flatBits(half != 0) >> 32));
  }
  out(vertexOutputs());
  out(colorExports());
  out(depthExport());
  out((demotes() ? 1 : 0) | (writesMemory() ? 2 : 0));
  const rows = lineRows();
  out(rows);
  out(tableWords());
  outWords(codeWords, codeLength());
  for (let k: u32 = 0; k < rows && !failed(); k++) {
    out(lineOffset[k]);
    out(placeFile[linePlace[k]]);
    out(placeLine[linePlace[k]]);
    out(placeColumn[linePlace[k]]);
  }
  outWords(tableWord, tableWords());
}
