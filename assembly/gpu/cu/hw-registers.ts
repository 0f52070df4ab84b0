/** Hardware registers that S_GETREG_B32 and S_SETREG_B32 reach. The immediate: register 5:0, offset 10:6, width - 1 15:11. */
import { raiseNotModelled } from "../fault.ts";
import { Wave } from "../layout.ts";
import { scc, wave } from "./wave.ts";

const enum HwReg {
  MODE = 1,
  STATUS = 2,
  FLAT_SCR_LO = 20,
  FLAT_SCR_HI = 21,
}

/** Value of a hardware register that the model has; others fault. */
function hardwareRegister(id: u32): u32 {
  switch (id) {
    case HwReg.MODE:
      return load<u32>(wave, Wave.MODE);
    case HwReg.STATUS: {
      const exec = load<u32>(wave, Wave.EXEC);
      const vcc = load<u32>(wave, Wave.VCC);
      return scc() | (exec == 0 ? 1 << 9 : 0) | (vcc == 0 ? 1 << 10 : 0) | (1 << 16);
    }
    case HwReg.FLAT_SCR_LO:
      return load<u32>(wave, Wave.FLAT_SCRATCH);
    case HwReg.FLAT_SCR_HI:
      return load<u32>(wave, Wave.FLAT_SCRATCH + 4);
    default:
      raiseNotModelled();
      return 0;
  }
}

/** The field of a hardware register that the immediate of S_GETREG_B32 names. */
export function getReg(imm: i32): u32 {
  const width = ((imm >> 11) & 31) + 1;
  const value = hardwareRegister(imm & 63) >> ((imm >> 6) & 31);
  return width == 32 ? value : value & ((1 << width) - 1);
}

/** Writes the field that the immediate of S_SETREG_B32 names. */
export function setReg(imm: i32, value: u32): void {
  const width = ((imm >> 11) & 31) + 1;
  const offset = (imm >> 6) & 31;
  const mask: u32 = (width == 32 ? <u32>-1 : <u32>((1 << width) - 1)) << offset;
  const id = imm & 63;
  const merged = (hardwareRegister(id) & ~mask) | ((value << offset) & mask);
  switch (id) {
    case HwReg.MODE:
      store<u32>(wave, merged, Wave.MODE);
      return;
    case HwReg.FLAT_SCR_LO:
      store<u32>(wave, merged, Wave.FLAT_SCRATCH);
      return;
    case HwReg.FLAT_SCR_HI:
      store<u32>(wave, merged, Wave.FLAT_SCRATCH + 4);
      return;
    default:
      raiseNotModelled();
      return;
  }
}
