export { glslCodes } from "./code-table.ts";
export { compileGlsl, type GlslRequest, type GlslResult } from "./compile.ts";
export { glslExtensions } from "./preprocess/index.ts";
