import { beforeAll, describe, expect, it } from "vitest";
import { type CoreRequest, type CoreTools, createCore } from "../../src/core/index.ts";
import { tooLarge } from "./limit-modules.ts";
import { glslToWords } from "./spirv-source.ts";

const shader = (body: string, before = ""): string => `#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer B { uint a[]; };
${before}
void main() { uint i = gl_LocalInvocationIndex; uint x = a[i];
${body}
a[i] = x; }
`;
const small = glslToWords(shader("x = x * 3u + i;"));
/** Some 4,000 loops, each with a load, a product and a branch. */
const long = glslToWords(shader("for (uint k = 0u; k < a[i + 7u]; k++) x = x * 3u + a[x];\n".repeat(4000)));
/** The small module with more ids than the core has rows for, in its header. */
const manyIds = small.slice();
manyIds[3] = 0x0400_0000;
/** The header, and no-ops (`OpNop`) to one word more than the core takes. */
const manyWords = new Uint32Array((4 << 20) + 1).fill(0x0001_0000);
manyWords.set(small.subarray(0, 5));
describe("the core's own limits", () => {
  let core: CoreTools;
  let alone: Uint32Array;
  const request = (words: Uint32Array, optimization: 0 | 1 | 2, timeMs = 20_000): CoreRequest => ({
    words,
    stage: "compute",
    entryPoint: "main",
    specialization: [],
    bindings: [{ set: 0, binding: 0, offsetBytes: 0, strideBytes: 16, count: 1 }],
    optimization,
    contraction: true,
    robust: true,
    limits: { timeMs },
  });
  const code = (words: Uint32Array): Uint32Array => {
    const result = core.compile(request(words, 2));
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    return result.output.code;
  };
  beforeAll(async () => {
    core = await createCore();
    alone = code(small);
  });

  it.each([0, 1, 2] as const)("time: at level %i a compile ends when its fuel is used up", (level) => {
    const began = process.cpuUsage();
    const result = core.compile(request(long, level, 1));
    const { user, system } = process.cpuUsage(began);
    expect(result).toMatchObject({ ok: false, failures: [{ code: "CORE_LIMIT_TIME" }] });
    // A million units, of some 100 ns each at most: nothing goes on behind the limit.
    expect((user + system) / 1000).toBeLessThan(1000);
    expect(code(small)).toEqual(alone);
  });

  it("time: the same module compiles when it may", () => {
    expect(core.compile(request(long, 0)).ok).toBe(true);
  });

  it.each([
    ["ids", manyIds, /ids, members or levels of types/],
    ["words", manyWords, /words/],
  ] as const)("memory: too many %s are a limit, and leave no trace", (_, words, text) => {
    const result = core.compile(request(words, 2));
    expect(result).toMatchObject({
      ok: false,
      failures: [{ code: "CORE_LIMIT", message: expect.stringMatching(text) }],
    });
    expect(code(small)).toEqual(alone);
  });

  it("memory: more bindings than there is room for", () => {
    const [binding] = request(small, 2).bindings;
    const bindings = Array.from({ length: 8193 }, (_, k) => ({ ...binding!, binding: k }));
    expect(core.compile({ ...request(small, 2), bindings })).toMatchObject({
      ok: false,
      failures: [{ code: "CORE_LIMIT", message: expect.stringMatching(/8192 .*bindings/) }],
    });
    expect(core.compile({ ...request(small, 2), bindings: bindings.slice(0, 8192) }).ok).toBe(true);
  });

  for (const { name, words, text, near } of tooLarge) {
    it(`memory: ${name}: a limit, which leaves no trace`, () => {
      const large = words();
      for (const optimization of near === undefined ? ([0] as const) : ([0, 2] as const)) {
        expect(core.compile(request(large, optimization))).toMatchObject({
          ok: false,
          failures: [{ code: "CORE_LIMIT", message: expect.stringMatching(text) }],
        });
        expect(code(small)).toEqual(alone);
      }
      if (near !== undefined) expect(core.compile(request(near(), 0)).ok).toBe(true);
    });
  }
});
