import type { CompileRequest, CompileResult, DescriptorType, ShaderCompiler } from "../codeobj/index.ts";
import { defaultRequest } from "../codeobj/index.ts";
import { formatReport } from "../debug/index.ts";
import type { Machine, ProcessOptions } from "../service/index.ts";
import {
  type ComputePipeline,
  type DescriptorSet,
  type Device,
  type Buffer as DeviceBuffer,
  DriverError,
} from "../umd/index.ts";
import { formatOf } from "./data-type.ts";
import { CheckError, checkBuffers, checkValues } from "./expect.ts";
import type { Command, Script, ScriptBinding, ScriptBuffer, ScriptPipeline } from "./script.ts";
import { ScriptError, UnsupportedError } from "./source.ts";

export interface RunOptions {
  readonly machine: Machine;
  readonly compiler: ShaderCompiler;
  /** Longest run of one dispatch and of the whole script, milliseconds. */
  readonly timeoutMs: number;
  /** Switches of the script's process: validation, traces, blocking submits. */
  readonly process?: ProcessOptions;
  readonly watch?: RunWatch;
}

/** What changed buffers, or the start (line 0), and what a check says behind it: undefined where it passes. */
export interface WatchedStep {
  readonly line: number;
  /** Which of the script's submits it is, from 1; undefined: a write or copy of the script itself. */
  readonly submit: number | undefined;
  readonly reason: string | undefined;
}

/** Follows a run. Checks and submits count in the order that they run in. */
export interface RunWatch {
  /** Told of what ends the run: a check, from 0, and which of its values (where it has some), or a submit, from 1. */
  readonly failed?: (what: "check" | "submit", index: number, place?: number) => void;
  /** This check, of this value alone, is made after each step as well, and `seen` told what it says. */
  readonly check?: { readonly index: number; readonly place: number | undefined };
  readonly seen?: (step: WatchedStep) => void;
}

type Check = Extract<Command, { does: "expect-values" | "expect-buffer" }>;

/** The checks that a run comes by, in order. */
function* checksOf(commands: readonly Command[]): Iterable<Check> {
  for (const command of commands) {
    if (command.does === "expect-values" || command.does === "expect-buffer") yield command;
    if (command.does === "repeat") for (let i = 0; i < command.count; i++) yield* checksOf(command.body);
  }
}

const descriptorTypes: Readonly<Record<string, DescriptorType>> = {
  uniform: "uniformBuffer",
  storage: "storageBuffer",
  uniform_dynamic: "uniformBuffer",
  storage_dynamic: "storageBuffer",
  uniform_texel_buffer: "uniformTexelBuffer",
  storage_texel_buffer: "storageTexelBuffer",
};

/** SPIR-V's version without a word in the script: a folder `spirv1p4` says it, else the oldest. */
function defaultEnv(file: string, language: string): CompileRequest["targetEnv"] {
  const minor = /(?:^|[/\\])spirv1p([0-6])(?=[/\\])/.exec(file)?.[1];
  if (minor !== undefined) return `spv1.${minor}` as CompileRequest["targetEnv"];
  return language === "glsl" ? "vulkan1.0" : "spv1.0";
}

/** The compiler's first error, at its line of the script: what it does not have yet is no mistake of the script. */
function compileError(diagnostics: Extract<CompileResult, { ok: false }>["diagnostics"]): ScriptError {
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === "error");
  const [first] = errors;
  if (first === undefined) return new ScriptError(0, "the compiler refuses the shader and does not say why");
  const text = errors.map(({ line, column, message, code }) => `${line}:${column}: ${message} [${code}]`).join("\n");
  const lacking = errors.every(({ code }) => code === "SPIRV_UNSUPPORTED");
  return lacking ? new UnsupportedError(first.line, first.message) : new ScriptError(first.line, text);
}

/** What one script needs of the machine while it runs: a process of its own. */
class ScriptRun {
  readonly #script: Script;
  readonly #options: RunOptions;
  readonly #device: Device;
  readonly #buffers = new Map<ScriptBuffer, DeviceBuffer>();
  readonly #pipelines = new Map<string, ComputePipeline>();
  readonly #sets = new Map<ScriptPipeline, Map<number, DescriptorSet>>();
  readonly #endMs: number;
  readonly #watched: Check | undefined;
  /** Objects of the device, in the order that they were made in. */
  readonly #made: { destroy(): void }[] = [];
  #submits = 0;
  #checks = 0;

  constructor(script: Script, options: RunOptions) {
    this.#script = script;
    const { check } = options.watch ?? {};
    this.#watched = check === undefined ? undefined : [...checksOf(script.commands)][check.index];
    this.#options = options;
    const timeoutMs = Math.min(options.timeoutMs, script.fenceTimeoutMs ?? options.timeoutMs);
    this.#endMs = performance.now() + options.timeoutMs;
    this.#device = options.machine.openProcess("run", { timeoutMs, ...options.process });
  }

  close(): void {
    for (const object of this.#made.reverse()) object.destroy();
    this.#device.destroy();
  }

  /** Ends with the run. */
  #ending<T extends { destroy(): void }>(object: T): T {
    this.#made.push(object);
    return object;
  }

  async start(): Promise<void> {
    this.#look(0, undefined);
    await this.run(this.#script.commands);
  }

  async run(commands: readonly Command[]): Promise<void> {
    for (const command of commands) await this.#execute(command);
  }

  async #execute(command: Command): Promise<void> {
    if (performance.now() > this.#endMs) {
      throw new ScriptError(command.line, `the script runs for longer than ${this.#options.timeoutMs / 1000} s`);
    }
    switch (command.does) {
      case "dispatch":
        return this.#dispatch(command);
      case "expect-values":
      case "expect-buffer": {
        const index = this.#checks++;
        try {
          this.#check(command);
        } catch (error) {
          this.#options.watch?.failed?.("check", index, error instanceof CheckError ? error.place : undefined);
          throw error;
        }
        return;
      }
      case "copy": {
        const from = this.#bytes(command.from);
        const to = this.#bytes(command.to);
        if (from.length !== to.length) throw new ScriptError(command.line, "COPY between buffers of different sizes");
        to.set(from);
        return this.#look(command.line, undefined);
      }
      case "write":
        this.#bytes(command.buffer).set(command.bytes, command.offsetBytes);
        return this.#look(command.line, undefined);
      case "repeat":
        for (let i = 0; i < command.count; i++) await this.run(command.body);
        return;
      case "expect-pixels":
      case "graphics":
        throw new ScriptError(command.line, "this command needs graphics");
    }
  }

  #check(command: Check, place?: number): void {
    const bytes = this.#bytes(command.buffer);
    if (command.does === "expect-values") checkValues(command, bytes, place);
    else checkBuffers(command, bytes, this.#bytes(command.other));
  }

  /** Tells what the watched check says now. */
  #look(line: number, submit: number | undefined): void {
    if (this.#watched === undefined) return;
    let reason: string | undefined;
    try {
      this.#check(this.#watched, this.#options.watch?.check?.place);
    } catch (error) {
      if (!(error instanceof ScriptError)) throw error;
      reason = error.message;
    }
    this.#options.watch?.seen?.({ line, submit, reason });
  }

  #buffer(buffer: ScriptBuffer): DeviceBuffer {
    let made = this.#buffers.get(buffer);
    if (made === undefined) {
      made = this.#ending(this.#device.createBoundBuffer(Math.max(buffer.bytes.length, 1)));
      made.map().set(buffer.bytes);
      this.#buffers.set(buffer, made);
    }
    return made;
  }

  #bytes(buffer: ScriptBuffer): Uint8Array {
    return this.#buffer(buffer).map().subarray(0, buffer.bytes.length);
  }

  async #dispatch({ pipeline, groups, line }: Extract<Command, { does: "dispatch" }>): Promise<void> {
    const compiled = await this.#pipeline(pipeline, line);
    const commands = this.#device.createCommandBuffer().begin().bindPipeline(compiled);
    for (const [index, set] of this.#descriptors(pipeline)) commands.bindDescriptorSet(index, set);
    if (pipeline.pushConstants !== undefined) {
      const bytes = this.#bytes(pipeline.pushConstants);
      const whole = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
      whole.set(bytes);
      commands.pushConstants(0, whole);
    }
    commands
      .dispatch(...groups)
      .pipelineBarrier()
      .end();
    this.#submits++;
    try {
      await this.#device.submit([commands]).wait();
    } catch (error) {
      this.#options.watch?.failed?.("submit", this.#submits);
      const fault = this.#options.machine.faultOf(this.#device);
      throw new ScriptError(line, fault === undefined ? String(error) : formatReport(fault));
    } finally {
      commands.destroy();
    }
    this.#look(line, this.#submits);
  }

  async #pipeline(pipeline: ScriptPipeline, line: number): Promise<ComputePipeline> {
    const [attachment] = pipeline.attachments;
    if (attachment === undefined) throw new ScriptError(line, `pipeline ${pipeline.name} has no shader`);
    const key = `${pipeline.line} ${pipeline.name}`;
    const known = this.#pipelines.get(key);
    if (known !== undefined) return known;
    const { shader, entryPoint, specialization } = attachment;
    const { language, source, words } = shader;
    if (language === "other") throw new ScriptError(shader.line, "this shader's language is not compiled");
    const request: CompileRequest = {
      ...defaultRequest,
      language,
      ...(source !== undefined && { source }),
      ...(words !== undefined && { spirv: words }),
      stage: "compute",
      entryPoint,
      filename: this.#script.file,
      specialization,
      targetEnv: shader.targetEnv ?? defaultEnv(this.#script.file, language),
    };
    const sets = this.#layouts(pipeline).map((bindings) => this.#device.createDescriptorSetLayout(bindings));
    const made = await this.#compile(request, sets);
    this.#pipelines.set(key, made);
    return made;
  }

  async #compile(
    request: CompileRequest,
    sets: ReturnType<Device["createDescriptorSetLayout"]>[],
  ): Promise<ComputePipeline> {
    const compiler: ShaderCompiler = {
      compile: async (full) => {
        const result = await this.#options.compiler.compile(full);
        if (!result.ok) throw compileError(result.diagnostics);
        return result;
      },
    };
    return this.#ending(await this.#device.createComputePipeline({ compiler, request, layout: { sets } }));
  }

  /** Bindings by set number; a set that the script leaves out is empty. */
  #layouts(pipeline: ScriptPipeline) {
    const count = Math.max(0, ...pipeline.bindings.map((row) => row.set + 1));
    return Array.from({ length: count }, (_, set) =>
      pipeline.bindings
        .filter((row) => row.set === set)
        .map(({ binding, kind, buffers }) => {
          const type = descriptorTypes[kind];
          if (type === undefined) throw new ScriptError(pipeline.line, `${kind} cannot be bound`);
          return { binding, type, count: buffers.length };
        })
        .sort((a, b) => a.binding - b.binding),
    );
  }

  #descriptors(pipeline: ScriptPipeline): Map<number, DescriptorSet> {
    const known = this.#sets.get(pipeline);
    if (known !== undefined) return known;
    const pool = this.#ending(this.#device.createDescriptorPool());
    const sets = new Map<number, DescriptorSet>();
    for (const [index, bindings] of this.#layouts(pipeline).entries()) {
      if (bindings.length > 0) sets.set(index, pool.allocate(this.#device.createDescriptorSetLayout(bindings)));
    }
    for (const row of pipeline.bindings) this.#write(sets, row);
    this.#sets.set(pipeline, sets);
    return sets;
  }

  #write(sets: ReadonlyMap<number, DescriptorSet>, row: ScriptBinding): void {
    for (const [element, scriptBuffer] of row.buffers.entries()) {
      const buffer = this.#buffer(scriptBuffer);
      const offsetBytes = (row.offsets[element] ?? 0) + (row.dynamicOffsets[element] ?? 0);
      const range = row.ranges[element] ?? -1;
      if (offsetBytes > buffer.sizeBytes) {
        throw new ScriptError(row.line, `offset ${offsetBytes} is past buffer ${scriptBuffer.name}`);
      }
      const set = sets.get(row.set);
      if (row.kind.endsWith("_texel_buffer")) {
        const format = formatOf(scriptBuffer.type) ?? "";
        const options = { buffer, format, offsetBytes, ...(range >= 0 && { rangeBytes: range }) };
        set?.writeView(row.binding, this.#ending(this.#device.createBufferView(options)), element);
        continue;
      }
      const rangeBytes = range < 0 ? buffer.sizeBytes - offsetBytes : range;
      set?.write(row.binding, { buffer, offsetBytes, rangeBytes, element });
    }
  }
}

/** Runs a script that was read, in a simulated process of its own. Throws `ScriptError` at the first thing that fails. */
export async function runScript(script: Script, options: RunOptions): Promise<void> {
  const run = new ScriptRun(script, options);
  try {
    await run.start();
  } catch (error) {
    if (error instanceof DriverError) throw new ScriptError(0, error.message);
    throw error;
  } finally {
    run.close();
  }
}
