/** SH registers that the model has, by byte offset. */
import { FaultKind, RegisterSpace, ShReg } from "../../gen/uapi.ts";
import { raiseDetail } from "../fault.ts";
import { Context } from "../layout.ts";
import { context } from "./stream.ts";

function isShRegister(offset: u32): bool {
  if (
    (offset - ShReg.COMPUTE_USER_DATA_0) >> 2 < <u32>ShReg.COMPUTE_USER_DATA_COUNT &&
    offset >= <u32>ShReg.COMPUTE_USER_DATA_0
  )
    return (offset & 3) == 0;
  switch (offset) {
    case ShReg.COMPUTE_DISPATCH_INITIATOR:
    case ShReg.COMPUTE_START_X:
    case ShReg.COMPUTE_START_Y:
    case ShReg.COMPUTE_START_Z:
    case ShReg.COMPUTE_NUM_THREAD_X:
    case ShReg.COMPUTE_NUM_THREAD_Y:
    case ShReg.COMPUTE_NUM_THREAD_Z:
    case ShReg.COMPUTE_PGM_LO:
    case ShReg.COMPUTE_PGM_HI:
    case ShReg.COMPUTE_DISPATCH_SCRATCH_BASE_LO:
    case ShReg.COMPUTE_DISPATCH_SCRATCH_BASE_HI:
    case ShReg.COMPUTE_PGM_RSRC1:
    case ShReg.COMPUTE_PGM_RSRC2:
    case ShReg.COMPUTE_RESOURCE_LIMITS:
    case ShReg.COMPUTE_TMPRING_SIZE:
    case ShReg.COMPUTE_PGM_RSRC3:
      return true;
    default:
      return false;
  }
}

/** Writes a register of the running queue; BAD_REGISTER_OFFSET where it is none. */
export function setShRegister(offset: u32, value: u32): void {
  if (isShRegister(offset)) store<u32>(context + Context.SH + <usize>(offset - RegisterSpace.SH), value);
  else raiseDetail(FaultKind.BAD_REGISTER_OFFSET, offset, 0);
}

/** A register of a queue's context. */
export function register(at: usize, offset: u32): u32 {
  return load<u32>(at + Context.SH + <usize>(offset - RegisterSpace.SH));
}
