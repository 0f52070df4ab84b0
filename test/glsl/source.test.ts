import { describe, expect, it } from "vitest";
import { Sources } from "../../src/glsl/source.ts";

/** Line and column of an offset, counted character by character: line feeds, carriage returns and both together end lines. */
function counted(text: string, offset: number): [number, number] {
  let line = 1;
  let column = 1;
  for (let at = 0; at < offset; at++) {
    const isEnd = text[at] === "\n" || (text[at] === "\r" && text[at + 1] !== "\n");
    if (isEnd) line++;
    column = isEnd ? 1 : column + 1;
  }
  return [line, column];
}

const texts: readonly (readonly [string, string])[] = [
  ["nothing", ""],
  ["one line without an end", "void main() {}"],
  ["empty lines at the start and the end", "\n\n\na\n\nbc\n\n"],
  ["an empty first line alone", "\nx"],
  ["carriage returns", "a\r\nb\rc\n\rd"],
  ["lines further apart than a search goes", `a\n${"x".repeat(5000)}\n${"b\n".repeat(4000)}c`],
];

describe("places", () => {
  it.each(texts)("are found in any order: %s", (_name, text) => {
    const sources = new Sources();
    sources.add("before", "first\nfile");
    const file = sources.add("file", text);
    // as the lexer says of text that is all ASCII
    file.plain = true;
    const last = text.length;
    const step = Math.max(1, Math.floor(last / 50));
    const offsets: number[] = [];
    for (let at = 0; at <= last; at += step) offsets.push(at);
    const orders = [offsets, offsets.toReversed(), offsets.flatMap((at) => [at, last - at, at >> 1])];
    for (const offset of orders.flat()) {
      sources.locate(file.base + offset);
      const { file: name, line, column, from, until } = sources.found;
      expect([offset, name, line, column]).toEqual([offset, "file", ...counted(text, offset)]);
      if (until === 0) continue;
      // what is said of the rest of the line
      expect(counted(text, from - file.base)).toEqual([line, 1]);
      expect(counted(text, Math.min(last, until - 1 - file.base))[0]).toBe(line);
      expect(counted(text, Math.min(last, until - file.base))[0]).toBe(until - file.base > last ? line : line + 1);
    }
  });
});
