import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "kiln-run-"));
  mkdirSync(join(folder, "more"));
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  put("a-good.amber", "#!amber\nBUFFER b DATA_TYPE int32 DATA 1 END\nEXPECT b IDX 0 EQ 1\n");
  put("b-bad.amber", "#!amber\nBUFFER b DATA_TYPE int32 DATA 1 END\nEXPECT b IDX 0 EQ 2\n");
  put("more/c-graphics.amber", "#!amber\nPIPELINE graphics p\nEND\n");
  put("list.txt", "b-bad.amber\n\nmore/c-graphics.amber\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, ["dist/kiln.js", "run", ...args], { encoding: "utf8", timeout: 30_000 });

it("prints one line a file, in order, then the counts; status 1 where one fails", () => {
  const { status, stdout } = run(folder, "--jobs", "2");
  const at = (name: string) => join(folder, name);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.slice(0, 3)).toEqual([
    `PASS ${at("a-good.amber")}`,
    `FAIL ${at("b-bad.amber")}:3: buffer b byte 0: got 1, expected EQ 2`,
    `SKIP ${at("more/c-graphics.amber")}:2: graphics pipelines`,
  ]);
  expect(lines.at(-1)).toBe("1 passed, 1 failed, 1 skipped");
  expect(status).toBe(1);
});

it("takes a list under a root, and writes JSON and JUnit", () => {
  const junit = join(folder, "out.xml");
  const { status, stdout } = run("--root", folder, "--list", join(folder, "list.txt"), "--json", "-", "--junit", junit);
  expect(status).toBe(1);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({ passed: 0, failed: 1, skipped: 1 });
  expect(report.files).toMatchObject([
    { file: "b-bad.amber", status: "FAIL", line: 3 },
    { file: "more/c-graphics.amber", status: "SKIP", line: 2 },
  ]);
  expect(readFileSync(junit, "utf8")).toMatch(/<testsuite name="kiln run" tests="2" failures="1" skipped="1">/);
});

it("calls a wrong option, a missing path and an empty choice wrong usage", () => {
  expect(run(folder, "--jobs", "0").status).toBe(2);
  expect(run(join(folder, "gone")).status).toBe(2);
  expect(run().status).toBe(2);
});

it("names the seed of the run that fails", () => {
  const { stdout } = run(join(folder, "b-bad.amber"), "--repeat", "3", "--seed", "7");
  expect(stdout).toMatch(/^FAIL .*:3: seed 7: buffer b/);
});
