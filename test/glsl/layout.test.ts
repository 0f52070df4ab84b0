import { describe, expect, it } from "vitest";
import { oracle } from "../oracles.ts";
import { bytes, outputOf, words } from "./tools.ts";

/** A small generator of numbers, so that the blocks are the same in each run. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const simple =
  "float int uint bool vec2 vec3 vec4 ivec2 ivec3 uvec4 bvec3 double dvec2 dvec3 mat2 mat3 mat4 mat2x3 mat2x4 mat3x2 mat3x4 mat4x2 mat4x3 dmat3".split(
    " ",
  );

/** A shader with 30 blocks of members of all types, in one packing. */
function blocks(packing: string, storage: string, seed: number): string {
  const random = sequence(seed);
  const structs: string[] = [];
  const member = (at: number, depth: number): string => {
    let type = simple[random(simple.length)]!;
    if (depth < 2 && random(5) === 0) {
      const name = `S${structs.length}`;
      structs.push("");
      const members = Array.from({ length: 1 + random(4) }, (_, each) => member(each, depth + 1)).join(" ");
      structs[Number(name.slice(1))] = `struct ${name} { ${members} };`;
      type = name;
    }
    const array = random(3) === 0 ? `[${1 + random(4)}]${random(3) === 0 ? `[${1 + random(3)}]` : ""}` : "";
    const major = depth === 0 && random(4) === 0 ? "layout(row_major) " : "";
    return `${major}${type} m${at}${array};`;
  };
  const decls = Array.from({ length: 30 }, (_, at) => {
    const members = Array.from({ length: 2 + random(6) }, (_, each) => member(each, 0)).join(" ");
    return `layout(${packing}, binding = ${at}) ${storage} B${at} { int tag; ${members} } b${at};`;
  });
  const sum = decls.map((_, at) => `t += b${at}.tag;`).join(" ");
  // inner structs are pushed before the outer text is known, so the innermost stand last
  const order = structs.reverse().join("\n");
  return `#version 450\n#extension GL_EXT_scalar_block_layout : enable\nlayout(local_size_x = 1) in;\n${order}\n${decls.join("\n")}\nshared int t;\nvoid main() { ${sum} }\n`;
}

/** The layout decorations of a disassembled module: struct, member, what; and strides by array type. */
function layoutLines(text: string): string[] {
  const lines = text
    .split("\n")
    .filter((line) =>
      /OpMemberDecorate .* (Offset|MatrixStride|RowMajor|ColMajor)|OpDecorate .* ArrayStride/.test(line),
    )
    .map((line) =>
      line
        .trim()
        .replace(/%(_arr_)?([SB]\d+)(_0)?\b/g, "%$1$2")
        .replace(/_uint_(\d+)(_\d+)?( |_)/g, "_uint_$1$3")
        .replace(/\s+/g, " "),
    );
  return [...new Set(lines.map((line) => line.replace(/(_arr_\w*?)_0 Array/, "$1 Array")))].sort();
}

describe.skipIf(!oracle("glslangValidator") || !oracle("spirv-dis"))("offsets and strides", () => {
  it.each([
    ["std140", "uniform"],
    ["std140", "buffer"],
    ["std430", "buffer"],
    ["scalar", "buffer"],
    ["scalar", "uniform"],
  ])("are the reference compiler's for %s %s", (packing, storage) => {
    for (const seed of [1, 2, 3]) {
      const source = blocks(packing, storage, seed);
      const data = bytes(words(source));
      const ours = outputOf("spirv-dis ours.spv", [{ name: "ours.spv", data }]);
      const theirs = outputOf("glslangValidator -V a.comp -o a.spv >/dev/null && spirv-dis a.spv", [
        { name: "a.comp", data: source },
      ]);
      expect(layoutLines(theirs).length).toBeGreaterThan(100);
      expect(layoutLines(ours)).toEqual(layoutLines(theirs));
    }
  });
});
