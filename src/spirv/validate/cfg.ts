import { Op } from "../enums.ts";
import { forEachId } from "../functions.ts";
import { type Instruction, type Module, operand } from "../module.ts";
import type { Reports } from "../reports.ts";
import { type Dominators, dominatorTree } from "./dominators.ts";
import type { Block, FunctionBody, Structure } from "./structure.ts";

/** Nesting of constructs that is accepted: universal limit of the specification. */
const maxNesting = 1023;

/** A construct of structured control flow that a block lies in; the chain goes outwards. */
interface Construct {
  readonly kind: "selection" | "switch" | "loop" | "continue";
  readonly header: number;
  readonly merge: number;
  /** Continue target of loops. */
  readonly target: number;
  readonly depth: number;
  readonly outer: Construct | undefined;
}

/** Checks branches, merges, structure, phis and dominance of every function, and that no call leads back to itself. */
export function checkControlFlow(module: Module, structure: Structure, reports: Reports): void {
  const homes = new Int32Array(module.bound);
  for (const body of structure.functions) {
    if (reports.full) return;
    new FunctionFlow(module, body, reports, homes).check();
  }
  checkRecursion(structure, module, reports);
}

class FunctionFlow {
  readonly #module: Module;
  readonly #body: FunctionBody;
  readonly #blocks: readonly Block[];
  readonly #reports: Reports;
  /** By id: the block that defines it; 0 for the first one and for what no block defines. */
  readonly #homes: Int32Array;

  constructor(module: Module, body: FunctionBody, reports: Reports, homes: Int32Array) {
    this.#module = module;
    this.#body = body;
    this.#blocks = body.blocks;
    this.#reports = reports;
    this.#homes = homes;
  }

  check(): void {
    const before = this.#reports.diagnostics.length;
    const successors = this.#blocks.map((block) => this.#targets(block));
    this.#checkMerges();
    if (this.#reports.diagnostics.length > before) return;
    // one block: its order was checked with the ids
    if (this.#blocks.length === 1) return;
    const flow = dominatorTree(successors);
    this.#checkPhis(successors);
    this.#checkDominance(flow);
    if (this.#reports.diagnostics.length > before) return;
    this.#checkStructure(successors, flow);
  }

  #complain(instruction: Instruction, rule: string): void {
    this.#reports.rule("SPIRV_CFG", instruction, rule);
  }

  /** Block indices that a block branches to, each once. */
  #targets({ terminator }: Block): readonly number[] {
    const { opcode, first } = terminator;
    const { words } = this.#module;
    const targets: number[] = [];
    if (opcode === Op.OpBranch) this.#target(terminator, words[first]!, targets);
    else if (opcode === Op.OpBranchConditional) {
      this.#target(terminator, words[first + 1]!, targets);
      if (words[first + 2] !== words[first + 1]) this.#target(terminator, words[first + 2]!, targets);
    } else if (opcode === Op.OpSwitch) {
      const labels = new Set<number>();
      forEachId(this.#module, terminator, (id, at) => {
        if (at !== first) labels.add(id);
      });
      for (const label of labels) this.#target(terminator, label, targets);
    }
    return targets;
  }

  #target(terminator: Instruction, label: number, targets: number[]): void {
    const index = this.#body.blockOf.get(label);
    if (index === undefined) this.#complain(terminator, `%${label} is no block of this function`);
    else if (index === 0) this.#complain(terminator, "branches to the function's first block");
    else targets.push(index);
  }

  #checkMerges(): void {
    const merges = new Set<number>();
    this.#blocks.forEach((block, header) => {
      const merge = block.merge;
      if (merge === undefined) {
        if (block.terminator.opcode === Op.OpSwitch)
          this.#complain(block.terminator, "needs an OpSelectionMerge before it");
        return;
      }
      const target = this.#body.blockOf.get(operand(this.#module, merge, 0));
      if (target === undefined || target === 0 || target === header) {
        this.#complain(merge, "merge block is no other block of this function");
        return;
      }
      if (merges.has(target)) this.#complain(merge, "merge block belongs to another header already");
      merges.add(target);
      if (merge.opcode !== Op.OpLoopMerge) return;
      const next = this.#body.blockOf.get(operand(this.#module, merge, 1));
      if (next === undefined || next === 0) this.#complain(merge, "continue target is no block of this function");
      else if (next === target) this.#complain(merge, "merge block and continue target are the same");
    });
  }

  #checkPhis(successors: readonly (readonly number[])[]): void {
    let predecessors: number[][] | undefined;
    this.#blocks.forEach((block, index) => {
      for (const phi of block.instructions) {
        if (phi.opcode !== Op.OpPhi) {
          // phis come first
          if (phi.opcode === Op.OpLine || phi.opcode === Op.OpNoLine) continue;
          break;
        }
        predecessors ??= this.#predecessors(successors);
        const parents = new Set<number>();
        for (let at = phi.first + 1; at < phi.end; at += 2) parents.add(this.#module.words[at]!);
        const wanted = predecessors[index]!;
        const exact = parents.size === (phi.end - phi.first) / 2 && parents.size === wanted.length;
        if (!exact || wanted.some((p) => !parents.has(p))) this.#complain(phi, "must name each predecessor block once");
      }
    });
  }

  /** Labels of the blocks that branch to each block. */
  #predecessors(successors: readonly (readonly number[])[]): number[][] {
    const predecessors = this.#blocks.map((): number[] => []);
    successors.forEach((targets, from) => {
      for (const to of targets) predecessors[to]!.push(this.#blocks[from]!.label.result);
    });
    return predecessors;
  }

  /** Every use in a reachable block is dominated by its definition; a phi's use happens at the end of its parent. */
  #checkDominance(flow: Dominators): void {
    // what stands in the first block is there for all others
    const home = this.#homes;
    this.#blocks.forEach((block, index) => {
      if (index === 0) return;
      for (const instruction of block.instructions) if (instruction.result !== 0) home[instruction.result] = index;
    });
    this.#blocks.forEach((block, index) => {
      if (index === 0 || !flow.reachable(index)) return;
      for (const instruction of block.instructions) this.#checkUses(instruction, index, flow);
      this.#checkUses(block.terminator, index, flow);
    });
  }

  #checkUses(instruction: Instruction, index: number, flow: Dominators): void {
    const { words, ids } = this.#module;
    const phi = instruction.opcode === Op.OpPhi;
    const last = ids.start[instruction.index + 1]!;
    for (let k = ids.start[instruction.index]!; k < last; k++) {
      const at = ids.at[k]!;
      const from = this.#homes[words[at]!]!;
      if (from === 0) continue;
      const user = phi ? this.#body.blockOf.get(words[at + 1]!)! : index;
      if (user === from || !flow.reachable(user) || flow.dominates(from, user)) continue;
      this.#complain(instruction, `%${words[at]} is not defined on every path to its use`);
    }
  }

  #checkStructure(successors: readonly (readonly number[])[], flow: Dominators): void {
    const merge = this.#blocks.map((b) =>
      b.merge === undefined ? -1 : this.#body.blockOf.get(operand(this.#module, b.merge, 0))!,
    );
    const target = this.#blocks.map((b) =>
      b.merge?.opcode === Op.OpLoopMerge ? this.#body.blockOf.get(operand(this.#module, b.merge, 1))! : -1,
    );
    // structural dominance: a header also leads to its merge block and its continue target
    const structural = dominatorTree(
      successors.map((targets, i) => [
        ...targets,
        ...(merge[i]! < 0 ? [] : [merge[i]!]),
        ...(target[i]! < 0 ? [] : [target[i]!]),
      ]),
    );
    const chains: (Construct | undefined)[] = new Array(this.#blocks.length).fill(undefined);
    const ends = new Map<number, { header: number; kind: "merge" | "continue" }>();
    for (const header of structural.order) {
      const block = this.#blocks[header]!;
      if (block.merge === undefined) continue;
      if (!structural.dominates(header, merge[header]!)) {
        this.#complain(block.merge, "merge block can be reached without its header");
        return;
      }
      if (target[header]! >= 0) {
        if (!structural.dominates(header, target[header]!)) {
          this.#complain(block.merge, "continue target can be reached without its header");
          return;
        }
        if (target[header] !== header) {
          if (ends.has(target[header]!)) {
            this.#complain(block.merge, "continue target belongs to another construct already");
            return;
          }
          ends.set(target[header]!, { header, kind: "continue" });
        }
      }
    }
    for (const header of structural.order) {
      if (merge[header]! < 0) continue;
      if (ends.has(merge[header]!)) {
        this.#complain(this.#blocks[header]!.merge!, "merge block is the continue target of a loop");
        return;
      }
      ends.set(merge[header]!, { header, kind: "merge" });
    }
    // a parent in the tree comes before its children in reverse post-order
    for (const index of structural.order) {
      if (!this.#chain(index, structural, ends, merge, target, chains)) return;
    }
    this.#checkBackEdges(successors, structural, target);
    for (const index of structural.order) {
      // what no path reaches has no edges that matter, but its own shape was checked above
      if (!flow.reachable(index)) continue;
      for (const to of successors[index]!) this.#checkEdge(index, to, chains, structural);
      this.#checkSelection(index, successors[index]!, chains);
    }
    if (this.#blocks.some((block) => block.terminator.opcode === Op.OpSwitch)) {
      this.#checkFallThrough(successors, structural, flow);
    }
  }

  /** Works out the constructs that hold a block. False after a complaint. */
  #chain(
    index: number,
    tree: Dominators,
    ends: ReadonlyMap<number, { header: number; kind: "merge" | "continue" }>,
    merge: readonly number[],
    target: readonly number[],
    chains: (Construct | undefined)[],
  ): boolean {
    let chain = index === 0 ? undefined : chains[tree.idom[index]!];
    const end = ends.get(index);
    if (end !== undefined) {
      // leave everything up to the construct that ends here
      while (chain !== undefined && chain.header !== end.header) chain = chain.outer;
      const left = chain;
      if (left === undefined) {
        this.#complain(this.#blocks[end.header]!.merge!, "its construct ends outside itself");
        return false;
      }
      chain = left.outer;
      if (end.kind === "continue") {
        chain = {
          kind: "continue",
          header: left.header,
          merge: left.merge,
          target: left.target,
          depth: left.depth,
          outer: chain,
        };
      }
    }
    const block = this.#blocks[index]!;
    if (block.merge !== undefined) {
      const loop = block.merge.opcode === Op.OpLoopMerge;
      const single = loop && target[index] === index;
      const kind = single
        ? "continue"
        : loop
          ? "loop"
          : block.terminator.opcode === Op.OpSwitch
            ? "switch"
            : "selection";
      const depth = (chain?.depth ?? 0) + 1;
      if (depth > maxNesting) {
        this.#complain(block.merge, `nests deeper than ${maxNesting}`);
        return false;
      }
      chain = { kind, header: index, merge: merge[index]!, target: target[index]!, depth, outer: chain };
    }
    chains[index] = chain;
    return true;
  }

  #checkBackEdges(successors: readonly (readonly number[])[], tree: Dominators, target: readonly number[]): void {
    const place = new Int32Array(this.#blocks.length).fill(-1);
    tree.order.forEach((block, i) => {
      place[block] = i;
    });
    const count = new Map<number, number>();
    for (const from of tree.order) {
      for (const to of successors[from]!) {
        if (place[to]! > place[from]!) continue;
        const { terminator } = this.#blocks[from]!;
        if (target[to]! < 0) this.#complain(terminator, "goes back to a block that is no loop header");
        else if (!tree.dominates(to, from)) this.#complain(terminator, "enters a loop from outside by a back edge");
        else if (!tree.dominates(target[to]!, from))
          this.#complain(terminator, "goes back to the header from outside the continue construct");
        count.set(to, (count.get(to) ?? 0) + 1);
      }
    }
    for (const header of tree.order) {
      if (target[header]! < 0 || count.get(header) === 1) continue;
      this.#complain(this.#blocks[header]!.merge!, `loop header has ${count.get(header) ?? 0} back edges, needs 1`);
    }
  }

  #contains(construct: Construct, chain: Construct | undefined): boolean {
    let at = chain;
    while (at !== undefined && at.depth > construct.depth) at = at.outer;
    return at === construct;
  }

  #checkEdge(from: number, to: number, chains: readonly (Construct | undefined)[], tree: Dominators): void {
    const { terminator } = this.#blocks[from]!;
    // a construct is entered at its first block
    for (let c = chains[to]; c !== undefined && c !== chains[from] && !this.#contains(c, chains[from]); c = c.outer) {
      if (to === c.header || (c.kind === "continue" && to === c.target)) continue;
      this.#complain(terminator, "enters a construct other than by its header");
      return;
    }
    let passed = false;
    let passedSwitch = false;
    for (let c = chains[from]; c !== undefined; c = c.outer) {
      if (to === c.merge) {
        const legal = !passed || c.kind === "loop" || c.kind === "continue" || (c.kind === "switch" && !passedSwitch);
        if (!legal) this.#complain(terminator, "leaves a selection other than by its merge block");
        return;
      }
      if (c.kind === "loop" && to === c.target) return;
      if (c.kind === "continue" && to === c.header) {
        if (passed) this.#complain(terminator, "goes back from inside a nested construct");
        return;
      }
      if (this.#contains(c, chains[to]) || (to === c.header && tree.dominates(c.header, from))) {
        if (passed) this.#complain(terminator, "leaves a selection other than by its merge block");
        return;
      }
      if (c.kind === "loop" || c.kind === "continue") {
        this.#complain(terminator, "leaves a loop other than by its merge block or continue target");
        return;
      }
      if (c.kind === "switch") passedSwitch = true;
      passed = true;
    }
    if (passed) this.#complain(terminator, "leaves a selection other than by its merge block");
  }

  /** A two-way branch without a merge may only have one way that stays inside its construct. */
  #checkSelection(index: number, targets: readonly number[], chains: readonly (Construct | undefined)[]): void {
    const block = this.#blocks[index]!;
    if (block.terminator.opcode !== Op.OpBranchConditional || block.merge !== undefined || targets.length < 2) return;
    const exits = new Set<number>();
    let inSwitch = false;
    for (let c = chains[index]; c !== undefined; c = c.outer) {
      if (c.kind === "selection") {
        if (c === chains[index]) exits.add(c.merge);
        continue;
      }
      if (c.kind === "switch") {
        if (!inSwitch) {
          exits.add(c.merge);
          forEachId(this.#module, this.#blocks[c.header]!.terminator, (id) => {
            const target = this.#body.blockOf.get(id);
            if (target !== undefined) exits.add(target);
          });
        }
        inSwitch = true;
        continue;
      }
      exits.add(c.merge);
      exits.add(c.kind === "loop" ? c.target : c.header);
      break;
    }
    if (targets.filter((t) => !exits.has(t)).length > 1)
      this.#complain(block.terminator, "a selection needs an OpSelectionMerge");
  }

  /** A case may only run into the next one of the list, and only one case may run into it. */
  #checkFallThrough(successors: readonly (readonly number[])[], tree: Dominators, flow: Dominators): void {
    // case target → its switches; per switch the place of each target in the list, -1 for the default
    const switches = new Map<number, number[]>();
    const places = new Map<number, Map<number, number>>();
    this.#blocks.forEach((block, header) => {
      const { terminator } = block;
      if (terminator.opcode !== Op.OpSwitch) return;
      const order = new Map<number, number>();
      const merge = this.#body.blockOf.get(operand(this.#module, block.merge!, 0));
      let place = 0;
      forEachId(this.#module, terminator, (id, at) => {
        const target = this.#body.blockOf.get(id);
        if (at === terminator.first || target === undefined || target === merge || order.has(target)) return;
        order.set(target, at === terminator.first + 1 ? -1 : place++);
        switches.set(target, [...(switches.get(target) ?? []), header]);
      });
      places.set(header, order);
    });
    const into = new Map<string, number>();
    const outOf = new Map<string, number>();
    for (const from of tree.order) {
      if (!flow.reachable(from)) continue;
      for (const to of successors[from]!) {
        for (const header of switches.get(to) ?? []) {
          const order = places.get(header)!;
          const own = caseOf(from, header, order, tree);
          if (own === undefined || own === to) continue;
          const { terminator } = this.#blocks[from]!;
          const [ownPlace, place] = [order.get(own)!, order.get(to)!];
          if ((into.get(`${header} ${to}`) ?? own) !== own)
            this.#complain(terminator, "a second case falls into this one");
          if ((outOf.get(`${header} ${own}`) ?? to) !== to) this.#complain(terminator, "a case falls into two others");
          if (ownPlace >= 0 && place >= 0 && place !== ownPlace + 1) {
            this.#complain(terminator, "a case may only fall into the next one");
          }
          into.set(`${header} ${to}`, own);
          outOf.set(`${header} ${own}`, to);
        }
      }
    }
  }
}

/** The case target of the switch at `header` that dominates `block` most closely; undefined outside its cases. */
function caseOf(
  block: number,
  header: number,
  cases: ReadonlyMap<number, number>,
  tree: Dominators,
): number | undefined {
  if (block === header || !tree.dominates(header, block)) return undefined;
  for (let at = block; at !== header; at = tree.idom[at]!) if (cases.has(at)) return at;
  return undefined;
}

/** No call may lead back to its own function. */
function checkRecursion(structure: Structure, module: Module, reports: Reports): void {
  const calls = new Map<number, { id: number; at: Instruction }[]>();
  for (const body of structure.functions) {
    const list: { id: number; at: Instruction }[] = [];
    for (const block of body.blocks) {
      for (const instruction of block.instructions) {
        if (instruction.opcode === Op.OpFunctionCall)
          list.push({ id: operand(module, instruction, 0), at: instruction });
      }
    }
    calls.set(body.fn.result, list);
  }
  // 1: on the path, 2: done
  const state = new Map<number, 1 | 2>();
  for (const root of calls.keys()) {
    if (state.has(root)) continue;
    const stack = [{ id: root, next: 0 }];
    state.set(root, 1);
    while (stack.length > 0) {
      const top = stack[stack.length - 1]!;
      const call = calls.get(top.id)?.[top.next++];
      if (call === undefined) {
        state.set(top.id, 2);
        stack.pop();
      } else if (state.get(call.id) === 1) {
        reports.rule("SPIRV_CFG", call.at, "recursion is not allowed");
        return;
      } else if (!state.has(call.id)) {
        state.set(call.id, 1);
        stack.push({ id: call.id, next: 0 });
      }
    }
  }
}
