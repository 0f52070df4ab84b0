export * from "./layout.ts";
export * from "./opaque.ts";
export * from "./types.ts";
