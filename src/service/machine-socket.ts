import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import type { MachineMemory, ProcessUsage } from "../kmd/index.ts";
import type { Machine } from "./machine.ts";

/** What a running machine tells of itself. */
export interface MachineState extends MachineMemory {
  /** Names the machine among those of this user: process id and number. */
  readonly id: string;
  /** What its program says it is. */
  readonly title: string;
  readonly upSeconds: number;
  readonly processes: readonly ProcessUsage[];
  readonly dmesg: readonly string[];
}

const suffix = ".machine";
const ANSWER_MS = 2000;
let published = 0;

/**
 * Lets `kiln smi` and `kiln dmesg` ask a machine: a socket in `folder`, which only this user can reach, until the answer
 * is called. It does not keep the program alive.
 */
export function publishMachine(machine: Machine, folder: string, title: string): () => void {
  const id = `${process.pid}-${published++}`;
  const started = performance.now();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, id + suffix);
  rmSync(path, { force: true });
  const state = (): MachineState => ({
    id,
    title,
    upSeconds: (performance.now() - started) / 1000,
    ...machine.memory(),
    processes: machine.usage(),
    dmesg: machine.dmesg(),
  });
  const server = createServer((socket) => {
    // Who hangs up in the middle gets nothing more.
    socket.on("error", () => socket.destroy());
    socket.end(JSON.stringify(state()));
  });
  // A folder that cannot hold a socket makes the machine invisible, no more.
  server.on("error", () => {});
  server.listen(path, () => {
    if (existsSync(path)) chmodSync(path, 0o600);
  });
  server.unref();
  return () => server.close();
}

/** The machines that run now, by id. What a dead program left is taken away. */
export async function runningMachines(folder: string): Promise<MachineState[]> {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(suffix)) : [];
  const states = await Promise.all(names.sort().map((name) => ask(join(folder, name))));
  return states.filter((state) => state !== undefined);
}

function ask(path: string): Promise<MachineState | undefined> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(path);
    socket.setTimeout(ANSWER_MS, () => socket.destroy());
    socket.setEncoding("utf8");
    socket.on("data", (part: string) => {
      text += part;
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") rmSync(path, { force: true });
    });
    socket.on("close", () => resolve(text === "" ? undefined : (JSON.parse(text) as MachineState)));
  });
}
