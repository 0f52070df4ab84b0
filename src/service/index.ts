export { assemblerText, recordAssembly } from "./assembler-text.ts";
export { type BuildInfo, readBuildInfo } from "./build-id.ts";
export { type ServiceCode, ServiceError, serviceCodes } from "./codes.ts";
export { CompilePool, type CompilePoolOptions, type PoolStats } from "./compile-pool.ts";
export {
  type CacheOutcome,
  type CacheStatistics,
  type CompileAnswer,
  CompileService,
  type CompileServiceOptions,
  type CompileSuccess,
} from "./compile-service.ts";
export { createLocalCompiler, type LocalCompiler } from "./local-compiler.ts";
export { createMachine, type Machine, type MachineOptions, type ProcessOptions } from "./machine.ts";
export {
  type CompileTask,
  type PassReport,
  type ReportName,
  reportNames,
  type TaskAnswer,
  type TaskReports,
} from "./task.ts";
