export { glslExtensions } from "./extensions.ts";
export { preprocess } from "./preprocess.ts";
export type { Version } from "./version.ts";
