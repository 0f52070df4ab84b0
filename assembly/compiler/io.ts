/**
 * Blocks that host and core share. The host writes options, tables and words, calls an export, reads the output block.
 * Layout version 1; `src/core/marshal.ts` is the other side.
 */
import { Fail, fail, Limit, U32Column } from "../base/index.ts";
import { IO_BASE, IR_BASE } from "./memory-map.ts";

export const IO_VERSION: u32 = 1;

export const enum Option {
  VERSION = 0,
  /** SPIR-V execution model: 0 vertex, 4 fragment, 5 compute (GLCompute). */
  MODEL = 1,
  /** Bytes of the entry point's name, which stands at the start of the region. */
  NAME_BYTES = 2,
  /** 0, 1, 2. */
  LEVEL = 3,
  /** `OptionFlag`. */
  FLAGS = 4,
  /** Work units in millions. */
  FUEL = 5,
  SPEC_COUNT = 6,
  BINDING_COUNT = 7,
  WORD_COUNT = 8,
  /** A pass that the checked build leaves out of the level's list (0: none). */
  WITHOUT = 9,
}

/** Words of the pipeline state. */
export const enum Pipeline {
  /** By location: `ColorExport` of `lift/outputs.ts`. */
  COLORS = 0,
}
/** The first row of the vertex attributes, one a location. */
export const VERTEX_ROW: u32 = 16;
export const enum VertexColumn {
  /** Buffer format of the hardware; 0: no attribute. */
  FORMAT = 0,
  COMPONENTS = 1,
  BINDING = 2,
  OFFSET = 3,
  /** 1: an instance, not a vertex, is a step. */
  RATE = 4,
  DIVISOR = 5,
  SWAPPED = 6,
  COUNT = 7,
}

/** The other stage of a linked pipeline, from this word of the pipeline state on: scalars by location * 4 + component. */
const LINK: u32 = 256;
const LINK_WORDS: u32 = 9;
const enum Link {
  /** 1: outputs that are not in KEPT are dropped. */
  DROPS = 0,
  /** Bits: outputs that the next stage reads. */
  KEPT = 1,
  /** Bits: inputs that are known; their words follow from VALUES on. */
  KNOWN = 10,
  VALUES = 19,
}

/** Whether the next stage is known: `isOutputRead` says what it reads. */
export function isNextKnown(): bool {
  return pipeline[LINK + Link.DROPS] != 0;
}
/** Whether the next stage reads an output, as far as is known. */
export function isOutputRead(code: u32): bool {
  return !isNextKnown() || linkBit(Link.KEPT, code);
}
/** Whether the stage before gives an input the same word always: `knownInput`. */
export function isInputKnown(code: u32): bool {
  return linkBit(Link.KNOWN, code);
}
export function knownInput(code: u32): u32 {
  return pipeline[LINK + <u32>Link.VALUES + code];
}
function linkBit(from: u32, code: u32): bool {
  if (code >> 5 >= LINK_WORDS) return false;
  return ((pipeline[LINK + from + (code >> 5)] >> (code & 31)) & 1) != 0;
}

export const enum OptionFlag {
  CONTRACTION = 1,
  ROBUST = 2,
  /** Validate the IR after each pass. */
  VALIDATE = 4,
  /** Tell the host of each phase of the back end. */
  PHASES = 8,
}

/** Option words, at 1 KiB. */
export const options = changetype<U32Column>(IO_BASE + 0x400);
/** Pipeline state, at 4 KiB. */
export const pipeline = changetype<U32Column>(IO_BASE + 0x1000);
/** Rows of set, binding, offset, stride, count; at 64 KiB. */
export const bindingRows = changetype<U32Column>(IO_BASE + 0x1_0000);
/** Rows of id, low bits, high bits; at 512 KiB. */
export const specRows = changetype<U32Column>(IO_BASE + 0x8_0000);
/** SPIR-V words or a snapshot, at 1 MiB. */
export const words = changetype<U32Column>(IO_BASE + 0x10_0000);
export const MAX_WORDS: u32 = 4 << 20;
const OUTPUT_BASE: usize = IO_BASE + 0x10_0000 + ((<usize>MAX_WORDS) << 2);
/** The output block. */
export const output = changetype<U32Column>(OUTPUT_BASE);
const MAX_OUTPUT: u32 = <u32>((IR_BASE - OUTPUT_BASE) >> 2);

let outputTop: u32 = 0;

export function resetOutput(): void {
  outputTop = 0;
}
/** Appends a word to the output block. */
export function out(word: u32): void {
  if (outputTop >= MAX_OUTPUT) {
    fail(Fail.LIMIT, Limit.OUTPUT, MAX_OUTPUT, 0);
    return;
  }
  output[outputTop++] = word;
}
/** Appends the first `count` words of a column. */
export function outWords(from: U32Column, count: u32): void {
  if (count > MAX_OUTPUT - outputTop) {
    fail(Fail.LIMIT, Limit.OUTPUT, MAX_OUTPUT, 0);
    return;
  }
  memory.copy(output.at(outputTop), from.at(0), (<usize>count) << 2);
  outputTop += count;
}
export function outputCount(): u32 {
  return outputTop;
}
export function pipelineWord(which: u32): u32 {
  return pipeline[which];
}
export function option(which: u32): u32 {
  return options[which];
}
export function optionFlag(flag: u32): bool {
  return (options[Option.FLAGS] & flag) != 0;
}

/** Row of a binding in `bindingRows`, or -1. Columns: 2 offset in the set, 3 stride, 4 count. */
export function bindingRow(set: u32, binding: u32): i32 {
  const count = options[Option.BINDING_COUNT];
  for (let i: u32 = 0; i < count; i++) {
    if (bindingRows[i * 5] == set && bindingRows[i * 5 + 1] == binding) return <i32>i;
  }
  return -1;
}
export function bindingColumn(row: u32, column: u32): u32 {
  return bindingRows[row * 5 + column];
}
