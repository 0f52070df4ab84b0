import { beforeAll, describe, expect, it } from "vitest";
import { type CoreResult, type CoreTools, createCore } from "../../src/core/index.ts";
import { Simulator } from "../backend/simulate.ts";
import { glslToWords } from "./spirv-source.ts";

const head = `#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer B { uint x[]; };
`;
const lines = (count: number, line: (k: number) => string) =>
  Array.from({ length: count }, (_, k) => line(k)).join("\n");
const u32 = (value: number) => value >>> 0;

/** Variables whose stores and loads lie many constructs apart. */
describe("long shaders", () => {
  let core: CoreTools;
  const input = Uint32Array.from({ length: 32 }, (_, i) => i * 37);
  beforeAll(async () => {
    core = await createCore();
  });

  const compile = (source: string, optimization: 0 | 2): CoreResult =>
    core.compile({
      words: glslToWords(source),
      stage: "compute",
      entryPoint: "main",
      specialization: [],
      bindings: [{ set: 0, binding: 0, offsetBytes: 0, strideBytes: 16, count: 1 }],
      optimization,
      contraction: true,
      robust: true,
    });

  function run(source: string, optimization: 0 | 2): number[] {
    const result = compile(source, optimization);
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    const { output } = result;
    const [results = new Uint32Array()] = new Simulator().run({
      emitted: { ...output, userSgprs: 3, pushPointer: false, pushInlined: 0 } as never,
      local: [32, 1, 1],
      groups: [1, 1, 1],
      groupIds: [...output.usesWorkgroupId],
      ldsBytes: output.ldsBytes,
      push: [],
      buffers: [input],
    });
    return [...results];
  }

  it("a chain of 1,000 functions, each with locals that it reads behind its call", () => {
    const depth = 1000;
    const source = `${head}
uint f0(uint a) { return a * 3u; }
${lines(depth, (n) => {
  const k = n + 1;
  return `uint f${k}(uint a) { uint s = a * 3u, t = a * 5u, p = a * 7u; uint r = f${k - 1}(a + s); if (r > ${k}u) r += s ^ t ^ p; return r; }`;
})}
void main() { x[gl_LocalInvocationIndex] = f${depth}(x[gl_LocalInvocationIndex]); }`;
    const wanted = (from: number): number => {
      const args = [from];
      for (let k = depth; k > 0; k--) args.push(u32((args.at(-1) as number) * 4));
      let r = u32(Math.imul(args.pop() as number, 3));
      for (let k = 1; k <= depth; k++) {
        const a = args.pop() as number;
        if (r > k) r = u32(r + (Math.imul(a, 3) ^ Math.imul(a, 5) ^ Math.imul(a, 7)));
      }
      return r;
    };
    expect(run(source, 2)).toEqual([...input].map(wanted));
  });

  it.each([0, 2] as const)("values pass by hundreds of ifs and loops that do not store them, level %i", (level) => {
    const count = 130;
    const source = `${head}
void main() {
  uint i = gl_LocalInvocationIndex;
  uint v = x[i], far = v * 7u, rare = v + 1u, deep = v ^ 5u;
${lines(count, (k) => {
  const store = k % 50 === 20 ? `rare += v;` : k % 50 === 40 ? `if (v > 300u) { deep = rare; }` : "";
  return k % 9 === 4
    ? `  for (uint j = v & 3u; j < ${(k % 5) + 2}u; j++) { v = v * 5u + far; if (v > rare) continue; ${store} if (v == ${k}u) break; v++; }`
    : `  if (v > ${k * 11}u) { v ^= ${k}u; ${store} } else { v += 3u; }`;
})}
  x[i] = v ^ far * 3u ^ rare * 5u ^ deep * 9u;
}`;
    const wanted = (from: number): number => {
      let v = from;
      const far = u32(Math.imul(v, 7));
      let rare = u32(v + 1);
      let deep = u32(v ^ 5);
      for (let k = 0; k < count; k++) {
        const store = () => {
          if (k % 50 === 20) rare = u32(rare + v);
          else if (k % 50 === 40 && v > 300) deep = rare;
        };
        if (k % 9 === 4) {
          for (let j = v & 3; j < (k % 5) + 2; j++) {
            v = u32(Math.imul(v, 5) + far);
            if (v > rare) continue;
            store();
            if (v === k) break;
            v = u32(v + 1);
          }
        } else if (v > k * 11) {
          v = u32(v ^ k);
          store();
        } else {
          v = u32(v + 3);
        }
      }
      return u32(v ^ Math.imul(far, 3) ^ Math.imul(rare, 5) ^ Math.imul(deep, 9));
    };
    expect(run(source, level)).toEqual([...input].map(wanted));
  });

  it("4,200 calls in each other are a limit", () => {
    const source = `${head}
uint f0(uint a) { return a * 3u; }
${lines(4200, (n) => `uint f${n + 1}(uint a) { return f${n}(a + 1u); }`)}
void main() { x[0] = f4200(x[1]); }`;
    const result = compile(source, 0);
    expect(result.ok ? "code" : result.failures[0]?.message).toMatch(/4096 nested constructs or calls/);
  });
});
