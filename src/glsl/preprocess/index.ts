export { glslExtensions } from "./extensions.ts";
export { noDefines, preprocess } from "./preprocess.ts";
export type { Version } from "./version.ts";
