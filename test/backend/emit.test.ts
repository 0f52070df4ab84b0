import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { disassemble } from "../../src/isa/index.ts";

const folder = "test/backend/emit";
const files = readdirSync(folder).sort();

/** Bindings of 64 bytes one after the other in set 0; in set 1 binding 0 is an array of 4, binding 1 of 8 samplers. */
const bindings = [
  ...[0, 1, 2].map((binding) => ({ set: 0, binding, offsetBytes: 64 * binding, strideBytes: 64, count: 1 })),
  { set: 1, binding: 0, offsetBytes: 0, strideBytes: 64, count: 4 },
  { set: 1, binding: 1, offsetBytes: 256, strideBytes: 16, count: 8 },
];

/** `; about …`, IR, `; expect`, the code as text. */
function readCase(path: string) {
  const text = readFileSync(path, "utf8");
  const [input, expected] = text.split(/^; expect\n/m);
  if (!text.startsWith("; about ") || input === undefined || expected === undefined)
    throw new Error(`${path}: no test`);
  const stage = /^shader (compute|vertex|fragment) /m.exec(input)?.[1] as "compute" | "vertex" | "fragment";
  return { input, expected, stage };
}

/** `BLESS=1` rewrites the expected text; refused where `CI` is set. */
const bless = process.env.BLESS === "1" && !process.env.CI;

/** What the back end alone makes of a few instructions, at level 2: the text was checked by eye against the ISA. */
describe("IR to assembly", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  for (const name of files) {
    it(name, () => {
      const path = join(folder, name);
      const { input, expected, stage } = readCase(path);
      const result = core.emit(input, { bindings, stage });
      if (!result.ok) throw new Error(JSON.stringify(result.failures));
      const code = disassemble(result.output.code)
        .map(({ text }) => `${text.trim()}\n`)
        .join("");
      if (bless) writeFileSync(path, `${input}; expect\n${code}`);
      else expect(code).toBe(expected);
    });
  }

  it("each subject has a basic, an edge and a no-change case", () => {
    const subjects = new Set(files.map((name) => /^[a-z]+/.exec(name)?.[0] ?? ""));
    for (const subject of subjects) {
      for (const kind of ["basic", "edge", "no-change"]) {
        expect(
          files.some((name) => name.startsWith(`${subject}-${kind}`)),
          `${subject}: ${kind}`,
        ).toBe(true);
      }
    }
  });
});
