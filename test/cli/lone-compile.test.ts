import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainArguments } from "../../src/cli/source-flags.ts";
import { isLoneCompile } from "../../src/lone-compile.ts";

const shader = `#version 450
layout(local_size_x=64) in;
layout(std430, binding=0) buffer B { float v[]; };
void main() { v[gl_GlobalInvocationID.x] *= 2.0; }
`;
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "kiln-lone-"));
  writeFileSync(join(folder, "a.comp"), shader);
});
afterAll(() => rmSync(folder, { recursive: true }));

const kiln = (entry: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, [join("dist", entry), ...args], { env: { PATH: process.env.PATH, ...env } });

describe("a compile alone", () => {
  it("is a compile to ELF files in the process itself", () => {
    const is = (...words: string[]) => isLoneCompile(["node", "kiln", ...words]);
    expect(is("compile", "a.comp", "-o", "a.elf", "-O", "0")).toBe(true);
    expect(is("compile", "--emit", "asm", "a.comp")).toBe(false);
    expect(is("compile", "--emit=asm", "a.comp")).toBe(false);
    expect(is("compile", "--warm", "a.comp")).toBe(false);
    expect(is("compile", "--server=http://127.0.0.1:7420", "a.comp")).toBe(false);
    expect(is("stats", "a.comp")).toBe(false);
  });

  it("writes the bytes that the module with all commands writes", () => {
    const target = join(folder, "lone.elf");
    const lone = kiln("kiln.cjs", ["compile", join(folder, "a.comp"), "-o", target]);
    expect([lone.status, String(lone.stderr), String(lone.stdout)]).toEqual([0, "", ""]);
    const all = kiln("kiln-all.js", ["compile", join(folder, "a.comp"), "-o", "-"]);
    expect(all.status).toBe(0);
    expect(readFileSync(target).equals(all.stdout)).toBe(true);
  });

  it("called by its name, starts without the certificates that only what speaks to servers needs", () => {
    const certificates = join(folder, "none.pem");
    const env = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: certificates };
    const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
      spawnSync(join("dist", "kiln.cjs"), [...args], { env: { ...env, ...more }, encoding: "utf8" });
    const compile = ["compile", join(folder, "a.comp"), "-o", join(folder, "named elf")];
    // Node warns of a file that is not there where it reads it.
    expect(run(compile)).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(join(folder, "named elf")).subarray(1, 4).toString()).toBe("ELF");
    expect(run([...compile, "--server", "http://127.0.0.1:1"]).stderr).toContain(certificates);
    expect(run(compile, { KILN_SERVER: "http://127.0.0.1:1" }).stderr).toContain(certificates);
    expect(run(["stats", join(folder, "a.comp")]).stderr).toContain(certificates);
  });

  it("gives all of its output to a pipe, and the status of a refused shader", () => {
    const piped = kiln("kiln.cjs", ["compile", join(folder, "a.comp"), "-o", "-"]);
    expect(piped.stdout.subarray(0, 4).toString("latin1")).toBe("\x7fELF");
    writeFileSync(join(folder, "bad.comp"), "#version 450\nvoid main() { x; }\n");
    const bad = kiln("kiln.cjs", ["compile", join(folder, "bad.comp"), "-o", "-"]);
    expect(bad.status).toBe(1);
    expect(String(bad.stderr)).toContain("bad.comp:2:15: error:");
    expect(kiln("kiln.cjs", ["compile", "--bogus"]).status).toBe(2);
  });

  it("leaves what the environment asks for to the module with all commands", () => {
    const args = ["compile", join(folder, "a.comp"), "-o", join(folder, "b.elf")];
    const timed = kiln("kiln.cjs", args, { KILN_DEBUG: "time" });
    expect([timed.status, String(timed.stderr)]).toEqual([0, expect.stringContaining("compute main")]);
    const served = kiln("kiln.cjs", args, { KILN_SERVER: "http://127.0.0.1:1" });
    expect([served.status, String(served.stderr)]).toEqual([3, expect.stringContaining("UNREACHABLE")]);
  });
});

describe("the arguments of a compile alone", () => {
  it("are files and the flags of the source, each as the parser of all commands reads it", () => {
    const words = ["a.frag", "-O2", "--stage=frag", "-D", "A=1", "-DB", "--main-image", "-o", "-", "b.frag", "-"];
    expect(plainArguments(words)).toEqual({
      files: ["a.frag", "b.frag", "-"],
      flags: { O: "2", stage: "frag", D: ["A=1", "B"], mainImage: true, output: "-" },
    });
    // a value is whatever comes next
    expect(plainArguments(["a.comp", "--output", "-O"])).toEqual({ files: ["a.comp"], flags: { output: "-O" } });
  });

  it.each([
    ["no file", ["-O2"]],
    ["a flag without its value", ["a.comp", "-o"]],
    ["a value for a flag that takes none", ["a.comp", "--main-image=1"]],
    ["a flag of another kind of compile", ["a.comp", "--emit", "asm"]],
    ["help", ["--help"]],
    ["a flag that there is not", ["a.comp", "-x"]],
    ["the end of flags", ["--", "a.comp"]],
  ])("are left to it with %s", (_, words) => {
    expect(plainArguments(words)).toBeUndefined();
  });
});

describe("the script of a compile alone", () => {
  const name = readdirSync("dist").find((file) => /^kiln-compile-\w+\.cjs$/.test(file)) ?? "";
  const text = readFileSync(join("dist", name), "utf8");

  it("is small: what it holds every cold compile reads", () => {
    expect(statSync(join("dist", name)).size).toBeLessThan(600_000);
  });

  it.each([
    ["opcode rows of the disassembler", "v_mad_u64_u32"],
    ["the simulator and the service", "DISPATCH_DIRECT"],
    ["HTTP", "node:http"],
    ["the cache", "node:crypto"],
    ["the parser of all commands", "CommanderError"],
  ])("does not hold %s", (_, word) => {
    expect(text).not.toContain(word);
  });

  it("takes two modules of Node, which a process has anyway", () => {
    const asked = [...text.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name]) => name);
    expect(new Set(asked)).toEqual(new Set(["node:fs", "node:path"]));
  });

  it("is one function of plain characters, whose text is taken as it stands", () => {
    expect(text.startsWith("(function (require, __dirname, everything, compilerCore) {")).toBe(true);
    expect(/[^\t\n -~]/.exec(text)).toBeNull();
  });
});
