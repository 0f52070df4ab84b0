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
import { allocate, limitRegisters } from "../../assembly/compiler/backend/allocate.ts";
import { checkAllocation } from "../../assembly/compiler/backend/check.ts";
import { codeWords, lineOffset, linePlace, vLeader, vReg } from "../../assembly/compiler/backend/columns.ts";
import { codeLength, emit, inlinedPushDwords, lineRows, scratchBytes, setBits, spilledSgprs, spilledVgprs, threadComponents, usedSgprs, usedVgprs, userSgprs, usesPushPointer } from "../../assembly/compiler/backend/index.ts";
import { leaderOf } from "../../assembly/compiler/backend/coalesce.ts";
import { vregClass, vregs, vregSize } from "../../assembly/compiler/backend/machine.ts";
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
/** Allocates, then gives a register that another one of its class has, chosen by \`seed\`; 1 when the check finds it, 2 when it made no difference. */
export function sabotage(seed: u32): i32 {
  if (!start()) return -1;
  select(false);
  if (!allocate(false)) return -3;
  checkAllocation();
  if (failureCode() != 0) return -2;
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
  checkAllocation();
  return failureCode() != 0 ? 1 : 2;
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
const pages = 0x2000;

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
}

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
  const exports = new WebAssembly.Instance(module, { env: { memory, abort } }).exports as unknown as Exports;
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
  };
}

/** The result, or an error that says what failed. */
export function emitted(result: Emitted | EmitFailure): Emitted {
  if ("holes" in result) throw new Error(`emit failed: ${result.code} (${result.holes.join(", ")})`);
  return result;
}
