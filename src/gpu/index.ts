export { createMemory, Engine } from "./engine.ts";
export { hasFusedMultiplyAdd } from "./fused.ts";
export { createGpu, type GpuOptions } from "./gpu.ts";
