/** The interpreter's loop: runs one wave for a slice of instructions. */
import { SourceCode } from "../../gen/isa-ops.ts";
import { FaultKind } from "../../gen/uapi.ts";
import { faultKind, raise } from "../fault.ts";
import { Class, CODE_PAGE_BYTES, Context, Mod, RECORD_SHIFT, Rec, Wave } from "../layout.ts";
import { executeBuffer } from "./buffer.ts";
import { codePage } from "./code-cache.ts";
import { executeCompare } from "./compare.ts";
import { decode } from "./decode.ts";
import { executeFlat } from "./flat.ts";
import { executeFlow, Next, target } from "./flow.ts";
import { executeLaneOp } from "./lane-ops.ts";
import { executeLds } from "./lds.ts";
import { anyOutstanding, checkPending } from "./pending.ts";
import { executeSalu } from "./salu.ts";
import { executeSmem, tick } from "./smem.ts";
import { executeValu } from "./valu.ts";
import { scc, wave } from "./wave.ts";
import { executeWide } from "./wide.ts";

/** Brings VCCZ, EXECZ and SCC up to date as operands. */
function refreshSpecials(): void {
  const file = wave + Wave.SCALARS;
  store<u32>(file, load<u32>(wave, Wave.VCC) == 0 ? 1 : 0, SourceCode.vccz * 4);
  store<u32>(file, load<u32>(wave, Wave.EXEC) == 0 ? 1 : 0, SourceCode.execz * 4);
  store<u32>(file, scc(), SourceCode.scc * 4);
}

/**
 * Runs the selected wave of `queue` for up to `slice` instructions: until it ends, waits at a barrier (STATUS tells)
 * or faults. Returns the instructions executed. After a fault PC is the faulting instruction.
 */
export function runWave(context: usize, queue: u32, slice: u32): u32 {
  let pc = load<u64>(wave, Wave.PC);
  const counts = context + Context.COUNTS;
  let done: u32 = 0;
  while (done < slice) {
    if (pc & 3) {
      raise(FaultKind.MISALIGNED);
      break;
    }
    const page = codePage(context, queue, pc);
    if (page == 0) break;
    const pageStart = pc & ~(<u64>4095);
    let rec = page + ((<usize>(pc & 4095)) << (RECORD_SHIFT - 2));
    const end = page + CODE_PAGE_BYTES;
    let next = Next.STEP;
    // Within a page the record's place is the program counter.
    while (done < slice) {
      let cls = <u32>load<u8>(rec, Rec.CLASS);
      if (cls == Class.NONE) {
        pc = pageStart + (<u64>(rec - page) >> (RECORD_SHIFT - 2));
        if (!decode(pc, rec)) {
          store<u8>(rec, Class.NONE, Rec.CLASS);
          break;
        }
        cls = load<u8>(rec, Rec.CLASS);
      }
      if (anyOutstanding() && !checkPending(rec)) break;
      const mods = load<u32>(rec, Rec.MODS);
      if (mods & (Mod.LITERAL | Mod.SPECIAL)) {
        if (mods & Mod.LITERAL) store<u32>(wave, load<u32>(rec, Rec.EXTRA), Wave.LITERAL);
        if (mods & Mod.SPECIAL) refreshSpecials();
      }
      switch (cls) {
        case Class.VALU:
          executeValu(rec);
          break;
        case Class.COMPARE:
          executeCompare(rec);
          break;
        case Class.WIDE:
          executeWide(rec);
          break;
        case Class.LANE:
          executeLaneOp(rec);
          break;
        case Class.SALU:
          executeSalu(rec, addressAfter(pageStart, rec, page));
          break;
        case Class.FLOW:
          next = executeFlow(rec, addressAfter(pageStart, rec, page));
          break;
        case Class.SMEM:
          executeSmem(rec);
          break;
        case Class.BUFFER:
          executeBuffer(rec);
          break;
        case Class.FLAT:
          executeFlat(rec);
          break;
        case Class.LDS:
          executeLds(rec);
          break;
        default:
          raise(FaultKind.INTERNAL);
          break;
      }
      if (faultKind != 0) break;
      done++;
      const unit = counts + ((<usize>load<u8>(rec, Rec.UNIT)) << 3);
      store<u64>(unit, load<u64>(unit) + 1);
      if (next != Next.STEP) break;
      rec += (<usize>load<u8>(rec, Rec.DWORDS)) << RECORD_SHIFT;
      if (rec >= end) break;
    }
    if (faultKind != 0) {
      pc = pageStart + (<u64>(rec - page) >> (RECORD_SHIFT - 2));
      break;
    }
    if (next == Next.STEP) pc = pageStart + (<u64>(rec - page) >> (RECORD_SHIFT - 2));
    else if (next == Next.JUMP) {
      // A jump inside the page stays in the inner loop's reach by way of the tag check only.
      pc = target;
    } else {
      pc = addressAfter(pageStart, rec, page);
      break;
    }
  }
  store<u64>(wave, pc, Wave.PC);
  tick(done);
  return done;
}

function addressAfter(pageStart: u64, rec: usize, page: usize): u64 {
  return pageStart + (<u64>(rec - page) >> (RECORD_SHIFT - 2)) + ((<u64>load<u8>(rec, Rec.DWORDS)) << 2);
}
