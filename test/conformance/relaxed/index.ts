import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { formatDiagnostic } from "../../../src/base/index.ts";
import { compileGlsl } from "../../../src/glsl/index.ts";
import { oracle } from "../../oracles.ts";
import { each, run } from "../reference.ts";
import { glmark2Shaders } from "./glmark2.ts";
import type { ExpandedShader } from "./shader.ts";
import { shadertoyShaders } from "./shadertoy.ts";
import { threeShaders } from "./three.ts";

const usage =
  "usage: npm run conformance -- relaxed [--glmark2 DIR] [--shadertoy DIR] [--three DIR] [--jobs N]\n" +
  "  --glmark2    the folder `shaders` of glmark2's data\n" +
  "  --shadertoy  a folder of Shadertoy sources, as that of Kodi's visualisation\n" +
  "  --three      the npm package three";

/**
 * Shaders of projects that complete their sources themselves, in the relaxed dialect: all must compile to SPIR-V that
 * spirv-val accepts. Prints the counts and each failure by its message.
 */
export async function relaxedConformance(args: readonly string[]): Promise<boolean> {
  const text = { type: "string" } as const;
  const options = { glmark2: text, shadertoy: text, three: text, jobs: { type: "string", default: "2" } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const projects: (readonly [string, () => Promise<ExpandedShader[]>])[] = [];
  const { glmark2, shadertoy, three } = values;
  if (glmark2 !== undefined) projects.push(["glmark2", async () => glmark2Shaders(glmark2)]);
  if (shadertoy !== undefined) projects.push(["shadertoy", async () => shadertoyShaders(shadertoy)]);
  if (three !== undefined) projects.push(["three", async () => await threeShaders(three)]);
  if (projects.length === 0) {
    console.error(usage);
    return false;
  }
  if (oracle("spirv-val") === undefined) {
    console.error("spirv-val is not installed");
    return false;
  }
  let good = true;
  for (const [name, shaders] of projects) good = (await checkAll(name, await shaders(), Number(values.jobs))) && good;
  return good;
}

async function checkAll(project: string, shaders: readonly ExpandedShader[], jobs: number): Promise<boolean> {
  const failures = new Map<string, string[]>();
  const fail = (why: string, name: string): void => {
    failures.set(why, [...(failures.get(why) ?? []), name]);
  };
  let compiled = 0;
  let valid = 0;
  const folder = mkdtempSync(join(tmpdir(), "kiln-relaxed-"));
  try {
    await each([...shaders.entries()], jobs, async ([at, { name, stage, source, mainImage = false }]) => {
      const result = compileGlsl({ source, filename: name, stage, dialect: "relaxed", mainImage });
      if (!result.ok) {
        const first = result.diagnostics.find(({ severity }) => severity === "error");
        fail(`${first?.code}: ${first?.message}`, first === undefined ? name : formatDiagnostic(first));
        return;
      }
      compiled++;
      const file = join(folder, `${at}.spv`);
      writeFileSync(file, result.words);
      const { status, output } = await run("spirv-val", ["--target-env", "vulkan1.3", file]);
      rmSync(file);
      if (status === 0) valid++;
      else fail(`spirv-val: ${output.split("\n")[0]!.replace(/%?\d+/g, "N")}`, name);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
  console.log(`${project}: ${shaders.length} shaders, ${compiled} compile, ${valid} are valid`);
  for (const [why, names] of [...failures].sort((a, b) => b[1].length - a[1].length)) {
    console.log(`${names.length}  ${why}`);
    for (const name of names.slice(0, 5)) console.log(`     ${name}`);
  }
  return valid === shaders.length && shaders.length > 0;
}
