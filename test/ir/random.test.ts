import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { parseIr, passRows } from "../../src/ir/index.ts";
import { generateProgram, random } from "../backend/generate.ts";
import { runDispatch } from "./interpreter/dispatch.ts";
import { generateMixture } from "./random-programs.ts";

const invocations = 12;
/** What it changes, it means to change: one rounding for two. Only where floats are small integers it is the same. */
const contracts = "opt-contract-fma";

/** What the program stores, run by the interpreter alone. */
function results(text: string, seed: number): Uint32Array[] {
  const next = random(seed ^ 0x5555);
  const input = Uint32Array.from({ length: 128 }, () => Math.floor(next() < 0.4 ? next() * 8 : next() * 2 ** 32));
  const push = Uint32Array.of(Math.floor(next() * 10), Math.floor(next() * 2 ** 32));
  const buffers = [input, new Uint32Array(128), new Uint32Array(1024)];
  const memory = buffers.map(({ buffer }) => new Uint8Array(buffer));
  runDispatch(
    { ...parseIr(text), local: [invocations, 1, 1], ldsBytes: 2048 },
    { groups: [1, 1, 1], push: new Uint8Array(push.buffer), buffer: (_, binding) => memory[binding] },
  );
  return buffers;
}

interface Sample {
  readonly seed: number;
  readonly text: string;
  readonly wanted: Uint32Array[];
}

describe("random programs give the same before and after", () => {
  let core: CoreTools;
  const sample = (seed: number, text: string): Sample => ({ seed, text, wanted: results(text, seed) });
  const plain = [1, 2, 3, 4].map((seed) => sample(seed, generateProgram(seed, 20 + (seed % 5) * 20).text));
  const mixed = [1, 2, 3].map((seed) => sample(seed, generateMixture(seed, 20 + seed * 10, true)));
  const exact = [4, 5].map((seed) => sample(seed, generateMixture(seed, 30, false)));
  const names = passRows.map(({ name }) => name).filter((name) => name !== "lift");
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  const through = (ir: string, name: string, contraction: boolean, seed: number): string => {
    const result = core.runPass(ir, name, { contraction });
    if (!result.ok) throw new Error(`seed ${seed}, ${name}: ${JSON.stringify(result.failures)}`);
    return result.ir;
  };

  for (const name of names) {
    it(name, () => {
      let changed = 0;
      for (const { seed, text, wanted } of name === contracts ? exact : [...plain, ...mixed]) {
        const ir = through(text, name, name === contracts, seed);
        // What the pass alone changes: reading and printing again number values anew.
        if (ir !== through(text, "none", false, seed)) changed++;
        expect(results(ir, seed), `seed ${seed}`).toEqual(wanted);
      }
      expect(changed).toBeGreaterThan(0);
    });
  }

  it("all of them, one after the other", () => {
    for (const { seed, text, wanted } of [...plain, ...mixed, ...exact]) {
      const contraction = exact.some((one) => one.text === text);
      let ir = text;
      for (const name of names) if (contraction || name !== contracts) ir = through(ir, name, contraction, seed);
      expect(results(ir, seed), `seed ${seed}`).toEqual(wanted);
    }
  });
});
