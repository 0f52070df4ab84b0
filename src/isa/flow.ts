import { decode, type Instruction } from "./decode.ts";
import { branchTarget } from "./disassemble.ts";
import { Flag } from "./flags.ts";
import { type RegisterUse, registerUse, vgprBits } from "./register-use.ts";
import { SourceCode } from "./registers.ts";

/** A basic block: bytes [offset, endOffset) from the first word. */
interface FlowBlock {
  readonly offset: number;
  readonly endOffset: number;
}

/** The blocks in the order of the code, and which may run after which, both by their offsets. */
export interface FlowGraph {
  readonly blocks: readonly FlowBlock[];
  readonly edges: readonly { readonly from: number; readonly to: number }[];
}

/** How many registers hold a value that is still needed as the instruction at `offset` starts. */
export interface LiveCount {
  readonly offset: number;
  readonly vgprs: number;
  readonly sgprs: number;
}

interface Step {
  readonly offset: number;
  readonly end: number;
  /** Undefined for a dword that is no instruction of the rows: it is passed over. */
  readonly instruction: Instruction | undefined;
}

interface Block extends FlowBlock {
  readonly steps: readonly Step[];
  readonly next: number[];
}

function stepsOf(words: ArrayLike<number>): Step[] {
  const steps: Step[] = [];
  for (let at = 0; at < words.length; ) {
    const instruction = decode(words, at);
    const end = at + (instruction?.dwords ?? 1);
    if (instruction?.op.name !== "s_code_end") steps.push({ offset: at * 4, end: end * 4, instruction });
    at = end;
  }
  return steps;
}

/** What may run next: what follows it and its target. Where `s_setpc_b64` and its kin go is not known here. */
function successors({ offset, end, instruction }: Step, targetOf: ReadonlyMap<number, number>): number[] {
  if (instruction === undefined) return [end];
  const { name, flags } = instruction.op;
  const target = targetOf.get(offset);
  const next: number[] = [];
  const fallsThrough =
    (flags & Flag.Terminator) === 0 || ((flags & Flag.Branch) !== 0 && !/^s_(branch|setpc)/.test(name));
  if (fallsThrough) next.push(end);
  if (target !== undefined && !next.includes(target)) next.push(target);
  return next;
}

function blocksOf(words: ArrayLike<number>): Map<number, Block> {
  const steps = stepsOf(words);
  const targets = new Map<number, number>();
  const starts = new Set<number>();
  for (const { offset, end, instruction } of steps) {
    if (instruction === undefined || (instruction.op.flags & (Flag.Branch | Flag.Terminator)) === 0) continue;
    starts.add(end);
    const target = branchTarget({ offset, instruction });
    if (target === undefined) continue;
    targets.set(offset, target);
    starts.add(target);
  }
  const groups: Step[][] = [];
  for (const step of steps) {
    if (groups.length === 0 || starts.has(step.offset)) groups.push([]);
    groups.at(-1)!.push(step);
  }
  const heads = new Set(groups.map((group) => group[0]!.offset));
  return new Map(
    groups.map((group) => {
      const last = group.at(-1)!;
      const next = successors(last, targets).filter((offset) => heads.has(offset));
      return [group[0]!.offset, { offset: group[0]!.offset, endOffset: last.end, steps: group, next }];
    }),
  );
}

/** The basic blocks of `words` and the edges between them; `s_code_end` padding is in none. */
export function flowGraph(words: ArrayLike<number>): FlowGraph {
  const blocks = [...blocksOf(words).values()];
  return {
    blocks: blocks.map(({ offset, endOffset }) => ({ offset, endOffset })),
    edges: blocks.flatMap(({ offset, next }) => next.map((to) => ({ from: offset, to }))),
  };
}

/** Live registers: in the lanes of EXEC (and all SGPRs), and in the lanes that are off. */
interface Live {
  here: bigint;
  off: bigint;
}

type ExecChange = "none" | "narrows" | "any";

/** What an instruction does to EXEC: `narrows` only turns lanes off. Source: RDNA2 ISA, SOP1, SOP2 and VOPC chapters. */
function execChange({ op, fields }: Instruction): ExecChange {
  const isExec = (code: number | undefined) => code === SourceCode.execLo;
  if ((op.flags & Flag.WritesExec) !== 0) {
    return /^(v_cmpx|s_and(n1)?_saveexec|s_andn1_wrexec)/.test(op.name) ? "narrows" : "any";
  }
  const writes = op.dst.some((o) => (o.kind === "sgpr" || o.kind === "mask") && o.field && isExec(fields[o.field]));
  if (!writes) return "none";
  if (/^s_and_b/.test(op.name) && (isExec(fields.src0) || isExec(fields.src1))) return "narrows";
  return /^s_andn2_b/.test(op.name) && isExec(fields.src0) ? "narrows" : "any";
}

interface Effect extends RegisterUse {
  readonly exec: ExecChange;
  readonly ignoresExec: boolean;
}

const noEffect: Effect = { reads: 0n, writes: 0n, mayWrite: 0n, exec: "none", ignoresExec: false };

function effectOf({ instruction }: Step): Effect {
  if (instruction === undefined) return noEffect;
  const { reads, writes, mayWrite } = registerUse(instruction);
  const ignoresExec = (instruction.op.flags & Flag.IgnoresExec) !== 0;
  return { reads, writes, mayWrite, exec: execChange(instruction), ignoresExec };
}

/** What is live before, from what is live after. */
function stepBack({ here, off }: Live, { reads, writes, exec, ignoresExec }: Effect): Live {
  if (exec !== "none") {
    here |= off;
    if (exec === "any") off = here & vgprBits;
  }
  here = (here & ~writes) | reads;
  if (ignoresExec) off |= reads & vgprBits;
  return { here, off };
}

/** Live before each block. With `isScalar` a write ends a value in all lanes, whatever EXEC says. */
function liveIn(blocks: ReadonlyMap<number, Block>, effects: ReadonlyMap<Block, Effect[]>, isScalar: boolean) {
  const before = new Map<number, Live>();
  const backwards = [...blocks.values()].reverse();
  for (let changed = true; changed; ) {
    changed = false;
    for (const block of backwards) {
      let live = liveAfter(block, before);
      const old = before.get(block.offset);
      for (const effect of effects.get(block)!.toReversed()) {
        live = stepBack(live, isScalar ? { ...effect, exec: "none" } : effect);
      }
      if (old?.here === live.here && old.off === live.off) continue;
      before.set(block.offset, live);
      changed = true;
    }
  }
  return before;
}

function liveAfter({ next }: Block, before: ReadonlyMap<number, Live>): Live {
  const live = { here: 0n, off: 0n };
  for (const offset of next) {
    const { here, off } = before.get(offset) ?? live;
    live.here |= here;
    live.off |= off;
  }
  return live;
}

/** Registers that may hold a value before each block. */
function definedIn(blocks: ReadonlyMap<number, Block>, effects: ReadonlyMap<Block, Effect[]>, entry: bigint) {
  const before = new Map<number, bigint>([...blocks.keys()].map((offset, i) => [offset, i === 0 ? entry : 0n]));
  for (let changed = true; changed; ) {
    changed = false;
    for (const block of blocks.values()) {
      let defined = before.get(block.offset)!;
      for (const { writes, mayWrite } of effects.get(block)!) defined |= writes | mayWrite;
      for (const offset of block.next) {
        const old = before.get(offset)!;
        if ((old | defined) === old) continue;
        before.set(offset, old | defined);
        changed = true;
      }
    }
  }
  return before;
}

function bitCount(bits: bigint): number {
  let count = 0;
  for (let rest = bits; rest !== 0n; rest >>= 32n) {
    for (let word = Number(rest & 0xffffffffn); word !== 0; word = (word & (word - 1)) >>> 0) count++;
  }
  return count;
}

/** The VGPRs that a wave starts with stand from v0 on: all up to the last that is read before a write. */
function inputsOf({ here }: Live): bigint {
  const highest = (here & vgprBits).toString(2).length;
  return here | (((1n << BigInt(highest)) - 1n) & vgprBits);
}

/**
 * Live registers at each instruction: backward dataflow over the flow graph. VCC, EXEC and M0 are not counted. A write
 * under EXEC ends a VGPR's old value in the lanes that are on; in the others it lives on where lanes may come back
 * before a read. A register that no path has written yet does not live.
 */
export function liveRegisters(words: ArrayLike<number>): readonly LiveCount[] {
  const blocks = blocksOf(words);
  const effects = new Map([...blocks.values()].map((block) => [block, block.steps.map(effectOf)]));
  const atEntry = liveIn(blocks, effects, true).get(0);
  const before = liveIn(blocks, effects, false);
  const definedBefore = definedIn(blocks, effects, atEntry === undefined ? 0n : inputsOf(atEntry));
  const counts: LiveCount[] = [];
  for (const block of blocks.values()) {
    const own = effects.get(block)!;
    let live = liveAfter(block, before);
    const lives = own.toReversed().map((effect) => {
      live = stepBack(live, effect);
      return live.here | live.off;
    });
    let defined = definedBefore.get(block.offset)!;
    lives.reverse().forEach((bits, i) => {
      const counted = bits & defined;
      defined |= own[i]!.writes | own[i]!.mayWrite;
      const { offset } = block.steps[i]!;
      counts.push({ offset, vgprs: bitCount(counted & vgprBits), sgprs: bitCount(counted & ~vgprBits) });
    });
  }
  return counts;
}
