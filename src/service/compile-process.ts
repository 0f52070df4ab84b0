import { pathToFileURL } from "node:url";
import type { CompileTask, TaskAnswer } from "./task.ts";

/** What a child tells: that it has taken a task up, and what came of it. */
export type ProcessMessage = { readonly kind: "started" } | { readonly kind: "done"; readonly answer: TaskAnswer };

interface WorkerModule {
  readonly default: (task: CompileTask) => Promise<TaskAnswer>;
  /** Settles when the first task would not wait for anything. */
  readonly ready?: Promise<unknown>;
}

/** Entry of a child process that compiles: `compile-process.js WORKER`, tasks and answers as messages. */
async function serveTasks(workerFile: string): Promise<void> {
  const worker = (await import(pathToFileURL(workerFile).href)) as WorkerModule;
  const tell = (message: ProcessMessage) => process.send?.(message);
  // A core that cannot be loaded is told by the task that needs it.
  await worker.ready?.catch(() => {});
  process.on("message", async (task: CompileTask) => {
    tell({ kind: "started" });
    tell({ kind: "done", answer: await worker.default(task) });
  });
  process.on("disconnect", () => process.exit(0));
}

await serveTasks(process.argv[2] ?? "");
