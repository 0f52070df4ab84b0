/**
 * Which storage-buffer loads may go through the scalar cache, which sees no vector store of this dispatch, and which vector
 * stores don't wait for: uniform ones, not coherent, of buffers that the shader writes nowhere. A store counts for its
 * binding alone, unless one of the two may be aliased; one through an address, a texel buffer or beyond what is kept here
 * counts for all. docs/adr/0015-scalar-loads-of-unwritten-buffers.md.
 */
import { DYNAMIC_SET, InstrFlag, Op } from "../../gen/ir-ops.ts";
import { componentsOf, flagsOf, imm, opOf, src } from "../ir/index.ts";

/** Bindings that are written: set, binding. */
const MAX_WRITTEN: u32 = 64;
const written = memory.data(64 * 8, 4);
let writtenCount: u32 = 0;
/** Any buffer may be written. */
let anyWritten: bool = false;

function isWritten(set: u32, binding: u32): bool {
  for (let k: u32 = 0; k < writtenCount; k++) {
    const at = written + ((<usize>k) << 3);
    if (load<u32>(at) == set && load<u32>(at + 4) == binding) return true;
  }
  return false;
}

/** Its own binding is all that the access reaches. */
function isPlain(i: u32): bool {
  return (flagsOf(i) & InstrFlag.ALIASED) == 0 && imm(i, 0) != DYNAMIC_SET;
}

/** No writes are known yet. */
export function startWrites(): void {
  writtenCount = 0;
  anyWritten = false;
}

/** Notes what an instruction writes. */
export function noteWrite(i: u32): void {
  switch (opOf(i)) {
    case Op.STORE_TEXEL:
    case Op.TEXEL_ATOMIC:
      anyWritten = true;
      return;
    case Op.STORE_SSBO:
    case Op.SSBO_ATOMIC:
    case Op.SSBO_ATOMIC_CMPSWAP: {
      const known = isWritten(imm(i, 0), imm(i, 1));
      if (!isPlain(i) || (!known && writtenCount == MAX_WRITTEN)) anyWritten = true;
      if (known || writtenCount == MAX_WRITTEN) return;
      const at = written + ((<usize>writtenCount) << 3);
      store<u32>(at, imm(i, 0));
      store<u32>(at, imm(i, 1), 4);
      writtenCount++;
      return;
    }
    default:
      return;
  }
}

/** A uniform `load_ssbo` may use SMEM. After the whole shader was noted. */
export function isScalarLoad(i: u32): bool {
  if (anyWritten || (flagsOf(i) & (InstrFlag.COHERENT | InstrFlag.VOLATILE)) != 0) return false;
  // Through an address: any write may reach it, and no descriptor bounds what SMEM reads whatever EXEC is.
  if (imm(i, 0) == DYNAMIC_SET && componentsOf(src(i, 1)) == 2) return false;
  return isPlain(i) ? !isWritten(imm(i, 0), imm(i, 1)) : writtenCount == 0;
}
