/** Addresses of the back end's columns. All capacities are constants; over one is `Limit.MACHINE`. */
import { Field2, Field4, Field8, U8Column, U32Column } from "../../base/index.ts";
import { BACKEND_BASE } from "../memory-map.ts";

/** Machine instructions; id 0 is none. */
export const MAX_MINSTRS: u32 = 1 << 19;
export const MAX_MBLOCKS: u32 = 1 << 18;
export const MAX_VREGS: u32 = 1 << 19;
/** One unit is one 32-bit component of a virtual register. */
export const MAX_UNITS: u32 = 1 << 20;
export const MAX_SEGMENTS: u32 = 1 << 20;
/** Uses and definitions of units, and other pooled links. */
export const MAX_LINKS: u32 = 1 << 20;
export const MAX_CODE_WORDS: u32 = 1 << 20;
const MAX_VALUES: u32 = 1 << 20;
const MAX_NODES: u32 = 1 << 18;

// Tables of rows; each begins on cache lines of its own. As in the IR (`ir/columns.ts`) what most phases look at stands in
// rows of half a line.
const INSTRS: usize = BACKEND_BASE + 0x500;
const CODING: usize = INSTRS + ((<usize>MAX_MINSTRS) << 5) + 0x140;
const PLACING: usize = CODING + ((<usize>MAX_MINSTRS) << 4) + 0x240;
const BLOCKS: usize = PLACING + ((<usize>MAX_MINSTRS) << 4) + 0x40;
const LIVE_BLOCKS: usize = BLOCKS + ((<usize>MAX_MBLOCKS) << 5) + 0x340;
const BLOCK_ORDER: usize = LIVE_BLOCKS + ((<usize>MAX_MBLOCKS) << 5) + 0x40;
const VREGS: usize = BLOCK_ORDER + ((<usize>MAX_MBLOCKS) << 2) + 0x40;
const VREG_ORDER: usize = VREGS + ((<usize>MAX_VREGS) << 5) + 0x40;
const UNITS: usize = VREG_ORDER + ((<usize>MAX_VREGS) << 2) + 0x40;
const SEGMENTS: usize = UNITS + ((<usize>MAX_UNITS) << 5) + 0x40;
const LINKS: usize = SEGMENTS + ((<usize>MAX_SEGMENTS) << 4) + 0x40;
const VALUES: usize = LINKS + ((<usize>MAX_LINKS) << 3) + 0x40;
const NODES: usize = VALUES + ((<usize>MAX_VALUES) << 4) + 0x40;

// Machine instructions.
export const mOp = changetype<Field8>(INSTRS);
export const mNext = changetype<Field8>(INSTRS + 4);
export const mDst0 = changetype<Field8>(INSTRS + 8);
export const mDst1 = changetype<Field8>(INSTRS + 12);
export const mSrc0 = changetype<Field8>(INSTRS + 16);
export const mSrc1 = changetype<Field8>(INSTRS + 20);
export const mSrc2 = changetype<Field8>(INSTRS + 24);
export const mSrc3 = changetype<Field8>(INSTRS + 28);
export const mMods = changetype<Field4>(CODING);
/** The literal dword, when an operand is `Hw.LITERAL`. */
export const mLit = changetype<Field4>(CODING + 4);
/** Offset, simm16, or the target block of a branch. */
export const mImm = changetype<Field4>(CODING + 8);
/** Memory that it may reach: `alias`. */
export const mAlias = changetype<Field4>(CODING + 12);
export const mPrev = changetype<Field4>(PLACING);
export const mBlock = changetype<Field4>(PLACING + 4);
/** Number in layout order, from `liveness`; its uses are read at 2 * pos, its definitions written at 2 * pos + 1. */
export const mPos = changetype<Field4>(PLACING + 8);
export const mPlace = changetype<Field4>(PLACING + 12);

// Machine blocks.
export const bFirst = changetype<Field8>(BLOCKS);
export const bLast = changetype<Field8>(BLOCKS + 4);
/** Block at this place of the layout. */
export const bOrder = changetype<U32Column>(BLOCK_ORDER);
/** Successors where control goes, 0 for none. */
export const bSucc0 = changetype<Field8>(BLOCKS + 8);
export const bSucc1 = changetype<Field8>(BLOCKS + 12);
/** Successors as one lane sees them: VGPRs are live along these. */
export const bLane0 = changetype<Field8>(BLOCKS + 16);
export const bLane1 = changetype<Field8>(BLOCKS + 20);
/** Byte offset of the block's code. */
export const bOffset = changetype<Field8>(BLOCKS + 24);
/** Loops around the block. */
export const bDepth = changetype<Field8>(BLOCKS + 28);
/** First link of the predecessor lists (pool `linkNext`, `linkValue`). */
export const bPreds = changetype<Field8>(LIVE_BLOCKS);
export const bLanePreds = changetype<Field8>(LIVE_BLOCKS + 4);
export const bStartPos = changetype<Field8>(LIVE_BLOCKS + 8);
export const bEndPos = changetype<Field8>(LIVE_BLOCKS + 12);
export const bStamp = changetype<Field8>(LIVE_BLOCKS + 16);
export const bScratch = changetype<Field8>(LIVE_BLOCKS + 20);
/** Block behind an if or loop: the one in front of it; else 0. */
export const bHead = changetype<Field8>(LIVE_BLOCKS + 24);
/** Place of this block in the layout. */
export const bIndex = changetype<Field8>(LIVE_BLOCKS + 28);

// Virtual registers. info: size in [4:0], class in bit 5.
export const vInfo = changetype<Field8>(VREGS);
/** First unit. */
export const vUnit = changetype<Field8>(VREGS + 4);
/** Allocated register (SGPR or VGPR number), or NO_REG. */
export const vReg = changetype<Field8>(VREGS + 8);
/** Register that it must get, or NO_REG: arguments of the launch. */
export const vFixed = changetype<Field8>(VREGS + 12);
/** Operand whose register is preferred, 0 for none. */
export const vHint = changetype<Field8>(VREGS + 16);
/** Register that stands for this one after coalescing; itself when it is its own. */
export const vLeader = changetype<Field8>(VREGS + 20);
/** Component of the leader where this one's component 0 stands. */
export const vShift = changetype<Field8>(VREGS + 24);
export const vStart = changetype<Field8>(VREGS + 28);
export const vOrder = changetype<U32Column>(VREG_ORDER);

// Units.
/** Of units that live in several blocks reads and writes in layout order: link list of instruction * 2 + (1 for a write). */
export const uEvents = changetype<Field8>(UNITS);
/** First live segment; segments ascend and don't touch. */
export const uSegments = changetype<Field8>(UNITS + 4);
/** End of the last live segment. */
export const uEnd = changetype<Field8>(UNITS + 8);
/** Instructions that write it, copies of its own value left out. */
export const uWrites = changetype<Field8>(UNITS + 12);
/** The last live segment. */
export const uLast = changetype<Field8>(UNITS + 16);
/** The block with its reads and writes, 0 before the first one; `SEVERAL` of `liveness`. */
export const uHome = changetype<Field8>(UNITS + 20);
/** The segment where the last look at its segments began. */
export const uFinger = changetype<Field8>(UNITS + 24);
/** Empties the rows of the units below `count`. */
export function clearUnits(count: u32): void {
  memory.fill(UNITS, 0, (<usize>count) << 5);
}

// Live segments [start, end) in half positions.
export const segStart = changetype<Field4>(SEGMENTS);
export const segEnd = changetype<Field4>(SEGMENTS + 4);
export const segNext = changetype<Field4>(SEGMENTS + 8);
/** The virtual register whose it is, once it has a register. */
export const segOwner = changetype<Field4>(SEGMENTS + 12);

export const linkValue = changetype<Field2>(LINKS);
export const linkNext = changetype<Field2>(LINKS + 4);

// Selection, by IR value.
/** Operand word of the value, 0 while it has none. */
export const valueOperand = changetype<Field4>(VALUES);
/** How it is selected (`Sel`), with the inner instruction that it absorbs. */
export const valueSel = changetype<Field4>(VALUES + 4);
export const valueNeed = changetype<Field4>(VALUES + 8);
/** Register class of the value (`ValueClass`). */
export const valueClass = changetype<Field4>(VALUES + 12);

// Selection, by IR node (`control` says more).
/** Block: the machine block where its instructions start. If: the one behind it. Loop: its exit. */
export const nodeMachine = changetype<Field8>(NODES);
/** Block: the last instruction of its prologue, 0 for none. If, loop: SGPR with the saved EXEC. */
export const nodeAnchor = changetype<Field8>(NODES + 4);
export const nodeInfo = changetype<Field8>(NODES + 8);
/** If: the machine block where else starts. Loop: the one where cont starts. */
export const nodeTarget = changetype<Field8>(NODES + 12);
/** Block: the one in front of the outermost loop around it, or itself. Loop: its header's machine block. */
export const nodeHeader = changetype<Field8>(NODES + 16);
/** Loop: SGPR with the lanes that go on at its cont. If, loop during `scan`: the list that it is in, 2 behind both. */
export const nodeContinuing = changetype<Field8>(NODES + 20);
const NODE_END: usize = NODES + ((<usize>MAX_NODES) << 5) + 0x40;

export const codeWords = changetype<U32Column>(NODE_END);
const CODE_END: usize = NODE_END + ((<usize>MAX_CODE_WORDS) << 2);
/** Line table: byte offset, place; one row where the place changes. */
export const lineOffset = changetype<U32Column>(CODE_END);
export const linePlace = changetype<U32Column>(CODE_END + ((<usize>MAX_CODE_WORDS) << 2));
const LINE_END: usize = CODE_END + 2 * ((<usize>MAX_CODE_WORDS) << 2);

/** Scratch bytes for the forward dataflow of `waitcnt` and `check`. */
export const flowBytes = changetype<U8Column>(LINE_END);
export const FLOW_BYTES: usize = 1 << 25;
/** Blocks that a phase has still to look at. */
export const bStack = changetype<U32Column>(LINE_END + FLOW_BYTES);
/** First block of an if or loop: the one behind it; else 0. */
export const bBehind = changetype<U32Column>(LINE_END + FLOW_BYTES + ((<usize>MAX_MBLOCKS) << 2));
export const COLUMNS_END: usize = LINE_END + FLOW_BYTES + ((<usize>MAX_MBLOCKS) << 3);
