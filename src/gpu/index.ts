export { createMemory, Engine } from "./engine.ts";
export { type Fidelity, type FidelityReport, fidelityOf, fidelityReport, fidelityRows } from "./fidelity.ts";
export { hasFusedMultiplyAdd } from "./fused.ts";
export { createGpu, type GpuOptions } from "./gpu.ts";
