import { beforeAll, describe, expect, it } from "vitest";
import { generateProgram } from "./generate.ts";
import { type BackEnd, emitted, loadBackEnd, type Mistake } from "./module.ts";

/** `Fail.BACKEND_INVALID`. */
const invalid = 9;

let backEnd: BackEnd;
beforeAll(() => {
  backEnd = loadBackEnd();
});

describe("the allocation check", () => {
  it("accepts a mask that the cont reads, made where lanes have left the loop already", () => {
    // When all lanes break in the first if, control passes by %m on its way to the cont, which then runs for none.
    const { code } = emitted(
      backEnd.emit(`shader compute "main" wave32 local=32,1,1 {
b0:
  %zero:32 = const 0
  %one:32 = const 1
  %l:32 = load_local_id component=0 div
loop div {
  b1: preds b0 b9
    %i:32 = phi %zero, %next div
    %more:1 = ult %i, %l div
  if %more div {
    b2:
  } else {
    b3:
      break
  }
  b4:
    %odd:32 = iand %i, %one div
    %m:1 = ieq %odd, %one div
  if %m div {
    b5:
      continue
  } else {
    b6:
  }
  b7:
    store_ssbo %i, %zero set=0 binding=1 base=0
} cont {
  b9: preds b7 b5
    %step:32 = b2i %m div
    %twice:32 = iadd %step, %one div
    %next:32 = iadd %i, %twice div
}
b10:
  end
}
`),
    );
    expect(code.length).toBeGreaterThan(10);
  });

  it("finds a register that was given twice", () => {
    // A moved register may by luck be free where it went (2); most are not, and no allocation of ours fails (-2).
    const outcomes = Array.from({ length: 60 }, (_, seed) => {
      const { text } = generateProgram(1 + (seed % 6), 60);
      return backEnd.sabotage(text, seed * 977);
    });
    expect(outcomes.filter((o) => o < 0)).toEqual([]);
    expect(outcomes.filter((o) => o === 1).length).toBeGreaterThan(15);
  });

  /** The verdicts on a mistake in programs of which nearly everything is spilled. */
  const verdicts = (mistake: Mistake, spilled: boolean): readonly number[] =>
    [1, 2, 3, 4, 5, 6].flatMap((seed) =>
      backEnd.mislead(generateProgram(seed, 60).text, mistake, spilled ? { registers: [12, 14] } : {}, 4),
    );

  it.each([
    ["another lane", true],
    ["another slot", true],
    ["operands exchanged", false],
    ["operands exchanged", true],
  ] as const)("finds %s, spilled: %s, wherever that is", (mistake, spilled) => {
    const found = verdicts(mistake, spilled);
    expect(found.length).toBeGreaterThan(4);
    expect(found.filter((code) => code !== invalid)).toEqual([]);
  });

  // What is never read again may go anywhere, and two copies may be of one value.
  it.each([
    ["stored elsewhere", true],
    ["destinations exchanged", false],
    ["copied too late", false],
  ] as const)("finds %s, spilled: %s, where it matters", (mistake, spilled) => {
    const found = verdicts(mistake, spilled);
    expect(found.filter((code) => code === invalid).length).toBeGreaterThan(found.length * 0.6);
    expect(found.length).toBeGreaterThan(2);
  });

  it.each([
    "a branch that is not there",
    "a branch to the next block but one",
    "the opposite condition",
    "EXEC that is not restored",
    "the lanes of the other side",
    "EXEC that is not switched",
  ] as const)("finds %s", (mistake) => {
    for (const level of [0, 2] as const) {
      const found = [1, 2, 3, 4, 5, 6].flatMap((seed) =>
        backEnd.mislead(generateProgram(seed, 60).text, mistake, { level }, 8),
      );
      expect(found.filter((code) => code !== invalid)).toEqual([]);
      expect(found.length).toBeGreaterThan(1);
    }
  });

  /** A loop whose rounds count the bits of %a, loaded once or in each round, and reverse those of %t behind that. */
  const loop = (once: boolean): string => `shader compute "main" wave32 local=32,1,1 {
b0:
  %zero:32 = const 0
  %one:32 = const 1
  %four:32 = const 4
  %l:32 = load_local_id component=0 div
  %o:32 = imul %l, %four div
  ${once ? "%a:32 = load_ssbo %o set=0 binding=0 base=0 div" : ""}
loop {
  b1: preds b0 b5
    %i:32 = phi %zero, %next
    %s:32 = phi %l, %u div
    %more:1 = ult %i, %four
  if %more {
    b2:
  } else {
    b3:
      break
  }
  b4:
    ${once ? "" : "%a:32 = load_ssbo %o set=0 binding=0 base=0 div"}
    %n:32 = bitcount %a div
    %t:32 = ixor %s, %n div
    %r:32 = bitrev %t div
    %u:32 = iadd %r, %l div
} cont {
  b5:
    %next:32 = iadd %i, %one
}
b6:
  store_ssbo %s, %o set=0 binding=1 base=0
  end
}
`;

  it("finds a value that is read after its register was taken on the way round a loop", () => {
    expect(backEnd.share(loop(true))).toBe("the count");
  });

  it("leaves a register free that each round fills anew before it reads it", () => {
    expect(backEnd.share(loop(false))).toBe("accepted");
  });

  it("finds another value in a register whose lanes hold scalars", () => {
    const names = Array.from({ length: 20 }, (_, k) => k);
    const text = `shader compute "main" wave32 local=32,1,1 {
b0:
  %zero:32 = const 0
  %four:32 = const 4
  %l:32 = load_local_id component=0 div
  %g:32 = load_workgroup_id component=0
  %o:32 = imul %l, %four div
${names.map((k) => `  %c${k}:32 = const ${k + 3}\n  %v${k}:32 = imul %g, %c${k}`).join("\n")}
  %n:32 = bitcount %l div
  %r:32 = bitrev %n div
  store_ssbo %r, %o set=0 binding=1 base=0
${names.map((k) => `  %p${k}:32 = ixor %v${k}, %${k === 0 ? "g" : `t${k - 1}`}\n  %t${k}:32 = imul %p${k}, %c${k}`).join("\n")}
  store_ssbo %t19, %o set=0 binding=2 base=0
  end
}
`;
    expect(backEnd.share(text, { registers: [16, 256] }, true)).toBe("another");
  });
});
