/**
 * Merges accesses of neighbouring words within a block: loads into the first of them, stores into the last, up to 4 words
 * (uniform-buffer loads 8), when nothing between may touch the same memory. Where no bounds are checked, accesses of 8 and
 * 16 bits become wider ones if the address is known to be aligned: two of 8 bits one of 16, two of 16 a word, which joins
 * others in turn. `load a; load a+4` → `load x2 a`. Leaves volatile and coherent accesses alone. O(accesses * 32).
 */
import { spend, U32Column } from "../../base/index.ts";
import { DYNAMIC_SET, InstrFlag, Op } from "../../gen/ir-ops.ts";
import { OptionFlag, optionFlag } from "../io.ts";
import {
  alu2,
  componentsOf,
  constant,
  cursorBefore,
  entryBlock,
  erase,
  extract,
  firstInstr,
  flagsOf,
  instrPlace,
  newInstr,
  nextBlock,
  nextInstr,
  opOf,
  place0,
  replaceUses,
  setFlags,
  setImm,
  setSrc,
  src,
  srcCount,
  upperBound,
  zeroBits,
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

/** Accesses that a later one may still join. A full table forgets the oldest. */
const SIZE: u32 = 32;
const instr = changetype<U32Column>(PASS_BASE);
const kind = changetype<U32Column>(PASS_BASE + 0x100);
const space = changetype<U32Column>(PASS_BASE + 0x200);
const set = changetype<U32Column>(PASS_BASE + 0x300);
const binding = changetype<U32Column>(PASS_BASE + 0x400);
const element = changetype<U32Column>(PASS_BASE + 0x500);
const offset = changetype<U32Column>(PASS_BASE + 0x600);
const base = changetype<U32Column>(PASS_BASE + 0x700);
const aliased = changetype<U32Column>(PASS_BASE + 0x3000);
const bytes = changetype<U32Column>(PASS_BASE + 0x800);
const bits = changetype<U32Column>(PASS_BASE + 0x900);
/** Order of the entries' instructions. */
const order = changetype<U32Column>(PASS_BASE + 0xa00);
let entered: u32 = 0;
/** Bytes that the two offsets of a paired access reach: 255 words. */
const SHARED_REACH: u32 = 1020;
/** Bytes on either side that join a load: four words less its own. */
const JOIN_REACH: u32 = 12;
let count: u32 = 0;
let oldest: u32 = 0;

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

function enter(i: u32): void {
  let k = count;
  if (count < SIZE) {
    count++;
  } else {
    k = oldest;
    oldest = (oldest + 1) % SIZE;
  }
  instr[k] = i;
  kind[k] = accKind;
  space[k] = accSpace;
  set[k] = accSet;
  binding[k] = accBinding;
  element[k] = accElement;
  offset[k] = accOffset;
  base[k] = accBase;
  bytes[k] = accBytes;
  aliased[k] = accAliased ? 1 : 0;
  bits[k] = accBits;
  order[k] = ++entered;
}

/**
 * The bytes that entry k may move over an access: a store its own; a load, which later ones join where it stands, also
 * those that may join it.
 */
function reachBase(k: u32): u32 {
  return kind[k] == Access.STORE ? base[k] : base[k] - min<u32>(base[k], JOIN_REACH);
}

function reachBytes(k: u32): u32 {
  return base[k] - reachBase(k) + bytes[k] + (kind[k] == Access.STORE ? 0 : JOIN_REACH);
}

/** Closes the accesses that cannot move over the described one: stores over what may read or write them, loads over writes. */
function close(): void {
  for (let k: u32 = 0; k < count; k++) {
    if (kind[k] == Access.NONE) continue;
    if (accKind == Access.ORDER) {
      if (ordered(space[k], accOrders)) kind[k] = Access.NONE;
      continue;
    }
    if (kind[k] == Access.LOAD && accKind == Access.LOAD) continue;
    if (!reaches(space[k])) continue;
    if (accSpace == Space.SSBO && apart(k)) continue;
    if (accSpace != Space.ALL && samePlace(k) && !overlap(reachBase(k), reachBytes(k), accBase, accBytes)) continue;
    kind[k] = Access.NONE;
  }
}

function mostWords(): u32 {
  return accSpace == Space.UBO ? 8 : 4;
}

/**
 * Whether accesses of 8 and 16 bits, the described one at place `here` in the source and another, may be one: what they
 * start from is aligned, and where buffers' bounds are checked, they are parts of one access, which is checked as a whole.
 */
function widens(here: u32, there: u32): bool {
  if (isUnbound(accSpace)) return true;
  // A pair is an address in memory of which nothing is known.
  if (accSet == DYNAMIC_SET && accElement != 0 && componentsOf(accElement) == 2) return false;
  return !optionFlag(OptionFlag.ROBUST) || (here == there && here != 0);
}

/** An open access of the same kind right below or above the described one i, which is entry `self` or none; or -1. */
function neighbour(i: u32, self: i32): i32 {
  for (let k: u32 = 0; k < count; k++) {
    if (<i32>k == self || kind[k] != accKind || bits[k] != accBits || !samePlace(k)) continue;
    const adjacent = base[k] + bytes[k] == accBase || accBase + accBytes == base[k];
    if (!adjacent) continue;
    if (accBits == 0) {
      const whole = bytes[k] + accBytes;
      // Pairs of words in workgroup memory reach less far than one.
      if (accSpace == Space.SHARED && min<u32>(base[k], accBase) + whole > SHARED_REACH) continue;
      if (whole >> 2 <= mostWords()) return <i32>k;
    } else if (widens(instrPlace[i], instrPlace[instr[k]])) {
      const low = min<u32>(base[k], accBase);
      const wanted = accBits >> 2;
      if ((low & (wanted - 1)) == 0 && (<u32>1) << min<u32>(zeroBits(accOffset, 0), 2) >= wanted) return <i32>k;
    }
  }
  return -1;
}

function component(v: u32, k: u32): u32 {
  if (componentsOf(v) == 1) return v;
  return opOf(v) == Op.VEC ? src(v, k) : extract(v, k);
}

/** A value of `words` components of `from`, starting at `first`, before the cursor. */
function part(from: u32, first: u32, words: u32): u32 {
  if (words == 1) return extract(from, first);
  const vec = newInstr(Op.VEC, 32, words, words);
  for (let k: u32 = 0; k < words; k++) setSrc(vec, k, extract(from, first + k));
  return place0(vec);
}

/** Copies op, immediates, flags and the sources from `first` on. */
function like(i: u32, components: u32, first: u32): u32 {
  const n = srcCount(i);
  const copy = newInstr(opOf(i), components == 0 ? 0 : 32, components, n);
  for (let k = first; k < n; k++) setSrc(copy, k, src(i, k));
  setFlags(copy, flagsOf(i));
  return copy;
}

function setBase(i: u32, at: u32): void {
  setImm(i, isUnbound(accSpace) ? 0 : 2, at);
}

/** The described load i joins entry k: one load where the entry stands. */
function joinLoads(i: u32, k: u32): void {
  const first = instr[k];
  const low = min<u32>(base[k], accBase);
  const words = (bytes[k] + accBytes) >> 2;
  const firstWords = bytes[k] >> 2;
  const whole = like(first, words, 0);
  copyImms(whole);
  setBase(whole, low);
  setFlags(whole, (flagsOf(first) & flagsOf(i)) | ((flagsOf(first) | flagsOf(i)) & InstrFlag.NONUNIFORM));
  cursorBefore(first);
  place0(whole);
  const own = part(whole, (base[k] - low) >> 2, firstWords);
  const other = part(whole, (accBase - low) >> 2, accCount);
  replaceUses(first, own);
  replaceUses(i, other);
  erase(first);
  erase(i);
  instr[k] = whole;
  base[k] = low;
  bytes[k] = words << 2;
}

/** The described load i of 8 or 16 bits joins entry k: one load of twice the size where the entry stands. */
function joinNarrowLoads(i: u32, k: u32): void {
  const first = instr[k];
  const below = accBase > base[k];
  const low = below ? base[k] : accBase;
  const wide: u32 = accBits == 8 ? 16 : 0;
  const whole = like(first, 1, 0);
  copyImms(whole);
  setImm(whole, isUnbound(accSpace) ? 1 : 3, wide);
  setBase(whole, low);
  setFlags(whole, (flagsOf(first) & flagsOf(i)) | ((flagsOf(first) | flagsOf(i)) & InstrFlag.NONUNIFORM));
  instrPlace[whole] = instrPlace[first];
  cursorBefore(first);
  place0(whole);
  const lower = alu2(Op.IAND, whole, constant(((<u32>1) << accBits) - 1));
  const upper = alu2(Op.USHR, whole, constant(accBits));
  replaceUses(first, below ? lower : upper);
  replaceUses(i, below ? upper : lower);
  erase(first);
  erase(i);
  instr[k] = whole;
  base[k] = low;
  bytes[k] = accBits >> 2;
  bits[k] = wide;
}

/** Entry k has grown: it may join others. */
function joinFurther(k: u32): void {
  let at = k;
  while (spend(1) && describe(instr[at])) {
    const other = neighbour(instr[at], <i32>at);
    if (other < 0) return;
    // The later one goes to the place of the earlier one.
    let from = at;
    at = <u32>other;
    if (order[from] < order[at]) {
      at = from;
      from = <u32>other;
      describe(instr[from]);
    }
    if (accBits != 0) joinNarrowLoads(instr[from], at);
    else joinLoads(instr[from], at);
    kind[from] = Access.NONE;
  }
}

/** The immediates of the described access but its base: one place has one set of them. */
function copyImms(to: u32): void {
  if (isUnbound(accSpace)) {
    setImm(to, 1, accBits);
    return;
  }
  setImm(to, 0, accSet);
  setImm(to, 1, accBinding);
  setImm(to, 3, accBits);
}

/** Entry k joins the described store i: one store where i stands. Answers it. */
function joinStores(i: u32, k: u32): u32 {
  const first = instr[k];
  const firstData = src(first, 0);
  const low = min<u32>(base[k], accBase);
  const below = low == base[k];
  const lowData = below ? firstData : accData;
  const highData = below ? accData : firstData;
  cursorBefore(i);
  let data: u32;
  let wide: u32 = 0;
  if (accBits != 0) {
    const mask = ((<u32>1) << accBits) - 1;
    const cut = upperBound(lowData, 0) <= mask ? lowData : alu2(Op.IAND, lowData, constant(mask));
    data = alu2(Op.IOR, cut, alu2(Op.ISHL, highData, constant(accBits)));
    wide = accBits == 8 ? 16 : 0;
  } else {
    const lows = componentsOf(lowData);
    const words = lows + componentsOf(highData);
    data = newInstr(Op.VEC, 32, words, words);
    for (let c: u32 = 0; c < words; c++) {
      setSrc(data, c, c < lows ? component(lowData, c) : component(highData, c - lows));
    }
    place0(data);
  }
  const whole = like(i, 0, 1);
  setSrc(whole, 0, data);
  copyImms(whole);
  setImm(whole, isUnbound(accSpace) ? 1 : 3, wide);
  setBase(whole, low);
  instrPlace[whole] = instrPlace[i];
  place0(whole);
  erase(first);
  erase(i);
  kind[k] = Access.NONE;
  return whole;
}

function vectorize(block: u32): bool {
  let progress = false;
  count = 0;
  oldest = 0;
  let next: u32 = 0;
  for (let i = firstInstr(block); i != 0 && spend(1); i = next) {
    next = nextInstr(i);
    if (!mayReach(i) || !describe(i)) continue;
    const free = !accStrict && (accKind == Access.LOAD || accKind == Access.STORE);
    const k = free ? neighbour(i, -1) : -1;
    if (k >= 0 && accKind == Access.LOAD) {
      // A store in front of both may no longer move behind what this one reads.
      close();
      if (accBits != 0) {
        joinNarrowLoads(i, <u32>k);
        joinFurther(<u32>k);
      } else {
        joinLoads(i, <u32>k);
      }
      progress = true;
      continue;
    }
    if (k >= 0) {
      const whole = joinStores(i, <u32>k);
      progress = true;
      // It may join another in turn.
      next = whole;
      continue;
    }
    close();
    if (free) enter(i);
  }
  return progress;
}

export function optVectorize(): bool {
  let progress = false;
  for (let b = entryBlock(); b != 0 && spend(1); b = nextBlock(b)) if (vectorize(b)) progress = true;
  return progress;
}
