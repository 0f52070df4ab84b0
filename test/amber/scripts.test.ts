import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runFile } from "../../src/amber/index.ts";
import { createLocalCompiler, createMachine, type Machine } from "../../src/service/index.ts";
import { type ApiMessage, formatApiMessage } from "../../src/umd/index.ts";

/** Each script runs on the simulated GPU; those named `.expect_fail` fail. */
const folder = "test/amber/scripts";
const scripts = readdirSync(folder).filter((name) => /\.(amber|vkscript)$/.test(name));
const compiler = createLocalCompiler();
let machine: Machine;
beforeAll(() => {
  machine = createMachine({ memoryBytes: 256 << 20, worker: false });
});
afterAll(() => machine.close());

/** What validation says of the driver's calls that a script becomes. */
const messages: string[] = [];
const run = (name: string) => {
  messages.length = 0;
  const process = { validate: (message: ApiMessage) => messages.push(formatApiMessage(message)) };
  return runFile(join(folder, name), name, { machine, compiler, timeoutMs: 20_000, process });
};

it("has scripts of both dialects", () => {
  expect(scripts.length).toBeGreaterThan(50);
  expect(scripts.some((name) => name.endsWith(".vkscript"))).toBe(true);
});

it.each(scripts)("%s", async (name) => {
  const { status, line, reason } = await run(name);
  expect(messages).toEqual([]);
  expect(`${status} ${line}: ${name.includes(".expect_fail.") ? "" : reason}`).toMatch(/^PASS/);
  // what must fail fails in its last command, not by an earlier mistake
  if (name.includes(".expect_fail.")) expect(reason).toMatch(/^buffers? /);
});
