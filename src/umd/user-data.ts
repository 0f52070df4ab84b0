import type { ResourceReflection } from "../codeobj/index.ts";
import type { DescriptorSet } from "./descriptors.ts";
import { DriverError, valid } from "./errors.ts";
import type { ComputePipeline } from "./pipeline.ts";

/** A bound set: its address for the shader, and the set for checks. */
export interface BoundSet {
  readonly set: DescriptorSet;
  readonly va: bigint;
}

/** What user SGPRs are made of. */
export interface UserDataSources {
  readonly ringVa: bigint;
  readonly groups: readonly [x: number, y: number, z: number];
  readonly push: Uint8Array;
  readonly sets: ReadonlyMap<number, BoundSet>;
  /** Puts bytes where a 32-bit pointer reaches them. */
  upload(bytes: Uint8Array): bigint;
}

function low(va: bigint): number {
  return Number(va & 0xffff_ffffn);
}

/** User SGPRs by the code object's list (docs/abi.md, "User SGPRs"). VALIDATION where a set does not fit the shader. */
export function userData(pipeline: ComputePipeline, sources: UserDataSources): number[] {
  const { reflection } = pipeline.entry;
  const words: number[] = [];
  const push = new DataView(sources.push.buffer, sources.push.byteOffset, sources.push.byteLength);
  for (const entry of reflection.userData) {
    const put = (values: readonly number[]) => {
      if (values.length !== entry.count) {
        throw new DriverError(
          "INITIALIZATION_FAILED",
          `${entry.kind} wants ${entry.count} SGPRs, has ${values.length}`,
        );
      }
      for (const [i, value] of values.entries()) words[entry.sgpr + i] = value >>> 0;
    };
    switch (entry.kind) {
      case "ringPointer":
        put([low(sources.ringVa), Number(BigInt.asUintN(64, sources.ringVa) >> 32n)]);
        break;
      case "descriptorSet":
        put([low(checkedSet(pipeline, sources.sets, entry.set ?? 0).va)]);
        break;
      case "inlinePushConstants":
        put((entry.offsets ?? []).map((offset) => push.getUint32(offset, true)));
        break;
      case "pushConstantPointer":
        put([low(sources.upload(sources.push.subarray(0, Math.max(4, reflection.pushConstantBytes))))]);
        break;
      case "workgroupCounts":
        put(sources.groups);
        break;
    }
  }
  return Array.from(words, (word) => word ?? 0);
}

/** The bound set, with every descriptor that the shader uses present and of its type. */
function checkedSet(pipeline: ComputePipeline, sets: ReadonlyMap<number, BoundSet>, index: number): BoundSet {
  const bound = sets.get(index);
  if (bound === undefined) throw new DriverError("VALIDATION", `descriptor set ${index} is not bound`);
  const { set } = bound;
  set.life.use();
  for (const used of pipeline.entry.reflection.resources) {
    if (used.set !== index) continue;
    const row = set.layout.find(used.binding);
    const name = `set ${index} binding ${used.binding} (${used.name})`;
    if (row === undefined) throw new DriverError("VALIDATION", `${name} is not in the bound set's layout`);
    valid(row.type === used.type, `${name} is a ${used.type} in the shader, a ${row.type} in the set`);
    valid(row.offsetBytes === used.offsetBytes, `${name} stands at another offset in the set's layout`);
    valid(row.count >= used.count, `${name} has ${used.count} elements, the set ${row.count}`);
    if (!set.layout.updateAfterBind.has(used.binding)) checkWritten(set, used, row.count);
  }
  return bound;
}

/** VALIDATION where a descriptor that is not an array, or may not stay unwritten, is. */
function checkWritten(set: DescriptorSet, used: ResourceReflection, count: number): void {
  if (count !== 1 || set.layout.partiallyBound.has(used.binding)) return;
  valid(set.written(used.binding, 0), `set ${used.set} binding ${used.binding} (${used.name}) was never written`);
}

/** At submit: what may be written after it was bound is there by now. */
export function checkLate(pipeline: ComputePipeline, index: number, set: DescriptorSet): void {
  for (const used of pipeline.entry.reflection.resources) {
    if (used.set !== index || !set.layout.updateAfterBind.has(used.binding)) continue;
    checkWritten(set, used, set.layout.find(used.binding)?.count ?? 0);
  }
}
