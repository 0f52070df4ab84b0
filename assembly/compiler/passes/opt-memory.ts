/**
 * Within a block: a load of what an earlier load or store of the same place holds becomes that value, and a store whose
 * every byte is stored again before anything can read it goes, as does one of undefined values; in a shader that never reads
 * workgroup memory (or scratch memory) all stores to it go, and barriers order only what the shader reaches. `store %1 → a; %2 = load a` → `%2` is `%1`. With bounds checks a load out of range gives 0 whatever was stored,
 * so there only loads feed loads. Leaves volatile, coherent and partly overwritten accesses alone. O(accesses * 64).
 */
import { spend, U32Column } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { OptionFlag, optionFlag } from "../io.ts";
import {
  componentsOf,
  cursorBefore,
  entryBlock,
  erase,
  extract,
  firstInstr,
  lastInstr,
  newInstr,
  nextBlock,
  nextInstr,
  nodeScratch,
  opOf,
  place0,
  prevInstr,
  replaceUses,
  setImm,
  setSrc,
  src,
  srcCount,
} from "../ir/index.ts";
import { PASS_BASE } from "../memory-map.ts";
import {
  Access,
  accAliased,
  accBase,
  accBinding,
  accBits,
  accBytes,
  accCount,
  accData,
  accElement,
  accKind,
  accOffset,
  accOrders,
  accSet,
  accSpace,
  accStrict,
  describe,
  differentElements,
  isUnbound,
  ordered,
  overlap,
  reaches,
  Space,
  sameOffset,
} from "./memory-access.ts";

/** Scalars in memory whose value, or fate, is known. A full table forgets the oldest. */
const SIZE: u32 = 64;
const space = changetype<U32Column>(PASS_BASE);
const set = changetype<U32Column>(PASS_BASE + 0x400);
const binding = changetype<U32Column>(PASS_BASE + 0x800);
const element = changetype<U32Column>(PASS_BASE + 0xc00);
const offset = changetype<U32Column>(PASS_BASE + 0x1000);
const base = changetype<U32Column>(PASS_BASE + 0x1400);
const aliased = changetype<U32Column>(PASS_BASE + 0x3000);
const bytes = changetype<U32Column>(PASS_BASE + 0x1800);
/** The value there, and its component where it has several. */
const value = changetype<U32Column>(PASS_BASE + 0x1c00);
const component = changetype<U32Column>(PASS_BASE + 0x2000);
const parts = changetype<U32Column>(PASS_BASE + 0x2400);
let count: u32 = 0;
let oldest: u32 = 0;

function clear(): void {
  count = 0;
  oldest = 0;
}

/** Memory of another binding or element, and no alias of this one. */
function apart(k: u32): bool {
  const elsewhere = set[k] != accSet || binding[k] != accBinding || differentElements(element[k], accElement);
  return elsewhere && aliased[k] == 0 && !accAliased;
}

function samePlace(k: u32): bool {
  return (
    space[k] == accSpace &&
    set[k] == accSet &&
    binding[k] == accBinding &&
    element[k] == accElement &&
    sameOffset(offset[k], accOffset)
  );
}

function find(at: u32, size: u32): i32 {
  for (let k: u32 = 0; k < count; k++) {
    if (base[k] == at && bytes[k] == size && space[k] != Space.NONE && samePlace(k)) return <i32>k;
  }
  return -1;
}

/** Enters a scalar of the described access. */
function enter(at: u32, size: u32, v: u32, part: u32): void {
  let k = find(at, size);
  if (k < 0) {
    if (count < SIZE) {
      k = count++;
    } else {
      k = oldest;
      oldest = (oldest + 1) % SIZE;
    }
  }
  space[k] = accSpace;
  set[k] = accSet;
  binding[k] = accBinding;
  element[k] = accElement;
  offset[k] = accOffset;
  base[k] = at;
  aliased[k] = accAliased ? 1 : 0;
  bytes[k] = size;
  value[k] = v;
  component[k] = part;
}

/** Forgets what the described access may touch. */
function forget(): void {
  for (let k: u32 = 0; k < count; k++) {
    if (space[k] == Space.NONE) continue;
    if (accKind == Access.ORDER) {
      if (ordered(space[k], accOrders)) space[k] = Space.NONE;
      continue;
    }
    if (!reaches(space[k])) continue;
    if (accSpace == Space.SSBO && apart(k)) continue;
    if (accSpace != Space.ALL && samePlace(k) && !overlap(base[k], bytes[k], accBase, accBytes)) continue;
    space[k] = Space.NONE;
  }
}

/** The value of entry k as one scalar, made before the cursor. */
function scalar(k: u32): u32 {
  const v = value[k];
  if (componentsOf(v) == 1) return v;
  return opOf(v) == Op.VEC ? src(v, component[k]) : extract(v, component[k]);
}

/** The load as known values, or 0. */
function known(i: u32): u32 {
  const size: u32 = accBits != 0 ? accBits >> 3 : 4;
  for (let c: u32 = 0; c < accCount; c++) {
    const k = find(accBase + c * size, size);
    if (k < 0) return 0;
    parts[c] = k;
  }
  cursorBefore(i);
  if (accCount == 1) return scalar(parts[0]);
  const vec = newInstr(Op.VEC, 32, accCount, accCount);
  for (let c: u32 = 0; c < accCount; c++) setSrc(vec, c, scalar(parts[c]));
  return place0(vec);
}

function forward(block: u32): bool {
  let progress = false;
  clear();
  let next: u32 = 0;
  for (let i = firstInstr(block); i != 0 && spend(1); i = next) {
    next = nextInstr(i);
    if (!describe(i)) continue;
    if (accKind == Access.LOAD) {
      if (accStrict || (accSpace != Space.SSBO && !isUnbound(accSpace))) continue;
      const v = known(i);
      if (v != 0) {
        replaceUses(i, v);
        erase(i);
        progress = true;
        continue;
      }
      const size: u32 = accBits != 0 ? accBits >> 3 : 4;
      for (let c: u32 = 0; c < accCount; c++) enter(accBase + c * size, size, i, c);
      continue;
    }
    forget();
    // What a store below a word leaves of its data's upper bits is not what a load gives.
    if (accKind != Access.STORE || accStrict || accBits != 0) continue;
    if (accSpace == Space.SSBO && optionFlag(OptionFlag.ROBUST)) continue;
    for (let c: u32 = 0; c < accCount; c++) enter(accBase + c * 4, 4, accData, c);
  }
  return progress;
}

/** True when each byte of the described store is stored again; else its bytes count as stored from here back. */
function overwritten(): bool {
  const size: u32 = accBits != 0 ? accBits >> 3 : 4;
  let all = true;
  for (let c: u32 = 0; c < accCount && all; c++) all = find(accBase + c * size, size) >= 0;
  if (all) return true;
  for (let c: u32 = 0; c < accCount; c++) enter(accBase + c * size, size, 0, 0);
  return false;
}

function dropStores(block: u32): bool {
  let progress = false;
  clear();
  let prev: u32 = 0;
  for (let i = lastInstr(block); i != 0 && spend(1); i = prev) {
    prev = prevInstr(i);
    if (!describe(i)) continue;
    if (accKind != Access.STORE || accStrict) {
      forget();
    } else if (overwritten()) {
      erase(i);
      progress = true;
    }
  }
  return progress;
}

/** Spaces that the shader reads, and that it reaches at all: bit n for space n. */
let reads: u32 = 0;
let reached: u32 = 0;

/** Fills `reads` and `reached`; nodeScratch of a block: its accesses in bits 0 and 1, its stores from bit 2 on, 2 for more. */
function scan(): void {
  reads = 0;
  reached = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    let accesses: u32 = 0;
    let stored: u32 = 0;
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      if (!describe(i)) continue;
      accesses++;
      if (accKind == Access.ORDER) continue;
      const bits: u32 = accSpace == Space.ALL ? ~((<u32>1) << Space.SCRATCH) : (<u32>1) << accSpace;
      reached |= bits;
      if (accKind != Access.STORE) reads |= bits;
      else stored++;
    }
    nodeScratch[b] = (min<u32>(stored, 2) << 2) | min<u32>(accesses, 2);
  }
}

function isUndefined(v: u32): bool {
  if (opOf(v) != Op.VEC) return opOf(v) == Op.UNDEF;
  for (let k: u32 = 0; k < srcCount(v); k++) if (opOf(src(v, k)) != Op.UNDEF) return false;
  return true;
}

/** Stores to memory that nobody reads or of nothing go, and barriers lose the storages that the shader has no access to. */
function dropNeedless(block: u32): bool {
  let progress = false;
  let next: u32 = 0;
  for (let i = firstInstr(block); i != 0 && spend(1); i = next) {
    next = nextInstr(i);
    if (!describe(i)) continue;
    if (accKind == Access.STORE && !accStrict) {
      const unread = isUnbound(accSpace) && (reads & ((<u32>1) << accSpace)) == 0;
      if (!unread && !isUndefined(accData)) continue;
      erase(i);
      progress = true;
    } else if (accKind == Access.ORDER) {
      let kept = accOrders;
      if ((reached & ((<u32>1) << Space.SSBO)) == 0) kept &= ~(<u32>1);
      if ((reached & ((<u32>1) << Space.SHARED)) == 0) kept &= ~(<u32>2);
      if (kept == accOrders && (kept != 0 || opOf(i) == Op.BARRIER)) continue;
      if (kept == 0 && opOf(i) == Op.MEMORY_BARRIER) erase(i);
      else setImm(i, 1, kept);
      progress = true;
    }
  }
  return progress;
}

export function optMemory(): bool {
  let progress = false;
  scan();
  for (let b = entryBlock(); b != 0 && spend(1); b = nextBlock(b)) {
    const accesses = nodeScratch[b] & 3;
    if (accesses == 0) continue;
    if (dropNeedless(b)) progress = true;
    if (accesses > 1 && forward(b)) progress = true;
    if (nodeScratch[b] >> 2 > 1 && dropStores(b)) progress = true;
  }
  return progress;
}
