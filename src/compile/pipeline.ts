import { type Diagnostic, suggest } from "../base/index.ts";
import {
  type CompileRequest,
  type FormatFacts,
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

/** 32-bit components of the shader's type, or 64-bit ones. */
function defaultFormat({ components, kind, widthBits }: VertexInput): string {
  const suffix = kind === "float" ? "SFLOAT" : kind === "int" ? "SINT" : "UINT";
  const letters = [..."RGBA"].slice(0, components);
  return `${letters.map((letter) => letter + (widthBits === 64 ? "64" : "32")).join("")}_${suffix}`;
}

/** Each location's data tight behind the one before, all in binding 0. */
function defaultAttributes(inputs: readonly VertexInput[]): VertexAttributeReflection[] {
  let offset = 0;
  return inputs.map((input) => {
    const at = offset;
    offset += (input.widthBits === 64 ? 8 : 4) * input.components;
    return { location: input.location, format: defaultFormat(input), binding: 0, offset: at };
  });
}

const isVertexFormat = (name: string): boolean => {
  const facts = formatFacts(name);
  return facts?.wide === true || (facts?.bufferFormat ?? 0) !== 0;
};
const isColorFormat = (name: string): boolean => formatFacts(name)?.wide !== true;

type Fetch = Pick<CoreVertexAttribute, "location" | "format" | "components" | "swapped" | "offset">;
/** 64-bit components as pairs of words: up to four words a location. */
function wideFetches(location: number, offset: number, components: number): Fetch[] {
  const of = (words: number): Pick<Fetch, "format" | "components" | "swapped"> => {
    const { bufferFormat } = formatFacts(words === 2 ? "R32G32_UINT" : "R32G32B32A32_UINT") as FormatFacts;
    return { format: bufferFormat, components: words, swapped: false };
  };
  const words = 2 * components;
  const first = { location, offset, ...of(Math.min(words, 4)) };
  return words <= 4 ? [first] : [first, { location: location + 1, offset: offset + 16, ...of(words - 4) }];
}

/** Each shape written out: spreading takes longer than all the rest. */
function attributeOf(fetch: Fetch, binding: number, divisor: number | undefined): CoreVertexAttribute {
  const { location, format, components, swapped, offset } = fetch;
  return divisor === undefined
    ? { location, format, components, swapped, binding, offset }
    : { location, format, components, swapped, binding, offset, divisor };
}

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
  const given = vertexInput?.attributes ?? defaultAttributes(inputs);
  const attributes = given.filter(({ location }) => inputs.some((input) => input.location === location));
  for (const { location } of inputs) {
    if (!attributes.some((a) => a.location === location)) mistake(`no vertex attribute at location ${location}`);
  }
  const vertexAttributes: CoreVertexAttribute[] = [];
  for (const { location, format, binding, offset } of attributes) {
    const facts = formatFacts(format);
    if (facts === undefined || !isVertexFormat(format)) {
      const names = facts === undefined ? formatNames.filter(isVertexFormat) : [];
      mistake(unknownFormat(format, "vertices", names));
      continue;
    }
    const input = inputs.find((each) => each.location === location) as VertexInput;
    if ((input.widthBits === 64) !== (facts.wide === true)) {
      const what = input.widthBits === 64 ? "components of 64 bits" : "no components of 64 bits";
      mistake(`vertex attribute ${input.name} at location ${location} has ${what}, unlike ${format}`);
      continue;
    }
    const stepping = vertexInput?.bindings?.find((b) => b.binding === binding);
    const divisor = stepping?.rate === "instance" ? (stepping.divisor ?? 1) : undefined;
    if (facts.wide === true) {
      for (const fetch of wideFetches(location, offset, facts.components))
        vertexAttributes.push(attributeOf(fetch, binding, divisor));
    } else {
      const { bufferFormat, components, swapped } = facts;
      const fetch = { location, format: bufferFormat, components, swapped, offset };
      vertexAttributes.push(attributeOf(fetch, binding, divisor));
    }
  }
  const colorExports: (number | undefined)[] = [];
  for (const { location, format } of colorFormats ?? []) {
    const facts = formatFacts(format);
    if (facts === undefined || !isColorFormat(format)) {
      const names = facts === undefined ? formatNames.filter(isColorFormat) : [];
      mistake(unknownFormat(format, "colour targets", names));
    } else {
      while (colorExports.length <= location) colorExports.push(undefined);
      colorExports[location] = facts.colorExport;
    }
  }
  if (diagnostics.length > 0) return { ok: false, diagnostics };
  const core = { colorExports, vertexAttributes };
  return { ok: true, pipeline: { core, attributes } };
}

/** Source: `ConservativeZExport` of the RDNA2 register reference. */
const depthLayouts = { any: 0, less: 1, greater: 2 } as const;

/** What a driver has to know of a graphics stage. */
export function interfaceOf(
  found: CoreInterface,
  reflection: ModuleReflection,
  pipeline: UsedPipeline,
): InterfaceReflection {
  const vertex = reflection.stage === "vertex";
  const parameters = found.locations.map((location) => {
    const flat = found.flat.includes(location);
    return location === 64 ? { location, flat, pointCoord: true } : { location, flat };
  });
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
    depthLayout: bit(found.depthFormat, 4) ? depthLayouts[reflection.depthLayout] : 0,
    stencil: bit(found.depthFormat, 5),
    sampleMask: bit(found.depthFormat, 6),
    kills: found.demotes,
    writesMemory: found.writesMemory,
    earlyTests: reflection.earlyFragmentTests,
    postDepthCoverage: reflection.postDepthCoverage,
  };
}
