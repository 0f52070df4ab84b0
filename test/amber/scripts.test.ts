import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runFile } from "../../src/amber/index.ts";
import { createLocalCompiler, createMachine, type Machine } from "../../src/service/index.ts";

/** Each script runs on the simulated GPU; those named `.expect_fail` fail. */
const folder = "test/amber/scripts";
const scripts = readdirSync(folder).filter((name) => /\.(amber|vkscript)$/.test(name));
const compiler = createLocalCompiler();
let machine: Machine;
beforeAll(() => {
  machine = createMachine({ memoryBytes: 256 << 20, worker: false });
});
afterAll(() => machine.close());

const run = (name: string) => runFile(join(folder, name), name, { machine, compiler, timeoutMs: 20_000 });

it("has scripts of both dialects", () => {
  expect(scripts.length).toBeGreaterThan(50);
  expect(scripts.some((name) => name.endsWith(".vkscript"))).toBe(true);
});

it.each(scripts)("%s", async (name) => {
  const { status, line, reason } = await run(name);
  expect(`${status} ${line}: ${name.includes(".expect_fail.") ? "" : reason}`).toMatch(/^PASS/);
  // what must fail fails in its last command, not by an earlier mistake
  if (name.includes(".expect_fail.")) expect(reason).toMatch(/^buffers? /);
});
