import type { Diagnostics } from "../diagnostics.ts";
import { SPACE_BEFORE, T, type Token } from "../token.ts";
import type { Macro } from "./macro.ts";

/** The macro that the tokens behind `#define` describe; undefined after a mistake, which is reported. */
export function parseDefinition(
  directive: Token,
  tokens: readonly Token[],
  diagnostics: Diagnostics,
): Macro | undefined {
  const name = tokens[0];
  if (name?.kind !== T.Identifier) {
    diagnostics.error("GLSL_NO_MACRO_NAME", { directive: "define" }, directive.position, directive.end);
    return undefined;
  }
  let parameters: string[] | undefined;
  let at = 1;
  const open = tokens[1];
  if (open?.kind === T.LeftParen && (open.flags & SPACE_BEFORE) === 0) {
    parameters = [];
    at = 2;
    while (tokens[at]?.kind === T.Identifier) {
      const parameter = tokens[at]!;
      if (parameters.includes(parameter.text)) {
        const { position, end } = parameter;
        diagnostics.error("GLSL_DUPLICATE_PARAMETER", { name: parameter.text }, position, end);
      }
      parameters.push(parameter.text);
      if (tokens[++at]?.kind !== T.Comma) break;
      at++;
    }
    if (tokens[at]?.kind !== T.RightParen) {
      const place = tokens[at] ?? name;
      diagnostics.error("GLSL_BAD_MACRO_PARAMETERS", { name: name.text }, place.position, place.end);
      return undefined;
    }
    at++;
  }
  const body = tokens.slice(at);
  const { position, end } = name;
  if (parameters === undefined && body[0] !== undefined && (body[0].flags & SPACE_BEFORE) === 0) {
    diagnostics.warn("GLSL_MACRO_SPACE", { name: name.text }, position, end);
  }
  return { name: name.text, parameters, body, position, end, active: false };
}
