import { beforeAll, describe, expect, it } from "vitest";
import { parseIr } from "../../src/ir/index.ts";
import { runDispatch } from "../ir/interpreter/dispatch.ts";
import { generateProgram, random } from "./generate.ts";
import { type BackEnd, type EmitOptions, type Emitted, emitted, loadBackEnd } from "./module.ts";
import { Simulator } from "./simulate.ts";

let backEnd: BackEnd;
beforeAll(() => {
  backEnd = loadBackEnd();
});

/** Runs programs of these seeds on the simulated GPU and in the interpreter, which must agree; code for each. */
function compare(seeds: readonly number[], options: EmitOptions): Emitted[] {
  const simulator = new Simulator();
  return seeds.map((seed) => {
    const { text } = generateProgram(seed, 20 + (seed % 5) * 20);
    const code = emitted(backEnd.emit(text, options));
    const next = random(seed ^ 0x5555);
    const input = Uint32Array.from({ length: 128 }, () => Math.floor(next() < 0.4 ? next() * 8 : next() * 2 ** 32));
    const push = [Math.floor(next() * 10), Math.floor(next() * 2 ** 32)];
    const got = simulator.run({
      emitted: code,
      local: [64, 1, 1],
      groups: [2, 1, 1],
      groupIds: [true, false, false],
      push,
      ldsBytes: 2048,
      buffers: [input, new Uint32Array(128), new Uint32Array(1024)],
    });
    const want = new Uint32Array(128);
    const own = new Uint32Array(1024);
    const memory = [input, want, own].map(({ buffer }) => new Uint8Array(buffer));
    runDispatch(
      { ...parseIr(text), local: [64, 1, 1], ldsBytes: 2048 },
      {
        groups: [2, 1, 1],
        push: new Uint8Array(Uint32Array.from(push).buffer),
        buffer: (_, binding) => memory[binding],
      },
    );
    expect(got[1], `seed ${seed}`).toEqual(want);
    expect(got[2], `seed ${seed}, own memory`).toEqual(own);
    return code;
  });
}
const seeds = (n: number): number[] => Array.from({ length: n }, (_, k) => k + 1);

describe("random programs", () => {
  it("give on the simulated GPU what the interpreter gives", () => {
    compare(seeds(40), {});
  });

  it("do so too when nearly everything is spilled", () => {
    const codes = compare(seeds(30), { registers: [12, 14] });
    expect(codes.filter((c) => c.spilledVgprs > 0).length).toBeGreaterThan(10);
    expect(codes.filter((c) => c.spilledSgprs > 0).length).toBeGreaterThan(10);
  });

  it("compile to the same words twice, whatever was compiled between", () => {
    const first = generateProgram(7, 60).text;
    const words = emitted(backEnd.emit(first)).code;
    emitted(backEnd.emit(generateProgram(8, 200).text));
    expect(emitted(backEnd.emit(first)).code).toEqual(words);
  });
});
