import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { parseIr, passRows } from "../../src/ir/index.ts";
import { generateProgram, random } from "../backend/generate.ts";
import { runDispatch } from "./interpreter/dispatch.ts";

const invocations = 12;
const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
/** What it changes, it means to change: one rounding for two. */
const rounds = "opt-contract-fma";
/** Without contraction the others keep each bit. */
const exact = { contraction: false };

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

describe("random programs give the same before and after", () => {
  let core: CoreTools;
  const before = seeds.map((seed) => {
    const { text } = generateProgram(seed, 20 + (seed % 5) * 20);
    return { seed, text, wanted: results(text, seed) };
  });
  const names = passRows.map(({ name }) => name).filter((name) => name !== "lift" && name !== rounds);
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  for (const name of names) {
    it(name, () => {
      let changed = 0;
      for (const { seed, text, wanted } of before) {
        const after = core.runPass(text, name, exact);
        if (!after.ok) throw new Error(`seed ${seed}: ${JSON.stringify(after.failures)}`);
        if (after.ir !== text) changed++;
        expect(results(after.ir, seed), `seed ${seed}`).toEqual(wanted);
      }
      // Not each pass has something to do in these programs; those that surely have, did.
      if (["opt-cse", "opt-dce", "opt-algebraic", "divergence"].includes(name)) expect(changed).toBeGreaterThan(0);
    });
  }

  it("all of them, one after the other", () => {
    for (const { seed, text, wanted } of before) {
      let ir = text;
      for (const name of names) {
        const after = core.runPass(ir, name, exact);
        if (!after.ok) throw new Error(`seed ${seed}, ${name}: ${JSON.stringify(after.failures)}`);
        ir = after.ir;
      }
      expect(results(ir, seed), `seed ${seed}`).toEqual(wanted);
    }
  });
});
