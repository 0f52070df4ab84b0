export { createMemory, Engine } from "./engine.ts";
export { createGpu, type GpuOptions } from "./gpu.ts";
