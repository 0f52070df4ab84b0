export type { CodeObject, CodeObjectEntry, EntryPoint, ReadCodeObject } from "./code-object.ts";
export { loadDwords, readCodeObject, userSgprCount, writeCodeObject } from "./code-object.ts";
export type * from "./compile-interface.ts";
export { defaultRequest } from "./compile-interface.ts";
export type { FormatFacts } from "./formats.ts";
export { formatFacts, formatNames } from "./formats.ts";
export type { GraphicsHardware } from "./graphics.ts";
export { graphicsOccupancy, graphicsRegisterOffsets, graphicsRegisters } from "./graphics.ts";
export type { ComputeHardware, ComputeRegisters } from "./hardware.ts";
export {
  allocatedLdsBytes,
  allocatedSgprs,
  allocatedVgprs,
  computeRegisterOffsets,
  computeRegisters,
  occupancyWaves,
} from "./hardware.ts";
export type { CodePlace } from "./metadata.ts";
export { decodeRecord, encodeRecord, StoredRecord } from "./record.ts";
export type * from "./reflection.ts";
export type { DynamicBufferLayout, SetBindings } from "./set-layout.ts";
export { descriptorTypes, isDynamic, layoutDynamicBuffers, layoutSets } from "./set-layout.ts";
export { type SourceTable, sourceEntries } from "./source-table.ts";
export type { Statistics } from "./statistics.ts";
