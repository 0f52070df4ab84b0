import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { distFile, invariant } from "../base/index.ts";
import { memoryPages } from "../compile/index.ts";

/** What compiler.wasm costs a process that starts; ms of wall time, each the least of some processes. */
export interface ModuleFigures {
  readonly bytes: number;
  /** From bytes to a module: decoded and validated; functions are compiled when they are first called. */
  readonly moduleMs: number;
  /** From the module to an instance with its memory. */
  readonly instanceMs: number;
}

/** In a process of its own: within one, the engine keeps what it has compiled. */
const script = `
const bytes = require("node:fs").readFileSync(process.argv[1]);
const memory = new WebAssembly.Memory({ initial: ${memoryPages}, maximum: ${memoryPages}, shared: true });
const start = performance.now();
const module = new WebAssembly.Module(bytes);
const made = performance.now();
new WebAssembly.Instance(module, { env: { memory, abort: () => {} }, host: { passed: () => {}, phased: () => {} } });
console.log(JSON.stringify([made - start, performance.now() - made]));`;

/** Size and start of the compiler core's module, from as many processes as `runs`. */
export function moduleFigures(runs = 10): ModuleFigures {
  const file = distFile("wasm/compiler.release.wasm");
  let [moduleMs, instanceMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < runs; run++) {
    const { stdout, stderr, status } = spawnSync(process.execPath, ["-e", script, file], { encoding: "utf8" });
    invariant(status === 0, `the core's module starts in a process of its own: ${stderr}`);
    const [module, instance] = JSON.parse(stdout) as [number, number];
    moduleMs = Math.min(moduleMs, module);
    instanceMs = Math.min(instanceMs, instance);
  }
  return { bytes: statSync(file).size, moduleMs, instanceMs };
}
