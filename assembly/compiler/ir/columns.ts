import { Field4, Field16, U8Column, U32Column } from "../../base/index.ts";
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

// Tables of rows; each begins on cache lines of its own.
const INSTRS: usize = IR_BASE;
const SLOTS: usize = INSTRS + ((<usize>MAX_INSTRS) << 6) + 0x440;
const NODES: usize = SLOTS + ((<usize>MAX_SLOTS) << 4) + 0x480;

// Instructions. head: op 16 bits, width 8 bits, components 8 bits.
export const instrHead = changetype<Field16>(INSTRS);
export const instrFlagBits = changetype<Field16>(INSTRS + 4);
/** Block id; 0 for the condition of an if node and for erased instructions. */
export const instrBlock = changetype<Field16>(INSTRS + 8);
export const instrPrev = changetype<Field16>(INSTRS + 12);
export const instrNext = changetype<Field16>(INSTRS + 16);
export const instrSlots = changetype<Field16>(INSTRS + 20);
/** Number of sources in the low half, capacity in slots in the high half. */
export const instrCounts = changetype<Field16>(INSTRS + 24);
/** The first of four immediates side by side: `imm`. */
export const instrImm0 = changetype<Field16>(INSTRS + 28);
/** Third immediate; the if node of an `if`. */
export const instrImm2 = changetype<Field16>(INSTRS + 36);
export const instrUses = changetype<Field16>(INSTRS + 44);
export const instrUseCount = changetype<Field16>(INSTRS + 48);
export const instrPlace = changetype<Field16>(INSTRS + 52);
/** Free for the running pass; undefined at its start. */
export const instrScratch = changetype<Field16>(INSTRS + 56);

// Source slots: the value, who reads it, and the doubly linked list of the value's slots.
export const slotValue = changetype<Field4>(SLOTS);
export const slotUser = changetype<Field4>(SLOTS + 4);
export const slotNext = changetype<Field4>(SLOTS + 8);
export const slotPrev = changetype<Field4>(SLOTS + 12);

// Control-flow nodes.
export const nodeKind = changetype<Field16>(NODES);
/** The if or loop whose list this stands in; 0 for the body of the function. */
export const nodeParent = changetype<Field16>(NODES + 4);
/** 0: function body, then, body. 1: else, cont. */
export const nodeSide = changetype<Field16>(NODES + 8);
export const nodePrev = changetype<Field16>(NODES + 12);
export const nodeNext = changetype<Field16>(NODES + 16);
/** Block: first and last instruction. If, loop: first and last node of side 0. */
export const nodeFirst = changetype<Field16>(NODES + 20);
export const nodeLast = changetype<Field16>(NODES + 24);
/** If, loop: first and last node of side 1. Block: start of its predecessors, their count. */
export const nodeFirst1 = changetype<Field16>(NODES + 28);
export const nodeLast1 = changetype<Field16>(NODES + 32);
/** Block: capacity of its predecessor list. If: its condition instruction. Loop: bit 0 divergent. */
export const nodeAux = changetype<Field16>(NODES + 36);
/** Free for the running pass. */
export const nodeScratch = changetype<Field16>(NODES + 40);
/** Block: number in tree order, immediate dominator, dominator tree preorder and subtree size (`dominance.ts`). */
export const nodeOrder = changetype<Field16>(NODES + 44);
export const nodeIdom = changetype<Field16>(NODES + 48);
export const nodePre = changetype<Field16>(NODES + 52);
export const nodeSize = changetype<Field16>(NODES + 56);
/** If, loop: the source place where it was made. */
export const nodePlace = changetype<Field16>(NODES + 60);
const NODE_END: usize = NODES + ((<usize>MAX_NODES) << 6) + 0x4c0;

export const predPool = changetype<U32Column>(NODE_END);
const PRED_END: usize = NODE_END + ((<usize>MAX_PREDS) << 2);
/** Bits of a local variable: 1 or 32. */
export const varWidth = changetype<U32Column>(PRED_END);
const VAR_END: usize = PRED_END + ((<usize>MAX_VARS) << 2);
// Source places: OpString id of the file, line, column.
export const placeFile = changetype<U32Column>(VAR_END);
export const placeLine = changetype<U32Column>(VAR_END + ((<usize>MAX_PLACES) << 2));
export const placeColumn = changetype<U32Column>(VAR_END + 2 * ((<usize>MAX_PLACES) << 2));
/** By op: not 0 when the shader has had an instruction of it. */
export const madeOps = changetype<U8Column>(VAR_END + 3 * ((<usize>MAX_PLACES) << 2));
export const MAX_OPS: u32 = 256;
const OPS_END: usize = VAR_END + 3 * ((<usize>MAX_PLACES) << 2) + <usize>MAX_OPS;
export const MAX_TABLE_WORDS: u32 = 1 << 14;
/** Words of the tables of constants. */
export const tableWord = changetype<U32Column>(OPS_END);
export const IR_END: usize = OPS_END + ((<usize>MAX_TABLE_WORDS) << 2);
