export { builtinFunctionNames, builtinOverloads, type Overload, type ParameterMode } from "./overloads.ts";
export { type BuiltinVariable, builtinConstants, builtinVariables } from "./variables.ts";
export { overloadSince, type Since, typeSince } from "./versions.ts";
