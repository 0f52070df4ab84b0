/** What the graphics stages export at the end of the entry point: positions, parameters, colours, depth. */
import { failed, place, setPlace, U32Column } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvBuiltIn } from "../../gen/spirv.ts";
import { isNextKnown, isOutputRead, Pipeline, pipelineWord } from "../io.ts";
import {
  addSrc,
  alu2,
  constant,
  constantF,
  entryBlock,
  firstInstr,
  imm,
  instrPlace,
  newInstr,
  nextBlock,
  nextInstr,
  opOf,
  place0,
  setImm,
  varCount,
} from "../ir/index.ts";
import { PASS_BASE } from "../memory-map.ts";
import { bin } from "./fold-build.ts";
import { decStride, idAt, idLeaf, idType, scratchA, typeLeaves, unsupported } from "./ids.ts";
import { BUILT_IN, codeOf, Extra, isFragment, isUsedOutput, lastIsFloat, outputWord } from "./interface.ts";
import { Unsupported } from "./texts.ts";

/** Bits of an export beside the components. */
const COMPR: u32 = 16;
const DONE: u32 = 32;
const VALID_MASK: u32 = 64;

/** Export formats. Source: SPI_SHADER_COL_FORMAT. */
const enum ColorExport {
  NONE = 0,
  R32 = 1,
  GR32 = 2,
  FP16 = 4,
  UNORM16 = 5,
  SNORM16 = 6,
  UINT16 = 7,
  SINT16 = 8,
  ABGR32 = 9,
  /** The default: FP16 for floats, ABGR32 for integers. */
  BY_TYPE = 15,
}

// scratchA as a table: words by location * 4 + component, then the special ones.
const LOCATIONS: u32 = 72;
/** Colour targets, and outputs of the vertex stage: locations from 0 on. */
const COLORS: u32 = 8;
const PARAMETERS: u32 = 64;
/** Parameters that the hardware has. */
const MAX_PARAMETERS: u32 = 32;
const POSITION: u32 = LOCATIONS * 4;
const POINT_SIZE: u32 = POSITION + 4;
const LAYER: u32 = POSITION + 5;
const VIEWPORT: u32 = POSITION + 6;
const DEPTH: u32 = POSITION + 7;
const STENCIL: u32 = POSITION + 8;
const SAMPLE_MASK: u32 = POSITION + 9;
const CLIP: u32 = POSITION + 16;
const CULL: u32 = CLIP + 8;
const WORDS: u32 = CULL + 8;
/** Behind the words: places in the source where they are written. */
const PLACES: u32 = WORDS;

/** Bit l: what stands at location l is an integer. */
let integers: u64 = 0;
/** The fragment stage writes index 1 of location 0, which stands in the table as location 1. */
let secondSource: bool = false;
/** The highest location of index 0 that the fragment stage writes. */
let lastColor: u32 = 0;
/** Clip and cull distances that the vertex stage writes, and formats of the colours: results for the host. */
let clipCount: u32 = 0;
let cullCount: u32 = 0;
let colorFormats: u32 = 0;
let depthFormat: u32 = 0;
let misc: u32 = 0;

/** Distances in [3:0] and [7:4]; whether point size 8, layer 9, viewport 10 are written. */
export function vertexOutputs(): u32 {
  return clipCount | (cullCount << 4) | misc;
}
/** Four bits a colour target: SPI_SHADER_COL_FORMAT. */
export function colorExports(): u32 {
  return colorFormats;
}
/** SPI_SHADER_Z_FORMAT in [3:0]; bits for depth 4, stencil 5, sample mask 6. */
export function depthExport(): u32 {
  return depthFormat;
}

export function resetOutputs(): void {
  integers = 0;
  secondSource = false;
  lastColor = 0;
  clipCount = 0;
  cullCount = 0;
  colorFormats = 0;
  depthFormat = 0;
  misc = 0;
}

function slotOf(code: u32): u32 {
  if ((code & BUILT_IN) == 0) {
    const last: u32 = isFragment() ? COLORS : PARAMETERS;
    if (code < last * 4) return code;
    unsupported(Unsupported.OUTPUT_LOCATION, code >> 2);
    return WORDS;
  }
  const k = (code >> 16) & 0xff;
  switch (code & 0xffff) {
    case SpvBuiltIn.Position:
      return POSITION + k;
    case SpvBuiltIn.PointSize:
      return POINT_SIZE;
    case SpvBuiltIn.Layer:
      return LAYER;
    case SpvBuiltIn.ViewportIndex:
      return VIEWPORT;
    case SpvBuiltIn.ClipDistance:
      if (k < 8) return CLIP + k;
      unsupported(Unsupported.DISTANCES, k + 1);
      return WORDS;
    case SpvBuiltIn.CullDistance:
      if (k < 8) return CULL + k;
      unsupported(Unsupported.DISTANCES, k + 1);
      return WORDS;
    case SpvBuiltIn.FragDepth:
      return DEPTH;
    case SpvBuiltIn.SampleMask:
      return k == 0 ? SAMPLE_MASK : WORDS;
    case SpvBuiltIn.FragStencilRefEXT:
      return STENCIL;
    default:
      unsupported(Unsupported.BUILTIN, code & 0xffff);
      return WORDS;
  }
}

/** By IR variable: 1 + the place where something is stored to it first, 0 where nothing is. The passes' room is free while the lifter runs. */
const written = changetype<U32Column>(PASS_BASE);
function findStores(): void {
  written.clear(0, varCount());
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) {
      if (opOf(i) == Op.STORE_VAR && written[imm(i, 0)] == 0) written[imm(i, 0)] = 1 + instrPlace[i];
    }
  }
}

/** Where a colour stands in the table: the second source for blending at location 1. */
function colorSlot(variable: u32, slot: u32): u32 {
  const index = decStride[variable] >> 24;
  if (index == 0) {
    lastColor = max<u32>(lastColor, slot >> 2);
    return slot;
  }
  secondSource = true;
  if (index > 1 || slot > 3) unsupported(Unsupported.DUAL_SOURCE, slot >> 2);
  return slot + 4;
}

/** Fills the table from the output variables; `ids` of them from word `first` on. */
function gather(first: u32, count: u32): void {
  for (let n: u32 = 0; n < WORDS; n++) scratchA[n] = 0;
  findStores();
  for (let n: u32 = 0; n < count && !failed(); n++) {
    const variable = idAt(first + n);
    if (!isUsedOutput(variable)) continue;
    const scalars = typeLeaves[idType[variable]];
    for (let k: u32 = 0; k < scalars && !failed(); k++) {
      if (written[idLeaf[variable] - 1 + k] == 0) continue;
      const code = codeOf(variable, k);
      let slot = slotOf(code);
      if (slot >= WORDS) continue;
      if (isFragment() && (code & BUILT_IN) == 0) slot = colorSlot(variable, slot);
      if ((code & BUILT_IN) == 0 && !lastIsFloat()) integers |= (<u64>1) << (<u64>slot >> 2);
      scratchA[slot] = outputWord(variable, k);
      scratchA[PLACES + slot] = written[idLeaf[variable] - 1 + k] - 1;
    }
  }
  if (secondSource && lastColor > 0) unsupported(Unsupported.DUAL_SOURCE, lastColor);
}

let lastExport: u32 = 0;
let lastBits: u32 = 0;

/** An export of up to four words; 0 is none. */
function put(target: u32, x: u32, y: u32, z: u32, w: u32): void {
  const bits: u32 = (x != 0 ? 1 : 0) | (y != 0 ? 2 : 0) | (z != 0 ? 4 : 0) | (w != 0 ? 8 : 0);
  const i = newInstr(Op.EXPORT, 0, 0, 0);
  if (x != 0) addSrc(i, x);
  if (y != 0) addSrc(i, y);
  if (z != 0) addSrc(i, z);
  if (w != 0) addSrc(i, w);
  setImm(i, 0, target);
  finishExport(i, bits);
}
function packed(target: u32, low: u32, high: u32): void {
  const i = newInstr(Op.EXPORT, 0, 0, 0);
  addSrc(i, low);
  if (high != 0) addSrc(i, high);
  setImm(i, 0, target);
  finishExport(i, COMPR | (high != 0 ? 15 : 3));
}
/**
 * Exports are placed together, behind all that makes their sources: `placeExports` puts them. Four positions, and a
 * parameter a location, at most.
 */
let pending: u32 = 0;
const queue = memory.data(80 * 4, 4);
function finishExport(i: u32, bits: u32): void {
  setImm(i, 1, bits);
  lastExport = i;
  lastBits = bits;
  store<u32>(queue + ((<usize>pending) << 2), i);
  pending++;
}
function placeExports(): void {
  for (let k: u32 = 0; k < pending; k++) place0(load<u32>(queue + ((<usize>k) << 2)));
  pending = 0;
}
/** The last export of its kind. */
function done(bits: u32): void {
  if (lastExport != 0) setImm(lastExport, 1, lastBits | bits);
}

function pack(op: u32, a: u32, b: u32): u32 {
  if (a == 0 && b == 0) return 0;
  return alu2(op, a == 0 ? constant(0) : a, b == 0 ? constant(0) : b);
}

function exportColor(location: u32): void {
  const at = location * 4;
  const x = scratchA[at];
  const y = scratchA[at + 1];
  const z = scratchA[at + 2];
  const w = scratchA[at + 3];
  if ((x | y | z | w) == 0) return;
  // Both sources are blended in one target.
  let format = pipelineWord(<u32>Pipeline.COLORS + (secondSource ? 0 : location));
  if (format == ColorExport.NONE) return;
  if (format == ColorExport.BY_TYPE)
    format = ((integers >> location) & 1) != 0 ? <u32>ColorExport.ABGR32 : <u32>ColorExport.FP16;
  colorFormats |= format << (4 * location);
  switch (format) {
    case ColorExport.R32:
      put(location, x, 0, 0, 0);
      return;
    case ColorExport.GR32:
      put(location, x, y, 0, 0);
      return;
    case ColorExport.ABGR32:
      put(location, x, y, z, w);
      return;
    default:
      break;
  }
  let op: u32 = Op.PACK_HALF_RTZ;
  if (format == ColorExport.UNORM16) op = Op.PACK_UNORM16;
  else if (format == ColorExport.SNORM16) op = Op.PACK_SNORM16;
  else if (format == ColorExport.UINT16) op = Op.PACK_UINT16;
  else if (format == ColorExport.SINT16) op = Op.PACK_SINT16;
  const low = pack(op, x, y);
  packed(location, low != 0 ? low : constant(0), pack(op, z, w));
}

function exportFragment(): void {
  const depth = scratchA[DEPTH];
  const stencil = scratchA[STENCIL];
  const mask = scratchA[SAMPLE_MASK];
  if ((depth | stencil | mask) != 0) {
    depthFormat = mask != 0 ? ColorExport.ABGR32 : stencil != 0 ? ColorExport.GR32 : ColorExport.R32;
    depthFormat |= (depth != 0 ? 16 : 0) | (stencil != 0 ? 32 : 0) | (mask != 0 ? 64 : 0);
    put(8, depth, stencil, mask, 0);
  }
  for (let location: u32 = 0; location < 8; location++) exportColor(location);
  if (pending == 0) put(9, 0, 0, 0, 0);
  done(DONE | VALID_MASK);
  placeExports();
}

function distance(k: u32): u32 {
  if (k < clipCount) return scratchA[CLIP + k];
  return k < clipCount + cullCount ? scratchA[CULL + k - clipCount] : 0;
}

function countOf(first: u32): u32 {
  let n: u32 = 0;
  for (let k: u32 = 0; k < 8; k++) if (scratchA[first + k] != 0) n = k + 1;
  return n;
}

/** A word of the table as component of a parameter; 0 where the fragment stage does not read it. */
function readWord(at: u32, code: u32): u32 {
  return isOutputRead(code) ? scratchA[at] : 0;
}
let parameterCount: u32 = 0;
/**
 * Four words of the table from `at` on as the parameter of a location, for fragments that read it. What is too many has
 * the place of the output, where the back end refuses it: this may be a look at the stage before it is linked.
 */
function parameter(location: u32, at: u32): void {
  const code = location * 4;
  const x = readWord(at, code);
  const y = readWord(at + 1, code + 1);
  const z = readWord(at + 2, code + 2);
  const w = readWord(at + 3, code + 3);
  if ((x | y | z | w) == 0) return;
  const here = place();
  if (parameterCount >= MAX_PARAMETERS) {
    // Built-ins are handed on in case that the fragment stage reads them: not where they do not fit.
    if (location >= PARAMETERS && !isNextKnown()) return;
    let k: u32 = 0;
    while (k < 3 && readWord(at + k, code + k) == 0) k++;
    setPlace(scratchA[PLACES + at + k]);
  }
  parameterCount++;
  put(256 + location, x, y, z, w);
  setPlace(here);
}
function parameters(location: u32, first: u32, count: u32): void {
  for (let k: u32 = 0; k < count; k += 4) parameter(location + (k >> 2), first + k);
}

function orElse(value: u32, other: u32): u32 {
  return value != 0 ? value : other;
}

function exportVertex(): void {
  const zero = constantF(0);
  put(
    12,
    orElse(scratchA[POSITION], zero),
    orElse(scratchA[POSITION + 1], zero),
    orElse(scratchA[POSITION + 2], zero),
    orElse(scratchA[POSITION + 3], constantF(1)),
  );
  let target: u32 = 13;
  const size = scratchA[POINT_SIZE];
  const layer = scratchA[LAYER];
  const viewport = scratchA[VIEWPORT];
  misc = (size != 0 ? 256 : 0) | (layer != 0 ? 512 : 0) | (viewport != 0 ? 1024 : 0);
  if (misc != 0) {
    let z = layer;
    if (viewport != 0) {
      const high = bin(Op.ISHL, viewport, constant(16));
      z = layer == 0 ? high : bin(Op.IOR, layer, high);
    }
    put(target++, size, 0, z, 0);
  }
  clipCount = countOf(CLIP);
  cullCount = countOf(CULL);
  const distances = clipCount + cullCount;
  if (distances > 8) unsupported(Unsupported.DISTANCES, distances);
  for (let k: u32 = 0; k < distances; k += 4)
    put(target++, distance(k), distance(k + 1), distance(k + 2), distance(k + 3));
  done(DONE);
  for (let location: u32 = 0; location < PARAMETERS; location++) parameter(location, location * 4);
  parameters(Extra.CLIP, CLIP, clipCount);
  parameters(Extra.VIEWPORT, VIEWPORT, 1);
  parameters(Extra.CULL, CULL, cullCount);
  placeExports();
}

/** Exports the values that the outputs have at the cursor. `count` ids of the interface from word `first` on. */
export function exportOutputs(first: u32, count: u32): void {
  pending = 0;
  parameterCount = 0;
  lastExport = 0;
  gather(first, count);
  if (failed()) return;
  if (isFragment()) exportFragment();
  else exportVertex();
}
