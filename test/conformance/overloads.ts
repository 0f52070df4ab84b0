import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { builtinFunctionNames, builtinOverloads, type Overload } from "../../src/glsl/builtins/index.ts";
import { compileGlsl } from "../../src/glsl/index.ts";
import { typeName } from "../../src/glsl/types/index.ts";
import { findOracle, runOracle } from "../oracles.ts";

export type Suffix = "comp" | "vert" | "frag";

/** A version with the extensions that a shader turns on. */
export interface Language {
  readonly name: string;
  readonly version: string;
  readonly extensions: readonly string[];
}

const subgroups = "basic vote arithmetic ballot shuffle shuffle_relative clustered quad".split(" ");
const everything = [
  "GL_EXT_shader_explicit_arithmetic_types",
  "GL_EXT_shader_atomic_int64",
  "GL_KHR_memory_scope_semantics",
  ...subgroups.map((name) => `GL_KHR_shader_subgroup_${name}`),
  ...["int8", "int16", "int64", "float16"].map((name) => `GL_EXT_shader_subgroup_extended_types_${name}`),
  "GL_EXT_samplerless_texture_functions",
  "GL_EXT_demote_to_helper_invocation",
];
const older = ["GL_ARB_shading_language_420pack", "GL_ARB_explicit_attrib_location", "GL_ARB_separate_shader_objects"];

export const languages: readonly Language[] = [
  { name: "460 with extensions", version: "460", extensions: [...everything, "GL_ARB_shader_group_vote"] },
  { name: "320 es with extensions", version: "320 es", extensions: everything },
  ...["310 es", "320 es", "430", "440", "450", "460"].map((version) => ({ name: version, version, extensions: [] })),
  ...["150", "330", "400", "410"].map((version) => ({ name: version, version, extensions: older })),
];

export interface Difference {
  readonly call: string;
  /** Our message, or undefined where we take the call. */
  readonly ours: string | undefined;
  readonly theirs: string | undefined;
}

export interface Comparison {
  readonly calls: number;
  /** Calls that both take. */
  readonly accepted: number;
  readonly differences: readonly Difference[];
  /** What spirv-val says of the module with all calls that we take; empty where it is valid. */
  readonly invalid: string;
}

const stages = { comp: "compute", vert: "vertex", frag: "fragment" } as const;
const opaque = /^[iu]?(?:sampler|texture|image|subpassInput)/;

/**
 * One shader with a call of every overload of every built-in function, a line each, through the reference compiler and
 * through ours: which lines each of them rejects. What neither version nor stage can declare is left out.
 */
export function compareOverloads(language: Language, suffix: Suffix): Comparison {
  const { head, calls } = shaderOf(language, suffix);
  const bodyless = [...head, "}"].join("\n");
  const lost = new Set([...rejectedByUs(bodyless, suffix).keys(), ...rejectedByReference(bodyless, suffix).keys()]);
  const names = new Set(head.flatMap((line, at) => (lost.has(at + 1) ? (/\b([qmi]_\w+)/.exec(line)?.[1] ?? []) : [])));
  const kept = head.map((line, at) => (lost.has(at + 1) ? "" : line));
  const lines = calls.filter((call) => !call.match(/\w+/g)!.some((word) => names.has(word)));
  const source = [...kept, ...lines, "}"].join("\n");
  const ours = rejectedByUs(source, suffix);
  const theirs = rejectedByReference(source, suffix);
  const differences: Difference[] = [];
  const good: string[] = [];
  let accepted = 0;
  for (const [at, call] of lines.entries()) {
    const line = kept.length + at + 1;
    const [mine, other] = [ours.get(line), theirs.get(line)];
    if (mine === undefined) good.push(call);
    if (mine === undefined && other === undefined) accepted++;
    if ((mine === undefined) !== (other === undefined)) differences.push({ call, ours: mine, theirs: other });
  }
  let invalid = "";
  // spirv-val's time grows with the square of a function
  for (let at = 0; at < good.length && invalid === ""; at += 400) {
    invalid = invalidity([...kept, ...good.slice(at, at + 400), "}"].join("\n"), suffix);
  }
  return { calls: lines.length, accepted, differences, invalid };
}

function shaderOf({ version, extensions }: Language, suffix: Suffix): { head: string[]; calls: string[] } {
  const es = version.endsWith("es");
  const number = Number.parseInt(version, 10);
  const all = extensions.includes("GL_EXT_shader_explicit_arithmetic_types");
  const head = [`#version ${version}`];
  for (const name of extensions) {
    if (suffix === "frag" || !name.includes("demote")) head.push(`#extension ${name} : enable`);
  }
  if (es) head.push("precision highp float; precision highp int;");
  if (suffix === "comp") head.push("layout(local_size_x = 32) in;");
  const declared = new Map<string, string>();
  const calls: string[] = [];
  let binding = 0;
  let location = 0;
  const variable = (type: string, mode: string): string => {
    const name = `${mode[0]}_${type}`;
    if (declared.has(name)) return name;
    const format = /^([iu]?)image/.exec(type);
    const layouts = format === null ? "" : `, r32${format[1] || "f"}${format[1] === "u" ? "i" : ""}`;
    const attachment = type.includes("subpass") ? `, input_attachment_index = ${binding}` : "";
    const text =
      mode === "memory"
        ? `layout(binding = ${binding++}) buffer B_${type} { ${type} ${name}; };`
        : mode === "interpolant"
          ? `layout(location = ${location++}) in ${type} ${name};`
          : `layout(binding = ${binding++}${layouts}${attachment}) uniform ${es ? "highp " : ""}${type} ${name};`;
    declared.set(name, text);
    return name;
  };
  for (const name of builtinFunctionNames()) {
    for (const overload of builtinOverloads(name)) {
      const types = [overload.returns, ...overload.parameters.map(({ type }) => type)].map(typeName).join(" ");
      // what a version cannot even name would end the reference compiler's run
      if (overload.extensions.includes("relaxed") || /Rect/.test(types)) continue;
      if (!all && /f16|[iu](?:8|16|64)vec|int\d+_t|float16_t/.test(types)) continue;
      if (/double|dvec|dmat/.test(types) && (es || number < 400)) continue;
      if (/1D/.test(types) && es) continue;
      if (/image/.test(types) && !es && number < 420) continue;
      if (/subpass/.test(types) && suffix !== "frag") continue;
      const modes = overload.parameters.map(({ mode }) => mode);
      if (modes.includes("memory") && !es && number < 430) continue;
      if (modes.includes("interpolant") && suffix !== "frag") continue;
      calls.push(callOf(overload, variable));
    }
  }
  return { head: [...head, ...declared.values(), "void main() {"], calls };
}

function callOf(overload: Overload, variable: (type: string, mode: string) => string): string {
  const { name, parameters, returns, extensions } = overload;
  const locals: string[] = [];
  const count = name === "controlBarrier" ? 4 : name.endsWith("CompSwap") ? 5 : 3;
  const firstScope = extensions.includes("GL_KHR_memory_scope_semantics") ? parameters.length - count : 99;
  const args = parameters.map(({ type, mode }, at) => {
    const word = typeName(type);
    if (opaque.test(word)) return variable(word, "q");
    if (mode === "memory" || mode === "interpolant") return variable(word, mode);
    if (at >= firstScope) return scopeWord(name, at - firstScope);
    const element = /^(\w+)\[4\]$/.exec(word)?.[1];
    if (element !== undefined) return `${word}(${Array(4).fill(`${element}(1)`).join(", ")})`;
    const constant =
      (/Offset/.test(name) && at >= 2 && /^(?:int|ivec\d)$/.test(word)) ||
      (/Gather/.test(name) && word === "int") ||
      (/Clustered|Broadcast/.test(name) && at === 1);
    if (constant) return `${word}(1)`;
    locals.push(`${word} a${at};`);
    return `a${at}`;
  });
  const result = typeName(returns);
  return `{ ${locals.join(" ")} ${result === "void" ? "" : `${result} r = `}${name}(${args.join(", ")}); }`;
}

function scopeWord(name: string, at: number): string {
  if (name === "controlBarrier") {
    const words = ["gl_ScopeSubgroup", "gl_ScopeSubgroup", "gl_StorageSemanticsBuffer", "gl_SemanticsAcquireRelease"];
    return words[at]!;
  }
  if (at === 0) return "gl_ScopeDevice";
  if (at % 2 === 1) return "gl_StorageSemanticsBuffer";
  return name.endsWith("Store") ? "gl_SemanticsRelease" : "gl_SemanticsAcquire";
}

function rejectedByUs(source: string, suffix: Suffix): Map<number, string> {
  const request = { source, filename: "overloads", stage: stages[suffix], targetEnv: "vulkan1.2" } as const;
  const { diagnostics } = compileGlsl({ ...request, maxDiagnostics: 1e6, debugInfo: false });
  const rejected = new Map<number, string>();
  for (const { severity, line, code, message } of diagnostics) {
    if (severity === "error" && !rejected.has(line)) rejected.set(line, `${code} ${message}`);
  }
  return rejected;
}

/** Its messages by line, with `-C`, which goes on behind an error. Throws where it gave up before the end. */
function rejectedByReference(source: string, suffix: Suffix): Map<number, string> {
  // its standard input takes short texts only
  const stdout = inFile(`all.${suffix}`, source, (file) => {
    const args = ["-V", "-C", "--target-env", "vulkan1.2", "-S", suffix, "-o", "/dev/null", file];
    return runOracle("glslangValidator", args).stdout;
  });
  const rejected = new Map<number, string>();
  for (const [, line, text] of stdout.matchAll(/^ERROR: (?:[^:\n]*:)?(\d+): (.*)$/gm)) {
    if (text!.includes("syntax error")) throw new Error(`the reference stopped in line ${line}: ${text}`);
    if (!rejected.has(Number(line))) rejected.set(Number(line), text!);
  }
  return rejected;
}

function invalidity(source: string, suffix: Suffix): string {
  const request = { source, filename: "overloads", stage: stages[suffix], targetEnv: "vulkan1.2" } as const;
  const result = compileGlsl({ ...request, debugInfo: false });
  if (!result.ok) return `no module: ${result.diagnostics[0]?.message}`;
  return inFile("all.spv", result.words, (file) => {
    const { status, stdout, stderr } = runOracle("spirv-val", ["--target-env", "vulkan1.2", file]);
    return status === 0 ? "" : stdout + stderr;
  });
}

function inFile<T>(name: string, data: string | Uint32Array, use: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "kiln-overloads-"));
  try {
    const file = join(folder, name);
    writeFileSync(file, data);
    return use(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Why a difference is right as it is; undefined where it is not. */
export function reasonOf({ call, ours, theirs }: Difference, suffix: Suffix): string | undefined {
  const implicit = /texture(?:Proj)?(?:Offset)?\(|textureQueryLod/.test(call);
  if (suffix === "comp" && ours?.startsWith("GLSL_WRONG_STAGE") && implicit) {
    return "a bias or a level of detail in a compute shader: spirv-val rejects the reference's module";
  }
  if (/subgroup/.test(call) && ours !== undefined && theirs === undefined) {
    return "the reference forgets the extension of subgroup functions in ES";
  }
  if (ours === undefined && /float16_t r = |f16vec\d r = |imageAtomicExchange\(q_image\w+, a1, a2, gl_/.test(call)) {
    return "the reference forgets derivatives of 16 bits, and exchanges of floats with an order, in ES";
  }
  if (call.includes("halfBitsToInt16") && call.includes("f16vec3")) return "the reference forgets three components";
  return undefined;
}

/** `npm run conformance -- overloads`: every version and stage. Prints the counts and each difference without a reason. */
export async function overloadConformance(args: readonly string[]): Promise<boolean> {
  parseArgs({ args: [...args], options: {} });
  for (const tool of ["glslangValidator", "spirv-val"] as const) {
    if (findOracle(tool) !== undefined) continue;
    console.error(`${tool} is not installed`);
    return false;
  }
  let good = true;
  for (const language of languages) {
    for (const suffix of ["comp", "vert", "frag"] as const) {
      if (suffix === "comp" && !language.version.endsWith("es") && language.version < "420") continue;
      const { calls, accepted, differences, invalid } = compareOverloads(language, suffix);
      const open = differences.filter((each) => reasonOf(each, suffix) === undefined);
      console.log(
        `${language.name} ${suffix}: ${calls} calls, ${accepted} accepted by both, ${differences.length - open.length} differ with a reason, ${open.length} without, ${invalid === "" ? "valid" : invalid}`,
      );
      for (const { call, ours, theirs } of open.slice(0, 20)) console.log(`  ${call} ours: ${ours} theirs: ${theirs}`);
      good = good && open.length === 0 && invalid === "";
    }
  }
  return good;
}
