import { describe, expect, it } from "vitest";
import { createCore } from "../../src/core/index.ts";
import { opName } from "../../src/spirv/index.ts";
import { checkFlowOf, reducedFlow } from "./check-flow.ts";
import { generateFlow } from "./flow/generate.ts";
import type { Expression, Flow, Lane, Statement, Value } from "./flow/language.ts";
import { sourceOf } from "./flow/render.ts";
import { run } from "./flow/run.ts";

const data = { a: new Uint32Array(64 * 16), u: new Uint32Array(8), push: [0, 0] };
const ids = Array.from({ length: 64 }, (_, id) => id);
const expression = (text: string, value: (lane: Lane) => Value): Expression => ({ type: "uint", text, value });
const add = (n: number): Statement => ({
  kind: "do",
  text: `o[16u * id] += ${n}u;`,
  run: ({ vars }) => {
    const o = vars.o as Value[];
    o[0] = Number(o[0]) + n;
  },
});
const jump = (to: "break" | "continue" | "return"): Statement => ({ kind: "jump", to });
const when = (value: (lane: Lane) => boolean, ...yes: Statement[]): Statement => ({
  kind: "if",
  on: expression("", value),
  yes,
});
/** What invocation n leaves in its first word. */
function resultsOf(...body: Statement[]): number[] {
  const flow: Flow = { seed: 0, stage: "compute", functions: [], body };
  const words = run(flow, data);
  return ids.map((id) => words[16 * id]!);
}

describe("the interpreter of control flow", () => {
  const loop = (form: "for" | "while" | "do" | "ever" | "once", rounds: number, ...body: Statement[]): Statement => ({
    kind: "loop",
    form,
    counter: "i",
    step: 1,
    test: expression("", ({ vars }) => Number(vars.i) < rounds),
    leave: [jump("break")],
    body,
  });

  it.each([
    ["for", 3],
    ["while", 3],
    ["do", 3],
    ["ever", 2],
    ["once", 1],
  ] as const)("goes through a %s loop up to 3 %i times", (form, times) => {
    expect(resultsOf(loop(form, 3, add(1)))).toEqual(ids.map(() => times));
  });

  it("counts on continue, stops on break and ends on return", () => {
    const body = [
      when(({ id }) => id % 4 === 1, jump("continue")),
      when(({ id }) => id % 4 === 2, add(10), jump("break")),
      when(({ id }) => id % 4 === 3, add(20), jump("return")),
      add(1),
    ];
    expect(resultsOf(loop("for", 3, ...body), add(100))).toEqual(ids.map((id) => [103, 100, 110, 20][id % 4]));
  });

  it("falls from case to case, and adds up the lanes that come together", () => {
    const selector = expression("", ({ id }) => id % 4);
    const sum: Statement = {
      kind: "lanes",
      op: "Add",
      of: expression("", () => 1),
      to: {
        ...expression("", () => 0),
        put: ({ vars }, value) => {
          (vars.o as Value[])[0] = value;
        },
      },
    };
    const cases = [
      { labels: [0], isDefault: false, body: [add(1)] },
      { labels: [1], isDefault: false, body: [sum, jump("break")] },
      { labels: [2], isDefault: true, body: [sum] },
    ];
    // Cases 0 and 1 meet, and so do 2 and what has no case: 8 lanes of each in 32.
    expect(resultsOf({ kind: "switch", selector, cases })).toEqual(ids.map(() => 16));
  });
});

describe("random control flow", () => {
  it("gives at each level what its statements give", async () => {
    const core = await createCore({ checked: true, opName });
    for (let seed = 1; seed <= 4; seed++) {
      const { kind, why } = checkFlowOf(seed, "compute", core);
      expect(`seed ${seed}: ${kind} ${why}`).toBe(`seed ${seed}: good `);
    }
    for (const stage of ["vertex", "fragment"] as const) {
      const { kind, why } = checkFlowOf(1, stage, core);
      expect(`${stage}: ${kind} ${why}`).toBe(`${stage}: good `);
    }
  });

  it("is made small, as long as it is wrong", () => {
    const isBad = (flow: Flow): boolean => /continue/.test(sourceOf(flow)) && /barrier/.test(sourceOf(flow));
    const flow = [...Array(60).keys()].map((seed) => generateFlow(seed)).find(isBad);
    if (flow === undefined) throw new Error("no program has both");
    const small = reducedFlow(flow, isBad);
    expect(small.functions.length + small.body.length).toBeLessThanOrEqual(3);
    expect(isBad(small)).toBe(true);
  });
});
