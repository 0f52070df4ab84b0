import { type Diagnostic, suggest } from "../base/index.ts";
import {
  type CompileRequest,
  formatFacts,
  formatNames,
  type InterfaceReflection,
  type VertexAttributeReflection,
} from "../codeobj/index.ts";
import type { CoreInterface, CorePipeline, CoreVertexAttribute } from "../core/index.ts";
import type { ModuleReflection, VertexInput } from "../spirv/index.ts";
import { reportCompile } from "./codes.ts";

/** The state in force for a graphics stage. */
export interface UsedPipeline {
  readonly core: CorePipeline;
  readonly attributes: readonly VertexAttributeReflection[];
}

export type PipelineResult =
  | { readonly ok: true; readonly pipeline: UsedPipeline }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Of a shader without vertex inputs. */
const defaults: PipelineResult = {
  ok: true,
  pipeline: { core: { colorExports: [], vertexAttributes: [] }, attributes: [] },
};

/** 32-bit components of the shader's type. */
function defaultFormat({ components, kind }: VertexInput): string {
  const suffix = kind === "float" ? "SFLOAT" : kind === "int" ? "SINT" : "UINT";
  return `${["R32", "G32", "B32", "A32"].slice(0, components).join("")}_${suffix}`;
}

/** Each location's data tight behind the one before, all in binding 0. */
function defaultAttributes(inputs: readonly VertexInput[]): VertexAttributeReflection[] {
  let offset = 0;
  return inputs.map((input) => {
    const at = offset;
    offset += 4 * input.components;
    return { location: input.location, format: defaultFormat(input), binding: 0, offset: at };
  });
}

const isVertexFormat = (name: string): boolean => (formatFacts(name)?.bufferFormat ?? 0) !== 0;

/** What to say of a format that shaders have not, with the name that is spelled like it. */
function unknownFormat(name: string, use: string, names: readonly string[]): string {
  const upper = name
    .toUpperCase()
    .replace(/[\s-]+/g, "_")
    .replace(/^VK_FORMAT_/, "");
  // RGBA8 for R8G8B8A8.
  const spelled = upper.replace(/^([RGBA]{2,4})(\d+)(?=_)/, (_, letters: string, bits: string) =>
    [...letters].map((letter) => letter + bits).join(""),
  );
  const near = names.includes(spelled) ? spelled : suggest(spelled, names);
  return `${name} is no format of ${use}${near === undefined ? "" : `; did you mean ${near}?`}`;
}

/**
 * The pipeline state that changes the code, with the defaults of docs/abi.md. Errors: COMPILE_PIPELINE for formats that
 * are none and attributes that the shader reads and the state does not have.
 */
export function usedPipeline(request: CompileRequest, reflection: ModuleReflection): PipelineResult {
  if (request.pipeline.vertexInput === undefined && request.pipeline.colorFormats === undefined) {
    if (reflection.vertexInputs.length === 0) return defaults;
  }
  const diagnostics: Diagnostic[] = [];
  const mistake = (what: string): void => {
    diagnostics.push(reportCompile("COMPILE_PIPELINE", { what }, request.filename));
  };
  const { vertexInput, colorFormats } = request.pipeline;
  const inputs = reflection.vertexInputs;
  // No buffer format has components of 64 bits. Once a variable: its locations ascend.
  const wide = inputs.filter(({ widthBits }) => widthBits === 64);
  for (const { name, location } of wide.filter((a, k) => wide.findIndex((b) => b.name === a.name) === k)) {
    mistake(`vertex attribute ${name} at location ${location} has 64-bit components`);
  }
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  const given = vertexInput?.attributes ?? defaultAttributes(inputs);
  const attributes = given.filter(({ location }) => inputs.some((input) => input.location === location));
  for (const { location } of inputs) {
    if (!attributes.some((a) => a.location === location)) mistake(`no vertex attribute at location ${location}`);
  }
  const vertexAttributes = attributes.flatMap(({ location, format, binding, offset }): CoreVertexAttribute[] => {
    const facts = formatFacts(format);
    if (facts === undefined || facts.bufferFormat === 0) {
      const names = facts === undefined ? formatNames.filter(isVertexFormat) : [];
      mistake(unknownFormat(format, "vertices", names));
      return [];
    }
    const stepping = vertexInput?.bindings?.find((b) => b.binding === binding);
    const row = {
      location,
      format: facts.bufferFormat,
      components: facts.components,
      swapped: facts.swapped,
      binding,
      offset,
    };
    return [stepping?.rate === "instance" ? { ...row, divisor: stepping.divisor ?? 1 } : row];
  });
  const colorExports: (number | undefined)[] = [];
  for (const { location, format } of colorFormats ?? []) {
    const facts = formatFacts(format);
    if (facts === undefined) mistake(unknownFormat(format, "colour targets", formatNames));
    else colorExports[location] = facts.colorExport;
  }
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  const core = { colorExports: Array.from(colorExports), vertexAttributes };
  return { ok: true, pipeline: { core, attributes } };
}

/** What a driver has to know of a graphics stage. */
export function interfaceOf(
  found: CoreInterface,
  reflection: ModuleReflection,
  pipeline: UsedPipeline,
): InterfaceReflection {
  const vertex = reflection.stage === "vertex";
  const parameters = found.locations.map((location) => ({
    location,
    flat: found.flat.includes(location),
    ...(location === 64 && { pointCoord: true }),
  }));
  const bit = (word: number, k: number): boolean => ((word >>> k) & 1) === 1;
  return {
    inputs: vertex ? [] : parameters,
    outputs: vertex ? parameters : [],
    vertexAttributes: vertex ? pipeline.attributes : [],
    usesInstanceId: vertex && bit(found.stageInputs, 1),
    clipDistances: found.vertexOutputs & 15,
    cullDistances: (found.vertexOutputs >>> 4) & 15,
    pointSize: bit(found.vertexOutputs, 8),
    layer: bit(found.vertexOutputs, 9),
    viewport: bit(found.vertexOutputs, 10),
    inputAddress: vertex ? 0 : found.stageInputs,
    colorFormats: found.colorFormats,
    depthFormat: found.depthFormat & 15,
    depth: bit(found.depthFormat, 4),
    stencil: bit(found.depthFormat, 5),
    sampleMask: bit(found.depthFormat, 6),
    kills: found.demotes,
    earlyTests: reflection.earlyFragmentTests,
    postDepthCoverage: reflection.postDepthCoverage,
  };
}
