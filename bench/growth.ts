/**
 * `npx tsx bench/growth.ts [--longest N] [--family NAME] [--level N]`: compile time of generated shaders against their
 * length. For each family and level CPU milliseconds of the core at 10^2 to 10^6 words, and how many times as long a
 * shader takes that is 100 times as long (100 is linear, 130 the bar that we hold ourselves to). As in a service that
 * runs: the longest is compiled first, so that each memory page has been touched and all code is optimised before the
 * first time is taken; a time is the least of three rounds through the lengths, of at least three compiles each, so that
 * what else the machine does for a second or two does not meet one length alone.
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

/** As many constructs as asked for, inside each other to `deepest` levels, one such nest behind the other. */
const nests = (deepest: number, count: number, open: (k: number) => string, close: (k: number) => string) =>
  lines(Math.ceil(count / deepest), (n) => {
    const depth = Math.min(deepest, count - n * deepest);
    const first = n * deepest;
    return `${lines(depth, (k) => open(first + k))}\n${lines(depth, (k) => close(first + depth - 1 - k))}`;
  });

/** SPIR-V's limit for control flow is 1,023. */
const deep = 1000;

/** Source with `count` repetitions. */
const families: Readonly<Record<string, (count: number) => string>> = {
  straight: (count) => wrap(lines(count, (k) => `  v = (v ^ w) * ${2 * k + 3}u + ${k}u; w += v >> ${k % 31}u;`)),
  nests: (count) =>
    wrap(
      nests(
        16,
        count,
        (k) => `  if (v > ${k}u) { v += w * ${(k % 16) + 3}u; x[v & 255u] = w;`,
        () => "}",
      ),
    ),
  loops: (count) => wrap(lines(count, (k) => `  for (uint j = 0u; j < (w & ${k + 1}u); j++) v = v * ${k + 3}u + j;`)),
  switch: (count) =>
    wrap(`  switch (v) {\n${lines(count, (k) => `  case ${k * 7}u: w += ${k}u * v; x[${k}] = w; break;`)}\n  }`),
  calls: (count) =>
    wrap(
      lines(count, (k) => `  v = f${k}(v, w);`),
      lines(count, (k) => `uint f${k}(uint a, uint b) { if (a > b) return a - ${k}u; return b * ${k + 3}u; }`),
    ),
  "deep ifs": (count) =>
    wrap(
      nests(
        deep,
        count,
        (k) => `  if (v > ${k}u) { uint a${k} = x[v]; v += a${k};`,
        (k) => `  w += a${k}; } else { v ^= ${k}u; }`,
      ),
    ),
  "deep loops": (count) =>
    wrap(
      nests(
        deep,
        count,
        (k) => `  for (uint j${k} = 0u; j${k} < v; j${k}++) { v += w; if (x[v] == ${k}u) break;`,
        (k) => `  if (x[v] == ${k}u) continue; w += j${k}; }`,
      ),
    ),
  "deep switches": (count) =>
    wrap(
      nests(
        deep,
        count,
        (k) => `  switch (v) { case ${k}u: v += x[v]; break; case ${k + 1}u: w ^= v; default:`,
        (k) => `  v += ${k}u; if (v == w) break; w++; }`,
      ),
    ),
  returns: (count) =>
    wrap(
      "  v = f(v, w);",
      `uint f(uint v, uint w) {\n${nests(
        deep,
        count,
        (k) => `  if (v > ${k}u) { v += w; if (v == ${k}u) return w;`,
        (k) => `  v += ${k}u; } else { w ^= ${k}u; }`,
      )}\n  return v; }`,
    ),
  "else-ifs": (count) => wrap(`${lines(count, (k) => `  if (v == ${k}u) w += x[v + ${k}u]; else`)}\n  w++;`),
  operators: (count) => wrap(`  v = w${lines(count, (k) => ` + x[i + ${k}u]`)};`),
  brackets: (count) =>
    wrap(
      lines(Math.ceil(count / 250), (n) => {
        const depth = Math.min(250, count - n * 250);
        return `  v = ${lines(depth, (k) => `(${k}u ^ w * `)}v${")".repeat(depth)};`;
      }),
    ),
  "call chains": (count) => {
    const chains = Math.ceil(count / deep);
    const at = (n: number, k: number) => `f${n * deep + k}`;
    const chain = (n: number) =>
      `uint ${at(n, 0)}(uint a, uint b) { return a ^ b; }\n${lines(
        Math.min(deep, count - n * deep) - 1,
        (k) =>
          `uint ${at(n, k + 1)}(uint a, uint b) { if (a == b) return ${k}u; return a + ${at(n, k)}(a * 3u, b + ${k}u); }`,
      )}`;
    const last = (n: number) => at(n, Math.min(deep, count - n * deep) - 1);
    return wrap(
      lines(chains, (n) => `  v = ${last(n)}(v, w);`),
      lines(chains, chain),
    );
  },
};

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const file = "growth.comp";
const core = await createCore();

/** The clock of CPU time steps in fractions of a millisecond: short compiles are timed so many at once. */
const batchMs = 4;

/** Least CPU milliseconds of a compile; the failure's message where it ends at a limit. */
function measure(words: Uint32Array, optimization: 0 | 1 | 2, least: number): number | string {
  let best = Number.POSITIVE_INFINITY;
  let batch = 1;
  let runs = 0;
  const until = cpuMs() + least;
  do {
    const start = cpuMs();
    for (let k = 0; k < batch; k++) {
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
      if (!result.ok) return `${result.failures[0]?.code} ${result.failures[0]?.message}`;
    }
    const took = cpuMs() - start;
    if (took < batchMs) {
      batch *= 2;
      continue;
    }
    best = Math.min(best, took / batch);
    runs++;
  } while (runs < 3 || cpuMs() < until);
  return best;
}

const bar = 130;
const rounds = 3;
const longest = Number(argument("--longest") ?? 1_000_000);
const wanted = argument("--family");
const level = argument("--level");

interface Point {
  readonly words: number;
  readonly ms: number | string;
}

/** How many times as long b takes as a, had it 100 times the words of a; undefined where one of them is refused. */
const growthOf = (a: Point, b: Point): number | undefined =>
  typeof a.ms === "number" && typeof b.ms === "number" ? (b.ms / a.ms) * (100 / (b.words / a.words)) : undefined;

let worst = 0;
for (const [name, source] of Object.entries(families)) {
  if (wanted !== undefined && wanted !== name) continue;
  // Words a repetition, from two short ones.
  const each = (wordsOf(source(40), file).length - wordsOf(source(20), file).length) / 20;
  const modules: Uint32Array[] = [];
  for (let words = 100; words <= longest; words *= 10) {
    modules.push(wordsOf(source(Math.max(2, Math.round(words / each))), file));
  }
  for (const optimization of [0, 1, 2] as const) {
    if (level !== undefined && Number(level) !== optimization) continue;
    measure(modules.at(-1) as Uint32Array, optimization, 0);
    const points: Point[] = modules.map((words) => ({ words: words.length, ms: Number.POSITIVE_INFINITY }));
    for (let round = 0; round < rounds; round++) {
      for (const [k, words] of modules.entries()) {
        const ms = measure(words, optimization, 120);
        const { ms: least } = points[k] as Point;
        points[k] = { words: words.length, ms: typeof ms === "number" ? Math.min(ms, Number(least)) : ms };
      }
    }
    const ratios = points.slice(2).map((point, k) => growthOf(points[k] as Point, point));
    worst = Math.max(worst, ...ratios.filter((ratio) => ratio !== undefined));
    const times = points
      .map(({ words, ms }) => `${words} ${typeof ms === "number" ? `${ms.toFixed(ms < 10 ? 2 : 0)} ms` : ms}`)
      .join("  ");
    console.log(
      `${name.padEnd(13)} level ${optimization}  ${ratios.map((x) => (x === undefined ? "-" : `x${x.toFixed(0)}`)).join(" ")}   ${times}`,
    );
  }
}
console.log(`worst x${worst.toFixed(0)}, bar x${bar}${worst <= bar ? "" : ": missed"}`);
