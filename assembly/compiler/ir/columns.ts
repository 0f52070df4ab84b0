import { U32Column } from "../../base/index.ts";
import { IR_BASE } from "../memory-map.ts";

/** Instruction ids are below this; so are value ids, as a value is the instruction that makes it. */
export const MAX_INSTRS: u32 = 1 << 20;
/** Source slots. */
export const MAX_SLOTS: u32 = 1 << 22;
/** Blocks, ifs and loops together. */
export const MAX_NODES: u32 = 1 << 18;
export const MAX_PREDS: u32 = 1 << 19;
export const MAX_VARS: u32 = 1 << 18;
export const MAX_PLACES: u32 = 1 << 18;

const I: usize = (<usize>MAX_INSTRS) << 2;
const S: usize = (<usize>MAX_SLOTS) << 2;
const N: usize = (<usize>MAX_NODES) << 2;

// Instructions. head: op 16 bits, width 8 bits, components 8 bits.
export const instrHead = changetype<U32Column>(IR_BASE);
export const instrFlagBits = changetype<U32Column>(IR_BASE + I);
/** Block id; 0 for the condition of an if node and for erased instructions. */
export const instrBlock = changetype<U32Column>(IR_BASE + 2 * I);
export const instrPrev = changetype<U32Column>(IR_BASE + 3 * I);
export const instrNext = changetype<U32Column>(IR_BASE + 4 * I);
export const instrSlots = changetype<U32Column>(IR_BASE + 5 * I);
/** Number of sources in the low half, capacity in slots in the high half. */
export const instrCounts = changetype<U32Column>(IR_BASE + 6 * I);
export const instrImm0 = changetype<U32Column>(IR_BASE + 7 * I);
export const instrImm1 = changetype<U32Column>(IR_BASE + 8 * I);
/** Third immediate; the if node of an `if`. */
export const instrImm2 = changetype<U32Column>(IR_BASE + 9 * I);
export const instrImm3 = changetype<U32Column>(IR_BASE + 10 * I);
export const instrUses = changetype<U32Column>(IR_BASE + 11 * I);
export const instrUseCount = changetype<U32Column>(IR_BASE + 12 * I);
export const instrPlace = changetype<U32Column>(IR_BASE + 13 * I);
/** Free for the running pass; undefined at its start. */
export const instrScratch = changetype<U32Column>(IR_BASE + 14 * I);
const INSTR_END: usize = IR_BASE + 15 * I;

// Source slots: the value, who reads it, and the doubly linked list of the value's slots.
export const slotValue = changetype<U32Column>(INSTR_END);
export const slotUser = changetype<U32Column>(INSTR_END + S);
export const slotNext = changetype<U32Column>(INSTR_END + 2 * S);
export const slotPrev = changetype<U32Column>(INSTR_END + 3 * S);
const SLOT_END: usize = INSTR_END + 4 * S;

// Control-flow nodes.
export const nodeKind = changetype<U32Column>(SLOT_END);
/** The if or loop whose list this stands in; 0 for the body of the function. */
export const nodeParent = changetype<U32Column>(SLOT_END + N);
/** 0: function body, then, body. 1: else, cont. */
export const nodeSide = changetype<U32Column>(SLOT_END + 2 * N);
export const nodePrev = changetype<U32Column>(SLOT_END + 3 * N);
export const nodeNext = changetype<U32Column>(SLOT_END + 4 * N);
/** Block: first and last instruction. If, loop: first and last node of side 0. */
export const nodeFirst = changetype<U32Column>(SLOT_END + 5 * N);
export const nodeLast = changetype<U32Column>(SLOT_END + 6 * N);
/** If, loop: first and last node of side 1. Block: start of its predecessors, their count. */
export const nodeFirst1 = changetype<U32Column>(SLOT_END + 7 * N);
export const nodeLast1 = changetype<U32Column>(SLOT_END + 8 * N);
/** Block: capacity of its predecessor list. If: its condition instruction. Loop: bit 0 divergent. */
export const nodeAux = changetype<U32Column>(SLOT_END + 9 * N);
/** Free for the running pass. */
export const nodeScratch = changetype<U32Column>(SLOT_END + 10 * N);
/** Block: number in tree order, immediate dominator, dominator tree preorder and subtree size (`dominance.ts`). */
export const nodeOrder = changetype<U32Column>(SLOT_END + 11 * N);
export const nodeIdom = changetype<U32Column>(SLOT_END + 12 * N);
export const nodePre = changetype<U32Column>(SLOT_END + 13 * N);
export const nodeSize = changetype<U32Column>(SLOT_END + 14 * N);
/** If, loop: the source place where it was made. */
export const nodePlace = changetype<U32Column>(SLOT_END + 15 * N);
const NODE_END: usize = SLOT_END + 16 * N;

export const predPool = changetype<U32Column>(NODE_END);
const PRED_END: usize = NODE_END + ((<usize>MAX_PREDS) << 2);
/** Bits of a local variable: 1 or 32. */
export const varWidth = changetype<U32Column>(PRED_END);
const VAR_END: usize = PRED_END + ((<usize>MAX_VARS) << 2);
// Source places: OpString id of the file, line, column.
export const placeFile = changetype<U32Column>(VAR_END);
export const placeLine = changetype<U32Column>(VAR_END + ((<usize>MAX_PLACES) << 2));
export const placeColumn = changetype<U32Column>(VAR_END + 2 * ((<usize>MAX_PLACES) << 2));
export const IR_END: usize = VAR_END + 3 * ((<usize>MAX_PLACES) << 2);
