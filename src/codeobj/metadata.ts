import type { Stage } from "./compile-interface.ts";
import type { Reflection } from "./reflection.ts";
import { count, finite, flag, list, object, oneOf, optional, type Reader, text } from "./schema.ts";
import { descriptorTypes } from "./set-layout.ts";
import type { Statistics } from "./statistics.ts";

export const stages = ["compute", "vertex", "fragment"] as const satisfies readonly Stage[];

const bindingShape = {
  binding: count,
  type: oneOf(descriptorTypes),
  count,
  offsetBytes: count,
  strideBytes: count,
};

const workgroupSize: Reader<readonly [number, number, number]> = (value, path) => {
  const [x, y, z] = list(count)(value, path);
  return [count(x, `${path}[0]`), count(y, `${path}[1]`), count(z, `${path}[2]`)];
};

const parameters = list(object({ location: count, flat: flag, pointCoord: optional(flag) }));

const readInterface = object({
  inputs: parameters,
  outputs: parameters,
  vertexAttributes: list(object({ location: count, format: text, binding: count, offset: count })),
  usesInstanceId: flag,
  clipDistances: count,
  cullDistances: count,
  pointSize: flag,
  layer: flag,
  viewport: flag,
  inputAddress: count,
  colorFormats: count,
  depthFormat: count,
  depth: flag,
  depthLayout: count,
  stencil: flag,
  sampleMask: flag,
  kills: flag,
  writesMemory: flag,
  earlyTests: flag,
  postDepthCoverage: flag,
});

export const readReflection: Reader<Reflection> = object({
  workgroupSize,
  sets: list(object({ set: count, sizeBytes: count, bindings: list(object(bindingShape)) })),
  resources: list(
    object({
      ...bindingShape,
      set: count,
      name: text,
      blockSizeBytes: optional(count),
      runtimeArrayStrideBytes: optional(count),
      readonly: flag,
      writeonly: flag,
    }),
  ),
  pushConstantBytes: count,
  userData: list(
    object({
      kind: oneOf([
        "ringPointer",
        "descriptorSet",
        "pushConstantPointer",
        "inlinePushConstants",
        "workgroupCounts",
        "vertexBuffers",
        "baseVertex",
        "drawIndex",
        "startInstance",
      ]),
      sgpr: count,
      count,
      set: optional(count),
      offsets: optional(list(count)),
    }),
  ),
  interface: optional(readInterface),
  specializationConstants: list(object({ id: count, name: text })),
});

export const readStatistics: Reader<Statistics> = object({
  instructions: count,
  codeSizeBytes: count,
  sgprs: count,
  vgprs: count,
  sgprsAllocated: count,
  vgprsAllocated: count,
  spilledSgprs: count,
  spilledVgprs: count,
  ldsBytes: count,
  scratchBytes: count,
  occupancyWaves: count,
  branches: count,
  waits: count,
  salu: count,
  valu: count,
  smem: count,
  vmem: count,
  lds: count,
  exports: count,
  estimatedCycles: finite,
  contractions: count,
});

/** A source place without its file's name: names stand in a side record, so that moving a file changes no bytes. */
export interface CodePlace {
  /** Bytes from the start of the entry point's code. */
  readonly offset: number;
  /** Files are numbered by first appearance. */
  readonly file: number;
  readonly line: number;
  readonly column: number;
}

export const readPlaces: Reader<readonly CodePlace[]> = (value, path) =>
  list(list(count))(value, path).map(([offset, file, line, column], i) => ({
    offset: count(offset, `${path}[${i}]`),
    file: count(file, `${path}[${i}]`),
    line: count(line, `${path}[${i}]`),
    column: count(column, `${path}[${i}]`),
  }));
