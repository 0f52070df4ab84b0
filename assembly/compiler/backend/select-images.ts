/** Selection of images and texel buffers. The `index` immediate: see the rows of src/ir. */
import { Fail, failAt } from "../../base/index.ts";
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { componentsOf, flagsOf, imm, instrPlace, opOf, src, srcCount, useCount } from "../ir/index.ts";
import { constantOperand, copy, inVgpr, raw, saluNew } from "./build.ts";
import { mDst0, mImm, mMods, mSrc0, mSrc1, mSrc2, mSrc3, valueOperand } from "./columns.ts";
import { constantTuple } from "./constants.ts";
import { imageDescriptor, samplerDescriptor, texelDescriptor } from "./descriptors.ts";
import { startPixels } from "./exact.ts";
import { AddressIn, addressGroup, placeAddress, tuple } from "./image-addresses.ts";
import { component, Hw, hw, Mod, newVreg, RegClass } from "./machine.ts";
import { dataOperand } from "./select-memory.ts";
import { define, operandOf } from "./values.ts";

const OFFSET: u32 = 1 << 7;
const BIAS: u32 = 1 << 8;
const COMPARE: u32 = 1 << 9;
const GRADIENTS: u32 = 1 << 10;
const LOD: u32 = 1 << 11;
const LOD_ZERO: u32 = 1 << 12;
const CLAMP: u32 = 1 << 13;
const GATHER: u32 = 1 << 14;
const MIP: u32 = 1 << 15;
/** Coordinates are whole texels. Source: MIMG, UNRM. */
const UNORM: u32 = 1 << 7;

/** The 32 sampling instructions stand in the order of their opcodes: LOD mode [2:0], compare 3, offset 4. */
function sampleOp(index: u32): u32 {
  const clamp: u32 = (index & CLAMP) != 0 ? 1 : 0;
  let mode: u32 = clamp;
  if ((index & GRADIENTS) != 0) mode = 2 + clamp;
  else if ((index & LOD) != 0) mode = 4;
  else if ((index & BIAS) != 0) mode = 5 + clamp;
  else if ((index & LOD_ZERO) != 0) mode = 7;
  return <u32>Isa.image_sample + mode + ((index & COMPARE) != 0 ? 8 : 0) + ((index & OFFSET) != 0 ? 16 : 0);
}

function gatherOp(index: u32): u32 {
  if ((index & OFFSET) != 0) return (index & COMPARE) != 0 ? Isa.image_gather4_c_lz_o : Isa.image_gather4_lz_o;
  return (index & COMPARE) != 0 ? Isa.image_gather4_c_lz : Isa.image_gather4_lz;
}

/** add umin umax imin imax and or xor swap, compare and swap. */
function imageAtomicOp(kind: u32): u32 {
  switch (kind) {
    case 0:
      return Isa.image_atomic_add;
    case 1:
      return Isa.image_atomic_umin;
    case 2:
      return Isa.image_atomic_umax;
    case 3:
      return Isa.image_atomic_smin;
    case 4:
      return Isa.image_atomic_smax;
    case 5:
      return Isa.image_atomic_and;
    case 6:
      return Isa.image_atomic_or;
    case 7:
      return Isa.image_atomic_xor;
    case 8:
      return Isa.image_atomic_swap;
    default:
      return Isa.image_atomic_cmpswap;
  }
}
function texelAtomicOp(kind: u32): u32 {
  switch (kind) {
    case 0:
      return Isa.buffer_atomic_add;
    case 1:
      return Isa.buffer_atomic_umin;
    case 2:
      return Isa.buffer_atomic_umax;
    case 3:
      return Isa.buffer_atomic_smin;
    case 4:
      return Isa.buffer_atomic_smax;
    case 5:
      return Isa.buffer_atomic_and;
    case 6:
      return Isa.buffer_atomic_or;
    case 7:
      return Isa.buffer_atomic_xor;
    case 8:
      return Isa.buffer_atomic_swap;
    default:
      return Isa.buffer_atomic_cmpswap;
  }
}

function coherence(i: u32): u32 {
  return (flagsOf(i) & (InstrFlag.COHERENT | InstrFlag.VOLATILE)) != 0 ? Mod.GLC | Mod.DLC : 0;
}

function selectImage(i: u32): void {
  const op = opOf(i);
  const index = imm(i, 0);
  const data = (index >> 16) & 7;
  const writes = op == Op.IMAGE_STORE || op == Op.IMAGE_ATOMIC;
  const samples = op == Op.IMAGE_SAMPLE || op == Op.IMAGE_SAMPLE_QUAD || op == Op.IMAGE_QUERY_LOD;
  const used = op == Op.IMAGE_ATOMIC && useCount(i) > 0;
  const addresses = srcCount(i) - 2 - data;
  if (addresses == 0 || addresses > 16) {
    failAt(instrPlace[i], Fail.BACKEND_UNSUPPORTED, op, 1, addresses);
    return;
  }
  if (writes) startPixels();
  // Operands of the instruction that hold neither data nor a sampler have room for groups of the address.
  const groups = placeAddress(i, 2 + data, addresses, 1 + (data == 0 ? 1 : 0) + (samples ? 0 : 1));
  const address = addressGroup(0);
  // Old value and data of an atomic share registers.
  const readOnly = op == Op.IMAGE_ATOMIC && !used ? constantTuple(i, 2, data) : 0;
  const atomicData = readOnly != 0 ? readOnly : op == Op.IMAGE_ATOMIC ? newVreg(RegClass.VGPR, data) : 0;
  for (let k: u32 = 0; readOnly == 0 && atomicData != 0 && k < data; k++)
    copy(data == 1 ? atomicData : component(atomicData, k), operandOf(src(i, 2 + k)));
  const stored = op == Op.IMAGE_STORE ? tuple(i, 2, data) : atomicData;
  const resource = imageDescriptor(i);
  const sampler = samples ? samplerDescriptor(i) : 0;
  let isa: u32 = 0;
  let mods: u32 = coherence(i);
  let word = ((index >> 3) & 15) | ((index & 7) << 4);
  if (samples) {
    isa = op == Op.IMAGE_QUERY_LOD ? <u32>Isa.image_get_lod : (index & GATHER) != 0 ? gatherOp(index) : sampleOp(index);
    mods = 0;
  } else {
    word |= UNORM;
    if (op == Op.IMAGE_LOAD) isa = (index & MIP) != 0 ? Isa.image_load_mip : Isa.image_load;
    else if (op == Op.IMAGE_STORE) isa = Isa.image_store;
    else if (op == Op.IMAGE_ATOMIC) isa = imageAtomicOp(index >> 20);
    else isa = Isa.image_get_resinfo;
    if (op == Op.IMAGE_ATOMIC) mods = used ? Mod.GLC : 0;
    if (op == Op.IMAGE_STORE || op == Op.IMAGE_SIZE) mods = 0;
  }
  const dst = writes ? 0 : define(i);
  const j = raw(isa);
  mDst0[j] = dst;
  mSrc0[j] = stored;
  mSrc1[j] = address;
  mSrc2[j] = resource;
  mSrc3[j] = sampler;
  mMods[j] = mods;
  if (groups > 1 && data == 0) {
    mSrc0[j] = addressGroup(1);
    word |= AddressIn.SOURCE_0;
  }
  if (groups > (data == 0 ? 2 : 1)) {
    mSrc3[j] = addressGroup(groups - 1);
    word |= AddressIn.SOURCE_3;
  }
  mImm[j] = word;
  if (used) {
    mDst0[j] = data == 1 ? atomicData : component(atomicData, 0);
    valueOperand[i] = mDst0[j];
  }
}

function texelAccess(i: u32, isa: u32, data: u32, index: u32, element: u32, mods: u32): u32 {
  const resource = texelDescriptor(i, element);
  const j = raw(isa);
  mSrc0[j] = data;
  mSrc1[j] = index;
  mSrc2[j] = resource;
  mSrc3[j] = hw(Hw.ZERO, 1);
  mMods[j] = mods | Mod.IDXEN;
  return j;
}

function texelLoadOp(components: u32): u32 {
  switch (components) {
    case 1:
      return Isa.buffer_load_format_x;
    case 2:
      return Isa.buffer_load_format_xy;
    case 3:
      return Isa.buffer_load_format_xyz;
    default:
      return Isa.buffer_load_format_xyzw;
  }
}

function selectTexelAtomic(i: u32): void {
  const compare = imm(i, 2) == 9;
  const used = useCount(i) > 0;
  startPixels();
  const data = newVreg(RegClass.VGPR, compare ? 2 : 1);
  copy(compare ? component(data, 0) : data, operandOf(src(i, 2)));
  if (compare) copy(component(data, 1), operandOf(src(i, 3)));
  const index = inVgpr(operandOf(src(i, 0)));
  const j = texelAccess(i, texelAtomicOp(imm(i, 2)), data, index, 1, used ? Mod.GLC : 0);
  if (!used) return;
  mDst0[j] = compare ? component(data, 0) : data;
  valueOperand[i] = mDst0[j];
}

/** True where the op was one of these. */
export function selectImages(i: u32): bool {
  switch (opOf(i)) {
    case Op.IMAGE_SAMPLE:
    case Op.IMAGE_SAMPLE_QUAD:
    case Op.IMAGE_QUERY_LOD:
    case Op.IMAGE_LOAD:
    case Op.IMAGE_SIZE:
      if (useCount(i) > 0) selectImage(i);
      return true;
    case Op.IMAGE_SAMPLES: {
      // last_level of a multisampled T# is the logarithm of its samples: word 3, [19:16].
      const word = component(imageDescriptor(i), 3);
      const log = saluNew(Isa.s_bfe_u32, word, constantOperand(16 | (4 << 16)));
      copy(define(i), saluNew(Isa.s_lshl_b32, constantOperand(1), log));
      return true;
    }
    case Op.IMAGE_STORE:
    case Op.IMAGE_ATOMIC:
      selectImage(i);
      return true;
    case Op.LOAD_TEXEL: {
      const index = inVgpr(operandOf(src(i, 0)));
      const isa = texelLoadOp(componentsOf(i));
      const dst = define(i);
      mDst0[texelAccess(i, isa, 0, index, 1, coherence(i))] = dst;
      return true;
    }
    case Op.STORE_TEXEL: {
      startPixels();
      const data = dataOperand(src(i, 0));
      const index = inVgpr(operandOf(src(i, 1)));
      texelAccess(i, Isa.buffer_store_format_xyzw, data, index, 2, 0);
      return true;
    }
    case Op.TEXEL_ATOMIC:
      selectTexelAtomic(i);
      return true;
    case Op.TEXEL_COUNT: {
      const resource = texelDescriptor(i, 0);
      copy(define(i), component(resource, 2));
      return true;
    }
    default:
      return false;
  }
}
