/**
 * Applies the rewrites of `src/ir/rules.ts` (as words in `assembly/gen/ir-rules.ts`): first rule that fits, once per
 * instruction and run. Float rewrites are exact, so `exact` instructions take part; the new root keeps the flag. Those for
 * reals (`looseRules`) need contraction allowed and take no `exact` instruction.
 * `iadd %0, 0` → `%0`. Also imul by a power of two → ishl, umin with a constant that the value never exceeds → the value, and
 * masks and extensions of low bits that nothing sees. O(instructions * rules of the op).
 */
import { spend } from "../../base/index.ts";
import { foldOp, InstrFlag, Op, OpFlag, opDst, opFlags } from "../../gen/ir-ops.ts";
import { RULE_FIRSTS, RULE_FIT_WORDS, RULE_FITS, RULE_OPS, RULE_PLACES, RULE_WORDS } from "../../gen/ir-rules.ts";
import { OptionFlag, optionFlag } from "../io.ts";
import {
  alu2,
  constant,
  constantBool,
  constBits,
  cursorBefore,
  entryBlock,
  firstInstr,
  flagsOf,
  imm,
  isConst,
  newInstr,
  nextBlock,
  nextInstr,
  opOf,
  place0,
  replaceUses,
  setFlags,
  setSrc,
  src,
  srcCount,
  upperBound,
  useCount,
  widthOf,
} from "../ir/index.ts";

function word(k: u32): u32 {
  return load<u32>(RULE_WORDS + ((<usize>k) << 2));
}

/** What the rule's variables stand for (0: nothing yet). Four rows. */
const bound: usize = memory.data(16);
function binding(v: u32): u32 {
  return load<u32>(bound + ((<usize>v) << 2));
}
function bind(v: u32, value: u32): void {
  store<u32>(bound + ((<usize>v) << 2), value);
}

/** Whether the rule is for reals: no `exact` instruction takes part. */
let loose = false;
/** Where the pattern goes on after what was matched last. */
let at: u32 = 0;

/** Word after the expression at k. */
function skip(k: u32): u32 {
  let open: u32 = 1;
  let next = k;
  while (open > 0) {
    const w = word(next);
    open--;
    if (w >> 28 == 1) open += (w >> 16) & 0x7ff;
    next += w >> 28 == 4 ? 2 : 1;
  }
  return next;
}

/** Matches the expression at `at` (which moves on) with a value. Patterns are a few levels deep. */
function matches(value: u32): bool {
  const w = word(at);
  const kind = w >> 28;
  if (kind == 4) {
    const ok = isConst(value) && widthOf(value) == (w & 0xff) && constBits(value) == word(at + 1);
    at += 2;
    return ok;
  }
  if (kind == 2 || kind == 3) {
    at++;
    const v = w & 0xff;
    if (kind == 3 && !isConst(value)) return false;
    if (binding(v) != 0) return binding(v) == value;
    bind(v, value);
    return true;
  }
  const op = w & 0xffff;
  if (opOf(value) != op || (loose && (flagsOf(value) & InstrFlag.EXACT) != 0)) return false;
  const inner = at + 1;
  at = inner;
  const b0 = load<u64>(bound);
  const b1 = load<u64>(bound + 8);
  if (matchSources(value, false)) return true;
  if ((opFlags(op) & OpFlag.COMMUTATIVE) == 0) return false;
  store<u64>(bound, b0);
  store<u64>(bound + 8, b1);
  at = inner;
  return matchSources(value, true);
}

function matchSources(value: u32, swapped: bool): bool {
  const count = srcCount(value);
  for (let k: u32 = 0; k < count; k++) {
    const from = at;
    if (!matches(src(value, swapped && k < 2 ? 1 - k : k))) return false;
    at = skip(from);
  }
  return true;
}

/** An op's sources are constants alone. */
const KNOWN: u32 = 1 << 27;

/** Bits of the expression over constants at `at` (which moves on), a few levels deep. */
function valueAt(): u32 {
  const w = word(at);
  at++;
  if (w >> 28 == 4) return word(at++);
  if (w >> 28 != 1) return constBits(binding(w & 0xff));
  const count = (w >> 16) & 0x7ff;
  const a = valueAt();
  const b = count > 1 ? valueAt() : 0;
  const c = count > 2 ? valueAt() : 0;
  return foldOp(w & 0xffff, a, b, c);
}

/** Builds the expression at `at` (which moves on) before the cursor; `width` is the root's. */
function build(width: u32): u32 {
  const w = word(at);
  const kind = w >> 28;
  if (kind == 4) {
    const bits = word(at + 1);
    at += 2;
    return (w & 0xff) == 1 ? constantBool(bits != 0) : constant(bits);
  }
  at++;
  if (kind != 1) return binding(w & 0xff);
  const op = w & 0xffff;
  if ((w & KNOWN) != 0 && opDst(op) == 2) {
    at--;
    return constant(valueAt());
  }
  const count = (w >> 16) & 0x7ff;
  const a = build(width);
  const b = count > 1 ? build(width) : 0;
  const c = count > 2 ? build(width) : 0;
  const dst = opDst(op);
  const own: u32 = dst == 1 ? 1 : dst == 3 ? widthOf(op == Op.SELECT ? b : a) : 32;
  if ((opFlags(op) & OpFlag.FOLDABLE) != 0 && isConst(a) && (b == 0 || isConst(b)) && (c == 0 || isConst(c))) {
    const bits = foldOp(op, constBits(a), b == 0 ? 0 : constBits(b), c == 0 ? 0 : constBits(c));
    return own == 1 ? constantBool((bits & 1) != 0) : constant(bits);
  }
  const i = newInstr(op, own, 1, count);
  setSrc(i, 0, a);
  if (count > 1) setSrc(i, 1, b);
  if (count > 2) setSrc(i, 2, c);
  return place0(i);
}

/** Words of a rule before its pattern: `ir-rules.ts`. */
const HEADER: u32 = 3;
const SWAPS: u32 = 1 << 24;
const LOOSE: u32 = 1 << 26;
const CONDITION: u32 = 1 << 27;
const WORD: u32 = 1 << 28;
const OPS: u32 = SWAPS - 1;

/** Row of an op in `RULE_FITS`; 0: it has no rules. */
function ruleRow(op: u32): u32 {
  return load<u8>(RULE_OPS + ((<usize>op) << 1));
}

/** The two sets of rules of a row for the class of a source: in the low half as source 0, in the high half as source 1. */
function fitting(row: usize, op: u32): u64 {
  return load<u64>(row + 8 + ((<usize>load<u8>(RULE_OPS + ((<usize>op) << 1), 1)) << 3));
}

/** The value that replaces i, of an op with rules in `row`, by the first rule that fits, or 0. */
function rewrite(i: u32, row: u32): u32 {
  // Few rules fit the sources' ops, mostly none: the others are not looked at.
  const count = srcCount(i);
  const a = count > 0 ? src(i, 0) : 0;
  const b = count > 1 ? src(i, 1) : 0;
  const opA = opOf(a);
  const opB = opOf(b);
  const at0 = RULE_FITS + ((<usize>(row * RULE_FIT_WORDS)) << 2);
  const ofA = fitting(at0, opA);
  const ofB = fitting(at0, opB);
  let rules = (<u32>ofA & <u32>(ofB >> 32)) | (<u32>ofB & <u32>(ofA >> 32) & load<u32>(at0));
  if (a != b) rules &= ~load<u32>(at0, 4);
  if (rules == 0) return 0;
  const third = count > 2 ? opOf(src(i, 2)) << 16 : 0;
  const ops = opA | (opB << 8) | third;
  const swapped = opB | (opA << 8) | third;
  const first = load<u32>(RULE_FIRSTS + ((<usize>opOf(i)) << 2));
  for (; rules != 0; rules &= rules - 1) {
    const rule = load<u32>(RULE_PLACES + ((<usize>(first + ctz<u32>(rules))) << 2));
    const mask = word(rule + 1);
    const wanted = word(rule + 2);
    if ((ops & mask & OPS) != wanted && ((mask & SWAPS) == 0 || (swapped & mask & OPS) != wanted)) continue;
    loose = (mask & LOOSE) != 0;
    if (loose && !optionFlag(OptionFlag.CONTRACTION)) continue;
    store<u64>(bound, 0);
    store<u64>(bound, 0, 8);
    at = rule + HEADER;
    if ((mask & WORD) != 0 && widthOf(i) != 32) continue;
    if (!matches(i)) continue;
    const replacement = rule + HEADER + word(rule);
    cursorBefore(i);
    if ((mask & CONDITION) != 0) {
      at = skip(replacement);
      if (valueAt() == 0) continue;
    }
    at = replacement;
    return build(widthOf(i));
  }
  return 0;
}

/** imul by a power of two as a shift; shifts of shifts by constants as one. */
function shifts(i: u32): u32 {
  const op = opOf(i);
  if (op == Op.IMUL) {
    const k: u32 = isConst(src(i, 1)) ? 1 : 0;
    const factor = src(i, k);
    if (!isConst(factor) || constBits(factor) == 0 || (constBits(factor) & (constBits(factor) - 1)) != 0) return 0;
    cursorBefore(i);
    return shiftBy(Op.ISHL, src(i, 1 - k), ctz<u32>(constBits(factor)));
  }
  if (op != Op.ISHL && op != Op.USHR) return 0;
  const inner = src(i, 0);
  if (opOf(inner) != op || !isConst(src(i, 1)) || !isConst(src(inner, 1))) return 0;
  const sum = (constBits(src(i, 1)) & 31) + (constBits(src(inner, 1)) & 31);
  cursorBefore(i);
  return sum > 31 ? constant(0) : shiftBy(op, src(inner, 0), sum);
}

/** A mask of low bits. */
function isLowMask(bits: u32): bool {
  return (bits & (bits + 1)) == 0;
}

/** Bits that an extraction from bit 0 on keeps; 0 for another op. */
function extracted(v: u32): u32 {
  const op = opOf(v);
  if (op == Op.IAND) {
    if (!isConst(src(v, 1)) && !isConst(src(v, 0))) return 0;
    const mask = constBits(isConst(src(v, 1)) ? src(v, 1) : src(v, 0));
    return isLowMask(mask) ? mask : 0;
  }
  if (op != Op.UBFE && op != Op.IBFE) return 0;
  if (!isConst(src(v, 1)) || !isConst(src(v, 2)) || (constBits(src(v, 1)) & 31) != 0) return 0;
  return ((<u32>1) << (constBits(src(v, 2)) & 31)) - 1;
}

/** The value that v has cut short or extended, where its low bits `mask` stay; v where there is none. */
function uncut(v: u32, mask: u32): u32 {
  let value = v;
  while (widthOf(value) == 32 && (extracted(value) & mask) == mask && mask != 0 && spend(1)) {
    value = opOf(value) == Op.IAND && !isConst(src(value, 1)) ? src(value, 1) : src(value, 0);
  }
  return value;
}

/** Sums, differences, products and bits of which only low bits are read need no more of their sources. */
function needsLow(op: u32): bool {
  return op == Op.IADD || op == Op.ISUB || op == Op.IMUL || op == Op.IOR || op == Op.IXOR;
}

/** uncut, also of the sources of arithmetic that has one reader: this one, which sees only the bits `mask` of low ones. */
function lowOf(v: u32, mask: u32): u32 {
  const value = uncut(v, mask);
  if (value != v || !needsLow(opOf(v)) || widthOf(v) != 32 || useCount(v) != 1) return value;
  for (let k: u32 = 0; k < 2; k++) {
    const part = uncut(src(value, k), mask);
    if (part == src(value, k)) continue;
    setSrc(value, k, part);
    setFlags(value, flagsOf(value) & ~(<u32>InstrFlag.NUW));
    narrowed = true;
  }
  return value;
}

/** Whether lowOf has changed a source. */
let narrowed = false;

/** iand with a mask of low bits: without extensions below it that reach as far; the value itself where that is never above the mask. */
function masked(i: u32): u32 {
  if (opOf(i) != Op.IAND || widthOf(i) != 32) return 0;
  const k: u32 = isConst(src(i, 1)) ? 1 : 0;
  const mask = src(i, k);
  if (!isConst(mask) || !isLowMask(constBits(mask))) return 0;
  const value = lowOf(src(i, 1 - k), constBits(mask));
  if (upperBound(value, 0) <= constBits(mask)) return value;
  if (value == src(i, 1 - k)) return 0;
  cursorBefore(i);
  return alu2(Op.IAND, value, mask);
}

/** Bits that a store of less than words takes of its data; 0 for other ops. */
function storedBits(i: u32): u32 {
  switch (opOf(i)) {
    case Op.STORE_SSBO:
      return imm(i, 3);
    case Op.STORE_SHARED:
    case Op.STORE_SCRATCH:
      return imm(i, 1);
    default:
      return 0;
  }
}

/** umin with a constant that the other source never exceeds: that source. */
function bounded(i: u32): u32 {
  if (opOf(i) != Op.UMIN) return 0;
  const k: u32 = isConst(src(i, 1)) ? 1 : 0;
  if (!isConst(src(i, k)) || upperBound(src(i, 1 - k), 0) > constBits(src(i, k))) return 0;
  return src(i, 1 - k);
}

function shiftBy(op: u32, value: u32, count: u32): u32 {
  const i = newInstr(op, 32, 1, 2);
  setSrc(i, 0, value);
  setSrc(i, 1, constant(count));
  return place0(i);
}

/** An extraction from bit 0 on: its source without extensions that reach as far. */
function extractsLow(i: u32): void {
  const op = opOf(i);
  if (op != Op.IBFE && op != Op.UBFE) return;
  const mask = extracted(i);
  if (mask == 0) return;
  const value = lowOf(src(i, 0), mask);
  if (value == src(i, 0)) return;
  setSrc(i, 0, value);
  narrowed = true;
}

/** What is done beside the rules, by the op. */
function special(i: u32, op: u32): u32 {
  switch (op) {
    case Op.IMUL:
    case Op.ISHL:
    case Op.USHR:
      return shifts(i);
    case Op.UMIN:
      return bounded(i);
    case Op.IAND:
      return masked(i);
    default:
      return 0;
  }
}

export function optAlgebraic(): bool {
  let progress = false;
  narrowed = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      const op = opOf(i);
      if ((opFlags(op) & OpFlag.PURE) == 0) {
        const bits = storedBits(i);
        if (bits == 0) continue;
        const data = lowOf(src(i, 0), ((<u32>1) << bits) - 1);
        if (data == src(i, 0)) continue;
        setSrc(i, 0, data);
        progress = true;
        continue;
      }
      if (useCount(i) == 0) continue;
      extractsLow(i);
      const row = ruleRow(op);
      let value: u32 = row == 0 ? 0 : rewrite(i, row);
      if (value == 0) value = special(i, op);
      if (value == 0 || value == i) continue;
      if (opOf(value) != Op.CONST && useCount(value) == 0) setFlags(value, flagsOf(i));
      replaceUses(i, value);
      progress = true;
    }
  }
  return progress || narrowed;
}
