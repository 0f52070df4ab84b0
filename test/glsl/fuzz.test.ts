import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compile, validShaders } from "./tools.ts";

/** Compiles and looks at the answer's shape: whatever the text, it is a module or messages with true places. */
function answers(source: string): void {
  const started = performance.now();
  const result = compile(source);
  if (result.ok) {
    expect(result.words[0]).toBe(0x07230203);
  } else {
    expect(result.diagnostics.length).toBeGreaterThan(0);
    const lines = source.split(/\r\n|\n|\r/).length;
    for (const { line, endLine, column, endColumn } of result.diagnostics) {
      expect(line).toBeGreaterThanOrEqual(1);
      expect(line).toBeLessThanOrEqual(lines);
      expect(endLine > line || (endLine === line && endColumn >= column)).toBe(true);
    }
  }
  expect(performance.now() - started).toBeLessThan(1000);
}

const sources = validShaders.map(({ source }) => source);
const shader = fc.constantFrom(...sources);
const tokensOf = (source: string): string[] => source.match(/[A-Za-z_]\w*|[\d.]+\w*|\n|[^\sA-Za-z_\d]/g) ?? [];
const token = fc.constantFrom(...new Set(sources.flatMap(tokensOf)));

const seed = 20240601;

describe("any text at all", () => {
  it("answers soups of tokens", () => {
    const soup = fc.array(token, { maxLength: 80 }).map((tokens) => `#version 450\n${tokens.join(" ")}`);
    fc.assert(fc.property(soup, answers), { seed, numRuns: 400 });
  });

  it("answers soups of tokens inside a function", () => {
    const soup = fc
      .array(token, { maxLength: 60 })
      .map((tokens) => `#version 450\nlayout(local_size_x=1) in;\nvoid main() {\n${tokens.join(" ")}\n}`);
    fc.assert(fc.property(soup, answers), { seed, numRuns: 400 });
  });

  it("answers shaders with tokens dropped, doubled, swapped and replaced", () => {
    const edit = fc.record({ at: fc.nat(), kind: fc.nat(3), token });
    fc.assert(
      fc.property(shader, fc.array(edit, { minLength: 1, maxLength: 4 }), (source, edits) => {
        const tokens = source.match(/[A-Za-z_]\w*|[\d.]+\w*|\s+|[^\sA-Za-z_\d]/g) ?? [];
        for (const { at, kind, token: other } of edits) {
          const place = at % tokens.length;
          if (kind === 0) tokens.splice(place, 1);
          else if (kind === 1) tokens.splice(place, 0, tokens[place]!);
          else if (kind === 2) tokens[place] = other;
          else tokens.splice(place, 0, other);
        }
        answers(tokens.join(""));
      }),
      { seed, numRuns: 600 },
    );
  });

  it("answers the kernels cut anywhere", () => {
    for (const source of sources) for (let at = 0; at < source.length; at += 37) answers(source.slice(0, at));
  });

  it("answers bytes that are no text", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), answers), { seed, numRuns: 300 });
  });
});
