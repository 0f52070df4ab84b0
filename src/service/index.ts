export { assemblerText, recordAssembly, recordFlow, recordLiveRegisters } from "./assembler-text.ts";
export { Batches, type BatchItem, type BatchView, type Spread } from "./batch.ts";
export { readBuildInfo } from "./build-id.ts";
export { ServiceError, serviceCodes, serviceError } from "./codes.ts";
export { CompilePool, type CompilePoolOptions, compileWorkerLimits } from "./compile-pool.ts";
export {
  type CacheOutcome,
  type CompileAnswer,
  CompileService,
  type CompileSuccess,
  type Elsewhere,
} from "./compile-service.ts";
export { Farm, type FarmCounts, type FarmItem, type FarmResult } from "./farm.ts";
export { farmProblem } from "./farm-queue.ts";
export { type FarmWorker, startFarmWorker } from "./farm-worker.ts";
export { neutralFilename } from "./file-names.ts";
export { createLocalCompiler, type LocalCompiler } from "./local-compiler.ts";
export { createMachine, type Machine, type MachineOptions, type ProcessOptions, type RunReport } from "./machine.ts";
export { type MachineState, publishMachine, runningMachines } from "./machine-socket.ts";
export { RequestKeys } from "./request-key.ts";
export { type ReportName, reportNames } from "./task.ts";
export { loadTracing, type RequestSpan, type Tracing, tracingProblem } from "./tracing.ts";
