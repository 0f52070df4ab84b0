import { expect } from "vitest";
import type { ComputeHardware } from "../../../src/codeobj/index.ts";
import type { FaultReport } from "../../../src/debug/index.ts";
import { assemble } from "../../../src/isa/index.ts";
import type { Machine } from "../../../src/service/machine.ts";
import { type ApiMessage, type Buffer, type Device, DriverError, type PipelineLayout } from "../../../src/umd/index.ts";
import { Process } from "../../kmd/process.ts";
import { compilerOf, record, request, userData } from "../../umd/shader.ts";

/** User SGPRs: s[0:1] ring, s2 set 0, s3 the push constant, then s4 workgroup id x; v0 thread id. v3 = 4 * global id. */
const head = `
  s_mov_b32 s8, s2
  s_movk_i32 s9, 0x8000
  s_load_dwordx4 s[12:15], s[8:9], 0x0
  v_lshl_add_u32 v1, s4, 5, v0
  v_lshlrev_b32_e32 v3, 2, v1
  s_waitcnt lgkmcnt(0)`;
const storeV2 = `
  buffer_store_dword v2, v3, s[12:15], 0 offen
  s_endpgm`;
/** v[4:5] = the dwords 0 and 1 of the buffer: an address that the test put there. */
const address = `${head}
  v_mov_b32_e32 v7, 0
  buffer_load_dwordx2 v[4:5], v7, s[12:15], 0 offen
  s_waitcnt vmcnt(0)`;

/** FLAT_SCRATCH (registers 20 and 21, 32 bits) = s[0:1] + s5, the wave's offset. */
const flatScratch = `
  s_add_u32 s6, s0, s5
  s_addc_u32 s7, s1, 0
  s_setreg_b32 0xf814, s6
  s_setreg_b32 0xf815, s7`;

/** A store to the lane's own scratch memory, then one where `toV2` says. */
function storeToScratch(toV2: string): string {
  return `${flatScratch}
    v_mov_b32_e32 v1, 4
    scratch_store_dword v1, v0, off
    s_waitcnt_vscnt null, 0x0
    ${toV2}
    scratch_store_dword v2, v0, off
    s_endpgm`;
}

/** Programs by name. Each is a whole shader of 32 threads over one buffer. */
const programs = {
  multiply: `${head}
    v_mul_lo_u32 v2, v1, s3${storeV2}`,
  load: `${address}
    global_load_dword v2, v[4:5], off
    s_waitcnt vmcnt(0)${storeV2}`,
  store: `${address}
    v_mov_b32_e32 v6, 0x77
    global_store_dword v[4:5], v6, off
    s_waitcnt_vscnt null, 0x0
    global_load_dword v2, v[4:5], off
    s_waitcnt vmcnt(0)${storeV2}`,
  illegal: `
    s_nop 0
    .long 0xbfbf0000
    s_endpgm`,
  jump: `${address}
    v_readfirstlane_b32 s20, v4
    v_readfirstlane_b32 s21, v5
    s_setpc_b64 s[20:21]`,
  endless: `
    s_nop 1
    s_branch 0xfffe
    s_endpgm`,
  stuck: `
    v_cmp_gt_u32_e32 vcc_lo, 32, v0
    s_cbranch_vccz 2
    s_barrier
    s_endpgm
    s_nop 0
    s_branch 0xfffe
    s_endpgm`,
  early: `${head}
    buffer_load_dword v2, v3, s[12:15], 0 offen
    v_add_nc_u32_e32 v2, s3, v2
    s_endpgm`,
  lds: `${head}
    v_mov_b32_e32 v4, 0x10000
    v_mov_b32_e32 v2, 0x55
    ds_write_b32 v4, v2
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v2, v4
    s_waitcnt lgkmcnt(0)${storeV2}`,
  scratch: storeToScratch("v_mov_b32_e32 v2, 0x4000"),
  // The first byte behind 64 of each lane: lane 31 of the wave before it has none there either.
  scratchEnd: storeToScratch("v_mov_b32_e32 v2, 64"),
  // A stack of 16 bytes a call that returns never: v2 goes up until it leaves the lane's memory.
  stack: `${flatScratch}
    v_mov_b32_e32 v2, 0
    scratch_store_dword v2, v0, off
    v_add_nc_u32_e32 v2, 16, v2
    s_waitcnt_vscnt null, 0x0
    s_branch 0xfffb
    s_endpgm`,
} as const;

export type ProgramName = keyof typeof programs;

function wordsOf(name: ProgramName): Uint32Array {
  const assembly = assemble(programs[name]);
  if (!assembly.ok) throw new Error(assembly.mistakes.map(({ line, message }) => `${line}: ${message}`).join("\n"));
  return assembly.words;
}

interface ProgramOptions {
  readonly threads?: number;
  readonly push?: number;
  /** Offsets of the dwords of push constants that it is passed. */
  readonly pushOffsets?: readonly number[];
  readonly layout?: PipelineLayout;
  readonly hardware?: Partial<ComputeHardware>;
}

/** A machine with helpers for one case: processes of its own, and what the validation layer said. */
export class Bench {
  readonly machine: Machine;
  readonly messages: ApiMessage[] = [];
  readonly #devices: Device[] = [];
  readonly #processes: Process[] = [];

  constructor(machine: Machine) {
    this.machine = machine;
  }

  /** A device with validation. */
  device(name = "bad", timeoutMs = 60_000): Device {
    const device = this.machine.openProcess(name, { timeoutMs, validate: (message) => this.messages.push(message) });
    this.#devices.push(device);
    return device;
  }

  /** A file without a user-mode driver. */
  process(name = "bad"): Process {
    const process = new Process(this.machine.kernel, name);
    this.#processes.push(process);
    return process;
  }

  rules(): string[] {
    return this.messages.map(({ rule }) => rule);
  }

  pipeline(device: Device, name: ProgramName, options: ProgramOptions = {}) {
    const { threads = 32, hardware, pushOffsets = [0], layout } = options;
    const code = wordsOf(name);
    const lines = [...code].map((_, i) => ({ offset: i * 4, line: 100 + i }));
    const answer = record({
      code,
      workgroupSize: [threads, 1, 1],
      buffers: [0],
      userData: userData(pushOffsets),
      pushConstantBytes: Math.max(...pushOffsets) + 4,
      lines,
      ...(hardware === undefined ? {} : { hardware }),
    });
    return device.createComputePipeline({
      compiler: compilerOf(answer),
      request: { ...request, filename: name },
      ...(layout === undefined ? {} : { layout }),
    });
  }

  set(device: Device, buffer: Buffer) {
    const layout = device.createDescriptorSetLayout([{ binding: 0, type: "storageBuffer", count: 1 }]);
    const pool = device.createDescriptorPool(4096);
    const set = pool.allocate(layout);
    set.write(0, { buffer });
    return { pool, set };
  }

  /** Submits one dispatch of a program over a buffer. */
  async submit(device: Device, name: ProgramName, buffer: Buffer, options: ProgramOptions = {}) {
    const pipeline = await this.pipeline(device, name, options);
    const { set } = this.set(device, buffer);
    const command = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
    command
      .pushConstants(0, bytesOf(options.push ?? 1))
      .dispatch(1)
      .pipelineBarrier()
      .end();
    return device.submit([command]);
  }

  /** Runs a program that must lose its device, and answers the report. `first`: the buffer's first two dwords. */
  async faults(name: ProgramName, first = 0n, options: ProgramOptions & { readonly timeoutMs?: number } = {}) {
    const device = this.device(`bad ${name}`, options.timeoutMs);
    const buffer = device.createBoundBuffer(4096);
    new DataView(buffer.map().buffer, buffer.map().byteOffset).setBigUint64(0, first, true);
    return this.lost(device, await this.submit(device, name, buffer, options));
  }

  async lost(device: Device, fence: { wait(): Promise<unknown> }): Promise<FaultReport> {
    const error = await caught(() => fence.wait());
    expect([error.result, device.lost]).toEqual(["DEVICE_LOST", true]);
    const report = this.machine.faultOf(device);
    if (report === undefined) throw new Error("no report");
    return report;
  }

  /** The reports of a file without a driver. */
  reportsOf(name: string): FaultReport[] {
    return this.machine.faults().filter(({ processName }) => processName === name);
  }

  /** Another process's dispatch must succeed, whatever happened. */
  async good(): Promise<void> {
    const device = this.machine.openProcess("good");
    const buffer = device.createBoundBuffer(128);
    const fence = await this.submit(device, "multiply", buffer, { push: 3 });
    expect(await fence.wait(60_000)).toBe("SUCCESS");
    const view = buffer.map();
    const got = [...new Uint32Array(view.buffer, view.byteOffset, 32)];
    expect(got).toEqual(Array.from({ length: 32 }, (_, i) => i * 3));
    device.destroy();
  }

  close(): void {
    for (const device of this.#devices) if (this.isOpen(device.fd)) device.destroy();
    for (const { fd } of this.#processes) this.machine.kernel.close(fd);
  }

  isOpen(fd: number): boolean {
    return this.machine.usage().some((process) => process.fd === fd);
  }
}

export function bytesOf(...values: number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(values).buffer);
}

export function dwords(buffer: Buffer): Uint32Array {
  const view = buffer.map();
  return new Uint32Array(view.buffer, view.byteOffset, buffer.sizeBytes >> 2);
}

/** The driver's error that an action must throw. */
async function caught(action: () => unknown): Promise<DriverError> {
  try {
    await action();
  } catch (error) {
    if (error instanceof DriverError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** A misuse that is refused: VALIDATION with the text, and the place of the call in a test file. */
export async function refused(text: RegExp, action: () => unknown): Promise<void> {
  const error = await caught(action);
  expect(error.result).toBe("VALIDATION");
  expect(error.message).toMatch(text);
  expect(error.place).toMatch(/test\/e2e\/misuse\/.*\.ts:\d+:\d+$/);
}

/** A message of the layer: its rule, and both places in a test file. */
export function told(message: ApiMessage | undefined, rule: string, both = true): void {
  const here = /test\/e2e\/misuse\/.*\.ts:\d+:\d+$/;
  expect(message?.rule).toBe(rule);
  expect(message?.place).toMatch(here);
  if (both) expect(message?.other).toMatch(here);
}
