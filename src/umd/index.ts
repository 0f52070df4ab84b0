export type { CommandBuffer } from "./command-buffer.ts";
export type { BufferRange, DescriptorPool, DescriptorSet, DescriptorSetLayout } from "./descriptors.ts";
export {
  createInstance,
  type Device,
  type DeviceCode,
  type DeviceOptions,
  type DriverEvent,
  type Fence,
  type Instance,
  type InstanceOptions,
} from "./device.ts";
export { DriverError, type DriverResult } from "./errors.ts";
export type { Buffer, DeviceMemory, MemoryOptions, MemoryType } from "./memory.ts";
export type { ComputePipeline, ComputePipelineOptions, PipelineLayout } from "./pipeline.ts";
