import { describe, expect, it } from "vitest";
import { glslCodes } from "../../src/glsl/index.ts";
import { mistakes, unmark, variants } from "./mistakes.ts";
import { compile } from "./tools.ts";

describe("each mistake", () => {
  it.each([...mistakes, ...variants])("$code", ({ code, source, warning, long: _, includes = {}, ...request }) => {
    const main = unmark(source);
    const others = Object.entries(includes).map(([name, text]) => [name, unmark(text)] as const);
    const [file, marked] = others.find(([, { range }]) => range !== undefined) ?? ["test.comp", main];
    const texts = Object.fromEntries(others.map(([name, { text }]) => [name, text]));
    const { diagnostics, ok } = compile(main.text, { ...request, includes: texts });
    const found = diagnostics.map((each) => [
      `${each.severity} ${each.code} in ${each.file}`,
      each.line,
      each.column,
      each.endLine,
      each.endColumn,
    ]);
    expect(found).toEqual([[`${warning ? "warning" : "error"} ${code} in ${file}`, ...marked.range!]]);
    expect(ok).toBe(warning === true);
    // every hole is filled
    expect(diagnostics[0]!.message).not.toMatch(/\{\w+\}/);
  });

  it("has a source, and only one", () => {
    expect(mistakes.map(({ code }) => code).toSorted()).toEqual(Object.keys(glslCodes).toSorted());
  });
});
