/**
 * `npx tsx bench/farm.ts [--seconds 30]`: a batch that takes one farm worker at least that long, then one of the same
 * size on two; prints both and the ratio (bar: 1.5). Build first; needs redis-server. The processes share this machine:
 * their CPU time and the machine's load stand beside.
 */
import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { sendBatch, startTopology, waitFor } from "../test/e2e/topology.ts";

const at = process.argv.indexOf("--seconds");
const leastSeconds = at < 0 ? 30 : Number(process.argv[at + 1]);
const kernel = readFileSync("examples/kernels/matmul_tiled.comp", "utf8");
let variant = 0;

/** Shaders that differ from each other and from all before, so that each is a compile. */
const freshShaders = (count: number) =>
  Array.from({ length: count }, () => ({
    stage: "compute",
    source: kernel.replace("void main() {", `void main() {\n  if (gl_WorkGroupID.y == ${1e6 + variant++}u) return;`),
  }));

/** CPU seconds of a process so far, user and system. Linux counts in ticks of 10 ms. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const farm = await startTopology(1, 1);
try {
  const pids = () => [...farm.servers, ...farm.workers.map((child) => ({ child }))].map(({ child }) => child.pid ?? 0);
  const timed = async (count: number) => {
    const before = pids().map(cpuSeconds);
    const started = performance.now();
    const id = await sendBatch(farm.address, freshShaders(count));
    const end = await waitFor(farm.address, id, ({ state }) => state !== "running");
    const seconds = (performance.now() - started) / 1000;
    const cpu = pids().map((pid, i) => cpuSeconds(pid) - (before[i] ?? 0));
    if (end.done !== count || end.failed > 0) throw new Error(`the batch came to ${JSON.stringify(end)}`);
    const [server = 0, ...workers] = cpu.map((value) => Number(value.toFixed(1)));
    return { shaders: count, seconds: Number(seconds.toFixed(1)), cpuSeconds: { server, workers }, load: loadavg()[0] };
  };
  // Warm, and an estimate of how many it takes.
  const warm = await timed(200);
  let count = Math.max(200, Math.ceil((200 * leastSeconds * 1.3) / warm.seconds / 100) * 100);
  let one = await timed(count);
  while (one.seconds < leastSeconds) {
    count = Math.ceil((count * leastSeconds * 1.2) / one.seconds / 100) * 100;
    one = await timed(count);
  }
  await farm.addWorker();
  await timed(200);
  const two = await timed(count);
  const speedup = Number((one.seconds / two.seconds).toFixed(2));
  const cores = availableParallelism();
  console.log(JSON.stringify({ cores, one, two, speedup, bar: 1.5 }, null, 2));
  process.exitCode = speedup >= 1.5 ? 0 : 1;
} finally {
  await farm.close();
}
