/**
 * The estimate of cycles that one wave takes, for `stats`: a model, no measurement.
 *
 * - Instructions issue in order, each after the issue cycles of the one before. Arithmetic does not stall.
 * - A memory access is ready a latency after its issue, and not before earlier ones of its counter. `s_waitcnt` lets those
 *   that it leaves outstanding be, and costs what is missing until the others are ready: max(0, ready - now). So latencies
 *   overlap, with one another and with what is computed meanwhile.
 * - What stands between the target of a backward branch and the branch counts once for each round. The rounds are known
 *   where an SGPR that steps by a constant from a constant is compared with a constant; all other loops count as
 *   `assumedRounds`. What a wait in a loop costs for an access in front of the loop counts for the first round alone.
 *   Both sides of an `if` count.
 *
 * Latencies: `latencies.ts`, as the scheduler has them.
 */
import { latencies } from "./latencies.ts";
import { SourceCode } from "./registers.ts";

/** What an instruction does with memory; its number is the place here. Loads of images through samplers are `sample`. */
export const memoryKinds = ["none", "scalar", "lds", "vector", "sample", "store"] as const;
const readyAfter = [0, latencies.smem, latencies.lds, latencies.vmem, latencies.sample, latencies.vmem] as const;
const barrierCycles = 32;

/** Rounds of a loop of which nothing is known, as the register allocator weighs it. */
export const assumedRounds = 8;

/** What an opcode means for the rounds of loops; its number is the place here. */
export const loopRoles = [
  "none",
  "s_mov_b32",
  "s_movk_i32",
  "s_add_u32",
  "s_add_i32",
  "s_addk_i32",
  "s_waitcnt_vscnt",
  "s_branch",
  "s_cbranch_scc0",
  "s_cbranch_scc1",
  "s_cbranch",
  "s_cmp_eq_i32",
  "s_cmp_lg_i32",
  "s_cmp_gt_i32",
  "s_cmp_ge_i32",
  "s_cmp_lt_i32",
  "s_cmp_le_i32",
  "s_cmp_eq_u32",
  "s_cmp_lg_u32",
  "s_cmp_gt_u32",
  "s_cmp_ge_u32",
  "s_cmp_lt_u32",
  "s_cmp_le_u32",
] as const;

const [, scalar, lds, , , store] = memoryKinds.keys();
/** Codes of SGPRs stand below. */
const firstConstant = 128;

/** When the accesses of one counter are ready, those under way; no counter counts further than 63. */
class Outstanding {
  // Whole numbers, which engines keep in registers.
  readonly #ready = new Int32Array(64);
  /** Dword of the access that is ready then. */
  readonly #from = new Int32Array(64);
  #issued = 0;
  #last = 0;
  #lastFrom = 0;

  clear(): void {
    this.#issued = 0;
    this.#last = 0;
  }
  add(ready: number, at: number): void {
    if (ready >= this.#last) {
      this.#last = ready;
      this.#lastFrom = at;
    }
    this.#ready[this.#issued & 63] = this.#last;
    this.#from[this.#issued++ & 63] = this.#lastFrom;
  }
  /** When all but the last `left` are ready; 63: that is not waited for. */
  ready(left: number): number {
    return left >= 63 || this.#issued <= left ? 0 : this.#ready[(this.#issued - left - 1) & 63]!;
  }
  from(left: number): number {
    return this.#from[(this.#issued - left - 1) & 63]!;
  }
}

/** At dword `at` a constant is written to an SGPR, or added to it. */
interface Step {
  readonly at: number;
  readonly value: number;
}
type Steps = Map<number, Step[]>;

/** At dword `at` a wait costs so many cycles, for the access at dword `from`. */
interface Stall {
  readonly at: number;
  readonly from: number;
  readonly cycles: number;
}

/** At dword `at` a branch that is taken where the SGPR compares so with the constant. */
interface Test {
  readonly at: number;
  readonly relation: "eq" | "lg" | "gt" | "ge" | "lt" | "le";
  readonly unsigned: boolean;
  readonly register: number;
  readonly bound: number;
  /** Dword that the branch goes to. */
  readonly target: number;
}

/** From dword `start` to behind dword `end`, which holds the branch back. */
interface Loop {
  readonly start: number;
  readonly end: number;
}

const opposite = { eq: "lg", lg: "eq", gt: "le", le: "gt", lt: "ge", ge: "lt" } as const;
const mirrored = { eq: "eq", lg: "lg", gt: "lt", lt: "gt", ge: "le", le: "ge" } as const;
const signed16 = (word: number): number => (word << 16) >> 16;

/** Of SOP1, SOP2 and SOPK. */
const destination = (word: number): number => (word >>> 16) & 127;

function note(steps: Steps, at: number, word: number, value: number | undefined): void {
  if (value === undefined) return;
  const known = steps.get(destination(word));
  if (known === undefined) steps.set(destination(word), [{ at, value }]);
  else known.push({ at, value });
}

/** Index of the first row at dword `at` or behind it; the rows stand in the order of the code. */
function firstFrom(rows: readonly { readonly at: number }[], at: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]!.at < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Value of a scalar source that is a constant. Source: RDNA2 ISA, scalar operand table. */
function constantOf(code: number, literal: number | undefined): number | undefined {
  if (code === SourceCode.literal) return (literal ?? 0) | 0;
  if (code >= firstConstant && code <= 192) return code - firstConstant;
  return code >= 193 && code <= 208 ? 192 - code : undefined;
}

/** Rounds of a counter that goes on from `first` by `step` as long as it relates so to `bound`; undefined: not known. */
function roundsOf(first: number, step: number, { relation, unsigned, bound }: Test): number | undefined {
  const [from, to] = unsigned ? [first >>> 0, bound >>> 0] : [first | 0, bound | 0];
  const way = to - from;
  const up = step > 0;
  let rounds: number;
  switch (relation) {
    case "lg":
      rounds = way / step;
      return Number.isInteger(rounds) && rounds >= 0 ? rounds : undefined;
    case "lt":
    case "gt":
      if (up !== (relation === "lt")) return undefined;
      rounds = Math.ceil(way / step);
      break;
    case "le":
    case "ge":
      if (up !== (relation === "le")) return undefined;
      rounds = Math.floor(way / step) + 1;
      break;
    default:
      return undefined;
  }
  return Math.max(0, rounds);
}

/**
 * Walks over code, one after the other, each begun by `start`: the caller says what it meets, in the order of the code. What
 * it holds is kept from walk to walk, as every compile makes one.
 */
export class CycleModel {
  #words: ArrayLike<number> = [];
  /** Cycles in front of the instruction at each dword. */
  #before = new Float64Array(1024);
  #now = 0;
  readonly #vector = new Outstanding();
  readonly #local = new Outstanding();
  readonly #stores = new Outstanding();
  /** By register. */
  readonly #sets: Steps = new Map();
  readonly #adds: Steps = new Map();
  #tests: Test[] = [];
  #loops: Loop[] = [];
  #stalls: Stall[] = [];
  /** The last comparison: its dword and its name. */
  #compared = -1;
  #comparison: (typeof loopRoles)[number] = "none";

  start(words: ArrayLike<number>): void {
    this.#words = words;
    if (words.length >= this.#before.length) this.#before = new Float64Array(2 * words.length);
    this.#now = 0;
    this.#vector.clear();
    this.#local.clear();
    this.#stores.clear();
    if (this.#sets.size > 0) this.#sets.clear();
    if (this.#adds.size > 0) this.#adds.clear();
    if (this.#tests.length > 0) this.#tests = [];
    if (this.#loops.length > 0) this.#loops = [];
    if (this.#stalls.length > 0) this.#stalls = [];
    this.#compared = -1;
    this.#comparison = "none";
  }

  /** An instruction, or what is none and has no cycles: each dword is walked over once. */
  issue(at: number, dwords: number, cycles: number): void {
    this.#before[at] = this.#now;
    for (let k = 1; k < dwords; k++) this.#before[at + k] = 0;
    this.#now += cycles;
  }
  /** The instruction just issued accesses memory. */
  access(kind: number, at: number): void {
    const ready = this.#now + readyAfter[kind]!;
    if (kind === scalar || kind === lds) this.#local.add(ready, at);
    else if (kind === store) this.#stores.add(ready, at);
    else this.#vector.add(ready, at);
  }
  barrier(): void {
    this.#now += barrierCycles;
  }
  /** `s_waitcnt`. Source: RDNA2 ISA, S_WAITCNT: vmcnt in [3:0] and [15:14], lgkmcnt in [13:8]. */
  wait(simm16: number, at: number): void {
    this.#waitFor(this.#vector, (simm16 & 15) | ((simm16 >> 10) & 0x30), at);
    this.#waitFor(this.#local, (simm16 >> 8) & 63, at);
  }
  #waitFor(counter: Outstanding, left: number, at: number): void {
    const cycles = counter.ready(left) - this.#now;
    if (cycles <= 0) return;
    this.#now += cycles;
    this.#stalls.push({ at, from: counter.from(left), cycles });
  }

  /** The instruction at dword `at`, which has a role for loops, or waits for stores. */
  step(role: number, at: number): void {
    const word = this.#words[at]! >>> 0;
    const name = loopRoles[role]!;
    switch (name) {
      case "s_waitcnt_vscnt":
        this.#waitFor(this.#stores, word & 63, at);
        return;
      case "s_mov_b32":
      case "s_movk_i32":
        note(this.#sets, at, word, name === "s_movk_i32" ? signed16(word) : this.#constant(at, word & 255));
        return;
      case "s_add_u32":
      case "s_add_i32":
        // to itself
        if ((word & 255) === destination(word)) note(this.#adds, at, word, this.#constant(at, (word >>> 8) & 255));
        return;
      case "s_addk_i32":
        note(this.#adds, at, word, signed16(word));
        return;
      case "s_branch":
      case "s_cbranch_scc0":
      case "s_cbranch_scc1":
      case "s_cbranch":
        this.#branch(at, word, name);
        return;
      default:
        this.#compared = at;
        this.#comparison = name;
    }
  }

  /** Cycles of the whole, with loops as often as they go round. */
  total(): number {
    if (this.#loops.length === 0) return this.#now;
    this.#before[this.#words.length] = this.#now;
    // Inner loops end before outer ones. Of several ways back to one place the last is the loop's end.
    const ends = new Map(this.#loops.map(({ start, end }) => [start, end]));
    const inside: { readonly start: number; readonly more: number }[] = [];
    for (const loop of this.#loops) {
      const { start, end } = loop;
      if (ends.get(start) !== end) continue;
      let within = 0;
      while (inside.length > 0 && inside.at(-1)!.start >= start) within += inside.pop()!.more;
      let waited = 0;
      for (let k = firstFrom(this.#stalls, start); k < this.#stalls.length && this.#stalls[k]!.at < end; k++) {
        if (this.#stalls[k]!.from < start) waited += this.#stalls[k]!.cycles;
      }
      const once = this.#before[end]! + 1 - this.#before[start]! - waited + within;
      inside.push({ start, more: within + once * (this.#rounds(loop) - 1) });
    }
    return this.#now + inside.reduce((sum, { more }) => sum + more, 0);
  }

  #constant(at: number, code: number): number | undefined {
    return constantOf(code, this.#words[at + 1]);
  }
  #branch(at: number, word: number, name: string): void {
    const target = at + 1 + signed16(word);
    if (target <= at) this.#loops.push({ start: target, end: at });
    if ((name !== "s_cbranch_scc0" && name !== "s_cbranch_scc1") || this.#compared < 0) return;
    const compare = this.#words[this.#compared]! >>> 0;
    const codes = [compare & 255, (compare >>> 8) & 255];
    const isLong = codes.includes(SourceCode.literal);
    if (this.#compared !== at - (isLong ? 2 : 1)) return;
    const which = codes.findIndex((code) => code < firstConstant);
    const bound = which < 0 ? undefined : this.#constant(this.#compared, codes[1 - which]!);
    if (bound === undefined) return;
    const said = this.#comparison.slice(6, 8) as Test["relation"];
    const turned = which === 0 ? said : mirrored[said];
    const relation = name === "s_cbranch_scc1" ? turned : opposite[turned];
    const unsigned = this.#comparison.endsWith("u32");
    this.#tests.push({ at, relation, unsigned, register: codes[which]!, bound, target });
  }

  #rounds({ start, end }: Loop): number {
    const tests = this.#tests;
    const last = tests[firstFrom(tests, end)];
    let first = last?.at === end ? last : undefined;
    for (let k = firstFrom(tests, start); first === undefined && k < tests.length && tests[k]!.at < end; k++) {
      const { relation, target } = tests[k]!;
      if (target > end) first = { ...tests[k]!, relation: opposite[relation] };
    }
    const sets = this.#sets.get(first?.register ?? -1) ?? [];
    const adds = this.#adds.get(first?.register ?? -1) ?? [];
    const set = firstFrom(sets, start);
    const add = firstFrom(adds, start);
    const isAlone =
      !((sets[set]?.at ?? end) < end) && (adds[add]?.at ?? end) < end && !((adds[add + 1]?.at ?? end) < end);
    if (first === undefined || set === 0 || !isAlone) return assumedRounds;
    const rounds = roundsOf(sets[set - 1]!.value, adds[add]!.value, first);
    return rounds === undefined ? assumedRounds : Math.max(1, rounds);
  }
}
