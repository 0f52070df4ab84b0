import { type BuiltinVariable, builtinOverloads } from "../builtins/index.ts";
import { glslExtensions, supportedExtensions } from "../preprocess/index.ts";
import type { CheckContext, Range } from "./base.ts";
import { namedJumps } from "./statement-nodes.ts";

/** What brings the functions that no row has. */
const callExtensions: ReadonlyMap<string, string> = new Map([
  ["nonuniformEXT", "GL_EXT_nonuniform_qualifier"],
  ["debugPrintfEXT", "GL_EXT_debug_printf"],
]);

/** Whether the shader's dialect has the extension, so that it may be asked for. */
export function mayEnable({ relaxed }: CheckContext, extension: string): boolean {
  return (relaxed ? glslExtensions : supportedExtensions).includes(extension);
}

/** Reports a built-in function that an extension, a version or the other dialect would bring. */
export function reportMissingFunction(
  context: CheckContext,
  { name, position, end }: Range & { name: string },
): boolean {
  const { diagnostics } = context;
  const own = callExtensions.get(name);
  const bringing = own === undefined ? builtinOverloads(name).flatMap(({ extensions }) => extensions) : [own];
  const extension = bringing.find((each) => mayEnable(context, each));
  if (extension !== undefined) {
    diagnostics.error("GLSL_NEEDS_EXTENSION", { what: `'${name}'`, extension }, position, end);
    return true;
  }
  if (bringing.includes("core460")) {
    diagnostics.error("GLSL_NEEDS_VERSION", { what: `'${name}'`, version: 460 }, position, end);
    return true;
  }
  if (context.relaxed || !bringing.includes("relaxed")) return false;
  const instead = name.replace(/^(?:texture|shadow)(?:1D|2D|3D|Cube)(?:Rect)?/, "texture");
  diagnostics.error("GLSL_NEEDS_RELAXED", { name, instead }, position, end);
  return true;
}

/**
 * Reports a built-in variable, or a statement, that an extension, a version or the other dialect would bring; `row` is
 * what the shader's stage knows of the name. One of a refused extension is passed over.
 */
export function reportMissingVariable(
  context: CheckContext,
  name: string,
  row: BuiltinVariable | undefined,
  { position, end }: Range,
): boolean {
  const { diagnostics } = context;
  if (diagnostics.isOfRefused(name)) return true;
  const jump = namedJumps.get(name);
  const extension = row === undefined ? jump?.extension : row.extensions.find((each) => mayEnable(context, each));
  if (extension !== undefined) {
    diagnostics.error("GLSL_NEEDS_EXTENSION", { what: `'${name}'`, extension }, position, end);
    return true;
  }
  if (row === undefined) return false;
  if (row.extensions.length === 0 && row.version > context.version.number) {
    diagnostics.error("GLSL_NEEDS_VERSION", { what: `'${name}'`, version: row.version }, position, end);
    return true;
  }
  if (row.builtIn !== "-" || context.relaxed) return false;
  const instead = "an out variable with layout(location = 0)";
  diagnostics.error("GLSL_NEEDS_RELAXED", { name, instead }, position, end);
  return true;
}
