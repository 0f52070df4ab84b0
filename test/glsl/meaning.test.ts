import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CompileRequest, defaultRequest } from "../../src/codeobj/index.ts";
import { createLocalCompiler, createMachine, type LocalCompiler, type Machine } from "../../src/service/index.ts";
import { runKernel } from "../e2e/run-kernel.ts";
import { floatGroupMeanings, floatMeanings, groupMeanings, meanings, wholeMeanings } from "./meaning.ts";
import { validShaders } from "./tools.ts";

const invocations = 128;

/** Words with small, large, negative and round values among them. */
const input = Uint32Array.from({ length: invocations }, (_, at) => {
  const mixed = Math.imul(at + 1, 0x9e3779b1) >>> 0;
  return [at >> 2, mixed >>> 22, 0x80000000 + (mixed >>> 28), mixed][at & 3]! >>> 0;
});

/** Halves from -4 to 4. */
const halves = Float32Array.from({ length: invocations }, (_, at) => (((at * 7) % 17) - 8) / 2);

const wholes = halves.map((half) => Math.trunc(half));

/** Each fixture runs on the simulated GPU and gives what a second writing of it in TypeScript gives. */
describe("what shaders compute", () => {
  let machine: Machine;
  let compiler: LocalCompiler;
  beforeAll(() => {
    machine = createMachine({ memoryBytes: 128 << 20 });
    compiler = createLocalCompiler();
  });
  afterAll(async () => {
    await machine.close();
  });

  async function outputOf(name: string, from: Uint32Array): Promise<Uint32Array> {
    const source = validShaders.find((shader) => shader.name === `${name}.comp`)!.source;
    const request: CompileRequest = { ...defaultRequest, language: "glsl", stage: "compute", source, filename: name };
    const run = { buffers: [from, new Uint32Array(invocations)], push: new Uint32Array(0), groups: [2, 1, 1] } as const;
    const { buffers } = await runKernel(machine, compiler, request, run);
    return buffers[1]!;
  }

  async function floatOutputOf(name: string, from = halves): Promise<number[]> {
    const words = await outputOf(name, new Uint32Array(from.buffer));
    return [...new Float32Array(words.buffer, words.byteOffset, words.length)];
  }

  it.each(Object.entries(meanings))("%s", async (name, meaning) => {
    expect([...(await outputOf(name, input))]).toEqual([...input].map((x, at) => meaning(x, at)));
  });

  it.each(Object.entries(groupMeanings))("%s", async (name, meaning) => {
    const words = [...input];
    const wanted = [...meaning(words.slice(0, 64)), ...meaning(words.slice(64))];
    expect([...(await outputOf(name, input))]).toEqual(wanted);
  });

  it.each(Object.entries(floatMeanings))("%s", async (name, meaning) => {
    expect(await floatOutputOf(name)).toEqual([...halves].map((x, at) => meaning(x, at)));
  });

  it.each(Object.entries(wholeMeanings))("%s", async (name, meaning) => {
    expect(await floatOutputOf(name, wholes)).toEqual([...wholes].map((x, at) => meaning(x, at)));
  });

  it.each(Object.entries(floatGroupMeanings))("%s", async (name, meaning) => {
    const values = [...halves];
    const wanted = [...meaning(values.slice(0, 64)), ...meaning(values.slice(64))];
    expect(await floatOutputOf(name)).toEqual(wanted);
  });
});
