/**
 * Inputs and outputs of the graphics stages. A variable's scalar k has a code: location * 4 + component, or BUILT_IN with
 * the number of the built-in and the place in it. Inputs are read where they are loaded; outputs are local variables
 * whose last values are exported at the end of the entry point.
 */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvBuiltIn, SpvOp } from "../../gen/spirv.ts";
import { isInputKnown, knownInput, pipelineWord, VERTEX_ROW, VertexColumn } from "../io.ts";
import {
  alu1,
  alu2,
  constant,
  constantF,
  extract,
  loadVar,
  newInstr,
  place0,
  STAGE_FRAGMENT,
  setImm,
  setSrc,
  stage,
  system,
  varWidth,
} from "../ir/index.ts";
import { unary } from "./alu.ts";
import { bin, fadd, fmul, un } from "./fold-build.ts";
import {
  Dec,
  decBuiltIn,
  decStride,
  idDec,
  idLeaf,
  idType,
  memberBuiltIn,
  memberDec,
  memberLeaf,
  memberOffset,
  memberType,
  typeA,
  typeB,
  typeKind,
  typeLeaves,
  unsupported,
} from "./ids.ts";
import { kindOfVar, PtrKind } from "./pointers.ts";
import { Unsupported } from "./texts.ts";
import { scalarWidth, TypeKind } from "./types.ts";

/** Bit of a code: a built-in, its number in [15:0], the scalar of it in [23:16]. */
export const BUILT_IN: u32 = 0x8000_0000;

/** Locations of what passes between the stages without one. Above the 64 that the module can name. */
export const enum Extra {
  POINT_COORD = 64,
  PRIMITIVE_ID = 65,
  /** Clip distances, cull distances: two locations each. */
  CLIP = 66,
  VIEWPORT = 69,
  CULL = 70,
}

/** Flat, centroid, … of the scalar that `codeOf` looked at last. */
let found: u32 = 0;
/** Type of the scalar that `codeOf` looked at last. */
let foundType: u32 = 0;

/** Locations that a type takes. Source: Vulkan, "Location Assignment". */
function locationsOf(type: u32): u32 {
  switch (typeKind[type]) {
    case TypeKind.MATRIX:
    case TypeKind.ARRAY:
      return typeB[type] * locationsOf(typeA[type]);
    case TypeKind.STRUCT: {
      let n: u32 = 0;
      for (let m: u32 = 0; m < typeB[type]; m++) n += locationsOf(memberType[typeA[type] + m]);
      return n;
    }
    default:
      return scalarWidth(type) == 64 && typeKind[type] == TypeKind.VECTOR && typeB[type] > 2 ? 2 : 1;
  }
}

/** The code of scalar k of a variable; `found` gets its interpolation. Types nest at most 512 deep (`types.ts`). */
export function codeOf(variable: u32, k: u32): u32 {
  found = idDec[variable];
  let type = idType[variable];
  let left = k;
  if (decBuiltIn[variable] != 0) {
    foundType = type;
    return BUILT_IN | (decBuiltIn[variable] - 1) | (k << 16);
  }
  let location = decStride[variable] & 0xffff;
  if (location != 0) location--;
  let component = (decStride[variable] >> 16) & 3;
  for (let depth = 0; depth < 128; depth++) {
    const kind = typeKind[type];
    if (kind == TypeKind.STRUCT) {
      let m: u32 = 0;
      let at = location;
      const first = typeA[type];
      while (m + 1 < typeB[type] && memberLeaf[first + m + 1] <= left) {
        at += locationsOf(memberType[first + m]);
        m++;
      }
      left -= memberLeaf[first + m];
      found |= memberDec[first + m];
      type = memberType[first + m];
      if (memberBuiltIn[first + m] != 0) {
        foundType = type;
        return BUILT_IN | (memberBuiltIn[first + m] - 1) | (left << 16);
      }
      const given = memberOffset[first + m];
      location = (given & 0xffff) != 0 ? (given & 0xffff) - 1 : at;
      if (given != 0) component = (given >> 16) & 3;
    } else if (kind == TypeKind.MATRIX || kind == TypeKind.ARRAY) {
      const part = typeA[type];
      const index = left / typeLeaves[part];
      location += index * locationsOf(part);
      left -= index * typeLeaves[part];
      type = part;
    } else {
      break;
    }
  }
  foundType = type;
  component += left;
  return (location + (component >> 2)) * 4 + (component & 3);
}

function isFloat(): bool {
  let t = foundType;
  while (typeKind[t] == TypeKind.VECTOR || typeKind[t] == TypeKind.ARRAY) t = typeA[t];
  return typeKind[t] == TypeKind.FLOAT && typeA[t] != 64;
}
function foundWidth(): u32 {
  let t = foundType;
  while (typeKind[t] == TypeKind.ARRAY) t = typeA[t];
  return scalarWidth(t);
}

function pair(op: u32, index: u32, component: u32): u32 {
  const i = newInstr(op, 32, 1, 0);
  setImm(i, 0, index);
  setImm(i, 1, component);
  return place0(i);
}

/** Kind of i and j for the interpolation that decorations ask for. Source: SPI_PS_INPUT_ADDR. */
function barycentric(dec: u32): u32 {
  const linear: u32 = (dec & Dec.NO_PERSPECTIVE) != 0 ? 4 : 0;
  if ((dec & Dec.SAMPLE) != 0) return linear;
  return linear + ((dec & Dec.CENTROID) != 0 ? 2 : 1);
}

/** What interpolateAt* asks for while its input is loaded: 3 the center, 2 the centroid, 1 the center moved by an offset; 0: as declared. */
let asked: u32 = 0;
let offsetX: u32 = 0;
let offsetY: u32 = 0;
export function askInterpolation(kind: u32, x: u32, y: u32): void {
  asked = kind;
  offsetX = x;
  offsetY = y;
}

/** i or j at the offset from the center, in pixels, as the quad's neighbours show how it changes. */
function movedBary(kind: u32, component: u32): u32 {
  const center = pair(Op.LOAD_BARY, kind, component);
  const across = fmul(unary(SpvOp.OpDPdxFine, center), offsetX);
  const down = fmul(unary(SpvOp.OpDPdyFine, center), offsetY);
  return fadd(fadd(center, across), down);
}

function attribute(location: u32, component: u32, declared: u32): u32 {
  const kind = asked == 0 ? declared : (declared & 4) | (asked == 3 ? 1 : asked);
  if (asked == 1) {
    const moved = alu2(Op.INTERP, movedBary(kind, 0), movedBary(kind, 1));
    setImm(moved, 0, location);
    setImm(moved, 1, component);
    return moved;
  }
  const i = alu2(Op.INTERP, pair(Op.LOAD_BARY, kind, 0), pair(Op.LOAD_BARY, kind, 1));
  setImm(i, 0, location);
  setImm(i, 1, component);
  return i;
}

/** Scalar k of an input of the fragment stage, interpolated as `kind` says where it is not flat (-1: as declared). */
export function fragmentInput(variable: u32, k: u32, kind: i32): u32 {
  const code = codeOf(variable, k);
  if ((code & BUILT_IN) != 0) return fragmentBuiltIn(code & 0xffff, (code >> 16) & 0xff, kind);
  if (code >= <u32>Extra.POINT_COORD * 4) {
    unsupported(Unsupported.INPUT_LOCATION, code >> 2);
    return constant(0);
  }
  const flat = (found & Dec.FLAT) != 0 || !isFloat();
  // What is the same at all vertices is the same between them.
  const known = isInputKnown(code);
  let value: u32 = 0;
  if (known) value = constant(knownInput(code));
  else if (flat) value = pair(Op.INTERP_FLAT, code >> 2, code & 3);
  else value = attribute(code >> 2, code & 3, kind >= 0 ? <u32>kind : barycentric(found));
  // Halves travel as f32, flat or not: `outputWord`.
  if (isFloat()) return foundWidth() == 16 ? un(Op.F2F16, value) : value;
  return narrowed(value);
}

/** A narrow scalar from the word that it travelled in. */
function narrowed(word: u32): u32 {
  const width = foundWidth();
  if (width == 1) return bin(Op.INE, word, constant(0));
  return width < 32 ? bin(Op.IAND, word, constant(((<u32>1) << width) - 1)) : word;
}

function fragmentBuiltIn(builtIn: u32, k: u32, kind: i32): u32 {
  const center: u32 = kind >= 0 ? <u32>kind : barycentric(found);
  switch (builtIn) {
    case SpvBuiltIn.FragCoord: {
      const value = system(Op.LOAD_FRAG_COORD, k);
      return k == 3 ? un(Op.FRCP, value) : value;
    }
    case SpvBuiltIn.FrontFacing:
      return bin(Op.INE, system(Op.LOAD_FRONT_FACE, 0), constant(0));
    case SpvBuiltIn.SampleId:
      return sampleId();
    case SpvBuiltIn.SampleMask:
      return system(Op.LOAD_SAMPLE_COVERAGE, 0);
    case SpvBuiltIn.SamplePosition:
      // With sample shading, positions come at the sample: what is behind the point.
      return alu1(Op.FFRACT, system(Op.LOAD_FRAG_COORD, k));
    case SpvBuiltIn.Layer:
      return field(system(Op.LOAD_ANCILLARY, 0), 16, 11);
    case SpvBuiltIn.ViewportIndex:
      return pair(Op.INTERP_FLAT, Extra.VIEWPORT, 0);
    case SpvBuiltIn.PrimitiveId:
      return pair(Op.INTERP_FLAT, Extra.PRIMITIVE_ID, 0);
    case SpvBuiltIn.PointCoord:
      return attribute(Extra.POINT_COORD, k, center);
    case SpvBuiltIn.ClipDistance:
      return attribute(<u32>Extra.CLIP + (k >> 2), k & 3, center);
    case SpvBuiltIn.CullDistance:
      return attribute(<u32>Extra.CULL + (k >> 2), k & 3, center);
    case SpvBuiltIn.ViewIndex:
    case SpvBuiltIn.DeviceIndex:
      return constant(0);
    case SpvBuiltIn.HelperInvocation: {
      const i = newInstr(Op.LOAD_HELPER, 1, 1, 0);
      return place0(i);
    }
    default:
      unsupported(Unsupported.BUILTIN, builtIn);
      return constant(0);
  }
}

function field(word: u32, from: u32, bits: u32): u32 {
  return bin(Op.IAND, bin(Op.USHR, word, constant(from)), constant(((<u32>1) << bits) - 1));
}
function sampleId(): u32 {
  return field(system(Op.LOAD_ANCILLARY, 0), 8, 4);
}

/** Scalar k of an input of the vertex stage. */
export function vertexInput(variable: u32, k: u32): u32 {
  const code = codeOf(variable, k);
  if ((code & BUILT_IN) == 0) return vertexAttribute(code >> 2, code & 3);
  switch (code & 0xffff) {
    case SpvBuiltIn.VertexIndex:
      return bin(Op.IADD, system(Op.LOAD_VERTEX_ID, 0), system(Op.LOAD_DRAW, 0));
    case SpvBuiltIn.InstanceIndex:
      return bin(Op.IADD, system(Op.LOAD_INSTANCE_ID, 0), system(Op.LOAD_DRAW, 2));
    case SpvBuiltIn.BaseVertex:
      return system(Op.LOAD_DRAW, 0);
    case SpvBuiltIn.BaseInstance:
      return system(Op.LOAD_DRAW, 2);
    case SpvBuiltIn.DrawIndex:
      return system(Op.LOAD_DRAW, 1);
    case SpvBuiltIn.ViewIndex:
    case SpvBuiltIn.DeviceIndex:
      // One view, one device.
      return constant(0);
    default:
      unsupported(Unsupported.BUILTIN, code & 0xffff);
      return constant(0);
  }
}

/** A component of a vertex attribute, by the pipeline's row for its location. Missing components are 0, 0, 0, 1. */
function vertexAttribute(location: u32, component: u32): u32 {
  const row = VERTEX_ROW + location * <u32>VertexColumn.COUNT;
  if (location >= 32 || pipelineWord(row + VertexColumn.FORMAT) == 0) {
    unsupported(Unsupported.VERTEX_INPUT, location);
    return constant(0);
  }
  const count = pipelineWord(row + VertexColumn.COMPONENTS);
  if (component >= count) {
    if (component != 3 || foundWidth() == 64) return constant(0);
    return isFloat() ? constantF(1) : constant(1);
  }
  const instanced = pipelineWord(row + VertexColumn.RATE) != 0;
  let index: u32 = 0;
  if (instanced) {
    const divisor = pipelineWord(row + VertexColumn.DIVISOR);
    let instance = system(Op.LOAD_INSTANCE_ID, 0);
    if (divisor > 1) instance = bin(Op.UDIV, instance, constant(divisor));
    const first = system(Op.LOAD_DRAW, 2);
    index = divisor == 0 ? first : bin(Op.IADD, instance, first);
  } else {
    index = bin(Op.IADD, system(Op.LOAD_VERTEX_ID, 0), system(Op.LOAD_DRAW, 0));
  }
  // BGRA: red and blue change places.
  const swapped = pipelineWord(row + VertexColumn.SWAPPED) != 0 && (component & 1) == 0;
  const i = newInstr(Op.LOAD_VERTEX, 32, count, 1);
  setSrc(i, 0, index);
  setImm(i, 0, pipelineWord(row + VertexColumn.BINDING));
  setImm(i, 1, pipelineWord(row + VertexColumn.OFFSET));
  setImm(i, 2, pipelineWord(row + VertexColumn.FORMAT));
  place0(i);
  const value = count == 1 ? i : extract(i, swapped ? 2 - component : component);
  if (foundWidth() == 16 && isFloat()) return un(Op.F2F16, value);
  return narrowed(value);
}

/** Last value of scalar k of an output variable, as a word to export. */
export function outputWord(variable: u32, k: u32): u32 {
  const v = idLeaf[variable] - 1 + k;
  const value = loadVar(v, varWidth[v]);
  if (varWidth[v] == 1) return un(Op.B2I, value);
  return foundWidth() == 16 && isFloat() ? un(Op.F162F, value) : value;
}

/** An output variable that something was stored to or read from. */
export function isUsedOutput(variable: u32): bool {
  return !failed() && kindOfVar(variable) == PtrKind.OUTPUT && idLeaf[variable] != 0;
}
/** Whether the scalar of the last code is a float. */
export function lastIsFloat(): bool {
  return isFloat();
}
/** Source: `setStage`. */
export function isFragment(): bool {
  return stage() == STAGE_FRAGMENT;
}
