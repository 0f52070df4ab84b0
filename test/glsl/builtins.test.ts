import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CompileRequest, defaultRequest } from "../../src/codeobj/index.ts";
import { builtinFunctionNames, builtinOverloads, type Overload } from "../../src/glsl/builtins/index.ts";
import { type ScalarKind, type Type, typeName } from "../../src/glsl/types/index.ts";
import { createLocalCompiler, createMachine, type LocalCompiler, type Machine } from "../../src/service/index.ts";
import { runKernel } from "../e2e/run-kernel.ts";
import { bitsToDouble, bitsToFloat, floatBits, modelOf, type Value } from "./builtin-models.ts";

const floats = [
  [0.5, -1.25, 2.75, -3.5],
  [1.5, 0.25, -2, 4],
  [0.75, 2, 1.25, -0.5],
];
const integers = [
  [5n, -7n, 12n, -100n],
  [3n, 9n, -4n, 6n],
  [20n, 1n, 2n, 30n],
];
const bools = [
  [true, false, false, true],
  [true, true, false, false],
  [false, true, false, true],
];

/** Arguments of functions that do not take the usual ones; one list for each parameter, `undefined` for the usual. */
const special: Readonly<Record<string, readonly (readonly Value[] | undefined)[]>> = {
  sqrt: [[0.5, 4, 2.25, 9]],
  inversesqrt: [[0.5, 4, 2.25, 9]],
  log: [[0.5, 4, 2.25, 9]],
  log2: [[0.5, 4, 2.25, 9]],
  pow: [
    [0.5, 4, 2.25, 9],
    [2, 0.5, -1, 1.5],
  ],
  asin: [[0.5, -0.25, 0.75, -0.125]],
  acos: [[0.5, -0.25, 0.75, -0.125]],
  atanh: [[0.5, -0.25, 0.75, -0.125]],
  acosh: [[1.5, 2, 4, 1.25]],
  round: [[0.375, -1.25, 2.75, -3.625]],
  isnan: [[Number.NaN, 1, Number.POSITIVE_INFINITY, 0]],
  isinf: [[Number.NEGATIVE_INFINITY, 1, Number.NaN, Number.POSITIVE_INFINITY]],
  smoothstep: [
    [-1, 0, 0.5, 1],
    [2, 1, 4, 3],
    [0.5, 0.25, 1, 2.5],
  ],
  refract: [[0.6, -0.8, 0, 0], [0, 1, 0, 0], [0.5]],
  ldexp: [undefined, [3n, -2n, 1n, 4n]],
  bitfieldExtract: [undefined, [3n], [5n]],
  bitfieldInsert: [undefined, undefined, [3n], [5n]],
  intBitsToFloat: [[0x3f800000n, -0x40000000n, 0x40490fdbn, 1n << 30n]],
  uintBitsToFloat: [[0x3f800000n, 0xc0000000n, 0x40490fdbn, 1n << 30n]],
  int64BitsToDouble: [[0x3ff8000000000001n, -0x4000000000000000n, 0x4000000000000000n, 0x4010000000000000n]],
  uint64BitsToDouble: [[0x3ff8000000000001n, 0xc000000000000000n, 0x4000000000000000n, 0x4010000000000000n]],
  int16BitsToFloat16: [[0x3c00n, -0x4000n, 0x3555n, 0x4200n]],
  uint16BitsToFloat16: [[0x3c00n, 0xc000n, 0x3555n, 0x4200n]],
  int16BitsToHalf: [[0x3c00n, -0x4000n, 0x3555n, 0x4200n]],
  uint16BitsToHalf: [[0x3c00n, 0xc000n, 0x3555n, 0x4200n]],
  packUnorm2x16: [[0.2, -0.3]],
  packSnorm2x16: [[0.2, -0.3]],
  packUnorm4x8: [[0.2, -0.3, 0.7, 1.5]],
  packSnorm4x8: [[0.2, -0.3, 0.7, 1.5]],
  unpackUnorm2x16: [[0x40c03c81n]],
  unpackSnorm2x16: [[0x40c0bc81n]],
  unpackUnorm4x8: [[0x40c03c81n]],
  unpackSnorm4x8: [[0x40c0bc81n]],
  unpackHalf2x16: [[0x4000bc00n]],
  packDouble2x32: [[0x80000001n, 0x3ff80000n]],
  uaddCarry: [
    [0xfffffff0n, 7n, 0xffffffffn, 1n],
    [0x20n, 8n, 1n, 2n],
  ],
  usubBorrow: [
    [3n, 8n, 0n, 9n],
    [7n, 2n, 1n, 9n],
  ],
  umulExtended: [
    [0xfffffff0n, 7n, 0x12345678n, 1n],
    [0x20n, 8n, 0x9abcdef0n, 2n],
  ],
  imulExtended: [
    [-0x7ffffff0n, 7n, 0x12345678n, -1n],
    [0x20n, -8n, 0x1abcdef0n, 2n],
  ],
  atomicCompSwap: [[5n], [5n], [11n]],
};

const clampLow: Readonly<Record<string, readonly Value[]>> = {
  float: [-1, -1.5, 0.25, -3],
  int: [2n, -4n, 3n, -50n],
  uint: [2n, 4n, 3n, 50n],
};
const clampHigh: Readonly<Record<string, readonly Value[]>> = {
  float: [1, 2, 2.5, -0.5],
  int: [10n, 3n, 9n, 50n],
  uint: [10n, 30n, 9n, 90n],
};

const isFloat = (kind: ScalarKind): boolean => kind === "float" || kind === "double" || kind === "float16";
const isSigned = (kind: ScalarKind): boolean => kind.startsWith("int");

function scalarOf(type: Type): ScalarKind | undefined {
  return type.kind === "scalar" || type.kind === "vector" || type.kind === "matrix" ? type.scalar : undefined;
}

function countOf(type: Type): number {
  if (type.kind === "matrix") return type.columns * type.rows;
  return type.kind === "vector" ? type.size : 1;
}

/** Inputs are 32-bit floats, whatever the shader makes of them. */
const rounded = (value: Value): Value => (typeof value === "number" ? Math.fround(value) : value);

/** The argument at a place: components by the function's and the type's wants. */
function argument(name: string, type: Type, at: number): readonly Value[] {
  const kind = scalarOf(type)!;
  if (type.kind === "matrix") {
    // far from singular: a large diagonal
    return Array.from({ length: countOf(type) }, (_, k) => {
      const [column, row] = [Math.floor(k / type.rows), k % type.rows];
      return column === row ? 3 + column + at : (((2 * column + row) % 3) - 1) * 0.5;
    });
  }
  const family = isFloat(kind) ? "float" : isSigned(kind) ? "int" : "uint";
  const given = name === "clamp" && at > 0 ? (at === 1 ? clampLow : clampHigh)[family] : special[name]?.[at];
  if (given !== undefined) return given.slice(0, countOf(type)).map(rounded);
  if (kind === "bool") return bools[at]!.slice(0, countOf(type));
  if (isFloat(kind)) return floats[at]!.slice(0, countOf(type));
  const values = integers[at]!.slice(0, countOf(type)).map((value) => (isSigned(kind) || value > 0n ? value : -value));
  return kind.endsWith("64") ? values.map((value) => value + (value << 34n)) : values;
}

/** One call: what the shader says, what it reads, and what it must write. */
interface Case {
  readonly title: string;
  readonly kind: ScalarKind | undefined;
  readonly lines: readonly string[];
  readonly wanted: readonly { readonly kind: ScalarKind; readonly value: Value }[];
}

/** Writes cases for one shader, with the words it reads. */
class Script {
  readonly words: number[] = [];
  readonly cases: Case[] = [];
  #out = 0;
  #cell = 0;

  get outputs(): number {
    return this.#out;
  }

  add(overload: Overload): void {
    const { name, parameters, returns } = overload;
    const scoped = overload.extensions.includes("GL_KHR_memory_scope_semantics");
    const own = scoped ? parameters.filter(({ mode }, at) => mode === "memory" || at < scopedCount(name)) : parameters;
    const lines: string[] = [];
    const written: { text: string; type: Type }[] = [];
    const inputs: (readonly Value[])[] = [];
    const args = own.map(({ type, mode }, at) => {
      if (mode === "out") {
        lines.push(`${typeName(type)} o${at};`);
        written.push({ text: `o${at}`, type });
        return `o${at}`;
      }
      const values = argument(name, type, at);
      inputs.push(values);
      const read = this.#read(type, values);
      if (mode !== "memory") return read;
      const cell = `${scalarOf(type)}Cells[${this.#cell++}]`;
      lines.push(`${cell} = ${read};`);
      written.push({ text: cell, type });
      return cell;
    });
    if (scoped) {
      const rest = parameters.length - own.length;
      args.push("gl_ScopeDevice", ...Array.from({ length: rest - 1 }, () => "0"));
    }
    const call = `${name}(${args.join(", ")})`;
    if (returns.kind === "void") lines.push(`${call};`);
    else {
      lines.push(`${typeName(returns)} r = ${call};`);
      written.unshift({ text: "r", type: returns });
    }
    const model = modelOf(name)!;
    const results = model(inputs, overload);
    const wanted: { kind: ScalarKind; value: Value }[] = [];
    for (const [at, { text, type }] of written.entries()) {
      const kind = scalarOf(type)!;
      for (let k = 0; k < countOf(type); k++) {
        lines.push(`put(${this.#out++}, ${component(text, type, k)});`);
        wanted.push({ kind, value: results[at]![k]! });
      }
    }
    const title = `${name}(${parameters.map(({ type }) => typeName(type)).join(", ")})`;
    this.cases.push({ title, kind: scalarOf(own[0]!.type), lines, wanted });
  }

  #read(type: Type, values: readonly Value[]): string {
    const kind = scalarOf(type)!;
    const parts = values.map((value) => {
      const at = this.words.length;
      const w = `w[${at}]`;
      if (isFloat(kind)) {
        this.words.push(Number(floatBits(value as number)));
        return kind === "float"
          ? `uintBitsToFloat(${w})`
          : `${kind === "double" ? "double" : "float16_t"}(uintBitsToFloat(${w}))`;
      }
      const bits = BigInt.asUintN(64, BigInt(value));
      this.words.push(Number(bits & 0xffffffffn));
      if (kind === "bool") return `(${w} != 0u)`;
      if (kind === "int") return `int(${w})`;
      if (kind === "uint") return w;
      if (!kind.endsWith("64")) return `${kind}_t(${w})`;
      this.words.push(Number(bits >> 32n));
      return `${kind}_t(packUint2x32(uvec2(${w}, w[${at + 1}])))`;
    });
    return type.kind === "scalar" ? parts[0]! : `${typeName(type)}(${parts.join(", ")})`;
  }

  source(): string {
    const body = this.cases.map(({ lines }) => `  {\n    ${lines.join("\n    ")}\n  }`).join("\n");
    return `#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 1) in;
layout(std430, binding = 0) readonly buffer In { uint w[]; };
layout(std430, binding = 1) buffer Out { uvec2 result[]; };
layout(std430, binding = 2) buffer Cells { int64_t int64Cells[64]; uint64_t uint64Cells[64]; int intCells[64]; uint uintCells[64]; };
void put(uint at, float x) { result[at] = uvec2(floatBitsToUint(x), 0u); }
void put(uint at, double x) { result[at] = unpackDouble2x32(x); }
void put(uint at, float16_t x) { result[at] = uvec2(floatBitsToUint(float(x)), 0u); }
void put(uint at, int64_t x) { result[at] = unpackUint2x32(uint64_t(x)); }
void put(uint at, uint64_t x) { result[at] = unpackUint2x32(x); }
void put(uint at, int x) { put(at, int64_t(x)); }
void put(uint at, uint x) { result[at] = uvec2(x, 0u); }
void put(uint at, bool x) { result[at] = uvec2(x ? 1u : 0u, 0u); }
void put(uint at, int8_t x) { put(at, int(x)); }
void put(uint at, uint8_t x) { put(at, uint(x)); }
void put(uint at, int16_t x) { put(at, int(x)); }
void put(uint at, uint16_t x) { put(at, uint(x)); }
void main() {
${body}
}
`;
  }
}

/** Parameters of an atomic function before its scope and orders. */
function scopedCount(name: string): number {
  return name === "atomicLoad" ? 1 : name === "atomicCompSwap" ? 3 : 2;
}

function component(text: string, type: Type, at: number): string {
  if (type.kind === "matrix") return `${text}[${Math.floor(at / type.rows)}][${at % type.rows}]`;
  return type.kind === "vector" ? `${text}[${at}]` : text;
}

function read(kind: ScalarKind, low: number, high: number): Value {
  const word = (BigInt(high) << 32n) | BigInt(low);
  if (kind === "double") return bitsToDouble(word);
  if (isFloat(kind)) return bitsToFloat(BigInt(low));
  if (kind === "bool") return word !== 0n;
  return isSigned(kind) ? BigInt.asIntN(64, word) : word;
}

/** How far a float may be off, of its size or of one: what Vulkan's precision table leaves, and a little arithmetic. */
const tolerance: Readonly<Record<string, number>> = { float: 1e-5, double: 1e-12, float16: 1e-2 };

function near(kind: ScalarKind, value: Value, wanted: Value): boolean {
  if (!isFloat(kind) || !Number.isFinite(wanted)) return Object.is(value, wanted);
  return Math.abs((value as number) - (wanted as number)) <= tolerance[kind]! * Math.max(1, Math.abs(wanted as number));
}

/** A compute shader can use it without images, and one invocation shows what it does. */
function executable({ stage, parameters, returns, extensions, name }: Overload): boolean {
  if (stage === "fragment" || extensions.includes("relaxed") || /^subgroup|nvocation/.test(name)) return false;
  if (
    [returns, ...parameters.map(({ type }) => type)].some(
      (type) => type.kind !== "void" && scalarOf(type) === undefined,
    )
  )
    return false;
  return returns.kind !== "void" || parameters.some(({ mode }) => mode !== "in");
}

const all = [...builtinFunctionNames()].flatMap((name) => builtinOverloads(name)).filter(executable);

/** Of each row of the table its smallest and its largest size. */
function ends(list: readonly Overload[]): Overload[] {
  const rows = new Map<string, Overload[]>();
  for (const overload of list) {
    const { name, returns, parameters, instruction } = overload;
    const types = [returns, ...parameters.map(({ type }) => type)].map((type) => scalarOf(type) ?? type.kind);
    const modes = parameters.map(({ mode }) => mode);
    const whole = parameters.some(({ type }) => type.kind === "matrix");
    const key = [name, instruction, ...types, ...modes, whole ? typeName(parameters[0]!.type) : ""].join();
    const row = rows.get(key) ?? [];
    rows.set(key, [...row.slice(0, 1), overload]);
  }
  return [...rows.values()].flat();
}

const overloads = ends(all);

function requestOf(script: Script, name: string): CompileRequest {
  return {
    ...defaultRequest,
    language: "glsl",
    stage: "compute",
    source: script.source(),
    filename: `${name}.comp`,
  };
}

describe("what each built-in function computes", () => {
  let machine: Machine;
  let compiler: LocalCompiler;
  beforeAll(() => {
    machine = createMachine({ memoryBytes: 128 << 20 });
    compiler = createLocalCompiler();
  });
  afterAll(async () => {
    await machine.close();
  });

  it("has a meaning here for every function", () => {
    const lacking = new Set(overloads.map(({ name }) => name).filter((name) => modelOf(name) === undefined));
    expect([...lacking]).toEqual([]);
  });

  const kinds = [...new Set(overloads.map((overload) => scalarOf(overload.parameters[0]!.type)!))];
  it.each(kinds)("of %s", async (kind) => {
    const script = new Script();
    for (const overload of overloads) if (scalarOf(overload.parameters[0]!.type) === kind) script.add(overload);
    const buffers = [Uint32Array.from(script.words), new Uint32Array(2 * script.outputs), new Uint32Array(64 * 6)];
    const { buffers: after } = await runKernel(machine, compiler, requestOf(script, kind), {
      buffers,
      push: new Uint32Array(0),
      groups: [1, 1, 1],
    });
    const out = after[1]!;
    const wrong: string[] = [];
    let at = 0;
    for (const { title, wanted } of script.cases) {
      for (const each of wanted) {
        const value = read(each.kind, out[2 * at]!, out[2 * at + 1]!);
        if (!near(each.kind, value, each.value)) wrong.push(`${title} gives ${value}, not ${each.value}`);
        at++;
      }
    }
    expect(wrong).toEqual([]);
  });
});
