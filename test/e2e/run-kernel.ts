import { readFileSync } from "node:fs";
import { type CompileRequest, defaultRequest, type ShaderCompiler, type Statistics } from "../../src/codeobj/index.ts";
import { formatReport } from "../../src/debug/index.ts";
import type { Machine } from "../../src/service/index.ts";

export const kernelNames = ["saxpy", "matmul_naive", "matmul_tiled", "mandelbrot", "reduce", "nbody"] as const;
export type KernelName = (typeof kernelNames)[number];

export function kernelRequest(name: KernelName): CompileRequest {
  const filename = `examples/kernels/${name}.comp`;
  const source = readFileSync(filename, "utf8");
  return { ...defaultRequest, language: "glsl", stage: "compute", source, filename };
}

export interface KernelRun {
  /** Contents of set 0's bindings 0, 1, … before the run, as raw 32-bit words. */
  readonly buffers: readonly Uint32Array[];
  readonly push: Uint32Array;
  readonly groups: readonly [number, number, number];
}

/** Runs a kernel once in a process of its own; gives the bindings' contents afterwards. A fault rejects with its report. */
export async function runKernel(
  machine: Machine,
  compiler: ShaderCompiler,
  request: CompileRequest,
  run: KernelRun,
): Promise<{ buffers: Uint32Array[]; stats: Statistics }> {
  const device = machine.openProcess("test", { timeoutMs: 60_000 });
  try {
    const pipeline = await device.createComputePipeline({ compiler, request });
    const buffers = run.buffers.map((words) => {
      const buffer = device.createBoundBuffer(words.byteLength);
      const bytes = buffer.map();
      new Uint32Array(bytes.buffer, bytes.byteOffset, words.length).set(words);
      return buffer;
    });
    const set = device
      .createDescriptorPool()
      .allocate(device.createDescriptorSetLayout(pipeline.record.reflection.sets[0]?.bindings ?? []));
    for (const { binding } of pipeline.record.reflection.sets[0]?.bindings ?? []) {
      const buffer = buffers[binding];
      if (buffer === undefined) throw new Error(`no contents for binding ${binding}`);
      set.write(binding, { buffer });
    }
    const command = device.createCommandBuffer().begin();
    command.bindPipeline(pipeline).bindDescriptorSet(0, set);
    if (run.push.length > 0)
      command.pushConstants(0, new Uint8Array(run.push.buffer, run.push.byteOffset, run.push.byteLength));
    command.dispatch(...run.groups).end();
    try {
      await device.submit([command]).wait();
    } catch (error) {
      const fault = machine.faultOf(device);
      throw fault === undefined ? error : new Error(formatReport(fault));
    }
    const after = buffers.map((buffer, i) => {
      const bytes = buffer.map();
      return new Uint32Array(bytes.buffer, bytes.byteOffset, (run.buffers[i] as Uint32Array).length).slice();
    });
    return { buffers: after, stats: pipeline.record.stats };
  } finally {
    device.destroy();
  }
}
