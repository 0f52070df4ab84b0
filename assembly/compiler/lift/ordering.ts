/** Barriers, and the ordering that atomics bring with them. Source: SPIR-V, "Memory Semantics". */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvMemorySemantics, SpvOp, SpvScope } from "../../gen/spirv.ts";
import { constBits, effect, isConst } from "../ir/index.ts";
import { leafPool, malformed } from "./ids.ts";
import { operand } from "./operands.ts";

const ACQUIRES: u32 =
  SpvMemorySemantics.Acquire | SpvMemorySemantics.AcquireRelease | SpvMemorySemantics.SequentiallyConsistent;
const RELEASES: u32 =
  SpvMemorySemantics.Release | SpvMemorySemantics.AcquireRelease | SpvMemorySemantics.SequentiallyConsistent;

/** The kinds of memory that semantics order: 1 buffers, 2 workgroup, 4 images. Relaxed ones order nothing. */
function storageOf(semantics: u32): u32 {
  if ((semantics & (ACQUIRES | RELEASES)) == 0) return 0;
  let storage: u32 = 0;
  if ((semantics & SpvMemorySemantics.UniformMemory) != 0) storage |= 1;
  if ((semantics & SpvMemorySemantics.WorkgroupMemory) != 0) storage |= 2;
  if ((semantics & SpvMemorySemantics.ImageMemory) != 0) storage |= 4;
  return storage;
}

/** The number of the constant in word k. */
function constantAt(k: u32): u32 {
  const value = leafPool[operand(k, 1)];
  if (failed()) return 0;
  if (isConst(value)) return constBits(value);
  malformed(k);
  return 0;
}

/** OpControlBarrier, OpMemoryBarrier. */
export function liftBarrier(op: u32, at: u32): void {
  const control = op == SpvOp.OpControlBarrier;
  const first: u32 = control ? at + 2 : at + 1;
  const scope = constantAt(first);
  const storage = storageOf(constantAt(first + 1));
  const execution = control ? constantAt(at + 1) : scope;
  if (failed()) return;
  effect(control && execution <= <u32>SpvScope.Workgroup ? Op.BARRIER : Op.MEMORY_BARRIER, scope, storage);
}

/**
 * The part of an atomic's ordering that stands before it (release; `after` false) or behind it (acquire). `scope` and
 * `semantics` are words of the instruction; `unequal`: of a compare-exchange's second semantics, 0 for none.
 */
export function liftOrder(after: bool, scope: u32, semantics: u32, unequal: u32): void {
  const bits = constantAt(semantics) | (unequal != 0 ? constantAt(unequal) : 0);
  const wanted = after ? ACQUIRES : RELEASES;
  const storage = storageOf(bits);
  const scopeValue = constantAt(scope);
  if (failed() || storage == 0 || (bits & wanted) == 0) return;
  effect(Op.MEMORY_BARRIER, scopeValue, storage);
}
