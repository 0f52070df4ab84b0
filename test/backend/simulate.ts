import { low, Rig } from "../gpu/rig.ts";
import type { Emitted } from "./module.ts";

/** Set 0 on the simulated GPU: buffers by binding, at 16-byte steps in the 32-bit pointer window. */
export interface Run {
  readonly emitted: Emitted;
  readonly local: readonly [number, number, number];
  readonly groups: readonly [number, number, number];
  readonly groupIds: readonly [boolean, boolean, boolean];
  readonly ldsBytes?: number;
  /** Push constants, dwords; those that the code wants inlined are picked from here. */
  readonly push: readonly number[];
  /** Buffer contents; the run works on copies. */
  readonly buffers: readonly Uint32Array[];
}

const WINDOW = 0xffff_8000_0000_0000n;
/** dst_sel xyzw, format 32_FLOAT, resource level, OOB_SELECT 3: docs/abi.md, "Descriptors". */
const RAW_WORD3 = (0xfac | (22 << 12) | (1 << 24) | (3 << 28)) >>> 0;

/** Code, padding, and its constants where it looks for them: docs/abi.md, "Code object". */
function withTable({ code, table }: Emitted): Uint32Array {
  if (table === undefined || table.length === 0) return code;
  const at = Math.ceil((code.length + 64) / 16) * 16;
  const words = new Uint32Array(at + table.length).fill(0xbf9f0000);
  words.set(code);
  words.set(table, at);
  return words;
}

export class Simulator {
  #rig = new Rig();
  #uses = 0;
  #page = 0x1_0000n;

  /** Contents of the buffers after the run; a fault throws. */
  run(run: Run): Uint32Array[] {
    // The rig never frees: start anew before its memory is used up.
    if (++this.#uses > 200) {
      this.#rig = new Rig();
      this.#uses = 0;
      this.#page = 0x1_0000n;
    }
    const rig = this.#rig;
    const va = WINDOW + this.#page;
    this.#page += 0x1_0000n;
    const set = rig.alloc(4096, undefined, va);
    const placed = run.buffers.map((contents, binding) => {
      const buffer = rig.alloc(Math.max(4, contents.length * 4));
      rig.u32(buffer.physical, contents.length).set(contents);
      rig
        .u32(set.physical + binding * 16, 4)
        .set([low(buffer.va), Number((buffer.va >> 32n) & 0xffffn), contents.length * 4, RAW_WORD3]);
      return buffer;
    });
    const { emitted } = run;
    const waveScratch = Math.ceil(((emitted.scratchBytes ?? 0) * 32) / 1024) * 1024;
    const scratch = waveScratch > 0 ? rig.alloc(waveScratch * 32).va : 0n;
    const user = [low(scratch), Number(scratch >> 32n), low(va)];
    if (emitted.pushPointer) {
      const at = rig.alloc(4096, undefined, va + 0x8000n);
      rig.u32(at.physical, run.push.length).set(run.push);
      user.push(low(va + 0x8000n));
    } else {
      for (const [k, value] of run.push.entries()) if ((emitted.pushInlined >>> k) & 1) user.push(value);
    }
    if (user.length !== emitted.userSgprs)
      throw new Error(`${user.length} user SGPRs, code wants ${emitted.userSgprs}`);
    const fault = rig.run({
      code: rig.code(withTable(emitted)),
      user,
      groups: run.groups,
      threads: run.local,
      ids: run.groupIds,
      threadIds: emitted.threadIdComponents as 0 | 1 | 2,
      ldsBytes: run.ldsBytes ?? 0,
      ...(waveScratch > 0 ? { scratchBytes: waveScratch } : {}),
      vgprs: Math.max(8, emitted.vgprs),
    });
    if (fault !== undefined)
      throw new Error(
        `fault ${fault.name} at pc ${fault.pc.toString(16)}, address ${fault.address.toString(16)} detail ${fault.detail}`,
      );
    return placed.map((buffer, k) => rig.u32(buffer.physical, run.buffers[k]?.length ?? 0).slice());
  }
}
