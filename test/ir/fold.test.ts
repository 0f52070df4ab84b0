import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { OpFlag, opRows } from "../../src/ir/index.ts";
import { exactMeaning } from "./interpreter/meaning.ts";

/** Zeros, ones, denormals, infinities, NaN, halves, limits, and words without pattern. */
const special = [
  0, 1, 2, 31, 32, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x3f800000, 0xbf800000, 0x3f000000, 0x40200000,
  0xc0200000, 0x7f800000, 0xff800000, 0x7fc00000, 0x007fffff, 0x00800000, 0x7f7fffff, 0x4f000000, 0xcf000000,
  0x4b7fffff,
];
const words = Array.from({ length: 60 }, (_, i) =>
  i < special.length ? (special[i] ?? 0) : Math.imul(i * i + 7, 0x9e3779b1) >>> 0,
);

describe("constant folding", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  for (const row of opRows.filter((r) => r.flags & OpFlag.Foldable)) {
    it(`${row.name}: ${row.prose}`, () => {
      const oracle = exactMeaning[row.name];
      if (oracle === undefined) throw new Error(`the test does not know ${row.name}`);
      const width = row.dst === "1" ? 1 : 32;
      const lines: string[] = [];
      const wanted: string[] = [];
      for (let k = 0; k < 150; k++) {
        const operands = row.srcs.map((_, n) => words[(k * (7 + 6 * n) + n * 11 + (k >> 3)) % words.length] ?? 0);
        const names = operands.map((bits, n) => {
          const isBool = row.srcs[n] === "1";
          lines.push(`  %c${k}_${n}:${isBool ? 1 : 32} = const ${isBool ? (bits & 1 ? "true" : "false") : bits}`);
          return `%c${k}_${n}`;
        });
        lines.push(`  %r${k}:${width} = ${row.name} ${names.join(", ")}`);
        lines.push(width === 1 ? `  %w${k}:32 = b2i %r${k}` : `  %w${k}:32 = iadd %r${k}, %c0_zero`);
        lines.push(
          `  store_ssbo %r${k}x, %c0_zero binding=0 set=0`.replace(`%r${k}x`, width === 1 ? `%w${k}` : `%r${k}`),
        );
        const [a = 0, b = 0, c = 0] = operands.map((bits, n) => (row.srcs[n] === "1" ? bits & 1 : bits));
        wanted.push(`0x${(oracle(a, b, c) >>> 0).toString(16).padStart(8, "0")}`);
      }
      const text = `shader compute "fold" wave32 local=1,1,1 {\nb0:\n  %c0_zero:32 = const 0\n${lines.join("\n")}\n  end\n}\n`;
      const result = core.runPass(text, "opt-const-fold");
      if (!result.ok) throw new Error(JSON.stringify(result.failures));
      // A boolean's b2i folds in the same walk, as the comparison before it does.
      const constants = new Map([...result.ir.matchAll(/(%\d+):32 = const (\w+)/g)].map((m) => [m[1], m[2]]));
      const stored = [...result.ir.matchAll(/store_ssbo (%\d+),/g)].map((m) => constants.get(m[1]));
      expect(stored).toEqual(wanted);
    });
  }
});
