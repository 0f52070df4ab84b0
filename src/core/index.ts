export { coreCodes } from "./codes.ts";
export { type CoreOptions, type CoreTools, createCore, type IrResult } from "./core.ts";
export { loadCoreModule, memoryPages } from "./instance.ts";
export type {
  Core,
  CoreBinding,
  CoreFailure,
  CoreInterface,
  CoreLink,
  CoreOutput,
  CorePassReport,
  CorePipeline,
  CoreRequest,
  CoreResult,
  CoreSpecialization,
  CoreVertexAttribute,
  InterfaceScalar,
} from "./interface.ts";
