import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type CompileRequest, defaultRequest } from "../../src/codeobj/index.ts";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { createLocalCompiler, createMachine } from "../../src/service/index.ts";
import { opName } from "../../src/spirv/index.ts";
import { runKernel } from "../e2e/run-kernel.ts";
import { against, compiled, type Found } from "./levels.ts";
import { interpret } from "./middle.ts";

/** A colour that one invocation of a case must write: red, green, blue. */
interface Probe {
  readonly group: number;
  readonly x: number;
  readonly color: readonly number[];
}

/** A compute test of Piglit whose image became a buffer: one workgroup for each `compute` of its script. */
interface ConvertedTest {
  readonly source: string;
  readonly localSize: number;
  readonly groups: number;
  /** The uniforms of each workgroup, packed one behind the other in the order of their declarations. */
  readonly words: Uint32Array;
  readonly probes: readonly Probe[];
}

const sizes: Readonly<Record<string, number>> = { float: 1, int: 1, uint: 1, bool: 1 };

function wordCount(type: string): number {
  const matrix = /^mat(\d)(?:x(\d))?$/.exec(type);
  if (matrix !== null) return Number(matrix[1]) * Number(matrix[2] ?? matrix[1]);
  const vector = /^[biu]?vec(\d)$/.exec(type);
  const count = vector === null ? sizes[type] : Number(vector[1]);
  if (count === undefined) throw new Error(`no size of ${type}`);
  return count;
}

/**
 * Converts a `.shader_test` whose compute shader writes a colour to an image at its invocation's place: the image becomes
 * a storage buffer, the uniforms one structure for each `compute` line, picked by the workgroup's number.
 */
export function convertComputeTest(text: string): ConvertedTest {
  const shader = /\[compute shader\]([\s\S]*?)\[test\]/.exec(text)?.[1];
  const script = /\[test\]([\s\S]*)$/.exec(text)?.[1];
  if (shader === undefined || script === undefined) throw new Error("no compute shader and test");
  const uniforms = [...shader.matchAll(/^uniform (\w+) (\w+);$/gm)].map(([, type, name]) => ({
    type: type!,
    name: name!,
  }));
  const localSize = Number(/local_size_x\s*=\s*(\d+)/.exec(shader)?.[1]);
  const members = uniforms.map(({ type, name }) => `  ${type} ${name};`).join("\n");
  const copies = uniforms.map(({ type, name }) => `  ${type} ${name} = cases[gl_WorkGroupID.x].${name};`).join("\n");
  const body = shader
    .replace(/^uniform .*;$/gm, "")
    .replace(/^writeonly uniform image2D tex;$/m, "")
    .replace(/void main\(\)\s*\{/, (head) => `${head}\n${copies}`)
    .replace(
      /imageStore\(tex, coord, tmp_color\);/,
      "colors[gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x] = tmp_color;",
    );
  const source = `#version 430
#extension GL_EXT_scalar_block_layout : require
struct Case {
${members}
};
layout(scalar, set = 0, binding = 0) readonly buffer Cases { Case cases[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Colors { vec4 colors[]; };
${body}`;
  return { source, localSize, ...readScript(script, uniforms) };
}

function readScript(
  script: string,
  uniforms: readonly { readonly type: string; readonly name: string }[],
): Pick<ConvertedTest, "groups" | "words" | "probes"> {
  const current = new Map<string, readonly string[]>();
  const words: number[] = [];
  const probes: Probe[] = [];
  const bits = new DataView(new ArrayBuffer(4));
  let groups = 0;
  for (const line of script.split("\n")) {
    const parts = line.trim().split(/\s+/);
    if (parts[0] === "uniform" && parts[2] !== "tex") current.set(parts[2]!, parts.slice(3));
    if (parts[0] === "probe") {
      if (parts[1] !== "rgb") throw new Error(`probe ${parts[1]}`);
      probes.push({ group: groups - 1, x: Number(parts[2]), color: parts.slice(4, 7).map(Number) });
    }
    if (parts[0] !== "compute") continue;
    groups++;
    for (const { type, name } of uniforms) {
      const values = current.get(name) ?? [];
      for (let at = 0; at < wordCount(type); at++) {
        const value = Number(values[at] ?? 0);
        if (/^(?:float|vec|mat)/.test(type)) bits.setFloat32(0, value);
        else bits.setUint32(0, value >>> 0);
        words.push(bits.getUint32(0));
      }
    }
  }
  return { groups, words: Uint32Array.from(words), probes };
}

const levels = [0, 1, 2] as const;

/** A test at one level: what its buffer of colours holds afterwards. */
type Run = (optimization: 0 | 1 | 2, contraction: boolean) => Promise<Uint32Array>;

/** The first probe that a level fails, as text. */
async function failureOf({ probes, localSize }: ConvertedTest, run: Run): Promise<string | undefined> {
  for (const level of levels) {
    try {
      const out = await run(level, true);
      const written = new Float32Array(out.buffer, out.byteOffset, out.length);
      const wrong = probes.filter(({ group, x, color }) =>
        color.some((wanted, at) => written[4 * (group * localSize + x) + at] !== wanted),
      );
      if (wrong.length > 0)
        return `level ${level}: ${wrong.length} of ${probes.length} probes, first ${JSON.stringify(wrong[0])}`;
    } catch (error) {
      return `level ${level}: ${String(error).slice(0, 300)}`;
    }
  }
  return undefined;
}

/** Without contraction: the levels' bits against each other, and against the interpreter's of the IR. */
async function compared(test: ConvertedTest, request: CompileRequest, core: CoreTools, run: Run): Promise<Found> {
  const outs = [await run(0, false), await run(1, false), await run(2, false)];
  const apart = outs.findIndex((out) => out.some((word, k) => word !== outs[0]![k]));
  if (apart >= 0) return { kind: "wrong", why: `level 0 and ${apart} differ without contraction` };
  const made = compiled({ ...request, options: { ...request.options, optimization: 2 } }, core);
  if (typeof made === "string") return { kind: "wrong", why: made };
  const empty = { set: 0, binding: 1, element: 0, words: new Uint32Array(outs[0]!.length) };
  const start = { buffers: [{ ...empty, binding: 0, words: test.words }, empty], push: new Uint32Array(1) };
  const grid = { groups: [test.groups, 1, 1], threads: [test.localSize, 1, 1] } as const;
  const of = (ir: string) => interpret(ir, start, "floats", grid);
  return against({ buffers: [test.words, outs[0]!] }, of(made.lifted), [of(made.last)]);
}

/**
 * Runs every compute test of a folder, compiled at each level, on the simulated GPU, against the values in its file; then
 * without contraction, against the interpreter of IR. Prints what fails; true where nothing does.
 */
export async function piglitComputeTests(folder: string): Promise<boolean> {
  const machine = createMachine({ memoryBytes: 128 << 20 });
  const compiler = createLocalCompiler();
  const core = await createCore({ checked: true, opName });
  const middle = { same: 0, near: 0, apart: 0, "not run": 0, wrong: 0 };
  let passed = 0;
  const failures: string[] = [];
  try {
    for (const name of readdirSync(folder).sort()) {
      const text = readFileSync(join(folder, name), "utf8");
      if (!name.endsWith(".shader_test") || !text.includes("[compute shader]")) continue;
      const test = convertComputeTest(text);
      const request: CompileRequest = {
        ...defaultRequest,
        language: "glsl",
        stage: "compute",
        source: test.source,
        filename: name,
      };
      const run: Run = async (optimization, contraction) => {
        const buffers = [test.words, new Uint32Array(4 * test.groups * test.localSize)];
        const pipeline = contraction ? request.pipeline : { floatControls: { contraction } };
        const options = { ...request.options, optimization };
        const result = await runKernel(
          machine,
          compiler,
          { ...request, pipeline, options },
          { buffers, push: new Uint32Array(0), groups: [test.groups, 1, 1] },
        );
        return result.buffers[1]!;
      };
      const failure = await failureOf(test, run);
      if (failure === undefined) passed++;
      else failures.push(`${name}: ${failure}`);
      const { kind, why } = await compared(test, request, core, run);
      middle[kind]++;
      if (kind === "wrong" || kind === "not run" || kind === "apart") console.log(`${name}: ${kind}: ${why}`);
    }
  } finally {
    await machine.close();
  }
  for (const failure of failures) console.log(failure);
  console.log(`Piglit's compute tests: ${passed} passed at levels ${levels.join(", ")}, ${failures.length} failed`);
  console.log(
    `without contraction, at each level and by the IR interpreter: the same bits ${middle.same}, within 2^-10 by approximated operations ` +
      `${middle.near}, further apart by those ${middle.apart}, not run by the interpreter ${middle["not run"]}, wrong ${middle.wrong}`,
  );
  return failures.length === 0 && middle.wrong === 0;
}
