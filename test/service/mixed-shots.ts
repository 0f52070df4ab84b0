/** One request, and the statuses that a right answer to it may have. */
export interface Shot {
  readonly path?: string;
  readonly method?: string;
  readonly type?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly allowed: readonly number[];
}

const json = "application/json";
const head = "#version 450\nlayout(local_size_x = 64) in;\nlayout(std430, binding = 0) buffer B { float x[]; };\n";
const body = (fields: object) => JSON.stringify({ stage: "compute", ...fields });
const main = (text: string) => `${head}void main() {\n  uint i = gl_GlobalInvocationID.x;\n${text}\n}\n`;

/** A shader of one to some tens of statements; `variant` decides which. A full queue is a right answer, too. */
export function goodShader(variant: number): Shot {
  const lines = Array.from(
    { length: 1 + (variant % 40) },
    (_, i) => `  x[i + ${i}u] += sqrt(x[i]) * ${variant + i}.5;`,
  );
  const emit = variant % 7 === 0 ? ["asm", "stats"] : ["code", "stats", "reflection"];
  return { type: json, body: body({ source: main(lines.join("\n")), emit }), allowed: [200, 503] };
}

const noise = (random: () => number, length: number) => Uint8Array.from({ length }, () => Math.floor(random() * 256));
const bad = [400, 413, 415, 422, 503];

/** What no client should send. */
export const malformed: readonly ((random: () => number) => Shot)[] = [
  () => ({ type: json, body: "", allowed: [400] }),
  () => ({ type: json, body: '{"source": "void main() {}", "stage": ', allowed: [400] }),
  () => ({ type: json, body: "[".repeat(20_000), allowed: [400] }),
  () => ({ type: json, body: body({ source: 7 }), allowed: [400] }),
  () => ({ type: json, body: body({ source: "x", spirv: "AAAA" }), allowed: [400] }),
  () => ({ type: json, body: body({ source: "x", surprise: true }), allowed: [400] }),
  () => ({ type: json, body: JSON.stringify({ spirv: "!!!!" }), allowed: [400] }),
  () => ({ type: json, body: body({ source: main("  x[i] = ;") }), allowed: [422, 503] }),
  () => ({ type: json, body: body({ source: `${head}#include "nowhere.h"\nvoid main() {}` }), allowed: [422, 503] }),
  () => ({ type: json, body: body({ source: " ".repeat(1 << 20) }), allowed: bad }),
  () => ({ type: json, body: body({ source: "x", defines: manyNames(20_000) }), allowed: bad }),
  () => ({ type: json, body: `{"a":[${"1,".repeat(500_000)}1]}`, allowed: [400] }),
  (random) => ({ type: "application/x-spirv", body: noise(random, 4096), allowed: [422, 503] }),
  (random) => ({ type: "text/x-glsl", path: "/compile?stage=compute", body: noise(random, 4096), allowed: bad }),
  () => ({ type: "text/x-glsl", path: "/compile?stage=compute", body: "a".repeat(9 << 20), allowed: [413] }),
  () => ({ type: "text/csv", body: "a,b", allowed: [415] }),
  () => ({ method: "DELETE", path: "/compile", allowed: [405] }),
  () => ({ method: "GET", path: "/artifacts/nothing", allowed: [404] }),
];

const manyNames = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`N${i}`, String(i)]));

/** Refused, stopped at a limit, or, where the compiler copes, compiled. */
const bombed = [200, 413, 422, 503, 504];
const nested = (depth: number) => {
  const opens = Array.from({ length: depth }, (_, i) => `for (int v${i} = 0; v${i} < 8; v${i}++) {`).join("\n");
  return `${opens} x[i] += 1.0; ${"}".repeat(depth)}`;
};

/** Small inputs that ask for very much. */
export const bombs: readonly (() => Shot)[] = [
  // Macros that double what they hold.
  () => {
    const lines = Array.from({ length: 40 }, (_, i) => `#define M${i + 1} M${i} M${i}`);
    return {
      type: json,
      body: body({ source: `#version 450\n#define M0 a\n${lines.join("\n")}\nM40` }),
      allowed: bombed,
    };
  },
  () => ({ type: json, body: body({ source: main(`  x[i] = ${"(".repeat(50_000)}1.0;`) }), allowed: bombed }),
  () => ({ type: json, body: body({ source: main(nested(60)) }), allowed: bombed }),
  () => ({
    type: json,
    body: body({ source: main("  for (int k = 0; k < 100000; k++) x[k] += x[i];") }),
    allowed: bombed,
  }),
  () => ({ type: json, body: body({ source: main(`  x[i] = ${"x[i] + ".repeat(60_000)}1.0;`) }), allowed: bombed }),
  () => ({
    type: json,
    body: body({ source: `${head}float big[100000000];\nvoid main() { big[5] = 1.0; x[0] = big[6]; }` }),
    allowed: bombed,
  }),
  () => ({
    type: json,
    body: body({
      source: main('  x[i] = 1.0;\n#include "a.h"'),
      includes: { "a.h": '#include "b.h"\n#include "b.h"', "b.h": '#include "a.h"\n#include "a.h"' },
    }),
    allowed: bombed,
  }),
];
