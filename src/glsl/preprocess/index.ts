export { glslExtensions, supportedExtensions } from "./extensions.ts";
export { noDefines, type Preprocessed, preprocess } from "./preprocess.ts";
export type { Version } from "./version.ts";
