import { describe, expect, it } from "vitest";
import { Lexer } from "../../src/glsl/lex.ts";
import { Sources } from "../../src/glsl/source.ts";
import { parseNumber } from "../../src/glsl/syntax/number.ts";
import { T } from "../../src/glsl/token.ts";

function wordsIn(text: string): string[] {
  const lexer = new Lexer(new Sources().add("a.comp", text));
  const words: string[] = [];
  for (let token = lexer.next(); token.kind !== T.Eof; token = lexer.next()) words.push(token.text);
  return words;
}

describe("words", () => {
  it("are told apart where their hashes are the same", () => {
    // 31 * "A" + "a" is 31 * "B" + "B", so all words of these pairs share one hash
    let words = [""];
    for (let pair = 0; pair < 6; pair++) words = words.flatMap((word) => [`${word}Aa`, `${word}BB`]);
    const text = words.join(" ");
    expect(wordsIn(text)).toEqual(words);
    expect(wordsIn(text)).toEqual(words);
  });

  it("are found behind text beyond ASCII that just fills the array of a lexer before", () => {
    wordsIn("a");
    // 3 * 1000 characters of one byte, then such of three: of 8,192 bytes they fill 8,190, as many as there are characters
    const text = `//${"-".repeat(2998)}${"€".repeat(5186)}\nend`;
    expect(text.length).toBe(8190);
    expect(wordsIn(text)).toEqual(["end"]);
  });

  it("are right after more of them than are kept", () => {
    const words = Array.from({ length: 10_000 }, (_, at) => `w${at}_${"x".repeat(at % 80)}`);
    expect(wordsIn(words.join(" "))).toEqual(words);
    expect(wordsIn("float w1_x")).toEqual(["float", "w1_x"]);
  });
});

describe("fractions", () => {
  it("are the floats nearest to their texts", () => {
    // halves between two floats, long fractions, and what the short way must leave to the other
    const texts = [
      "0.1",
      ".5",
      "5.",
      "0.0",
      "00.10",
      "1.f",
      "0.3F",
      "3.14159265358979",
      "16777217.0",
      "0.000000000000001",
    ];
    texts.push("123456789012345.0", "1234567890123456.5", "0.1234567890123456789", "8388608.5", "1.0000000596046448");
    for (let at = 0, seed = 1; at < 500; at++) {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      const digits = String(seed).padStart(12, "0");
      texts.push(`${digits.slice(0, at % 12)}.${digits.slice(at % 12)}`);
    }
    for (const text of texts) {
      const value = Math.fround(Number(text.replace(/f$/i, "")));
      expect(parseNumber(text), text).toEqual({ ok: true, scalar: "float", value });
    }
  });
});
