import { spawnSync } from "node:child_process";
import { cpuMsOf, median, rounded } from "./http-load.ts";

/** A process that can be measured: CPU time until it listens. */
interface Started {
  readonly child: { readonly pid?: number | undefined };
}

/** CPU time, user and system, all threads; ms. `above`: a server that listens, less Node with nothing to do. */
export interface StartFigures {
  readonly startCpuMs: number;
  readonly nodeCpuMs: number;
  readonly startAboveMs: number;
  /** The same of the quickest start of each, which other work on the machine has disturbed least. */
  readonly startAboveMinMs: number;
}

const idleScript = "const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)";
const starts = 7;

/** Starts of a server in turns with `node -e`, both up to where they would begin to work. */
export async function benchStart<T extends Started>(
  start: () => Promise<T>,
  stop: (server: T) => Promise<void>,
): Promise<StartFigures> {
  const [ours, idle]: [number[], number[]] = [[], []];
  for (let i = 0; i < starts; i++) {
    idle.push(Number(spawnSync(process.execPath, ["-e", idleScript], { encoding: "utf8" }).stdout));
    const server = await start();
    ours.push(cpuMsOf(server.child.pid));
    await stop(server);
  }
  return {
    startCpuMs: Math.round(median(ours)),
    nodeCpuMs: rounded(median(idle), 1),
    startAboveMs: Math.round(median(ours) - median(idle)),
    startAboveMinMs: Math.round(Math.min(...ours) - Math.min(...idle)),
  };
}
