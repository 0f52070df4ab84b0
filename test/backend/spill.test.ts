import { beforeAll, describe, expect, it } from "vitest";
import { type BackEnd, type Emitted, emitted, loadBackEnd } from "./module.ts";
import { Simulator } from "./simulate.ts";

let backEnd: BackEnd;
let simulator: Simulator;
beforeAll(() => {
  backEnd = loadBackEnd();
  simulator = new Simulator();
});

const head = `shader compute "main" wave32 local=64,1,1 {
b0:
  %zero:32 = const 0
  %one:32 = const 1
  %two:32 = const 2
  %l:32 = load_local_id component=0 div
  %g:32 = load_workgroup_id component=0
  %o:32 = ishl %l, %two div
`;

function compile(body: string): Emitted {
  return emitted(backEnd.emit(`${head}${body}\n  end\n}\n`));
}

function run(code: Emitted, buffers: readonly Uint32Array[]): Uint32Array[] {
  return simulator.run({
    emitted: code,
    local: [64, 1, 1],
    groups: [2, 1, 1],
    groupIds: [true, false, false],
    push: [],
    buffers,
  });
}

const names = (n: number): number[] => Array.from({ length: n }, (_, k) => k);

describe("spilling", () => {
  it("keeps 400 vector values at once, over a divergent if and a loop", () => {
    const n = 400;
    // v_k = l * (k + 3) + group; lanes below 32 add 5 to each; then three rounds of a sum that weighs each with its number.
    const code = compile(`${names(n)
      .map((k) => `  %c${k}:32 = const ${k + 3}\n  %m${k}:32 = imul %l, %c${k} div\n  %v${k}:32 = iadd %m${k}, %g div`)
      .join("\n")}
  %five:32 = const 5
  %three:32 = const 3
  %half:32 = const 32
  %low:1 = ult %l, %half div
if %low div {
  b1:
${names(n)
  .map((k) => `    %w${k}:32 = iadd %v${k}, %five div`)
  .join("\n")}
} else {
  b2:
}
b3: preds b1 b2
${names(n)
  .map((k) => `  %x${k}:32 = phi %w${k}, %v${k} div`)
  .join("\n")}
loop {
  b4: preds b3 b8
    %i:32 = phi %zero, %i2
    %s:32 = phi %l, %t${n - 1} div
    %more:1 = ult %i, %three
  if %more {
    b5:
  } else {
    b6:
      break
  }
  b7:
${names(n)
  .map(
    (k) => `    %p${k}:32 = ixor %x${k}, %${k === 0 ? "s" : `t${k - 1}`} div\n    %t${k}:32 = imul %p${k}, %c${k} div`,
  )
  .join("\n")}
} cont {
  b8:
    %i2:32 = iadd %i, %one
}
b9:
  %ga:32 = const 256
  %gb:32 = imul %g, %ga
  %at:32 = iadd %o, %gb div
  store_ssbo %s, %at set=0 binding=1 base=0`);
    expect(code.spilledVgprs).toBeGreaterThanOrEqual(n - 256);
    expect(code.scratchBytes).toBe(4 * code.spilledVgprs);
    expect(code.vgprs).toBeLessThanOrEqual(256);
    const [, out] = run(code, [new Uint32Array(1), new Uint32Array(128)]);
    for (let t = 0; t < 128; t++) {
      const [l, g] = [t % 64, t >> 6];
      let s = l;
      const x = names(n).map((k) => l * (k + 3) + g + (l < 32 ? 5 : 0));
      for (let round = 0; round < 3; round++)
        for (const [k, value] of x.entries()) s = Math.imul(value ^ s, k + 3) >>> 0;
      expect(out?.[t]).toBe(s);
    }
  });

  it("keeps 300 uniform values at once in lanes of vector registers", () => {
    const n = 300;
    const code = compile(`${names(n)
      .map((k) => `  %c${k}:32 = const ${k + 3}\n  %m${k}:32 = imul %g, %c${k}\n  %v${k}:32 = ixor %m${k}, %c${k}`)
      .join("\n")}
  %half:32 = const 32
  %low:1 = ult %l, %half div
  %acc0:32 = iadd %g, %one
if %low div {
  b1:
    store_ssbo %l, %o set=0 binding=0 base=0
} else {
  b2:
}
b3: preds b1 b2
${names(n)
  .map((k) => `  %p${k}:32 = ixor %v${k}, %${k === 0 ? "acc0" : `t${k - 1}`}\n  %t${k}:32 = imul %p${k}, %c${k}`)
  .join("\n")}
  %ga:32 = const 256
  %gb:32 = imul %g, %ga
  %at:32 = iadd %o, %gb div
  store_ssbo %t${n - 1}, %at set=0 binding=1 base=0`);
    expect(code.spilledSgprs).toBeGreaterThanOrEqual(n - 108);
    expect(code.scratchBytes).toBe(0);
    const [, out] = run(code, [new Uint32Array(64), new Uint32Array(128)]);
    for (let g = 0; g < 2; g++) {
      let s = g + 1;
      for (const k of names(n)) s = Math.imul((g * (k + 3)) ^ (k + 3) ^ s, k + 3) >>> 0;
      for (let l = 0; l < 64; l++) expect(out?.[64 * g + l]).toBe(s);
    }
  });

  it("leaves shaders that fit alone", () => {
    const code = compile("  store_ssbo %l, %o set=0 binding=1 base=0");
    expect([code.spilledSgprs, code.spilledVgprs, code.scratchBytes]).toEqual([0, 0, 0]);
  });

  it("keeps a value and the lanes of each of 300 ifs inside each other, twice", () => {
    const n = 300;
    const last = (k: number) => Math.floor((k * 64) / n);
    // f(k) = lane > last(k) ? f(k + 1) ^ lane * (k + 3) : lane ^ k; f(n) = x.
    const nest = (p: string, x: string): string => {
      const open = names(n).map(
        (k) => `  %${p}c${k}:32 = const ${k}
  %${p}m${k}:32 = const ${k + 3}
  %${p}t${k}:32 = const ${last(k)}
  %${p}a${k}:32 = imul %l, %${p}m${k} div
  %${p}q${k}:1 = ult %${p}t${k}, %l div
if %${p}q${k} div {
  ${p}o${k}:`,
      );
      const close = names(n).map((k) => {
        const inner = k + 1 === n;
        return `  %${p}s${k}:32 = ixor ${inner ? x : `%${p}r${k + 1}`}, %${p}a${k} div
} else {
  ${p}e${k}:
  %${p}x${k}:32 = ixor %l, %${p}c${k} div
}
${p}b${k}: preds ${inner ? `${p}o${k}` : `${p}b${k + 1}`} ${p}e${k}
  %${p}r${k}:32 = phi %${p}s${k}, %${p}x${k} div`;
      });
      return [...open, ...close.reverse()].join("\n");
    };
    const blocks = new Map<string, string>([["b0", "b0"]]);
    const text = `${nest("y", "%l")}
${nest("z", "%yr0")}
  store_ssbo %zr0, %o set=0 binding=0 base=0 div`.replace(/\b[yz][oeb]\d+\b/g, (name) => {
      if (!blocks.has(name)) blocks.set(name, `b${blocks.size}`);
      return blocks.get(name) as string;
    });
    const code = compile(text);
    expect(code.spilledSgprs).toBeGreaterThan(200);
    expect(code.spilledVgprs).toBeGreaterThan(50);
    const f = (x: number, lane: number): number => {
      let sum = 0;
      for (let k = 0; k < n; k++) {
        if (lane <= last(k)) return sum ^ lane ^ k;
        sum ^= lane * (k + 3);
      }
      return sum ^ x;
    };
    const want = Uint32Array.from({ length: 64 }, (_, lane) => f(f(lane, lane), lane));
    expect(run(code, [new Uint32Array(64)])[0]).toEqual(want);
  });
});
