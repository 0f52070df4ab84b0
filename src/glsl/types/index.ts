export * from "./layout.ts";
export * from "./types.ts";
