/** `npm run conformance -- SUITE [options]`: long comparisons with independent tools and other projects' shaders. */
import { acoConformance } from "../test/conformance/aco.ts";
import { assemblerConformance } from "../test/conformance/assembler.ts";
import { compileConformance } from "../test/conformance/compile.ts";
import { glslConformance } from "../test/conformance/glsl.ts";
import { levelsConformance } from "../test/conformance/levels.ts";
import { relaxedConformance } from "../test/conformance/relaxed/index.ts";
import { scriptConformance } from "../test/conformance/scripts.ts";

const suites: Readonly<Record<string, (args: readonly string[]) => Promise<boolean>>> = {
  aco: acoConformance,
  assembler: assemblerConformance,
  compile: compileConformance,
  glsl: glslConformance,
  levels: levelsConformance,
  relaxed: relaxedConformance,
  scripts: scriptConformance,
};

const [name = "", ...args] = process.argv.slice(2);
const suite = Object.hasOwn(suites, name) ? suites[name] : undefined;
if (suite === undefined) {
  console.error(`usage: npm run conformance -- (${Object.keys(suites).join("|")}) [options]`);
  process.exitCode = 2;
} else if (!(await suite(args))) {
  process.exitCode = 1;
}
