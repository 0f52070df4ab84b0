import { codeRows } from "./codes.ts";

/** Every message of the GLSL front end, for who lists them. */
export const glslCodes = codeRows();
