import { resetFailure } from "../base/index.ts";
import { Op } from "../gen/ir-ops.ts";
import { appendBlock, constant, cursorAtEnd, effect, resetShader } from "./ir/index.ts";

export function compile(): i32 {
  resetFailure(1000);
  resetShader();
  cursorAtEnd(appendBlock(0, 0));
  effect(Op.END, constant(3), 0);
  return 0;
}
