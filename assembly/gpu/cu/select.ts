/** Source selection of the second dword forms: DPP16, DPP8, SDWA. Source: RDNA2 ISA, data parallel processing. */
import {
  dpp8Selectors,
  dpp16BankMask,
  dpp16BoundCtrl,
  dpp16DppCtrl,
  dpp16Fi,
  dpp16RowMask,
} from "../../gen/isa-decode.ts";
import { FaultKind } from "../../gen/uapi.ts";
import { raise } from "../fault.ts";
import { Mod, Rec, TEMP_BASE } from "../layout.ts";
import { exec, expandMask, TEMP_MASK, TEMP_ROWS } from "./wave.ts";

const OUT_OF_RANGE: u32 = 32;

/** Lane whose data lane `l` gets, or OUT_OF_RANGE. */
function dppLane(control: u32, l: u32): u32 {
  const row = l & 16;
  const at = l & 15;
  const n = control & 15;
  if (control <= 0xff) return (l & ~3) | ((control >> (2 * (l & 3))) & 3);
  switch (control >> 4) {
    case 0x10:
      return at + n < 16 ? l + n : OUT_OF_RANGE;
    case 0x11:
      return at >= n ? l - n : OUT_OF_RANGE;
    case 0x12:
      return row | ((at - n) & 15);
    case 0x14:
      if (n == 0) return row | (15 - at);
      if (n == 1) return (l & ~7) | (7 - (l & 7));
      break;
    case 0x15:
      return row | n;
    case 0x16:
      return row | (at ^ n);
    default:
      break;
  }
  raise(FaultKind.ILLEGAL_INSTRUCTION);
  return OUT_OF_RANGE;
}

/** One SDWA operand: the chosen byte or word of each lane, zero- or sign-extended. */
function sdwaOperand(out: usize, at: usize, stride: usize, sel: u32, signed: bool): void {
  const step = stride >> 2;
  for (let i: usize = 0; i < 128; i += 4) {
    let x = load<u32>(at);
    at += step;
    if (sel < 4) {
      x = (x >> (8 * sel)) & 0xff;
      if (signed) x = <u32>(<i32>(<i8>x));
    } else if (sel < 6) {
      x = (x >> (16 * (sel - 4))) & 0xffff;
      if (signed) x = <u32>(<i32>(<i16>x));
    }
    store<u32>(out + i, x);
  }
}

/**
 * Puts source 0 (and for SDWA source 1) into temporary rows 0 and 1. Returns the address of a lane mask row where
 * fewer lanes than EXEC get a result, else 0.
 */
export function selectData(rec: usize, mods: u32, a: usize, sa: usize, b: usize, sb: usize): usize {
  const extra = load<u32>(rec, Rec.EXTRA);
  if (mods & Mod.SDWA) {
    sdwaOperand(TEMP_BASE, a, sa, (extra >> 16) & 7, ((extra >> 19) & 1) != 0);
    sdwaOperand(TEMP_BASE + TEMP_ROWS, b, sb, (extra >> 24) & 7, ((extra >> 27) & 1) != 0);
    return 0;
  }
  const active = exec();
  let written = active;
  if (mods & Mod.DPP8) {
    const selectors = dpp8Selectors(extra);
    const fetchInactive = load<i32>(rec, Rec.IMM) != 0;
    for (let l: u32 = 0; l < 32; l++) {
      const from = (l & ~7) | ((selectors >> (3 * (l & 7))) & 7);
      const ok = fetchInactive || (active >> from) & 1;
      store<u32>(TEMP_BASE + ((<usize>l) << 2), ok ? load<u32>(a + ((<usize>from) << 2)) : 0);
    }
    return 0;
  }
  const control = dpp16DppCtrl(extra);
  const fetchInactive = dpp16Fi(extra) != 0;
  const zeroFill = dpp16BoundCtrl(extra) != 0;
  const rows = dpp16RowMask(extra);
  const banks = dpp16BankMask(extra);
  for (let l: u32 = 0; l < 32; l++) {
    const from = dppLane(control, l);
    const ok = from != OUT_OF_RANGE && (fetchInactive || (active >> from) & 1);
    store<u32>(TEMP_BASE + ((<usize>l) << 2), ok ? load<u32>(a + ((<usize>from) << 2)) : 0);
    const enabled = (rows >> (l >> 4)) & 1 && (banks >> ((l >> 2) & 3)) & 1;
    if (!enabled || (!ok && !zeroFill)) written &= ~(1 << l);
  }
  if (written == active) return 0;
  expandMask(TEMP_MASK, written);
  return TEMP_MASK;
}
