import { decodeDump, type FaultReport, formatIoctl } from "../debug/index.ts";
import { createGpu, type FidelityReport, fidelityReport } from "../gpu/index.ts";
import {
  createKmd,
  type KernelClock,
  type Kmd,
  type MachineMemory,
  type ProcessCounters,
  type ProcessUsage,
} from "../kmd/index.ts";
import { ControlFlag, Counter, type RawDump } from "../uapi/index.ts";
import { type ApiMessage, createInstance, type Device, type DriverEvent } from "../umd/index.ts";

export interface MachineOptions {
  /** Physical memory: VRAM, GTT and 64 MiB of the GPU's own; default 1 GiB, reserved but used as needed. */
  readonly memoryBytes?: number;
  /** False runs the GPU in turns of the caller's event loop instead of a thread. */
  readonly worker?: boolean;
  /** Watchdog of devices that give none, milliseconds. */
  readonly defaultTimeoutMs?: number;
  readonly seed?: number;
  /** Caches hold data and stores take their time: what a missing flush, invalidate or wait leaves behind shows. Slow. */
  readonly coherence?: boolean;
  /** Counts cache hits and stalls and estimates cycles; slower. */
  readonly counters?: boolean;
  /** WGPs (two CUs each), 1 to 64; default 40, as on navi21. */
  readonly wgps?: number;
  /** Compute queues, 1 to 4: that many jobs run side by side. */
  readonly computeQueues?: number;
  /** One line an ioctl, in the manner of strace. */
  readonly onIoctl?: (line: string) => void;
  /** Each fault, decoded, as it happens. */
  readonly onFault?: (report: FaultReport) => void;
}

export interface ProcessOptions {
  /** Watchdog of this process's work, milliseconds. */
  readonly timeoutMs?: number;
  /** Sees what the driver does. */
  readonly trace?: (event: DriverEvent) => void;
  /** Turns the driver's validation layer on. */
  readonly validate?: (message: ApiMessage) => void;
  readonly launchBlocking?: boolean;
}

/** What a run counted, and which of its instructions are exact. */
export interface RunReport {
  /** In lower camel case as docs/simulator.md names them; those that only counters mode knows are left out elsewhere. */
  readonly counters: Readonly<Record<string, number>>;
  readonly fidelity: FidelityReport;
}

/** One simulated machine: a GPU, its kernel driver, and user-mode drivers of as many processes as wanted. */
export interface Machine {
  /** A device of a new simulated process. Throws `DriverError`. */
  openProcess(name: string, options?: ProcessOptions): Device;
  /** The kernel log. */
  dmesg(): readonly string[];
  usage(): readonly ProcessUsage[];
  memory(): MachineMemory;
  /** Decoded faults, oldest first. */
  faults(): readonly FaultReport[];
  /** Performance counters and fidelity of a device's work that has ended. */
  reportOf(device: Device): RunReport | undefined;
  /** The same of all work since the last call. */
  takeReport(): RunReport;
  /** The last fault of a device's process. */
  faultOf(device: Device): FaultReport | undefined;
  readonly kernel: Kmd;
  close(): Promise<void>;
}

/** Node refuses longer delays and would fire at once. */
const MAX_DELAY_MS = 0x7fff_ffff;
const FAULTS_KEPT = 64;
const COMPUTE_QUEUES = 4;

/** The event loop's time, which a blocked caller can look at as well. */
function createClock(): KernelClock {
  const pending = new Map<NodeJS.Timeout, { readonly at: number; readonly action: () => void }>();
  const now = () => performance.now();
  return {
    now,
    after(ms, action) {
      const delay = Math.min(ms, MAX_DELAY_MS);
      const timer = setTimeout(() => run(), delay);
      const run = () => {
        if (pending.delete(timer)) action();
      };
      pending.set(timer, { at: now() + delay, action });
      return () => {
        clearTimeout(timer);
        pending.delete(timer);
      };
    },
    runDue() {
      for (const [timer, { at, action }] of [...pending]) {
        if (at > now() || !pending.delete(timer)) continue;
        clearTimeout(timer);
        action();
      }
    },
  };
}

/** Wires umd, kmd and gpu. With `worker` (default) `dist/gpu-worker.js` and `dist/wasm` must be built. */
export function createMachine(options: MachineOptions = {}): Machine {
  const { memoryBytes, worker, defaultTimeoutMs, seed, computeQueues = COMPUTE_QUEUES, onIoctl, onFault } = options;
  const { coherence = false, counters = false, wgps = 0 } = options;
  const gpu = createGpu({
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(worker === undefined ? {} : { worker }),
  });
  const devices = new Map<number, Device>();
  const reports: { readonly fd: number; readonly report: FaultReport }[] = [];
  const onDump = (dump: RawDump): void => {
    const report = decodeDump(dump, devices.get(dump.fd)?.loadedCode() ?? []);
    reports.push({ fd: dump.fd, report });
    if (reports.length > FAULTS_KEPT) reports.shift();
    onFault?.(report);
  };
  const kernel = createKmd({
    gpu,
    clock: createClock(),
    onDump,
    computeQueues,
    machine: {
      wgps,
      flags: (coherence ? ControlFlag.COHERENCE : 0) | (counters ? ControlFlag.COUNTERS : 0),
    },
    ...(defaultTimeoutMs === undefined ? {} : { defaultTimeoutMs }),
    ...(seed === undefined ? {} : { seed }),
    ...(onIoctl === undefined ? {} : { trace: (event) => onIoctl(formatIoctl(event)) }),
  });
  return {
    openProcess(processName, { trace, validate, ...options } = {}) {
      const instance = createInstance({
        kernel,
        ...(trace === undefined ? {} : { trace }),
        ...(validate === undefined ? {} : { validate }),
      });
      const device = instance.createDevice({ processName, ...options });
      // What a dump can still name: the kernel makes none of a process that is gone.
      for (const [fd, { kernel: file }] of devices) if (file.closed) devices.delete(fd);
      devices.set(device.fd, device);
      return device;
    },
    dmesg: () => kernel.dmesg(),
    usage: () => kernel.usage(),
    memory: () => kernel.memory(),
    faults: () => reports.map(({ report }) => report),
    reportOf(device) {
      const counters = kernel.counters(device.fd);
      return counters === undefined ? undefined : runReport(counters, options);
    },
    takeReport: () => runReport(kernel.takeCounters(), options),
    faultOf: (device) => reports.findLast(({ fd }) => fd === device.fd)?.report,
    kernel,
    async close() {
      kernel.shutdown();
      await gpu.close();
    },
  };
}

/** Counters below this offset are always kept. */
const FIRST_TIMED = Counter.GL0_HIT;

function runReport({ sums, ops }: ProcessCounters, { coherence = false, counters = false }: MachineOptions): RunReport {
  const named = (Object.keys(Counter) as (keyof typeof Counter)[]).filter(
    (name) => counters || Counter[name] < FIRST_TIMED,
  );
  const camel = (name: string) => name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return {
    counters: Object.fromEntries(named.map((name) => [camel(name), sums[name]])),
    fidelity: fidelityReport(ops, coherence),
  };
}
