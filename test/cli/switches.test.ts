import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let folder: string;
const kiln = resolve("dist/kiln.js");

const twice = `#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer B { uint x[]; };
void main() { x[gl_GlobalInvocationID.x] *= 2u; }
`;
const endless = twice.replace("*= 2u", "= 1u; while (x[0] != 9u) x[1]++");

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "kiln-switches-"));
  writeFileSync(join(folder, "twice.comp"), twice);
  writeFileSync(join(folder, "endless.comp"), endless);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = (more: Readonly<Record<string, string>>) => ({
  ...process.env,
  KILN_RUNTIME_DIR: join(folder, "run"),
  ...more,
});

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawnSync(process.execPath, [kiln, ...args], {
    encoding: "utf8",
    cwd: folder,
    env: environment(env),
    timeout: 60_000,
  });
}

const exec = ["exec", "twice.comp", "--bind", "0=zero:16"];

describe("switches of the driver", () => {
  it("KILN_DEBUG=shaders,packets,api and KILN_TRACE=ioctl tell on stderr what a dispatch does", () => {
    const { status, stderr } = run(exec, { KILN_DEBUG: "shaders,packets,api", KILN_TRACE: "ioctl" });
    expect(status).toBe(0);
    expect(stderr).toMatch(/^shader twice\.comp:main: \d+ bytes of code at 0x/m);
    expect(stderr).toMatch(/ buffer_store_dword /);
    expect(stderr).toMatch(/ DISPATCH_DIRECT groups 1x1x1 /);
    expect(stderr).toMatch(/^api BO \d+, 4096 bytes of device memory at 0x[0-9a-f]+: 2 ioctls, \d+ mapped in all$/m);
    expect(stderr).toMatch(/^\[exec\] ioctl\(\d+, SUBMIT, \{context=\d+, .* fence -> 1, handles=.* = 0 <\d\.\d{6}>$/m);
  });

  it("KILN_DEBUG=hang writes a crash dump folder, also when each submit blocks", () => {
    const args = ["exec", "endless.comp", "--bind", "0=zero:16", "--timeout-seconds", "1"];
    const { status, stderr } = run(args, { KILN_DEBUG: "hang", KILN_LAUNCH_BLOCKING: "1" });
    expect(status).toBe(1);
    const [, name = ""] = /^crash dump in (\S+)$/m.exec(stderr) ?? [];
    expect(readdirSync(join(folder, name)).sort()).toEqual(["dmesg.txt", "report.json", "report.txt", "usage.json"]);
    expect(readFileSync(join(folder, name, "report.txt"), "utf8")).toMatch(/^GPU timeout in exec: halted/);
    expect(JSON.parse(readFileSync(join(folder, name, "report.json"), "utf8"))).toMatchObject({ kind: "HALTED" });
  });
});

describe("machines that run", () => {
  it("smi and dmesg ask them; there is none before and after", async () => {
    expect(run(["smi"])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("no simulated machine is running"),
    });
    const args = [kiln, "exec", "endless.comp", "--bind", "0=zero:16", "--timeout-seconds", "50"];
    const child = spawn(process.execPath, args, { cwd: folder, env: environment({}), stdio: "ignore" });
    try {
      let list: { id: string; title: string; processes: { processName: string; submits: number }[] }[] = [];
      for (let i = 0; i < 100 && list[0]?.processes[0]?.submits !== 1; i++) {
        await new Promise((done) => setTimeout(done, 200));
        const { status, stdout } = run(["smi", "--json"]);
        if (status === 0) list = JSON.parse(stdout);
      }
      expect(list).toMatchObject([
        { title: "kiln exec endless.comp", processes: [{ processName: "exec", submits: 1 }] },
      ]);
      expect(run(["smi"]).stdout).toMatch(
        /machine \d+-0 \(kiln exec endless\.comp\), up \d+ s: VRAM [\s\S]*exec +\d+ /,
      );
      expect(run(["dmesg"]).stdout).toMatch(/^\[ *\d+\.\d{6}\] kiln: VRAM \d+ MiB, GTT \d+ MiB, 4 compute queue\(s\)/);
      expect(run(["dmesg", "--machine", "x"])).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("no machine x"),
      });
    } finally {
      child.kill("SIGKILL");
      await new Promise((done) => child.once("exit", done));
    }
    // What the killed program left is no machine.
    expect(run(["smi"]).status).toBe(1);
    expect(readdirSync(join(folder, "run"))).toEqual([]);
  });
});

describe("kiln run", () => {
  it("--from-comments runs shaders with their script in comments; mistakes have the shader's lines", () => {
    const script = ["BUFFER b DATA_TYPE uint32 DATA 1 2 3 4 END", "PIPELINE compute p", "  ATTACH shader"];
    const rest = ["  BIND BUFFER b AS storage DESCRIPTOR_SET 0 BINDING 0", "END", "RUN p 1 1 1"];
    const comments = (expected: string) => [...script, ...rest, expected].map((line) => `// amber: ${line}`).join("\n");
    writeFileSync(join(folder, "good.comp"), `${twice}${comments("EXPECT b IDX 0 EQ 2 4 6 8")}\n`);
    writeFileSync(join(folder, "wrong.comp"), `${twice}${comments("EXPECT b IDX 0 EQ 2 4 6 9")}\n`);
    expect(run(["run", "--from-comments", "good.comp"]).stdout).toMatch(/^PASS good\.comp$/m);
    // The shader has 4 lines, the expectation is the 7th comment.
    expect(run(["run", "--from-comments", "wrong.comp"]).stdout).toMatch(/^FAIL wrong\.comp:11: /m);
  });

  it("--bisect names the submit that a failure comes with", () => {
    const dispatch = "RUN p 1 1 1\n";
    const text = `#!amber
SHADER compute shader GLSL
${twice}END
BUFFER b DATA_TYPE uint32 DATA 1 1 1 1 END
PIPELINE compute p
  ATTACH shader
  BIND BUFFER b AS storage DESCRIPTOR_SET 0 BINDING 0
END
${dispatch}EXPECT b IDX 0 EQ 2 2 2 2
${dispatch}${dispatch}EXPECT b IDX 0 EQ 9 9 9 9
${dispatch}EXPECT b IDX 0 EQ 16 16 16 16
`;
    writeFileSync(join(folder, "three.amber"), text);
    const { stdout } = run(["run", "--bisect", "three.amber"]);
    const line = text.split("\n").indexOf("EXPECT b IDX 0 EQ 9 9 9 9") + 1;
    expect(stdout).toMatch(new RegExp(`^FAIL three\\.amber:${line}: seed 0: submit 3 of 3, line ${line - 1}: `, "m"));
    // Guilty in the middle: the check comes later, and what follows makes other values right.
    const middle = `#!amber
SHADER compute good GLSL
#version 450
layout(set=0,binding=0) buffer O{uint o[];};
void main(){ o[1]+=1u; }
END
SHADER compute bad GLSL
#version 450
layout(set=0,binding=0) buffer O{uint o[];};
void main(){ o[0]=9u; }
END
BUFFER o DATA_TYPE uint32 DATA 7 0 END
PIPELINE compute p
  ATTACH good
  BIND BUFFER o AS storage DESCRIPTOR_SET 0 BINDING 0
END
PIPELINE compute q
  ATTACH bad
  BIND BUFFER o AS storage DESCRIPTOR_SET 0 BINDING 0
END
RUN p 1 1 1
RUN p 1 1 1
RUN q 1 1 1
RUN p 1 1 1
RUN p 1 1 1
EXPECT o IDX 0 EQ 7 4
`;
    writeFileSync(join(folder, "middle.amber"), middle);
    const guilty = middle.split("\n").indexOf("RUN q 1 1 1") + 1;
    const at = `middle\\.amber:${guilty + 3}: seed 0: submit 3 of 5, line ${guilty}: buffer o byte 0: got 9`;
    expect(run(["run", "--bisect", "middle.amber"]).stdout).toMatch(new RegExp(`^FAIL ${at}, expected EQ 7`, "m"));
    // From the start, and by the script itself: no submit is to blame.
    writeFileSync(
      join(folder, "start.amber"),
      middle.replace("DATA 7 0", "DATA 5 0").replace("RUN q 1 1 1", "RUN p 1 1 1"),
    );
    expect(run(["run", "--bisect", "start.amber"]).stdout).toMatch(/: the buffer is so from the start: .*got 5/);
  });
});
