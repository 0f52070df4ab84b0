/**
 * `npm run fuzz -- [--cases N] [--seed S] [--core]`: mutated GLSL and SPIR-V; a failure names the seed that makes it again.
 * `--core`: what is valid is compiled at level 2, too.
 */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";
import { createCore } from "../src/core/index.ts";
import { type FuzzShader, fuzz } from "../test/fuzz/run.ts";
import { wholeNumber, withUsage } from "./usage.ts";

const usage = "usage: npm run fuzz -- [--cases 100000] [--seed 1] [--core]";

await withUsage(usage, process.argv.slice(2), async () => {
  const { values } = parseArgs({
    options: {
      cases: { type: "string", default: "100000" },
      seed: { type: "string", default: "1" },
      core: { type: "boolean", default: false },
    },
  });
  const [cases, seed] = [wholeNumber(values.cases, "--cases", 1), wholeNumber(values.seed, "--seed")];
  const core = values.core ? await createCore() : undefined;
  const stages = { ".comp": "compute", ".vert": "vertex", ".frag": "fragment" } as const;
  const shaders: FuzzShader[] = [];
  for (const folder of ["test/glsl/valid", "test/glsl/stages", "test/glsl/relaxed", "examples/kernels"]) {
    for (const name of readdirSync(folder).sort()) {
      const suffix = extname(name);
      if (!Object.hasOwn(stages, suffix)) continue;
      const stage = stages[suffix as keyof typeof stages];
      shaders.push({ source: readFileSync(join(folder, name), "utf8"), stage });
    }
  }
  const STEP = 20_000;
  let failed = false;
  for (let done = 0; done < cases && !failed; done += STEP) {
    const report = fuzz(shaders, Math.min(STEP, cases - done), seed + done, core);
    const { failures, ...counts } = report;
    console.log(JSON.stringify({ done: done + report.cases, ...counts }));
    for (const { seed, what, input } of failures) console.log(`seed ${seed}: ${what}\n${input}\n`);
    failed = failures.length > 0;
  }
  console.log(failed ? "fuzz: FAILED" : `fuzz: ${cases} cases, good`);
  return !failed;
});
