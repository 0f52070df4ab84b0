export { createPoolCompiler } from "./pool-compiler.ts";
export { type RunOptions, type RunWatch, runScript, type WatchedStep } from "./run.ts";
export { readScript, runFile, type ScriptResult } from "./run-file.ts";
export type { Command, ReadScriptFile, Script } from "./script.ts";
export { ScriptError } from "./source.ts";
