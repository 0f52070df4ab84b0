/** The fault that stopped the current wave or packet; the queue's loop turns it into a record. First one wins. */
import { FaultAccess, FaultKind } from "../gen/uapi.ts";

const NO_LANE: u32 = 0xffffffff;

export let faultKind: u32 = 0;
export let faultAccess: u32 = 0;
export let faultAddress: u64 = 0;
export let faultLane: u32 = NO_LANE;
export let faultDetail0: u32 = 0;
export let faultDetail1: u32 = 0;

export function clearFault(): void {
  faultKind = 0;
  faultAccess = FaultAccess.NONE;
  faultAddress = 0;
  faultLane = NO_LANE;
  faultDetail0 = 0;
  faultDetail1 = 0;
}

export function raise(kind: u32): void {
  if (faultKind == 0) faultKind = kind;
}

export function raiseDetail(kind: u32, detail0: u32, detail1: u32): void {
  if (faultKind != 0) return;
  faultKind = kind;
  faultDetail0 = detail0;
  faultDetail1 = detail1;
}

export function raiseMemory(kind: u32, access: u32, address: u64, detail0: u32, detail1: u32 = 0): void {
  if (faultKind != 0) return;
  faultKind = kind;
  faultAccess = access;
  faultAddress = address;
  faultDetail0 = detail0;
  faultDetail1 = detail1;
}

/** Which lane the memory fault at hand belongs to. */
export function nameLane(lane: u32): void {
  faultLane = lane;
}

export function raiseNotModelled(): void {
  raise(FaultKind.NOT_MODELLED);
}
