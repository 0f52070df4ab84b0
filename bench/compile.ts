/**
 * Compile time, warm, one thread: GLSL text to code object, CPU milliseconds a shader, over the kernels in
 * `examples/kernels`. The peer, where it is installed, is `glslangValidator -V`: the front half alone, with its process
 * start, which is what a build script pays for it.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultRequest } from "../src/codeobj/index.ts";
import { createLocalCompiler } from "../src/service/index.ts";

export interface CompileRow {
  readonly name: string;
  readonly cpuMs: number;
  readonly peerCpuMs: number | undefined;
}

export const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] as number;

/** CPU ms of one `glslangValidator -V`, by the shell's own accounting of its children over `runs` runs. */
function peerCpuMs(file: string, folder: string, runs: number): number | undefined {
  const loop = `for i in $(seq ${runs}); do glslangValidator -V -o "$2" "$1" >/dev/null || exit 1; done; times`;
  const { status, stdout } = spawnSync("bash", ["-c", loop, "bash", file, join(folder, "out.spv")], {
    encoding: "utf8",
  });
  if (status !== 0) return undefined;
  const ofChildren = stdout.trim().split("\n").at(-1) ?? "";
  const seconds = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s));
  return (seconds.reduce((sum, part) => sum + part, 0) * 1000) / runs;
}

export async function benchCompile(names: readonly string[]): Promise<CompileRow[]> {
  const compiler = createLocalCompiler();
  const folder = mkdtempSync(join(tmpdir(), "kiln-bench-"));
  const rows: CompileRow[] = [];
  try {
    for (const name of names) {
      const file = `examples/kernels/${name}.comp`;
      const source = readFileSync(file, "utf8");
      const request = { ...defaultRequest, language: "glsl", stage: "compute", source, filename: file } as const;
      const samples: number[] = [];
      for (let i = 0; i < 60; i++) {
        const start = cpuMs();
        const result = await compiler.compile(request);
        if (!result.ok) throw new Error(`${file} does not compile`);
        if (i >= 30) samples.push(cpuMs() - start);
      }
      rows.push({ name, cpuMs: median(samples), peerCpuMs: peerCpuMs(file, folder, 10) });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}
