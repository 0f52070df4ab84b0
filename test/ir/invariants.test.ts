import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { invariantRows } from "../../src/ir/index.ts";
import { type BackEnd, loadBackEnd, type Poke } from "../backend/module.ts";
import { glslToWords } from "../core/spirv-source.ts";

let core: CoreTools;
let backEnd: BackEnd;
beforeAll(async () => {
  core = await createCore({ checked: true });
  backEnd = loadBackEnd();
});

const shader = (body: string): string => `shader compute "t" wave32 local=32,1,1\n{\n${body}\n}\n`.replace("\n{", " {");
const straight = (lines: string): string => shader(`b0:\n  %z:32 = const 0\n  %t:1 = const true\n${lines}\n  end`);

type Name = (typeof invariantRows)[number]["name"];

/** IR that breaks one rule, beside the nearest IR that breaks none. */
const cases: readonly { readonly rule: Name; readonly what: string; readonly bad: string; readonly good: string }[] = [
  {
    rule: "unreachable",
    what: "an instruction behind a loop that nobody leaves",
    bad: shader("b0:\nloop {\n  b1: preds b0 b2\n} cont {\n  b2: preds b1\n}\nb3:\n  %z:32 = const 0"),
    good: shader("b0:\nloop {\n  b1: preds b0 b2\n} cont {\n  b2: preds b1\n}\nb3:"),
  },
  {
    rule: "phis",
    what: "a phi of two sources with one predecessor",
    bad: shader(
      "b0:\n  %z:32 = const 0\n  %t:1 = const true\nif %t {\n  b1:\n    %p:32 = phi %z, %z\n} else {\n  b2:\n}\nb3:\n  end",
    ),
    good: shader(
      "b0:\n  %z:32 = const 0\n  %t:1 = const true\nif %t {\n  b1:\n    %p:32 = phi %z\n} else {\n  b2:\n}\nb3:\n  end",
    ),
  },
  {
    rule: "phis",
    what: "a phi behind another instruction",
    bad: shader(
      "b0:\n  %z:32 = const 0\n  %t:1 = const true\nif %t {\n  b1:\n} else {\n  b2:\n}\nb3:\n  %n:32 = ineg %z\n  %p:32 = phi %z, %z\n  end",
    ),
    good: shader(
      "b0:\n  %z:32 = const 0\n  %t:1 = const true\nif %t {\n  b1:\n} else {\n  b2:\n}\nb3:\n  %p:32 = phi %z, %z\n  %n:32 = ineg %z\n  end",
    ),
  },
  {
    rule: "jumps",
    what: "an instruction behind end",
    bad: shader("b0:\n  end\n  %z:32 = const 0"),
    good: shader("b0:\n  %z:32 = const 0\n  end"),
  },
  {
    rule: "sources",
    what: "an addition of one value",
    bad: straight("  %a:32 = iadd %z"),
    good: straight("  %a:32 = iadd %z, %z"),
  },
  {
    rule: "sources",
    what: "a negation of two values",
    bad: straight("  %a:32 = ineg %z, %z"),
    good: straight("  %a:32 = ineg %z"),
  },
  {
    rule: "shapes",
    what: "a boolean where a word is wanted",
    bad: straight("  %a:32 = iadd %z, %t"),
    good: straight("  %b:32 = b2i %t\n  %a:32 = iadd %z, %b"),
  },
  {
    rule: "shapes",
    what: "a vector of two from three sources",
    bad: straight("  %a:32x2 = vec %z, %z, %z"),
    good: straight("  %a:32x3 = vec %z, %z, %z"),
  },
  {
    rule: "shapes",
    what: "the third component of two",
    bad: straight("  %a:32x2 = vec %z, %z\n  %b:32 = extract %a index=2"),
    good: straight("  %a:32x2 = vec %z, %z\n  %b:32 = extract %a index=1"),
  },
  {
    rule: "dominance",
    what: "a value of one side read behind the if",
    bad: shader(
      "b0:\n  %z:32 = const 0\n  %t:1 = const true\nif %t {\n  b1:\n    %a:32 = ineg %z\n} else {\n  b2:\n}\nb3:\n  %b:32 = ineg %a\n  end",
    ),
    good: shader(
      "b0:\n  %z:32 = const 0\n  %t:1 = const true\nif %t {\n  b1:\n    %a:32 = ineg %z\n} else {\n  b2:\n}\nb3:\n  %b:32 = phi %a, %z\n  end",
    ),
  },
  {
    rule: "dominance",
    what: "a value read before it is made",
    bad: straight("  %b:32 = ineg %a\n  %a:32 = ineg %z"),
    good: straight("  %a:32 = ineg %z\n  %b:32 = ineg %a"),
  },
  ...(
    [
      ["%a:32 = wave_reduce %z index=13", "%a:32 = wave_reduce %z index=12"],
      ["%a:32 = wave_scan %z index=0 bits=3", "%a:32 = wave_scan %z index=0 bits=16"],
      ["%a:32 = wave_scan %z index=0 bits=32", "%a:32 = wave_scan %z index=0 bits=2"],
      ["%a:32 = interp %z, %z index=128 component=0", "%a:32 = interp %z, %z index=127 component=3"],
      ["%a:32 = interp %z, %z index=0 component=4", "%a:32 = interp %z, %z index=0 component=0"],
      ["%a:32 = load_bary index=3 component=0", "%a:32 = load_bary index=6 component=1"],
      ["%a:32 = load_shared %z base=0 bits=77", "%a:32 = load_shared %z base=0 bits=16"],
      ["%a:32 = load_local_id component=3", "%a:32 = load_local_id component=2"],
      ["%a:32 = quad_perm %z index=256", "%a:32 = quad_perm %z index=255"],
      ["%a:32 = lane_xor %z index=32", "%a:32 = lane_xor %z index=31"],
      ["%a:1 = const 2", "%a:1 = const 1"],
      ["memory_barrier scope=7 storage=1", "memory_barrier scope=6 storage=1"],
    ] as const
  ).map(([bad, good]) => ({ rule: "immediates" as const, what: bad, bad: straight(bad), good: straight(good) })),
];

describe("the validator", () => {
  for (const { rule, what, bad, good } of cases) {
    it(`${rule}: ${what}`, () => {
      const text = invariantRows.find(({ name }) => name === rule)?.text;
      let message = "";
      try {
        const result = core.runPass(bad, "none");
        message = result.ok ? "accepted" : (result.failures[0]?.message ?? "");
      } catch (error) {
        message = String(error);
      }
      expect(message).toContain(`${rule}: ${text}`);
      const near = core.runPass(good, "none");
      expect(near.ok, JSON.stringify(near)).toBe(true);
    });
  }

  // What no text can say: rows that contradict each other. Instructions and nodes are numbered in the order of the text.
  const broken: readonly { readonly rule: Name; readonly what: string; readonly pokes: readonly Poke[] }[] = [
    {
      rule: "lists",
      what: "an instruction whose successor does not name it",
      pokes: [{ column: "instrPrev", row: 2, value: 0 }],
    },
    {
      rule: "lists",
      what: "an instruction that says it stands in another block",
      pokes: [{ column: "instrBlock", row: 2, value: 3 }],
    },
    {
      rule: "lists",
      what: "a node whose successor does not name it",
      pokes: [{ column: "nodePrev", row: 2, value: 0 }],
    },
    {
      rule: "edges",
      what: "the block behind an if names one side of it alone",
      pokes: [{ column: "nodeLast1", row: 5, value: 1 }],
    },
    { rule: "uses", what: "one use too many", pokes: [{ column: "instrUseCount", row: 1, value: 5 }] },
    { rule: "uses", what: "one use too few", pokes: [{ column: "instrUseCount", row: 1, value: 1 }] },
  ];
  const whole = shader(
    "b0:\n  %z:32 = const 0\n  %t:1 = const true\n  %a:32 = iadd %z, %z\nif %t {\n  b1:\n} else {\n  b2:\n}\nb3:\n  end",
  );
  for (const { rule, what, pokes } of broken) {
    it(`${rule}: ${what}`, () => {
      expect(backEnd.validate(whole, []).rule).toBe(0);
      expect(invariantRows[backEnd.validate(whole, pokes).rule - 1]?.name).toBe(rule);
    });
  }

  it("lowered: a division whose pass was left out", () => {
    const request = {
      words: glslToWords(`#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer B { uint b[]; };
void main() { b[gl_LocalInvocationIndex] /= 7u; }
`),
      stage: "compute" as const,
      entryPoint: "main",
      specialization: [],
      bindings: [{ set: 0, binding: 0, offsetBytes: 0, strideBytes: 16, count: 1 }],
      optimization: 0 as const,
      contraction: true,
      robust: true,
    };
    const text = invariantRows.find(({ name }) => name === "lowered")?.text;
    expect(() => core.compile(request, "lower-idiv")).toThrow(`lowered: ${text}`);
    expect(core.compile(request).ok).toBe(true);
  });

  it("sources: a phi has as many as its block has predecessors, past 255", () => {
    const exits = Array.from({ length: 300 }, (_, k) => `if (b[x + ${k}u] == y) break; y += ${k}u;`).join("\n");
    const request = {
      words: glslToWords(`#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer B { uint b[]; };
void main() { uint x = gl_LocalInvocationIndex; uint y = 0u; for (;;) { ${exits} } b[x] = y; }
`),
      stage: "compute" as const,
      entryPoint: "main",
      specialization: [],
      bindings: [{ set: 0, binding: 0, offsetBytes: 0, strideBytes: 16, count: 1 }],
      optimization: 0 as const,
      contraction: true,
      robust: true,
    };
    const lowered = core.lower(request);
    if (!lowered.ok) throw new Error(JSON.stringify(lowered.failures));
    const sources = [...lowered.ir.matchAll(/ = phi (.*)/g)].map(([, list = ""]) => list.split(",").length);
    expect(Math.max(...sources)).toBe(300);
  });

  it("has a case for each rule", () => {
    const shown = new Set<Name>([...[...cases, ...broken].map(({ rule }) => rule), "lowered"]);
    expect(invariantRows.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([]);
  });
});
