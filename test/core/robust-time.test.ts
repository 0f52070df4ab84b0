import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { fragmentCases } from "../ir/stage-cases.ts";
import { programSource } from "./programs.ts";
import { robustness } from "./robustness.ts";
import { asmToWords, glslToWords } from "./spirv-source.ts";

const bindings = [0, 1].map((binding) => ({ set: 0, binding, offsetBytes: 16 * binding, strideBytes: 16, count: 1 }));

/** Instructions of a module; its words tell how long each is. */
function instructions(words: Uint32Array): number {
  let count = 0;
  for (let at = 5; at < words.length; at += words[at]! >>> 16) count++;
  return count;
}

/** As long as the longest of the open files, and of their mixture: loops, ifs, switches, calls, arrays. */
const long = `uint f(uint v, uint k) { for (uint j = 0u; j < (v & 3u); j++) { if (v == k) return v; v = v * 3u + j; } return v; }
`;
const longBody = Array.from(
  { length: 28 },
  (_, k) => `if ((x >> ${k % 31}) % 3u == 1u) { y += f(x, ${k}u); } else { y ^= a[(x + ${k}u) & 63u]; }
switch (y & 3u) { case 0u: x += y; break; case 1u: x ^= ${k}u; default: y -= x; }
for (uint j${k} = 0u; j${k} < (y & 7u); j${k}++) { x = x * 5u + j${k}; if (x % 11u == ${k % 11}u) break; }
`,
).join("");

describe("R27: shaders of the shapes that fuzzers make", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore();
  });

  /** Milliseconds of CPU that a compile takes: the least of some, warm. */
  function cost(words: Uint32Array): number {
    let least = Number.POSITIVE_INFINITY;
    for (let k = 0; k < 4; k++) {
      const began = process.cpuUsage();
      const result = core.compile({
        words,
        stage: "compute",
        entryPoint: "main",
        specialization: [],
        bindings,
        optimization: 2,
        contraction: true,
        robust: true,
      });
      const { user, system } = process.cpuUsage(began);
      expect(result.ok).toBe(true);
      least = Math.min(least, (user + system) / 1000);
    }
    return least;
  }

  it("compile in 2 ms where they are as long as most, and in 100 ms at most", () => {
    const modules = robustness.map((p) =>
      p.assembly === undefined ? glslToWords(programSource(p)) : asmToWords(p.assembly),
    );
    const longest = glslToWords(programSource({ name: "long", before: long, body: longBody, expect: () => 0 }));
    expect(instructions(longest)).toBeGreaterThan(2187);
    const sizes = modules.map(instructions).sort((a, b) => a - b);
    // No easier than the open files, whose median is 126.
    expect(sizes[sizes.length >> 1]).toBeGreaterThan(126);
    const costs = modules.map(cost).sort((a, b) => a - b);
    expect(costs[costs.length >> 1]).toBeLessThan(2);
    expect(costs.at(-1)).toBeLessThan(100);
    expect(cost(longest)).toBeLessThan(100);
  });

  it("each of R1 to R27 has a test", () => {
    const names = [...robustness, ...fragmentCases].map(({ name }) => name).concat("R27: this one");
    const shown = new Set(names.flatMap((name) => [...name.matchAll(/\bR(\d+):/g)].map(([, n]) => Number(n))));
    expect([...shown].sort((a, b) => a - b)).toEqual(Array.from({ length: 27 }, (_, k) => k + 1));
  });
});
