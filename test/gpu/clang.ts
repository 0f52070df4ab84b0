import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pte } from "../../src/uapi/index.ts";
import { runOracle } from "../oracles.ts";
import { high, low, type Rig } from "./rig.ts";

/** An argument of a kernel: a buffer's address, or a 32-bit value. */
export type Argument = { readonly va: bigint } | number;

/** OpenCL's built-in functions as bitcode: Debian's libclc-19. */
export const libclc = "/usr/lib/clc/amdgcn--amdhsa.bc";

/** Compiles OpenCL C with clang for gfx1030, linked with libclc where wanted; the code object's bytes. */
export function compileOpenCl(source: string, withLibclc = false): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), "kiln-cl-"));
  const input = join(folder, "k.cl");
  const output = join(folder, "k.co");
  writeFileSync(input, source);
  const flags = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-nogpulib", "-O2", "-x", "cl", "-cl-std=CL1.2"];
  const more = ["-cl-fp32-correctly-rounded-divide-sqrt", "-Xclang", "-finclude-default-header", input, "-o", output];
  if (withLibclc) flags.push("-Xclang", "-mlink-builtin-bitcode", "-Xclang", libclc, "-w");
  const done = runOracle("clang-19", [...flags, ...more]);
  if (done.status !== 0) throw new Error(done.stderr);
  const bytes = Uint8Array.from(readFileSync(output));
  rmSync(folder, { recursive: true });
  return bytes;
}

/** A code object in GPU memory: launches its kernels as the HSA convention says (user SGPRs by the descriptor's bits). */
export class Program {
  readonly #rig: Rig;
  readonly #view: DataView;
  readonly #symbols = new Map<string, number>();
  readonly #image: { va: bigint; physical: number };

  constructor(rig: Rig, elf: Uint8Array) {
    this.#rig = rig;
    const view = new DataView(elf.buffer);
    const segments = [];
    for (let i = 0; i < view.getUint16(56, true); i++) {
      const at = Number(view.getBigUint64(32, true)) + i * view.getUint16(54, true);
      if (view.getUint32(at, true) !== 1) continue;
      const long = (offset: number) => Number(view.getBigUint64(at + offset, true));
      segments.push({ offset: long(8), va: long(16), bytes: long(32), memory: long(40) });
    }
    const size = Math.max(...segments.map(({ va, memory }) => va + memory));
    this.#image = rig.alloc(size + 512, Pte.READABLE | Pte.WRITABLE | Pte.EXECUTABLE);
    for (const { offset, va, bytes } of segments)
      rig.bytes.set(elf.subarray(offset, offset + bytes), this.#image.physical + va);
    this.#view = new DataView(rig.bytes.buffer, this.#image.physical, size);
    this.#readSymbols(view, elf);
  }

  #readSymbols(view: DataView, elf: Uint8Array): void {
    const table = Number(view.getBigUint64(40, true));
    const header = (i: number) => {
      const at = table + i * 64;
      const long = (offset: number) => Number(view.getBigUint64(at + offset, true));
      return {
        type: view.getUint32(at + 4, true),
        offset: long(24),
        bytes: long(32),
        link: view.getUint32(at + 40, true),
      };
    };
    for (let i = 0; i < view.getUint16(60, true); i++) {
      const section = header(i);
      if (section.type !== 11) continue;
      const names = header(section.link).offset;
      for (let at = section.offset; at < section.offset + section.bytes; at += 24) {
        let end = names + view.getUint32(at, true);
        const start = end;
        while (elf[end] !== 0) end++;
        this.#symbols.set(new TextDecoder().decode(elf.subarray(start, end)), Number(view.getBigUint64(at + 8, true)));
      }
    }
  }

  /** Runs a kernel over `groups` workgroups of `threads`; throws on a fault. */
  run(name: string, groups: number, threads: number, args: readonly Argument[]): void {
    const rig = this.#rig;
    const descriptor = this.#symbols.get(`${name}.kd`);
    if (descriptor === undefined) throw new Error(`no kernel ${name}`);
    const word = (offset: number) => this.#view.getUint32(descriptor + offset, true);
    const kernarg = rig.alloc(4096);
    const out = new DataView(rig.bytes.buffer, kernarg.physical, 4096);
    let at = 0;
    for (const argument of args) {
      if (typeof argument === "number") {
        out.setUint32(at, argument >>> 0, true);
        at += 4;
      } else {
        at = Math.ceil(at / 8) * 8;
        out.setBigUint64(at, argument.va, true);
        at += 8;
      }
    }
    const scratchPerLane = word(4);
    const scratchBytes = Math.ceil((scratchPerLane * 32) / 1024) * 1024;
    const scratch = scratchBytes > 0 ? rig.alloc(32 * scratchBytes) : { va: 0n };
    const properties = this.#view.getUint16(descriptor + 56, true);
    const user: number[] = [];
    const give = (bit: number, values: readonly number[]) => {
      if ((properties >> bit) & 1) user.push(...values);
    };
    // V# of scratch: swizzled, dwords of 32 lanes interleaved, the lane added to the index.
    give(0, [
      low(scratch.va),
      (high(scratch.va) | (1 << 31)) >>> 0,
      0xffffffff,
      ((3 << 28) | (1 << 24) | (1 << 23) | (2 << 21)) >>> 0,
    ]);
    const packet = rig.alloc(64);
    const fields = new DataView(rig.bytes.buffer, packet.physical, 64);
    fields.setUint16(4, threads, true);
    fields.setUint16(6, 1, true);
    fields.setUint16(8, 1, true);
    fields.setUint32(12, groups * threads, true);
    fields.setUint32(16, 1, true);
    fields.setUint32(20, 1, true);
    give(1, [low(packet.va), high(packet.va)]);
    give(2, [0, 0]);
    give(3, [low(kernarg.va), high(kernarg.va)]);
    give(4, [0, 0]);
    give(5, [low(scratch.va), high(scratch.va)]);
    give(6, [scratchBytes]);
    const rsrc2 = (word(52) & ~(511 << 15)) | (Math.ceil(word(0) / 512) << 15);
    const entry = BigInt(descriptor) + this.#view.getBigInt64(descriptor + 16, true);
    const code = this.#image.va + entry;
    const fault = rig.run({
      code,
      user,
      groups: [groups, 1, 1],
      threads: [threads, 1, 1],
      rsrc: [word(48), rsrc2 >>> 0],
      scratchBytes,
    });
    if (fault !== undefined) {
      throw new Error(
        `${name}: ${fault.name} at +0x${(fault.pc - code).toString(16)} address ${fault.address.toString(16)} detail ${fault.detail}`,
      );
    }
  }
}
