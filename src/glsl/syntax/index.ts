export type * from "./ast.ts";
export { parse } from "./parser.ts";
