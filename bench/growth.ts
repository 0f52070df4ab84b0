/**
 * `npx tsx bench/growth.ts [--words N] [--family NAME]`: compile time of generated shaders against their length. For each
 * family CPU milliseconds of the core at two lengths, 100 times apart; the last column says how many times as long the
 * longer one takes (100 is linear, 130 the limit that we hold ourselves to).
 */
import { createCore } from "../src/core/index.ts";
import { wordsOf } from "./words.ts";

const argument = (name: string): string | undefined => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
};

const wrap = (body: string, functions = "") => `#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer B { uint x[]; };
${functions}
void main() {
  uint i = gl_GlobalInvocationID.x;
  uint v = x[i];
  uint w = i;
${body}
  x[i] = v + w;
}`;

const lines = (count: number, line: (k: number) => string) =>
  Array.from({ length: count }, (_, k) => line(k)).join("\n");

/** Nests are no deeper: the front end allows 256. */
const deepest = 16;

/** Source with `count` repetitions. */
const families: Readonly<Record<string, (count: number) => string>> = {
  straight: (count) => wrap(lines(count, (k) => `  v = (v ^ w) * ${2 * k + 3}u + ${k}u; w += v >> ${k % 31}u;`)),
  nests: (count) =>
    wrap(
      lines(Math.ceil(count / deepest), (n) => {
        const depth = Math.min(deepest, count - n * deepest);
        const open = lines(depth, (k) => `  if (v > ${n * deepest + k}u) { v += w * ${k + 3}u; x[v & 255u] = w;`);
        return `${open}\n${"}".repeat(depth)}`;
      }),
    ),
  loops: (count) => wrap(lines(count, (k) => `  for (uint j = 0u; j < (w & ${k + 1}u); j++) v = v * ${k + 3}u + j;`)),
  switch: (count) =>
    wrap(`  switch (v) {\n${lines(count, (k) => `  case ${k * 7}u: w += ${k}u * v; x[${k}] = w; break;`)}\n  }`),
  calls: (count) =>
    wrap(
      lines(count, (k) => `  v = f${k}(v, w);`),
      lines(count, (k) => `uint f${k}(uint a, uint b) { if (a > b) return a - ${k}u; return b * ${k + 3}u; }`),
    ),
};

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const file = "growth.comp";
const core = await createCore();

/** Least CPU milliseconds of a compile; NaN and a message when it fails. */
function measure(words: Uint32Array, optimization: 0 | 1 | 2, least: number): number {
  let best = Number.POSITIVE_INFINITY;
  const until = cpuMs() + least;
  do {
    const start = cpuMs();
    const result = core.compile({
      words,
      stage: "compute",
      entryPoint: "main",
      specialization: [],
      bindings: [{ set: 0, binding: 0, offsetBytes: 0, strideBytes: 16, count: 1 }],
      optimization,
      contraction: true,
      robust: true,
      limits: { timeMs: 120_000 },
    });
    if (!result.ok) {
      console.log(`  ${words.length} words: ${result.failures[0]?.code} ${result.failures[0]?.message}`);
      return Number.NaN;
    }
    best = Math.min(best, cpuMs() - start);
  } while (cpuMs() < until);
  return best;
}

const longest = Number(argument("--words") ?? 100_000);
const wanted = argument("--family");
for (const [name, source] of Object.entries(families)) {
  if (wanted !== undefined && wanted !== name) continue;
  // Words a repetition, from two short ones.
  const each = (wordsOf(source(40), file).length - wordsOf(source(20), file).length) / 20;
  const [short, long] = [longest / 100, longest].map((words) =>
    wordsOf(source(Math.max(2, Math.round(words / each))), file),
  );
  for (const level of [0, 1, 2] as const) {
    const a = measure(short as Uint32Array, level, 300);
    const b = measure(long as Uint32Array, level, 500);
    const ratio = (b / a) * (100 / ((long as Uint32Array).length / (short as Uint32Array).length));
    console.log(
      `${name.padEnd(9)} level ${level}  ${short?.length} words ${a.toFixed(2)} ms  ${long?.length} words ${b.toFixed(1)} ms  x${ratio.toFixed(0)}`,
    );
  }
}
