import { defineCodes } from "../base/index.ts";

/** What the core may answer instead of code. The numbers behind them: `assembly/base/failure.ts`. */
export const coreCodes = defineCodes({
  CORE_UNSUPPORTED: { status: 422, blame: "caller", text: "{what} is not supported" },
  CORE_MALFORMED: { status: 422, blame: "caller", text: "the SPIR-V module is not valid: {what}" },
  CORE_NO_ENTRY_POINT: { status: 422, blame: "caller", text: "the module has no {stage} entry point {name}" },
  CORE_LIMIT: { status: 422, blame: "caller", text: "the shader is too large: more than {limit} {what}" },
  CORE_LIMIT_TIME: { status: 504, blame: "caller", text: "the compile used up its time" },
  CORE_OUT_OF_REGISTERS: {
    status: 422,
    blame: "caller",
    text: "the shader needs more than {limit} {what} registers at once",
  },
  CORE_INVALID_IR: { status: 500, blame: "bug", text: "after {pass}: {rule}: {text} (at {where})" },
  CORE_INVALID_MACHINE: { status: 500, blame: "bug", text: "in the back end: check {phase} at {where}" },
});

/** `Unsupported` of `assembly/compiler/lift/texts.ts`, from 1; `{value}` is its number, `{op}` the opcode of
 * that number by name, `{width}` the second number. */
export const unsupportedTexts: readonly string[] = [
  "a {value}-bit scalar",
  "a value of this type (kind {value})",
  "a variable of this storage class",
  "a pointer as a value",
  "an index of this type",
  "built-in {value}",
  "GLSL.std.450 instruction {value}",
  "a dynamic index into a local variable of so many scalars ({value})",
  "OpSpecConstantOp with {op}",
  "recursion",
  "a fall-through to an earlier case",
  "control flow that is not structured",
  "execution model {value}",
  "{op} on a {width}-bit scalar",
  "this extended instruction set",
  "binding {value}, which the layout does not have,",
  "this operation on {value}-bit values",
  "a vertex attribute at location {value} without a format",
  "this use of an image ({op})",
  "{op} on a variable of this storage class",
  "{op} on a {width}-bit texel",
  "an output at location {value} beside or as a second source for blending, which location 0 alone has,",
  "an output at location {value}, past the last of 8 colours or 64 other outputs,",
  "more than 8 clip and cull distances in all ({value})",
  "an input at location {value}, past the last of 64,",
];

/** Built-ins that pass between the stages, by location: `Extra` of `assembly/compiler/lift/interface.ts`. */
const builtInLocations: Readonly<Record<number, string>> = {
  64: "gl_PointCoord",
  65: "gl_PrimitiveID",
  66: "gl_ClipDistance",
  67: "gl_ClipDistance",
  69: "gl_ViewportIndex",
  70: "gl_CullDistance",
  71: "gl_CullDistance",
};

/** The output or input at a location that the hardware has no 33rd parameter for. */
export function parameterText(direction: "output" | "input", location: number): string {
  const what = builtInLocations[location] ?? `an ${direction} at location ${location}`;
  return `${what}, beside 32 other ${direction}s that are ${direction === "output" ? "exported" : "read"},`;
}

/** `Limit` of `assembly/base/failure.ts`, from 1. */
export const limitTexts: readonly string[] = [
  "words",
  "instructions",
  "instruction operands",
  "blocks",
  "ids, members or levels of types, bindings or specialised constants",
  "local scalars",
  "nested constructs or calls",
  "scalars in one value",
  "units of time",
  "words of output",
  "machine instructions, or values, blocks or branches of them",
  "bytes of text",
  "bytes of workgroup memory",
  "invocations in a workgroup",
  "bytes of push constants",
  "bytes of local arrays in an invocation",
];
