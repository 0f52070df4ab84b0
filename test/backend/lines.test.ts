import { beforeAll, describe, expect, it } from "vitest";
import { type CoreOutput, type CoreTools, createCore } from "../../src/core/index.ts";
import { compileGlsl } from "../../src/glsl/index.ts";
import { disassemble } from "../../src/isa/index.ts";

let core: CoreTools;
beforeAll(async () => {
  core = await createCore({ checked: true });
});

function compile(source: string, optimization: 0 | 2): CoreOutput {
  const glsl = compileGlsl({
    source,
    filename: "lines.comp",
    stage: "compute",
    defines: {},
    includes: {},
    targetEnv: "vulkan1.1",
    dialect: "vulkan",
    entryPoint: "main",
    debugInfo: true,
  });
  if (!glsl.ok) throw new Error(JSON.stringify(glsl.diagnostics));
  const bindings = [{ set: 0, binding: 0, offsetBytes: 0, strideBytes: 16, count: 1 }];
  const result = core.compile({
    ...{ words: glsl.words, stage: "compute", entryPoint: "main", specialization: [], bindings },
    ...{ optimization, contraction: true, robust: true },
  });
  if (!result.ok) throw new Error(JSON.stringify(result.failures));
  return result.output;
}

/** Line of each instruction, with its text. */
function listing(output: CoreOutput): { line: number; text: string }[] {
  const { lines } = output;
  return disassemble(output.code).map((row) => {
    let line = 0;
    // rows: offset, file, line, column
    for (let k = 0; k < lines.length && lines[k]! <= row.offset; k += 4) line = lines[k + 2]!;
    return { line, text: row.text };
  });
}

const head = "#version 450\nlayout(local_size_x = 32) in;\nlayout(binding = 0) buffer X { uint x[]; };\n";

describe("the line table", () => {
  for (const level of [0, 2] as const) {
    it(`names the line of an endless loop without a body, level ${level}`, () => {
      const rows = listing(compile(`${head}void main() {\n  x[0] = 1u;\n  for (;;)\n    ;\n}\n`, level));
      expect(rows.filter((r) => /^s_branch/.test(r.text)).map((r) => r.line)).toEqual([6]);
    });

    it(`has a line of main for every instruction, level ${level}`, () => {
      const body = [
        "void main() {",
        "  uint i = gl_GlobalInvocationID.x, n = x[i];",
        "  while (n > 3u) {",
        "    if ((n & 1u) != 0u) { n = n / 7u + x[n]; continue; }",
        "    n >>= 1u;",
        "    if (n == 9u) break;",
        "  }",
        "  x[i] = n / x[i + 1u];",
        "}",
      ];
      const rows = listing(compile(`${head}${body.join("\n")}\n`, level));
      expect(rows.length).toBeGreaterThan(40);
      for (const { line, text } of rows) {
        expect(line, text).toBeGreaterThanOrEqual(4);
        expect(line, text).toBeLessThanOrEqual(12);
      }
      // What the division by a variable is lowered to stands at the division, not where lifting ended.
      const reciprocals = rows.filter((r) => /^v_rcp/.test(r.text)).map((r) => r.line);
      expect(reciprocals).toContain(11);
      expect(reciprocals.every((line) => line === 7 || line === 11)).toBe(true);
    });
  }
});
