import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

function run(...args: string[]) {
  return spawnSync(process.execPath, ["node_modules/tsx/dist/cli.mjs", "examples/matmul.ts", ...args], {
    cwd: root,
    encoding: "utf8",
    timeout: 60_000,
  });
}

describe("examples/matmul.ts", () => {
  it("compiles, runs and checks a matrix multiply, printing addresses, ioctls, packets and the ISA", () => {
    const { status, stdout, stderr } = run("--n", "32");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^ {2}right$/m);
    expect(stdout).toMatch(/kernel \[matmul\] ioctl\(3, SUBMIT, \{context=1, .*\) = 0 </);
    expect(stdout).toMatch(/DISPATCH_DIRECT groups 2x2x1/);
    expect(stdout).toMatch(/^ {2}0x1[0-9a-f]{8} {2}s_endpgm$/m);
    expect(stdout).toMatch(/binding 2: buffer at 0x1[0-9a-f]{8}, V# /);
  }, 60_000);

  it("refuses a size its kernel can't take with status 2", () => {
    const { status, stderr } = run("--n", "17");
    expect([status, stderr]).toEqual([2, "--n must be a positive multiple of 16\n"]);
  }, 60_000);
});
