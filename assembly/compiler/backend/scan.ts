/** One walk over the IR before selection: what the launch, helper lanes, descriptors and scalar loads need to know. */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  entryBlock,
  firstInstr,
  hasLoops,
  Kind,
  kindOf,
  nextBlock,
  nextInstr,
  opOf,
  parentOf,
  prevNode,
  STAGE_FRAGMENT,
  stage,
} from "../ir/index.ts";
import { classifyLoops, classifyValues, ValueClass } from "./classes.ts";
import { nodeTarget, valueClass, valueNeed, valueOperand, valueSel } from "./columns.ts";
import { endDescriptors, noteBlock, noteDescriptor, startDescriptors } from "./descriptors.ts";
import { noteExact, startQuads } from "./exact.ts";
import { endLaunch, noteLaunch, startLaunch } from "./launch.ts";
import { noteWrite, startWrites } from "./scalar-loads.ts";
import { Sel } from "./sel.ts";

/** The ops that do more than arithmetic stand together. */
function isAccess(op: u32): bool {
  return op >= <u32>Op.LOAD_UBO && op <= <u32>Op.TEXEL_COUNT;
}

/**
 * Scans the shader, numbers instructions and blocks in tree order, empties what selection keeps by value, and gives each
 * value its class. `thrifty`: for few registers rather than for speed.
 */
export function scanShader(thrifty: bool): void {
  startLaunch();
  startQuads();
  startDescriptors();
  startWrites();
  const fragment = stage() == STAGE_FRAGMENT;
  let order: u32 = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    noteBlock(b);
    // The loop around each block: its parent, or that of the block in front of the if around it.
    const p = parentOf(b);
    nodeTarget[b] = p == 0 ? 0 : kindOf(p) == Kind.LOOP ? p : nodeTarget[prevNode(p)];
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) {
      order++;
      valueNeed[i] = order;
      valueSel[i] = Sel.PLAIN;
      valueOperand[i] = 0;
      const op = opOf(i);
      if (isAccess(op)) {
        noteLaunch(i);
        if (fragment) noteExact(op, b, order);
        noteDescriptor(i, b);
        noteWrite(i);
      }
      valueClass[i] = ValueClass.NONE;
    }
  }
  endLaunch();
  endDescriptors(thrifty);
  spend(order);
  if (hasLoops()) classifyLoops();
  else classifyValues();
}
