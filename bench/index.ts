/** `npm run bench [-- compile|simulate]`: tables of CPU time beside a peer measured in the same run. */
import { kernelNames } from "../test/e2e/run-kernel.ts";
import { benchCompile } from "./compile.ts";
import { benchSimulate } from "./simulate.ts";

interface Row {
  readonly name: string;
  readonly cpuMs: number;
  readonly peerCpuMs: number | undefined;
}

function print(title: string, peer: string, rows: readonly Row[]): void {
  console.log(`\n${title} (CPU ms; peer: ${peer}; ratio: ours over the peer's)`);
  for (const { name, cpuMs, peerCpuMs } of rows) {
    const beside =
      peerCpuMs === undefined ? "not installed" : `${peerCpuMs.toFixed(2)}  ${(cpuMs / peerCpuMs).toFixed(2)}`;
    console.log(`${name.padEnd(14)} ${cpuMs.toFixed(2).padStart(9)}  ${beside}`);
  }
}

const wanted = process.argv.slice(2);
const runs = (name: string): boolean => wanted.length === 0 || wanted.includes(name);
if (runs("compile"))
  print(
    "compile, GLSL to code",
    "glslangValidator -V, front end only, with process start",
    await benchCompile(kernelNames),
  );
if (runs("simulate")) print("simulate", "none", await benchSimulate({ runs: 5 }));
