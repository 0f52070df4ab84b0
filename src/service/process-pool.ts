import { type ChildProcess, fork } from "node:child_process";
import { dirname } from "node:path";
import { distFile } from "../base/index.ts";
import type { ProcessMessage } from "./compile-process.ts";
import type { CompileTask, TaskAnswer } from "./task.ts";

export interface ProcessPoolOptions {
  readonly workerFile: string;
  readonly memoryLimitMb: number;
}

/** Without the right to write, to start programs or threads, and to read anything but the built files. */
function permissions(workerFile: string): readonly string[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isStable = major > 23 || (major === 23 && minor >= 5) || (major === 22 && minor >= 13);
  // Each once: Node 20 aborts on a folder that is given with and without its last slash.
  const readable = [...new Set([`${distFile("")}/`, `${dirname(workerFile)}/`, distFile("../package.json")])];
  return [
    isStable ? "--permission" : "--experimental-permission",
    ...readable.map((path) => `--allow-fs-read=${path}`),
  ];
}

/** Ends with what `--max-old-space-size` sets: V8 aborts. */
const isOutOfMemory = (code: number | null, signal: NodeJS.Signals | null) => code === 134 || signal === "SIGABRT";

/** Compiles in child processes: whatever an input does to one, the server's memory is out of its reach. */
export class ProcessPool {
  readonly #options: ProcessPoolOptions;
  readonly #idle: ChildProcess[] = [];
  readonly #all = new Set<ChildProcess>();

  constructor(options: ProcessPoolOptions) {
    this.#options = options;
  }

  #start(): ChildProcess {
    const { workerFile, memoryLimitMb } = this.#options;
    const child = fork(distFile("compile-process.js"), [workerFile], {
      serialization: "advanced",
      // Nothing of the server's environment: it holds keys.
      env: {},
      execArgv: [`--max-old-space-size=${memoryLimitMb}`, "--stack-size=7800", ...permissions(workerFile)],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#all.add(child);
    child.on("exit", () => {
      this.#all.delete(child);
      const at = this.#idle.indexOf(child);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    // Told by the task that is sent to it.
    child.on("error", () => {});
    return child;
  }

  /** One task in a child of its own; ends the child at `signal`. `onStarted`: it has taken the task up. */
  run(task: CompileTask, signal: AbortSignal, onStarted: () => void): Promise<TaskAnswer> {
    const child = this.#idle.pop() ?? this.#start();
    return new Promise((resolve, reject) => {
      const leave = () => {
        child.off("message", hear);
        child.off("exit", exited);
        signal.removeEventListener("abort", kill);
      };
      const hear = (message: ProcessMessage) => {
        if (message.kind === "started") return onStarted();
        leave();
        this.#idle.push(child);
        resolve(message.answer);
      };
      const exited = (code: number | null, by: NodeJS.Signals | null) => {
        leave();
        const error: NodeJS.ErrnoException = new Error(`the compile process ended (${code ?? by})`);
        if (isOutOfMemory(code, by)) error.code = "ERR_WORKER_OUT_OF_MEMORY";
        reject(error);
      };
      const kill = () => child.kill("SIGKILL");
      child.on("message", hear);
      child.on("exit", exited);
      signal.addEventListener("abort", kill);
      child.send(task, (error) => {
        // It ends, and says so.
        if (error !== null) kill();
      });
    });
  }

  async destroy(): Promise<void> {
    const ended = [...this.#all].map((child) => new Promise<void>((resolve) => child.once("exit", () => resolve())));
    for (const child of this.#all) child.kill("SIGKILL");
    await Promise.all(ended);
  }
}
