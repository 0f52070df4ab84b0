import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { type CoreRequest, type CoreTools, createCore } from "../../src/core/index.ts";
import { compileGlsl } from "../../src/glsl/index.ts";
import { passRows } from "../../src/ir/index.ts";
import { disassemble } from "../../src/isa/index.ts";
import { type PassCase, passCases } from "./pass-cases.ts";
import { asmToWords } from "./spirv-source.ts";

const compute = `#version 450
#extension GL_KHR_shader_subgroup_shuffle : enable
#extension GL_EXT_shader_explicit_arithmetic_types : enable
#extension GL_EXT_shader_16bit_storage : enable
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) buffer R { uint r[]; };
layout(std430, binding = 2) buffer F { float f[]; };
layout(push_constant) uniform P { uint p; uint q; };
`;
const fragment = "#version 450\nlayout(location = 0) out vec4 o;\n";

const bindings = [0, 1, 2, 3].map((binding) => ({
  set: 0,
  binding,
  offsetBytes: 64 * binding,
  strideBytes: 64,
  count: 1,
}));

function wordsOf({ stage = "compute", before = "", body = "", assembly }: PassCase): Uint32Array {
  if (assembly !== undefined) return asmToWords(assembly);
  const main =
    stage === "compute" ? `void main() { uint i = gl_LocalInvocationIndex;\n${body}\n}` : `void main() { ${body} }`;
  const compiled = compileGlsl({
    source: `${stage === "compute" ? compute : fragment}${before}\n${main}\n`,
    filename: "test",
    stage,
    defines: {},
    includes: {},
    targetEnv: "vulkan1.1",
    dialect: "vulkan",
    entryPoint: "main",
    debugInfo: false,
  });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  return compiled.words;
}

/** The passes of each level's list, as `run.ts` has them. */
function lists(): readonly (readonly string[])[] {
  const text = readFileSync("assembly/compiler/passes/run.ts", "utf8");
  return [0, 1, 2].map((level) => {
    const list = new RegExp(`const LEVEL_${level}: .*?\\[([^\\]]*)\\]`).exec(text)?.[1] ?? "";
    return [...list.matchAll(/Pass\.(\w+)/g)].map(([, name = ""]) => name.toLowerCase().replaceAll("_", "-"));
  });
}

describe("each pass shows in the code of a whole compile", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  /** How often the case's pattern stands in the code. */
  function count(request: CoreRequest, pattern: RegExp, without?: string): number {
    const result = core.compile(request, without);
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    const lines = disassemble(result.output.code).map(({ text }) => text.trim());
    return [...lines.join("\n").matchAll(new RegExp(pattern, "g"))].length;
  }

  for (const test of passCases) {
    it(`${test.pass}: ${test.about}`, () => {
      const words = wordsOf(test);
      for (const optimization of test.levels) {
        const request: CoreRequest = {
          words,
          stage: test.stage ?? "compute",
          entryPoint: "main",
          specialization: [],
          bindings,
          optimization,
          contraction: true,
          robust: true,
        };
        expect(count(request, test.pattern), `level ${optimization}`).toBe(test.count);
        const without = (): number => count(request, test.pattern, test.pass);
        if (test.without === "lowered")
          expect(without, `level ${optimization}`).toThrow("lowered: no op that a lower-* pass removes");
        else expect(without(), `level ${optimization}, without`).toBe(test.without);
      }
    });
  }

  it("each pass that a level lists has a case there, and none other", () => {
    const names = lists();
    expect(names.map((list) => list.length > 0)).toEqual([true, true, true]);
    names.forEach((list, level) => {
      const cases = passCases.filter(({ levels }) => levels.some((l) => l === level)).map(({ pass }) => pass);
      expect([...new Set(list)].sort(), `level ${level}`).toEqual(cases.sort());
    });
    // And what no level lists is no pass, but for the lifter.
    expect(new Set(names.flat())).toEqual(new Set(passRows.slice(1).map(({ name }) => name)));
  });

  it("no build but the checked one leaves out a pass", async () => {
    const shipped = await createCore();
    const request = { words: new Uint32Array(), stage: "compute" as const, entryPoint: "main", specialization: [] };
    const rest = { bindings: [], optimization: 2 as const, contraction: true, robust: true };
    expect(() => shipped.compile({ ...request, ...rest }, "opt-cse")).toThrow("no build but the checked one");
  });
});
