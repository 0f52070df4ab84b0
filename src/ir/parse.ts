import { atomicOps, type ImmName, instrFlags, opTable } from "./ops.ts";
import { type IrInstr, type IrNode, type IrShader, irStages } from "./shader.ts";
import { structuralPreds } from "./structure.ts";

/** IR text that does not parse: `line` counts from 1. */
export class IrSyntaxError extends Error {
  override readonly name = "IrSyntaxError";
  readonly line: number;
  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`);
    this.line = line;
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Names = Map<string, number>;
interface PendingInstr {
  readonly instr: Mutable<IrInstr>;
  readonly names: readonly string[];
  readonly line: number;
}
interface PendingBlock {
  readonly block: { kind: "block"; preds: number[]; instrs: Mutable<IrInstr>[] };
  readonly preds: readonly string[] | undefined;
  readonly line: number;
}

function unsigned(text: string, line: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < -0x80000000 || value > 0xffffffff) {
    throw new IrSyntaxError(line, `${text} is no 32-bit number`);
  }
  return value >>> 0;
}

const instrPattern = /^(?:%(\w+):(\d+)(?:x(\d+))? = )?(\w+)(.*)$/;

/** One instruction line; its sources stay names until all values are known. */
function parseInstr(text: string, line: number): PendingInstr & { readonly value: string | undefined } {
  const match = instrPattern.exec(text);
  const row = match === null ? undefined : opTable().byName.get(match[4] ?? "");
  if (match === null || row === undefined) throw new IrSyntaxError(line, `no instruction: ${text}`);
  const [, value, width = "0", components = "1", , rest = ""] = match;
  const imms = new Map<ImmName, number>();
  const names: string[] = [];
  let flags = 0;
  for (const word of rest.split(/[\s,]+/).filter((w) => w !== "")) {
    const equals = word.indexOf("=");
    const flag = (instrFlags as readonly string[]).indexOf(word);
    if (word.startsWith("%")) names.push(word.slice(1));
    else if (equals > 0) {
      const name = row.imms.find((n) => n === word.slice(0, equals));
      if (name === undefined) throw new IrSyntaxError(line, `${row.name} has no ${word.slice(0, equals)}`);
      const bits = word.slice(equals + 1);
      const atomic = name === "atomic" ? (atomicOps as readonly string[]).indexOf(bits) : -1;
      imms.set(name, atomic >= 0 ? atomic : unsigned(bits, line));
    } else if (row.name === "const")
      imms.set("value", word === "true" ? 1 : word === "false" ? 0 : unsigned(word, line));
    else if (flag >= 0) flags |= 1 << flag;
    else throw new IrSyntaxError(line, `unknown word ${word}`);
  }
  const instr = {
    op: row.name,
    width: Number(width),
    components: value === undefined ? 0 : Number(components),
    flags,
    imms: row.imms.map((name) => imms.get(name) ?? 0),
    srcs: [],
  };
  return { instr, names, line, value };
}

const headPattern =
  /^shader (\w+) ("(?:[^"\\]|\\.)*") wave32 local=(\d+),(\d+),(\d+)(?: lds=(\d+))?(?: scratch=(\d+))?(?: table=([\da-fx,]+))?(?: vars=([\d,]+))? \{$/;

/** Parses canonical text, and text whose value and block names are any words; predecessors default to program order. */
export function parseIr(text: string): IrShader {
  const lines = text.split("\n").map((l) => l.replace(/;.*$/, "").trim());
  const start = lines.findIndex((l) => l !== "");
  const head = headPattern.exec(lines[start] ?? "");
  if (head === null) throw new IrSyntaxError(start + 1, 'expected: shader STAGE "NAME" wave32 local=X,Y,Z {');
  const stage = irStages.find((s) => s === head[1]);
  if (stage === undefined) throw new IrSyntaxError(start + 1, `unknown stage ${head[1]}`);

  const body: IrNode[] = [];
  const values: Names = new Map();
  const blockNames: Names = new Map();
  const blocks: PendingBlock[] = [];
  const pending: PendingInstr[] = [];
  const conditions: {
    readonly node: Mutable<IrNode & { kind: "if" }>;
    readonly name: string;
    readonly line: number;
  }[] = [];
  const stack: {
    readonly list: IrNode[];
    readonly second: IrNode[];
    readonly word: string;
    readonly outer: IrNode[];
  }[] = [];
  let list = body;
  let block: PendingBlock | undefined;
  let closed = false;
  let count = 0;

  for (let n = start + 1; n < lines.length; n++) {
    const at = n + 1;
    const line = lines[n] ?? "";
    if (line === "") continue;
    if (closed) throw new IrSyntaxError(at, "text after the shader");
    const label = /^(\w+):(?: preds((?: \w+)+))?$/.exec(line);
    const open = /^(?:if %(\w+)|loop)( div)? \{$/.exec(line);
    const top = stack.at(-1);
    if (label !== null) {
      block = { block: { kind: "block", preds: [], instrs: [] }, preds: label[2]?.trim().split(" "), line: at };
      blockNames.set(label[1] ?? "", blocks.length);
      blocks.push(block);
      list.push(block.block);
    } else if (open !== null) {
      const first: IrNode[] = [];
      const second: IrNode[] = [];
      const divergent = open[2] !== undefined;
      if (open[1] !== undefined) {
        const node = { kind: "if" as const, condition: 0, divergent, thenNodes: first, elseNodes: second };
        conditions.push({ node, name: open[1], line: at });
        list.push(node);
      } else {
        list.push({ kind: "loop", divergent, body: first, cont: second });
      }
      stack.push({ list: first, second, word: open[1] === undefined ? "} cont {" : "} else {", outer: list });
      list = first;
      block = undefined;
    } else if (top !== undefined && list === top.list && line === top.word) {
      list = top.second;
      block = undefined;
    } else if (line === "}" && (top === undefined || list === top.second)) {
      stack.pop();
      if (top === undefined) closed = true;
      else list = top.outer;
      block = undefined;
    } else {
      const parsed = parseInstr(line, at);
      if (block === undefined) throw new IrSyntaxError(at, "instruction outside a block");
      block.block.instrs.push(parsed.instr);
      pending.push(parsed);
      if (parsed.value !== undefined) values.set(parsed.value, count++);
    }
  }
  if (!closed) throw new IrSyntaxError(lines.length, "the shader is not closed");

  const numberOf = (name: string, line: number): number => {
    const value = values.get(name);
    if (value === undefined) throw new IrSyntaxError(line, `no value %${name}`);
    return value;
  };
  for (const p of pending) p.instr.srcs = p.names.map((name) => numberOf(name, p.line));
  for (const c of conditions) c.node.condition = numberOf(c.name, c.line);
  const jumpOps = new Set(["break", "continue", "end"]);
  const derived = structuralPreds(
    body,
    blocks.map((b) => [b.block.instrs.at(-1)?.op].find((op) => op !== undefined && jumpOps.has(op))),
  );
  blocks.forEach((b, i) => {
    const given = b.preds?.map((name) => blockNames.get(name) ?? -1);
    const wanted = derived[i] ?? [];
    if (given !== undefined && given.toSorted().join() !== wanted.toSorted().join()) {
      throw new IrSyntaxError(b.line, `predecessors must be ${wanted.map((p) => `b${p}`).join(" ")} in some order`);
    }
    b.block.preds = given ?? wanted;
  });
  const local = [Number(head[3]), Number(head[4]), Number(head[5])] as const;
  const table = head[8]?.split(",").map(Number) ?? [];
  const vars = head[9]?.split(",").map(Number) ?? [];
  const name = JSON.parse(head[2] ?? '""') as string;
  return { stage, name, local, ldsBytes: Number(head[6] ?? 0), scratchBytes: Number(head[7] ?? 0), table, vars, body };
}
