export { check } from "./checker.ts";
export { rootVariable, throughReference } from "./lvalues.ts";
export type * from "./tree.ts";
