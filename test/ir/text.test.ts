import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeSnapshot, encodeSnapshot, IrSyntaxError, opRows, parseIr, printIr } from "../../src/ir/index.ts";

/** Ops that `everyOp` cannot hold; `nested` has them. */
const elsewhere = new Set(["const", "phi", "if", "break", "continue", "end"]);

/** A shader that has every op of the table once, with distinct immediates. */
function everyOp(): string {
  const lines = ["  %one:1 = const true", "  %word:32 = const 0xfffffffe", "  %pair:32x2 = vec %word, %word"];
  for (const row of opRows) {
    if (elsewhere.has(row.name)) continue;
    const sources = row.srcs.map((s) => (s.startsWith("1") ? "%one" : s.startsWith("vec") ? "%pair" : "%word"));
    const imms = row.imms.map((name, k) => (name === "atomic" ? "atomic=xor" : `${name}=${k + 1}`));
    const width = { "": "", "1": ":1", "32": ":32", any: ":32", vec: ":32x2" }[row.dst];
    lines.push(
      `  ${width === "" ? "" : `%v_${row.name}${width} = `}${row.name} ${sources.join(", ")} ${imms.join(" ")}`,
    );
  }
  return `shader compute "every \\"op\\"" wave32 local=8,4,2 lds=64 vars=1,32 {\nb0:\n${lines.join("\n")}\n  end\n}\n`;
}

const nested = `shader compute "nested" wave32 local=1,1,1 {
b0:
  %0:1 = const true
  %1:32 = const 0x00000001
loop div {
  b1: preds b0 b8
    %2:32 = phi %1, %3 div
  if %0 div {
    b2:
      continue
  } else {
    b3:
  }
  b4:
  if %0 {
    b5:
      break
  } else {
    b6:
  }
  b7:
} cont {
  b8: preds b7 b2
    %3:32 = iadd %2, %1 exact nuw
}
b9:
  end
}
`;

describe("IR text", () => {
  it("parses what it prints, for every op", () => {
    const once = printIr(parseIr(everyOp()));
    expect(printIr(parseIr(once))).toBe(once);
    for (const row of opRows)
      if (!elsewhere.has(row.name)) expect(once).toContain(` = ${row.name}`.slice(row.dst === "" ? 3 : 0));
  });

  it("keeps nesting, flags and a given order of predecessors", () => {
    expect(printIr(parseIr(nested))).toBe(nested);
  });

  it("goes through a snapshot unchanged", () => {
    for (const text of [nested, everyOp()]) {
      const shader = parseIr(text);
      expect(decodeSnapshot(encodeSnapshot(shader))).toEqual(shader);
    }
  });

  it("is canonical in the test files", () => {
    for (const folder of readdirSync("test/ir", { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
      for (const name of readdirSync(join("test/ir", folder.name)).filter((file) => file.endsWith(".ir"))) {
        const [, expected = ""] = readFileSync(join("test/ir", folder.name, name), "utf8").split(/^; expect\n/m);
        expect(printIr(parseIr(expected)), name).toBe(expected);
      }
    }
  });

  const bad: readonly (readonly [string, string, number])[] = [
    ["an unknown op", nested.replace("iadd", "iadt"), 24],
    ["an unknown value", nested.replace("%2, %1 exact", "%2, %7 exact"), 24],
    ["wrong predecessors", nested.replace("preds b7 b2", "preds b7 b3"), 23],
    ["an open shader", nested.slice(0, nested.lastIndexOf("}")), 28],
    ["an unknown word", nested.replace(" nuw", " nsw"), 24],
    ["a number that does not fit", nested.replace("0x00000001", "0x100000000"), 4],
  ];
  for (const [what, text, line] of bad) {
    it(`refuses ${what} with its line`, () => {
      let thrown: unknown;
      try {
        parseIr(text);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(IrSyntaxError);
      expect((thrown as IrSyntaxError).line).toBe(line);
    });
  }
});
