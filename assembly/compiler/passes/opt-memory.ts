/**
 * Within a block: a load of what an earlier load or store of the same place holds becomes that value, and a store whose
 * every byte is stored again before anything can read it goes, as does one of undefined values; in a shader that never reads
 * workgroup memory (or scratch memory) all stores to it go, and barriers order only what the shader reaches. `store %1 → a; %2 = load a` → `%2` is `%1`. With bounds checks a load out of range gives 0 whatever was stored,
 * so there only loads feed loads. Leaves volatile, coherent and partly overwritten accesses alone. O(accesses * 64), most of
 * them in a few steps: an access is compared with the places that entries have, and entries of its place are found by their base.
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
  newInstr,
  nextBlock,
  nextInstr,
  nodeScratch,
  opOf,
  place0,
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
  mayReach,
  ordered,
  overlap,
  reaches,
  Space,
  sameOffset,
} from "./memory-access.ts";

/** Scalars in memory whose value, or fate, is known. A full table forgets the oldest. */
const SIZE: u32 = 64;
const value = changetype<U32Column>(PASS_BASE);
/** The component of the value, where it has several. */
const component = changetype<U32Column>(PASS_BASE + 0x140);
const base = changetype<U32Column>(PASS_BASE + 0x280);
const bytes = changetype<U32Column>(PASS_BASE + 0x3c0);
const placeOf = changetype<U32Column>(PASS_BASE + 0x500);
const parts = changetype<U32Column>(PASS_BASE + 0x640);
// Places that have entries.
const space = changetype<U32Column>(PASS_BASE + 0x780);
const set = changetype<U32Column>(PASS_BASE + 0x8c0);
const binding = changetype<U32Column>(PASS_BASE + 0xa00);
const element = changetype<U32Column>(PASS_BASE + 0xb40);
const offset = changetype<U32Column>(PASS_BASE + 0xc80);
/** Sets of entries, a bit each: by place, and by the word of their base, hashed, with some that have gone since. */
const OF_PLACE: usize = PASS_BASE + 0x1000;
const OF_WORD: usize = OF_PLACE + 8 * <usize>SIZE;
/** The accesses of all blocks in their order, 0 for those that went. */
const access = changetype<U32Column>(PASS_BASE + 0x2000);
let count: u32 = 0;
let oldest: u32 = 0;
/** Places in use, and entries that may be the memory of another binding, a bit each. */
let places: u64 = 0;
let aliased: u64 = 0;
/** The place of the described access; NOWHERE: no entry has it. */
const NOWHERE: u32 = 64;
let here: u32 = NOWHERE;

function clear(): void {
  count = 0;
  oldest = 0;
  places = 0;
  aliased = 0;
  memory.fill(OF_PLACE, 0, 16 * <usize>SIZE);
}

function bit(k: u32): u64 {
  return (<u64>1) << k;
}

function ofPlace(p: u32): u64 {
  return load<u64>(OF_PLACE + ((<usize>p) << 3));
}

function setOfPlace(p: u32, entries: u64): void {
  store<u64>(OF_PLACE + ((<usize>p) << 3), entries);
  if (entries == 0) places &= ~bit(p);
}

function wordAddress(word: u32): usize {
  return OF_WORD + ((<usize>(word & (SIZE - 1))) << 3);
}

/** Of another binding or element than the described access. */
function elsewhere(p: u32): bool {
  return set[p] != accSet || binding[p] != accBinding || differentElements(element[p], accElement);
}

function findPlace(): void {
  here = NOWHERE;
  for (let rest = places; rest != 0; rest &= rest - 1) {
    const p = <u32>ctz(rest);
    if (offset[p] != accOffset && !sameOffset(offset[p], accOffset)) continue;
    if (space[p] != accSpace || set[p] != accSet || binding[p] != accBinding || element[p] != accElement) continue;
    here = p;
    return;
  }
}

/** The entry of a scalar of the described access, or -1. */
function find(at: u32, size: u32): i32 {
  if (here == NOWHERE) return -1;
  for (let rest = load<u64>(wordAddress(at >> 2)) & ofPlace(here); rest != 0; rest &= rest - 1) {
    const k = <u32>ctz(rest);
    if (base[k] == at && bytes[k] == size) return <i32>k;
  }
  return -1;
}

/** A new entry for a scalar of the described access. */
function added(at: u32, size: u32): u32 {
  let k = count;
  if (k < SIZE) {
    count++;
  } else {
    k = oldest;
    oldest = (oldest + 1) % SIZE;
    setOfPlace(placeOf[k], ofPlace(placeOf[k]) & ~bit(k));
    const word = wordAddress(base[k] >> 2);
    store<u64>(word, load<u64>(word) & ~bit(k));
  }
  if (here == NOWHERE || (places & bit(here)) == 0) {
    here = <u32>ctz(~places);
    places |= bit(here);
    space[here] = accSpace;
    set[here] = accSet;
    binding[here] = accBinding;
    element[here] = accElement;
    offset[here] = accOffset;
  }
  placeOf[k] = here;
  setOfPlace(here, ofPlace(here) | bit(k));
  base[k] = at;
  bytes[k] = size;
  const word = wordAddress(at >> 2);
  store<u64>(word, load<u64>(word) | bit(k));
  return k;
}

/** Enters a scalar of the described access. */
function enter(at: u32, size: u32, v: u32, part: u32): void {
  const found = find(at, size);
  const k = found < 0 ? added(at, size) : <u32>found;
  aliased = accAliased ? aliased | bit(k) : aliased & ~bit(k);
  value[k] = v;
  component[k] = part;
}

/** Those of the entries of one place with the described access that share bytes with it. */
function overlapping(entries: u64): u64 {
  let near = entries;
  const first = (accBase - min<u32>(accBase, 3)) >> 2;
  const last = <u32>min<u64>((<u64>accBase + max<u32>(accBytes, 1) - 1) >> 2, 0x3fff_ffff);
  if (last - first < SIZE) {
    near = 0;
    for (let word = first; word <= last; word++) near |= load<u64>(wordAddress(word));
    near &= entries;
  }
  let found: u64 = 0;
  for (; near != 0; near &= near - 1) {
    const k = <u32>ctz(near);
    if (overlap(base[k], bytes[k], accBase, accBytes)) found |= bit(k);
  }
  return found;
}

/** Forgets what the described access may touch. */
function forget(): void {
  for (let rest = places; rest != 0; rest &= rest - 1) {
    const p = <u32>ctz(rest);
    let gone = ofPlace(p);
    if (accKind == Access.ORDER) {
      if (!ordered(space[p], accOrders)) continue;
    } else {
      if (!reaches(space[p])) continue;
      if (p == here) gone = overlapping(gone);
      else if (accSpace == Space.SSBO && !accAliased && elsewhere(p)) gone &= aliased;
    }
    setOfPlace(p, ofPlace(p) & ~gone);
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

/** Accesses `from` to `to`, those of a block. */
function forward(from: u32, to: u32): bool {
  let progress = false;
  clear();
  for (let at = from; at < to && spend(1); at++) {
    const i = access[at];
    if (i == 0) continue;
    describe(i);
    findPlace();
    if (accKind == Access.LOAD) {
      if (accStrict || (accSpace != Space.SSBO && !isUnbound(accSpace))) continue;
      const v = known(i);
      if (v != 0) {
        replaceUses(i, v);
        drop(at);
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

function drop(at: u32): void {
  erase(access[at]);
  access[at] = 0;
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

function dropStores(from: u32, to: u32): bool {
  let progress = false;
  clear();
  for (let at = to; at > from && spend(1); ) {
    const i = access[--at];
    if (i == 0) continue;
    describe(i);
    findPlace();
    if (accKind != Access.STORE || accStrict) {
      forget();
    } else if (overwritten()) {
      drop(at);
      progress = true;
    }
  }
  return progress;
}

/** Spaces that the shader reads, and that it reaches at all: bit n for space n. */
let reads: u32 = 0;
let reached: u32 = 0;

/** Lists the accesses, and fills `reads` and `reached`; nodeScratch of a block: the end of its accesses. */
function scan(): void {
  reads = 0;
  reached = 0;
  let end: u32 = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      if (!mayReach(i) || !describe(i)) continue;
      access[end++] = i;
      if (accKind == Access.ORDER) continue;
      const bits: u32 = accSpace == Space.ALL ? ~((<u32>1) << Space.SCRATCH) : (<u32>1) << accSpace;
      reached |= bits;
      if (accKind != Access.STORE) reads |= bits;
    }
    nodeScratch[b] = end;
  }
}

function isUndefined(v: u32): bool {
  if (opOf(v) != Op.VEC) return opOf(v) == Op.UNDEF;
  for (let k: u32 = 0; k < srcCount(v); k++) if (opOf(src(v, k)) != Op.UNDEF) return false;
  return true;
}

/** Stores of the block that `dropNeedless` has gone through, those that went as well. */
let stores: u32 = 0;

/** Stores to memory that nobody reads or of nothing go, and barriers lose the storages that the shader has no access to. */
function dropNeedless(from: u32, to: u32): bool {
  let progress = false;
  stores = 0;
  for (let at = from; at < to && spend(1); at++) {
    const i = access[at];
    describe(i);
    if (accKind == Access.STORE) stores++;
    if (accKind == Access.STORE && !accStrict) {
      const unread = isUnbound(accSpace) && (reads & ((<u32>1) << accSpace)) == 0;
      if (!unread && !isUndefined(accData)) continue;
      drop(at);
      progress = true;
    } else if (accKind == Access.ORDER) {
      let kept = accOrders;
      if ((reached & ((<u32>1) << Space.SSBO)) == 0) kept &= ~(<u32>1);
      if ((reached & ((<u32>1) << Space.SHARED)) == 0) kept &= ~(<u32>2);
      if (kept == accOrders && (kept != 0 || opOf(i) == Op.BARRIER)) continue;
      if (kept == 0 && opOf(i) == Op.MEMORY_BARRIER) drop(at);
      else setImm(i, 1, kept);
      progress = true;
    }
  }
  return progress;
}

export function optMemory(): bool {
  let progress = false;
  scan();
  let end: u32 = 0;
  for (let b = entryBlock(); b != 0 && spend(1); b = nextBlock(b)) {
    const from = end;
    end = nodeScratch[b];
    if (from == end) continue;
    if (dropNeedless(from, end)) progress = true;
    if (end - from > 1 && forward(from, end)) progress = true;
    if (stores > 1 && dropStores(from, end)) progress = true;
  }
  return progress;
}
