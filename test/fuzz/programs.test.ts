import { describe, expect, it } from "vitest";
import { createCore } from "../../src/core/index.ts";
import { opName } from "../../src/spirv/index.ts";
import { checkProgram, reduced } from "./check-program.ts";
import { generate, sourceOf } from "./programs.ts";

describe("random programs", () => {
  it("give the same words at each level and by the IR as lifted", async () => {
    const core = await createCore({ checked: true, opName });
    for (let seed = 1; seed <= 3; seed++) {
      const { kind, why } = checkProgram(seed, core);
      expect(`seed ${seed}: ${kind} ${why}`).toBe(`seed ${seed}: good `);
    }
  });

  it("are made small, as long as they are wrong", () => {
    const isBad = (source: string): boolean => source.includes("barrier()") && source.includes("switch");
    const program = [...Array(60).keys()].map(generate).find((each) => isBad(sourceOf(each)));
    if (program === undefined) throw new Error("no program has both");
    const small = reduced(program, isBad);
    expect(small.functions.length + small.body.length).toBeLessThanOrEqual(3);
    expect(isBad(sourceOf(small))).toBe(true);
  });
});
