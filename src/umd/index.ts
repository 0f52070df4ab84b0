export { type BufferView, type BufferViewOptions, texelBytes } from "./buffer-view.ts";
export type { CommandBuffer, CommandBufferOptions, CopyRegion } from "./command-buffer.ts";
export type { CommandPool } from "./command-pool.ts";
export type {
  BufferRange,
  DescriptorFlags,
  DescriptorPool,
  DescriptorSet,
  DescriptorSetLayout,
} from "./descriptors.ts";
export {
  createInstance,
  type Device,
  type DeviceCode,
  type DeviceOptions,
  type DriverEvent,
  type Instance,
  type InstanceOptions,
} from "./device.ts";
export type { Access, BarrierScope, QueueName } from "./encode.ts";
export { DriverError, type DriverResult } from "./errors.ts";
export { deviceFeature, deviceProperty, hasExtension } from "./features.ts";
export type { Fence } from "./fence.ts";
export { API_VERSION, DRIVER_VERSION, type DriverManifest, readManifest } from "./loader.ts";
export type { Buffer, DeviceMemory, MemoryOptions, MemoryType } from "./memory.ts";
export type { ComputePipeline, ComputePipelineOptions, PipelineLayout } from "./pipeline.ts";
export type { PipelineCache } from "./pipeline-cache.ts";
export type { SubmitOptions } from "./queue.ts";
export type { Semaphore, SemaphorePoint } from "./semaphore.ts";
export type { Suballocation, Suballocator, SuballocatorOptions } from "./suballocator.ts";
export type { Event, QueryKind, QueryPool } from "./sync.ts";
export { type ApiMessage, type ApiRule, formatApiMessage } from "./validate/index.ts";
