/** Pages of 64 KiB that an instance of the core needs, no more and no fewer. */
export { memoryPages } from "../core/index.ts";
export { compileCodes } from "./codes.ts";
export { type CompileExtras, type CompileOutcome, type CompileReports, compileShader } from "./compile.ts";
export { opName } from "./op-name.ts";
export { type PhaseName, type Phases, phaseNames } from "./phases.ts";
