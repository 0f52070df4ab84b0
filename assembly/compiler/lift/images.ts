/**
 * Images: sampling, fetches, loads, stores, atomics, queries. An image or sampler as a value has three leaves: variable,
 * IR value of the array element, whether that differs between lanes; a sampled image has those of the image, then those
 * of the sampler. The IR takes addresses in the hardware's order (gfx1030: MIMG operands).
 */
import { failed } from "../../base/index.ts";
import { Atomic, InstrFlag, Op } from "../../gen/ir-ops.ts";
import { SpvDim, SpvOp } from "../../gen/spirv.ts";
import {
  addSrc,
  constant,
  constantF,
  constBits,
  extract,
  isConst,
  newInstr,
  place0,
  STAGE_FRAGMENT,
  setFlags,
  setImm,
  setSrc,
  stage,
  system,
} from "../ir/index.ts";
import { bin, fadd, fmul, tri, un } from "./fold-build.ts";
import {
  Dec,
  IdClass,
  idAt,
  idClass,
  idDec,
  idLeaf,
  idType,
  leafPool,
  malformed,
  newLeaves,
  ptrElem,
  ptrFlags,
  ptrVar,
  scratchA,
  setValue,
  typeKind,
  unsupported,
} from "./ids.ts";
import {
  address,
  arrayed,
  build,
  cubeFace,
  cubeGradient,
  dim,
  faceId,
  faceS,
  faceT,
  flagsOf,
  hardwareDim,
  Image,
  multisampled,
  opBias,
  opGradX,
  opGradY,
  opLod,
  opMinLod,
  opOffset,
  opOffsets,
  opSample,
  packOffset,
  plainCoords,
  readOperands,
  readType,
  scalarsAt,
  setOffset,
  setSample,
  spread,
  startAddress,
} from "./image-operands.ts";
import { bindingOf, checkBinding, setOf } from "./memory.ts";
import { finish, operand, result, valueAt } from "./operands.ts";
import { pointerAt } from "./pointers.ts";
import { scalarsOf } from "./scalars.ts";
import { Unsupported } from "./texts.ts";
import { TypeKind } from "./types.ts";

/** The atomic that compares. */
const CMPSWAP: u32 = 9;

/** OpLoad of an image, sampler or sampled image. True where it was one. */
export function loadOpaque(at: u32): bool {
  const p = pointerAt(at + 3);
  if (failed()) return true;
  const type = idType[p];
  const kind = typeKind[type];
  if (kind != TypeKind.IMAGE && kind != TypeKind.SAMPLER && kind != TypeKind.SAMPLED_IMAGE) return false;
  if (type != idAt(at + 1)) {
    malformed(at + 1);
    return true;
  }
  const id = idAt(at + 2);
  const both = kind == TypeKind.SAMPLED_IMAGE;
  const leaf = newLeaves(both ? 6 : 3);
  if (failed()) return true;
  const differs = ((ptrFlags[p] | idDec[id]) & Dec.NON_UNIFORM) != 0;
  const count: u32 = both ? 6 : 3;
  for (let k: u32 = 0; k < count; k += 3) {
    leafPool[leaf + k] = ptrVar[p];
    leafPool[leaf + k + 1] = ptrElem[p] != 0 ? ptrElem[p] : constant(0);
    leafPool[leaf + k + 2] = differs ? 1 : 0;
  }
  setValue(id, type, leaf);
  return true;
}

/** Sampling and gathering. `proj`: the coordinate is divided by its last component; `dref`: word of the reference, 0. */
function sample(op: u32, at: u32, count: u32): void {
  const id = valueAt(at + 3);
  if (failed() || typeKind[idType[id]] != TypeKind.SAMPLED_IMAGE) {
    malformed(at);
    return;
  }
  const proj = op >= <u32>SpvOp.OpImageSampleProjImplicitLod && op <= <u32>SpvOp.OpImageSampleProjDrefExplicitLod;
  const gather = op == SpvOp.OpImageGather || op == SpvOp.OpImageDrefGather;
  const compare =
    op == SpvOp.OpImageSampleDrefImplicitLod ||
    op == SpvOp.OpImageSampleDrefExplicitLod ||
    op == SpvOp.OpImageSampleProjDrefImplicitLod ||
    op == SpvOp.OpImageSampleProjDrefExplicitLod ||
    op == SpvOp.OpImageDrefGather;
  readType(idType[id]);
  const n = plainCoords();
  const coords = scalarsAt(at + 4);
  if (failed() || scalarsOf(idType[idAt(at + 4)]) < n + (arrayed || proj ? 1 : 0)) {
    malformed(at + 4);
    return;
  }
  readOperands(at, count, compare || gather ? 6 : 5);
  if (failed()) return;
  let reference: u32 = compare ? leafPool[scalarsAt(at + 5)] : 0;
  const c = newLeaves(4);
  for (let k: u32 = 0; k < n + (arrayed ? 1 : 0); k++) leafPool[c + k] = leafPool[coords + k];
  if (proj) {
    const inverse = un(Op.FRCP, leafPool[coords + n]);
    for (let k: u32 = 0; k < n; k++) leafPool[c + k] = fmul(leafPool[c + k], inverse);
    if (compare) reference = fmul(reference, inverse);
  }
  const image = idLeaf[id];
  const out = result(at);
  if (failed()) return;
  const wanted = scalarsOf(idAt(at + 1));
  if (opOffsets != 0) {
    // Four gathers, each gives the texel that its offset names: the last of its four.
    for (let k: u32 = 0; k < 4 && !failed(); k++) {
      setOffset(opOffsets + 2 * k);
      const one = sampleOnce(at, image, c, n, reference, gather, compare);
      leafPool[out + k] = extract(one, 3);
    }
  } else {
    const value = sampleOnce(at, image, c, n, reference, gather, compare);
    spread(value, compare && !gather ? 1 : 4, out, wanted);
  }
  finish();
}

function sampleOnce(at: u32, image: u32, c: u32, n: u32, reference: u32, gather: bool, compare: bool): u32 {
  startAddress();
  let index: u32 = hardwareDim(false);
  let quad = false;
  const isCube = dim == SpvDim.Cube;
  if (opOffset != 0) {
    index |= Image.OFFSET;
    address(packOffset(opOffset, n));
  }
  if (opBias != 0) {
    index |= Image.BIAS;
    address(leafPool[opBias]);
  }
  if (compare) {
    index |= Image.COMPARE;
    address(reference);
  }
  if (isCube) cubeFace(leafPool[c], leafPool[c + 1], leafPool[c + 2]);
  if (opGradX != 0) {
    index |= Image.GRADIENTS;
    for (let d: u32 = 0; d < 2; d++) {
      const gradient = d == 0 ? opGradX : opGradY;
      if (isCube) cubeGradient(leafPool[c], leafPool[c + 1], leafPool[c + 2], gradient);
      else for (let k: u32 = 0; k < n; k++) address(leafPool[gradient + k]);
    }
  }
  if (isCube) {
    address(fadd(faceS, constantF(1.5)));
    address(fadd(faceT, constantF(1.5)));
    address(arrayed ? tri(Op.FFMA, un(Op.FROUND_EVEN, leafPool[c + 3]), constantF(8), faceId) : faceId);
  } else {
    for (let k: u32 = 0; k < n; k++) address(leafPool[c + k]);
    // The layer is the nearest one, of two as near the even one; the hardware takes what it gets. Source: Vulkan, "(s,t,r,q,a) to (u,v,w,a) Transformation".
    if (arrayed) address(un(Op.FROUND_EVEN, leafPool[c + n]));
  }
  if (gather) {
    const component = compare ? constant(0) : leafPool[operand(at + 5, 1)];
    if (!isConst(component)) malformed(at + 5);
    index |= Image.GATHER | Image.LOD_ZERO | (((<u32>1) << (failed() ? 0 : constBits(component) & 3)) << Image.DMASK);
  } else {
    index |= (compare ? <u32>1 : <u32>15) << Image.DMASK;
    if (opLod != 0) {
      const lod = leafPool[opLod];
      if (isConst(lod) && constBits(lod) == 0) {
        index |= Image.LOD_ZERO;
      } else {
        index |= Image.LOD;
        address(lod);
      }
    } else if (opGradX == 0) {
      // Other stages have no quads: the base level.
      if (stage() == STAGE_FRAGMENT) quad = true;
      else index |= Image.LOD_ZERO;
    }
    if (opMinLod != 0 && (index & Image.LOD_ZERO) == 0) {
      index |= Image.CLAMP;
      address(leafPool[opMinLod]);
    }
    // A bias without a level to add it to.
    if (!quad && opBias != 0) unsupported(Unsupported.IMAGE, SpvOp.OpImageSampleImplicitLod);
  }
  const components: u32 = gather ? 4 : compare ? 1 : 4;
  return build(quad ? Op.IMAGE_SAMPLE_QUAD : Op.IMAGE_SAMPLE, index, components, image, image + 3, 0);
}

/** The coordinates of a texel, with offset; a subpass input counts from the pixel. */
function texelAddress(coords: u32, count: u32): void {
  const n = plainCoords() + (arrayed && dim != SpvDim.Cube ? 1 : 0);
  for (let k: u32 = 0; k < n; k++) {
    let value = k < count ? leafPool[coords + k] : constant(0);
    if (opOffset != 0 && k < plainCoords()) value = bin(Op.IADD, value, leafPool[opOffset + k]);
    if (dim == SpvDim.SubpassData && k < 2) value = bin(Op.IADD, value, un(Op.F2I, system(Op.LOAD_FRAG_COORD, k)));
    address(value);
  }
  if (multisampled) address(opSample != 0 ? leafPool[opSample] : constant(0));
}

function texel(op: u32, image: u32, data: u32, components: u32, index: u32): u32 {
  const i = newInstr(op, components == 0 ? 0 : 32, components, 0);
  const variable = leafPool[image];
  checkBinding(variable);
  if (op == Op.STORE_TEXEL) addSrc(i, data);
  addSrc(i, index);
  addSrc(i, leafPool[image + 1]);
  setImm(i, 0, setOf(variable));
  setImm(i, 1, bindingOf(variable));
  setFlags(i, flagsOf(image));
  return place0(i);
}

/** OpImageFetch, OpImageRead. */
function load(op: u32, at: u32, count: u32): void {
  const id = valueAt(at + 3);
  if (failed() || typeKind[idType[id]] != TypeKind.IMAGE) {
    malformed(at);
    return;
  }
  readType(idType[id]);
  const coords = scalarsAt(at + 4);
  const given = failed() ? 0 : scalarsOf(idType[idAt(at + 4)]);
  readOperands(at, count, 5);
  const out = result(at);
  if (failed()) return;
  const wanted = scalarsOf(idAt(at + 1));
  const image = idLeaf[id];
  if (dim == SpvDim.Buffer) {
    spread(texel(Op.LOAD_TEXEL, image, 0, 4, leafPool[coords]), 4, out, wanted);
    finish();
    return;
  }
  startAddress();
  let index: u32 = hardwareDim(true) | (15 << Image.DMASK);
  texelAddress(coords, given);
  if (op == SpvOp.OpImageFetch && opLod != 0 && !(isConst(leafPool[opLod]) && constBits(leafPool[opLod]) == 0)) {
    index |= Image.MIP;
    address(leafPool[opLod]);
  }
  spread(build(Op.IMAGE_LOAD, index, 4, image, 0, 0), 4, out, wanted);
  finish();
}

/** OpImageWrite. */
function storeImage(at: u32, count: u32): void {
  const id = valueAt(at + 1);
  if (failed() || typeKind[idType[id]] != TypeKind.IMAGE) {
    malformed(at);
    return;
  }
  readType(idType[id]);
  const coords = scalarsAt(at + 2);
  const texelLeaf = scalarsAt(at + 3);
  if (failed()) return;
  const given = scalarsOf(idType[idAt(at + 2)]);
  const n = scalarsOf(idType[idAt(at + 3)]);
  readOperands(at, count, 4);
  if (failed()) return;
  const image = idLeaf[id];
  if (dim == SpvDim.Buffer) {
    const data = newInstr(Op.VEC, 32, 4, 4);
    for (let k: u32 = 0; k < 4; k++) setSrc(data, k, k < n ? leafPool[texelLeaf + k] : constant(0));
    place0(data);
    texel(Op.STORE_TEXEL, image, data, 0, leafPool[coords]);
    return;
  }
  for (let k: u32 = 0; k < 4; k++) scratchA[k] = k < n ? leafPool[texelLeaf + k] : constant(0);
  startAddress();
  texelAddress(coords, given);
  build(Op.IMAGE_STORE, hardwareDim(true) | (15 << Image.DMASK), 0, image, 0, 4);
}

/** Queries of size, levels and LOD. */
function query(op: u32, at: u32): void {
  const id = valueAt(at + 3);
  if (failed()) return;
  readType(idType[id]);
  const image = idLeaf[id];
  const sampled = typeKind[idType[id]] == TypeKind.SAMPLED_IMAGE;
  const out = result(at);
  if (failed()) return;
  const wanted = scalarsOf(idAt(at + 1));
  startAddress();
  if (op == SpvOp.OpImageQueryLod) {
    if (!sampled || stage() != STAGE_FRAGMENT) {
      unsupported(Unsupported.IMAGE, op);
      return;
    }
    const coords = scalarsAt(at + 4);
    if (failed()) return;
    const n = plainCoords();
    if (dim == SpvDim.Cube) {
      cubeFace(leafPool[coords], leafPool[coords + 1], leafPool[coords + 2]);
      address(fadd(faceS, constantF(1.5)));
      address(fadd(faceT, constantF(1.5)));
      address(faceId);
    } else {
      for (let k: u32 = 0; k < n; k++) address(leafPool[coords + k]);
      if (arrayed) address(constant(0));
    }
    const value = build(Op.IMAGE_QUERY_LOD, hardwareDim(false) | (3 << Image.DMASK), 2, image, image + 3, 0);
    spread(value, 2, out, wanted);
    finish();
    return;
  }
  if (dim == SpvDim.Buffer) {
    const i = newInstr(Op.TEXEL_COUNT, 32, 1, 0);
    addSrc(i, leafPool[image + 1]);
    checkBinding(leafPool[image]);
    setImm(i, 0, setOf(leafPool[image]));
    setImm(i, 1, bindingOf(leafPool[image]));
    setFlags(i, flagsOf(image));
    leafPool[out] = place0(i);
    finish();
    return;
  }
  if (op == SpvOp.OpImageQuerySamples) {
    leafPool[out] = build(Op.IMAGE_SAMPLES, hardwareDim(true), 1, image, 0, 0);
    finish();
    return;
  }
  address(op == SpvOp.OpImageQuerySizeLod ? leafPool[scalarsAt(at + 4)] : constant(0));
  if (failed()) return;
  const value = build(Op.IMAGE_SIZE, hardwareDim(true) | (15 << Image.DMASK), 4, image, 0, 0);
  if (op == SpvOp.OpImageQueryLevels) {
    leafPool[out] = extract(value, 3);
    finish();
    return;
  }
  // Width, height, depth or layers: the layers stand third whatever the dimension; six faces are one layer of a cube.
  const flat: u32 = dim == SpvDim.Cube ? 2 : plainCoords();
  for (let k: u32 = 0; k < wanted; k++) {
    if (k < flat) leafPool[out + k] = extract(value, k);
    else if (dim == SpvDim.Cube) leafPool[out + k] = bin(Op.UDIV, extract(value, 2), constant(6));
    else leafPool[out + k] = extract(value, 2);
  }
  finish();
}

/** OpImageTexelPointer: the id keeps the image's leaves, then coordinates and sample. */
function texelPointer(at: u32): void {
  const p = pointerAt(at + 3);
  if (failed() || typeKind[idType[p]] != TypeKind.IMAGE) {
    malformed(at);
    return;
  }
  const coords = scalarsAt(at + 4);
  const sampleLeaf = scalarsAt(at + 5);
  const leaf = newLeaves(8);
  if (failed()) return;
  const id = idAt(at + 2);
  leafPool[leaf] = ptrVar[p];
  leafPool[leaf + 1] = ptrElem[p] != 0 ? ptrElem[p] : constant(0);
  leafPool[leaf + 2] = ((ptrFlags[p] | idDec[id]) & Dec.NON_UNIFORM) != 0 ? 1 : 0;
  const n = scalarsOf(idType[idAt(at + 4)]);
  for (let k: u32 = 0; k < 4; k++) leafPool[leaf + 3 + k] = k < n ? leafPool[coords + k] : constant(0);
  leafPool[leaf + 7] = leafPool[sampleLeaf];
  idClass[id] = IdClass.TEXEL;
  idType[id] = idType[p];
  idLeaf[id] = leaf;
}

/** An atomic on the texel that id `p` points at; the old value. `expected` 0: none, else `data` is the new value. */
export function atomicTexel(p: u32, atomic: u32, data: u32, expected: u32): u32 {
  readType(idType[p]);
  const leaf = idLeaf[p];
  const kind: u32 = expected != 0 ? CMPSWAP : atomic;
  if (dim == SpvDim.Buffer) {
    const i = newInstr(Op.TEXEL_ATOMIC, 32, 1, 0);
    addSrc(i, leafPool[leaf + 3]);
    addSrc(i, leafPool[leaf + 1]);
    addSrc(i, data);
    if (expected != 0) addSrc(i, expected);
    checkBinding(leafPool[leaf]);
    setImm(i, 0, setOf(leafPool[leaf]));
    setImm(i, 1, bindingOf(leafPool[leaf]));
    setImm(i, 2, kind);
    setFlags(i, flagsOf(leaf) | InstrFlag.COHERENT);
    return place0(i);
  }
  startAddress();
  setOffset(0);
  setSample(leaf + 7);
  texelAddress(leaf + 3, 4);
  scratchA[0] = data;
  scratchA[1] = expected;
  const count: u32 = expected != 0 ? 2 : 1;
  const mask: u32 = expected != 0 ? 3 : 1;
  return build(Op.IMAGE_ATOMIC, hardwareDim(true) | (mask << Image.DMASK) | (kind << Image.ATOMIC), 1, leaf, 0, count);
}

/** OpAtomicLoad: or with nothing. */
export function loadTexel(p: u32): u32 {
  return atomicTexel(p, <u32>Atomic.OR, constant(0), 0);
}

/** OpSampledImage: image and sampler side by side. */
function combine(at: u32): void {
  const image = valueAt(at + 3);
  const sampler = valueAt(at + 4);
  const leaf = newLeaves(6);
  if (failed()) return;
  for (let k: u32 = 0; k < 3; k++) {
    leafPool[leaf + k] = leafPool[idLeaf[image] + k];
    leafPool[leaf + 3 + k] = leafPool[idLeaf[sampler] + k];
  }
  setValue(idAt(at + 2), idAt(at + 1), leaf);
}

/** Lifts an image instruction. False where it is none. */
export function liftImage(op: u32, at: u32, count: u32): bool {
  switch (op) {
    case SpvOp.OpImageSampleImplicitLod:
    case SpvOp.OpImageSampleExplicitLod:
    case SpvOp.OpImageSampleDrefImplicitLod:
    case SpvOp.OpImageSampleDrefExplicitLod:
    case SpvOp.OpImageSampleProjImplicitLod:
    case SpvOp.OpImageSampleProjExplicitLod:
    case SpvOp.OpImageSampleProjDrefImplicitLod:
    case SpvOp.OpImageSampleProjDrefExplicitLod:
    case SpvOp.OpImageGather:
    case SpvOp.OpImageDrefGather:
      sample(op, at, count);
      return true;
    case SpvOp.OpImageFetch:
    case SpvOp.OpImageRead:
      load(op, at, count);
      return true;
    case SpvOp.OpImageWrite:
      storeImage(at, count);
      return true;
    case SpvOp.OpImageQuerySizeLod:
    case SpvOp.OpImageQuerySize:
    case SpvOp.OpImageQueryLod:
    case SpvOp.OpImageQueryLevels:
    case SpvOp.OpImageQuerySamples:
      query(op, at);
      return true;
    case SpvOp.OpImageTexelPointer:
      texelPointer(at);
      return true;
    case SpvOp.OpSampledImage:
      combine(at);
      return true;
    case SpvOp.OpImage: {
      const id = valueAt(at + 3);
      if (!failed()) setValue(idAt(at + 2), idAt(at + 1), idLeaf[id]);
      return true;
    }
    default:
      return false;
  }
}
