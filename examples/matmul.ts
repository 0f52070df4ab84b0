/**
 * The driver learner's first project: one matrix multiply from source text to checked result, each step printed.
 *
 *   npx tsx examples/matmul.ts [--n 64] [--server http://127.0.0.1:7420] [--quiet-ioctls]
 *
 * Build first (`npm ci` does): the simulated GPU and the compiler core are WASM modules in `dist`. With `--server` the
 * shader is compiled by a running service instead of in this process; the bytes are the same.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { defaultRequest, type ShaderCompiler } from "../src/codeobj/index.ts";
import { decodePackets, formatReport } from "../src/debug/index.ts";
import { disassemble } from "../src/isa/index.ts";
import { createLocalCompiler, createMachine } from "../src/service/index.ts";
import type { DriverEvent } from "../src/umd/index.ts";

const { values } = parseArgs({
  options: {
    n: { type: "string", default: "64" },
    server: { type: "string" },
    "quiet-ioctls": { type: "boolean", default: false },
  },
});
const n = Number(values.n);
/** The kernel has no bounds check: it writes C[row * n + col] for every invocation of its 16 x 16 workgroups. */
const TILE = 16;
if (!Number.isInteger(n) || n <= 0 || n % TILE !== 0) {
  console.error(`--n must be a positive multiple of ${TILE}`);
  process.exit(2);
}

const hex = (value: number | bigint): string => `0x${value.toString(16)}`;
const step = (title: string): void => console.log(`\n== ${title}`);

async function chooseCompiler(server: string | undefined): Promise<ShaderCompiler> {
  if (server === undefined) return createLocalCompiler();
  const { createClient } = await import("../src/client/index.ts");
  return createClient({ baseUrl: server });
}

/** What the user-mode driver says it did, one line each; packets and code are shown where they are made. */
function show(event: DriverEvent): void {
  console.log(`  umd    ${event.kind}: ${event.text}`);
}

step("1. A machine: a GPU in a thread of its own, a kernel driver, a file per process");
const machine = createMachine({
  memoryBytes: 256 << 20,
  onIoctl: (line) => {
    if (!values["quiet-ioctls"]) console.log(`  kernel ${line}`);
  },
});
for (const line of machine.dmesg()) console.log(`  dmesg  ${line}`);

try {
  step("2. A device: the kernel gives this process an address space and a context");
  const device = machine.openProcess("matmul", { timeoutMs: 60_000, trace: show });

  step("3. Three buffers: each is a BO, pages of VRAM, mapped at a GPU virtual address");
  const [a, b, c] = [0, 1, 2].map(() => device.createBoundBuffer(n * n * 4)) as [Buffer, Buffer, Buffer];
  type Buffer = ReturnType<typeof device.createBoundBuffer>;
  const floats = (buffer: Buffer): Float32Array => {
    const view = buffer.map();
    return new Float32Array(view.buffer, view.byteOffset, n * n);
  };
  // A fixed generator, so that every run multiplies the same matrices: values in [-1, 1).
  let seed = 1;
  const random = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 31 - 1;
  };
  for (const values of [floats(a), floats(b)]) {
    for (let i = 0; i < values.length; i++) values[i] = random();
  }

  step(`4. A pipeline: GLSL to gfx1030 machine code, ${values.server ? `by ${values.server}` : "in this process"}`);
  const source = readFileSync(new URL("./kernels/matmul_naive.comp", import.meta.url), "utf8");
  const compiler = await chooseCompiler(values.server);
  const pipeline = await device.createComputePipeline({
    compiler,
    request: { ...defaultRequest, language: "glsl", source, stage: "compute", filename: "matmul_naive.comp" },
  });
  const { stats, reflection } = pipeline.record;
  console.log(`  ${stats.instructions} instructions, ${stats.vgprs} VGPRs, ${stats.sgprs} SGPRs`);
  for (const entry of reflection.userData) {
    const last = entry.sgpr + entry.count - 1;
    console.log(`  user SGPRs s${entry.sgpr}${entry.count > 1 ? `-s${last}` : ""}: ${entry.kind}`);
  }
  for (const line of disassemble(pipeline.entry.code, { baseAddress: pipeline.codeVa })) {
    console.log(`  ${hex(line.address)}  ${line.text}`);
  }

  step("5. A descriptor set: four dwords a buffer, behind a 32-bit pointer");
  const layout = device.createDescriptorSetLayout(reflection.sets[0]?.bindings ?? []);
  const pool = device.createDescriptorPool(4096);
  const set = pool.allocate(layout);
  for (const [binding, buffer] of [a, b, c].entries()) {
    set.write(binding, { buffer });
    const words = [...set.words(binding)].map((word) => hex(word)).join(" ");
    console.log(`  binding ${binding}: buffer at ${hex(buffer.va)}, V# ${words}`);
  }
  console.log(`  set at ${hex(set.va)}`);

  step("6. A command buffer: PM4 packets for the command processor");
  const push = new Uint8Array(8);
  new DataView(push.buffer).setUint32(0, n, true);
  const command = device.createCommandBuffer().begin();
  command.bindPipeline(pipeline).bindDescriptorSet(0, set).pushConstants(0, push);
  command.dispatch(n / TILE, n / TILE).end();
  const { va, memories, dwords } = command.submission();
  const packets = [...memories].find((memory) => memory.va === va)?.map();
  if (packets) {
    const words = new Uint32Array(packets.buffer, packets.byteOffset, dwords);
    for (const line of decodePackets(words, va)) console.log(`  ${hex(line.va)}  ${line.text}`);
  }

  step("7. Submit, and wait for the fence: memory that the GPU writes, then an interrupt");
  const start = performance.now();
  try {
    await device.submit([command]).wait();
  } catch (error) {
    const fault = machine.faultOf(device);
    if (fault) console.error(formatReport(fault));
    throw error;
  }
  console.log(`  ${(performance.now() - start).toFixed(1)} ms`);

  step("8. Read back and compare with double precision");
  const [left, right, product] = [floats(a), floats(b), floats(c)];
  let worst = 0;
  for (let row = 0; row < n; row++) {
    for (let col = 0; col < n; col++) {
      let sum = 0;
      let magnitude = 0;
      for (let k = 0; k < n; k++) {
        const term = (left[row * n + k] ?? 0) * (right[k * n + col] ?? 0);
        sum += term;
        magnitude += Math.abs(term);
      }
      worst = Math.max(worst, Math.abs((product[row * n + col] ?? Number.NaN) - sum) / magnitude || 0);
      if (Number.isNaN(product[row * n + col])) worst = Number.POSITIVE_INFINITY;
    }
  }
  const BOUND = 1e-6;
  console.log(`  largest error ${worst.toExponential(2)} of the sum of absolute terms, bound ${BOUND}`);
  console.log(worst <= BOUND ? "  right" : "  WRONG");
  if (worst > BOUND) process.exitCode = 1;

  for (const buffer of [a, b, c]) buffer.memory.destroy();
  command.destroy();
  pipeline.destroy();
  pool.destroy();
  device.destroy();
} finally {
  await machine.close();
}
