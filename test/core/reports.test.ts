import { beforeAll, describe, expect, it } from "vitest";
import { type CorePassReport, type CoreTools, createCore } from "../../src/core/index.ts";
import { countInstructions } from "../../src/isa/index.ts";
import { glslToWords } from "./spirv-source.ts";

const bindings = [{ set: 0, binding: 0, offsetBytes: 0, strideBytes: 16, count: 1 }];

const small = `#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer A { uint a[]; };
void main() { uint i = gl_GlobalInvocationID.x; if (a[i] > 7u) a[i] = a[i + 1u] * 3u; }
`;

/** Values that all live at once, more than there are registers. */
const names = Array.from({ length: 300 }, (_, k) => k);
const large = `#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer A { uint a[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
${names.map((k) => `  uint v${k} = a[i * 301u + ${k}u] * ${2 * k + 1}u;`).join("\n")}
  memoryBarrierBuffer();
  uint s = i;
${names.map((k) => `  s = (s ^ v${k}) * 3u;`).join("\n")}
  a[i] = s;
}
`;

describe("reports of passes and phases", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore();
  });

  function compile(source: string, optimization: 0 | 1 | 2, dumpAfter?: readonly string[]) {
    const result = core.compile({
      words: glslToWords(source),
      stage: "compute",
      entryPoint: "main",
      specialization: [],
      bindings,
      optimization,
      contraction: false,
      robust: true,
      ...(dumpAfter && { dumpAfter }),
    });
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    return result.output;
  }
  const phases = (passes: readonly CorePassReport[]): string[] =>
    passes.filter(({ machine }) => machine).map(({ name }) => name);

  it("are none where nobody asks", () => {
    expect(compile(small, 2).passes).toEqual([]);
  });

  it("give each phase of the back end its time and the machine instructions behind it", () => {
    const { passes, code } = compile(small, 2, []);
    const own = passes.filter(({ machine }) => machine);
    expect(passes.slice(-own.length)).toEqual(own);
    expect(phases(passes)).toEqual([
      "select",
      "schedule",
      "liveness",
      "coalesce",
      "allocate",
      "cleanup",
      "waits",
      "encode",
    ]);
    // Nothing is far away: the last two count what is encoded.
    const { instructions } = countInstructions(code);
    expect(own.at(-1)?.instructions).toBe(instructions);
    expect(own.find(({ name }) => name === "waits")?.instructions).toBe(instructions);
    // Launch arguments are counted until they have their registers.
    expect(own[0]?.instructions).toBeGreaterThan(instructions - countInstructions(code).waits);
    expect(passes.every(({ microseconds }) => microseconds >= 0)).toBe(true);
  });

  it("leave out what level 0 does not do", () => {
    expect(phases(compile(small, 0, []).passes)).not.toContain("schedule");
  });

  it("show the second selection and the spilling of what does not fit", () => {
    const { passes, spilledVgprs } = compile(large, 2, []);
    expect(spilledVgprs).toBeGreaterThan(40);
    const names = phases(passes);
    expect(names.filter((name) => name === "select").length).toBe(2);
    const spill = passes.find(({ name }) => name === "spill")!;
    const selected = passes.findLast(({ name }) => name === "select")!;
    // A store and at least a load for each value that was given up.
    expect(spill.instructions).toBeGreaterThanOrEqual(selected.instructions + 2 * spilledVgprs);
  });
});
