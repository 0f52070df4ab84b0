import { beforeAll, describe, expect, it } from "vitest";
import { defaultRequest, readCodeObject, type Stage } from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { type IrShader, parseIr } from "../../src/ir/index.ts";
import { disassemble } from "../../src/isa/index.ts";
import { opName } from "../../src/spirv/index.ts";
import { type Exports, floatsOf, runFragment, runVertex } from "./interpreter/stages.ts";
import { type FragmentCase, fragmentCases } from "./stage-cases.ts";
import { type VertexCase, vertexCases } from "./vertex-cases.ts";

/**
 * The graphics stages in the IR interpreter: the IR as the lifter makes it and as each level leaves it, against what was
 * worked out by hand. The checked core validates the IR after each pass and proves the allocation of the code.
 */
describe("the IR of graphics stages means what the shader says", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true, opName });
  });

  function irOf({ source, pipeline }: FragmentCase | VertexCase, stage: Stage, level: 0 | 1 | 2) {
    const request = {
      ...defaultRequest,
      language: "glsl" as const,
      stage,
      source,
      pipeline: pipeline ?? {},
      options: { ...defaultRequest.options, optimization: level },
    };
    const done = compileShader(request, core, ["lift", "none"]);
    if (!done.ok) throw new Error(JSON.stringify(done.diagnostics));
    const read = readCodeObject(done.record.elf);
    if (!read.ok) throw new Error(read.message);
    const lines = disassemble(read.object.entries[0]!.code);
    expect(lines.filter(({ text }) => text.startsWith(".long"))).toEqual([]);
    const lifted = done.reports?.passes.find(({ name }) => name === "lift")?.ir ?? "";
    return { lifted: parseIr(lifted), last: parseIr(done.reports?.ir ?? "") };
  }

  /** The last one of a fragment's exports, and of a vertex's positions, says so. */
  function checkDone(exports: Exports): void {
    for (const targets of exports.values()) {
      const marked = [...targets].filter(([target]) => target < 256).map(([, { isDone }]) => isDone);
      expect(marked).toEqual(marked.map((_, k) => k === marked.length - 1));
    }
  }

  function check(wanted: FragmentCase["expect"], exports: Exports): void {
    checkDone(exports);
    for (const [target, lanes] of Object.entries(wanted)) {
      const found = lanes.map((components, lane) => {
        const exported = exports.get(lane)?.get(Number(target));
        if (exported === undefined) return undefined;
        const numbers = floatsOf(exported);
        // Words where the case has words.
        return components === undefined
          ? numbers
          : components.map((x, k) => {
              const given = exported.words[k];
              return typeof x === "bigint" && given !== undefined ? BigInt(given >>> 0) : numbers[k];
            });
      });
      const words = lanes.map((components) =>
        components?.map((x) => (typeof x === "bigint" ? BigInt.asUintN(32, x) : x)),
      );
      expect(found, `target ${target}`).toEqual(words);
    }
  }

  function all(each: FragmentCase | VertexCase, stage: Stage, run: (shader: IrShader) => void): void {
    for (const level of [0, 2] as const) {
      const { lifted, last } = irOf(each, stage, level);
      if (level === 0) run(lifted);
      run(last);
    }
  }

  for (const each of fragmentCases) {
    it(`fragment: ${each.name}`, () => {
      const fresh = () => (each.run.buffer === undefined ? each.run : { ...each.run, buffer: each.run.buffer.slice() });
      all(each, "fragment", (shader) => check(each.expect, runFragment(shader, fresh())));
    });
  }
  for (const each of vertexCases) {
    it(`vertex: ${each.name}`, () => {
      all(each, "vertex", (shader) => check(each.expect, runVertex(shader, each.run)));
    });
  }
});
