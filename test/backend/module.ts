import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { encodeSnapshot, parseIr } from "../../src/ir/index.ts";

/**
 * The back end alone, checked build: IR text in, machine words out, with hooks that the shipped module has no use for.
 * Built once per run into `dist/test`.
 */
const entry = `
import { failureA, failureB, failureC, failureCode, failurePlace, resetFailure } from "../../assembly/base/index.ts";
import { limitRegisters } from "../../assembly/compiler/backend/allocate.ts";
import { checkAllocation } from "../../assembly/compiler/backend/check.ts";
import { checkBranches, isHollow } from "../../assembly/compiler/backend/check-branches.ts";
import { checkLanes } from "../../assembly/compiler/backend/check-lanes.ts";
import { inverted } from "../../assembly/compiler/backend/cleanup.ts";
import { bFirst, bIndex, bOrder, codeWords, lineOffset, linePlace, mDst0, mImm, mMods, mNext, mOp, mSrc0, mSrc1, vLeader, vReg } from "../../assembly/compiler/backend/columns.ts";
import { allocateAll, codeLength, emit, finish, inlinedPushDwords, lineRows, scratchBytes, setBits, spilledSgprs, spilledVgprs, threadComponents, usedSgprs, usedVgprs, userSgprs, usesPushPointer } from "../../assembly/compiler/backend/index.ts";
import { leaderOf } from "../../assembly/compiler/backend/coalesce.ts";
import { hw, hwCode, layoutLength, Mod, operandVreg, removeInstr, vregs } from "../../assembly/compiler/backend/machine.ts";
import { isNamed, isSpillMove, joinedMove } from "../../assembly/compiler/backend/named.ts";
import { laneRegister, laneRegisters, resetSpills } from "../../assembly/compiler/backend/spill.ts";
import { Op } from "../../assembly/gen/isa-ops.ts";
import { select } from "../../assembly/compiler/backend/index.ts";
import { instrBlock, instrPrev, instrUseCount, nodeLast1, nodePrev } from "../../assembly/compiler/ir/columns.ts";
import { brokenAt, resetShader, validate } from "../../assembly/compiler/ir/index.ts";
import { readSnapshot } from "../../assembly/compiler/ir/snapshot.ts";

function start(): bool {
  resetFailure(1 << 40);
  resetShader();
  readSnapshot();
  return failureCode() == 0;
}
export function limit(sgprs: u32, vgprs: u32): void {
  limitRegisters(sgprs, vgprs);
}
export function run(): i32 {
  return start() ? emit() : 0 - <i32>failureCode();
}
/** As \`run\`, up to the final instructions and their proof; false where one of them fails. */
function proved(): bool {
  if (!start()) return false;
  resetSpills();
  select(false);
  if (failureCode() == 0) allocateAll();
  if (failureCode() == 0) finish();
  if (failureCode() == 0) checkAll();
  return failureCode() == 0;
}
/** Allocates, then gives a register that another one of its class has, chosen by \`seed\`; 1 when the check finds it, 2 when it made no difference. */
export function sabotage(seed: u32): i32 {
  if (!proved()) return -2;
  start();
  resetSpills();
  select(false);
  allocateAll();
  let count: u32 = 0;
  for (let v: u32 = 1; v < vregs(); v++) if (vLeader[v] == v && vReg[v] != 0xffffffff) count++;
  let a = seed % count;
  let victim: u32 = 0;
  for (let v: u32 = 1; v < vregs(); v++) {
    if (vLeader[v] != v || vReg[v] == 0xffffffff) continue;
    if (a-- == 0) { victim = v; break; }
  }
  const old = vReg[victim];
  vReg[victim] = (old + 1 + (seed >> 8) % 3) & 0x3f;
  finish();
  checkAllocation();
  return failureCode() != 0 ? 1 : 2;
}
function isVgpr(operand: u32): bool {
  return operand != 0 && hwCode(operand) >= 256;
}
/** Whether the mistake can be made in i; makes it with \`apply\`. */
function mistake(kind: u32, i: u32, apply: bool): bool {
  const op = mOp[i];
  const next = mNext[i];
  switch (kind) {
    case 0: // another lane
      if (!isSpillMove(i) || op != <u32>Op.v_readlane_b32) return false;
      if (apply) mSrc1[i] = hw(128 + ((hwCode(mSrc1[i]) - 128) ^ 1), 1);
      return true;
    case 1: // another slot
      if (!isSpillMove(i) || op != <u32>Op.scratch_load_dword) return false;
      if (apply) mImm[i] = mImm[i] ^ 4;
      return true;
    case 2: // a store elsewhere
      if (!isSpillMove(i) || op != <u32>Op.scratch_store_dword) return false;
      if (apply) mImm[i] = mImm[i] ^ 4;
      return true;
    case 3: // operands exchanged that must not be
      if (op != <u32>Op.v_sub_nc_u32_e32 && op != <u32>Op.v_lshlrev_b32_e32 && op != <u32>Op.v_cndmask_b32_e32 && op != <u32>Op.v_cndmask_b32_e64) return false;
      if (!isVgpr(mSrc0[i]) || !isVgpr(mSrc1[i]) || mSrc0[i] == mSrc1[i]) return false;
      if (apply) { const x = mSrc0[i]; mSrc0[i] = mSrc1[i]; mSrc1[i] = x; }
      return true;
    case 4: // the destinations of two neighbouring copies exchanged
      if (next == 0 || op != mOp[next] || (mMods[i] & mMods[next] & Mod.COPY) == 0) return false;
      if (mSrc0[i] == mSrc0[next] || joinedMove(i) != 0 || joinedMove(next) != 0) return false;
      if (apply) { const x = mDst0[i]; mDst0[i] = mDst0[next]; mDst0[next] = x; }
      return true;
    case 5: // the second of two neighbouring copies reads what the first has written
      if (next == 0 || op != mOp[next] || (mMods[i] & mMods[next] & Mod.COPY) == 0) return false;
      if (mSrc0[i] == mSrc0[next] || mSrc0[next] == mDst0[i]) return false;
      if (joinedMove(i) != 0 || joinedMove(next) != 0) return false;
      if (apply) mSrc0[next] = mDst0[i];
      return true;
    case 6: // a branch that is not there
      if (op != <u32>Op.s_cbranch_scc0 && op != <u32>Op.s_cbranch_scc1 && op != <u32>Op.s_branch && op != <u32>Op.s_cbranch_execnz) return false;
      if (apply) removeInstr(i);
      return true;
    case 7: { // a branch to the block behind the one it is for
      if (inverted(op) == <u32>Op.none && op != <u32>Op.s_branch) return false;
      const at = bIndex[mImm[i]];
      if (at + 1 >= layoutLength() || isHollow(bOrder[at]) || isHollow(bOrder[at + 1])) return false;
      if (apply) mImm[i] = bOrder[at + 1];
      return true;
    }
    case 8: // the opposite condition
      if (inverted(op) == <u32>Op.none) return false;
      if (apply) mOp[i] = inverted(op);
      return true;
    case 9: // EXEC is not restored
      if (op != <u32>Op.s_mov_b32 || mDst0[i] != hw(126, 1)) return false;
      if (apply) removeInstr(i);
      return true;
    case 10: // the lanes of else go on instead of those of then
      if (op != <u32>Op.s_and_saveexec_b32 && op != <u32>Op.s_andn1_saveexec_b32) return false;
      if (apply) mOp[i] = op == <u32>Op.s_and_saveexec_b32 ? Op.s_andn1_saveexec_b32 : Op.s_and_saveexec_b32;
      return true;
    case 11: // EXEC is not switched to the lanes of else
      // Alone in its block it stands in front of what restores EXEC.
      if (op != <u32>Op.s_andn2_b32 || mDst0[i] != hw(126, 1) || mSrc1[i] != hw(126, 1) || next == 0) return false;
      if (apply) removeInstr(i);
      return true;
    default:
      return false;
  }
}
function checkAll(): void {
  checkBranches();
  checkLanes();
  checkAllocation();
}
/** The first instruction with this op, as selection named it, before registers are given. */
function firstOf(op: u32): u32 {
  for (let b: u32 = 0; b < layoutLength(); b++) {
    for (let i = bFirst[bOrder[b]]; i != 0; i = mNext[i]) if (mOp[i] == op) return i;
  }
  return 0;
}
/**
 * Gives the result of the first v_bfrev the register of the value that the first v_bcnt reads (\`lanes\`: that of the first
 * spill register). 0 when the check has no objection, 1 when it has one to a v_bcnt, 2 to another instruction.
 */
export function share(lanes: bool): i32 {
  if (!start()) return -1;
  resetSpills();
  select(false);
  allocateAll();
  const writer = firstOf(Op.v_bfrev_b32_e64);
  const reader = firstOf(Op.v_bcnt_u32_b32);
  if (writer == 0 || reader == 0 || (lanes && laneRegisters() == 0)) return -1;
  const to = vReg[lanes ? laneRegister(0) : leaderOf(operandVreg(mSrc0[reader]))];
  const writes = leaderOf(operandVreg(mDst0[writer]));
  vReg[writes] = to;
  finish();
  checkAllocation();
  if (failureCode() == 0) return 0;
  return mOp[failureC()] == <u32>Op.v_bcnt_u32_b32 ? 1 : 2;
}
/** How many places in the code can have this mistake; below 0 where the code is not right to begin with. */
export function mistakes(kind: u32): i32 {
  if (!proved()) return 0 - <i32>failureCode();
  let count = 0;
  for (let b: u32 = 0; b < layoutLength(); b++) {
    for (let i = bFirst[bOrder[b]]; i != 0; i = mNext[i]) if (mistake(kind, i, false)) count++;
  }
  return count;
}
/** Makes the mistake at the n-th of these places: the failure code of the check. Behind \`mistakes\` of this kind. */
export function misled(kind: u32, n: u32): u32 {
  const count = mistakes(kind);
  if (count < 0) return 0;
  for (let b: u32 = 0; b < layoutLength(); b++) {
    for (let i = bFirst[bOrder[b]]; i != 0; i = mNext[i]) {
      if (!mistake(kind, i, false) || n-- != 0) continue;
      mistake(kind, i, true);
      checkAll();
      return failureCode();
    }
  }
  return 0;
}
/** Reads the snapshot; 0, or the failure's code. */
export function readIr(): u32 {
  start();
  return failureCode();
}
/** Overwrites a column of an instruction or node: \`columns\` below. */
export function poke(column: u32, row: u32, value: u32): void {
  switch (column) {
    case 0: instrPrev[row] = value; break;
    case 1: instrBlock[row] = value; break;
    case 2: instrUseCount[row] = value; break;
    case 3: nodePrev[row] = value; break;
    default: nodeLast1[row] = value; break;
  }
}
export function brokenRule(): u32 {
  return validate();
}
export function brokenWhere(): u32 {
  return brokenAt();
}
export function failure(k: u32): u32 {
  return k == 0 ? failureCode() : k == 1 ? failureA() : k == 2 ? failureB() : k == 3 ? failureC() : failurePlace();
}
export function fact(k: u32): u32 {
  switch (k) {
    case 0: return <u32>codeWords.at(0);
    case 1: return codeLength();
    case 2: return usedSgprs();
    case 3: return usedVgprs();
    case 4: return userSgprs();
    case 5: return setBits();
    case 6: return threadComponents();
    case 7: return usesPushPointer() ? 1 : 0;
    case 8: return <u32>inlinedPushDwords();
    case 9: return lineRows();
    case 10: return <u32>lineOffset.at(0);
    case 11: return <u32>linePlace.at(0);
    case 12: return scratchBytes();
    case 13: return spilledSgprs();
    case 14: return spilledVgprs();
    default: return 0;
  }
}
`;

interface Exports {
  limit(sgprs: number, vgprs: number): void;
  run(): number;
  sabotage(seed: number): number;
  share(lanes: number): number;
  mistakes(kind: number): number;
  misled(kind: number, n: number): number;
  readIr(): number;
  poke(column: number, row: number, value: number): void;
  brokenRule(): number;
  brokenWhere(): number;
  failure(k: number): number;
  fact(k: number): number;
}

// The blocks of assembly/compiler/io.ts.
const ioBase = 0x10_0000;
const optionsAt = ioBase + 0x400;
const bindingsAt = ioBase + 0x1_0000;
const wordsAt = ioBase + 0x10_0000;
const pages = 0x2400;

export interface Emitted {
  readonly code: Uint32Array;
  /** Constants behind the code. */
  readonly table?: Uint32Array;
  readonly sgprs: number;
  readonly vgprs: number;
  readonly userSgprs: number;
  readonly threadIdComponents: number;
  readonly pushInlined: number;
  readonly pushPointer: boolean;
  /** Of a lane. */
  readonly scratchBytes: number;
  readonly spilledSgprs: number;
  readonly spilledVgprs: number;
}

export interface EmitFailure {
  readonly code: number;
  readonly holes: readonly number[];
}

export interface EmitOptions {
  readonly robust?: boolean;
  /** A smaller register file: SGPRs, VGPRs. */
  readonly registers?: readonly [number, number];
  /** Optimisation level; 2 without. */
  readonly level?: 0 | 1 | 2;
}

/** Columns of `assembly/compiler/ir/columns.ts` that tests overwrite, by the number of the export `poke`. */
const columns = ["instrPrev", "instrBlock", "instrUseCount", "nodePrev", "nodeLast1"] as const;

/** A word of the IR in memory to be overwritten. */
export interface Poke {
  readonly column: (typeof columns)[number];
  readonly row: number;
  readonly value: number;
}

export interface BackEnd {
  /** The validator's verdict on the IR, after the pokes: number of the broken rule (0: none) and where. */
  validate(ir: string, pokes: readonly Poke[]): { readonly rule: number; readonly where: number };
  emit(ir: string, options?: EmitOptions): Emitted | EmitFailure;
  sabotage(ir: string, seed: number): number;
  /** Makes a mistake at up to `atMost` of the places that can have it, one at a time: failure codes of the check. */
  mislead(ir: string, mistake: Mistake, options?: EmitOptions, atMost?: number): readonly number[];
  /**
   * Lets the first bit reversal write the register of what the first bit count reads, or the first of those with spilled
   * SGPRs: whether the check accepts that, and if not, whether it objects to the count.
   */
  share(ir: string, options?: EmitOptions, lanes?: boolean): string;
}

/** What `mislead` does to the final code. */
const mistakeKinds = [
  "another lane",
  "another slot",
  "stored elsewhere",
  "operands exchanged",
  "destinations exchanged",
  "copied too late",
  "a branch that is not there",
  "a branch to the next block but one",
  "the opposite condition",
  "EXEC that is not restored",
  "the lanes of the other side",
  "EXEC that is not switched",
] as const;
export type Mistake = (typeof mistakeKinds)[number];

/** Sixteen bindings of set 0 and four of set 1 at 16-byte steps; binding 12 of set 0 is an array of 4. */
const bindings = [
  ...Array.from({ length: 12 }, (_, b) => [0, b, b * 16, 16, 1]),
  [0, 12, 192, 16, 4],
  ...Array.from({ length: 4 }, (_, b) => [1, b, b * 16, 16, 1]),
];

/** Newest change of a file below the folder, milliseconds. */
function newest(folder: string): number {
  return Math.max(
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((e) => e.isFile())
      .map((e) => statSync(join(e.parentPath, e.name)).mtimeMs),
  );
}

const out = "dist/test/backend.wasm";
const source = "dist/test/backend.ts";

function isFresh(): boolean {
  const known = existsSync(source) && readFileSync(source, "utf8") === entry;
  return known && existsSync(out) && statSync(out).mtimeMs > newest("assembly");
}

function compile(): void {
  writeFileSync(source, entry);
  const started = new Date();
  const built = spawnSync(
    process.execPath,
    ["node_modules/assemblyscript/bin/asc.js", source, "--target", "checked", "-o", `${out}.new`],
    { encoding: "utf8" },
  );
  if (built.status !== 0) throw new Error(built.stdout + built.stderr);
  utimesSync(`${out}.new`, started, started);
  renameSync(`${out}.new`, out);
}

/** Builds `dist/test/backend.wasm` where it is older than its sources. Of test files that start together one builds. */
function build(): void {
  const lock = "dist/test/backend.lock";
  const pause = new Int32Array(new SharedArrayBuffer(4));
  mkdirSync("dist/test", { recursive: true });
  while (!isFresh()) {
    try {
      mkdirSync(lock);
    } catch {
      // Another process builds; one that died over a minute ago does not.
      if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 60_000)
        rmSync(lock, { recursive: true, force: true });
      Atomics.wait(pause, 0, 0, 100);
      continue;
    }
    try {
      compile();
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
    return;
  }
}

export function loadBackEnd(): BackEnd {
  build();
  const memory = new WebAssembly.Memory({ initial: pages });
  const text = (at: number): string => {
    if (at === 0) return "";
    const length = new Uint32Array(memory.buffer, at - 4, 1)[0] ?? 0;
    return String.fromCharCode(...new Uint16Array(memory.buffer, at, length / 2));
  };
  const abort = (message: number, file: number, line: number, column: number): never => {
    throw new Error(`trap: ${text(message)} at ${text(file)}:${line}:${column}`);
  };
  const module = new WebAssembly.Module(readFileSync(out));
  const exports = new WebAssembly.Instance(module, { env: { memory, abort }, host: { phased: () => undefined } })
    .exports as unknown as Exports;
  const words = new Uint32Array(memory.buffer);

  const prepare = (ir: string, options: EmitOptions): void => {
    const snapshot = encodeSnapshot(parseIr(ir));
    const option = words.subarray(optionsAt / 4);
    option.fill(0, 0, 16);
    option[0] = 1;
    option[3] = options.level ?? 2;
    option[4] = options.robust === false ? 0 : 2;
    option[7] = bindings.length;
    option[8] = snapshot.length;
    words.set(bindings.flat(), bindingsAt / 4);
    words.set(snapshot, wordsAt / 4);
  };
  const fact = (k: number): number => exports.fact(k) >>> 0;
  return {
    emit(ir, options = {}) {
      prepare(ir, options);
      exports.limit(...(options.registers ?? ([108, 256] as const)));
      const status = exports.run();
      if (status !== 0) return { code: status, holes: [1, 2, 3, 4].map((k) => exports.failure(k) >>> 0) };
      const at = fact(0) / 4;
      return {
        code: words.slice(at, at + fact(1)),
        sgprs: fact(2),
        vgprs: fact(3),
        userSgprs: fact(4),
        threadIdComponents: fact(6),
        pushPointer: fact(7) !== 0,
        pushInlined: fact(8),
        scratchBytes: fact(12),
        spilledSgprs: fact(13),
        spilledVgprs: fact(14),
      };
    },
    validate(ir, pokes) {
      prepare(ir, {});
      if (exports.readIr() !== 0) throw new Error("the text does not load");
      for (const { column, row, value } of pokes) exports.poke(columns.indexOf(column), row, value);
      return { rule: exports.brokenRule(), where: exports.brokenWhere() };
    },
    sabotage(ir, seed) {
      prepare(ir, {});
      return exports.sabotage(seed);
    },
    mislead(ir, mistake, options = {}, atMost = 8) {
      const kind = mistakeKinds.indexOf(mistake);
      prepare(ir, options);
      exports.limit(...(options.registers ?? ([108, 256] as const)));
      const count = exports.mistakes(kind);
      if (count < 0) throw new Error(`not right to begin with: ${-count}`);
      const step = Math.max(1, Math.floor(count / atMost));
      const places = Array.from({ length: count }, (_, n) => n).filter((n) => n % step === 0);
      return places.map((n) => exports.misled(kind, n));
    },
    share(ir, options = {}, lanes = false) {
      prepare(ir, options);
      exports.limit(...(options.registers ?? ([108, 256] as const)));
      const outcome = ["accepted", "the count", "another"][exports.share(lanes ? 1 : 0)];
      if (outcome === undefined) throw new Error("there is nothing to share");
      return outcome;
    },
  };
}

/** The result, or an error that says what failed. */
export function emitted(result: Emitted | EmitFailure): Emitted {
  if ("holes" in result) throw new Error(`emit failed: ${result.code} (${result.holes.join(", ")})`);
  return result;
}
