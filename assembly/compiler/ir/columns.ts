import { Field4, Field8, U8Column, U32Column } from "../../base/index.ts";
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

// Tables of rows; each begins on cache lines of its own. A pass over a long shader is as fast as the memory that it goes
// through: what most passes look at stands in rows of half a line, the rest apart from it.
const INSTRS: usize = IR_BASE;
const MORE: usize = INSTRS + ((<usize>MAX_INSTRS) << 5) + 0x440;
const PLACES: usize = MORE + ((<usize>MAX_INSTRS) << 4) + 0x240;
const SCRATCH: usize = PLACES + ((<usize>MAX_INSTRS) << 2) + 0x340;
const FLAGS: usize = SCRATCH + ((<usize>MAX_INSTRS) << 2) + 0x540;
const SLOTS: usize = FLAGS + <usize>MAX_INSTRS + 0x640;
const LINKS: usize = SLOTS + ((<usize>MAX_SLOTS) << 2) + 0x740;
const NODES: usize = LINKS + ((<usize>MAX_SLOTS) << 4) + 0x480;
const NODE_MORE: usize = NODES + ((<usize>MAX_NODES) << 5) + 0x540;
const DOMINANCE: usize = NODE_MORE + ((<usize>MAX_NODES) << 4) + 0x640;

// Instructions. head: op 16 bits, width 8 bits, components 8 bits.
export const instrHead = changetype<Field8>(INSTRS);
export const instrNext = changetype<Field8>(INSTRS + 4);
export const instrSlots = changetype<Field8>(INSTRS + 8);
/** Number of sources in the low half, capacity in slots in the high half. */
export const instrCounts = changetype<Field8>(INSTRS + 12);
export const instrUses = changetype<Field8>(INSTRS + 16);
export const instrUseCount = changetype<Field8>(INSTRS + 20);
/** The first immediate; the other three stand side by side: `imm`. */
export const instrImm0 = changetype<Field8>(INSTRS + 24);
/** Block id; 0 for the condition of an if node and for erased instructions. */
export const instrBlock = changetype<Field8>(INSTRS + 28);
export const instrImm1 = changetype<Field4>(MORE);
/** Third immediate; the if node of an `if`. */
export const instrImm2 = changetype<Field4>(MORE + 4);
export const instrPrev = changetype<Field4>(MORE + 12);
export const instrPlace = changetype<U32Column>(PLACES);
/** Free for the running pass; undefined at its start. */
export const instrScratch = changetype<U32Column>(SCRATCH);
export const instrFlagBits = changetype<U8Column>(FLAGS);

// Source slots: the value; who reads it, and the doubly linked list of the value's slots.
export const slotValue = changetype<U32Column>(SLOTS);
export const slotUser = changetype<Field4>(LINKS);
export const slotNext = changetype<Field4>(LINKS + 4);
export const slotPrev = changetype<Field4>(LINKS + 8);

// Control-flow nodes.
export const nodeKind = changetype<Field8>(NODES);
/** The if or loop whose list this stands in; 0 for the body of the function. */
export const nodeParent = changetype<Field8>(NODES + 4);
/** 0: function body, then, body. 1: else, cont. */
export const nodeSide = changetype<Field8>(NODES + 8);
export const nodePrev = changetype<Field8>(NODES + 12);
export const nodeNext = changetype<Field8>(NODES + 16);
/** Block: first and last instruction. If, loop: first and last node of side 0. */
export const nodeFirst = changetype<Field8>(NODES + 20);
export const nodeLast = changetype<Field8>(NODES + 24);
/** If, loop: first and last node of side 1. Block: start of its predecessors, their count. */
export const nodeFirst1 = changetype<Field8>(NODES + 28);
export const nodeLast1 = changetype<Field4>(NODE_MORE);
/** Block: capacity of its predecessor list. If: its condition instruction. Loop: bit 0 divergent. */
export const nodeAux = changetype<Field4>(NODE_MORE + 4);
/** Free for the running pass. */
export const nodeScratch = changetype<Field4>(NODE_MORE + 8);
/** If, loop: the source place where it was made. */
export const nodePlace = changetype<Field4>(NODE_MORE + 12);
/** Block: number in tree order, immediate dominator, dominator tree preorder and subtree size (`dominance.ts`). */
export const nodeOrder = changetype<Field4>(DOMINANCE);
export const nodeIdom = changetype<Field4>(DOMINANCE + 4);
export const nodePre = changetype<Field4>(DOMINANCE + 8);
export const nodeSize = changetype<Field4>(DOMINANCE + 12);
const NODE_END: usize = DOMINANCE + ((<usize>MAX_NODES) << 4) + 0x4c0;

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
