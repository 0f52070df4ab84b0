import { Control, Counter, PhysicalMap } from "../uapi/index.ts";
import type { GpuDevice } from "./device.ts";

/** Performance counters of a process's dispatches, and the instructions (`Op` numbers) that they met. */
export interface ProcessCounters {
  readonly sums: Record<keyof typeof Counter, number>;
  readonly ops: Set<number>;
}

const counterNames = Object.keys(Counter) as (keyof typeof Counter)[];

export function createCounters(): ProcessCounters {
  return { sums: Object.fromEntries(counterNames.map((name) => [name, 0])) as ProcessCounters["sums"], ops: new Set() };
}

/** A queue's counters before a job; its record of instructions starts afresh. */
export function openCounters(device: GpuDevice, queue: number): readonly number[] {
  device.writeWords(opsOf(queue), new Array(Control.OPS_BYTES / 4).fill(0));
  return counterNames.map((name) => read(device, queue, name));
}

/** Adds what the job that started at `before` has counted. */
export function closeCounters(device: GpuDevice, queue: number, before: readonly number[], to: ProcessCounters): void {
  for (const [i, name] of counterNames.entries()) to.sums[name] += read(device, queue, name) - (before[i] as number);
  for (let word = 0; word < Control.OPS_BYTES / 4; word++) {
    const bits = device.readWord(opsOf(queue) + 4 * word);
    for (let bit = 0; bits >>> bit !== 0 && bit < 32; bit++) if ((bits >>> bit) & 1) to.ops.add(32 * word + bit);
  }
}

function opsOf(queue: number): number {
  return PhysicalMap.CONTROL + Control.OPS_TABLE + queue * Control.OPS_BYTES;
}

function read(device: GpuDevice, queue: number, name: keyof typeof Counter): number {
  return Number(
    device.readU64(PhysicalMap.CONTROL + Control.COUNTER_TABLE + queue * Control.COUNTER_BYTES + Counter[name]),
  );
}
