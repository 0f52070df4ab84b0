/** `npm run conformance -- SUITE [options]`: long comparisons with independent tools and other projects' shaders. */
import { acoConformance } from "../test/conformance/aco.ts";
import { assemblerConformance } from "../test/conformance/assembler.ts";
import { compileConformance } from "../test/conformance/compile.ts";
import { determinismConformance } from "../test/conformance/determinism.ts";
import { glslConformance } from "../test/conformance/glsl.ts";
import { levelsConformance } from "../test/conformance/levels.ts";
import { overloadConformance } from "../test/conformance/overloads.ts";
import { relaxedConformance } from "../test/conformance/relaxed/index.ts";
import { scriptConformance } from "../test/conformance/scripts.ts";
import { UsageError, withUsage } from "./usage.ts";

const suites: Readonly<Record<string, (args: readonly string[]) => Promise<boolean>>> = {
  aco: acoConformance,
  assembler: assemblerConformance,
  compile: compileConformance,
  determinism: determinismConformance,
  glsl: glslConformance,
  levels: levelsConformance,
  overloads: overloadConformance,
  relaxed: relaxedConformance,
  scripts: scriptConformance,
};

const usage = `usage: npm run conformance -- aco [--kernels DIR] [--dumps DIR --spv DIR --manifest FILE] [--limit RATIO] [--lines]
       npm run conformance -- assembler --root DIR… [--jobs N]
       npm run conformance -- compile --root DIR… [--release] [--level N…] [--objdump COMMAND] [--cache FILE] [--verbose]
       npm run conformance -- determinism --root DIR… [--node PATH]…
       npm run conformance -- glsl --root DIR… [--piglit DIR] [--piglit-compute DIR] [--cache FILE] [--jobs N] [--lines] [--json FILE]
       npm run conformance -- levels --root DIR… [--stage NAME]… [--cache FILE] [--verbose]
       npm run conformance -- overloads
       npm run conformance -- relaxed [--glmark2 DIR] [--shadertoy DIR] [--three DIR] [--jobs N]
       npm run conformance -- scripts --root DIR --list FILE… [--compute] [--skips FILE] [--count N] [--limit-seconds 5] [--jobs N] [--json FILE]`;

const [name = "", ...args] = process.argv.slice(2);
await withUsage(usage, process.argv.slice(2), async () => {
  const suite = Object.hasOwn(suites, name) ? suites[name] : undefined;
  if (suite === undefined)
    throw new UsageError(name === "" ? "no suite is named" : `there is no suite ${JSON.stringify(name)}`);
  return suite(args);
});
