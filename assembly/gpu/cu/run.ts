/** The interpreter's loop: runs one wave for a slice of instructions. */
import { SourceCode } from "../../gen/isa-ops.ts";
import { FaultKind } from "../../gen/uapi.ts";
import { faultKind, raise } from "../fault.ts";
import { Class, CODE_PAGE_BYTES, Context, Mod, RECORD_SHIFT, Rec, TALLY_BITS, Unit, Wave } from "../layout.ts";
import { executeBuffer } from "./buffer.ts";
import { codePage } from "./code-cache.ts";
import { executeCompare } from "./compare.ts";
import { decode } from "./decode.ts";
import { executeFlat } from "./flat.ts";
import { executeFlow, Next, target } from "./flow.ts";
import { executeLaneOp } from "./lane-ops.ts";
import { executeLds } from "./lds.ts";

import { executePacked } from "./packed.ts";
import { checkPending, waitCounters } from "./pending.ts";
import { Quick } from "./quick.ts";
import { QuickScalar } from "./quick-scalar.ts";
import { QuickVector } from "./quick-vector.ts";
import { executeSalu } from "./salu.ts";
import { executeSmem, tick } from "./smem.ts";
import { executeValu } from "./valu.ts";
import { scc, wave } from "./wave.ts";
import { executeWide } from "./wide.ts";

/** Instructions that the loop's tally can count. */
const TALLY_MAX: u32 = (1 << TALLY_BITS) - 1;
/** MODE's rounding and binary32 denormal fields, and the value for which quick forms hold: nearest even, none flushed. */
const MODE_MASK: u32 = 0x3f;
const USUAL_MODE: u32 = 0x30;

/** Brings VCCZ, EXECZ and SCC up to date as operands. */
function refreshSpecials(): void {
  const file = wave + Wave.SCALARS;
  store<u32>(file, load<u32>(wave, Wave.VCC) == 0 ? 1 : 0, SourceCode.vccz * 4);
  store<u32>(file, load<u32>(wave, Wave.EXEC) == 0 ? 1 : 0, SourceCode.execz * 4);
  store<u32>(file, scc(), SourceCode.scc * 4);
}

function hasUsualMode(): bool {
  return (load<u32>(wave, Wave.MODE) & MODE_MASK) == USUAL_MODE;
}

/** Any instruction, by its class; `next` is the address after it. Answers `Next`. */
function execute(rec: usize, cls: u32, next: u64): u32 {
  const mods = load<u32>(rec, Rec.MODS);
  if (mods & Mod.LITERAL) store<u32>(wave, load<u32>(rec, Rec.EXTRA), Wave.LITERAL);
  if (mods & Mod.SPECIAL) refreshSpecials();
  switch (cls) {
    case Class.VALU:
      executeValu(rec);
      return Next.STEP;
    case Class.COMPARE:
      executeCompare(rec);
      return Next.STEP;
    case Class.WIDE:
      executeWide(rec);
      return Next.STEP;
    case Class.PACKED:
      executePacked(rec);
      return Next.STEP;
    case Class.LANE:
      executeLaneOp(rec);
      return Next.STEP;
    case Class.SALU:
      executeSalu(rec, next);
      return Next.STEP;
    case Class.FLOW:
      return executeFlow(rec, next);
    case Class.SMEM:
      executeSmem(rec);
      return Next.STEP;
    case Class.BUFFER:
      executeBuffer(rec);
      return Next.STEP;
    case Class.FLAT:
      executeFlat(rec);
      return Next.STEP;
    case Class.LDS:
      executeLds(rec);
      return Next.STEP;
    default:
      raise(FaultKind.INTERNAL);
      return Next.STEP;
  }
}

/** Is the branch's condition met? */
function taken(w: usize, quick: u32): bool {
  switch (quick) {
    case Quick.BRANCH_SCC0:
      return load<u32>(w, Wave.SCC) == 0;
    case Quick.BRANCH_SCC1:
      return load<u32>(w, Wave.SCC) != 0;
    case Quick.BRANCH_VCCZ:
      return load<u32>(w, Wave.VCC) == 0;
    case Quick.BRANCH_VCCNZ:
      return load<u32>(w, Wave.VCC) != 0;
    case Quick.BRANCH_EXECZ:
      return load<u32>(w, Wave.EXEC) == 0;
    case Quick.BRANCH_EXECNZ:
      return load<u32>(w, Wave.EXEC) != 0;
    default:
      return true;
  }
}

function addTally(context: usize, tally: u64): void {
  for (let unit: u32 = 0; unit <= <u32>Unit.FLOW; unit++) {
    const at = context + Context.COUNTS + ((<usize>unit) << 3);
    store<u64>(at, load<u64>(at) + ((tally >> (unit * TALLY_BITS)) & TALLY_MAX));
  }
}

/**
 * Runs the selected wave of `queue` for up to `slice` instructions: until it ends, waits at a barrier (STATUS tells)
 * or faults. Returns the instructions executed. After a fault PC is the faulting instruction.
 */
export function runWave(context: usize, queue: u32, slice: u32): u32 {
  const w = wave;
  let pc = load<u64>(w, Wave.PC);
  let done: u32 = 0;
  let usual = hasUsualMode();
  while (done < slice) {
    if (pc & 3) {
      raise(FaultKind.MISALIGNED);
      break;
    }
    const page = codePage(context, queue, pc);
    if (page == 0) break;
    const pageStart = pc & ~(<u64>4095);
    let rec = page + ((<usize>(pc & 4095)) << (RECORD_SHIFT - 2));
    const until = min<u32>(slice, done + TALLY_MAX);
    let next = Next.STEP;
    let tally: u64 = 0;
    // Within a page the record's place is the program counter: `rec - page` as an unsigned number is below the page's size.
    while (done < until && rec - page < <usize>CODE_PAGE_BYTES) {
      if (load<u64>(rec, Rec.USES) & load<u64>(w, Wave.HAZARDS) && !checkPending(rec)) break;
      const quick = <u32>load<u8>(rec, Rec.QUICK);
      const one = (<u64>1) << load<u8>(rec, Rec.TALLY);
      if (quick != 0 && usual) {
        done++;
        tally += one;
        if (quick >= <u32>Quick.COMPARE) QuickVector.compare(w, rec, quick);
        else if (quick >= <u32>Quick.VECTOR) QuickVector.run(w, rec, quick);
        else if (quick < <u32>Quick.BRANCH) QuickScalar.run(w, rec, quick);
        else if (quick == Quick.WAIT) waitCounters(load<u32>(rec, Rec.IMM));
        else if (quick != Quick.NOTHING && taken(w, quick)) {
          rec += (<usize>(load<i32>(rec, Rec.IMM) + 1)) << RECORD_SHIFT;
          continue;
        }
        // A branch rather than a sum: the processor guesses it and does not wait for the length.
        const dwords = <usize>load<u8>(rec, Rec.DWORDS);
        if (dwords == 1) {
          rec += 1 << RECORD_SHIFT;
          continue;
        }
        rec += dwords << RECORD_SHIFT;
        continue;
      }
      const cls = <u32>load<u8>(rec, Rec.CLASS);
      if (cls == Class.NONE) {
        if (decode(pageStart + (<u64>(rec - page) >> (RECORD_SHIFT - 2)), rec)) continue;
        store<u8>(rec, Class.NONE, Rec.CLASS);
        break;
      }
      next = execute(rec, cls, addressAfter(pageStart, rec, page));
      if (faultKind != 0) break;
      done++;
      tally += one;
      usual = hasUsualMode();
      if (next != Next.STEP) break;
      rec += (<usize>load<u8>(rec, Rec.DWORDS)) << RECORD_SHIFT;
    }
    addTally(context, tally);
    // A branch may have left the page backwards: the difference is signed.
    if (faultKind != 0 || next == Next.STEP) pc = pageStart + <u64>(<i64>(<i32>(rec - page)) >> (RECORD_SHIFT - 2));
    else if (next == Next.JUMP) pc = target;
    else {
      pc = addressAfter(pageStart, rec, page);
      break;
    }
    if (faultKind != 0) break;
  }
  store<u64>(w, pc, Wave.PC);
  tick(done);
  return done;
}

function addressAfter(pageStart: u64, rec: usize, page: usize): u64 {
  return pageStart + (<u64>(rec - page) >> (RECORD_SHIFT - 2)) + ((<u64>load<u8>(rec, Rec.DWORDS)) << 2);
}
