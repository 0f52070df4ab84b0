/**
 * Structured control flow to branches and EXEC masks. Uniform ifs branch on SCC. A divergent if saves EXEC in an SGPR,
 * narrows it for then, switches it for else, restores it behind; each part may be skipped when no lane takes it. A lane
 * that leaves a loop (or goes to its cont) is taken out of the saved masks of the divergent ifs around the jump, so that
 * restoring them does not wake it. A loop that lanes leave at different times saves EXEC in front of itself; one in which
 * lanes `continue` at different times keeps the lanes that go on in a mask of its own.
 * Edges: `addEdge` where control goes (SGPRs live along these), `addLaneEdge` where a lane goes (VGPRs).
 */
import { Fail, failAt, spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import {
  condition,
  entryBlock,
  ifInstr,
  instrPlace,
  isNodeDivergent,
  isReachable,
  jumpOf,
  Kind,
  kindOf,
  listFirst,
  listLast,
  localSize,
  loopOf,
  nextBlock,
  nextNode,
  nodePlace,
  opOf,
  parentOf,
  sideOf,
  src,
  stage,
  successor0,
  useCount,
} from "../ir/index.ts";
import { buildAt, buildBlock, salu, sopp } from "./build.ts";
import { Record, recordIf, resetRecords } from "./cleanup.ts";
import {
  bDepth,
  bLast,
  mDst0,
  mPrev,
  nodeAnchor,
  nodeContinuing,
  nodeHeader,
  nodeInfo,
  nodeMachine,
  nodeTarget,
} from "./columns.ts";
import { resetConstantTuples } from "./constants.ts";
import { finishExact, meetAgain, startExact } from "./exact.ts";
import { Lanes, setLanes } from "./lanes.ts";
import { makeArguments, startScratch } from "./launch.ts";
import {
  addEdge,
  addLaneEdge,
  Hw,
  hw,
  layOut,
  newBlock,
  newLaneMask,
  noteNest,
  setDeep,
  setMachinePlace,
} from "./machine.ts";
import { Sel, selOf } from "./sel.ts";
import { copyPhis, selectBlock } from "./select.ts";
import { resetAddresses } from "./select-global.ts";
import { conditionInScc, EXEC, maskOf } from "./values.ts";
import { resetWaterfall } from "./waterfall.ts";

// Bits of `nodeInfo`.
/** If: lanes may disagree. */
const DIVERGENT: u32 = 1;
/** If, divergent: a jump to outside stands in then, in else: EXEC may be empty behind it. */
const THEN_JUMPS: u32 = 2;
const ELSE_JUMPS: u32 = 64;
/** Loop: a lane may continue while others don't. */
const DIVERGENT_CONTINUE: u32 = 4;
/** Loop: lanes may leave at different times. */
const DIVERGENT_BREAK: u32 = 8;
/** If, divergent: else comes first in the code, as its jump then needs no mask. THEN_JUMPS and ELSE_JUMPS follow. */
const SWAPPED: u32 = 128;
/** If, loop: every lane of the wave is active in it. */
const FULL: u32 = 256;
/** If, loop: every lane that was launched is active in it. */
const TOP: u32 = 512;
const HAS_BREAK: u32 = 16;
const HAS_CONTINUE: u32 = 32;

const COMPUTE: u32 = 0;
const WAVE_LANES: u32 = 32;

/** So many masks around the place stay in SGPRs; those of what is nested deeper go to lanes of VGPRs at once. */
const MASKS_IN_SGPRS: u32 = 40;
/** Masks of ifs and loops around the place. */
let masks: u32 = 0;

/** A mask of the lanes that come back behind an if or loop, or where a loop goes on. */
function newMask(): u32 {
  const mask = newLaneMask();
  if (++masks > MASKS_IN_SGPRS) setDeep(mask, masks - MASKS_IN_SGPRS - 1);
  return mask;
}

/** Whether the machine block being built can be reached. */
let reachable: bool = true;
let depth: u32 = 0;

function flag(node: u32, bit: u32): bool {
  return (nodeInfo[node] & bit) != 0;
}
function setFlag(node: u32, bit: u32): void {
  nodeInfo[node] = nodeInfo[node] | bit;
}

/** Which list of an if comes first in the code. */
function firstSide(node: u32): u32 {
  return flag(node, SWAPPED) ? 1 : 0;
}

/** Marks ifs and loops with what their jumps need. */
function scanJumps(): void {
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    nodeInfo[b] = 0;
    const next = nextNode(b);
    if (next == 0) continue;
    nodeInfo[next] = 0;
    if (kindOf(next) == Kind.IF && isNodeDivergent(next)) {
      const swapped = jumpOf(listLast(next, 1)) != 0 && jumpOf(listLast(next, 0)) == 0;
      nodeInfo[next] = swapped ? DIVERGENT | SWAPPED : DIVERGENT;
    }
    nodeTarget[next] = 0;
    nodeMachine[next] = 0;
  }
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    const jump = jumpOf(b);
    if (jump == 0) continue;
    const op = opOf(jump);
    let divergent = false;
    let child = b;
    let n = parentOf(b);
    while (n != 0 && (op == Op.END || kindOf(n) != Kind.LOOP)) {
      if (!spend(1)) return;
      if (flag(n, DIVERGENT)) {
        divergent = true;
        setFlag(n, sideOf(child) == firstSide(n) ? THEN_JUMPS : ELSE_JUMPS);
      }
      child = n;
      n = parentOf(n);
    }
    if (op == Op.END) {
      // Lanes that end alone would need a mask for the whole shader; the lifter makes such returns into jumps.
      if (divergent || loopOf(b) != 0) failAt(instrPlace[jump], Fail.BACKEND_UNSUPPORTED, Op.END, 0, 0);
      continue;
    }
    if (n == 0) {
      failAt(instrPlace[jump], Fail.BACKEND_INVALID, 4, op, 0);
      continue;
    }
    setFlag(n, op == Op.BREAK ? HAS_BREAK : HAS_CONTINUE);
    if (divergent) setFlag(n, op == Op.BREAK ? DIVERGENT_BREAK : DIVERGENT_CONTINUE);
  }
}

/** What is known of the lanes that are not active where the node stands. */
function lanesAt(node: u32): Lanes {
  const around = parentOf(node);
  if (around == 0 ? isFull(node) : flag(around, FULL)) return Lanes.ALL;
  return stage() == COMPUTE && (around == 0 || flag(around, TOP)) ? Lanes.OTHERS_EMPTY : Lanes.OTHERS_HELD;
}

/** Every lane of each wave is active where the node stands: whole waves are launched, and none of their lanes is away. */
function isFull(node: u32): bool {
  const around = parentOf(node);
  if (around != 0) return flag(around, FULL);
  return stage() == COMPUTE && (localSize(0) * localSize(1) * localSize(2)) % WAVE_LANES == 0;
}

/** The loop's lanes end up outside at different times: EXEC must be restored behind it. */
function savesExec(loop: u32): bool {
  return flag(loop, DIVERGENT_BREAK) || (flag(loop, DIVERGENT_CONTINUE) && flag(loop, HAS_BREAK));
}

/** Starts machine block `b` behind the current one. */
function startBlock(b: u32): void {
  bDepth[b] = depth;
  layOut(b);
  buildAt(b);
}
/** A block that control falls into; lanes too. */
function fallInto(b: u32): void {
  if (reachable) {
    addEdge(buildBlock(), b);
    addLaneEdge(buildBlock(), b);
  }
  startBlock(b);
}
function branch(op: u32, target: u32): void {
  sopp(op, target);
  addEdge(buildBlock(), target);
}

/** Divergent if around `node` within its loop, 0 for none. */
function enclosingDivergentIf(node: u32): u32 {
  for (let n = parentOf(node); n != 0 && kindOf(n) != Kind.LOOP; n = parentOf(n)) {
    if (flag(n, DIVERGENT) || !spend(1)) return n;
  }
  return 0;
}
/** Which list of the if (or loop) `owner` the node is in, at whatever depth. */
function sideWithin(node: u32, owner: u32): u32 {
  let n = node;
  while (parentOf(n) != owner && spend(1)) n = parentOf(n);
  return sideOf(n);
}

/** Where control goes when no lane is left at `node`: the next place that sets EXEC anew. */
function emptyTarget(node: u32): u32 {
  const outer = enclosingDivergentIf(node);
  if (outer != 0) return sideWithin(node, outer) == firstSide(outer) ? nodeTarget[outer] : nodeMachine[outer];
  const loop = loopOf(node);
  if (loop == 0) return 0;
  return flag(loop, DIVERGENT_CONTINUE) && sideWithin(node, loop) == 0 ? nodeTarget[loop] : nodeMachine[loop];
}

/** All lanes of then jump at its end and none of else does: behind the if EXEC is what else had, and needs no mask. */
function dropsThen(node: u32): bool {
  return jumpOf(listLast(node, firstSide(node))) != 0 && !flag(node, ELSE_JUMPS);
}

/** In the node are the lanes that are where it stands. */
function inherit(node: u32, full: bool): void {
  if (full) setFlag(node, FULL);
  if (parentOf(node) == 0 || flag(parentOf(node), TOP)) setFlag(node, TOP);
}

function enterIf(node: u32): void {
  setMachinePlace(instrPlace[ifInstr(node)]);
  const elseBlock = newBlock();
  const merge = newBlock();
  const then = newBlock();
  nodeTarget[node] = elseBlock;
  nodeMachine[node] = merge;
  const before = buildBlock();
  if (reachable) noteNest(before, then, merge);
  let cond = condition(node);
  const full = isFull(node);
  if (!flag(node, DIVERGENT)) inherit(node, full);
  if (!flag(node, DIVERGENT)) {
    const sense = conditionInScc(cond);
    branch(sense ? Isa.s_cbranch_scc0 : Isa.s_cbranch_scc1, elseBlock);
  } else {
    let inverted = flag(node, SWAPPED);
    let readers: u32 = 0;
    while (opOf(cond) == Op.INOT && selOf(cond) == Sel.LAZY) {
      inverted = !inverted;
      readers = max<u32>(readers, useCount(cond));
      cond = src(cond, 0);
    }
    readers = max<u32>(readers, useCount(cond));
    const mask = maskOf(cond);
    const saved = newMask();
    // Where every lane is active nothing needs to be saved.
    nodeAnchor[node] = full ? hw(Hw.MINUS_ONE, 1) : saved;
    salu(inverted ? Isa.s_andn1_saveexec_b32 : Isa.s_and_saveexec_b32, saved, mask, 0);
    const save = bLast[before];
    const compare = mPrev[save];
    // Only a mask that this if alone reads may vanish into a compare that writes EXEC.
    const single = readers == 1 && opOf(cond) != Op.PHI && compare != 0 && mDst0[compare] == mask;
    const jumps = flag(node, THEN_JUMPS) || flag(node, ELSE_JUMPS);
    recordIf(
      node,
      save,
      (dropsThen(node) ? <u32>Record.DROPS_THEN : 0) | (jumps ? <u32>Record.JUMPS : 0),
      single ? compare : 0,
    );
    branch(Isa.s_cbranch_execz, elseBlock);
  }
  addEdge(before, then);
  addLaneEdge(before, then);
  addLaneEdge(before, elseBlock);
  reachable = true;
  startBlock(then);
}

function endThen(node: u32): void {
  setMachinePlace(instrPlace[ifInstr(node)]);
  const elseBlock = nodeTarget[node];
  const merge = nodeMachine[node];
  const divergent = flag(node, DIVERGENT);
  if (reachable) {
    const last = listLast(node, firstSide(node));
    if (jumpOf(last) == 0) addLaneEdge(buildBlock(), merge);
    if (divergent) addEdge(buildBlock(), elseBlock);
    else branch(Isa.s_branch, merge);
  }
  startBlock(elseBlock);
  reachable = true;
  if (!divergent) return;
  salu(Isa.s_andn2_b32, EXEC, nodeAnchor[node], EXEC);
  branch(Isa.s_cbranch_execz, merge);
  // Else starts in a block of its own, as the switch runs for the lanes of then too.
  const body = newBlock();
  fallInto(body);
}

function endElse(node: u32): void {
  setMachinePlace(instrPlace[ifInstr(node)]);
  const merge = nodeMachine[node];
  const divergent = flag(node, DIVERGENT);
  if (reachable) {
    addEdge(buildBlock(), merge);
    if (jumpOf(listLast(node, 1 - firstSide(node))) == 0) addLaneEdge(buildBlock(), merge);
  }
  startBlock(merge);
  // A uniform if whose sides both jump leaves nothing behind it.
  reachable = divergent || isReachable(nextNode(node));
  if (!divergent) return;
  masks--;
  if (!dropsThen(node)) salu(Isa.s_mov_b32, EXEC, nodeAnchor[node], 0);
  if (!flag(node, THEN_JUMPS) && !flag(node, ELSE_JUMPS)) return;
  const target = emptyTarget(node);
  if (target == 0) return;
  branch(Isa.s_cbranch_execz, target);
  fallInto(newBlock());
}

function enterLoop(node: u32): void {
  setMachinePlace(nodePlace[node]);
  const header = newBlock();
  nodeMachine[node] = newBlock();
  nodeTarget[node] = newBlock();
  nodeHeader[node] = header;
  if (!flag(node, DIVERGENT_BREAK) && !flag(node, DIVERGENT_CONTINUE)) inherit(node, isFull(node));
  if (savesExec(node)) {
    nodeAnchor[node] = newMask();
    salu(Isa.s_mov_b32, nodeAnchor[node], EXEC, 0);
  }
  if (reachable) noteNest(buildBlock(), header, nodeMachine[node]);
  depth++;
  fallInto(header);
  if (flag(node, DIVERGENT_CONTINUE)) {
    nodeContinuing[node] = newMask();
    salu(Isa.s_mov_b32, nodeContinuing[node], EXEC, 0);
  }
}

function endBody(node: u32): void {
  setMachinePlace(nodePlace[node]);
  const cont = nodeTarget[node];
  if (reachable) {
    addEdge(buildBlock(), cont);
    if (jumpOf(listLast(node, 0)) == 0) addLaneEdge(buildBlock(), cont);
  }
  startBlock(cont);
  const first = listFirst(node, 1);
  // With a mask control comes here even when every lane leaves by break.
  reachable = isReachable(first) || flag(node, DIVERGENT_CONTINUE);
  if (!flag(node, DIVERGENT_CONTINUE)) return;
  salu(Isa.s_mov_b32, EXEC, nodeContinuing[node], 0);
  if (!savesExec(node)) return;
  branch(Isa.s_cbranch_execz, nodeMachine[node]);
  fallInto(newBlock());
}

function endLoop(node: u32): void {
  setMachinePlace(nodePlace[node]);
  if (reachable) {
    const header = nodeHeader[node];
    branch(Isa.s_branch, header);
    addLaneEdge(buildBlock(), header);
  }
  depth--;
  if (savesExec(node)) masks--;
  if (flag(node, DIVERGENT_CONTINUE)) masks--;
  startBlock(nodeMachine[node]);
  reachable = isReachable(nextNode(node));
  if (savesExec(node)) salu(Isa.s_mov_b32, EXEC, nodeAnchor[node], 0);
}

/** The jump at the end of IR block `b`; phi copies stand before it. */
function emitJump(b: u32, jump: u32): void {
  setMachinePlace(instrPlace[jump]);
  if (opOf(jump) == Op.END) {
    sopp(Isa.s_endpgm, 0);
    reachable = false;
    return;
  }
  const breaks = opOf(jump) == Op.BREAK;
  const loop = loopOf(b);
  const destination = breaks ? nodeMachine[loop] : nodeTarget[loop];
  addLaneEdge(buildBlock(), destination);
  const inner = enclosingDivergentIf(b);
  // In cont the lanes that went on are all awake again.
  const masked = flag(loop, DIVERGENT_CONTINUE) && sideWithin(b, loop) == 0;
  if (breaks && masked) salu(Isa.s_andn2_b32, nodeContinuing[loop], nodeContinuing[loop], EXEC);
  if (inner == 0) {
    // All active lanes go. Those that continued before wait at cont when the loop has a mask.
    branch(Isa.s_branch, masked ? nodeTarget[loop] : destination);
    reachable = false;
    return;
  }
  const direct = parentOf(b) == inner;
  for (let n = inner; n != 0; n = enclosingDivergentIf(n)) {
    if (n == inner && direct && sideOf(b) == firstSide(n) && dropsThen(n)) continue;
    salu(Isa.s_andn2_b32, nodeAnchor[n], nodeAnchor[n], EXEC);
  }
  if (direct) return;
  branch(Isa.s_branch, sideWithin(b, inner) == firstSide(inner) ? nodeTarget[inner] : nodeMachine[inner]);
  reachable = false;
}

/** Instructions of IR block `b`, phi copies for its successor, its jump. */
function emitBlock(b: u32): void {
  if (reachable && isReachable(b)) meetAgain(b);
  nodeMachine[b] = buildBlock();
  if (!reachable || (!isReachable(b) && b != entryBlock())) {
    nodeAnchor[b] = bLast[buildBlock()];
    return;
  }
  if (b == entryBlock()) {
    makeArguments();
    startExact();
    startScratch();
  }
  nodeAnchor[b] = bLast[buildBlock()];
  setLanes(lanesAt(b));
  selectBlock(b);
  const next = nextNode(b);
  if (next == 0 || kindOf(next) != Kind.IF) {
    const s = successor0(b);
    if (s != 0) copyPhis(b, s);
  }
  const jump = jumpOf(b);
  if (jump != 0) emitJump(b, jump);
}

/** Machine code of the whole tree: an explicit walk, whatever the depth. */
export function selectFunction(): void {
  scanJumps();
  resetRecords();
  resetWaterfall();
  resetConstantTuples();
  resetAddresses();
  depth = 0;
  masks = 0;
  reachable = true;
  startBlock(newBlock());
  let n = listFirst(0, 0);
  while (n != 0) {
    if (!spend(4)) return;
    const kind = kindOf(n);
    if (kind == Kind.BLOCK) {
      emitBlock(n);
    } else if (kind == Kind.IF) {
      enterIf(n);
      n = listFirst(n, firstSide(n));
      continue;
    } else {
      enterLoop(n);
      n = listFirst(n, 0);
      continue;
    }
    let next = nextNode(n);
    while (next == 0) {
      const owner = parentOf(n);
      if (owner == 0) break;
      const first = firstSide(owner);
      if (sideOf(n) == first) {
        if (kindOf(owner) == Kind.IF) endThen(owner);
        else endBody(owner);
        next = listFirst(owner, 1 - first);
      } else {
        if (kindOf(owner) == Kind.IF) endElse(owner);
        else endLoop(owner);
        n = owner;
        next = nextNode(owner);
      }
    }
    n = next;
  }
  finishExact();
}
