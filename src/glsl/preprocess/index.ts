export type { Behavior } from "./extensions.ts";
export { type Preprocessed, type PreprocessOptions, preprocess } from "./preprocess.ts";
export type { Version } from "./version.ts";
