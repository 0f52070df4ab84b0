/** What image instructions have in common: the type of the image, its operands, the address, faces of cubes, the IR op. */
import { failed } from "../../base/index.ts";
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import { SpvDim, SpvImageOperands } from "../../gen/spirv.ts";
import { addSrc, alu3, constant, constantF, extract, newInstr, place0, setFlags, setImm } from "../ir/index.ts";
import { bin, fadd, fmul, fsub, sel, tri, un } from "./fold-build.ts";
import { Dec, idDec, idType, leafPool, scratchA, scratchB, typeA, typeB, typeKind, wordAt } from "./ids.ts";
import { bindingOf, checkBinding, setOf } from "./memory.ts";
import { operand, valueAt } from "./operands.ts";
import { scalarsOf } from "./scalars.ts";
import { TypeKind } from "./types.ts";

/** Bits of the IR's `index` immediate. */
export const enum Image {
  DMASK = 3,
  OFFSET = 1 << 7,
  BIAS = 1 << 8,
  COMPARE = 1 << 9,
  GRADIENTS = 1 << 10,
  LOD = 1 << 11,
  LOD_ZERO = 1 << 12,
  CLAMP = 1 << 13,
  GATHER = 1 << 14,
  MIP = 1 << 15,
  DATA = 16,
  ATOMIC = 20,
}

// The image type that is being worked on.
export let dim: u32 = 0;

export let arrayed: bool = false;

export let multisampled: bool = false;

export function readType(type: u32): void {
  const image = typeKind[type] == TypeKind.SAMPLED_IMAGE ? typeA[type] : type;
  const word = typeB[image];
  dim = word & 15;
  arrayed = ((word >> 6) & 1) != 0;
  multisampled = ((word >> 7) & 1) != 0;
}

/** Code of the dimension; storage images and fetches see the faces of a cube as layers. */
export function hardwareDim(layered: bool): u32 {
  switch (dim) {
    case SpvDim.Dim1D:
      return arrayed ? 4 : 0;
    case SpvDim.Dim3D:
      return 2;
    case SpvDim.Cube:
      return layered ? 5 : 3;
    default:
      return multisampled ? (arrayed ? 7 : 6) : arrayed ? 5 : 1;
  }
}

/** Coordinates without the layer. */
export function plainCoords(): u32 {
  return dim == SpvDim.Dim1D || dim == SpvDim.Buffer ? 1 : dim == SpvDim.Dim3D || dim == SpvDim.Cube ? 3 : 2;
}

// The address that is being made: scratchB[0 .. addressCount).
let addressCount: u32 = 0;

export function startAddress(): void {
  addressCount = 0;
}
export function address(value: u32): void {
  if (addressCount < 32) scratchB[addressCount++] = value;
}

/** Access flags of an image variable. */
export function flagsOf(leaf: u32): u32 {
  const dec = idDec[leafPool[leaf]];
  let flags: u32 = leafPool[leaf + 2] != 0 ? <u32>InstrFlag.NONUNIFORM : 0;
  if ((dec & (Dec.COHERENT | Dec.VOLATILE)) != 0) flags |= InstrFlag.COHERENT;
  if ((dec & Dec.VOLATILE) != 0) flags |= InstrFlag.VOLATILE;
  return flags;
}

/** An image op: `image` and `sampler` (0: none) are leaves; data in scratchA[0 .. data). */
export function build(op: u32, index: u32, components: u32, image: u32, sampler: u32, data: u32): u32 {
  const i = newInstr(op, components == 0 ? 0 : 32, components, 0);
  const imageVar = leafPool[image];
  const samplerVar = sampler != 0 ? leafPool[sampler] : imageVar;
  addSrc(i, leafPool[image + 1]);
  addSrc(i, sampler != 0 ? leafPool[sampler + 1] : constant(0));
  for (let k: u32 = 0; k < data; k++) addSrc(i, scratchA[k]);
  for (let k: u32 = 0; k < addressCount; k++) addSrc(i, scratchB[k]);
  checkBinding(imageVar);
  checkBinding(samplerVar);
  setImm(i, 0, index | (data << Image.DATA));
  setImm(i, 1, setOf(imageVar) | (setOf(samplerVar) << 16));
  setImm(i, 2, bindingOf(imageVar) | (bindingOf(samplerVar) << 16));
  let flags = flagsOf(image);
  if (sampler != 0 && leafPool[sampler + 2] != 0) flags |= InstrFlag.NONUNIFORM;
  setFlags(i, flags);
  return place0(i);
}

// Image operands of the instruction: leaves of scalars, 0 for none.
let operandBits: u32 = 0;

export let opBias: u32 = 0;

export let opLod: u32 = 0;

export let opGradX: u32 = 0;

export let opGradY: u32 = 0;

export let opOffset: u32 = 0;

export let opOffsets: u32 = 0;

export let opSample: u32 = 0;

export let opMinLod: u32 = 0;

/** The offset (leaf of its scalars) and the sample of an access that the operands do not name. */
export function setOffset(leaf: u32): void {
  opOffset = leaf;
}
export function setSample(leaf: u32): void {
  opSample = leaf;
}

export function scalarsAt(k: u32): u32 {
  const id = valueAt(k);
  return failed() ? 1 : operand(k, scalarsOf(idType[id]));
}

export function readOperands(at: u32, count: u32, first: u32): void {
  opBias = 0;
  opLod = 0;
  opGradX = 0;
  opGradY = 0;
  opOffset = 0;
  opOffsets = 0;
  opSample = 0;
  opMinLod = 0;
  operandBits = first < count ? wordAt(at + first) : 0;
  let k = at + first + 1;
  if ((operandBits & SpvImageOperands.Bias) != 0) opBias = scalarsAt(k++);
  if ((operandBits & SpvImageOperands.Lod) != 0) opLod = scalarsAt(k++);
  if ((operandBits & SpvImageOperands.Grad) != 0) {
    opGradX = scalarsAt(k++);
    opGradY = scalarsAt(k++);
  }
  if ((operandBits & SpvImageOperands.ConstOffset) != 0) opOffset = scalarsAt(k++);
  if ((operandBits & SpvImageOperands.Offset) != 0) opOffset = scalarsAt(k++);
  if ((operandBits & SpvImageOperands.ConstOffsets) != 0) opOffsets = scalarsAt(k++);
  if ((operandBits & SpvImageOperands.Sample) != 0) opSample = scalarsAt(k++);
  if ((operandBits & SpvImageOperands.MinLod) != 0) opMinLod = scalarsAt(k++);
}

/** Offsets of `n` coordinates in one word: 6 bits each, a byte apart. */
export function packOffset(leaf: u32, n: u32): u32 {
  let word: u32 = 0;
  for (let k: u32 = 0; k < n; k++) {
    const part = bin(Op.IAND, leafPool[leaf + k], constant(0x3f));
    const moved = k == 0 ? part : bin(Op.ISHL, part, constant(8 * k));
    word = word == 0 ? moved : bin(Op.IOR, word, moved);
  }
  return word;
}

// A cube's face coordinates: results of `cubeFace`.
export let faceId: u32 = 0;

export let faceS: u32 = 0;

export let faceT: u32 = 0;

let faceInverse: u32 = 0;

export function cubeFace(x: u32, y: u32, z: u32): void {
  faceId = alu3(Op.CUBE_ID, x, y, z);
  faceInverse = un(Op.FRCP, un(Op.FABS, alu3(Op.CUBE_MA, x, y, z)));
  faceS = fmul(alu3(Op.CUBE_S, x, y, z), faceInverse);
  faceT = fmul(alu3(Op.CUBE_T, x, y, z), faceInverse);
}

/** The gradients of a direction on the face that x, y, z point at: d s, d t by the quotient rule. */
export function cubeGradient(x: u32, y: u32, z: u32, gradient: u32): void {
  const dx = leafPool[gradient];
  const dy = leafPool[gradient + 1];
  const dz = leafPool[gradient + 2];
  const isZ = bin(Op.FGE, faceId, constantF(4));
  const isY = bin(Op.IAND, bin(Op.FGE, faceId, constantF(2)), un(Op.INOT, isZ));
  const major = sel(isZ, z, sel(isY, y, x));
  const sign = tri(Op.BFI, constant(0x7fff_ffff), constantF(1), major);
  const dMajor = fmul(sign, sel(isZ, dz, sel(isY, dy, dx)));
  const ds = sel(isZ, fmul(sign, dx), sel(isY, dx, un(Op.FNEG, fmul(sign, dz))));
  const dt = sel(isY, fmul(sign, dz), un(Op.FNEG, dy));
  const twice = fmul(fadd(dMajor, dMajor), faceInverse);
  address(fsub(fmul(ds, faceInverse), fmul(faceS, twice)));
  address(fsub(fmul(dt, faceInverse), fmul(faceT, twice)));
}

/** The four results of an image op, from `leaf` on; fewer where the result has fewer. */
export function spread(value: u32, components: u32, out: u32, wanted: u32): void {
  for (let k: u32 = 0; k < wanted; k++) {
    leafPool[out + k] = k >= components ? constant(0) : components == 1 ? value : extract(value, k);
  }
}
