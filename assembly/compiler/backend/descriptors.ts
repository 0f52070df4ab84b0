/**
 * Buffer descriptors: each is loaded once, in the nearest block that dominates its users and stands in no loop. With many
 * descriptors (they would fill the SGPRs) each block loads its own. Source of the layout: docs/abi.md, "Descriptors".
 */
import { Fail, fail, failAt, spend } from "../../base/index.ts";
import { DYNAMIC_SET, InstrFlag, Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { bindingColumn, bindingRow } from "../io.ts";
import {
  blockOf,
  constBits,
  entryBlock,
  flagsOf,
  imm,
  instrPlace,
  isConst,
  Kind,
  kindOf,
  nextNode,
  opOf,
  parentOf,
  prevNode,
  sideOf,
  src,
  srcCount,
  upperBound,
} from "../ir/index.ts";
import {
  buildAnchor,
  buildAt,
  buildBehind,
  buildBlock,
  constantOperand,
  copy,
  inScalar,
  inSgpr,
  raw,
  salu,
  saluNew,
  valu,
  valuNew,
} from "./build.ts";
import { classOf, ValueClass } from "./classes.ts";
import {
  mDst0,
  mImm,
  mMods,
  mSrc0,
  mSrc1,
  nodeAnchor,
  nodeContinuing,
  nodeHeader,
  nodeMachine,
  vHint,
} from "./columns.ts";
import { pushPointer, setPointer, vertexBuffers } from "./launch.ts";
import { component, Hw, hw, isVgprOperand, Mod, newVreg, operandVreg, RegClass, vregOperand } from "./machine.ts";
import { define, operandOf } from "./values.ts";
import { isWatering, narrowWaterfall, openWaterfall } from "./waterfall.ts";

/** High half of 32-bit pointers: `s_movk_i32 d, 0x8000`. */
const POINTER_HIGH: u32 = 0xffff8000;
/** More descriptors than this are loaded where they are used. */
const HOISTED_LIMIT: u32 = 16;
const MAX_ENTRIES: u32 = 1024;
/** Size of a buffer's V#. */
const DESCRIPTOR_BYTES: i32 = 16;

// Rows of set, binding, element, home block, operand.
const rows = memory.data(1024 * 5 * 4, 4);
let rowCount: u32 = 0;
let local: bool = false;
let localBlock: u32 = 0;

function cell(row: u32, column: u32): u32 {
  return load<u32>(rows + ((<usize>row * 5 + <usize>column) << 2));
}
function setCell(row: u32, column: u32, value: u32): void {
  store<u32>(rows + ((<usize>row * 5 + <usize>column) << 2), value);
}

/** A set of `rows` that stands for the table of vertex buffers. */
const VERTEX_SET: u32 = 0xffff_fffe;

// Pointer pairs by set; 32 is the push-constant pointer, 33 that of the vertex buffers, 34 that of the tables.
const pairs = memory.data(35 * 4, 4);

/** Source number of the array element of a buffer op, or -1. */
function elementSource(i: u32): i32 {
  let k: u32;
  switch (opOf(i)) {
    case Op.LOAD_UBO:
    case Op.LOAD_SSBO:
      k = 1;
      break;
    case Op.STORE_SSBO:
    case Op.SSBO_ATOMIC:
      k = 2;
      break;
    case Op.SSBO_ATOMIC_CMPSWAP:
      k = 3;
      break;
    case Op.SSBO_SIZE:
      k = 0;
      break;
    default:
      return -2;
  }
  return k < srcCount(i) && src(i, k) != 0 ? <i32>k : -1;
}

function findRow(set: u32, binding: u32, element: u32): i32 {
  for (let r: u32 = 0; r < rowCount; r++) {
    if (cell(r, 0) == set && cell(r, 1) == binding && cell(r, 2) == element) return <i32>r;
  }
  return -1;
}

function addRow(set: u32, binding: u32, element: u32, home: u32): u32 {
  if (rowCount == MAX_ENTRIES) {
    // Only a table: the newest entry gives way, and its descriptor is loaded again.
    rowCount--;
  }
  setCell(rowCount, 0, set);
  setCell(rowCount, 1, binding);
  setCell(rowCount, 2, element);
  setCell(rowCount, 3, home);
  setCell(rowCount, 4, 0);
  return rowCount++;
}

/** The nearest block at or before `a` whose list holds the block where the scan is too. */
function commonBlock(a: u32): u32 {
  let x = a;
  while (!isOpen(x) && spend(1)) x = prevNode(parentOf(x));
  return x;
}
/** Whether the scan is in the list of a block. */
function isOpen(b: u32): bool {
  return parentOf(b) == 0 || nodeContinuing[parentOf(b)] == sideOf(b);
}

/** None is known yet; `noteDescriptor` finds those with constant elements and their home blocks. */
export function startDescriptors(): void {
  rowCount = 0;
  local = false;
  localBlock = 0;
  recentBlock = 0;
  memory.fill(pairs, 0, 35 * 4);
}

/** The scan comes to a block, in tree order: what it is in, and the block in front of the outermost loop around it. */
export function noteBlock(b: u32): void {
  const before = prevNode(b);
  const next = nextNode(b);
  const p = parentOf(b);
  if (next != 0) nodeContinuing[next] = 0;
  if (before != 0) nodeContinuing[before] = 2;
  else if (p != 0) nodeContinuing[p] = sideOf(b);
  if (p == 0) {
    nodeHeader[b] = b;
    return;
  }
  const front = prevNode(p);
  const outer = nodeHeader[front];
  nodeHeader[b] = outer != front ? outer : kindOf(p) == Kind.LOOP ? front : b;
}

/** The descriptors that an instruction of block `b` wants. */
export function noteDescriptor(i: u32, b: u32): void {
  if (isImageOp(opOf(i)) || isTexelOp(opOf(i))) {
    scanImage(i, b);
    return;
  }
  const k = elementSource(i);
  if (k == -2 || imm(i, 0) == DYNAMIC_SET) return;
  if (k >= 0 && !isConst(src(i, k))) return;
  const element = k >= 0 ? constBits(src(i, k)) : 0;
  const r = findRow(imm(i, 0), imm(i, 1), element);
  if (r < 0) addRow(imm(i, 0), imm(i, 1), element, nodeHeader[b]);
  else setCell(r, 3, nodeHeader[commonBlock(cell(r, 3))]);
}

/** Behind all `noteDescriptor`. `thrifty`: each block loads its own. */
export function endDescriptors(thrifty: bool): void {
  local = thrifty || hoistedDwords() > 4 * HOISTED_LIMIT;
  if (local) rowCount = 0;
}

/** SGPRs that all found descriptors would take. */
function hoistedDwords(): u32 {
  let n: u32 = 0;
  for (let r: u32 = 0; r < rowCount; r++) n += (cell(r, 0) & IMAGE_ROW) != 0 ? 8 : 4;
  return n;
}

/** The 64-bit pointer from a 32-bit one: a pair of SGPRs, made behind the arguments of the entry block. */
function pointerPair(slot: u32, low: u32): u32 {
  const known = load<u32>(pairs + ((<usize>slot) << 2));
  if (known != 0) return known;
  const block = buildBlock();
  const entry = entryBlock();
  const pair = newVreg(RegClass.SGPR, 2);
  // Where the argument stands, when the register beside it is free.
  vHint[operandVreg(pair)] = low;
  buildBehind(nodeMachine[entry], nodeAnchor[entry]);
  copy(component(pair, 0), low);
  salu(Isa.s_mov_b32, component(pair, 1), constantOperand(POINTER_HIGH), 0);
  nodeAnchor[entry] = buildAnchor();
  buildAt(block);
  store<u32>(pairs + ((<usize>slot) << 2), pair);
  return pair;
}

/** Pointer to the tables behind the code: from the program counter. `encode` knows how far that is. */
export function tablePair(): u32 {
  const cell = pairs + ((<usize>34) << 2);
  const known = load<u32>(cell);
  if (known != 0) return known;
  const block = buildBlock();
  const entry = entryBlock();
  const here = newVreg(RegClass.SGPR, 2);
  const pair = newVreg(RegClass.SGPR, 2);
  buildBehind(nodeMachine[entry], nodeAnchor[entry]);
  mDst0[raw(Isa.s_getpc_b64)] = here;
  const low = raw(Isa.s_add_u32);
  mDst0[low] = component(pair, 0);
  mSrc0[low] = component(here, 0);
  mSrc1[low] = hw(Hw.LITERAL, 1);
  mMods[low] = Mod.TABLE;
  const high = raw(Isa.s_addc_u32);
  mDst0[high] = component(pair, 1);
  mSrc0[high] = component(here, 1);
  mSrc1[high] = hw(Hw.ZERO, 1);
  nodeAnchor[entry] = buildAnchor();
  buildAt(block);
  store<u32>(cell, pair);
  return pair;
}

/** Pointer to the push constants. */
export function pushPair(): u32 {
  return pointerPair(32, pushPointer());
}

/** 1, 2 or 4 descriptors that stand side by side, with one instruction. */
function loadDescriptors(pair: u32, offset: u32, count: u32): u32 {
  const i = raw(count == 4 ? Isa.s_load_dwordx16 : count == 2 ? Isa.s_load_dwordx8 : Isa.s_load_dwordx4);
  const dst = newVreg(RegClass.SGPR, 4 * count);
  mDst0[i] = dst;
  mSrc0[i] = pair;
  mImm[i] = offset;
  return dst;
}

function loadDescriptor(pair: u32, offset: u32, soffset: u32): u32 {
  const i = raw(Isa.s_load_dwordx4);
  const dst = newVreg(RegClass.SGPR, 4);
  mDst0[i] = dst;
  mSrc0[i] = pair;
  mSrc1[i] = soffset;
  mImm[i] = offset;
  return dst;
}

/** Where a row's descriptor stands in its set, -1 when the request has no place for it. */
function offsetOf(r: u32): i32 {
  const row = bindingRow(cell(r, 0), cell(r, 1));
  if (row < 0) return -1;
  const element = min<u32>(cell(r, 2), bindingColumn(row, 4) - 1);
  return <i32>(bindingColumn(row, 2) + element * bindingColumn(row, 3));
}

/** The row of a descriptor at this place, wanted in the same block and not loaded yet; -1 for none. */
function rowAt(set: u32, home: u32, offset: i32): i32 {
  for (let r: u32 = 0; r < rowCount; r++) {
    if (cell(r, 0) == set && cell(r, 3) == home && cell(r, 4) == 0 && offsetOf(r) == offset) return <i32>r;
  }
  return -1;
}

/** Loads row r's descriptor with its neighbours in the set: two or four at once. */
function loadNeighbours(pair: u32, r: u32, offset: i32): void {
  const set = cell(r, 0);
  const home = cell(r, 3);
  let first = offset;
  while (first >= DESCRIPTOR_BYTES && rowAt(set, home, first - DESCRIPTOR_BYTES) >= 0) first -= DESCRIPTOR_BYTES;
  for (;;) {
    let run: u32 = 1;
    while (run < 4 && rowAt(set, home, first + <i32>run * DESCRIPTOR_BYTES) >= 0) run++;
    if (run == 3) run = 2;
    const end = first + <i32>run * DESCRIPTOR_BYTES;
    if (end <= offset) {
      first = end;
      continue;
    }
    const whole = loadDescriptors(pair, <u32>first, run);
    for (let k: u32 = 0; k < run; k++) {
      const at = first + <i32>k * DESCRIPTOR_BYTES;
      // Elements beyond an array are its last one, so several rows may be there.
      for (let m = rowAt(set, home, at); m >= 0; m = rowAt(set, home, at)) {
        setCell(<u32>m, 4, vregOperand(operandVreg(whole), 4, 4 * k));
      }
    }
    return;
  }
}

/** Scalar byte offset of an array element of a descriptor row; an index out of range is held in range. */
function elementOffset(row: u32, element: u32, index: u32): u32 {
  const last = bindingColumn(row, 4) - 1;
  const held = upperBound(element, 0) <= last ? index : saluNew(Isa.s_min_u32, index, constantOperand(last));
  return saluNew(Isa.s_mul_i32, held, constantOperand(bindingColumn(row, 3)));
}

/**
 * Descriptors of array elements that are loaded already in the block `recentBlock`: binding's row and kind of `rows`,
 * index, operand. An index that differs between lanes has none.
 */
const RECENT: u32 = 4;
const recent = memory.data(4 * 12, 4);
let recentBlock: u32 = 0;
let recentCount: u32 = 0;

function findRecent(row: u32, element: u32): u32 {
  if (recentBlock != buildBlock()) return 0;
  for (let k: u32 = 0; k < min<u32>(recentCount, RECENT); k++) {
    const at = recent + <usize>k * 12;
    if (load<u32>(at) == row && load<u32>(at, 4) == element) return load<u32>(at, 8);
  }
  return 0;
}
function keepRecent(row: u32, element: u32, operand: u32): u32 {
  if (recentBlock != buildBlock()) recentCount = 0;
  recentBlock = buildBlock();
  const at = recent + <usize>(recentCount++ % RECENT) * 12;
  store<u32>(at, row);
  store<u32>(at, element, 4);
  store<u32>(at, operand, 8);
  return operand;
}

/** The V# at an address of the window: 4 SGPRs. */
function dynamicDescriptor(i: u32): u32 {
  const given = operandOf(src(i, srcCount(i) - 1));
  const differs = (flagsOf(i) & InstrFlag.NONUNIFORM) != 0 && isVgprOperand(given);
  const address = differs ? openWaterfall(given) : inScalar(given);
  const pair = newVreg(RegClass.SGPR, 2);
  copy(component(pair, 0), address);
  salu(Isa.s_mov_b32, component(pair, 1), constantOperand(POINTER_HIGH), 0);
  return loadDescriptor(pair, 0, 0);
}

/** descriptor_address. */
export function selectDescriptorAddress(i: u32): void {
  const row = bindingRow(imm(i, 0), imm(i, 1));
  if (row < 0) {
    failAt(instrPlace[i], Fail.BACKEND_INVALID, 3, imm(i, 0), imm(i, 1));
    return;
  }
  const pointer = setPointer(imm(i, 0));
  const first = bindingColumn(row, 2);
  const last = bindingColumn(row, 4) - 1;
  if (srcCount(i) == 0 || isConst(src(i, 0))) {
    const element = srcCount(i) == 0 ? 0 : min<u32>(constBits(src(i, 0)), last);
    const offset = constantOperand(first + element * bindingColumn(row, 3));
    const dst = define(i);
    if (isVgprOperand(dst)) valu(Isa.v_add_nc_u32_e64, dst, pointer, offset, 0, 0);
    else salu(Isa.s_add_u32, dst, pointer, offset);
    return;
  }
  const index = operandOf(src(i, 0));
  if (classOf(i) == ValueClass.SGPR) {
    const at = saluNew(Isa.s_add_u32, elementOffset(row, src(i, 0), index), constantOperand(first));
    salu(Isa.s_add_u32, define(i), pointer, at);
    return;
  }
  const held = valuNew(Isa.v_min_u32_e64, index, constantOperand(last), 0);
  const scaled = valuNew(Isa.v_mul_u32_u24_e64, held, constantOperand(bindingColumn(row, 3)), 0);
  valu(Isa.v_add3_u32, define(i), scaled, constantOperand(first), pointer, 0);
}

/** Bits of a set number in `rows`: images and samplers have rows of their own. */
const IMAGE_ROW: u32 = 1 << 8;
const SAMPLER_ROW: u32 = 1 << 9;
const TEXEL_ROW: u32 = 1 << 10;
/** Where the sampler stands in a combined descriptor. Source: docs/abi.md, "Descriptors". */
const SAMPLER_OFFSET: u32 = 32;

function isImageOp(op: u32): bool {
  return op >= <u32>Op.IMAGE_SAMPLE && op <= <u32>Op.IMAGE_SAMPLES;
}
function isTexelOp(op: u32): bool {
  return op >= <u32>Op.LOAD_TEXEL && op <= <u32>Op.TEXEL_COUNT;
}
function samplesImage(op: u32): bool {
  return op == Op.IMAGE_SAMPLE || op == Op.IMAGE_SAMPLE_QUAD || op == Op.IMAGE_QUERY_LOD;
}
/** Source of the array element of a texel buffer op. */
function texelElement(op: u32): u32 {
  return op == Op.TEXEL_COUNT ? 0 : op == Op.STORE_TEXEL ? 2 : 1;
}

function noteRow(set: u32, binding: u32, element: u32, block: u32): void {
  const r = findRow(set, binding, element);
  if (r < 0) addRow(set, binding, element, nodeHeader[block]);
  else setCell(r, 3, nodeHeader[commonBlock(cell(r, 3))]);
}

/** Finds the descriptors of an image or texel buffer op. */
function scanImage(i: u32, b: u32): void {
  const op = opOf(i);
  if (isTexelOp(op)) {
    const element = src(i, texelElement(op));
    if (isConst(element)) noteRow(imm(i, 0) | TEXEL_ROW, imm(i, 1), constBits(element), b);
    return;
  }
  const sets = imm(i, 1);
  const bindings = imm(i, 2);
  if (isConst(src(i, 0))) noteRow((sets & 0xff) | IMAGE_ROW, bindings & 0xffff, constBits(src(i, 0)), b);
  if (samplesImage(op) && isConst(src(i, 1)))
    noteRow(((sets >> 16) & 0xff) | SAMPLER_ROW, bindings >> 16, constBits(src(i, 1)), b);
}

/** The scalar that a waterfall of this instruction runs for, and the value that it is of. */
let wateredValue: u32 = 0;
let wateredScalar: u32 = 0;

/** `dwords` SGPRs of the descriptor of an element; `extra`: bytes from the element's start. `kind`: a bit of the row. */
function resource(i: u32, kind: u32, set: u32, binding: u32, element: u32, extra: u32, dwords: u32): u32 {
  const row = bindingRow(set, binding);
  if (row < 0) {
    failAt(instrPlace[i], Fail.BACKEND_INVALID, 3, set, binding);
    return newVreg(RegClass.SGPR, dwords);
  }
  const pair = pointerPair(set, setPointer(set));
  const offset = bindingColumn(row, 2) + extra;
  if (!isConst(element)) {
    const given = operandOf(element);
    let index: u32 = 0;
    const key = row | (kind << 8);
    if ((flagsOf(i) & InstrFlag.NONUNIFORM) == 0 || !isVgprOperand(given)) {
      const known = findRecent(key, element);
      if (known != 0) return known;
      const at = inSgpr(elementOffset(row, element, inScalar(given)));
      return keepRecent(key, element, loadResource(pair, offset, at, dwords));
    } else if (isWatering()) {
      // One loop an instruction, for the lanes that share the image and the sampler.
      index = wateredValue == element ? wateredScalar : narrowWaterfall(given);
    } else {
      index = openWaterfall(given);
      wateredValue = element;
      wateredScalar = index;
    }
    return loadResource(pair, offset, inSgpr(elementOffset(row, element, index)), dwords);
  }
  const wanted = constBits(element);
  const at = offset + min<u32>(wanted, bindingColumn(row, 4) - 1) * bindingColumn(row, 3);
  const block = blockOf(i);
  if (local && block != localBlock) {
    rowCount = 0;
    localBlock = block;
  }
  let r = findRow(set | kind, binding, wanted);
  if (r < 0) r = <i32>addRow(set | kind, binding, wanted, local ? block : entryBlock());
  if (cell(r, 4) != 0) return cell(r, 4);
  if (at >= 1 << 20) fail(Fail.BACKEND_UNSUPPORTED, opOf(i), 2, at);
  if (local) {
    setCell(r, 4, loadResource(pair, at, 0, dwords));
    return cell(r, 4);
  }
  const home = cell(r, 3);
  const here = buildBlock();
  buildBehind(nodeMachine[home], nodeAnchor[home]);
  setCell(r, 4, loadResource(pair, at, 0, dwords));
  nodeAnchor[home] = buildAnchor();
  buildAt(here);
  return cell(r, 4);
}

function loadResource(pair: u32, offset: u32, soffset: u32, dwords: u32): u32 {
  const i = raw(dwords == 8 ? Isa.s_load_dwordx8 : Isa.s_load_dwordx4);
  const dst = newVreg(RegClass.SGPR, dwords);
  mDst0[i] = dst;
  mSrc0[i] = pair;
  mSrc1[i] = soffset;
  mImm[i] = offset;
  return dst;
}

/** The T# of an image op: eight SGPRs. */
export function imageDescriptor(i: u32): u32 {
  return resource(i, IMAGE_ROW, imm(i, 1) & 0xff, imm(i, 2) & 0xffff, src(i, 0), 0, 8);
}
/** The S#: four SGPRs; behind the T# where both have one binding. */
export function samplerDescriptor(i: u32): u32 {
  const same = (imm(i, 1) & 0xffff) == imm(i, 1) >> 16 && (imm(i, 2) & 0xffff) == imm(i, 2) >> 16;
  return resource(i, SAMPLER_ROW, imm(i, 1) >> 16, imm(i, 2) >> 16, src(i, 1), same ? SAMPLER_OFFSET : 0, 4);
}
/** The V# of a texel buffer op; `element`: source of the array element. */
export function texelDescriptor(i: u32, element: u32): u32 {
  return resource(i, TEXEL_ROW, imm(i, 0), imm(i, 1), src(i, element), 0, 4);
}

/** The V# of a vertex buffer: entry `binding` of the table. Source: docs/abi.md. */
export function vertexDescriptor(binding: u32): u32 {
  const pair = pointerPair(33, vertexBuffers());
  const found = findRow(VERTEX_SET, binding, 0);
  if (found >= 0 && cell(found, 4) != 0) return cell(found, 4);
  const entry = entryBlock();
  const here = buildBlock();
  buildBehind(nodeMachine[entry], nodeAnchor[entry]);
  const dst = loadDescriptor(pair, binding * <u32>DESCRIPTOR_BYTES, 0);
  nodeAnchor[entry] = buildAnchor();
  buildAt(here);
  setCell(addRow(VERTEX_SET, binding, 0, entry), 4, dst);
  return dst;
}

/** The V# of a buffer op: four SGPRs. */
export function descriptorOf(i: u32): u32 {
  const set = imm(i, 0);
  if (set == DYNAMIC_SET) return dynamicDescriptor(i);
  const binding = imm(i, 1);
  const row = bindingRow(set, binding);
  const k = elementSource(i);
  if (row < 0) {
    failAt(instrPlace[i], Fail.BACKEND_INVALID, 3, set, binding);
    return newVreg(RegClass.SGPR, 4);
  }
  const offset = bindingColumn(row, 2);
  const stride = bindingColumn(row, 3);
  const count = bindingColumn(row, 4);
  if (k >= 0 && !isConst(src(i, k))) {
    // An index out of range is undefined, but must not read beside the set's memory: it is held in range.
    const pair = pointerPair(set, setPointer(set));
    const given = operandOf(src(i, k));
    const differs = (flagsOf(i) & InstrFlag.NONUNIFORM) != 0 && isVgprOperand(given);
    const element = src(i, k);
    const known = differs ? 0 : findRecent(row, element);
    if (known != 0) return known;
    const index = differs ? openWaterfall(given) : inScalar(given);
    const loaded = loadDescriptor(pair, offset, inSgpr(elementOffset(row, element, index)));
    return differs ? loaded : keepRecent(row, element, loaded);
  }
  const element: u32 = k >= 0 ? min<u32>(constBits(src(i, k)), count - 1) : 0;
  const pair = pointerPair(set, setPointer(set));
  const block = blockOf(i);
  if (local && block != localBlock) {
    rowCount = 0;
    localBlock = block;
  }
  const wanted: u32 = k >= 0 ? constBits(src(i, k)) : 0;
  let r = findRow(set, binding, wanted);
  if (r < 0) r = <i32>addRow(set, binding, wanted, local ? block : entryBlock());
  if (cell(r, 4) != 0) return cell(r, 4);
  const byteOffset = offset + element * stride;
  if (byteOffset >= 1 << 20) fail(Fail.BACKEND_UNSUPPORTED, opOf(i), 2, byteOffset);
  if (local) {
    setCell(r, 4, loadDescriptor(pair, byteOffset, 0));
  } else {
    const home = cell(r, 3);
    const here = buildBlock();
    buildBehind(nodeMachine[home], nodeAnchor[home]);
    loadNeighbours(pair, r, <i32>byteOffset);
    nodeAnchor[home] = buildAnchor();
    buildAt(here);
  }
  return cell(r, 4);
}
