import { type MachineState, runningMachines } from "../service/index.ts";
import { CliError, outputIsGone, print, type ServeSettings } from "./environment.ts";

export interface SmiFlags {
  readonly machine?: string;
  readonly json?: boolean;
  readonly watch?: boolean;
}

const MIB = 1 << 20;
const WATCH_MS = 1000;

const mib = (bytes: number): string => `${(bytes / MIB).toFixed(1)}M`;

/** Columns as wide as they must be; text to the left, numbers to the right. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  "),
    )
    .join("\n");
}

function machineText(state: MachineState): string {
  const { id, title, upSeconds, vramBytes, vramFreeBytes, gttBytes, gttFreeBytes, resets, evictions } = state;
  const used = `VRAM ${mib(vramBytes - vramFreeBytes)} of ${mib(vramBytes)}, GTT ${mib(gttBytes - gttFreeBytes)} of ${mib(gttBytes)}`;
  const head = `machine ${id} (${title}), up ${upSeconds.toFixed(0)} s: ${used}, ${resets} resets, ${evictions} evictions`;
  const rows = state.processes.map((p) => [
    p.processName,
    String(p.fd),
    mib(p.vramBytes),
    mib(p.gttBytes),
    `${(p.busyMs / 1000).toFixed(2)}s`,
    String(p.submits),
    String(p.queuedJobs),
    p.lastFault === undefined ? String(p.faults) : `${p.faults} (${p.lastFault})`,
  ]);
  if (rows.length === 0) return `${head}\n  no processes`;
  return `${head}\n${table([["process", "fd", "VRAM", "GTT", "busy", "submits", "queued", "faults"], ...rows])}`;
}

/** One machine by its id, or all. Status 1 where there is none. */
async function chosen({ runtimeDir }: ServeSettings, { machine }: SmiFlags): Promise<readonly MachineState[]> {
  const all = await runningMachines(runtimeDir);
  if (all.length === 0)
    throw new CliError(1, "no simulated machine is running: kiln run, exec and programs on the driver start one");
  const found = machine === undefined ? all : all.filter(({ id }) => id === machine);
  if (found.length === 0) {
    throw new CliError(
      1,
      `there is no machine ${machine}: ${all.map(({ id, title }) => `${id} (${title})`).join(", ")}`,
    );
  }
  return found;
}

/** `kiln smi`: machines that run, and their processes. */
export async function smi(settings: ServeSettings, flags: SmiFlags): Promise<0> {
  for (;;) {
    const states = await chosen(settings, flags);
    if (flags.json === true)
      print(
        JSON.stringify(
          states.map(({ dmesg: _dmesg, ...state }) => state),
          undefined,
          2,
        ),
      );
    else print(states.map(machineText).join("\n\n"));
    if (flags.watch !== true) return 0;
    await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
    if (outputIsGone()) return 0;
    if (flags.json !== true) print("");
  }
}

/** `kiln dmesg`: the kernel log of the one machine that runs, or the one that is named. */
export async function dmesg(settings: ServeSettings, flags: SmiFlags): Promise<0> {
  const states = await chosen(settings, flags);
  const [only] = states;
  if (states.length > 1) {
    const list = states.map(({ id, title }) => `  ${id}  ${title}`).join("\n");
    throw new CliError(2, `several machines run; say which with --machine:\n${list}`);
  }
  if (flags.json === true) print(JSON.stringify(only?.dmesg ?? [], undefined, 2));
  else print((only?.dmesg ?? []).join("\n"));
  return 0;
}
