export { assemblerText, recordAssembly } from "./assembler-text.ts";
export { Batch, Batches, type BatchItem } from "./batch.ts";
export { readBuildInfo } from "./build-id.ts";
export { ServiceError, serviceCodes } from "./codes.ts";
export { CompilePool, type CompilePoolOptions } from "./compile-pool.ts";
export { type CompileAnswer, CompileService, type CompileSuccess } from "./compile-service.ts";
export { createLocalCompiler, type LocalCompiler } from "./local-compiler.ts";
export { createMachine, type Machine, type MachineOptions, type ProcessOptions } from "./machine.ts";
export { type ReportName, reportNames } from "./task.ts";
