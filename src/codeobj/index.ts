export type * from "./compile-interface.ts";
export { defaultRequest } from "./compile-interface.ts";
export type * from "./reflection.ts";
export type { Statistics } from "./statistics.ts";
