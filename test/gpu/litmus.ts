/**
 * Litmus tests of the machine's memory model, in coherence mode: right programs, and wrong ones that lack one step. Each
 * runs on a fresh machine by seed and answers whether what it read was right.
 */
import { ControlFlag, encodePacket, PacketValue } from "../../src/uapi/index.ts";
import { assemble } from "./assembler.ts";
import { high, type Launch, low, QUEUE, Rig } from "./rig.ts";

export interface Litmus {
  readonly name: string;
  /** Right programs hold for every seed; the others fail for some. */
  readonly isRight: boolean;
  /** What each seed's run reads: equal runs are equal texts. `ok`: as the right program must. */
  run(seed: number): LitmusRun | Promise<LitmusRun>;
}

interface LitmusRun {
  readonly ok: boolean;
  readonly trace: string;
}

const MEMORY_BYTES = 0x0600_0000;
const DATA = 42;
const GAVE_UP = 7;

type Cells = { readonly va: bigint; readonly physical: number };

function code(rig: Rig, text: string): bigint {
  return rig.code(assemble(text));
}

function machine(seed: number, wgps: number, queues = 1): { rig: Rig; cells: Cells } {
  const rig = new Rig({ memoryBytes: MEMORY_BYTES, seed, flags: ControlFlag.COHERENCE, wgps, queues });
  return { rig, cells: rig.alloc(4096) };
}

const user = (cells: Cells) => [low(cells.va), high(cells.va)];

/** Steps of message passing; a wrong program lacks one. */
interface Passing {
  readonly vscnt: boolean;
  readonly gl0: boolean;
  readonly gl1: boolean;
  readonly atomicFlag: boolean;
}

/** Data at 0, flag at 256, result at 512. Group 0 writes, group 1 has read the data before and waits for the flag. */
function passing({ vscnt, gl0, gl1, atomicFlag }: Passing): string {
  return `
    v_mov_b32_e32 v0, 0
    s_mov_b32 exec_lo, 1
    v_mov_b32_e32 v1, ${DATA}
    v_mov_b32_e32 v2, 1
    s_cmp_eq_u32 s2, 1
    s_cbranch_scc1 reader
    global_store_dword v0, v1, s[0:1]
    ${vscnt ? "s_waitcnt_vscnt null, 0x0" : ""}
    ${atomicFlag ? "global_atomic_swap v0, v2, s[0:1] offset:256" : "global_store_dword v0, v2, s[0:1] offset:256"}
    s_endpgm
    reader:
    global_load_dword v3, v0, s[0:1]
    s_movk_i32 s4, 0x400
    spin:
    global_load_dword v4, v0, s[0:1] offset:256 glc dlc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s5, v4
    s_sub_u32 s4, s4, 1
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc1 late
    s_cmp_eq_u32 s5, 0
    s_cbranch_scc1 spin
    ${gl0 ? "buffer_gl0_inv" : ""}
    ${gl1 ? "buffer_gl1_inv" : ""}
    global_load_dword v3, v0, s[0:1]
    s_waitcnt vmcnt(0)
    global_store_dword v0, v3, s[0:1] offset:512
    s_endpgm
    late:
    v_mov_b32_e32 v3, ${GAVE_UP}
    global_store_dword v0, v3, s[0:1] offset:512
    s_endpgm`;
}

function dispatched(rig: Rig, launch: Launch): void {
  const fault = rig.run(launch);
  if (fault !== undefined) throw new Error(`${fault.name} at ${fault.pc}`);
}

/** The kernel's job end writes L2 back, so that the host sees what arrived. */
const WRITE_BACK = encodePacket("RELEASE_MEM", { eventType: 0x14, eventIndex: 5, gl2Wb: 1 });

function messagePassing(name: string, isRight: boolean, steps: Passing): Litmus {
  const text = passing(steps);
  return {
    name,
    isRight,
    run(seed) {
      // One WGP a shader array, so that writer and reader have a GL1 each.
      const { rig, cells } = machine(seed, 8);
      dispatched(rig, { code: code(rig, text), user: user(cells), groups: [2, 1, 1], ids: [true, false, false] });
      rig.submit(WRITE_BACK);
      rig.drain();
      const got = rig.u32(cells.physical + 512, 1)[0];
      return { ok: got === DATA || got === GAVE_UP, trace: `${got} ${rig.instructions()}` };
    },
  };
}

/** Two waves of a workgroup on two CUs exchange through memory and a barrier. */
function workgroup(name: string, isRight: boolean, steps: { vscnt: boolean; barrier: boolean; gl0: boolean }): Litmus {
  // s2: tg_size, bits 11:6 the wave's index. Each wave's cell is a line of its own.
  const text = `
    s_mov_b32 exec_lo, 1
    s_bfe_u32 s4, s2, 0x60006
    s_lshl_b32 s5, s4, 7
    s_xor_b32 s6, s5, 0x80
    v_mov_b32_e32 v0, s5
    v_mov_b32_e32 v1, s6
    v_mov_b32_e32 v2, ${DATA}
    global_load_dword v3, v1, s[0:1]
    s_waitcnt vmcnt(0)
    global_store_dword v0, v2, s[0:1]
    ${steps.vscnt ? "s_waitcnt_vscnt null, 0x0" : ""}
    ${steps.barrier ? "s_barrier" : ""}
    ${steps.gl0 ? "buffer_gl0_inv" : ""}
    global_load_dword v3, v1, s[0:1]
    s_waitcnt vmcnt(0)
    global_store_dword v0, v3, s[0:1] offset:512
    s_endpgm`;
  return {
    name,
    isRight,
    run(seed) {
      const { rig, cells } = machine(seed, 1);
      const launch = { user: user(cells), threads: [64, 1, 1], tgSize: true, wgpMode: true } as const;
      dispatched(rig, { code: code(rig, text), ...launch });
      rig.submit(WRITE_BACK);
      rig.drain();
      const got = [rig.u32(cells.physical + 512, 1)[0], rig.u32(cells.physical + 640, 1)[0]];
      return { ok: got.every((value) => value === DATA), trace: `${got} ${rig.instructions()}` };
    },
  };
}

/** Two waves pass two rounds of values through one LDS cell each; without the second barrier it is used again too early. */
function localMemory(name: string, isRight: boolean, steps: { first: boolean; second: boolean }): Litmus {
  const text = `
    s_mov_b32 exec_lo, 1
    s_bfe_u32 s4, s2, 0x60006
    s_lshl_b32 s5, s4, 2
    s_xor_b32 s6, s5, 4
    v_mov_b32_e32 v0, s5
    v_mov_b32_e32 v1, s6
    v_mov_b32_e32 v2, ${DATA}
    v_mov_b32_e32 v4, ${DATA + 1}
    ds_write_b32 v0, v2
    s_waitcnt lgkmcnt(0)
    ${steps.first ? "s_barrier" : ""}
    ds_read_b32 v3, v1
    s_waitcnt lgkmcnt(0)
    ${steps.second ? "s_barrier" : ""}
    ds_write_b32 v0, v4
    global_store_dword v0, v3, s[0:1]
    s_endpgm`;
  return {
    name,
    isRight,
    run(seed) {
      const { rig, cells } = machine(seed, 1);
      const launch = { user: user(cells), threads: [64, 1, 1], tgSize: true, wgpMode: true, ldsBytes: 512 } as const;
      dispatched(rig, { code: code(rig, text), ...launch });
      rig.submit(WRITE_BACK);
      rig.drain();
      const got = [...rig.u32(cells.physical, 2)];
      return { ok: got.every((value) => value === DATA), trace: `${got} ${rig.instructions()}` };
    },
  };
}

/** Writes `value` to 32 cells of two groups at `to`. */
const PRODUCE = `
  s_lshl_b32 s4, s3, 7
  v_lshl_add_u32 v0, v0, 2, s4
  v_mov_b32_e32 v1, s2
  global_store_dword v0, v1, s[0:1]
  s_endpgm`;
/** Copies 32 cells of two groups from `s[0:1]` to `s[4:5]`. */
const CONSUME = `
  s_lshl_b32 s6, s6, 7
  v_lshl_add_u32 v0, v0, 2, s6
  global_load_dword v1, v0, s[0:1]
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[4:5]
  s_endpgm`;

interface QueueSteps {
  readonly wait: boolean;
  readonly release: boolean;
  readonly acquire: boolean;
  /** The producer of the second round waits for the consumer of the first. */
  readonly reuse: boolean;
}

/** Two queues pass two rounds of data through one buffer, with fences in memory. */
function queues(name: string, isRight: boolean, steps: QueueSteps): Litmus {
  return {
    name,
    isRight,
    run(seed) {
      const { rig, cells } = machine(seed, 2, 2);
      const out = rig.alloc(4096);
      const fences = rig.alloc(4096);
      const produce = code(rig, PRODUCE);
      const consume = code(rig, CONSUME);
      const groups = [2, 1, 1] as const;
      const ids = [true, false, false] as const;
      const wait = (index: number) =>
        encodePacket("WAIT_REG_MEM", {
          function: PacketValue.WAIT_EQUAL,
          memSpace: 1,
          address: fences.va + BigInt(4 * index),
          reference: 1,
          mask: 0xffff_ffff,
        });
      const signal = (index: number) =>
        steps.release
          ? encodePacket("RELEASE_MEM", {
              eventType: 0x14,
              eventIndex: 5,
              gl2Wb: 1,
              dataSel: 1,
              address: fences.va + BigInt(4 * index),
              data: 1n,
            })
          : encodePacket("WRITE_DATA", { dstSel: 5, address: fences.va + BigInt(4 * index) }, [1]);
      const acquire = encodePacket("ACQUIRE_MEM", { coherSize: 0xff_ffff_ffffn, glkInv: 1, glvInv: 1, gl1Inv: 1 });
      const into = (round: number) => [...user(cells), 0, 0, low(out.va) + 1024 * round, high(out.va)];
      const read = (round: number) => rig.packets({ code: consume, user: into(round), groups, ids });
      const first: number[] = [];
      const second = [...read(2), ...encodePacket("EVENT_WRITE", { eventType: 7, eventIndex: 4 })];
      for (const round of [0, 1]) {
        if (round === 1 && steps.reuse) first.push(...wait(2));
        first.push(
          ...rig.packets({ code: produce, user: [...user(cells), DATA + round], groups, ids }),
          ...signal(round),
        );
        if (steps.wait) second.push(...wait(round));
        if (steps.acquire) second.push(...acquire);
        second.push(...read(round), ...signal(2 + round));
      }
      rig.ib(first, QUEUE);
      rig.ib(second, QUEUE + 1);
      const fault = rig.drain(10_000);
      if (fault !== undefined) throw new Error(fault.name);
      rig.submit(WRITE_BACK);
      rig.drain();
      const got = [...rig.u32(out.physical, 64), ...rig.u32(out.physical + 1024, 64)];
      const ok = got.every((value, i) => value === DATA + (i >> 6));
      return { ok, trace: `${got} ${rig.instructions()}` };
    },
  };
}

/** What a shader stored reaches the host only where the release writes L2 back. */
function hostRead(name: string, isRight: boolean, gl2Wb: number): Litmus {
  return {
    name,
    isRight,
    run(seed) {
      const { rig, cells } = machine(seed, 1);
      const produce = { code: code(rig, PRODUCE), user: [...user(cells), DATA], ids: [true, false, false] } as const;
      rig.ib(
        [...rig.packets(produce), ...encodePacket("RELEASE_MEM", { eventType: 0x14, eventIndex: 5, gl2Wb })],
        QUEUE,
      );
      rig.drain();
      const got = [...rig.u32(cells.physical, 32)];
      return { ok: got.every((value) => value === DATA), trace: `${got} ${rig.instructions()}` };
    },
  };
}

const all = { vscnt: true, gl0: true, gl1: true, atomicFlag: false };
const everyStep = { wait: true, release: true, acquire: true, reuse: true };

/** All of them; a wrong one's name says what it lacks. */
export const litmusTests: readonly Litmus[] = [
  messagePassing("message passing", true, all),
  messagePassing("message passing, atomic flag", true, { ...all, atomicFlag: true }),
  messagePassing("message passing without a wait for the store", false, { ...all, vscnt: false }),
  messagePassing("message passing, atomic flag, without the wait", false, { ...all, vscnt: false, atomicFlag: true }),
  messagePassing("message passing without buffer_gl0_inv", false, { ...all, gl0: false }),
  messagePassing("message passing without buffer_gl1_inv", false, { ...all, gl1: false }),
  workgroup("two CUs of a workgroup", true, { vscnt: true, barrier: true, gl0: true }),
  workgroup("two CUs without s_barrier", false, { vscnt: true, barrier: false, gl0: true }),
  workgroup("two CUs without a wait for the store", false, { vscnt: false, barrier: true, gl0: true }),
  workgroup("two CUs without buffer_gl0_inv", false, { vscnt: true, barrier: true, gl0: false }),
  localMemory("LDS used twice", true, { first: true, second: true }),
  localMemory("LDS without the first barrier", false, { first: false, second: true }),
  localMemory("LDS used again too early", false, { first: true, second: false }),
  queues("two queues", true, everyStep),
  queues("two queues without the wait", false, { ...everyStep, wait: false }),
  queues("two queues without the release", false, { ...everyStep, release: false }),
  queues("two queues without the acquire", false, { ...everyStep, acquire: false }),
  queues("two queues, buffer used again too early", false, { ...everyStep, reuse: false }),
  hostRead("host read", true, 1),
  hostRead("host read without the write-back", false, 0),
];

/** Seeds from `first` on: failing ones, and whether a failing one's replay is the same. */
export async function soakLitmus(
  test: Litmus,
  first: number,
  seeds: number,
): Promise<{ failing: number[]; isReplayed: boolean }> {
  const failing: number[] = [];
  let isReplayed = true;
  for (let seed = first; seed < first + seeds; seed++) {
    const got = await test.run(seed);
    if (got.ok) continue;
    // The first ones stand for all.
    if (failing.length < 3) isReplayed &&= (await test.run(seed)).trace === got.trace;
    failing.push(seed);
  }
  return { failing, isReplayed };
}
