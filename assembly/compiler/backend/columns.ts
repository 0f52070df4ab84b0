/** Addresses of the back end's columns. All capacities are constants; over one is `Limit.MACHINE`. */
import { U8Column, U32Column } from "../../base/index.ts";
import { BACKEND_BASE } from "../memory-map.ts";

/** Machine instructions; id 0 is none. */
export const MAX_MINSTRS: u32 = 1 << 19;
export const MAX_MBLOCKS: u32 = 1 << 17;
export const MAX_VREGS: u32 = 1 << 18;
/** One unit is one 32-bit component of a virtual register. */
export const MAX_UNITS: u32 = 1 << 19;
export const MAX_SEGMENTS: u32 = 1 << 20;
/** Uses and definitions of units, and other pooled links. */
export const MAX_LINKS: u32 = 1 << 20;
export const MAX_CODE_WORDS: u32 = 1 << 20;
const MAX_VALUES: u32 = 1 << 20;
const MAX_NODES: u32 = 1 << 18;

const I: usize = (<usize>MAX_MINSTRS) << 2;
const B: usize = (<usize>MAX_MBLOCKS) << 2;
const V: usize = (<usize>MAX_VREGS) << 2;
const U: usize = (<usize>MAX_UNITS) << 2;
const S: usize = (<usize>MAX_SEGMENTS) << 2;
const L: usize = (<usize>MAX_LINKS) << 2;

// Machine instructions.
export const mOp = changetype<U32Column>(BACKEND_BASE);
export const mDst0 = changetype<U32Column>(BACKEND_BASE + I);
export const mDst1 = changetype<U32Column>(BACKEND_BASE + 2 * I);
export const mSrc0 = changetype<U32Column>(BACKEND_BASE + 3 * I);
export const mSrc1 = changetype<U32Column>(BACKEND_BASE + 4 * I);
export const mSrc2 = changetype<U32Column>(BACKEND_BASE + 5 * I);
export const mSrc3 = changetype<U32Column>(BACKEND_BASE + 6 * I);
/** The literal dword, when an operand is `Hw.LITERAL`. */
export const mLit = changetype<U32Column>(BACKEND_BASE + 7 * I);
/** Offset, simm16, or the target block of a branch. */
export const mImm = changetype<U32Column>(BACKEND_BASE + 8 * I);
export const mMods = changetype<U32Column>(BACKEND_BASE + 9 * I);
export const mPrev = changetype<U32Column>(BACKEND_BASE + 10 * I);
export const mNext = changetype<U32Column>(BACKEND_BASE + 11 * I);
export const mBlock = changetype<U32Column>(BACKEND_BASE + 12 * I);
/** Number in layout order, from `liveness`; its uses are read at 2 * pos, its definitions written at 2 * pos + 1. */
export const mPos = changetype<U32Column>(BACKEND_BASE + 13 * I);
export const mPlace = changetype<U32Column>(BACKEND_BASE + 14 * I);
const INSTR_END: usize = BACKEND_BASE + 15 * I;

// Machine blocks.
export const bFirst = changetype<U32Column>(INSTR_END);
export const bLast = changetype<U32Column>(INSTR_END + B);
/** Block at this place of the layout. */
export const bOrder = changetype<U32Column>(INSTR_END + 2 * B);
/** Place of this block in the layout. */
export const bIndex = changetype<U32Column>(INSTR_END + 3 * B);
/** Successors where control goes, 0 for none. */
export const bSucc0 = changetype<U32Column>(INSTR_END + 4 * B);
export const bSucc1 = changetype<U32Column>(INSTR_END + 5 * B);
/** Successors as one lane sees them: VGPRs are live along these. */
export const bLane0 = changetype<U32Column>(INSTR_END + 6 * B);
export const bLane1 = changetype<U32Column>(INSTR_END + 7 * B);
/** First link of the predecessor lists (pool `linkNext`, `linkValue`). */
export const bPreds = changetype<U32Column>(INSTR_END + 8 * B);
export const bLanePreds = changetype<U32Column>(INSTR_END + 9 * B);
export const bStartPos = changetype<U32Column>(INSTR_END + 10 * B);
export const bEndPos = changetype<U32Column>(INSTR_END + 11 * B);
export const bStamp = changetype<U32Column>(INSTR_END + 12 * B);
export const bScratch = changetype<U32Column>(INSTR_END + 13 * B);
/** Byte offset of the block's code. */
export const bOffset = changetype<U32Column>(INSTR_END + 14 * B);
export const bStack = changetype<U32Column>(INSTR_END + 15 * B);
/** Loops around the block. */
export const bDepth = changetype<U32Column>(INSTR_END + 16 * B);
const BLOCK_END: usize = INSTR_END + 17 * B;

// Virtual registers. info: size in [4:0], class in bit 5.
export const vInfo = changetype<U32Column>(BLOCK_END);
/** First unit. */
export const vUnit = changetype<U32Column>(BLOCK_END + V);
/** Allocated register (SGPR or VGPR number), or NO_REG. */
export const vReg = changetype<U32Column>(BLOCK_END + 2 * V);
/** Register that it must get, or NO_REG: arguments of the launch. */
export const vFixed = changetype<U32Column>(BLOCK_END + 3 * V);
/** Operand whose register is preferred, 0 for none. */
export const vHint = changetype<U32Column>(BLOCK_END + 4 * V);
/** Register that stands for this one after coalescing; itself when it is its own. */
export const vLeader = changetype<U32Column>(BLOCK_END + 5 * V);
/** Component of the leader where this one's component 0 stands. */
export const vShift = changetype<U32Column>(BLOCK_END + 6 * V);
export const vStart = changetype<U32Column>(BLOCK_END + 7 * V);
export const vOrder = changetype<U32Column>(BLOCK_END + 8 * V);
const VREG_END: usize = BLOCK_END + 9 * V;

// Units.
/** Reads and writes in layout order: link list of instruction * 2 + (1 for a write). */
export const uEvents = changetype<U32Column>(VREG_END);
/** First live segment; segments ascend and don't touch. */
export const uSegments = changetype<U32Column>(VREG_END + U);
/** End of the last live segment. */
export const uEnd = changetype<U32Column>(VREG_END + 2 * U);
/** Instructions that write it, copies of its own value left out. */
export const uWrites = changetype<U32Column>(VREG_END + 3 * U);
/** The last live segment. */
export const uLast = changetype<U32Column>(VREG_END + 4 * U);
const UNIT_END: usize = VREG_END + 5 * U;

// Live segments [start, end) in half positions.
export const segStart = changetype<U32Column>(UNIT_END);
export const segEnd = changetype<U32Column>(UNIT_END + S);
export const segNext = changetype<U32Column>(UNIT_END + 2 * S);
const SEG_END: usize = UNIT_END + 3 * S;

export const linkValue = changetype<U32Column>(SEG_END);
export const linkNext = changetype<U32Column>(SEG_END + L);
const LINK_END: usize = SEG_END + 2 * L;

// Selection, by IR value.
/** Operand word of the value, 0 while it has none. */
export const valueOperand = changetype<U32Column>(LINK_END);
/** How it is selected (`Sel`), with the inner instruction that it absorbs. */
export const valueSel = changetype<U32Column>(LINK_END + ((<usize>MAX_VALUES) << 2));
export const valueNeed = changetype<U32Column>(LINK_END + 2 * ((<usize>MAX_VALUES) << 2));
/** Register class of the value (`ValueClass`). */
export const valueClass = changetype<U32Column>(LINK_END + 3 * ((<usize>MAX_VALUES) << 2));
const VALUE_END: usize = LINK_END + 4 * ((<usize>MAX_VALUES) << 2);

// Selection, by IR node (`control` says more).
const N: usize = (<usize>MAX_NODES) << 2;
/** Block: the machine block where its instructions start. If: the one behind it. Loop: its exit. */
export const nodeMachine = changetype<U32Column>(VALUE_END);
/** Block: the last instruction of its prologue, 0 for none. If, loop: SGPR with the saved EXEC. */
export const nodeAnchor = changetype<U32Column>(VALUE_END + N);
export const nodeInfo = changetype<U32Column>(VALUE_END + 2 * N);
/** If: the machine block where else starts. Loop: the one where cont starts. */
export const nodeTarget = changetype<U32Column>(VALUE_END + 3 * N);
/** Block: ifs and loops around it. Loop: its header's machine block. */
export const nodeDepthOf = changetype<U32Column>(VALUE_END + 4 * N);
/** Loop: SGPR with the lanes that go on at its cont. */
export const nodeContinuing = changetype<U32Column>(VALUE_END + 5 * N);
const NODE_END: usize = VALUE_END + 6 * N;

export const codeWords = changetype<U32Column>(NODE_END);
const CODE_END: usize = NODE_END + ((<usize>MAX_CODE_WORDS) << 2);
/** Line table: byte offset, place; one row where the place changes. */
export const lineOffset = changetype<U32Column>(CODE_END);
export const linePlace = changetype<U32Column>(CODE_END + ((<usize>MAX_CODE_WORDS) << 2));
const LINE_END: usize = CODE_END + 2 * ((<usize>MAX_CODE_WORDS) << 2);

/** Scratch bytes for the forward dataflow of `waitcnt` and `check`. */
export const flowBytes = changetype<U8Column>(LINE_END);
export const FLOW_BYTES: usize = 1 << 24;
export const COLUMNS_END: usize = LINE_END + FLOW_BYTES;
