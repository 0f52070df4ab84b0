import { Bug } from "../base/index.ts";
import { opTable } from "./ops.ts";
import { type IrInstr, type IrNode, type IrShader, irStages } from "./shader.ts";

const magic = 0x3152494b;
const version = 3;

class WordReader {
  at = 0;
  readonly words: Uint32Array;
  constructor(words: Uint32Array) {
    this.words = words;
  }
  take(): number {
    const word = this.words[this.at++];
    if (word === undefined) throw new Bug("IR snapshot ends early");
    return word;
  }
  list(count: number): number[] {
    return Array.from({ length: count }, () => this.take());
  }
}

function readInstr(r: WordReader): IrInstr {
  const head = r.take();
  const flags = r.take();
  const counts = r.take();
  const row = opTable().rows[(head & 0xffff) - 1];
  if (row === undefined) throw new Bug(`IR snapshot: op ${head & 0xffff}`);
  const imms = r.list(counts & 0xff);
  const srcs = r.list(counts >>> 8);
  return { op: row.name, width: (head >>> 16) & 0xff, components: head >>> 24, flags, imms, srcs };
}

interface Open {
  readonly kind: "if" | "loop";
  readonly condition: number;
  readonly divergent: boolean;
  readonly outer: IrNode[];
  first: IrNode[] | undefined;
}

/** Decodes the words of the core's snapshot (layout: `assembly/compiler/ir/snapshot.ts`). Throws `Bug` on a bad one. */
export function decodeSnapshot(words: Uint32Array): IrShader {
  const r = new WordReader(words);
  if (r.take() !== magic || r.take() !== version) throw new Bug("not an IR snapshot of version 3");
  const stage = irStages[r.take()] ?? "compute";
  const local = [r.take(), r.take(), r.take()] as const;
  const ldsBytes = r.take();
  const scratchBytes = r.take();
  const length = r.take();
  const name = new TextDecoder().decode(new Uint8Array(new Uint32Array(r.list((length + 3) >>> 2)).buffer, 0, length));
  const table = r.list(r.take());
  const vars = r.list(r.take());
  const body: IrNode[] = [];
  let list = body;
  const stack: Open[] = [];
  for (let token = r.take(); token !== 0; token = r.take()) {
    if (token === 1) {
      const preds = r.list(r.take());
      const instrs = Array.from({ length: r.take() }, () => readInstr(r));
      list.push({ kind: "block", preds, instrs });
    } else if (token === 2 || token === 5) {
      const condition = token === 2 ? r.take() : 0;
      stack.push({
        kind: token === 2 ? "if" : "loop",
        condition,
        divergent: r.take() !== 0,
        outer: list,
        first: undefined,
      });
      list = [];
    } else {
      const open = stack.at(-1);
      if (open === undefined) throw new Bug("IR snapshot: unbalanced tree");
      if (token === 3 || token === 6) {
        open.first = list;
        list = [];
        continue;
      }
      stack.pop();
      const { condition, divergent, outer, first = [] } = open;
      if (open.kind === "if") outer.push({ kind: "if", condition, divergent, thenNodes: first, elseNodes: list });
      else outer.push({ kind: "loop", divergent, body: first, cont: list });
      list = outer;
    }
  }
  return { stage, name, local, ldsBytes, scratchBytes, table, vars, body };
}

/** The words of a shader: the inverse of `decodeSnapshot`. */
export function encodeSnapshot(shader: IrShader): Uint32Array {
  const name = new TextEncoder().encode(shader.name);
  const nameWords = new Uint32Array((name.length + 3) >>> 2);
  new Uint8Array(nameWords.buffer).set(name);
  const words: number[] = [magic, version, irStages.indexOf(shader.stage), ...shader.local];
  words.push(shader.ldsBytes, shader.scratchBytes);
  words.push(name.length, ...nameWords, shader.table.length, ...shader.table, shader.vars.length, ...shader.vars);
  type Step = { readonly nodes: readonly IrNode[]; at: number; readonly end: number };
  const stack: Step[] = [{ nodes: shader.body, at: 0, end: 0 }];
  for (let step = stack.at(-1); step !== undefined; step = stack.at(-1)) {
    const node = step.nodes[step.at++];
    if (node === undefined) {
      words.push(step.end);
      stack.pop();
    } else if (node.kind === "block") {
      words.push(1, node.preds.length, ...node.preds, node.instrs.length);
      for (const i of node.instrs) {
        const number = opTable().numbers.get(i.op);
        if (number === undefined) throw new Bug(`no IR op ${i.op}`);
        words.push((number | (i.width << 16) | (i.components << 24)) >>> 0, i.flags);
        words.push((i.srcs.length << 8) | i.imms.length, ...i.imms, ...i.srcs);
      }
    } else if (node.kind === "if") {
      words.push(2, node.condition, node.divergent ? 1 : 0);
      stack.push({ nodes: node.elseNodes, at: 0, end: 4 }, { nodes: node.thenNodes, at: 0, end: 3 });
    } else {
      words.push(5, node.divergent ? 1 : 0);
      stack.push({ nodes: node.cont, at: 0, end: 7 }, { nodes: node.body, at: 0, end: 6 });
    }
  }
  return Uint32Array.from(words);
}
