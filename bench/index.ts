/**
 * `npm run bench`: compile time beside a peer measured in the same run. `kiln bench` has more.
 * `npm run bench -- front --files DIR [--peer COMMAND]`: the GLSL front end alone, by phase.
 */
import { UsageError, withUsage } from "../scripts/usage.ts";
import { kernelNames } from "../test/e2e/run-kernel.ts";
import { benchCompile } from "./compile.ts";
import { benchFront } from "./front.ts";

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

const usage = `usage: npm run bench
       npm run bench -- front --files DIR… [--peer COMMAND]`;
const [name, ...args] = process.argv.slice(2);

await withUsage(usage, process.argv.slice(2), async () => {
  if (name === "front") {
    await benchFront(args);
  } else if (name !== undefined) {
    throw new UsageError(`there is no bench ${JSON.stringify(name)} here; see also kiln bench --help`);
  } else {
    const peer = "glslangValidator -V, front end only, with process start";
    print("compile, GLSL to code", peer, await benchCompile(kernelNames));
  }
  return (process.exitCode ?? 0) === 0;
});
