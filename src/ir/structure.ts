import type { IrNode } from "./shader.ts";

/** A block's place in the tree, for finding the edges. */
interface Place {
  readonly nodes: readonly IrNode[];
  readonly index: number;
}

/**
 * Predecessors of each block in program order, from the structure alone (a loop's back edge last). `jumps[b]` is the op
 * name of the jump that ends block b, if any. Edges of unreachable blocks do not count.
 */
export function structuralPreds(body: readonly IrNode[], jumps: readonly (string | undefined)[]): number[][] {
  const numbers = new Map<IrNode, number>();
  const parents = new Map<readonly IrNode[], { readonly node: IrNode; readonly outer: Place } | undefined>();
  const places: Place[] = [];
  const walk: Place[] = [{ nodes: body, index: 0 }];
  parents.set(body, undefined);
  for (let place = walk.pop(); place !== undefined; place = walk.pop()) {
    const node = place.nodes[place.index];
    if (node === undefined) continue;
    walk.push({ nodes: place.nodes, index: place.index + 1 });
    if (node.kind === "block") {
      numbers.set(node, places.length);
      places.push(place);
      continue;
    }
    const lists = node.kind === "if" ? [node.elseNodes, node.thenNodes] : [node.cont, node.body];
    for (const list of lists) {
      parents.set(list, { node, outer: place });
      walk.push({ nodes: list, index: 0 });
    }
  }
  const first = (list: readonly IrNode[] | undefined): number | undefined => {
    const node = list?.[0];
    return node === undefined ? undefined : numbers.get(node);
  };
  const after = (place: Place): number | undefined => {
    const node = place.nodes[place.index + 1];
    return node === undefined ? undefined : numbers.get(node);
  };
  const preds: number[][] = places.map(() => []);
  places.forEach((place, b) => {
    if (b > 0 && preds[b]?.length === 0) return;
    const edge = (to: number | undefined): void => {
      if (to !== undefined) preds[to]?.push(b);
    };
    const jump = jumps[b];
    if (jump === "break" || jump === "continue") {
      let up = parents.get(place.nodes);
      while (up !== undefined && up.node.kind !== "loop") up = parents.get(up.outer.nodes);
      if (up?.node.kind === "loop") edge(jump === "break" ? after(up.outer) : first(up.node.cont));
      return;
    }
    if (jump !== undefined) return;
    const next = place.nodes[place.index + 1];
    if (next?.kind === "if") {
      edge(first(next.thenNodes));
      edge(first(next.elseNodes));
    } else if (next?.kind === "loop") {
      edge(first(next.body));
    } else {
      const up = parents.get(place.nodes);
      if (up?.node.kind === "if") edge(after(up.outer));
      else if (up?.node.kind === "loop") edge(first(place.nodes === up.node.body ? up.node.cont : up.node.body));
    }
  });
  return preds;
}
