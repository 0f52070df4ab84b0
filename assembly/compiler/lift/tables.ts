/** Where the tables of constants stand, and what is in them: `scratch.ts` says which variables they are. */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { addTableWord, constBits, isConst, opOf, tableWords } from "../ir/index.ts";
import { idLeaf, idType, leafPool, malformed, scratchB, typeSize } from "./ids.ts";
import { describe, Layout } from "./pointers.ts";
import { tableConstant } from "./scratch.ts";

/** Byte offset of a table, whose words are written at its first use. */
export function tableBase(variable: u32): u32 {
  if (idLeaf[variable] != 0) return idLeaf[variable] - 1;
  const type = idType[variable];
  while ((tableWords() & 3) != 0 && !failed()) addTableWord(0);
  const start = tableWords() * 4;
  const leaf = idLeaf[tableConstant(variable)];
  const count = describe(type, 0, Layout.SHARED, 0, 0);
  for (let k: u32 = 0; k < count && !failed(); k++) {
    const value = leafPool[leaf + k];
    while (tableWords() * 4 < start + scratchB[2 * k] && !failed()) addTableWord(0);
    if (isConst(value)) addTableWord(constBits(value));
    else if (opOf(value) == Op.UNDEF) addTableWord(0);
    else malformed(0);
  }
  while (tableWords() * 4 < start + typeSize[type] && !failed()) addTableWord(0);
  idLeaf[variable] = start + 1;
  return start;
}
