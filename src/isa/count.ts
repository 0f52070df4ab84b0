import { countFacts, countRows, secondMarkers } from "./count-rows.ts";
import { CycleModel } from "./cycles.ts";
import { SourceCode } from "./registers.ts";

/**
 * What counting needs of a format, in the order: lsb, width and value of the encoding; segment of a flat format, else -1;
 * lsb and width of the opcode; dwords; lsb of the count of address dwords, else -1; lsb and width of each source; what
 * each opcode is, a character each.
 */
export type CountRow = readonly [
  lsb: number,
  width: number,
  value: number,
  segment: number,
  opLsb: number,
  opWidth: number,
  dwords: number,
  nsaLsb: number,
  sources: readonly number[],
  opcodes: string,
];

/** Bits of what an opcode is, as `scripts/generate/isa-counts.ts` writes them. */
const CountFact = {
  /** Of `instructionClasses`. */
  class: 7,
  cyclesLsb: 3,
  cycles: 31,
  /** Sources 0 to 2 that may be the literal marker. */
  literalLsb: 8,
  /** A literal always follows. */
  literal: 1 << 11,
  /** Source 0 may be the marker of a second form. */
  second: 1 << 12,
  waitcnt: 1 << 13,
  barrier: 1 << 14,
  padding: 1 << 15,
  /** Of `memoryKinds` in `cycles.ts`. */
  memoryLsb: 16,
  memory: 7,
  /** Of `loopRoles` in `cycles.ts`. */
  roleLsb: 19,
  role: 31,
} as const;
const firstCharacter = 0x23;
const prefixLsb = 23;

/** A format at work. */
interface CountTable {
  readonly opLsb: number;
  readonly opMask: number;
  readonly dwords: number;
  readonly nsaLsb: number;
  /** Of each source: dword, lsb in it, mask. */
  readonly sources: Uint32Array;
  /** Of each opcode; -1: there is none. */
  readonly facts: Int32Array;
}

interface CountTables {
  /** By the upper nine bits of the first dword, which hold every encoding; of several that fit the first row's. */
  readonly byPrefix: readonly (CountTable | undefined)[];
  /** By segment; the prefix of all of them has `flat`. */
  readonly bySegment: readonly (CountTable | undefined)[];
  readonly flat: CountTable | undefined;
}

let known: CountTables | undefined;

function tableOf([, , , , opLsb, opWidth, dwords, nsaLsb, sources, opcodes]: CountRow): CountTable {
  const facts = new Int32Array(2 ** opWidth).fill(-1);
  for (let opcode = 0; opcode < opcodes.length; opcode++) {
    facts[opcode] = countFacts[opcodes.charCodeAt(opcode) - firstCharacter] ?? -1;
  }
  const places = new Uint32Array((sources.length / 2) * 3);
  for (let k = 0; 2 * k < sources.length; k++) {
    const lsb = sources[2 * k]!;
    places.set([lsb >> 5, lsb & 31, 2 ** sources[2 * k + 1]! - 1], 3 * k);
  }
  return { opLsb, opMask: 2 ** opWidth - 1, dwords, nsaLsb, sources: places, facts };
}

/** Made by the first count of a process. */
function tables(): CountTables {
  if (known !== undefined) return known;
  const byPrefix: (CountTable | undefined)[] = new Array(512).fill(undefined);
  const bySegment: (CountTable | undefined)[] = new Array(4).fill(undefined);
  let flat: CountTable | undefined;
  for (const row of countRows) {
    const [lsb, , value, segment] = row;
    const table = tableOf(row);
    if (segment >= 0) bySegment[segment] = table;
    if (segment === 0) flat = table;
    const below = lsb - prefixLsb;
    if (segment > 0) continue;
    for (let rest = 0; rest < 2 ** below; rest++) byPrefix[(value << below) | rest] ??= table;
  }
  known = { byPrefix, bySegment, flat };
  return known;
}

/** By the code of a source. */
const isSecondMarker = new Uint8Array(512);
for (const code of secondMarkers) isSecondMarker[code] = 1;

const mayGrow = (7 << CountFact.literalLsb) | CountFact.second;

/** Dwords of the instruction at `words[at]`, whose opcode is what `fact` says. */
function dwordsAt(table: CountTable, fact: number, words: ArrayLike<number>, at: number): number {
  const { dwords, nsaLsb, sources } = table;
  if ((fact & CountFact.literal) !== 0) return dwords + 1;
  if (nsaLsb >= 0) return dwords + ((words[at]! >>> nsaLsb) & 3);
  // most opcodes take neither a literal nor a second form
  if ((fact & mayGrow) === 0) return dwords;
  for (let k = 0; 3 * k < sources.length; k++) {
    const value = (words[at + sources[3 * k]!]! >>> sources[3 * k + 1]!) & sources[3 * k + 2]!;
    if (value === SourceCode.literal && ((fact >>> (CountFact.literalLsb + k)) & 1) !== 0) return dwords + 1;
    if (k === 0 && (fact & CountFact.second) !== 0 && isSecondMarker[value] === 1) return dwords + 1;
  }
  return dwords;
}

/** What `countInstructions` finds. `unknown` dwords are counted apart and not as instructions. */
export interface InstructionCounts {
  readonly instructions: number;
  readonly salu: number;
  readonly valu: number;
  readonly smem: number;
  readonly vmem: number;
  readonly lds: number;
  readonly exports: number;
  readonly branches: number;
  readonly waits: number;
  readonly unknown: number;
  readonly estimatedCycles: number;
}

const cycles = new CycleModel();

/** Counts by class over one straight walk of `words`; `s_code_end` padding is left out. `estimatedCycles`: `CycleModel`. */
export function countInstructions(words: ArrayLike<number>): InstructionCounts {
  const { byPrefix, bySegment, flat } = tables();
  // by `instructionClasses`
  const counts = [0, 0, 0, 0, 0, 0, 0, 0];
  let instructions = 0;
  let unknown = 0;
  cycles.start(words);
  for (let at = 0; at < words.length; ) {
    const word = words[at]! >>> 0;
    let table = byPrefix[word >>> prefixLsb];
    if (table !== undefined && table === flat) table = bySegment[(word >>> 14) & 3];
    const fact = table === undefined ? -1 : table.facts[(word >>> table.opLsb) & table.opMask]!;
    const dwords = table === undefined || fact < 0 ? 1 : dwordsAt(table, fact, words, at);
    if (fact < 0 || at + dwords > words.length) {
      unknown++;
      cycles.issue(at++, 1, 0);
      continue;
    }
    if ((fact & CountFact.padding) === 0) {
      instructions++;
      counts[fact & CountFact.class]!++;
      const memory = (fact >>> CountFact.memoryLsb) & CountFact.memory;
      const role = (fact >>> CountFact.roleLsb) & CountFact.role;
      cycles.issue(at, dwords, (fact >>> CountFact.cyclesLsb) & CountFact.cycles);
      if (role !== 0) cycles.step(role, at);
      if (memory !== 0) cycles.access(memory, at);
      if ((fact & CountFact.barrier) !== 0) cycles.barrier();
      if ((fact & CountFact.waitcnt) !== 0) cycles.wait(word & 0xffff, at);
    } else cycles.issue(at, dwords, 0);
    at += dwords;
  }
  const [salu, valu, smem, vmem, lds, exports, branches, waits] = counts as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const estimatedCycles = cycles.total();
  return { instructions, salu, valu, smem, vmem, lds, exports, branches, waits, unknown, estimatedCycles };
}
