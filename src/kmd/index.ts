export type { ProcessCounters } from "./counters.ts";
export { createKmd, type Kmd, type KmdOptions, type MachineMemory } from "./kmd.ts";
export type { ProcessUsage } from "./objects.ts";
export type { KernelClock } from "./scheduler.ts";
