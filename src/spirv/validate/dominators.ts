/** A dominator tree over blocks 0 … n-1 with entry 0. Blocks without a path from the entry have `idom` -1. */
export interface Dominators {
  readonly idom: Int32Array;
  /** Reverse post-order of the reachable blocks. */
  readonly order: readonly number[];
  reachable(block: number): boolean;
  /** True where every path from the entry to `b` goes through `a`; false where either is unreachable. */
  dominates(a: number, b: number): boolean;
}

/**
 * Cooper, Harvey and Kennedy's iteration over reverse post-order; no recursion. O(n · depth) for reducible graphs.
 */
export function dominatorTree(successors: readonly (readonly number[])[]): Dominators {
  const n = successors.length;
  const idom = new Int32Array(n).fill(-1);
  const number = new Int32Array(n).fill(-1);
  const postOrder: number[] = [];
  const predecessors: number[][] = Array.from({ length: n }, () => []);
  const seen = new Uint8Array(n);
  const stack: { block: number; next: number }[] = [];
  if (n > 0) {
    stack.push({ block: 0, next: 0 });
    seen[0] = 1;
  }
  while (stack.length > 0) {
    const top = stack[stack.length - 1]!;
    const target = successors[top.block]![top.next++];
    if (target === undefined) {
      postOrder.push(top.block);
      stack.pop();
      continue;
    }
    predecessors[target]!.push(top.block);
    if (seen[target]) continue;
    seen[target] = 1;
    stack.push({ block: target, next: 0 });
  }
  const order = postOrder.slice().reverse();
  for (let i = 0; i < order.length; i++) number[order[i]!] = i;

  const meet = (a: number, b: number): number => {
    let [x, y] = [a, b];
    while (x !== y) {
      while (number[x]! > number[y]!) x = idom[x]!;
      while (number[y]! > number[x]!) y = idom[y]!;
    }
    return x;
  };
  if (n > 0) idom[0] = 0;
  for (let changed = true; changed; ) {
    changed = false;
    for (const block of order) {
      if (block === 0) continue;
      let best = -1;
      for (const p of predecessors[block]!) {
        if (idom[p]! < 0) continue;
        best = best < 0 ? p : meet(best, p);
      }
      if (best !== idom[block]) {
        idom[block] = best;
        changed = true;
      }
    }
  }

  // entry and exit numbers of a walk over the tree answer `dominates` at once
  const enter = new Int32Array(n);
  const leave = new Int32Array(n).fill(-1);
  const children: number[][] = Array.from({ length: n }, () => []);
  for (const block of order) if (block !== 0) children[idom[block]!]!.push(block);
  let clock = 0;
  const walk: { block: number; next: number }[] = n > 0 ? [{ block: 0, next: 0 }] : [];
  if (n > 0) enter[0] = clock++;
  while (walk.length > 0) {
    const top = walk[walk.length - 1]!;
    const child = children[top.block]![top.next++];
    if (child === undefined) {
      leave[top.block] = clock++;
      walk.pop();
      continue;
    }
    enter[child] = clock++;
    walk.push({ block: child, next: 0 });
  }
  return {
    idom,
    order,
    reachable: (block) => leave[block]! >= 0,
    dominates: (a, b) => leave[a]! >= 0 && leave[b]! >= 0 && enter[a]! <= enter[b]! && leave[b]! <= leave[a]!,
  };
}
