import { join } from "node:path";
import type { Plugin } from "esbuild";
import * as enums from "../src/spirv/enums.ts";

/** Used as whole objects: an enum would have its numbers as keys, too. */
const asObjects: readonly string[] = [
  "BuiltIn",
  "Capability",
  "Dim",
  "ImageFormat",
  "MemorySemantics",
] satisfies (keyof typeof enums)[];

/**
 * The numbers of SPIR-V, which `src/spirv/enums.ts` makes of the rows when it is loaded, as the enums of TypeScript that
 * they would be by hand: the bundler puts each number where its name stands. A process then starts without making objects
 * of a thousand names, and a `switch` over opcodes is one over constants.
 */
export function inlineEnums(root: string): Plugin {
  const file = join(root, "src/spirv/enums.ts");
  const text = Object.entries(enums)
    .map(([name, members]) => {
      const isObject = asObjects.includes(name);
      const list = Object.entries(members).map(
        ([key, value]) => `${JSON.stringify(key)}${isObject ? ":" : "="}${value}`,
      );
      return isObject ? `export const ${name} = {${list}};` : `export enum ${name} {${list}}`;
    })
    .join("\n");
  return {
    name: "inline-enums",
    setup(build) {
      build.onLoad({ filter: /enums\.ts$/ }, ({ path }) =>
        path === file ? { contents: text, loader: "ts" } : undefined,
      );
    },
  };
}
