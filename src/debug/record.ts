import { Fault, WaveRecord, WaveStatus } from "../uapi/index.ts";

/** One wave of a fault record. Addresses are virtual, `exec` is a mask of 32 lanes. */
export interface WaveState {
  readonly pc: bigint;
  readonly exec: number;
  readonly vcc: number;
  readonly scc: number;
  readonly m0: number;
  readonly mode: number;
  readonly status: "running" | "barrier" | "ended";
  readonly workgroup: readonly [number, number, number];
  readonly waveInGroup: number;
}

/** A fault slot with its words named; what the kind does not use is as the GPU left it. */
export interface FaultFields {
  readonly kind: number;
  readonly vmid: number;
  readonly queue: number;
  readonly access: number;
  readonly address: bigint;
  readonly pc: bigint;
  readonly packetVa: bigint;
  readonly packetHeader: number;
  readonly instruction: readonly [number, number];
  readonly detail: readonly [number, number];
  readonly lane: number | undefined;
  readonly groups: readonly [number, number, number];
  readonly program: bigint;
  readonly waves: readonly WaveState[];
  /** Index into `waves` of the wave below. */
  readonly faultingWave: number | undefined;
  /** By operand code: 0-105 SGPRs, 106/107 VCC, 124 M0, 126/127 EXEC. */
  readonly sgprs: Uint32Array;
  /** Register-major, 32 lanes each. */
  readonly vgprs: Uint32Array;
}

const NONE = 0xffff_ffff;

/** Names the words of a fault slot (`Fault`). Counts are cut to what a slot can hold, so that no record breaks it. */
export function decodeRecord(record: Uint8Array): FaultFields {
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  const u32 = (at: number): number => view.getUint32(at, true);
  const u64 = (at: number): bigint => view.getBigUint64(at, true);
  const words = (at: number, count: number): Uint32Array =>
    Uint32Array.from({ length: count }, (_, i) => u32(at + i * 4));
  const index = (value: number): number | undefined => (value === NONE ? undefined : value);
  const waves = Array.from({ length: Math.min(u32(Fault.WAVE_COUNT), Fault.MAX_WAVES) }, (_, i): WaveState => {
    const at = Fault.WAVES + i * Fault.WAVE_BYTES;
    const status = u32(at + WaveRecord.STATUS);
    return {
      pc: u64(at + WaveRecord.PC_LO),
      exec: u32(at + WaveRecord.EXEC),
      vcc: u32(at + WaveRecord.VCC),
      scc: u32(at + WaveRecord.SCC),
      m0: u32(at + WaveRecord.M0),
      mode: u32(at + WaveRecord.MODE),
      status: status === WaveStatus.BARRIER ? "barrier" : status === WaveStatus.ENDED ? "ended" : "running",
      workgroup: [u32(at + WaveRecord.WORKGROUP_X), u32(at + WaveRecord.WORKGROUP_Y), u32(at + WaveRecord.WORKGROUP_Z)],
      waveInGroup: u32(at + WaveRecord.WAVE_IN_GROUP),
    };
  });
  const faultingWave = index(u32(Fault.WAVE_INDEX));
  const known = faultingWave !== undefined && faultingWave < waves.length;
  return {
    kind: u32(Fault.KIND),
    vmid: u32(Fault.VMID),
    queue: u32(Fault.QUEUE),
    access: u32(Fault.ACCESS),
    address: u64(Fault.ADDRESS_LO),
    pc: u64(Fault.PC_LO),
    packetVa: u64(Fault.PACKET_LO),
    packetHeader: u32(Fault.PACKET_HEADER),
    instruction: [u32(Fault.INSTRUCTION_0), u32(Fault.INSTRUCTION_1)],
    detail: [u32(Fault.DETAIL_0), u32(Fault.DETAIL_1)],
    lane: index(u32(Fault.LANE)),
    groups: [u32(Fault.GROUPS_X), u32(Fault.GROUPS_Y), u32(Fault.GROUPS_Z)],
    program: u64(Fault.PROGRAM_LO),
    waves,
    faultingWave: known ? faultingWave : undefined,
    sgprs: known ? words(Fault.SGPRS, 128) : new Uint32Array(0),
    vgprs: known ? words(Fault.VGPRS, Math.min(u32(Fault.VGPR_COUNT), 256) * 32) : new Uint32Array(0),
  };
}
