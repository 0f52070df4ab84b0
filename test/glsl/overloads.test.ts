import { describe, expect, it } from "vitest";
import { compareOverloads, languages, reasonOf, type Suffix } from "../conformance/overloads.ts";
import { oracle } from "../oracles.ts";

const chosen: readonly (readonly [string, Suffix])[] = [
  ["460 with extensions", "frag"],
  ["310 es", "frag"],
  ["330", "frag"],
  ["430", "vert"],
];

describe.skipIf(!oracle("glslangValidator") || !oracle("spirv-val"))(
  "every overload of every built-in function",
  () => {
    it.each(chosen)("of %s in a %s shader is what the reference compiler takes", (name, suffix) => {
      const language = languages.find((each) => each.name === name)!;
      const { accepted, differences, invalid } = compareOverloads(language, suffix);
      expect(accepted).toBeGreaterThan(700);
      expect(differences.filter((each) => reasonOf(each, suffix) === undefined)).toEqual([]);
      expect(invalid).toBe("");
    });
  },
);
