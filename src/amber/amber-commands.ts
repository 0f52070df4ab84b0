import type { AmberContext } from "./amber-context.ts";
import type { Command, Comparator, ScriptBuffer, ScriptPipeline, Tolerance } from "./script.ts";
import { ScriptError } from "./source.ts";
import { type Literal, parseLiteral } from "./values.ts";

const topologies = /^(POINT_LIST|(LINE|TRIANGLE)_(LIST|STRIP)(_WITH_ADJACENCY)?|TRIANGLE_FAN|PATCH_LIST)$/;
const maxCount = 0xffff_ffff;

/** One command; `keyword` is read already. */
export function readCommand(context: AmberContext, keyword: string): Command {
  switch (keyword) {
    case "RUN":
      return readRun(context);
    case "EXPECT":
      return readExpect(context);
    case "COPY":
      return readCopy(context);
    case "REPEAT":
      return readRepeat(context);
    case "CLEAR":
    case "CLEAR_COLOR":
    case "CLEAR_DEPTH":
    case "CLEAR_STENCIL":
      return readClear(context, keyword);
    default:
      throw new ScriptError(context.reader.line, `there is no command ${keyword}`);
  }
}

const repeatable = ["RUN", "EXPECT", "COPY", "CLEAR", "CLEAR_COLOR", "CLEAR_DEPTH", "CLEAR_STENCIL"];

function readRepeat(context: AmberContext): Command {
  const { reader } = context;
  const line = reader.line;
  const count = reader.integer("count", 1);
  reader.endStatement("REPEAT");
  const body: Command[] = [];
  for (;;) {
    if (!reader.nextStatement()) throw new ScriptError(line, "REPEAT has no END");
    const keyword = reader.word("command");
    if (keyword === "END") return { does: "repeat", line, count, body };
    if (!repeatable.includes(keyword)) throw new ScriptError(reader.line, `${keyword} inside REPEAT`);
    body.push(readCommand(context, keyword));
    reader.endStatement(keyword);
  }
}

function readRun(context: AmberContext): Command {
  const { reader, pipelines } = context;
  const line = reader.line;
  reader.accept("TIMED_EXECUTION");
  const pipeline = pipelines.get(reader.word("pipeline name"), line);
  if (pipeline.kind === "compute") {
    const groups = [count(context, "x"), count(context, "y"), count(context, "z")] as const;
    return { does: "dispatch", line, pipeline, groups };
  }
  if (pipeline.kind === "ray_tracing") {
    reader.rest();
    return { does: "graphics", line };
  }
  readDraw(context, pipeline);
  return { does: "graphics", line };
}

function count({ reader }: AmberContext, what: string): number {
  const value = reader.integer(`number of workgroups in ${what}`);
  if (value > maxCount) throw new ScriptError(reader.line, `${value} workgroups`);
  return value;
}

function readDraw({ reader }: AmberContext, pipeline: ScriptPipeline): void {
  const line = reader.line;
  const how = reader.oneOf("way to draw", ["DRAW_RECT", "DRAW_GRID", "DRAW_ARRAY"]);
  const buffers = new Set(pipeline.vertexData.map((row) => row.buffer));
  if (how === "DRAW_ARRAY") {
    if (buffers.size === 0) throw new ScriptError(line, `pipeline ${pipeline.name} has no vertex data`);
    reader.expect("AS");
    const topology = reader.word("topology");
    if (!topologies.test(topology)) throw new ScriptError(reader.line, `there is no topology ${topology}`);
    if (reader.accept("INDEXED") && pipeline.indexData === undefined) {
      throw new ScriptError(line, `pipeline ${pipeline.name} has no index data`);
    }
    while (reader.peek() !== undefined) {
      reader.oneOf("field of DRAW_ARRAY", ["START_IDX", "COUNT", "START_INSTANCE", "INSTANCE_COUNT"]);
      reader.integer("number");
    }
    return;
  }
  if (buffers.size > 1) throw new ScriptError(line, `${how} with more than one vertex buffer`);
  reader.expect("POS");
  reader.integer("x");
  reader.integer("y");
  reader.expect("SIZE");
  reader.integer("width", 1);
  reader.integer("height", 1);
  if (how === "DRAW_GRID") {
    reader.expect("CELLS");
    reader.integer("columns", 1);
    reader.integer("rows", 1);
  }
}

function readClear({ reader, pipelines }: AmberContext, keyword: string): Command {
  const line = reader.line;
  const pipeline = pipelines.get(reader.word("pipeline name"), line);
  if (pipeline.kind !== "graphics") throw new ScriptError(line, `${keyword} on a ${pipeline.kind} pipeline`);
  if (keyword === "CLEAR_COLOR") {
    for (const channel of ["red", "green", "blue", "alpha"]) byte(reader.integer(channel), line);
  } else if (keyword === "CLEAR_DEPTH") reader.number("depth");
  else if (keyword === "CLEAR_STENCIL") byte(reader.integer("stencil"), line);
  return { does: "graphics", line };
}

function byte(value: number, line: number): number {
  if (value > 255) throw new ScriptError(line, `${value} is over 255`);
  return value;
}

function sameType(a: ScriptBuffer, b: ScriptBuffer): boolean {
  return JSON.stringify([a.type, a.layout]) === JSON.stringify([b.type, b.layout]);
}

function readCopy({ reader, buffers }: AmberContext): Command {
  const line = reader.line;
  const from = buffers.get(reader.word("buffer name"), line);
  reader.expect("TO");
  const to = buffers.get(reader.word("buffer name"), line);
  if (from === to) throw new ScriptError(line, "COPY of a buffer to itself");
  if (!sameType(from, to)) throw new ScriptError(line, `buffers ${from.name} and ${to.name} have different types`);
  return { does: "copy", line, from, to };
}

function readTolerances({ reader }: AmberContext): Tolerance[] {
  const tolerances: Tolerance[] = [];
  while (/^[\d.]/.test(reader.peek() ?? "")) {
    const text = reader.word("tolerance");
    const value = Number(text.replace(/%$/, ""));
    if (Number.isNaN(value)) throw new ScriptError(reader.line, `${text} is no tolerance`);
    tolerances.push({ value, percent: text.endsWith("%") });
    if (reader.accept("%")) tolerances[tolerances.length - 1] = { value, percent: true };
  }
  if (tolerances.length === 0 || tolerances.length > 4) {
    throw new ScriptError(reader.line, `${tolerances.length} tolerances, of 1 to 4`);
  }
  return tolerances;
}

const comparators = ["EQ", "NE", "LT", "LE", "GT", "GE", "EQ_RGB", "EQ_RGBA"] as const;
const bufferComparators = ["EQ_BUFFER", "RMSE_BUFFER", "EQ_HISTOGRAM_EMD_BUFFER"] as const;

function readExpect(context: AmberContext): Command {
  const { reader, buffers } = context;
  const line = reader.line;
  const buffer = buffers.get(reader.word("buffer name"), line);
  if (!reader.accept("IDX")) {
    const how = reader.oneOf("comparator", bufferComparators);
    const other = buffers.get(reader.word("buffer name"), line);
    if (buffer === other) throw new ScriptError(line, "EXPECT of a buffer against itself");
    if (!sameType(buffer, other)) {
      throw new ScriptError(line, `buffers ${buffer.name} and ${other.name} have different types`);
    }
    let tolerance = 0;
    if (how !== "EQ_BUFFER") {
      reader.expect("TOLERANCE");
      tolerance = reader.number("tolerance");
    }
    return { does: "expect-buffer", line, how, buffer, other, tolerance };
  }
  const x = reader.integer("index");
  const y = /^\d+$/.test(reader.peek() ?? "") ? reader.integer("y") : undefined;
  const size = reader.accept("SIZE") ? ([reader.integer("width", 1), reader.integer("height", 1)] as const) : undefined;
  let tolerances = reader.accept("TOLERANCE") ? readTolerances(context) : [];
  const comparator = reader.oneOf("comparator", comparators);
  const literals: Literal[] = [];
  while (reader.peek() !== undefined && reader.peek() !== "TOLERANCE") {
    literals.push(parseLiteral({ text: reader.word("value"), line: reader.line, quoted: false }));
  }
  if (comparator === "EQ_RGB" || comparator === "EQ_RGBA") {
    // a color has its tolerance behind it
    if (tolerances.length === 0 && reader.accept("TOLERANCE")) tolerances = readTolerances(context);
    const color = literals.map((literal) => byte(Number(literal.integer ?? Number.NaN), line));
    const channels = comparator.length - 3;
    if (color.length !== channels || color.some(Number.isNaN))
      throw new ScriptError(line, `${comparator} wants ${channels} bytes`);
    const [width, height] = size ?? [1, 1];
    return { does: "expect-pixels", line, buffer, rect: [x, y ?? 0, width, height], color, tolerances };
  }
  if (size !== undefined || y !== undefined) throw new ScriptError(line, `${comparator} of a rectangle`);
  return expectValues(buffer, line, { offsetBytes: x, comparator, literals, tolerances });
}

interface Expected {
  readonly offsetBytes: number;
  readonly comparator: Comparator;
  readonly literals: readonly Literal[];
  readonly tolerances: readonly Tolerance[];
}

function expectValues(buffer: ScriptBuffer, line: number, expected: Expected): Command {
  const { comparator, literals, tolerances } = expected;
  if (literals.length === 0) throw new ScriptError(line, "EXPECT without values");
  if (tolerances.length > 0 && comparator !== "EQ") throw new ScriptError(line, `TOLERANCE with ${comparator}`);
  return { does: "expect-values", line, buffer, layout: buffer.layout, ...expected };
}
