import { atomicOps, instrFlags, opTable } from "./ops.ts";
import type { IrInstr, IrNode, IrShader } from "./shader.ts";

/** Immediates that are left out where they are 0. */
const defaulted = new Set<string>(["base", "bits", "scope", "storage"]);
const hex = (bits: number): string => `0x${bits.toString(16).padStart(8, "0")}`;

/** `op sources name=immediate… flags`; a `base`, `bits`, `scope` or `storage` of 0 is left out. */
function printInstr(i: IrInstr, value: number): string {
  const row = opTable().byName.get(i.op);
  const width = i.width === 0 ? "" : `%${value}:${i.width}${i.components > 1 ? `x${i.components}` : ""} = `;
  const words = [i.op];
  if (i.op === "const") {
    words.push(i.width === 1 ? (i.imms[0] ? "true" : "false") : hex(i.imms[0] ?? 0));
  } else {
    if (i.srcs.length > 0) words.push(i.srcs.map((s) => `%${s}`).join(", "));
    const named = (row?.imms ?? []).map((name, k) => [name, i.imms[k] ?? 0] as const);
    for (const [name, bits] of named.toSorted((a, b) => (a[0] < b[0] ? -1 : 1))) {
      if (bits !== 0 || !defaulted.has(name)) {
        words.push(`${name}=${name === "atomic" ? (atomicOps[bits] ?? bits) : bits}`);
      }
    }
  }
  instrFlags.forEach((flag, bit) => {
    if ((i.flags >>> bit) & 1) words.push(flag);
  });
  return width + words.join(" ");
}

/** The canonical text; `parseIr` gives the same shader back. */
export function printIr(shader: IrShader): string {
  const head = [`shader ${shader.stage} ${JSON.stringify(shader.name)} wave32 local=${shader.local.join(",")}`];
  if (shader.ldsBytes !== 0) head.push(`lds=${shader.ldsBytes}`);
  if (shader.scratchBytes !== 0) head.push(`scratch=${shader.scratchBytes}`);
  if (shader.table.length > 0) head.push(`table=${shader.table.map(hex).join(",")}`);
  if (shader.vars.length > 0) head.push(`vars=${shader.vars.join(",")}`);
  const lines = [`${head.join(" ")} {`];
  let block = 0;
  let value = 0;
  type Step = { readonly nodes: readonly IrNode[]; at: number; readonly close: string; readonly indent: string };
  const stack: Step[] = [{ nodes: shader.body, at: 0, close: "}", indent: "" }];
  for (let step = stack.at(-1); step !== undefined; step = stack.at(-1)) {
    const node = step.nodes[step.at++];
    const { indent } = step;
    if (node === undefined) {
      stack.pop();
      lines.push(indent.slice(2) + step.close);
    } else if (node.kind === "block") {
      const preds = node.preds.length > 1 ? ` preds ${node.preds.map((p) => `b${p}`).join(" ")}` : "";
      lines.push(`${indent}b${block++}:${preds}`);
      for (const i of node.instrs) {
        lines.push(`${indent}  ${printInstr(i, value)}`);
        if (i.width !== 0) value++;
      }
    } else {
      const isIf = node.kind === "if";
      lines.push(`${indent}${isIf ? `if %${node.condition}` : "loop"}${node.divergent ? " div" : ""} {`);
      const inner = `${indent}  `;
      stack.push({ nodes: isIf ? node.elseNodes : node.cont, at: 0, close: "}", indent: inner });
      stack.push({
        nodes: isIf ? node.thenNodes : node.body,
        at: 0,
        close: isIf ? "} else {" : "} cont {",
        indent: inner,
      });
    }
  }
  return `${lines.join("\n")}\n`;
}
