/**
 * Dominators from the structure: in tree order all predecessors of a block but a loop's back edge come first, and a
 * header is dominated by the block before its loop. One pass; `dominates` is O(1) by preorder intervals.
 */

import { Op } from "../../gen/ir-ops.ts";
import { nodeIdom, nodeOrder, nodePre, nodeScratch, nodeSize } from "./columns.ts";
import { blockOf, opOf, sourceIndex, userOf } from "./instr.ts";
import {
  entryBlock,
  ifNodeOf,
  isReachable,
  lastBlock,
  nextBlock,
  pred,
  predCount,
  prevBlock,
  prevNode,
  treeIsRead,
  treeIsSame,
} from "./nodes.ts";

/** The block in which a use reads: a phi's at the end of the predecessor, a condition's before its if. */
export function useBlock(slot: u32): u32 {
  const user = userOf(slot);
  const op = opOf(user);
  if (op == Op.IF) return prevNode(ifNodeOf(user));
  return op == Op.PHI ? pred(blockOf(user), sourceIndex(slot)) : blockOf(user);
}

/** Fills nodeOrder, nodeIdom, nodePre, nodeSize of all reachable blocks, where the tree has changed; uses nodeScratch. */
export function computeDominance(): void {
  if (treeIsSame()) return;
  treeIsRead();
  let order: u32 = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) nodeScratch[b] = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    nodeOrder[b] = order++;
    nodeIdom[b] = 0;
    nodeSize[b] = 1;
    let dom: u32 = 0;
    // The last one first: of the ways out of a loop it is the deepest, and the walk up from there meets the others.
    for (let k = predCount(b); k > 0; k--) {
      const p = pred(b, k - 1);
      // A back edge comes from a block whose number is not given yet or is not smaller.
      if (!numberedBefore(p, b)) continue;
      dom = dom == 0 ? p : commonDominator(dom, p);
    }
    nodeIdom[b] = dom;
    nodeScratch[b] = b;
  }
  for (let b = lastBlock(); b != 0; b = prevBlock(b)) {
    if (nodeIdom[b] != 0) nodeSize[nodeIdom[b]] = nodeSize[nodeIdom[b]] + nodeSize[b];
  }
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    const dom = nodeIdom[b];
    if (dom == 0) {
      nodePre[b] = isReachable(b) ? 0 : 0xffff_ffff;
      nodeScratch[b] = 1;
      continue;
    }
    nodePre[b] = nodeScratch[dom];
    nodeScratch[dom] = nodeScratch[dom] + nodeSize[b];
    nodeScratch[b] = nodePre[b] + 1;
  }
}

/** nodeScratch[p] = p marks the blocks that this run has numbered. */
function numberedBefore(p: u32, b: u32): bool {
  return p != b && nodeScratch[p] == p && nodeOrder[p] < nodeOrder[b];
}

/** The deepest block that dominates both. Both reachable; `computeDominance` is fresh. */
export function commonDominator(a: u32, b: u32): u32 {
  let x = a;
  let y = b;
  while (x != y) {
    if (nodeOrder[x] > nodeOrder[y]) x = nodeIdom[x];
    else y = nodeIdom[y];
    if (x == 0 || y == 0) return entryBlock();
  }
  return x;
}

/** True when each path to b passes through a (a dominates itself). Both reachable; `computeDominance` is fresh. */
export function dominates(a: u32, b: u32): bool {
  return nodePre[b] - nodePre[a] < nodeSize[a];
}
