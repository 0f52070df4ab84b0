/**
 * `npx tsx bench/twin.ts [--words N]`: the pass opt-dce as plain TypeScript beside the core's in WebAssembly: the same
 * algorithm (marks from effects backwards, a stack, arrays by value) on the same IR, outputs compared as text. Least wall
 * microseconds of many runs, warm; the core's figure is that of its own report.
 */
import { createCore } from "../src/core/index.ts";
import {
  type IrInstr,
  type IrNode,
  type IrShader,
  instrFlags,
  OpFlag,
  opRows,
  parseIr,
  printIr,
} from "../src/ir/index.ts";
import { wordsOf } from "./words.ts";

/** The shader with its instructions in columns: one list in program order, a list of uses for each value. Number 0 is none. */
interface Columns {
  readonly count: number;
  /** 1: nothing can be removed of it. */
  readonly root: Uint8Array;
  readonly next: Int32Array;
  readonly prev: Int32Array;
  readonly slotStart: Int32Array;
  readonly slotCount: Int32Array;
  readonly uses: Int32Array;
  readonly useCount: Int32Array;
  readonly slotValue: Int32Array;
  readonly slotNext: Int32Array;
  readonly slotPrev: Int32Array;
  /** Instructions that ifs test. */
  readonly conditions: Int32Array;
}

const flagsOfOp = new Map(opRows.map((row) => [row.name, row.flags]));
const volatileBit = 1 << instrFlags.indexOf("volatile");

function isRemovable({ op, flags }: IrInstr): boolean {
  const row = flagsOfOp.get(op) ?? 0;
  if ((row & (OpFlag.Pure | OpFlag.Wave)) !== 0) return true;
  return (row & OpFlag.Reads) !== 0 && (flags & volatileBit) === 0;
}

/** Blocks and ifs in program order, by one visit each. */
function eachNode(nodes: readonly IrNode[], visit: (node: IrNode) => void): void {
  for (const node of nodes) {
    visit(node);
    if (node.kind === "if") {
      eachNode(node.thenNodes, visit);
      eachNode(node.elseNodes, visit);
    } else if (node.kind === "loop") {
      eachNode(node.body, visit);
      eachNode(node.cont, visit);
    }
  }
}

function columnsOf(shader: IrShader): Columns {
  const instrs: IrInstr[] = [];
  const tested: number[] = [];
  eachNode(shader.body, (node) => {
    if (node.kind === "block") instrs.push(...node.instrs);
    else if (node.kind === "if") tested.push(node.condition);
  });
  const maker: number[] = [];
  instrs.forEach((instr, k) => {
    if (instr.width !== 0) maker.push(k + 1);
  });
  const column = (size: number) => new Int32Array(size + 2);
  const count = instrs.length;
  const slots = instrs.reduce((sum, { srcs }) => sum + srcs.length, 0);
  const columns: Columns = {
    count,
    root: Uint8Array.from([1, ...instrs.map((instr) => (isRemovable(instr) ? 0 : 1))]),
    next: column(count).map((_, k) => (k < count ? k + 1 : 0)),
    prev: column(count).map((_, k) => (k > 0 ? k - 1 : 0)),
    slotStart: column(count),
    slotCount: column(count),
    uses: column(count),
    useCount: column(count),
    slotValue: column(slots),
    slotNext: column(slots),
    slotPrev: column(slots),
    conditions: Int32Array.from(tested, (value) => maker[value] as number),
  };
  let slot = 1;
  instrs.forEach(({ srcs }, k) => {
    columns.slotStart[k + 1] = slot;
    columns.slotCount[k + 1] = srcs.length;
    for (const value of srcs) {
      const made = maker[value] as number;
      const head = columns.uses[made] as number;
      columns.slotValue[slot] = made;
      columns.slotNext[slot] = head;
      if (head !== 0) columns.slotPrev[head] = slot;
      columns.uses[made] = slot++;
      columns.useCount[made] = (columns.useCount[made] as number) + 1;
    }
  });
  return columns;
}

const copyOf = (c: Columns): Columns => ({
  count: c.count,
  root: c.root,
  next: c.next.slice(),
  prev: c.prev.slice(),
  slotStart: c.slotStart,
  slotCount: c.slotCount.slice(),
  uses: c.uses.slice(),
  useCount: c.useCount.slice(),
  slotValue: c.slotValue.slice(),
  slotNext: c.slotNext.slice(),
  slotPrev: c.slotPrev.slice(),
  conditions: c.conditions,
});

function clearSources(c: Columns, i: number): void {
  const start = c.slotStart[i] as number;
  const end = start + (c.slotCount[i] as number);
  for (let slot = start; slot < end; slot++) {
    const value = c.slotValue[slot] as number;
    const next = c.slotNext[slot] as number;
    const prev = c.slotPrev[slot] as number;
    if (prev !== 0) c.slotNext[prev] = next;
    else c.uses[value] = next;
    if (next !== 0) c.slotPrev[next] = prev;
    c.useCount[value] = (c.useCount[value] as number) - 1;
    c.slotValue[slot] = 0;
  }
  c.slotCount[i] = 0;
}

/** The pass: lists without what is dead, 1 in `live` for each instruction that stays. */
function deadCode(c: Columns, live: Uint8Array, stack: Int32Array): void {
  let top = 0;
  for (let i = 1; i !== 0; i = c.next[i] as number) {
    live[i] = c.root[i] as number;
    if (live[i] === 1) stack[top++] = i;
  }
  for (let k = 0; k < c.conditions.length; k++) {
    const i = c.conditions[k] as number;
    if (live[i] === 1) continue;
    live[i] = 1;
    stack[top++] = i;
  }
  while (top > 0) {
    const i = stack[--top] as number;
    const start = c.slotStart[i] as number;
    const end = start + (c.slotCount[i] as number);
    for (let slot = start; slot < end; slot++) {
      const j = c.slotValue[slot] as number;
      if (live[j] === 1) continue;
      live[j] = 1;
      stack[top++] = j;
    }
  }
  for (let i = 1; i !== 0; i = c.next[i] as number) {
    if (live[i] === 1) continue;
    clearSources(c, i);
    stack[top++] = i;
  }
  while (top > 0) {
    const i = stack[--top] as number;
    const next = c.next[i] as number;
    const prev = c.prev[i] as number;
    c.next[prev] = next;
    c.prev[next] = prev;
  }
}

/** The shader without what is not live, values numbered anew. */
function without(shader: IrShader, live: Uint8Array): IrShader {
  const renumbered: number[] = [];
  let at = 1;
  let next = 0;
  eachNode(shader.body, (node) => {
    if (node.kind !== "block") return;
    for (const { width } of node.instrs) {
      const stays = live[at++] === 1;
      if (width !== 0) renumbered.push(stays ? next++ : -1);
    }
  });
  at = 1;
  const rebuild = (nodes: readonly IrNode[]): IrNode[] =>
    nodes.map((node): IrNode => {
      if (node.kind === "block") {
        const instrs = node.instrs
          .filter(() => live[at++] === 1)
          .map((instr) => ({ ...instr, srcs: instr.srcs.map((value) => renumbered[value] as number) }));
        return { ...node, instrs };
      }
      if (node.kind === "loop") return { ...node, body: rebuild(node.body), cont: rebuild(node.cont) };
      const condition = renumbered[node.condition] as number;
      return { ...node, condition, thenNodes: rebuild(node.thenNodes), elseNodes: rebuild(node.elseNodes) };
    });
  return { ...shader, body: rebuild(shader.body) };
}

const at = process.argv.indexOf("--words");
const lines = Math.ceil(Number(at < 0 ? 20_000 : process.argv[at + 1]) / 40);
const body = Array.from({ length: lines }, (_, k) =>
  k % 8 === 0
    ? `  if (v > ${k}u) { uint dead${k} = v * w; v += dead${k} >> 32u - 32u; }`
    : `  uint unused${k} = (v + ${k}u) * w; v = (v ^ w) * ${2 * k + 3}u; w += v >> ${k % 31}u;`,
);
const source = `#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer B { uint x[]; };
void main() { uint i = gl_GlobalInvocationID.x; uint v = x[i]; uint w = i;
${body.join("\n")}
  x[i] = v + w; }`;

const words = wordsOf(source, "twin.comp");
const core = await createCore();

/** Passes of level 0, where opt-dce runs once. */
function passesOf(dumpAfter: readonly string[]) {
  const result = core.compile({
    words,
    stage: "compute",
    entryPoint: "main",
    specialization: [],
    bindings: [{ set: 0, binding: 0, offsetBytes: 0, strideBytes: 16, count: 1 }],
    optimization: 0,
    contraction: true,
    robust: true,
    dumpAfter,
  });
  if (!result.ok) throw new Error(result.failures[0]?.message);
  return result.output.passes;
}

const dumped = passesOf(["all"]);
const place = dumped.findIndex(({ name }) => name === "opt-dce");
const before = parseIr(dumped[place - 1]?.ir ?? "");
const columns = columnsOf(before);
const live = new Uint8Array(columns.count + 1);
const stack = new Int32Array(columns.count + 1);
let twin = Number.POSITIVE_INFINITY;
let wasm = Number.POSITIVE_INFINITY;
for (let run = 0; run < 200; run++) {
  const copy = copyOf(columns);
  const start = performance.now();
  deadCode(copy, live, stack);
  twin = Math.min(twin, (performance.now() - start) * 1000);
  wasm = Math.min(wasm, passesOf([])[place]?.microseconds ?? Number.POSITIVE_INFINITY);
}
const same = printIr(without(before, live)) === dumped[place]?.ir;
const removed = columns.count - live.subarray(1).reduce((sum, one) => sum + one, 0);
console.log(`opt-dce, ${columns.count} instructions, ${removed} removed, outputs ${same ? "equal" : "DIFFER"}`);
console.log(
  `TypeScript ${twin.toFixed(1)} us, WebAssembly ${wasm.toFixed(1)} us: ${(twin / wasm).toFixed(2)} times as fast`,
);
if (!same) process.exitCode = 1;
