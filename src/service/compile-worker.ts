import { type Core, createCore } from "../core/index.ts";
import { runCompileTask } from "./compile-task.ts";
import type { CompileTask, TaskAnswer } from "./task.ts";

let core: Core | undefined;

/** Entry of a pool worker: one core for the worker's life, a new one after a bug. */
export default async function run(task: CompileTask): Promise<TaskAnswer> {
  core ??= await createCore();
  const answer = runCompileTask(task, core);
  if (answer.kind === "bug") core = undefined;
  return answer;
}
