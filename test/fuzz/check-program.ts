import { defaultRequest } from "../../src/codeobj/index.ts";
import type { CoreTools } from "../../src/core/index.ts";
import { KernelRun } from "../conformance/aco-run.ts";
import { type Compiled, compiled } from "../conformance/levels.ts";
import { distance, interpret } from "../conformance/middle.ts";
import { generate, INVOCATIONS, type Program, type Statement, sourceOf, WORDS } from "./programs.ts";

const levels = [0, 1, 2] as const;
const sizes = [4 * WORDS * INVOCATIONS, 4 * WORDS * INVOCATIONS, 16];

/** What a program came to: good, not run by somebody (too long), or what is wrong. */
export interface Verdict {
  readonly kind: "good" | "left" | "wrong";
  readonly why: string;
}

/** Compiles a shader at each level and runs the codes and the IR that was not optimised over the same memory. */
function checkSource(source: string, core: CoreTools): Verdict {
  const all: Compiled[] = [];
  for (const optimization of levels) {
    const options = { ...defaultRequest.options, optimization };
    const request = { ...defaultRequest, language: "glsl", source, stage: "compute", options } as const;
    try {
      const made = compiled(request, core, optimization === 0);
      if (typeof made === "string") return { kind: "wrong", why: `level ${optimization}: ${made}` };
      all.push(made);
    } catch (error) {
      return { kind: "wrong", why: `level ${optimization}: ${error instanceof Error ? error.message : String(error)}` };
    }
  }
  const results = [];
  let start: KernelRun["start"] | undefined;
  for (const { entry, words } of all) {
    const run = new KernelRun(entry, { groups: [1, 1, 1], fill: "small integers", sizes });
    results.push(run.run(words));
    start = run.start;
  }
  const middle = interpret(all[0]!.lifted, start!, "small integers", {
    groups: [1, 1, 1],
    threads: [INVOCATIONS, 1, 1],
  });
  const late = results.indexOf("runs too long");
  if (late >= 0) return { kind: "left", why: `level ${late} runs too long` };
  if (typeof middle === "string") return { kind: "left", why: `the interpreter: ${middle}` };
  for (const [level, result] of results.entries()) {
    if (typeof result === "string") return { kind: "wrong", why: `level ${level}: ${result}` };
    const { kind, where } = distance(middle, result);
    if (kind !== "same") return { kind: "wrong", why: `lifted IR and level ${level}: ${where}` };
  }
  return { kind: "good", why: "" };
}

/** Lists with one part left out, or one part replaced by what is inside it, or a smaller one. */
function* smaller(list: readonly Statement[]): Generator<readonly Statement[]> {
  for (let size = list.length; size >= 1; size = size >> 1) {
    for (let k = 0; k + size <= list.length; k += size) yield [...list.slice(0, k), ...list.slice(k + size)];
  }
  for (const [k, part] of list.entries()) {
    const { body } = part;
    if (body === undefined || body.length === 0) continue;
    yield [...list.slice(0, k), ...body, ...list.slice(k + 1)];
    for (const inner of smaller(body)) yield [...list.slice(0, k), { ...part, body: inner }, ...list.slice(k + 1)];
  }
}

/** A program with all left out that it can do without and still be `isBad`. */
export function reduced(program: Program, isBad: (source: string) => boolean): Program {
  let best = program;
  for (let again = true; again; ) {
    again = false;
    const tries = [
      ...[...smaller(best.functions)].map((functions) => ({ ...best, functions })),
      ...[...smaller(best.body)].map((body) => ({ ...best, body })),
    ];
    for (const next of tries) {
      if (!isBad(sourceOf(next))) continue;
      best = next;
      again = true;
      break;
    }
  }
  return best;
}

/** The program of a seed; a wrong one is made small as long as it is wrong for a reason of the same kind. */
export function checkProgram(seed: number, core: CoreTools): Verdict & { readonly source: string } {
  const program = generate(seed);
  const source = sourceOf(program);
  const verdict = checkSource(source, core);
  if (verdict.kind !== "wrong") return { ...verdict, source };
  const kindOf = (why: string): string => why.replace(/[0-9a-f]*\d[0-9a-f]*/g, "0").slice(0, 40);
  const isBad = (text: string): boolean => {
    const found = checkSource(text, core);
    return found.kind === "wrong" && kindOf(found.why) === kindOf(verdict.why);
  };
  return { ...verdict, source: sourceOf(reduced(program, isBad)) };
}
