import { type Core, createCore } from "../core/index.ts";
import { opName } from "../spirv/index.ts";
import { runCompileTask } from "./compile-task.ts";
import { type CompileTask, markStarted, type TaskAnswer } from "./task.ts";

/** Loaded while the worker starts; a failure is told by the first task that needs it. */
let core: Promise<Core> | undefined = createCore({ opName });
core.catch(() => {});
/** For whoever wants to wait until a task would not. */
export const ready = core;
let checkedCore: Promise<Core> | undefined;

/** Entry of a pool worker: one core for the worker's life, a new one after a bug. */
export default async function run(task: CompileTask): Promise<TaskAnswer> {
  if (task.checked === true) checkedCore ??= createCore({ checked: true, opName });
  else core ??= createCore({ opName });
  const loaded = (await (task.checked === true ? checkedCore : core)) as Core;
  markStarted(task);
  const answer = runCompileTask(task, loaded);
  if (answer.kind === "bug") {
    core = undefined;
    checkedCore = undefined;
  }
  return answer;
}
