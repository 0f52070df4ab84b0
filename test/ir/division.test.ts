import { beforeAll, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { parseIr } from "../../src/ir/index.ts";
import { runDispatch } from "./interpreter/dispatch.ts";

let core: CoreTools;
beforeAll(async () => {
  core = await createCore({ checked: true });
});

const meaning: Readonly<Record<string, (a: number, b: number) => number>> = {
  udiv: (a, b) => Math.floor((a >>> 0) / (b >>> 0)),
  umod: (a, b) => (a >>> 0) % (b >>> 0),
  idiv: (a, b) => Math.trunc(a / b),
  irem: (a, b) => a % b,
  imod: (a, b) => a - b * Math.floor(a / b),
};

const divisors = [1, -1, 2, -2, 3, -3, 5, 7, -7, 8, -8, 10, 12, 100, 641, 65537, 1 << 30, 0x7fffffff, -0x7fffffff];

/** Multiples of the divisor and their neighbours, around 0 and at both ends. */
function dividends(b: number): Int32Array {
  const last = Math.trunc(0x7fffffff / b) * b;
  const near = [0, b, -b, 2 * b, last, -last, 0x7fffffff, -0x80000000, 123456789, -987654321];
  return Int32Array.from(near.flatMap((x) => [x - 1, x, x + 1]));
}

it("divides by every kind of constant as division says", () => {
  for (const [op, wanted] of Object.entries(meaning)) {
    for (const b of divisors) {
      const divisor = `0x${(b >>> 0).toString(16).padStart(8, "0")}`;
      const result = core.runPass(
        `shader compute "t" wave32 local=64,1,1 {
b0:
  %0:32 = const ${divisor}
  %1:32 = const 0x00000002
  %2:32 = load_local_id component=0
  %3:32 = ishl %2, %1
  %4:32 = load_ssbo %3 binding=0 set=0
  %5:32 = ${op} %4, %0
  store_ssbo %5, %3 binding=1 set=0
  end
}
`,
        "lower-idiv",
      );
      if (!result.ok) throw new Error(JSON.stringify(result.failures));
      const values = dividends(b).filter((a) => !(a === -0x80000000 && b === -1));
      const buffers = [new Uint32Array(values.buffer), new Uint32Array(values.length)];
      const memory = buffers.map(
        ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
      );
      runDispatch(
        { ...parseIr(result.ir), local: [values.length, 1, 1] },
        { groups: [1, 1, 1], push: new Uint8Array(8), buffer: (_, binding) => memory[binding] },
      );
      const expected = Uint32Array.from(values, (a) => wanted(a, b) >>> 0);
      expect(buffers[1], `${op} by ${b}`).toEqual(expected);
    }
  }
});
