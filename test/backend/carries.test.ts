import { beforeAll, describe, expect, it } from "vitest";
import { disassemble } from "../../src/isa/index.ts";
import { type BackEnd, emitted, loadBackEnd } from "./module.ts";
import { Simulator } from "./simulate.ts";

let backEnd: BackEnd;
let simulator: Simulator;
beforeAll(() => {
  backEnd = loadBackEnd();
  simulator = new Simulator();
});

const lanes = 64;
const mask64 = (1n << 64n) - 1n;

/** 64-bit arithmetic in words, as it is lifted: sum, difference, opposite, less a constant, product, four comparisons. */
const arithmetic = (div: string): string => `
  %sl:32 = iadd %al, %bl ${div}
  %sc:1 = ult %sl, %al ${div}
  %scw:32 = b2i %sc ${div}
  %sh0:32 = iadd %ah, %bh ${div}
  %sh:32 = iadd %sh0, %scw ${div}
  %dc:1 = ult %al, %bl ${div}
  %dcw:32 = b2i %dc ${div}
  %dl:32 = isub %al, %bl ${div}
  %dh0:32 = isub %ah, %bh ${div}
  %dh:32 = isub %dh0, %dcw ${div}
  %nc:1 = ine %al, %zero ${div}
  %ncw:32 = b2i %nc ${div}
  %nl:32 = ineg %al ${div}
  %nh0:32 = ineg %ah ${div}
  %nh:32 = isub %nh0, %ncw ${div}
  %kc:1 = ult %al, %seven ${div}
  %kcw:32 = b2i %kc ${div}
  %kl:32 = iadd %al, %minus7 ${div}
  %kh:32 = isub %ah, %kcw ${div}
  %pl:32 = imul %al, %bl ${div}
  %ph0:32 = umul_hi %bl, %al ${div}
  %p1:32 = imul %al, %bh ${div}
  %p2:32 = imul %ah, %bl ${div}
  %p3:32 = iadd %p1, %p2 ${div}
  %ph:32 = iadd %ph0, %p3 ${div}
  %he:1 = ieq %ah, %bh ${div}
  %ll:1 = ult %al, %bl ${div}
  %hell:1 = iand %he, %ll ${div}
  %hl:1 = ult %ah, %bh ${div}
  %lt:1 = ior %hl, %hell ${div}
  %he2:1 = ieq %bh, %ah ${div}
  %ll2:1 = ult %al, %bl ${div}
  %hell2:1 = iand %ll2, %he2 ${div}
  %hls:1 = ilt %ah, %bh ${div}
  %lts:1 = ior %hell2, %hls ${div}
  %le:1 = ieq %al, %bl ${div}
  %he3:1 = ieq %ah, %bh ${div}
  %eq:1 = iand %he3, %le ${div}
  %ln:1 = ine %al, %bl ${div}
  %hn:1 = ine %ah, %bh ${div}
  %ne:1 = ior %ln, %hn ${div}
  %ltw:32 = b2i %lt ${div}
  %ltsw:32 = b2i %lts ${div}
  %eqw:32 = b2i %eq ${div}
  %new:32 = b2i %ne ${div}`;
const names = ["sl", "sh", "dl", "dh", "nl", "nh", "kl", "kh", "pl", "ph", "ltw", "ltsw", "eqw", "new"];

function expected(a: bigint, b: bigint): number[] {
  const wide = [a + b, a - b, -a, a - 7n, a * b].map((x) => x & mask64);
  const signed = (x: bigint): bigint => BigInt.asIntN(64, x);
  const compares = [a < b, signed(a) < signed(b), a === b, a !== b];
  return [...wide.flatMap((x) => [Number(x & 0xffffffffn), Number(x >> 32n)]), ...compares.map(Number)];
}

/** Values at which carries change. */
const corners = [0n, 1n, 6n, 7n, 0xffffffffn, 0x100000000n, 0x7fffffffffffffffn, 0x8000000000000000n, mask64];
const pairs = Array.from({ length: lanes }, (_, k): readonly [bigint, bigint] => {
  const a = corners[k % corners.length] ?? 0n;
  const b = k < 54 ? (corners[((k * 5 + k / 9) | 0) % corners.length] ?? 0n) : a;
  return [a, b];
});
const words = (x: bigint): number[] => [Number(x & 0xffffffffn), Number(x >> 32n)];

const constants = `  %zero:32 = const 0
  %two:32 = const 2
  %four:32 = const 4
  %seven:32 = const 7
  %minus7:32 = const 0xfffffff9
  %l:32 = load_local_id component=0 div`;
const stores = (offset: string): string =>
  names.map((name, k) => `  store_ssbo %${name}, %${offset} set=0 binding=1 base=${256 * k}`).join("\n");
const texts = (code: Uint32Array): string[] => disassemble(code).map((line) => line.text.trim());
const count = (lines: readonly string[], op: RegExp): number => lines.filter((line) => op.test(line)).length;

describe("arithmetic of 64 bits in words", () => {
  it("takes carries from additions and gives what it should, lane by lane", () => {
    const shader = `shader compute "main" wave32 local=${lanes},1,1 {
b0:
${constants}
  %o:32 = ishl %l, %two div
  %o4:32 = ishl %l, %four div
  %q:32x4 = load_ssbo %o4 set=0 binding=0 base=0 div
  %al:32 = extract %q index=0 div
  %ah:32 = extract %q index=1 div
  %bl:32 = extract %q index=2 div
  %bh:32 = extract %q index=3 div
${arithmetic("div")}
${stores("o")}
  end
}
`;
    for (const level of [0, 2] as const) {
      const result = emitted(backEnd.emit(shader, { level }));
      const buffers = [
        Uint32Array.from(pairs.flatMap(([a, b]) => [...words(a), ...words(b)])),
        new Uint32Array(lanes * names.length),
      ];
      const [, out = new Uint32Array()] = simulator.run({
        emitted: result,
        local: [lanes, 1, 1],
        groups: [1, 1, 1],
        groupIds: [false, false, false],
        push: [],
        buffers,
      });
      for (const [lane, [a, b]] of pairs.entries()) {
        expect(
          names.map((_, k) => out[k * lanes + lane]),
          `${a} ${b}`,
        ).toEqual(expected(a, b));
      }
      const lines = texts(result.code);
      for (const op of [
        "v_add_co_u32",
        "v_mad_u64_u32",
        "v_cmp_lt_u64",
        "v_cmp_lt_i64",
        "v_cmp_eq_u64",
        "v_cmp_ne_u64",
      ])
        expect(count(lines, new RegExp(`^${op}(_e\\d\\d)? |^${op.replace("_lt_", "_gt_")}`)), op).toBe(1);
      expect(count(lines, /^v_sub_co_u32/)).toBe(3);
      expect(count(lines, /^v_add_co_ci_u32/)).toBe(1);
      expect(count(lines, /^v_sub(rev)?_co_ci_u32/)).toBe(3);
      // What remains are the comparisons that are stored.
      expect(count(lines, /^v_cndmask/)).toBe(4);
    }
  });

  it("takes SCC from the scalar addition in front", () => {
    const shader = `shader compute "main" wave32 local=32,1,1 {
b0:
${constants}
  %al:32 = load_push base=0
  %ah:32 = load_push base=4
  %bl:32 = load_push base=8
  %bh:32 = load_push base=12
${arithmetic("")}
${stores("zero")}
  end
}
`;
    const result = emitted(backEnd.emit(shader));
    const lines = texts(result.code);
    expect(count(lines, /^s_addc_u32/)).toBe(1);
    expect(count(lines, /^s_subb_u32/)).toBe(3);
    for (const [a, b] of pairs.slice(0, 30)) {
      const [out = new Uint32Array()] = simulator
        .run({
          emitted: result,
          local: [32, 1, 1],
          groups: [1, 1, 1],
          groupIds: [false, false, false],
          push: [...words(a), ...words(b)],
          buffers: [new Uint32Array(4), new Uint32Array(64 * names.length)],
        })
        .slice(1);
      expect(
        names.map((_, k) => out[k * 64]),
        `${a} ${b}`,
      ).toEqual(expected(a, b));
    }
  });

  it("leaves comparisons alone that nothing counts with, or whose sum stands in another block", () => {
    const body = (end: string): string => `shader compute "main" wave32 local=64,1,1 {
b0:
${constants}
  %o:32 = ishl %l, %two div
  %x:32 = load_ssbo %o set=0 binding=0 base=0 div
  %c:1 = ult %x, %l div
${end}
`;
    const branch = body(`if %c div {
  b1:
    %d:32 = isub %x, %l div
    store_ssbo %d, %o set=0 binding=1 base=0
} else {
  b2:
}
b3:
  end
}`);
    expect(count(texts(emitted(backEnd.emit(branch)).code), /_co_/)).toBe(0);
  });
});
