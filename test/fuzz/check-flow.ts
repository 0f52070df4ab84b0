import { defaultRequest } from "../../src/codeobj/index.ts";
import type { CoreTools } from "../../src/core/index.ts";
import { KernelRun } from "../conformance/aco-run.ts";
import { against, type Compiled, compiled } from "../conformance/levels.ts";
import { distance, interpret, type Middle, startOf } from "../conformance/middle.ts";
import type { Verdict } from "./check-program.ts";
import { generateFlow } from "./flow/generate.ts";
import { type Case, type Flow, INVOCATIONS, type Stage, type Statement, UNIFORMS, WORDS } from "./flow/language.ts";
import { Random } from "./flow/random.ts";
import { sourceOf } from "./flow/render.ts";
import { type Data, NotGiven, run } from "./flow/run.ts";

const levels = [0, 1, 2] as const;
const sizes = [4 * WORDS * INVOCATIONS, 4 * WORDS * INVOCATIONS, 4 * UNIFORMS];

/** Small numbers, for the most part, and a few at the ends of the range. */
function dataOf(seed: number): Data {
  const random = new Random(seed ^ 0x5bd1e995);
  const value = (): number => {
    const kind = random.next();
    if (kind < 0.7) return random.below(16);
    return kind < 0.85
      ? random.pick([0xffffffff, 0x80000000, 0x7fffffff, 0xffff, 0x10000])
      : Math.floor(random.next() * 2 ** 32);
  };
  const many = (length: number): Uint32Array => Uint32Array.from({ length }, value);
  return { a: many(WORDS * INVOCATIONS), u: many(UNIFORMS), push: [random.below(8), random.below(4)] };
}

/** The codes of the three levels, or the first error. */
function compileAll(source: string, stage: Stage, core: CoreTools, hasLast: boolean): Compiled[] | string {
  const all: Compiled[] = [];
  for (const optimization of levels) {
    const options = { ...defaultRequest.options, optimization };
    const request = { ...defaultRequest, language: "glsl", source, stage, options } as const;
    try {
      const made = compiled(request, core, hasLast || optimization === 0);
      if (typeof made === "string") return `level ${optimization}: ${made}`;
      all.push(made);
    } catch (error) {
      return `level ${optimization}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return all;
}

/** Runs the codes and the IR as it was lifted; what they leave in `o` must be what the statements give. */
function checkCompute(flow: Flow, core: CoreTools): Verdict {
  const data = dataOf(flow.seed);
  let expected: Uint32Array;
  try {
    expected = run(flow, data);
  } catch (error) {
    if (error instanceof NotGiven) return { kind: "left", why: error.message };
    throw error;
  }
  const all = compileAll(sourceOf(flow), flow.stage, core, false);
  if (typeof all === "string") return { kind: "wrong", why: all };
  const fill = "small integers";
  const { a, u, push } = data;
  const contents = [a, new Uint32Array(WORDS * INVOCATIONS), u];
  for (const [level, { entry, words }] of all.entries()) {
    const machine = new KernelRun(entry, { groups: [1, 1, 1], fill, sizes, contents, push });
    const result = machine.run(words);
    if (typeof result === "string") return { kind: "wrong", why: `level ${level}: ${result}` };
    const buffers = machine.start.buffers.map(({ binding, words: was }) => (binding === 1 ? expected : was));
    const { kind, where } = distance({ buffers }, result);
    if (kind === "same") continue;
    const grid = { groups: [1, 1, 1], threads: [INVOCATIONS, 1, 1] } as const;
    const lifted = interpret(all[0]!.lifted, machine.start, fill, grid);
    const middle = typeof lifted === "string" ? lifted : `${distance({ buffers }, lifted).kind} as lifted`;
    return { kind: "wrong", why: `level ${level} (IR ${middle}): ${where}` };
  }
  return { kind: "good", why: "" };
}

/** The IR as lifted and as each level left it; the code is proved by the checked core alone. */
function checkGraphics(flow: Flow, core: CoreTools): Verdict {
  const all = compileAll(sourceOf(flow), flow.stage, core, true);
  if (typeof all === "string") return { kind: "wrong", why: all };
  const fill = "small integers";
  const start = startOf(all[0]!.entry, fill);
  const of = (ir: string): Middle | string => interpret(ir, start, fill, { groups: [1, 1, 1], threads: [1, 1, 1] });
  const last = all.map((each) => of(each.last));
  const first = last[0]!;
  if (typeof first === "string") return { kind: "left", why: first };
  const { kind, why } = against(first, of(all[0]!.lifted), last);
  if (kind === "not run") return { kind: "left", why };
  return kind === "same" || kind === "near" ? { kind: "good", why: "" } : { kind: "wrong", why };
}

function checkFlow(flow: Flow, core: CoreTools): Verdict {
  return flow.stage === "compute" ? checkCompute(flow, core) : checkGraphics(flow, core);
}

/** The lists in a statement, and the statement with others in their place. */
function inside(statement: Statement): {
  lists: (readonly Statement[])[];
  with(lists: (readonly Statement[])[]): Statement;
} {
  switch (statement.kind) {
    case "if": {
      const lists = statement.no === undefined ? [statement.yes] : [statement.yes, statement.no];
      const { kind, on } = statement;
      return {
        lists,
        with: ([yes, no]) =>
          no === undefined || no.length === 0 ? { kind, on, yes: yes! } : { kind, on, yes: yes!, no },
      };
    }
    case "loop":
      return { lists: [statement.body], with: ([body]) => ({ ...statement, body: body! }) };
    case "switch":
      return {
        lists: statement.cases.map(({ body }) => body),
        with: (lists) => ({
          ...statement,
          cases: statement.cases.map((each, k): Case => ({ ...each, body: lists[k]! })),
        }),
      };
    default:
      return { lists: [], with: () => statement };
  }
}

/** Lists with parts left out, with what is in a part in its place, with smaller parts. */
function* smaller(list: readonly Statement[]): Generator<readonly Statement[]> {
  for (let size = list.length; size >= 1; size = size >> 1) {
    for (let k = 0; k + size <= list.length; k += size) yield [...list.slice(0, k), ...list.slice(k + size)];
  }
  for (const [k, part] of list.entries()) {
    const { lists, with: rebuilt } = inside(part);
    for (const each of lists) if (each.length > 0) yield [...list.slice(0, k), ...each, ...list.slice(k + 1)];
    for (const [n, each] of lists.entries()) {
      for (const less of smaller(each))
        yield [...list.slice(0, k), rebuilt(lists.map((was, m) => (m === n ? less : was))), ...list.slice(k + 1)];
    }
  }
}

/** Replaces a function where it is called. */
function recalled(list: readonly Statement[], old: string, callee: Flow["functions"][number]): Statement[] {
  return list.map((statement) => {
    if (statement.kind === "call" && statement.callee.name === old) return { ...statement, callee };
    const { lists, with: rebuilt } = inside(statement);
    return lists.length === 0 ? statement : rebuilt(lists.map((each) => recalled(each, old, callee)));
  });
}

function* smallerFlows(flow: Flow): Generator<Flow> {
  for (const body of smaller(flow.body)) yield { ...flow, body };
  for (const [k, one] of flow.functions.entries()) {
    yield { ...flow, functions: flow.functions.filter((each) => each !== one) };
    for (const body of smaller(one.body)) {
      const callee = { ...one, body };
      const functions = flow.functions.map((each, n) =>
        n === k ? callee : n > k ? { ...each, body: recalled(each.body, one.name, callee) } : each,
      );
      // Callers further down call the new ones.
      let main = flow.body;
      for (const each of functions) main = recalled(main, each.name, each);
      yield { ...flow, functions, body: main };
    }
  }
}

/** Without what it can do without and still be `isBad`; gives up after so many tries. */
export function reducedFlow(flow: Flow, isBad: (flow: Flow) => boolean, tries = 1500): Flow {
  let best = flow;
  let left = tries;
  for (let again = true; again && left > 0; ) {
    again = false;
    for (const next of smallerFlows(best)) {
      if (--left < 0) break;
      if (!isBad(next)) continue;
      best = next;
      again = true;
      break;
    }
  }
  return best;
}

/** The program of a seed; a wrong one is made small as long as it is wrong for a reason of the same kind. */
export function checkFlowOf(
  seed: number,
  stage: Stage,
  core: CoreTools,
  reduces = true,
): Verdict & { readonly source: string } {
  const flow = generateFlow(seed, stage);
  const verdict = checkFlow(flow, core);
  if (verdict.kind !== "wrong" || !reduces) return { ...verdict, source: sourceOf(flow) };
  const kindOf = (why: string): string => why.replace(/[0-9a-f]*\d[0-9a-f]*/g, "0").slice(0, 40);
  const small = reducedFlow(flow, (next) => {
    try {
      const found = checkFlow(next, core);
      return found.kind === "wrong" && kindOf(found.why) === kindOf(verdict.why);
    } catch {
      // What was left out was needed.
      return false;
    }
  });
  return { ...checkFlow(small, core), source: sourceOf(small) };
}
