import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { assemble } from "../../src/spirv/index.ts";

const folder = "test/ir/lift";
const files = readdirSync(folder).filter((name) => name.endsWith(".spvasm"));

/** Descriptors of the sets and bindings that the cases name: where they lie is nothing to the lifted IR. */
const bindings = [0, 1].flatMap((set) =>
  [0, 1, 2].map((binding) => ({ set, binding, offsetBytes: 32 * binding, strideBytes: 32, count: 1 })),
);

/** `; test STAGE`, SPIR-V assembly, `; expect`, the exact text of the lifted IR without what nobody needs. */
function readCase(path: string) {
  const text = readFileSync(path, "utf8");
  const stage = /^; test (compute|fragment)$/m.exec(text)?.[1];
  const [assembly, expected] = text.split(/^; expect\n/m);
  if (stage === undefined || assembly === undefined || expected === undefined) throw new Error(`${path}: not a test`);
  return { stage: stage as "compute" | "fragment", assembly, expected, text };
}

/** `BLESS=1` rewrites the expected text; refused where `CI` is set. */
const bless = process.env.BLESS === "1" && !process.env.CI;

describe("SPIR-V to IR", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  for (const name of files) {
    it(name, () => {
      const path = join(folder, name);
      const { stage, assembly, expected, text } = readCase(path);
      const assembled = assemble(assembly, { file: path, target: "spv1.3" });
      if (!assembled.ok) throw new Error(JSON.stringify(assembled.diagnostics));
      const result = core.compile({
        words: assembled.words,
        stage,
        entryPoint: "main",
        specialization: [],
        bindings,
        optimization: 0,
        contraction: true,
        robust: true,
        dumpAfter: ["lift"],
      });
      if (!result.ok) throw new Error(JSON.stringify(result.failures));
      const lifted = core.runPass(result.output.passes.find((pass) => pass.name === "lift")?.ir ?? "", "opt-dce");
      if (!lifted.ok) throw new Error(JSON.stringify(lifted.failures));
      if (bless) writeFileSync(path, text.slice(0, text.length - expected.length) + lifted.ir);
      else expect(lifted.ir).toBe(expected);
    });
  }
});
