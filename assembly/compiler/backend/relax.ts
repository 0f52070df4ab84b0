/**
 * Branches over more than SIMM16 reaches (32768 dwords) hop over islands: lone s_branches between other instructions,
 * which control passes by. They need no register, unlike s_setpc. Code gets a site for islands every SITE_DWORDS; a far
 * branch goes to the furthest site within REACH_DWORDS, and from its island on in the same way. Branches to one target
 * share islands. The slack between REACH_DWORDS and 32768 is for the islands themselves.
 */
import { Fail, fail, failed, Limit, spend, U32Column } from "../../base/index.ts";
import { Format, Op, OpFlag, opFlags, opFormat } from "../../gen/isa-ops.ts";
import {
  bDepth,
  bFirst,
  bIndex,
  bLast,
  bOffset,
  bOrder,
  bStack,
  flowBytes,
  linkNext,
  linkValue,
  mBlock,
  mImm,
  mNext,
  mOp,
  mPlace,
  mPrev,
} from "./columns.ts";
import { codeLength, instrWords, longestBranch } from "./encode.ts";
import {
  appendInstr,
  layOut,
  layoutLength,
  link,
  linkMark,
  linkRelease,
  newBlock,
  newInstr,
  resetLayout,
  setMachinePlace,
} from "./machine.ts";

const SITE_DWORDS: u32 = 12_000;
const REACH_DWORDS: u32 = 26_000;
/** Islands of one site: two sites may stand within a hop. */
const MAX_ISLANDS: u32 = 2_500;
const MAX_SITES: u32 = 256;
/** Below this no branch can be too far. */
const NEAR_DWORDS: u32 = 32_000;

// By site: its block (with a branch over the islands), dword where it stands, islands as a list, their count.
const sites = changetype<U32Column>(changetype<usize>(flowBytes));
const SITE_WORDS: u32 = 4;
let siteCount: u32 = 0;

function isBranch(i: u32): bool {
  return opFormat(mOp[i]) == Format.SOPP && (opFlags(mOp[i]) & OpFlag.Branch) != 0;
}

/** Instructions of `b` behind `last` become those of a new block, which is given. */
function splitBehind(b: u32, last: u32): u32 {
  const rest = newBlock();
  bDepth[rest] = bDepth[b];
  bFirst[rest] = mNext[last];
  bLast[rest] = bLast[b];
  bLast[b] = last;
  mPrev[mNext[last]] = 0;
  mNext[last] = 0;
  for (let i = bFirst[rest]; i != 0; i = mNext[i]) mBlock[i] = rest;
  return rest;
}

/** Blocks with sites between them in `bStack`; their number. `bOffset` counts dwords without islands. */
function placeSites(): u32 {
  let count: u32 = 0;
  let dwords: u32 = 0;
  let next: u32 = SITE_DWORDS;
  siteCount = 0;
  for (let k: u32 = 0; k < layoutLength(); k++) {
    let b = bOrder[k];
    bStack[count++] = b;
    bOffset[b] = dwords;
    let clause: u32 = 0;
    for (let i = bFirst[b]; i != 0; ) {
      const following = mNext[i];
      dwords += instrWords(i);
      if (mOp[i] == <u32>Op.s_clause) clause = mImm[i] + 1;
      else if (clause > 0) clause--;
      if (dwords >= next && clause == 0 && siteCount < MAX_SITES) {
        const site = newBlock();
        bDepth[site] = bDepth[b];
        bOffset[site] = dwords;
        sites[siteCount * SITE_WORDS] = site;
        sites[siteCount * SITE_WORDS + 1] = dwords;
        sites[siteCount * SITE_WORDS + 2] = 0;
        sites[siteCount * SITE_WORDS + 3] = 0;
        siteCount++;
        bStack[count++] = site;
        next = dwords + SITE_DWORDS;
        if (following != 0) {
          b = splitBehind(b, i);
          bStack[count++] = b;
          bOffset[b] = dwords;
        }
      }
      i = following;
      if (failed()) return count;
    }
  }
  return count;
}

/** The site where a branch at `from` to `to` hops next. */
function hop(from: u32, to: u32): u32 {
  let found: u32 = siteCount;
  for (let s: u32 = 0; s < siteCount; s++) {
    const at = sites[s * SITE_WORDS + 1];
    if (to > from) {
      if (at > from && at <= from + REACH_DWORDS && at < to) found = s;
    } else if (at < from && at + REACH_DWORDS >= from && at > to) {
      return s;
    }
  }
  return found;
}

/** The island for a target at a site; made when it is not there yet. */
function islandAt(site: u32, target: u32, place: u32): u32 {
  const row = site * SITE_WORDS;
  for (let l = sites[row + 2]; l != 0; l = linkNext[l]) {
    const island = linkValue[l];
    // Where an island finally leads; it has no place in the layout yet.
    if (bIndex[island] == target) return island;
  }
  const island = newBlock();
  setMachinePlace(place);
  const jump = newInstr(Op.s_branch);
  mImm[jump] = target;
  appendInstr(island, jump);
  bDepth[island] = bDepth[sites[row]];
  bOffset[island] = sites[row + 1];
  bIndex[island] = target;
  sites[row + 2] = link(island, sites[row + 2]);
  if (++sites[row + 3] > MAX_ISLANDS) fail(Fail.LIMIT, Limit.MACHINE, MAX_ISLANDS, 0);
  return island;
}

function distance(a: u32, b: u32): u32 {
  return a > b ? a - b : b - a;
}

/** Leads the branch `i` at dword `from` over islands where its target is far. */
function relax(i: u32, from: u32): void {
  const target = mImm[i];
  const to = bOffset[target];
  let jump = i;
  let at = from;
  while (distance(at, to) > REACH_DWORDS) {
    if (!spend(4)) return;
    const site = hop(at, to);
    if (site == siteCount) {
      fail(Fail.LIMIT, Limit.MACHINE, siteCount, 0);
      return;
    }
    const known = sites[site * SITE_WORDS + 3];
    const island = islandAt(site, target, mPlace[i]);
    if (failed()) return;
    mImm[jump] = island;
    // An island that was there leads on already.
    if (known == sites[site * SITE_WORDS + 3]) return;
    jump = bFirst[island];
    at = bOffset[island];
  }
}

/** Whether branches of the code that `encode` has made need islands. */
export function needsIslands(): bool {
  return codeLength() >= NEAR_DWORDS && longestBranch() > REACH_DWORDS;
}

/** Makes every branch reach its target; the code is encoded again then. */
export function relaxBranches(): void {
  const mark = linkMark();
  const count = placeSites();
  for (let k: u32 = 0; k < count && !failed(); k++) {
    let at = bOffset[bStack[k]];
    for (let i = bFirst[bStack[k]]; i != 0 && !failed(); i = mNext[i]) {
      if (isBranch(i)) relax(i, at);
      at += instrWords(i);
    }
  }
  if (failed()) return;
  // `bIndex` says where an island leads until here.
  resetLayout();
  let site: u32 = 0;
  for (let k: u32 = 0; k < count; k++) {
    const b = bStack[k];
    layOut(b);
    if (site == siteCount || sites[site * SITE_WORDS] != b) continue;
    const islands = sites[site * SITE_WORDS + 2];
    site++;
    if (islands == 0) continue;
    // Control goes over the islands to the block behind them.
    if (k + 1 < count) {
      const over = newInstr(Op.s_branch);
      mImm[over] = bStack[k + 1];
      appendInstr(b, over);
    }
    for (let l = islands; l != 0; l = linkNext[l]) layOut(linkValue[l]);
  }
  linkRelease(mark);
}
