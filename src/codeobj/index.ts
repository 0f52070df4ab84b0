export type * from "./compile-interface.ts";
export { defaultRequest } from "./compile-interface.ts";
export type * from "./reflection.ts";
export type { DynamicBufferLayout, SetBindings } from "./set-layout.ts";
export { isDynamic, layoutDynamicBuffers, layoutSets } from "./set-layout.ts";
export type { Statistics } from "./statistics.ts";
