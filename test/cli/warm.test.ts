import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProcess, stopProcess } from "../service/crash-rounds.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "kiln-warm-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function compile(args: readonly string[], env: Record<string, string> = {}) {
  const done = spawnSync(process.execPath, ["dist/kiln.js", "compile", ...args], {
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  return { status: done.status, stdout: done.stdout, stderr: done.stderr };
}
const kernels = readdirSync("examples/kernels").map((name) => `examples/kernels/${name}`);
const saxpy = "examples/kernels/saxpy.comp";

describe("kiln compile --warm", () => {
  it("fills the folder that a server then hits, and a service", async () => {
    const cache = join(folder, "cache");
    const bad = join(folder, "bad.comp");
    writeFileSync(bad, "#version 450\nvoid main() { x = 1; }\n");
    expect(compile([...kernels, "--warm", "--cache-dir", cache])).toEqual({
      status: 0,
      stdout: "6 compiled, 0 were there, 0 failed\n",
      stderr: "",
    });
    const again = compile([bad, saxpy, join(folder, "nothing.comp"), "--warm", "--cache-dir", cache]);
    expect(again).toMatchObject({ status: 1, stdout: "0 compiled, 1 were there, 2 failed\n" });
    expect(again.stderr).toContain(`${bad}:2:`);
    const server = await startProcess(["--cache-dir", cache]);
    try {
      const answer = await fetch(`${server.address}/compile`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ source: readFileSync(saxpy, "utf8"), stage: "compute" }),
      });
      expect(await answer.json()).toMatchObject({ cache: "disk" });
      const fresh = compile([...kernels, "-O", "1", "--warm", "--server", server.address]);
      expect(fresh).toMatchObject({ status: 0, stdout: "6 compiled, 0 were there, 0 failed\n" });
      const warm = compile([...kernels, "-O", "1", "--warm", "--server", server.address]);
      expect(warm).toMatchObject({ status: 0, stdout: "0 compiled, 6 were there, 0 failed\n" });
    } finally {
      await stopProcess(server, "SIGTERM");
    }
  });
});

describe("KILN_DEBUG", () => {
  it("prints passes, IR, time and code of a compile on standard error, and leaves the output as it is", () => {
    const plain = compile([saxpy, "--emit", "asm"]);
    const debugged = compile([saxpy, "--emit", "asm"], { KILN_DEBUG: "ir,passes,validate,time,shaders" });
    expect(debugged.status).toBe(0);
    expect(debugged.stdout).toBe(plain.stdout);
    expect(debugged.stderr).toMatch(/^compiled examples\/kernels\/saxpy\.comp compute main: \d+ us$/m);
    expect(debugged.stderr).toMatch(/^; examples\/kernels\/saxpy\.comp opt-dce: \d+ instructions, \d+ us$/m);
    expect(debugged.stderr).toMatch(/^shader compute "main" wave32 local=/m);
    expect(debugged.stderr).toContain("s_endpgm");
    expect(compile([saxpy, "--emit", "asm"], { KILN_DEBUG: "passes" }).stderr).not.toContain("shader compute");
    const typo = compile([saxpy, "--emit", "asm"], { KILN_DEBUG: "pass" });
    expect(typo).toMatchObject({ status: 2, stdout: "" });
    expect(typo.stderr).toContain('there is no "pass"');
  });

  it("prints the same of a server's compiles, which count a validated core's time", async () => {
    const server = await startProcess(["--cache-dir", join(folder, "debug")], {
      KILN_DEBUG: "ir,passes,validate,nocache",
    });
    let printed = "";
    server.child.stderr?.on("data", (data) => {
      printed += String(data);
    });
    const ask = async () => {
      const answer = await fetch(`${server.address}/compile?stage=compute`, {
        method: "POST",
        headers: { "content-type": "text/x-glsl" },
        body: readFileSync(saxpy, "utf8"),
      });
      return (await answer.json()) as { key: string; cache: string };
    };
    const { key } = await ask();
    expect((await ask()).cache).toBe("miss");
    await stopProcess(server, "SIGTERM");
    expect(printed).toMatch(new RegExp(`^; ${key} opt-dce: \\d+ instructions, \\d+ us$`, "m"));
    expect(printed).toMatch(/^shader compute "main" wave32 local=/m);
    expect(printed).not.toMatch(/^compiled /m);
  });
});
