import { describe, expect, it } from "vitest";
import { oracle } from "../oracles.ts";
import { cases, sourceOf } from "./cases.ts";
import { bytes, compile, failuresOf, referenceRejects, words } from "./tools.ts";

const named = cases.map((each, at) => ({ ...each, name: `case${at}`, source: sourceOf(each) }));

/** Mistakes that the reference compiler finds only when it links. */
function foundByLinking({ source }: { readonly source: string }): boolean {
  const { diagnostics } = compile(source);
  const late = ["GLSL_RECURSION", "GLSL_NO_BODY", "GLSL_TWO_PUSH_CONSTANTS"];
  return diagnostics.some(({ code }) => late.includes(code));
}

describe("accept and reject", () => {
  it.each(named)("$name: $accept, $globals $body", ({ accept, source }) => {
    const result = compile(source);
    expect(result.ok).toBe(accept);
    if (!result.ok) expect(result.diagnostics.some(({ severity }) => severity === "error")).toBe(true);
  });

  it.skipIf(!oracle("glslangValidator"))("agrees with the reference compiler", () => {
    const files = named.map(({ name, source }) => ({ name: `${name}.comp`, data: source }));
    const linked = new Set(named.filter((each) => foundByLinking(each)).map(({ name }) => `${name}.comp`));
    const rejected = referenceRejects(files, linked);
    const other = named.filter(({ name, accept }) => rejected.has(`${name}.comp`) === accept);
    expect(other.map(({ name }) => name)).toEqual(
      named.filter(({ disagreement }) => disagreement !== undefined).map(({ name }) => name),
    );
  });

  it.skipIf(!oracle("spirv-val"))("makes valid modules of what it accepts", () => {
    const files = named
      .filter(({ accept }) => accept)
      .map(({ name, source }) => ({ name: `${name}.spv`, data: bytes(words(source)) }));
    expect(failuresOf("spirv-val --target-env vulkan1.3", files)).toEqual(new Map());
  });
});
