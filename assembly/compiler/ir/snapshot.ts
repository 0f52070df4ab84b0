/**
 * The flat form of the IR that `src/ir` reads and writes. Words, in order:
 * magic, version, stage, local size x y z, LDS bytes, scratch bytes, name length in bytes, name (4 bytes a word), number of variables,
 * a width each; then the tree in program order:
 * 1 block: number of predecessors, their block numbers, number of instructions, the instructions;
 * 2 if: condition, divergent; 3 else; 4 end of if; 5 loop: divergent; 6 cont; 7 end of loop; 0 end.
 * Instruction: head (op, width << 16, components << 24), flags, sources << 8 | immediates, immediates, sources.
 * Blocks and values are numbered in program order from 0; values are the instructions with a result.
 */
import { Fail, fail, failed, spend, U32Column } from "../../base/index.ts";
import { Op, opImms } from "../../gen/ir-ops.ts";
import { MAX_WORDS, Option, option, out, words } from "../io.ts";
import { PASS_BASE } from "../memory-map.ts";
import { poolConstant } from "./builder.ts";
import { instrHead, instrScratch, MAX_INSTRS, nodeScratch, tableWord, varWidth } from "./columns.ts";
import {
  addSrc,
  firstInstr,
  flagsOf,
  imm,
  insertInstr,
  newInstr,
  nextInstr,
  opOf,
  setFlags,
  setImm,
  setSrc,
  src,
  srcCount,
  widthOf,
} from "./instr.ts";
import {
  addPred,
  appendBlock,
  appendIf,
  appendLoop,
  condition,
  entryBlock,
  ifInstr,
  isNodeDivergent,
  Kind,
  kindOf,
  listFirst,
  nextBlock,
  nextNode,
  parentOf,
  pred,
  predCount,
  setNodeDivergent,
  sideOf,
} from "./nodes.ts";
import {
  addTableWord,
  ldsBytes,
  localSize,
  nameBytes,
  newVar,
  privateBytes,
  resetShader,
  setLdsBytes,
  setLocalSize,
  setPrivateBytes,
  setShaderNameLength,
  setStage,
  shaderNameLength,
  stage,
  tableWords,
  varCount,
} from "./shader.ts";

const SNAPSHOT_MAGIC: u32 = 0x3152_494b;
const SNAPSHOT_VERSION: u32 = 3;

/** Gives values and blocks their numbers, in `instrScratch` and `nodeScratch`. */
function number(): void {
  let value: u32 = 0;
  let block: u32 = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    nodeScratch[b] = block++;
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) {
      if (widthOf(i) != 0) instrScratch[i] = value++;
    }
  }
}

function writeInstr(i: u32): void {
  const immCount = opImms(opOf(i));
  const sources = srcCount(i);
  out(instrHead[i]);
  out(flagsOf(i));
  out((sources << 8) | immCount);
  for (let k: u32 = 0; k < immCount; k++) out(imm(i, k));
  for (let k: u32 = 0; k < sources; k++) out(instrScratch[src(i, k)]);
}

function writeBlock(b: u32): void {
  out(1);
  const preds = predCount(b);
  out(preds);
  for (let k: u32 = 0; k < preds; k++) out(nodeScratch[pred(b, k)]);
  let count: u32 = 0;
  for (let i = firstInstr(b); i != 0; i = nextInstr(i)) count++;
  out(count);
  for (let i = firstInstr(b); i != 0; i = nextInstr(i)) writeInstr(i);
}

/** Appends the snapshot to the output block. Uses the scratch columns. */
export function writeSnapshot(): void {
  number();
  out(SNAPSHOT_MAGIC);
  out(SNAPSHOT_VERSION);
  out(stage());
  for (let d: u32 = 0; d < 3; d++) out(localSize(d));
  out(ldsBytes());
  out(privateBytes());
  const length = shaderNameLength();
  out(length);
  for (let k: u32 = 0; k < length; k += 4) {
    let word: u32 = 0;
    for (let j: u32 = 0; j < 4 && k + j < length; j++) word |= nameBytes[k + j] << (8 * j);
    out(word);
  }
  out(tableWords());
  for (let k: u32 = 0; k < tableWords(); k++) out(tableWord[k]);
  out(varCount());
  for (let v: u32 = 0; v < varCount(); v++) out(varWidth[v]);
  let n = entryBlock();
  while (n != 0 && !failed()) {
    const kind = kindOf(n);
    if (kind == Kind.IF) {
      out(2);
      out(instrScratch[condition(n)]);
      out(isNodeDivergent(n) ? 1 : 0);
      n = listFirst(n, 0);
      continue;
    }
    if (kind == Kind.LOOP) {
      out(5);
      out(isNodeDivergent(n) ? 1 : 0);
      n = listFirst(n, 0);
      continue;
    }
    writeBlock(n);
    let next = nextNode(n);
    // At the end of a list: close lists until one goes on.
    while (next == 0) {
      const owner = parentOf(n);
      if (owner == 0) break;
      const isIf = kindOf(owner) == Kind.IF;
      if (sideOf(n) == 0) {
        out(isIf ? 3 : 6);
        next = listFirst(owner, 1);
      } else {
        out(isIf ? 4 : 7);
        n = owner;
        next = nextNode(owner);
      }
    }
    n = next;
  }
  out(0);
}

/** Instructions in the order read, values by number, blocks by number. */
const readOrder = changetype<U32Column>(PASS_BASE);
const values = changetype<U32Column>(PASS_BASE + ((<usize>MAX_INSTRS) << 2));
const blocks = changetype<U32Column>(PASS_BASE + 2 * ((<usize>MAX_INSTRS) << 2));

let at: u32 = 0;

function take(): u32 {
  if (at >= option(Option.WORD_COUNT) || at >= MAX_WORDS) {
    fail(Fail.MALFORMED, 0, at, 0);
    return 0;
  }
  return words[at++];
}

/** Replaces the shader by the snapshot in `words`. A bad one fails with MALFORMED. */
export function readSnapshot(): void {
  resetShader();
  at = 0;
  if (take() != SNAPSHOT_MAGIC || take() != SNAPSHOT_VERSION) {
    fail(Fail.MALFORMED, 0, 0, 0);
    return;
  }
  setStage(take());
  const x = take();
  const y = take();
  setLocalSize(x, y, take());
  setLdsBytes(take());
  setPrivateBytes(take());
  const length = take();
  if (length > 1024) {
    fail(Fail.MALFORMED, 0, at, 0);
    return;
  }
  setShaderNameLength(length);
  for (let k: u32 = 0; k < length; k += 4) {
    const word = take();
    for (let j: u32 = 0; j < 4 && k + j < length; j++) nameBytes[k + j] = (word >> (8 * j)) & 0xff;
  }
  const tables = take();
  for (let k: u32 = 0; k < tables && !failed(); k++) addTableWord(take());
  const variables = take();
  for (let v: u32 = 0; v < variables && !failed(); v++) newVar(take());
  const tree = at;
  readTree();
  if (failed()) return;
  at = tree;
  readSources();
}

let instrs: u32 = 0;
let valueCount: u32 = 0;
let blockCount: u32 = 0;

/** Makes nodes and instructions without sources. */
function readTree(): void {
  instrs = 0;
  valueCount = 0;
  blockCount = 0;
  let owner: u32 = 0;
  let side: u32 = 0;
  let leading = true;
  while (!failed()) {
    const token = take();
    if (token == 0) break;
    if (!spend(1)) return;
    if (token == 1) {
      const b = appendBlock(owner, side);
      blocks[blockCount++] = b;
      const preds = take();
      at += preds;
      const count = take();
      for (let k: u32 = 0; k < count && !failed(); k++) {
        const head = take();
        const flags = take();
        const counts = take();
        const i = newInstr(head & 0xffff, (head >> 16) & 0xff, head >> 24, 0);
        if (opOf(i) == 0 || opOf(i) >= <u32>Op.COUNT || (counts & 0xff) != opImms(opOf(i))) {
          fail(Fail.MALFORMED, 0, at, 0);
          return;
        }
        setFlags(i, flags);
        insertInstr(i, b, 0);
        for (let m: u32 = 0; m < (counts & 0xff); m++) setImm(i, m, take());
        if (blockCount == 1 && leading && opOf(i) == Op.CONST) poolConstant(i);
        else leading = false;
        at += counts >> 8;
        readOrder[instrs++] = i;
        if (widthOf(i) != 0) values[valueCount++] = i;
      }
    } else if (token == 2) {
      take();
      owner = appendIf(owner, side, 0);
      side = 0;
      setNodeDivergent(owner, take() != 0);
    } else if (token == 5) {
      owner = appendLoop(owner, side);
      side = 0;
      setNodeDivergent(owner, take() != 0);
    } else if ((token == 3 || token == 6) && side == 0 && owner != 0) {
      side = 1;
    } else if ((token == 4 || token == 7) && side == 1) {
      side = sideOf(owner);
      owner = parentOf(owner);
    } else {
      fail(Fail.MALFORMED, 0, at, 0);
    }
  }
  if (owner != 0) fail(Fail.MALFORMED, 0, at, 0);
}

function valueAt(index: u32): u32 {
  if (index < valueCount) return values[index];
  fail(Fail.MALFORMED, 0, at, 0);
  return 0;
}

/** Second walk: predecessors, sources, conditions. */
function readSources(): void {
  let next: u32 = 0;
  let block: u32 = 0;
  let node = entryBlock();
  while (!failed()) {
    const token = take();
    if (token == 0) return;
    if (token == 1) {
      const preds = take();
      for (let k: u32 = 0; k < preds && !failed(); k++) {
        const from = take();
        if (from >= blockCount) fail(Fail.MALFORMED, 0, at, 0);
        else addPred(blocks[block], blocks[from]);
      }
      node = blocks[block++];
      const count = take();
      for (let k: u32 = 0; k < count && !failed(); k++) {
        at += 2;
        const counts = take();
        at += counts & 0xff;
        const i = readOrder[next++];
        for (let m: u32 = 0; m < counts >> 8 && !failed(); m++) addSrc(i, valueAt(take()));
      }
    } else if (token == 2) {
      node = nextNode(node);
      const cond = valueAt(take());
      take();
      if (kindOf(node) != Kind.IF) fail(Fail.MALFORMED, 0, at, 0);
      else setSrc(ifInstr(node), 0, cond);
    } else if (token == 5) {
      take();
    }
  }
}
