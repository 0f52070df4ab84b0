import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runFile } from "../../src/amber/index.ts";
import { createLocalCompiler, createMachine, type Machine } from "../../src/service/index.ts";

let machine: Machine;
let folder: string;
const compiler = createLocalCompiler();
beforeAll(() => {
  machine = createMachine({ memoryBytes: 256 << 20, worker: false });
  folder = mkdtempSync(join(tmpdir(), "kiln-amber-"));
});
afterAll(async () => {
  await machine.close();
  rmSync(folder, { recursive: true, force: true });
});

function run(text: string, timeoutMs = 20_000, name = "script.amber") {
  writeFileSync(join(folder, name), text);
  return runFile(join(folder, name), name, { machine, compiler, timeoutMs });
}

const program = (body: string, rest: string) => `#!amber
SHADER compute s GLSL
#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Out { uint y[]; };
void main() { ${body} }
END
BUFFER b DATA_TYPE uint32 SIZE 4 FILL 1
PIPELINE compute p
  ATTACH s
  BIND BUFFER b AS storage DESCRIPTOR_SET 0 BINDING 0
END
${rest}`;

it("passes", async () => {
  const result = await run(program("y[1] = 5u;", "RUN p 1 1 1\nEXPECT b IDX 0 EQ 1 5 1\n"));
  expect(result).toMatchObject({ status: "PASS", file: "script.amber", reason: "" });
});

it("names line, byte and both values of a failure", async () => {
  const result = await run(program("y[1] = 5u;", "RUN p 1 1 1\nEXPECT b IDX 0 EQ 1 6 1\n"));
  expect(result).toMatchObject({ status: "FAIL", line: 14, reason: "buffer b byte 4: got 5, expected EQ 6" });
});

it("names the script's line of a shader's mistake", async () => {
  const result = await run(program("y[1] = missing;", "RUN p 1 1 1\n"));
  expect(result).toMatchObject({ status: "FAIL", line: 6 });
  expect(result.reason).toMatch(/^6:22: .*missing/);
});

it("refuses a value past the end of a buffer", async () => {
  const result = await run(program("y[1] = 5u;", "EXPECT b IDX 12 EQ 1 1\n"));
  expect(result).toMatchObject({ status: "FAIL", line: 13 });
  expect(result.reason).toMatch(/ends at byte 16/);
});

it("ends an endless dispatch with its fault, and the next script runs", async () => {
  const endless = await run(program("while (y[0] == 1u) y[1]++;", "RUN p 1 1 1\n"), 300);
  expect(endless).toMatchObject({ status: "FAIL", line: 13 });
  const next = await run(program("y[1] = 5u;", "RUN p 1 1 1\nEXPECT b IDX 4 EQ 5\n"));
  expect(next.status).toBe("PASS");
});

it("ends a script that repeats for too long", async () => {
  const result = await run(program("y[1]++;", "REPEAT 100000000\nRUN p 1 1 1\nEND\n"), 300);
  expect(result).toMatchObject({ status: "FAIL", reason: "the script runs for longer than 0.3 s" });
});

it("turns the verdict of a script that must fail", async () => {
  const good = program("y[1] = 5u;", "RUN p 1 1 1\nEXPECT b IDX 4 EQ 5\n");
  const bad = program("y[1] = 5u;", "RUN p 1 1 1\nEXPECT b IDX 4 EQ 6\n");
  expect(await run(bad, 20_000, "bad.expect_fail.amber")).toMatchObject({ status: "PASS" });
  expect(await run(good, 20_000, "good.expect_fail.amber")).toMatchObject({ status: "FAIL" });
  expect(await run("#!amber\nNONSENSE\n", 20_000, "nonsense.expect_fail.amber")).toMatchObject({ status: "PASS" });
});

it("skips what the machine does not have, with the line", async () => {
  const result = await run("#!amber\n\nDEVICE_FEATURE tessellationShader\n");
  expect(result).toMatchObject({ status: "SKIP", line: 3, reason: "device feature tessellationShader" });
});

it("answers for a file that is not there", async () => {
  const result = await runFile(join(folder, "gone.amber"), "gone.amber", { machine, compiler, timeoutMs: 1000 });
  expect(result).toMatchObject({ status: "FAIL", reason: "cannot be read: ENOENT" });
});
