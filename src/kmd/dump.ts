import {
  Fault,
  type MappingRecord,
  type MemoryRecord,
  PageTable,
  PhysicalMap,
  type RawDump,
  VaFlag,
  VirtualMap,
} from "../uapi/index.ts";
import type { GpuDevice } from "./device.ts";
import type { File, Job, Mapping } from "./objects.ts";

/** Bytes of code kept on each side of the faulting instruction. */
const CODE_BYTES = 64;
const RING_TAIL_DWORDS = 64;
/** Memory in the 32-bit window that a dump keeps: of each BO, and in all. */
const WINDOW_BO_BYTES = 0x1_0000;
const WINDOW_BYTES = 0x10_0000;

interface DumpInput {
  readonly device: GpuDevice;
  readonly job: Job;
  readonly reason: RawDump["reason"];
  readonly engine: { readonly queue: number; readonly ringBase: number; readonly wptr: number };
  readonly timeMs: number;
}

/** Reads `bytes` at `va` through the file's page tables; undefined where a page is missing. */
function readVirtual(device: GpuDevice, file: File, va: bigint, bytes: number): Uint8Array | undefined {
  const out = new Uint8Array(bytes);
  for (let done = 0; done < bytes; ) {
    const at = va + BigInt(done);
    const physical = file.space.translate(at);
    if (physical === undefined) return undefined;
    const left = PageTable.PAGE_BYTES - (physical % PageTable.PAGE_BYTES);
    const run = Math.min(left, bytes - done);
    out.set(device.copy(physical, run), done);
    done += run;
  }
  return out;
}

/** Mappings now and before, without those that ended twice at one place. */
function mappingRecords(file: File): MappingRecord[] {
  const record = (mapping: Mapping, unmapped: boolean): MappingRecord => ({
    va: mapping.va,
    sizeBytes: mapping.sizeBytes,
    flags: mapping.flags,
    handle: mapping.handle,
    boOffset: mapping.boOffset,
    unmapped,
  });
  return [...file.mappings.map((m) => record(m, false)), ...file.unmapped.map((m) => record(m, true))];
}

/** The code around `pc`, cut to the executable mapping it lies in. */
function codeAround(device: GpuDevice, file: File, pc: bigint): RawDump["code"] {
  const mapping = file.mappings.find((m) => m.va <= pc && pc < m.va + BigInt(m.sizeBytes));
  if (mapping === undefined || !(mapping.flags & VaFlag.EXECUTE)) return undefined;
  const before = pc - mapping.va;
  const start = before > BigInt(CODE_BYTES) ? pc - BigInt(CODE_BYTES) : mapping.va;
  const end = mapping.va + BigInt(mapping.sizeBytes);
  const stop = pc + BigInt(CODE_BYTES) < end ? pc + BigInt(CODE_BYTES) : end;
  const bytes = readVirtual(device, file, start, Number(stop - start));
  return bytes === undefined ? undefined : { va: start, bytes };
}

/** What the job's BOs hold in the 32-bit window, up to a bound. `missing` is told of what is left out. */
function windowMemory(device: GpuDevice, job: Job, missing: string[]): RawDump["window"] {
  const { file } = job.context;
  const bos = new Set(job.bos);
  const records: MemoryRecord[] = [];
  let left = WINDOW_BYTES;
  for (const { va, sizeBytes, bo, handle } of file.mappings) {
    if (va < VirtualMap.WINDOW_START || bo === undefined || !bos.has(bo)) continue;
    const bytes = Math.min(sizeBytes, WINDOW_BO_BYTES, left);
    const read = bytes > 0 ? readVirtual(device, file, va, bytes) : undefined;
    if (read !== undefined) records.push({ va, bytes: read });
    if (read === undefined || bytes < sizeBytes) missing.push(`memory of BO ${handle} behind ${bytes} bytes`);
    left -= bytes;
  }
  return records;
}

/** Collects a dump while the queue is halted: nothing in it moves. */
export function makeDump({ device, job, reason, engine, timeMs }: DumpInput): RawDump {
  const { context } = job;
  const { file } = context;
  const slot = PhysicalMap.FAULTS + engine.queue * Fault.SLOT_BYTES;
  const record = device.copy(slot, Fault.SLOT_BYTES);
  const view = new DataView(record.buffer);
  const u64 = (offset: number): bigint => view.getBigUint64(offset, true);
  const missing: string[] = [];
  const ibBytes = readVirtual(device, file, job.ibVa, job.ibDwords * 4);
  if (ibBytes === undefined) missing.push("indirect buffer");
  // Between two waves of a dispatch there is no pc: then the program's start.
  const pc = u64(Fault.PC_LO) || u64(Fault.PROGRAM_LO);
  const code = pc === 0n ? undefined : codeAround(device, file, pc);
  if (pc !== 0n && code === undefined) missing.push("code");
  if (view.getUint32(Fault.KIND, true) === 0) missing.push("fault record");
  const ring = new Uint32Array(RING_TAIL_DWORDS);
  for (let i = 0; i < RING_TAIL_DWORDS; i++) {
    const at = (engine.wptr - RING_TAIL_DWORDS + i) >>> 0;
    ring[i] = device.readWord(engine.ringBase + (at % (PageTable.PAGE_BYTES / 4)) * 4);
  }
  return {
    record,
    processName: file.processName,
    fd: file.fd,
    context: context.id,
    fence: job.fence,
    reason,
    timeMs,
    ibVa: job.ibVa,
    ib: ibBytes === undefined ? new Uint32Array(0) : new Uint32Array(ibBytes.buffer),
    queueKind: job.queueKind,
    window: windowMemory(device, job, missing),
    ring,
    mappings: mappingRecords(file),
    code,
    walk: file.space.walk(u64(Fault.ADDRESS_LO)),
    boList: job.bos.map((bo) => bo.holders.get(file) ?? 0),
    missing,
  };
}
