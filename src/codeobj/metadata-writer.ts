import type { ComputeHardware } from "./hardware.ts";
import { type MessageWriter, packMessage } from "./message-pack.ts";
import type {
  BindingLayout,
  InterfaceReflection,
  ParameterReflection,
  Reflection,
  ResourceReflection,
  UserDataEntry,
} from "./reflection.ts";
import type { Statistics } from "./statistics.ts";

/** Names as MessagePack has them. */
const keys = <const Name extends string>(...names: readonly Name[]): Readonly<Record<Name, Uint8Array>> =>
  Object.fromEntries(names.map((name) => [name, packMessage(name)])) as Record<Name, Uint8Array>;

const key = keys(
  "workgroupSize",
  "sets",
  "set",
  "sizeBytes",
  "bindings",
  "binding",
  "type",
  "count",
  "offsetBytes",
  "strideBytes",
  "resources",
  "name",
  "blockSizeBytes",
  "runtimeArrayStrideBytes",
  "readonly",
  "writeonly",
  "pushConstantBytes",
  "userData",
  "kind",
  "sgpr",
  "offsets",
  "interface",
  "specializationConstants",
  "id",
);

/**
 * What `readReflection` reads, in its order: member by member, since a compile writes it and a generic walk over the
 * object takes several times as long.
 */
export function writeReflection(out: MessageWriter, reflection: Reflection): void {
  const { workgroupSize, sets, resources, pushConstantBytes, userData, specializationConstants } = reflection;
  out.map(reflection.interface === undefined ? 6 : 7);
  out.raw(key.workgroupSize);
  out.list(3);
  for (let k = 0; k < 3; k++) out.number(workgroupSize[k]!);
  out.raw(key.sets);
  out.list(sets.length);
  for (const { set, sizeBytes, bindings } of sets) {
    out.map(3);
    number(out, key.set, set);
    number(out, key.sizeBytes, sizeBytes);
    out.raw(key.bindings);
    out.list(bindings.length);
    for (const binding of bindings) {
      out.map(5);
      writeBinding(out, binding);
    }
  }
  out.raw(key.resources);
  out.list(resources.length);
  for (const resource of resources) writeResource(out, resource);
  number(out, key.pushConstantBytes, pushConstantBytes);
  out.raw(key.userData);
  out.list(userData.length);
  for (const entry of userData) writeUserData(out, entry);
  if (reflection.interface !== undefined) {
    out.raw(key.interface);
    writeInterface(out, reflection.interface);
  }
  out.raw(key.specializationConstants);
  out.list(specializationConstants.length);
  for (const { id, name } of specializationConstants) {
    out.map(2);
    number(out, key.id, id);
    text(out, key.name, name);
  }
}

function number(out: MessageWriter, name: Uint8Array, value: number): void {
  out.raw(name);
  out.number(value);
}

function text(out: MessageWriter, name: Uint8Array, value: string): void {
  out.raw(name);
  out.text(value);
}

function flag(out: MessageWriter, name: Uint8Array, value: boolean): void {
  out.raw(name);
  out.flag(value);
}

function writeBinding(out: MessageWriter, { binding, type, count, offsetBytes, strideBytes }: BindingLayout): void {
  number(out, key.binding, binding);
  text(out, key.type, type);
  number(out, key.count, count);
  number(out, key.offsetBytes, offsetBytes);
  number(out, key.strideBytes, strideBytes);
}

function writeResource(out: MessageWriter, resource: ResourceReflection): void {
  const { blockSizeBytes, runtimeArrayStrideBytes } = resource;
  out.map(9 + (blockSizeBytes === undefined ? 0 : 1) + (runtimeArrayStrideBytes === undefined ? 0 : 1));
  writeBinding(out, resource);
  number(out, key.set, resource.set);
  text(out, key.name, resource.name);
  if (blockSizeBytes !== undefined) number(out, key.blockSizeBytes, blockSizeBytes);
  if (runtimeArrayStrideBytes !== undefined) number(out, key.runtimeArrayStrideBytes, runtimeArrayStrideBytes);
  flag(out, key.readonly, resource.readonly);
  flag(out, key.writeonly, resource.writeonly);
}

function writeUserData(out: MessageWriter, { kind, sgpr, count, set, offsets }: UserDataEntry): void {
  out.map(3 + (set === undefined ? 0 : 1) + (offsets === undefined ? 0 : 1));
  text(out, key.kind, kind);
  number(out, key.sgpr, sgpr);
  number(out, key.count, count);
  if (set !== undefined) number(out, key.set, set);
  if (offsets === undefined) return;
  out.raw(key.offsets);
  out.list(offsets.length);
  for (const offset of offsets) out.number(offset);
}

const face = keys(
  "inputs",
  "outputs",
  "location",
  "flat",
  "pointCoord",
  "vertexAttributes",
  "format",
  "binding",
  "offset",
  "usesInstanceId",
  "clipDistances",
  "cullDistances",
  "pointSize",
  "layer",
  "viewport",
  "inputAddress",
  "colorFormats",
  "depthFormat",
  "depth",
  "depthLayout",
  "stencil",
  "sampleMask",
  "kills",
  "writesMemory",
  "earlyTests",
  "postDepthCoverage",
);

/** What `readInterface` reads, in its order. */
function writeInterface(out: MessageWriter, from: InterfaceReflection): void {
  out.map(20);
  out.raw(face.inputs);
  writeParameters(out, from.inputs);
  out.raw(face.outputs);
  writeParameters(out, from.outputs);
  out.raw(face.vertexAttributes);
  out.list(from.vertexAttributes.length);
  for (const { location, format, binding, offset } of from.vertexAttributes) {
    out.map(4);
    number(out, face.location, location);
    text(out, face.format, format);
    number(out, face.binding, binding);
    number(out, face.offset, offset);
  }
  flag(out, face.usesInstanceId, from.usesInstanceId);
  number(out, face.clipDistances, from.clipDistances);
  number(out, face.cullDistances, from.cullDistances);
  flag(out, face.pointSize, from.pointSize);
  flag(out, face.layer, from.layer);
  flag(out, face.viewport, from.viewport);
  number(out, face.inputAddress, from.inputAddress);
  number(out, face.colorFormats, from.colorFormats);
  number(out, face.depthFormat, from.depthFormat);
  flag(out, face.depth, from.depth);
  number(out, face.depthLayout, from.depthLayout);
  flag(out, face.stencil, from.stencil);
  flag(out, face.sampleMask, from.sampleMask);
  flag(out, face.kills, from.kills);
  flag(out, face.writesMemory, from.writesMemory);
  flag(out, face.earlyTests, from.earlyTests);
  flag(out, face.postDepthCoverage, from.postDepthCoverage);
}

function writeParameters(out: MessageWriter, list: readonly ParameterReflection[]): void {
  out.list(list.length);
  for (const { location, flat, pointCoord } of list) {
    out.map(pointCoord === undefined ? 2 : 3);
    number(out, face.location, location);
    flag(out, face.flat, flat);
    if (pointCoord !== undefined) flag(out, face.pointCoord, pointCoord);
  }
}

const counts = keys(
  "instructions",
  "codeSizeBytes",
  "sgprs",
  "vgprs",
  "sgprsAllocated",
  "vgprsAllocated",
  "spilledSgprs",
  "spilledVgprs",
  "ldsBytes",
  "scratchBytes",
  "occupancyWaves",
  "branches",
  "waits",
  "salu",
  "valu",
  "smem",
  "vmem",
  "lds",
  "exports",
  "estimatedCycles",
  "contractions",
);

/** What `readStatistics` reads, in its order. */
export function writeStatistics(out: MessageWriter, stats: Statistics): void {
  out.map(21);
  number(out, counts.instructions, stats.instructions);
  number(out, counts.codeSizeBytes, stats.codeSizeBytes);
  number(out, counts.sgprs, stats.sgprs);
  number(out, counts.vgprs, stats.vgprs);
  number(out, counts.sgprsAllocated, stats.sgprsAllocated);
  number(out, counts.vgprsAllocated, stats.vgprsAllocated);
  number(out, counts.spilledSgprs, stats.spilledSgprs);
  number(out, counts.spilledVgprs, stats.spilledVgprs);
  number(out, counts.ldsBytes, stats.ldsBytes);
  number(out, counts.scratchBytes, stats.scratchBytes);
  number(out, counts.occupancyWaves, stats.occupancyWaves);
  number(out, counts.branches, stats.branches);
  number(out, counts.waits, stats.waits);
  number(out, counts.salu, stats.salu);
  number(out, counts.valu, stats.valu);
  number(out, counts.smem, stats.smem);
  number(out, counts.vmem, stats.vmem);
  number(out, counts.lds, stats.lds);
  number(out, counts.exports, stats.exports);
  number(out, counts.estimatedCycles, stats.estimatedCycles);
  number(out, counts.contractions, stats.contractions);
}

const stage = keys(
  ".entry_point",
  ".scratch_memory_size",
  ".lds_size",
  ".vgpr_count",
  ".sgpr_count",
  ".user_sgprs",
  ".wavefront_size",
  ".wgp_mode",
  ".threadgroup_dimensions",
);

/** The members that every hardware stage has: seven. */
function writeStage(out: MessageWriter, name: string, hardware: ComputeHardware, ldsBytes: number): void {
  text(out, stage[".entry_point"], name);
  number(out, stage[".scratch_memory_size"], hardware.scratchBytes);
  number(out, stage[".lds_size"], ldsBytes);
  number(out, stage[".vgpr_count"], hardware.vgprs);
  number(out, stage[".sgpr_count"], hardware.sgprs);
  number(out, stage[".user_sgprs"], hardware.userSgprs);
  number(out, stage[".wavefront_size"], 32);
}

/** Of a graphics stage. */
export function writeGraphicsStage(out: MessageWriter, name: string, hardware: ComputeHardware): void {
  out.map(7);
  writeStage(out, name, hardware, 0);
}

/** Of a compute stage, with its workgroup size. */
export function writeComputeStage(
  out: MessageWriter,
  name: string,
  hardware: ComputeHardware,
  size: Reflection["workgroupSize"],
): void {
  out.map(9);
  writeStage(out, name, hardware, hardware.ldsBytes);
  out.raw(stage[".wgp_mode"]);
  out.flag(true);
  out.raw(stage[".threadgroup_dimensions"]);
  out.list(3);
  for (let k = 0; k < 3; k++) out.number(size[k]!);
}
