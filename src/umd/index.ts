export { CommandBuffer, maxGroups, maxPushConstantBytes } from "./command-buffer.ts";
export { type BufferRange, DescriptorPool, DescriptorSet, DescriptorSetLayout } from "./descriptors.ts";
export {
  createInstance,
  Device,
  type DeviceCode,
  type DeviceOptions,
  type DriverEvent,
  Fence,
  type Instance,
  type InstanceOptions,
} from "./device.ts";
export { DriverError, type DriverResult } from "./errors.ts";
export { Buffer, DeviceMemory, type MemoryOptions, type MemoryType } from "./memory.ts";
export type { ComputePipeline, ComputePipelineOptions, PipelineLayout } from "./pipeline.ts";
