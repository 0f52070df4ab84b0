export { glslExtensions, supportedExtensions } from "./extensions.ts";
export { noDefines, preprocess } from "./preprocess.ts";
export type { Preprocessed } from "./result.ts";
export type { Version } from "./version.ts";
