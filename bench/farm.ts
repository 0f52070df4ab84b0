/**
 * `npx tsx bench/farm.ts [--seconds 30] [--rounds 2]`: a batch that takes one farm worker at least that long, and one of
 * the same size on two, in turn; prints all and the ratio of the medians (bar: 1.5). Before each measured batch the
 * workers have compiled for a while, so that all run code that the engine has optimized. Build first; needs
 * redis-server. The processes share this machine: their CPU time and the machine's load stand beside.
 */
import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { endChild, sendBatch, startTopology, waitFor } from "../test/e2e/topology.ts";

function flag(name: string, otherwise: number): number {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
}

const leastSeconds = flag("--seconds", 30);
const rounds = flag("--rounds", 2);
const warmShaders = 1500;
/** Two products after each other: of 30 seconds of a single product there are more than the 10,000 that a batch may have. */
const kernel = readFileSync("examples/kernels/matmul_tiled.comp", "utf8").replace(
  /(?<=float s = 0\.0;\n)[\s\S]*?(?= {2}c\[)/,
  (product) => product.repeat(2),
);
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
  // Not by way of the proxy, which takes a server on a busy machine for one that is down.
  const { address } = farm.servers[0] as (typeof farm.servers)[number];
  const pids = () =>
    [...farm.servers.map(({ child }) => child), ...farm.workers]
      .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
      .map(({ pid }) => pid ?? 0);
  const timed = async (count: number) => {
    const before = pids().map(cpuSeconds);
    const started = performance.now();
    const id = await sendBatch(address, freshShaders(count));
    const end = await waitFor(address, id, ({ state }) => state !== "running");
    const seconds = (performance.now() - started) / 1000;
    const cpu = pids().map((pid, i) => cpuSeconds(pid) - (before[i] ?? 0));
    if (end.done !== count || end.failed > 0) throw new Error(`the batch came to ${JSON.stringify(end)}`);
    const [server = 0, ...workers] = cpu.map((value) => Number(value.toFixed(1)));
    return { shaders: count, seconds: Number(seconds.toFixed(1)), cpuSeconds: { server, workers }, load: loadavg()[0] };
  };
  // Warm, and an estimate of how many it takes.
  await timed(warmShaders);
  const estimate = await timed(500);
  let count = Math.max(200, Math.ceil((500 * leastSeconds * 1.2) / estimate.seconds / 100) * 100);
  type Timed = Awaited<ReturnType<typeof timed>>;
  const [one, two]: [Timed[], Timed[]] = [[], []];
  while (one.length < rounds) {
    const alone = await timed(count);
    if (alone.seconds < leastSeconds) {
      count = Math.ceil((count * leastSeconds * 1.2) / alone.seconds / 100) * 100;
      one.length = two.length = 0;
      continue;
    }
    one.push(alone);
    const second = await farm.addWorker();
    await timed(2 * warmShaders);
    two.push(await timed(count));
    await endChild(second, "SIGTERM");
  }
  const median = (all: readonly { readonly seconds: number }[]) => {
    const sorted = all.map(({ seconds }) => seconds).sort((a, b) => a - b);
    return ((sorted[(sorted.length - 1) >> 1] as number) + (sorted[sorted.length >> 1] as number)) / 2;
  };
  const speedup = Number((median(one) / median(two)).toFixed(2));
  const millisecondsEach = [one, two].map((all) => Number(((median(all) * 1000) / count).toFixed(2)));
  const cores = availableParallelism();
  console.log(JSON.stringify({ cores, one, two, millisecondsEach, speedup, bar: 1.5 }, null, 2));
  process.exitCode = speedup >= 1.5 ? 0 : 1;
} finally {
  await farm.close();
}
