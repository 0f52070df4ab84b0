import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { oracle, runOracle } from "../oracles.ts";

const folder = mkdtempSync(join(tmpdir(), "kiln-spirv-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function kiln(args: readonly string[], input?: string) {
  return spawnSync(process.execPath, ["dist/kiln.js", "spirv", ...args], { encoding: "utf8", input });
}

const text = `OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %4 "main"
OpExecutionMode %4 LocalSize 8 1 1
%2 = OpTypeVoid
%3 = OpTypeFunction %2
%4 = OpFunction %2 None %3
%5 = OpLabel
OpReturn
OpFunctionEnd
`;
const opcodes = (listing: string) => listing.match(/Op[A-Z]\w+/g);

describe("kiln spirv", () => {
  const binary = join(folder, "empty.spv");

  it("assembles, disassembles and accepts a module", () => {
    expect(kiln(["as", "-", "-o", binary, "--target", "vulkan1.0"], text)).toMatchObject({ status: 0, stderr: "" });
    const words = new Uint32Array(new Uint8Array(readFileSync(binary)).buffer);
    expect([...words.subarray(0, 2)]).toEqual([0x07230203, 0x00010000]);
    const shown = kiln(["dis", binary]);
    expect(shown.status).toBe(0);
    expect(opcodes(shown.stdout)).toEqual(opcodes(text));
    expect(kiln(["val", binary])).toMatchObject({ status: 0, stdout: "", stderr: "" });
  });

  it.skipIf(!oracle("spirv-val"))("assembles what spirv-val accepts", () => {
    kiln(["as", "-", "-o", binary, "--target", "vulkan1.0"], text);
    expect(runOracle("spirv-val", ["--target-env", "vulkan1.0", binary]).status).toBe(0);
  });

  it("names the place of what is wrong", () => {
    const misspelt = kiln(["as", "-"], text.replace("OpReturn", "OpRetrun"));
    expect(misspelt.status).toBe(1);
    expect(misspelt.stderr).toMatch(/^stdin:9:1: error: .*OpRetrun.*\[SPIRVASM_UNKNOWN_OP\]$/m);
    const undefinedId = join(folder, "undefined.spv");
    kiln(["as", "-", "-o", undefinedId], text.replace("OpReturn", "OpBranch %9"));
    const invalid = kiln(["val", undefinedId]);
    expect(invalid.status).toBe(1);
    expect(invalid.stderr).toMatch(/%9.*\[SPIRV_/);
    writeFileSync(binary, "no");
    expect(kiln(["dis", binary])).toMatchObject({ status: 1, stdout: "" });
    expect(kiln(["strip", binary])).toMatchObject({ status: 2 });
  });
});
