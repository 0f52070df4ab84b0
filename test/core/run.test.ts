import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { Simulator } from "../backend/simulate.ts";
import { localArrays } from "./local-arrays.ts";
import { programSource, programs } from "./programs.ts";
import { robustness } from "./robustness.ts";
import { asmToWords, glslToWords } from "./spirv-source.ts";
import { tables } from "./tables.ts";

const count = 64;
/** Words with small, large, negative and round values among them. */
const input = Uint32Array.from({ length: count }, (_, i) => {
  const mixed = Math.imul(i + 1, 0x9e3779b1) >>> 0;
  return (i % 8 === 0 ? i / 8 : i % 8 === 1 ? mixed >>> 20 : i % 8 === 2 ? 0x80000000 + (mixed >>> 28) : mixed) >>> 0;
});

const bindings = [0, 1].map((binding) => ({ set: 0, binding, offsetBytes: 16 * binding, strideBytes: 16, count: 1 }));

describe("programs compiled at each level and run on the simulated GPU", () => {
  let core: CoreTools;
  const simulator = new Simulator();
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  for (const program of [...programs, ...localArrays, ...tables, ...robustness]) {
    it(program.name, () => {
      const words = program.assembly === undefined ? glslToWords(programSource(program)) : asmToWords(program.assembly);
      const wanted = [...input].map((x, i) => program.expect(i, x, input) >>> 0);
      for (const optimization of [0, 1, 2] as const) {
        const result = core.compile({
          words,
          stage: "compute",
          entryPoint: "main",
          specialization: [],
          bindings,
          optimization,
          contraction: false,
          robust: true,
        });
        if (!result.ok) throw new Error(`level ${optimization}: ${JSON.stringify(result.failures)}`);
        const { output } = result;
        const [, results = new Uint32Array()] = simulator.run({
          emitted: { ...output, userSgprs: 3, pushPointer: false, pushInlined: 0 } as never,
          local: [32, 1, 1],
          groups: [count / 32, 1, 1],
          groupIds: [...output.usesWorkgroupId],
          ldsBytes: output.ldsBytes,
          push: [],
          buffers: [input, new Uint32Array(count)],
        });
        expect([...results], `level ${optimization}`).toEqual(wanted);
      }
    });
  }
});
