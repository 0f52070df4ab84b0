import { writeFileSync } from "node:fs";
import { fileProblem, invariant } from "../base/index.ts";
import type { CompileRecord, CompileRequest } from "../codeobj/index.ts";
import { formatReport } from "../debug/index.ts";
import { createLocalCompiler, type Machine, type MachineOptions } from "../service/index.ts";
import { type ComputePipeline, type Device, type Buffer as DeviceBuffer, DriverError } from "../umd/index.ts";
import { showDiagnostics } from "./diagnostics.ts";
import { driverCompiler } from "./driver-compiler.ts";
import { CliError, print, type ServeSettings } from "./environment.ts";
import type { Bind, BindingName, Out } from "./exec-arguments.ts";
import { asking } from "./remote.ts";
import { processSwitches, switchedMachine } from "./switches.ts";

export interface Execution {
  readonly request: CompileRequest;
  readonly binds: readonly Bind[];
  readonly outs: readonly Out[];
  readonly push: Uint8Array;
  readonly groups: readonly [number, number, number];
  readonly timeoutSeconds: number;
  readonly machine: MachineOptions;
  /** Where the machine's report goes; - is standard output. */
  readonly json?: string;
}

const nameOf = ({ set, binding }: BindingName) => `set ${set} binding ${binding}`;
const sameAs = (a: BindingName) => (b: BindingName) => a.set === b.set && a.binding === b.binding;

/** Runs one compute shader on a simulated machine of its own. Answers the exit status. */
export async function exec(execution: Execution, settings: ServeSettings): Promise<0 | 1> {
  const { request, outs, binds } = execution;
  for (const out of outs) if (!binds.some(sameAs(out))) throw new CliError(2, `--out: ${nameOf(out)} has no --bind`);
  refuseTwice(binds, "--bind");
  if (execution.json === "-" && outs.some(({ file }) => file === "-"))
    throw new CliError(2, "--json and --out both name standard output");
  const compiled = await asking(driverCompiler(settings, createLocalCompiler).compile(request));
  showDiagnostics(compiled.ok ? compiled.record.diagnostics : compiled.diagnostics);
  if (!compiled.ok) return 1;
  refuseMissing(execution, compiled.record.reflection);
  const machine = switchedMachine(settings, `kiln exec ${request.filename}`, execution.machine);
  try {
    const timeoutMs = execution.timeoutSeconds * 1000;
    const device = machine.openProcess("exec", { timeoutMs, ...processSwitches(settings) });
    const pipeline = await device.createComputePipeline({ compiler: { compile: async () => compiled }, request });
    await dispatch(machine, device, pipeline, execution);
    const report = `${JSON.stringify(machine.reportOf(device), undefined, 2)}\n`;
    if (execution.json === "-") process.stdout.write(report);
    else if (execution.json !== undefined) writeOut(execution.json, Buffer.from(report));
    return 0;
  } finally {
    await machine.close();
  }
}

function refuseTwice(names: readonly BindingName[], flag: string): void {
  for (const [i, name] of names.entries()) {
    if (names.slice(0, i).some(sameAs(name))) throw new CliError(2, `${flag}: ${nameOf(name)} is given twice`);
  }
}

/** Refuses arguments that leave out what the shader reads. */
function refuseMissing({ binds, push, request }: Execution, reflection: CompileRecord["reflection"]): void {
  for (const { set, bindings } of reflection.sets) {
    for (const { binding } of bindings) {
      if (!binds.some(sameAs({ set, binding }))) {
        throw new CliError(2, `the shader uses ${nameOf({ set, binding })}: give it a --bind`);
      }
    }
  }
  const { pushConstantBytes } = reflection;
  if (push.length < pushConstantBytes) {
    throw new CliError(
      2,
      `--push: ${request.filename} has ${pushConstantBytes} bytes of push constants, ${push.length} are given`,
    );
  }
}

async function dispatch(
  machine: Machine,
  device: Device,
  pipeline: ComputePipeline,
  execution: Execution,
): Promise<void> {
  const { binds, outs, groups, push } = execution;
  const buffers = binds.map((bind) => ({ ...bind, buffer: upload(device, bind) }));
  const commands = device.createCommandBuffer().begin().bindPipeline(pipeline);
  const pool = device.createDescriptorPool();
  for (const { set, bindings } of pipeline.record.reflection.sets) {
    const descriptors = pool.allocate(device.createDescriptorSetLayout(bindings));
    for (const { binding } of bindings) {
      const given = buffers.find(sameAs({ set, binding }));
      invariant(given !== undefined, `no buffer for ${nameOf({ set, binding })}`);
      descriptors.write(binding, { buffer: given.buffer });
    }
    commands.bindDescriptorSet(set, descriptors);
  }
  if (push.length > 0) commands.pushConstants(0, push);
  commands.dispatch(...groups).end();
  try {
    await device.submit([commands]).wait();
  } catch (error) {
    const report = machine.faultOf(device);
    if (!(error instanceof DriverError) || report === undefined) throw error;
    throw new CliError(1, formatReport(report));
  }
  for (const out of outs) {
    const bytes = buffers.find(sameAs(out))?.buffer.map() ?? new Uint8Array();
    if (out.file === "-") process.stdout.write(Uint8Array.from(bytes));
    else writeOut(out.file, bytes);
  }
  if (outs.length === 0 && execution.json !== "-") print("done");
}

function writeOut(file: string, bytes: Uint8Array): void {
  try {
    writeFileSync(file, bytes);
  } catch (error) {
    throw new CliError(3, `${file}: cannot write it: ${fileProblem(error)}`);
  }
}

function boundBuffer(device: Device, sizeBytes: number, name: string): DeviceBuffer {
  try {
    return device.createBoundBuffer(sizeBytes);
  } catch (error) {
    if (!(error instanceof DriverError) || error.result !== "OUT_OF_DEVICE_MEMORY") throw error;
    throw new CliError(3, `--bind: ${name}: the simulated machine has no memory left for ${sizeBytes} bytes`);
  }
}

function upload(device: Device, { bytes, ...name }: Bind): DeviceBuffer {
  if (bytes.length === 0) throw new CliError(2, `--bind: ${nameOf(name)} is empty`);
  const buffer = boundBuffer(device, bytes.length, nameOf(name));
  buffer.map().set(bytes);
  return buffer;
}
