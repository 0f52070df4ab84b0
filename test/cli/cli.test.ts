import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { oracle, runOracle } from "../oracles.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "kiln-cli-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function kiln(args: readonly string[], input?: string | Buffer): SpawnSyncReturns<string> {
  const done = spawnSync(process.execPath, ["dist/kiln.js", ...args], { encoding: "utf8", input, timeout: 30_000 });
  if (done.error !== undefined) throw done.error;
  return done;
}
const file = (name: string, text: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const scale = `#version 450
layout(local_size_x = 32) in;
layout(push_constant) uniform P { uint a; float b; };
layout(std430, binding = 0) buffer X { uint x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
void main() { uint i = gl_GlobalInvocationID.x; x[i] = x[i] * a + i; y[i] = float(i) * b; }
`;

describe("kiln", () => {
  it("prints version and help, and calls wrong usage 2", () => {
    const build = JSON.parse(readFileSync("dist/build-id.json", "utf8"));
    for (const args of [["--version"], ["compile", "--version"]]) {
      expect(kiln(args)).toMatchObject({ status: 0, stdout: `kiln ${build.version} (build ${build.buildId})\n` });
    }
    const help = kiln(["--help"]);
    expect(help.status).toBe(0);
    for (const name of ["serve", "compile", "exec", "disasm", "cache", "doctor"]) expect(help.stdout).toContain(name);
    for (const args of [[], ["nonsense"], ["compile"], ["compile", "--nonsense", "a"], ["serve", "--port", "x"]]) {
      const wrong = kiln(args);
      expect(wrong.status, args.join(" ")).toBe(2);
      expect(wrong.stdout).toBe("");
      expect(wrong.stderr).not.toBe("");
    }
    // Nothing is wrong with the line; the version lacks it.
    const render = kiln(["render", "a.frag", "--size", "8x8", "-o", "a.png"]);
    expect(render).toMatchObject({ status: 3, stdout: "" });
    expect(render.stderr).toContain("this version draws no pictures");
  });

  it("bears readers that leave, and says where output has no room", () => {
    const path = file("left.comp", scale);
    const shell = (line: string) => spawnSync("bash", ["-c", `set -o pipefail; ${line}`], { encoding: "utf8" });
    const compile = `"${process.execPath}" dist/kiln.js compile "${path}" --emit asm`;
    expect(shell(`${compile} | true`)).toMatchObject({ status: 0, stderr: "" });
    expect(shell(`${compile} | head -1`)).toMatchObject({ status: 0, stdout: "main:\n", stderr: "" });
    expect(shell(`${compile} > /dev/full`)).toMatchObject({
      status: 3,
      stderr: "kiln: standard output: no space left\n",
    });
  });

  it("compiles to each kind of output", () => {
    const path = file("scale.comp", scale);
    const run = (emit: string) => kiln(["compile", path, "--emit", emit]);
    expect(run("asm").stdout).toMatch(/^main:\n[\s\S]*s_endpgm/);
    expect(JSON.parse(run("stats").stdout).instructions).toBeGreaterThan(5);
    const answer = JSON.parse(run("json").stdout);
    expect(answer).toMatchObject({ target: "gfx1030", stage: "compute", reflection: { workgroupSize: [32, 1, 1] } });
    expect(run("spirv-asm").stdout).toContain("OpEntryPoint GLCompute");
    expect(run("ir").stdout).toContain('shader compute "main"');
    const { blocks, edges } = JSON.parse(run("cfg").stdout);
    expect(blocks[0].offset).toBe(0);
    expect(blocks.at(-1).endOffset).toBe(answer.codeSizeBytes);
    expect(edges).toHaveLength(blocks.length - 1);
    const lives = JSON.parse(run("liveRegisters").stdout);
    expect(lives).toHaveLength(answer.stats.instructions);
    const passes: { name: string; machine: boolean; instructions: number }[] = JSON.parse(run("passes").stdout);
    expect(passes[0]).toMatchObject({ name: "lift", machine: false });
    expect(passes.at(-1)).toMatchObject({ name: "encode", machine: true, instructions: answer.stats.instructions });
    const dumped = kiln(["compile", path, "--emit", "stats", "--dump-after", "all"]);
    expect(dumped.stderr).toMatch(/; after lower-vars-to-ssa: \d+ instructions\n/);
    const unknown = kiln(["compile", path, "--dump-after", "no-such-pass"]);
    expect(unknown).toMatchObject({ status: 2 });
    const names = /no such pass; at -O 2 there are: (.+) \(or all\)/.exec(unknown.stderr)?.[1]?.split(" ") ?? [];
    expect(names).toContain("opt-unroll");
    expect(new Set(names).size).toBe(names.length);
    expect(kiln(["compile", path, "-O", "0", "--dump-after", "opt-unroll"])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^--dump-after: opt-unroll does not run for this shader at -O 0; these do: lift /),
    });
    const elf = join(folder, "scale.elf");
    expect(kiln(["compile", path, "-o", elf])).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(readFileSync(elf).toString("base64")).toBe(answer.code);
    expect(kiln(["disasm", elf]).stdout).toBe(run("asm").stdout);
  });

  it.skipIf(!oracle("llvm-objdump-19"))("writes code that llvm-objdump reads whole, with as many instructions", () => {
    const elf = join(folder, "count.elf");
    kiln(["compile", file("count.comp", scale), "-o", elf]);
    const { instructions } = JSON.parse(kiln(["compile", join(folder, "count.comp"), "--emit", "stats"]).stdout);
    const { stdout } = runOracle("llvm-objdump-19", ["-d", "--mcpu=gfx1030", elf]);
    const lines = stdout.split("\n").filter((line) => /^\t/.test(line) && !line.includes("s_code_end"));
    expect(stdout).not.toMatch(/unknown|<unk>|\.long/);
    expect(lines).toHaveLength(instructions);
  });

  it("prints diagnostics on stderr; one bad file does not stop the others", () => {
    const bad = file(
      "bad.comp",
      "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {\n  foo();\n  int a = 1.5;\n}\n",
    );
    const good = file("good.comp", scale);
    const out = join(folder, "out");
    const done = kiln(["compile", bad, good, "-o", out]);
    expect(done.status).toBe(1);
    const lines = done.stderr.trim().split("\n");
    expect(lines[0]).toMatch(new RegExp(`^${bad}:4:3: error: .+ \\[GLSL_\\w+\\]$`));
    expect(lines[1]).toMatch(new RegExp(`^${bad}:5:11: error: .+ \\[GLSL_\\w+\\]$`));
    expect(readFileSync(join(out, "good.comp.elf")).subarray(1, 4).toString()).toBe("ELF");
    expect(kiln(["compile", join(folder, "missing.comp")])).toMatchObject({ status: 1 });
    expect(kiln(["compile", file("no-stage.glsl", scale)])).toMatchObject({ status: 2 });
  });

  it("takes macros, includes, specialisation and standard input", () => {
    mkdirSync(join(folder, "inc"), { recursive: true });
    file("inc/factor.h", "const uint factor = FACTOR;\n");
    file("near.h", "#define OFFSET 5u\n");
    const source = `#version 450
#extension GL_GOOGLE_include_directive : require
#include <factor.h>
#include "near.h"
layout(local_size_x = 32) in;
layout(constant_id = 3) const uint extra = 0;
layout(std430, binding = 0) buffer X { uint x[]; };
void main() { x[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * factor + OFFSET + extra; }
`;
    const path = file("include.comp", source);
    const flags = ["-D", "FACTOR=3u", "-I", join(folder, "inc"), "--spec", "3=100"];
    const args = ["exec", path, ...flags, "--bind", "0=zero:128", "--out", `0=${join(folder, "x.bin")}`];
    expect(kiln(args)).toMatchObject({ status: 0, stderr: "" });
    const words = readFileSync(join(folder, "x.bin"));
    for (let i = 0; i < 32; i++) expect(words.readUInt32LE(i * 4)).toBe(i * 3 + 105);
    expect(kiln(["compile", "-", "--stage", "comp", "--emit", "asm"], scale).stdout).toContain("s_endpgm");
    expect(kiln(["compile", path, "-I", join(folder, "inc")])).toMatchObject({ status: 1 });
  });

  it("tells of an unreadable file in words and compiles the others", () => {
    const good = file("good.comp", scale);
    const out = join(folder, "several");
    const absent = join(folder, "absent.comp");
    const done = kiln(["compile", absent, folder, good, "--stage", "comp", "-o", out]);
    expect(done).toMatchObject({ status: 1, stdout: "" });
    expect(done.stderr.split("\n")).toEqual([
      expect.stringContaining(`${absent}: no such file`),
      `${folder}: is a folder`,
      "",
    ]);
    expect(readFileSync(join(out, "good.comp.elf")).subarray(1, 4).toString()).toBe("ELF");
  });

  it("refuses two files that would be written to one, and compiles neither", () => {
    mkdirSync(join(folder, "one"));
    mkdirSync(join(folder, "two"));
    const paths = [file("one/same.comp", scale), file("two/same.comp", scale)];
    const done = kiln(["compile", ...paths, "-o", join(folder, "both")]);
    expect(done).toMatchObject({ status: 2, stdout: "" });
    for (const path of paths) expect(done.stderr).toContain(path);
    expect(existsSync(join(folder, "both"))).toBe(false);
    expect(kiln(["compile", ...paths, "--emit", "asm"])).toMatchObject({ status: 0, stderr: "" });
  });

  it("disassembles code objects only", () => {
    const noise = file("noise.elf", Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 73) & 255)));
    for (const path of [noise, file("empty.elf", ""), join(folder, "absent.elf")]) {
      const done = kiln(["disasm", path]);
      expect(done).toMatchObject({ status: 1, stdout: "" });
      expect(done.stderr).toContain(path);
    }
  });
});

describe("kiln exec", () => {
  it("runs a shader on raw buffers with push constants", () => {
    const path = file("run.comp", scale);
    const input = Buffer.alloc(256);
    for (let i = 0; i < 64; i++) input.writeUInt32LE(1000 - i, i * 4);
    const [x, y] = [join(folder, "run-x.bin"), join(folder, "run-y.bin")];
    const done = kiln([
      ...["exec", path, "--bind", `0=${file("in.bin", input)}`, "--bind", "1=zero:256", "--groups", "2,1,1"],
      ...["--push", "u32 3 f32 0.25", "--out", `0=${x}`, "--out", `1=${y}`],
    ]);
    expect(done).toMatchObject({ status: 0, stderr: "" });
    const [xs, ys] = [readFileSync(x), readFileSync(y)];
    for (let i = 0; i < 64; i++) {
      expect(xs.readUInt32LE(i * 4)).toBe((1000 - i) * 3 + i);
      expect(ys.readFloatLE(i * 4)).toBe(i * 0.25);
    }
  });

  it("ends an endless shader at its timeout with status 1, naming instruction, line and address", () => {
    const source = `#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer X { uint x[]; };
void main() {
  for (;;);
}
`;
    const path = file("endless.comp", source);
    const done = kiln(["exec", path, "--bind", "0=zero:64", "--timeout-seconds", "0.5"]);
    expect(done.status).toBe(1);
    expect(done.stderr).toContain(`${path}:5:`);
    expect(done.stderr).toMatch(/instruction 0x[0-9a-f]+ \(.*\+ 0x[0-9a-f]+\): (s|v|buffer)_\w+/);
  });

  it("ends with 2 for arguments that make no sense, 1 for a file that is not there", () => {
    const path = file("args.comp", scale);
    expect(kiln(["exec", path, "--bind", "0=zero:128"])).toMatchObject({ status: 2, stdout: "" });
    expect(kiln(["exec", path, "--bind", `0=${join(folder, "nothing.bin")}`])).toMatchObject({ status: 1 });
    const bound = ["exec", path, "--bind", "0=zero:128", "--bind", "1=zero:128"];
    const refused = (...args: string[]) => {
      const done = kiln([...bound, ...args]);
      expect(done).toMatchObject({ status: 2, stdout: "" });
      return done.stderr;
    };
    expect(refused()).toMatch(/8 bytes of push constants, 0 are given/);
    expect(refused("--push", "u32 1")).toMatch(/8 bytes of push constants, 4 are given/);
    expect(refused("--push", "u32 1 f32 1", "--bind", "0.1=zero:4")).toMatch(/set 0 binding 1 is given twice/);
  });

  it("tells what the environment refuses in words, with status 3", () => {
    const path = file("refused.comp", scale);
    const run = (size: number, ...args: string[]) =>
      kiln(["exec", path, "--push", "u32 1 f32 1", "--bind", `0=zero:${size}`, "--bind", "1=zero:128", ...args]);
    const cases = [
      [run(2 ** 30), `kiln: --bind: set 0 binding 0: the simulated machine has no memory left for ${2 ** 30} bytes\n`],
      [run(128, "--out", `0=${folder}`), `kiln: ${folder}: cannot write it: is a folder\n`],
    ] as const;
    for (const [done, stderr] of cases) expect(done).toMatchObject({ status: 3, stdout: "", stderr });
  });
});

describe("kiln doctor and cache", () => {
  it("doctor finds this installation good, and does a dispatch", () => {
    const done = kiln(["doctor", "--json", "--cache-dir", join(folder, "cache")]);
    const report = JSON.parse(done.stdout);
    expect(done.status, done.stdout).toBe(0);
    expect(report.ok).toBe(true);
    const named = Object.fromEntries(report.findings.map((f: { what: string; state: string }) => [f.what, f.state]));
    expect(named).toMatchObject({ Node: "good", "compile and dispatch": "good", "WASM SIMD": "good" });
  });

  it("doctor says that a cache folder cannot be made, and ends", () => {
    const done = kiln(["doctor", "--cache-dir", "/proc/nope"]);
    expect(done.status).toBe(3);
    expect(done.stdout).toMatch(
      /^FAILED +cache folder: \/proc\/nope: cannot make or write it: no such file or folder$/m,
    );
  });

  it("cache says when there is none", () => {
    const done = kiln(["cache", "stats", "--cache-dir", join(folder, "no-cache")]);
    expect(done).toMatchObject({ status: 1, stdout: "" });
    expect(kiln(["cache", "shrink"])).toMatchObject({ status: 2 });
  });
});
