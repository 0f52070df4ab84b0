/** The GPU's thread: runs while there is work, sleeps on the doorbell, posts a message when interrupts were raised. */
import { parentPort, workerData } from "node:worker_threads";
import { GpuState } from "../uapi/index.ts";
import { Engine } from "./engine.ts";

/** What the host hands to the worker. */
export interface WorkerStart {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
}

/** Instructions per queue between looks at the control block: well under a millisecond of vector work. */
const SLICE = 20_000;
/** How often memory that a queue waits on is looked at. */
const POLL_MS = 1;

const { module, memory } = workerData as WorkerStart;
const engine = new Engine(module, memory);
let raised = engine.interrupts();
engine.setState(GpuState.IDLE);
while (!engine.stopped()) {
  const seen = engine.doorbell();
  const more = engine.run(SLICE);
  const now = engine.interrupts();
  if (now !== raised) {
    raised = now;
    parentPort?.postMessage("interrupt");
  }
  if (engine.stopped()) break;
  if (!more) engine.waitForDoorbell(seen);
  else if (engine.waiting) engine.waitForDoorbell(seen, POLL_MS);
}
engine.setState(GpuState.STOPPED);
