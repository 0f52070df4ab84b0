/** The package: compile in process or over HTTP, and the simulated machine. */

export {
  type Client,
  ClientError,
  type ClientOptions,
  type CompileAnswer,
  createClient,
  type RemoteAnswer,
} from "./client/index.ts";
export type {
  CompileRecord,
  CompileRequest,
  CompileResult,
  Reflection,
  ShaderCompiler,
  SourceMapEntry,
  Statistics,
} from "./codeobj/index.ts";
export { defaultRequest, readCodeObject } from "./codeobj/index.ts";
export {
  assemblerText,
  createLocalCompiler,
  createMachine,
  type LocalCompiler,
  type Machine,
} from "./service/index.ts";
