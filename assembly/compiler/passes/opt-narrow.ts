/**
 * Texels and fetched attributes with no more components than are read: `dmask` of an image access keeps the ones that an
 * extract names, a texel buffer or vertex buffer is read up to the last of them. `%1:32x4 = image_sample … dmask xyzw;
 * %2 = extract %1 index=2` → `%1:32 = image_sample … dmask z`. What is read as a whole vector stays, and so does a gather,
 * whose mask names the channel. O(instructions), only in shaders that have such accesses.
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  componentsOf,
  entryBlock,
  erase,
  firstInstr,
  firstUse,
  hasMade,
  hasMadeAny,
  imm,
  nextBlock,
  nextInstr,
  nextUse,
  opOf,
  replaceUses,
  setHead,
  setImm,
  userOf,
  widthOf,
} from "../ir/index.ts";

/** Of `index`, by src/ir/ops.ts. */
const DMASK_SHIFT: u32 = 3;
const DMASK: u32 = 15 << DMASK_SHIFT;
const GATHER: u32 = 1 << 14;

/** The components that extracts read; all where something else reads the vector. */
function readComponents(value: u32): u32 {
  const all = ((<u32>1) << componentsOf(value)) - 1;
  let read: u32 = 0;
  for (let slot = firstUse(value); slot != 0 && read != all && spend(1); slot = nextUse(slot)) {
    const user = userOf(slot);
    read |= opOf(user) == Op.EXTRACT ? (<u32>1) << imm(user, 0) : all;
  }
  return read;
}

/** Bits of `mask` at the places of its set bits that `chosen` names: the place counts set bits. */
function chooseBits(mask: u32, chosen: u32): u32 {
  let result: u32 = 0;
  let place: u32 = 0;
  for (let k: u32 = 0; k < 4; k++) {
    if (((mask >> k) & 1) == 0) continue;
    if (((chosen >> place) & 1) != 0) result |= (<u32>1) << k;
    place++;
  }
  return result;
}

/** Makes the vector the components `kept`; the extracts count anew, and of a single component they are the value itself. */
function narrow(value: u32, kept: u32): void {
  const components = popcnt<u32>(kept);
  let slot = firstUse(value);
  while (slot != 0) {
    const next = nextUse(slot);
    const part = userOf(slot);
    slot = next;
    // Readers of the parts become readers of the value as this goes on.
    if (opOf(part) != Op.EXTRACT) continue;
    if (components > 1) {
      setImm(part, 0, popcnt<u32>(kept & (((<u32>1) << imm(part, 0)) - 1)));
    } else {
      replaceUses(part, value);
      erase(part);
    }
  }
  setHead(value, opOf(value), widthOf(value), components);
}

export function optNarrow(): bool {
  const hasImages = hasMadeAny(Op.IMAGE_SAMPLE, Op.IMAGE_LOAD) || hasMade(Op.IMAGE_SIZE);
  if (!hasImages && !hasMade(Op.LOAD_TEXEL) && !hasMade(Op.LOAD_VERTEX)) return false;
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      const op = opOf(i);
      const image = (op >= <u32>Op.IMAGE_SAMPLE && op <= <u32>Op.IMAGE_LOAD) || op == Op.IMAGE_SIZE;
      if (!image && op != Op.LOAD_TEXEL && op != Op.LOAD_VERTEX) continue;
      if (componentsOf(i) < 2 || (image && (imm(i, 0) & GATHER) != 0)) continue;
      const read = readComponents(i);
      // Buffers know only formats of the first components.
      const kept = image ? read : ((<u32>1) << (32 - clz<u32>(read))) - 1;
      if (read == 0 || kept + 1 == (<u32>1) << componentsOf(i)) continue;
      narrow(i, kept);
      if (image) {
        const index = imm(i, 0);
        setImm(i, 0, (index & ~DMASK) | (chooseBits((index >> DMASK_SHIFT) & 15, kept) << DMASK_SHIFT));
      }
      progress = true;
    }
  }
  return progress;
}
