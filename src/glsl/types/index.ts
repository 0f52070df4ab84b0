export * from "./layout.ts";
export * from "./opaque.ts";
export { markOf } from "./shape.ts";
export * from "./types.ts";
