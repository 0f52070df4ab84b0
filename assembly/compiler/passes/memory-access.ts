/**
 * What a memory instruction reaches, for passes that move, merge or drop accesses. `describe` fills the globals below.
 * A place is (space, set, binding, element, offset value); two accesses of one place compare by their bases, which never
 * wrap. Different bindings, and elements of one, are the same memory only where one is aliased. An op that is not known here reaches everything.
 */
import { DYNAMIC_SET, InstrFlag, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import { componentsOf, flagsOf, imm, isConst, opOf, src, srcCount } from "../ir/index.ts";

export const enum Space {
  /** No memory. */
  NONE = 0,
  /** Read only in a dispatch. */
  UBO = 1,
  PUSH = 2,
  SSBO = 3,
  SHARED = 4,
  /** The invocation's own: nothing but its loads and stores reach it. */
  SCRATCH = 5,
  /** Anything but UBO, PUSH and SCRATCH. */
  ALL = 6,
}

export const enum Access {
  NONE = 0,
  LOAD = 1,
  STORE = 2,
  /** Reads and writes, or what is not known. */
  UPDATE = 3,
  /** A barrier: orders the storages of `accOrders`. */
  ORDER = 4,
}

export let accSpace: u32 = 0;
export let accKind: u32 = 0;
export let accSet: u32 = 0;
export let accBinding: u32 = 0;
/** Value ids; 0 for none. */
export let accElement: u32 = 0;
export let accOffset: u32 = 0;
export let accData: u32 = 0;
export let accBase: u32 = 0;
/** 0 words, 8 or 16: one scalar of that size. */
export let accBits: u32 = 0;
export let accCount: u32 = 0;
export let accBytes: u32 = 0;
/** Volatile or coherent: stays as it is. */
export let accStrict: bool = false;
/** May be the memory of another binding. */
export let accAliased: bool = false;
/** Storage bits of a barrier: 1 buffers, 2 workgroup. */
export let accOrders: u32 = 0;

function fill(kind: u32, space: u32, i: u32, offset: u32, data: u32): void {
  accKind = kind;
  accSpace = space;
  accOffset = offset;
  accData = data;
  accCount = data == 0 ? componentsOf(i) : componentsOf(data);
  accBytes = accBits != 0 ? accBits >> 3 : accCount << 2;
}

function buffer(i: u32, element: u32): void {
  accSet = imm(i, 0);
  if (accSet == DYNAMIC_SET) accAliased = true;
  accBinding = imm(i, 1);
  accBase = imm(i, 2);
  accElement = srcCount(i) > element ? src(i, element) : 0;
}

/** Whether an instruction may reach memory: of what is pure only loads of uniform buffers have offsets and do. */
export function mayReach(i: u32): bool {
  return (opFlags(opOf(i)) & (OpFlag.PURE | OpFlag.OFFSET)) != OpFlag.PURE;
}

/** Fills the globals; false where the instruction reaches no memory. */
export function describe(i: u32): bool {
  if (!mayReach(i)) return false;
  const op = opOf(i);
  accSet = 0;
  accBinding = 0;
  accElement = 0;
  accBase = 0;
  accBits = 0;
  accOrders = 0;
  accData = 0;
  accAliased = (flagsOf(i) & InstrFlag.ALIASED) != 0;
  accStrict = (flagsOf(i) & (InstrFlag.VOLATILE | InstrFlag.COHERENT)) != 0;
  switch (op) {
    case Op.LOAD_UBO:
    case Op.LOAD_SSBO:
      buffer(i, 1);
      accBits = imm(i, 3);
      fill(Access.LOAD, op == Op.LOAD_UBO ? Space.UBO : Space.SSBO, i, src(i, 0), 0);
      return true;
    case Op.STORE_SSBO:
      buffer(i, 2);
      accBits = imm(i, 3);
      fill(Access.STORE, Space.SSBO, i, src(i, 1), src(i, 0));
      return true;
    case Op.SSBO_ATOMIC:
      buffer(i, 2);
      fill(Access.UPDATE, Space.SSBO, i, src(i, 0), 0);
      return true;
    case Op.SSBO_ATOMIC_CMPSWAP:
      buffer(i, 3);
      fill(Access.UPDATE, Space.SSBO, i, src(i, 0), 0);
      return true;
    case Op.LOAD_SHARED:
      accBase = imm(i, 0);
      accBits = imm(i, 1);
      fill(Access.LOAD, Space.SHARED, i, src(i, 0), 0);
      return true;
    case Op.STORE_SHARED:
      accBase = imm(i, 0);
      accBits = imm(i, 1);
      fill(Access.STORE, Space.SHARED, i, src(i, 1), src(i, 0));
      return true;
    case Op.LOAD_SCRATCH:
      accBase = imm(i, 0);
      accBits = imm(i, 1);
      fill(Access.LOAD, Space.SCRATCH, i, src(i, 0), 0);
      return true;
    case Op.STORE_SCRATCH:
      accBase = imm(i, 0);
      accBits = imm(i, 1);
      fill(Access.STORE, Space.SCRATCH, i, src(i, 1), src(i, 0));
      return true;
    case Op.SHARED_ATOMIC:
    case Op.SHARED_ATOMIC_CMPSWAP:
      accBase = imm(i, 0);
      fill(Access.UPDATE, Space.SHARED, i, src(i, 0), 0);
      return true;
    case Op.BARRIER:
    case Op.MEMORY_BARRIER:
      fill(Access.ORDER, Space.ALL, i, 0, 0);
      accOrders = imm(i, 1);
      return true;
    default:
      if ((opFlags(op) & (OpFlag.READS | OpFlag.WRITES)) == 0) return false;
      fill(Access.UPDATE, Space.ALL, i, 0, 0);
      return true;
  }
}

/** Whether the described access may reach memory of a space. */
export function reaches(space: u32): bool {
  return accSpace == Space.ALL ? space != Space.SCRATCH : accSpace == space;
}

/** Memory without bindings: base and bits are the first immediates. */
export function isUnbound(space: u32): bool {
  return space == Space.SHARED || space == Space.SCRATCH;
}

/** Whether two byte ranges overlap. */
export function overlap(aBase: u32, aBytes: u32, bBase: u32, bBytes: u32): bool {
  return <u64>aBase < <u64>bBase + bBytes && <u64>bBase < <u64>aBase + aBytes;
}

/** Whether a barrier of these storage bits orders a space. */
export function ordered(space: u32, orders: u32): bool {
  return space == Space.SSBO ? (orders & 1) != 0 : space == Space.SHARED ? (orders & 2) != 0 : false;
}

/** Offsets that are the same for sure: one value, or constants (which compare by value through the pool). */
export function sameOffset(a: u32, b: u32): bool {
  return a == b || (isConst(a) && isConst(b) && imm(a, 0) == imm(b, 0));
}

/** Two descriptors of one array for sure: different constants; 0 stands for element 0. */
export function differentElements(a: u32, b: u32): bool {
  if ((a != 0 && !isConst(a)) || (b != 0 && !isConst(b))) return false;
  return (a == 0 ? 0 : imm(a, 0)) != (b == 0 ? 0 : imm(b, 0));
}
