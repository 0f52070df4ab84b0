/**
 * Merges equal pure instructions: same op, shape, immediates, flags and sources, the earlier one dominating (global value
 * numbering over the dominator tree, in one walk in program order); ops between lanes only within a block. Sources of
 * commutative ops compare in either order. Inputs that two branches read are read once in front of them. Loads of storage buffers stay. `%2 = iadd %0, %1; %3 = iadd %1, %0` → one. O(instructions) expected.
 */
import { spend, U32Column } from "../../base/index.ts";
import { InstrFlag, Op, OpFlag, opFlags, opImms } from "../../gen/ir-ops.ts";
import {
  blockOf,
  commonDominator,
  componentsOf,
  computeDominance,
  dominates,
  entryBlock,
  erase,
  firstInstr,
  flagsOf,
  hasMade,
  imm,
  insertInstr,
  instrLimit,
  instrScratch,
  jumpOf,
  MAX_INSTRS,
  nextBlock,
  nextInstr,
  opOf,
  replaceUses,
  src,
  srcCount,
  unlinkInstr,
  widthOf,
} from "../ir/index.ts";
import { PASS_BASE } from "../memory-map.ts";

/**
 * Heads of the chains, which go on in instrScratch: an instruction in the low bits, of its hash what is no part of the
 * bucket in the others. Where that differs nobody looks at the instruction.
 */
const heads = changetype<U32Column>(PASS_BASE);
const MAX_BUCKETS: u32 = 1 << 18;
const ID: u32 = MAX_INSTRS - 1;
const ID_BITS: u32 = ctz<u32>(MAX_INSTRS);
/** Buckets that instructions with the same sources are spread over. */
const SPREAD: u32 = 64;
/** Longest chain looked through: longer ones are hash collisions. */
const MAX_CHAIN = 64;

function isCommutative(op: u32): bool {
  return (opFlags(op) & OpFlag.COMMUTATIVE) != 0;
}
function first(i: u32): u32 {
  return isCommutative(opOf(i)) ? min<u32>(src(i, 0), src(i, 1)) : src(i, 0);
}
function second(i: u32): u32 {
  return isCommutative(opOf(i)) ? max<u32>(src(i, 0), src(i, 1)) : src(i, 1);
}
function mix(h: u32, x: u32): u32 {
  const y = (h ^ x) * 0x9e3779b1;
  return y ^ (y >> 15);
}

/**
 * Where the bucket of the last `hashOf` is: near those of instructions with sources near its own, and of constants that
 * differ by little. Sources are mostly made shortly before, so a long shader's buckets are looked at in the order of its
 * code.
 */
let near: u32 = 0;

function hashOf(i: u32): u32 {
  const op = opOf(i);
  const count = srcCount(i);
  let h = mix(op | (widthOf(i) << 16), count | (componentsOf(i) << 16));
  const imms = opImms(op);
  for (let k: u32 = 0; k < imms; k++) h = mix(h, imm(i, k));
  near = op == Op.CONST ? imm(i, 0) + (imm(i, 0) >> 13) : 0;
  if (count > 0) {
    const a = first(i);
    h = mix(h, a);
    near = a;
  }
  if (count > 1) {
    const b = second(i);
    h = mix(h, b);
    near += 3 * b;
  }
  for (let k: u32 = 2; k < count; k++) {
    h = mix(h, src(i, k));
    near += src(i, k);
  }
  return op == Op.PHI || (opFlags(op) & OpFlag.WAVE) != 0 ? mix(h, blockOf(i)) : h;
}

function equal(a: u32, b: u32): bool {
  const op = opOf(a);
  const count = srcCount(a);
  if (op != opOf(b) || count != srcCount(b) || widthOf(a) != widthOf(b) || componentsOf(a) != componentsOf(b))
    return false;
  if (((flagsOf(a) ^ flagsOf(b)) & ~(<u32>InstrFlag.DIV)) != 0) return false;
  const imms = opImms(op);
  for (let k: u32 = 0; k < imms; k++) if (imm(a, k) != imm(b, k)) return false;
  if (count > 0 && first(a) != first(b)) return false;
  if (count > 1 && second(a) != second(b)) return false;
  for (let k: u32 = 2; k < count; k++) if (src(a, k) != src(b, k)) return false;
  return (op != Op.PHI && (opFlags(op) & OpFlag.WAVE) == 0) || blockOf(a) == blockOf(b);
}

/** What the stage is given: worth nothing to compute on one way alone. */
function isInput(op: u32): bool {
  return op == Op.LOAD_BARY || op == Op.INTERP || op == Op.INTERP_FLAT;
}

/** Moves the input `j` up to where the ways to its block and to block `b` part: its sources are there already. */
function share(j: u32, b: u32): void {
  const block = commonDominator(blockOf(j), b);
  unlinkInstr(j);
  insertInstr(j, block, jumpOf(block));
}

export function optCse(): bool {
  let progress = false;
  computeDominance();
  let buckets: u32 = 256;
  while (buckets < MAX_BUCKETS && buckets < instrLimit()) buckets <<= 1;
  heads.clear(0, buckets);
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    let next: u32 = 0;
    for (let i = firstInstr(b); i != 0 && spend(1); i = next) {
      next = nextInstr(i);
      const flags = opFlags(opOf(i));
      // What sees the active lanes is the same again only in its own block.
      if ((flags & (OpFlag.PURE | OpFlag.WAVE)) == 0 || opOf(i) == Op.UNDEF) continue;
      // Who helps is another question behind a demote.
      if (opOf(i) == Op.LOAD_HELPER && hasMade(Op.DEMOTE)) continue;
      const hash = hashOf(i);
      const h = (near == 0 ? hash : near + (hash & (SPREAD - 1))) & (buckets - 1);
      let found: u32 = 0;
      let steps = 0;
      let before: u32 = 0;
      let word = heads[h];
      for (; word != 0 && steps < MAX_CHAIN; steps++) {
        const j = word & ID;
        const behind = instrScratch[j];
        if ((word ^ hash) >> ID_BITS == 0) {
          if (!dominates(blockOf(j), b)) {
            if (isInput(opOf(i)) && equal(i, j)) {
              share(j, b);
              found = j;
              break;
            }
            // Blocks come in an order in which what a block dominates stands together: it is behind us.
            if (before == 0) heads[h] = behind;
            else instrScratch[before] = behind;
            word = behind;
            continue;
          }
          if (equal(i, j)) {
            found = j;
            break;
          }
        }
        before = j;
        word = behind;
      }
      if (found != 0) {
        replaceUses(i, found);
        erase(i);
        progress = true;
        continue;
      }
      instrScratch[i] = heads[h];
      heads[h] = (hash & ~ID) | i;
    }
  }
  return progress;
}
