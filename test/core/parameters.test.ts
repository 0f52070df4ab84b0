import { beforeAll, describe, expect, it } from "vitest";
import { type CompileRequest, defaultRequest, readCodeObject } from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { disassemble } from "../../src/isa/index.ts";
import { opName } from "../../src/spirv/index.ts";

type Level = 0 | 1 | 2;
const range = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, k) => from + k);

/** Line k + 2 declares location k; behind them each has a line of its own that writes it. */
const writes = (locations: readonly number[], more = ""): string =>
  [
    "#version 450",
    ...locations.map((k) => `layout(location=${k}) out float v${k};`),
    "layout(location=0) in vec4 a; void main() { gl_Position = a;",
    more,
    ...locations.map((k) => `v${k} = a.x + ${k}.0;`),
    "}",
  ].join("\n");
/** As `writes`: each input is read on a line of its own. */
const reads = (locations: readonly number[], more = ""): string =>
  [
    "#version 450",
    ...locations.map((k) => `layout(location=${k}) in float v${k};`),
    "layout(location=0) out vec4 o; void main() { float s = 0.0;",
    more,
    ...locations.map((k) => `s = sqrt(s + v${k});`),
    "o = vec4(s); }",
  ].join("\n");

/** The hardware hands on 32 parameters: export targets 32 to 63, attributes 0 to 31. */
describe("parameters between the vertex and the fragment stage", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true, opName });
  });

  type Stage = "vertex" | "fragment";
  const request = (stage: Stage, source: string, optimization: Level): CompileRequest => ({
    ...defaultRequest,
    language: "glsl",
    stage,
    source,
    options: { ...defaultRequest.options, optimization },
  });
  /** The parameters that are exported, the attributes that are read; or what is said of the place where. */
  function outcome(stage: Stage, source: string, level: Level, linked?: string) {
    const other = stage === "vertex" ? "fragment" : "vertex";
    const done = compileShader(
      {
        ...request(stage, source, level),
        ...(linked === undefined ? {} : { linked: request(other, linked, level) }),
      },
      core,
    );
    if (!done.ok) return done.diagnostics.map((d) => `${d.line}: ${d.code}: ${d.message}`);
    const read = readCodeObject(done.record.elf);
    if (!read.ok) throw new Error(read.message);
    const lines = disassemble(read.object.entries[0]!.code).map((line) => line.text);
    const pattern = stage === "vertex" ? /^exp param(\d+) / : /^v_interp_p2_f32(?:_e32)? .*\battr(\d+)\.x/;
    const numbers = lines.flatMap((line) => pattern.exec(line)?.[1] ?? []).map(Number);
    // Nothing of the vertex stage goes to a colour target.
    expect(stage === "vertex" ? lines.filter((line) => line.startsWith("exp mrt")) : []).toEqual([]);
    const { inputs, outputs } = done.record.reflection.interface!;
    const locations = (stage === "vertex" ? outputs : inputs).map((p) => p.location);
    return { numbers: [...numbers].sort((a, b) => a - b), locations };
  }
  const all = (locations: readonly number[]) => ({ numbers: range(0, locations.length), locations });
  const tooMany = (line: number, what: string) => [`${line}: CORE_UNSUPPORTED: ${what} is not supported`];
  const clip = "gl_ClipDistance[0] = a.y;";

  it.each([0, 2] as const)("32 are what there is, whatever their locations, at level %i", (level) => {
    for (const locations of [range(0, 32), range(32, 64)]) {
      expect(outcome("vertex", writes(locations), level)).toEqual(all(locations));
      expect(outcome("fragment", reads(locations), level)).toEqual(all(locations));
    }
  });

  it.each([0, 2] as const)("the 33rd is refused at its place, at level %i", (level) => {
    for (const count of [33, 40]) {
      const output = "an output at location 32, beside 32 other outputs that are exported,";
      expect(outcome("vertex", writes(range(0, count)), level)).toEqual(tooMany(1 + count + 2 + 33, output));
      const input = "an input at location 32, beside 32 other inputs that are read,";
      expect(outcome("fragment", reads(range(0, count)), level)).toEqual(tooMany(1 + count + 2 + 33, input));
    }
    // All 64 that have a name, and what stands beside them.
    const most = "gl_ClipDistance[7] = gl_PointSize = a.y;";
    expect(outcome("vertex", writes(range(0, 64), most), level)).toEqual(
      tooMany(1 + 64 + 2 + 33, "an output at location 32, beside 32 other outputs that are exported,"),
    );
  });

  it.each([0, 2] as const)("distances are handed on where there is room, at level %i", (level) => {
    expect(outcome("vertex", writes(range(0, 31), clip), level)).toEqual(all([...range(0, 31), 66]));
    expect(outcome("vertex", writes(range(0, 32), clip), level)).toEqual(all(range(0, 32)));
    const five = "gl_ClipDistance[0] = gl_ClipDistance[4] = a.y;";
    expect(outcome("vertex", writes(range(0, 31), five), level)).toEqual(all([...range(0, 31), 66]));
    const read = "s = gl_ClipDistance[0];";
    expect(outcome("fragment", reads(range(0, 31), read), level)).toEqual(all([...range(0, 31), 66]));
  });

  it.each([0, 2] as const)("of linked stages those count that are read, at level %i", (level) => {
    const vertex = writes(range(0, 40), clip);
    const fragment = reads(range(8, 39), "s = gl_ClipDistance[0];");
    expect(outcome("vertex", vertex, level, fragment)).toEqual(all([...range(8, 39), 66]));
    expect(outcome("fragment", fragment, level, vertex)).toEqual(all([...range(8, 39), 66]));
    const more = reads(range(8, 40), "s = gl_ClipDistance[0];");
    const distance = "gl_ClipDistance, beside 32 other outputs that are exported,";
    expect(outcome("vertex", vertex, level, more)).toEqual(tooMany(1 + 40 + 2, distance));
    expect(outcome("fragment", more, level, vertex)).toEqual([
      expect.stringMatching(/CORE_UNSUPPORTED: .*, beside 32 other inputs that are read, is not supported/),
    ]);
  });
});
