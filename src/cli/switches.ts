import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decodePackets, type FaultReport, formatReport, reportJson } from "../debug/index.ts";
import { disassemble } from "../isa/index.ts";
import {
  createMachine,
  type Machine,
  type MachineOptions,
  type ProcessOptions,
  publishMachine,
} from "../service/index.ts";
import { type DriverEvent, formatApiMessage } from "../umd/index.ts";
import { complain, type ServeSettings } from "./environment.ts";

type Switches = Pick<ServeSettings, "debug" | "trace" | "launchBlocking" | "runtimeDir">;

function shaderText({ text, words, va = 0n }: DriverEvent): string {
  const lines = disassemble(words ?? new Uint32Array(), { baseAddress: va });
  return [`shader ${text}`, ...lines.map((line) => `  0x${line.address.toString(16)}  ${line.text}`)].join("\n");
}

function packetText({ text, words, va = 0n }: DriverEvent): string {
  const lines = decodePackets(words ?? new Uint32Array(), va);
  return [`packets ${text}`, ...lines.map((line) => `  0x${line.va.toString(16)}  ${line.text}`)].join("\n");
}

/** What `KILN_DEBUG` and `KILN_LAUNCH_BLOCKING` mean for a simulated process; the lines go to standard error. */
export function processSwitches({ debug, launchBlocking }: Switches): ProcessOptions {
  const [api, shaders, packets] = ["api", "shaders", "packets"].map((name) => debug.includes(name));
  const trace = (event: DriverEvent): void => {
    if (shaders && event.kind === "pipeline") complain(shaderText(event));
    // Packets of the copy engine are others: only the compute queue's are read here.
    if (packets && event.kind === "commands") complain(packetText(event));
    if (api && event.kind === "memory") complain(`api ${event.text}`);
  };
  return {
    ...(api || shaders || packets ? { trace } : {}),
    ...(api ? { validate: (message) => complain(`api ${formatApiMessage(message)}`) } : {}),
    ...(launchBlocking ? { launchBlocking } : {}),
  };
}

/** Writes a crash dump folder below the current one, and says where. */
function writeCrash(number: number, report: FaultReport, machine: Machine): void {
  const folder = `kiln-crash-${process.pid}-${number}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "report.txt"), `${formatReport(report)}\n`);
  writeFileSync(join(folder, "report.json"), reportJson(report));
  writeFileSync(join(folder, "dmesg.txt"), `${machine.dmesg().join("\n")}\n`);
  writeFileSync(join(folder, "usage.json"), JSON.stringify(machine.usage(), undefined, 2));
  complain(`crash dump in ${folder}`);
}

/** A machine under the switches, which `kiln smi` and `kiln dmesg` find while it runs. */
export function switchedMachine(switches: Switches, title: string, options: MachineOptions = {}): Machine {
  let crashes = 0;
  const hang = switches.debug.includes("hang");
  const machine: Machine = createMachine({
    ...options,
    ...(switches.trace.includes("ioctl") ? { onIoctl: complain } : {}),
    ...(hang ? { onFault: (report) => writeCrash(crashes++, report, machine) } : {}),
  });
  const hide = publishMachine(machine, switches.runtimeDir, title);
  return {
    ...machine,
    async close() {
      hide();
      await machine.close();
    },
  };
}
