/**
 * `npm run fuzz -- [--cases N] [--seed S] [--core]`: mutated GLSL and SPIR-V; a failure names the seed that makes it again.
 * `--core`: what is valid is compiled at level 2, too.
 * `npm run fuzz -- --programs N [--seed S]`: random programs with given results, compiled at levels 0, 1, 2 (each eighth one with
 * the checked core) and run on the simulated GPU; words must be those that the IR interpreter makes of the IR as it was lifted.
 */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";
import { createCore } from "../src/core/index.ts";
import { opName } from "../src/spirv/index.ts";
import { checkProgram } from "../test/fuzz/check-program.ts";
import { type FuzzShader, fuzz } from "../test/fuzz/run.ts";
import { wholeNumber, withUsage } from "./usage.ts";

const usage = `usage: npm run fuzz -- [--cases 100000] [--seed 1] [--core]
       npm run fuzz -- --programs N [--seed 1]`;

/** Whether all programs from `seed` on are good; prints those that are not, made small, and why others were left out. */
async function runPrograms(count: number, seed: number): Promise<boolean> {
  const cores = { plain: await createCore({ opName }), checked: await createCore({ checked: true, opName }) };
  const left = new Map<string, number>();
  let [good, wrong] = [0, 0];
  for (let done = 0; done < count; done++) {
    const core = done % 8 === 0 ? cores.checked : cores.plain;
    const found = checkProgram(seed + done, core);
    if (found.kind === "good") good++;
    else if (found.kind === "left") left.set(found.why, (left.get(found.why) ?? 0) + 1);
    else {
      wrong++;
      console.log(`seed ${seed + done}: ${found.why}\n${found.source}`);
    }
    if ((done + 1) % 500 === 0) console.log(JSON.stringify({ done: done + 1, good, wrong }));
  }
  for (const [why, n] of left) console.log(`left out: ${n} × ${why}`);
  console.log(
    `fuzz: ${count} programs from seed ${seed}, ${good} give the same words at levels 0, 1, 2 and by the IR as lifted, ${wrong} do not`,
  );
  return wrong === 0 && good > 0;
}

await withUsage(usage, process.argv.slice(2), async () => {
  const { values } = parseArgs({
    options: {
      cases: { type: "string", default: "100000" },
      seed: { type: "string", default: "1" },
      core: { type: "boolean", default: false },
      programs: { type: "string" },
    },
  });
  if (values.programs !== undefined)
    return runPrograms(wholeNumber(values.programs, "--programs", 1), wholeNumber(values.seed, "--seed"));
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
