import { failed, resetFailure } from "../base/index.ts";
import { lift } from "./lift/lift.ts";
import { writeSnapshot, readSnapshot } from "./ir/snapshot.ts";
import { failureCode, failureA, failureB, failureC } from "../base/index.ts";
import { output, outputCount, resetOutput, words, options, specRows, bindingRows } from "./io.ts";
import { nameBytes } from "./ir/index.ts";

export function compile(): u32 {
  resetFailure(100_000_000);
  resetOutput();
  lift();
  return failureCode();
}
export function snapshot(): u32 { resetOutput(); writeSnapshot(); return outputCount(); }
export function code(k: u32): u32 { return k == 0 ? failureA() : k == 1 ? failureB() : failureC(); }
export function address(k: u32): usize { return k == 0 ? words.at(0) : k == 1 ? options.at(0) : k == 2 ? output.at(0) : k == 3 ? nameBytes.at(0) : k == 4 ? specRows.at(0) : bindingRows.at(0); }
