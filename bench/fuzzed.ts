/**
 * `npx tsx bench/fuzzed.ts --root DIR [--rounds N]`: compile time, warm, of every shader in the Amber scripts below a folder:
 * CPU milliseconds of the whole compile, the fastest of N rounds (5). Ends with status 1 where the median is above 2 ms or the
 * slowest above 100 ms.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type CompileRequest, defaultRequest, type Stage } from "../src/codeobj/index.ts";
import { compileShader } from "../src/compile/index.ts";
import { createCore } from "../src/core/index.ts";
import { opName } from "../src/spirv/index.ts";

const medianLimitMs = 2;
const slowestLimitMs = 100;

const { values } = parseArgs({ options: { root: { type: "string" }, rounds: { type: "string", default: "5" } } });
if (values.root === undefined) throw new Error("usage: npx tsx bench/fuzzed.ts --root DIR [--rounds N]");
const root = values.root;
const rounds = Number(values.rounds);

/** The shaders of a script: SPIR-V assembly and GLSL. */
function shadersOf(path: string): CompileRequest[] {
  const text = readFileSync(path, "utf8");
  const pattern = /^SHADER (compute|vertex|fragment) (\S+) (SPIRV-ASM|GLSL)[^\n]*\n([\s\S]*?)^END$/gm;
  return [...text.matchAll(pattern)].map(([, stage, name, language, source = ""]) => ({
    ...defaultRequest,
    language: language === "GLSL" ? "glsl" : "spirv-asm",
    stage: stage as Stage,
    source,
    filename: `${path} ${name}`,
  }));
}

const core = await createCore({ opName });
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const requests = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".amber"))
  .sort()
  .flatMap((name) => shadersOf(join(root, name)));
const refused: string[] = [];
const times: { readonly ms: number; readonly name: string }[] = [];
for (const request of requests) {
  let fastest = Number.POSITIVE_INFINITY;
  let isGood = true;
  for (let k = 0; k < rounds && isGood; k++) {
    const since = cpuMs();
    isGood = compileShader(request, core).ok;
    fastest = Math.min(fastest, cpuMs() - since);
  }
  if (isGood) times.push({ ms: fastest, name: request.filename });
  else refused.push(request.filename);
}
times.sort((a, b) => a.ms - b.ms);
const median = times[times.length >> 1]?.ms ?? 0;
const slowest = times.at(-1);
for (const name of refused) console.log(`${name}: refused`);
console.log(
  `${times.length} shaders, ${refused.length} refused: median ${median.toFixed(2)} ms, slowest ${slowest?.ms.toFixed(2)} ms (${slowest?.name})`,
);
process.exitCode = times.length > 0 && median <= medianLimitMs && slowest!.ms <= slowestLimitMs ? 0 : 1;
