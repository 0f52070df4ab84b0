/**
 * `npm run fuzz -- [--cases N] [--seed S] [--core]`: mutated GLSL and SPIR-V; a failure names the seed that makes it again.
 * `--core`: what is valid is compiled at level 2, too.
 * `npm run fuzz -- --programs N [--seed S]`: random programs with given results, compiled at levels 0, 1, 2 (each eighth one with
 * the checked core) and run on the simulated GPU; words must be those that the IR interpreter makes of the IR as it was lifted.
 * `npm run fuzz -- --flows N [--seed S] [--stage vertex|fragment]`: random programs of control flow. Compute shaders run on the
 * simulated GPU at each level and must give what the program's own statements give; of the other stages the IR interpreter
 * runs the IR as lifted and as each level left it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";
import { type CoreTools, createCore } from "../src/core/index.ts";
import { opName } from "../src/spirv/index.ts";
import { checkFlowOf } from "../test/fuzz/check-flow.ts";
import { checkProgram, type Verdict } from "../test/fuzz/check-program.ts";
import { type FuzzShader, fuzz } from "../test/fuzz/run.ts";
import { wholeNumber, withUsage } from "./usage.ts";

const usage = `usage: npm run fuzz -- [--cases 100000] [--seed 1] [--core]
       npm run fuzz -- --programs N [--seed 1]
       npm run fuzz -- --flows N [--seed 1] [--stage compute|vertex|fragment]`;
const stages = ["compute", "vertex", "fragment"] as const;

/** Whether all programs from `seed` on are good; prints those that are not, made small, and why others were left out. */
async function runPrograms(
  count: number,
  seed: number,
  check: (seed: number, core: CoreTools) => Verdict & { readonly source: string },
  checkedEach = 8,
): Promise<boolean> {
  const cores = { plain: await createCore({ opName }), checked: await createCore({ checked: true, opName }) };
  const left = new Map<string, number>();
  let [good, wrong] = [0, 0];
  for (let done = 0; done < count; done++) {
    const core = done % checkedEach === 0 ? cores.checked : cores.plain;
    const found = check(seed + done, core);
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
    `fuzz: ${count} programs from seed ${seed}, ${good} give the same words at levels 0, 1, 2 and by what they must give, ${wrong} do not`,
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
      flows: { type: "string" },
      stage: { type: "string", default: "compute" },
    },
  });
  if (values.programs !== undefined)
    return runPrograms(wholeNumber(values.programs, "--programs", 1), wholeNumber(values.seed, "--seed"), checkProgram);
  if (values.flows !== undefined) {
    const stage = stages.find((each) => each === values.stage);
    if (stage === undefined) throw new Error(`--stage: one of ${stages.join(", ")}`);
    const check = (seed: number, core: CoreTools) => checkFlowOf(seed, stage, core);
    const [count, seed] = [wholeNumber(values.flows, "--flows", 1), wholeNumber(values.seed, "--seed")];
    return runPrograms(count, seed, check, stage === "compute" ? 4 : 1);
  }
  const [cases, seed] = [wholeNumber(values.cases, "--cases", 1), wholeNumber(values.seed, "--seed")];
  const core = values.core ? await createCore() : undefined;
  const suffixes = { ".comp": "compute", ".vert": "vertex", ".frag": "fragment" } as const;
  const shaders: FuzzShader[] = [];
  for (const folder of ["test/glsl/valid", "test/glsl/stages", "test/glsl/relaxed", "examples/kernels"]) {
    for (const name of readdirSync(folder).sort()) {
      const suffix = extname(name);
      if (!Object.hasOwn(suffixes, suffix)) continue;
      const stage = suffixes[suffix as keyof typeof suffixes];
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
