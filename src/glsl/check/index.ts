export { check } from "./checker.ts";
export { rootVariable } from "./lvalues.ts";
export type * from "./tree.ts";
