import type { IrInstr, IrNode, IrShader } from "../ir/index.ts";
import type { CoreLinkFacts } from "./interface.ts";

/** Targets of exports from this one on are parameters, by location. */
const firstParameter = 256;

function forEachInstr(nodes: readonly IrNode[], visit: (instr: IrInstr) => void): void {
  const rest = [...nodes].reverse();
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    if (node.kind === "block") for (const instr of node.instrs) visit(instr);
    else if (node.kind === "if") rest.push(...[...node.thenNodes, ...node.elseNodes].reverse());
    else rest.push(...[...node.body, ...node.cont].reverse());
  }
}

/** What a stage exports to the next one, what of that is constant, and what it reads of the one before. */
export function linkFactsOf(shader: IrShader): CoreLinkFacts {
  const constants = new Map<number, number>();
  const written = new Map<number, number | undefined>();
  const read = new Set<number>();
  let value = 0;
  const visit = ({ op, width, imms, srcs }: IrInstr): void => {
    if (op === "const") constants.set(value, imms[0] ?? 0);
    if (width !== 0) value++;
    const [index = 0, second = 0] = imms;
    if (op === "interp" || op === "interp_flat") read.add(4 * index + second);
    if (op !== "export" || index < firstParameter) return;
    let source = 0;
    for (let component = 0; component < 4; component++) {
      if (((second >>> component) & 1) === 0) continue;
      const scalar = 4 * (index - firstParameter) + component;
      const bits = constants.get(srcs[source++] ?? -1);
      written.set(scalar, written.has(scalar) && written.get(scalar) !== bits ? undefined : bits);
    }
  };
  forEachInstr(shader.body, visit);
  const scalars = [...written.keys()].sort((a, b) => a - b);
  const known = scalars.flatMap((scalar) => {
    const bits = written.get(scalar);
    return bits === undefined ? [] : [{ scalar, bits }];
  });
  return { written: scalars, known, read: [...read].sort((a, b) => a - b) };
}
