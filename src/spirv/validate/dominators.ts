/** A dominator tree over blocks 0 … n-1 with entry 0. Blocks without a path from the entry have `idom` -1. */
export interface Dominators {
  readonly idom: Int32Array;
  /** Reverse post-order of the reachable blocks. */
  readonly order: Int32Array;
  reachable(block: number): boolean;
  /** True where every path from the entry to `b` goes through `a`; false where either is unreachable. */
  dominates(a: number, b: number): boolean;
}

/** Lists of numbers by block, one behind the other: those of block b are `list[start[b]]` up to `list[start[b + 1]]`. */
interface Lists {
  readonly start: Int32Array;
  readonly list: Int32Array;
}

/** The pairs (owner, value) by owner, in their order. */
function group(n: number, owners: Int32Array, values: Int32Array): Lists {
  const start = new Int32Array(n + 1);
  for (let k = 0; k < owners.length; k++) start[owners[k]! + 1]!++;
  for (let b = 0; b < n; b++) start[b + 1]! += start[b]!;
  const next = start.slice(0, n);
  const list = new Int32Array(owners.length);
  for (let k = 0; k < owners.length; k++) list[next[owners[k]!]!++] = values[k]!;
  return { start, list };
}

/** Walks the lists from block 0, depth first: `entered` and `left` are called in order. No recursion. */
function walk(
  n: number,
  { start, list }: Lists,
  entered: (block: number) => void,
  left: (block: number) => void,
): void {
  const seen = new Uint8Array(n);
  const next = start.slice(0, n);
  const stack = new Int32Array(n);
  let depth = 0;
  stack[depth++] = 0;
  seen[0] = 1;
  entered(0);
  while (depth > 0) {
    const top = stack[depth - 1]!;
    if (next[top]! === start[top + 1]!) {
      left(top);
      depth--;
      continue;
    }
    const target = list[next[top]!++]!;
    if (seen[target] === 1) continue;
    seen[target] = 1;
    entered(target);
    stack[depth++] = target;
  }
}

const nothing = (): void => {};

/**
 * Cooper, Harvey and Kennedy's iteration over reverse post-order; no recursion. O(n · depth) for reducible graphs.
 */
export function dominatorTree(successors: readonly (readonly number[])[]): Dominators {
  const n = successors.length;
  const idom = new Int32Array(n).fill(-1);
  const leave = new Int32Array(n).fill(-1);
  const enter = new Int32Array(n);
  const reachable = (block: number): boolean => leave[block]! >= 0;
  const dominates = (a: number, b: number): boolean =>
    leave[a]! >= 0 && leave[b]! >= 0 && enter[a]! <= enter[b]! && leave[b]! <= leave[a]!;
  if (n === 0) return { idom, order: new Int32Array(0), reachable, dominates };

  let edges = 0;
  for (const targets of successors) edges += targets.length;
  const from = new Int32Array(edges);
  const to = new Int32Array(edges);
  let edge = 0;
  successors.forEach((targets, block) => {
    for (const target of targets) {
      from[edge] = block;
      to[edge++] = target;
    }
  });

  const postOrder = new Int32Array(n);
  let count = 0;
  walk(n, group(n, from, to), nothing, (block) => {
    postOrder[count++] = block;
  });
  const order = postOrder.subarray(0, count).reverse();
  const number = new Int32Array(n).fill(-1);
  for (let i = 0; i < count; i++) number[order[i]!] = i;

  const predecessors = group(n, to, from);
  idom[0] = 0;
  for (let changed = true; changed; ) {
    changed = false;
    for (let i = 1; i < count; i++) {
      const block = order[i]!;
      let best = -1;
      for (let k = predecessors.start[block]!; k < predecessors.start[block + 1]!; k++) {
        let y = predecessors.list[k]!;
        if (idom[y]! < 0) continue;
        while (best >= 0 && best !== y) {
          if (number[best]! > number[y]!) best = idom[best]!;
          else y = idom[y]!;
        }
        best = y;
      }
      if (best !== idom[block]) {
        idom[block] = best;
        changed = true;
      }
    }
  }

  // entry and exit numbers of a walk over the tree answer `dominates` at once
  const inner = order.subarray(1);
  const children = group(
    n,
    inner.map((block) => idom[block]!),
    inner,
  );
  let clock = 0;
  walk(
    n,
    children,
    (block) => {
      enter[block] = clock++;
    },
    (block) => {
      leave[block] = clock++;
    },
  );
  return { idom, order, reachable, dominates };
}
