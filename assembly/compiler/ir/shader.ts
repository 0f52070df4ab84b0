/** What belongs to the whole shader: sizes, name, variables, source places, facts. */
import { Fail, fail, Limit, setPlace, U8Column } from "../../base/index.ts";
import { IO_BASE } from "../memory-map.ts";
import { resetConstants } from "./builder.ts";
import {
  MAX_PLACES,
  MAX_TABLE_WORDS,
  MAX_VARS,
  placeColumn,
  placeFile,
  placeLine,
  tableWord,
  varWidth,
} from "./columns.ts";
import { resetInstrs } from "./instr.ts";
import { resetNodes } from "./nodes.ts";

/** The entry point's name in UTF-8; the first KiB of the IO region. */
export const nameBytes = changetype<U8Column>(IO_BASE);

/** 0 compute, 1 vertex, 2 fragment. */
let stageOf: u32 = 0;
let nameLength: u32 = 0;
let localX: u32 = 1;
let localY: u32 = 1;
let localZ: u32 = 1;
let lds: u32 = 0;
let scratch: u32 = 0;
let tables: u32 = 0;
let vars: u32 = 0;
let places: u32 = 1;
let contracted: u32 = 0;

/** Empties the shader: a body of one empty block. */
export function resetShader(): void {
  resetInstrs();
  resetNodes();
  resetConstants();
  stageOf = 0;
  nameLength = 0;
  localX = 1;
  localY = 1;
  localZ = 1;
  lds = 0;
  scratch = 0;
  tables = 0;
  vars = 0;
  places = 1;
  contracted = 0;
  placeFile[0] = 0;
  placeLine[0] = 0;
  placeColumn[0] = 0;
}

/** The vertex and the fragment stage; compute is 0. */
export const STAGE_VERTEX: u32 = 1;
export const STAGE_FRAGMENT: u32 = 2;
export function stage(): u32 {
  return stageOf;
}
export function setStage(value: u32): void {
  stageOf = value;
}
export function shaderNameLength(): u32 {
  return nameLength;
}
export function setShaderNameLength(value: u32): void {
  nameLength = value;
}
/** Workgroup size of a dimension, 0 to 2. */
export function localSize(dimension: u32): u32 {
  return dimension == 0 ? localX : dimension == 1 ? localY : localZ;
}
export function setLocalSize(x: u32, y: u32, z: u32): void {
  localX = x;
  localY = y;
  localZ = z;
}
/** Bytes of workgroup memory. */
export function ldsBytes(): u32 {
  return lds;
}
export function setLdsBytes(value: u32): void {
  lds = value;
}
/** Bytes of an invocation's scratch memory, without what is spilled. */
export function privateBytes(): u32 {
  return scratch;
}
export function setPrivateBytes(value: u32): void {
  scratch = value;
}
/** Words of the tables of constants. */
export function tableWords(): u32 {
  return tables;
}
/** Appends a word to the tables of constants; the caller has seen that there is room. */
export function addTableWord(word: u32): void {
  if (tables >= MAX_TABLE_WORDS) {
    fail(Fail.LIMIT, Limit.OUTPUT, MAX_TABLE_WORDS, 0);
    return;
  }
  tableWord[tables++] = word;
}
/** How many fused multiply-adds opt-contract-fma has formed. */
export function contractions(): u32 {
  return contracted;
}
export function addContraction(): void {
  contracted++;
}

export function varCount(): u32 {
  return vars;
}
/** A new local variable of 1 or 32 bits. */
export function newVar(width: u32): u32 {
  if (vars >= MAX_VARS) {
    fail(Fail.LIMIT, Limit.VARIABLES, MAX_VARS, 0);
    return MAX_VARS - 1;
  }
  varWidth[vars] = width;
  return vars++;
}

/** Row of the place table for a source place, made the current one; consecutive equal places share a row. */
export function enterPlace(file: u32, line: u32, column: u32): void {
  const last = places - 1;
  if (placeFile[last] != file || placeLine[last] != line || placeColumn[last] != column) {
    // Over capacity the last row stays: places are no part of the code.
    if (places < MAX_PLACES) {
      placeFile[places] = file;
      placeLine[places] = line;
      placeColumn[places] = column;
      places++;
    }
  }
  setPlace(places - 1);
}
export function placeCount(): u32 {
  return places;
}
