import { type Id, ImageOperands, MemoryAccess, Scope } from "../../spirv/index.ts";
import type { Variable } from "../check/index.ts";
import type { MemoryQualifier } from "../types/index.ts";

/** What qualifiers say of accesses under the Vulkan memory model, as bits; see `accessScope` for the scopes. */
const NON_PRIVATE = 1;
export const VOLATILE_ACCESS = 2;
const accessBits: Readonly<Record<MemoryQualifier, number>> = {
  readonly: 0,
  writeonly: 0,
  restrict: 0,
  nonprivate: NON_PRIVATE,
  volatile: NON_PRIVATE | VOLATILE_ACCESS,
  coherent: NON_PRIVATE | 4,
  devicecoherent: NON_PRIVATE | 8,
  queuefamilycoherent: NON_PRIVATE | 16,
  workgroupcoherent: NON_PRIVATE | 32,
  subgroupcoherent: NON_PRIVATE | 64,
};

/** Bits of an access by the qualifiers of what is accessed. */
export function accessOf(memory: readonly MemoryQualifier[] | undefined): number {
  let bits = 0;
  if (memory !== undefined) for (const each of memory) bits |= accessBits[each];
  return bits;
}

/** Bits of accesses to a variable. Workgroup memory is coherent in its workgroup without a word. */
export function variableAccess({ storage, memory, layout }: Variable): number {
  switch (storage) {
    case "shared":
      return accessOf(memory) | accessBits.workgroupcoherent;
    case "buffer":
      return accessOf(memory);
    case "uniform":
      // handles of images are no memory: their texels are
      return layout === undefined ? 0 : accessOf(memory);
    default:
      return 0;
  }
}

/** The widest scope that an access is coherent in; undefined where it is not. */
function accessScope(access: number): number | undefined {
  if ((access & (VOLATILE_ACCESS | 4)) !== 0) return Scope.QueueFamily;
  if ((access & 8) !== 0) return Scope.Device;
  if ((access & 16) !== 0) return Scope.QueueFamily;
  if ((access & 32) !== 0) return Scope.Workgroup;
  return (access & 64) !== 0 ? Scope.Subgroup : undefined;
}

/** Mask and operands of a load or store; `align` in bytes, 0 for none; `scopeId` makes the id of a scope. */
export function memoryOperands(
  access: number,
  align: number,
  store: boolean,
  scopeId: (scope: number) => Id,
): number[] {
  let mask = align === 0 ? 0 : MemoryAccess.Aligned;
  const operands = align === 0 ? [] : [align];
  if ((access & NON_PRIVATE) !== 0) mask |= MemoryAccess.NonPrivatePointer;
  if ((access & VOLATILE_ACCESS) !== 0) mask |= MemoryAccess.Volatile;
  const scope = accessScope(access);
  if (scope !== undefined) {
    mask |= store ? MemoryAccess.MakePointerAvailable : MemoryAccess.MakePointerVisible;
    operands.push(scopeId(scope));
  }
  return mask === 0 ? [] : [mask, ...operands];
}

/** Adds to the mask and operands of an image access; `store` is undefined for one that samples. */
export function texelOperands(
  operands: readonly number[],
  access: number,
  store: boolean | undefined,
  scopeId: (scope: number) => Id,
): readonly number[] {
  let [mask = 0, ...rest] = operands;
  if ((access & NON_PRIVATE) !== 0) mask |= ImageOperands.NonPrivateTexel;
  if ((access & VOLATILE_ACCESS) !== 0) mask |= ImageOperands.VolatileTexel;
  const scope = accessScope(access);
  if (scope !== undefined && store !== undefined) {
    mask |= store ? ImageOperands.MakeTexelAvailable : ImageOperands.MakeTexelVisible;
    rest = [...rest, scopeId(scope)];
  }
  return mask === 0 ? operands : [mask, ...rest];
}
