/** Instructions that move data between lanes, or between lanes and scalars. Source: the rows' meanings. */
import { Op } from "../../gen/isa-ops.ts";
import { FaultKind, RegisterClass } from "../../gen/uapi.ts";
import { raiseDetail, raiseNotModelled } from "../fault.ts";
import { Mod, Rec, TEMP_BASE, Wave } from "../layout.ts";
import { exec, setSgpr, vgprRow, wave } from "./wave.ts";

function scalar(rec: usize, k: u32): u32 {
  return load<u32>(wave + <usize>load<u16>(rec + ((<usize>k) << 1), Rec.SRC0));
}

/** Lane `lane` of source 0, which may also be a scalar. */
function source0(rec: usize, lane: u32): u32 {
  const offset = <u32>load<u16>(rec, Rec.SRC0);
  const at = wave + <usize>offset;
  return load<u32>(offset >= <u32>Wave.VGPR_FILE ? at + ((<usize>lane) << 2) : at);
}

function permlane(rec: usize, other: bool): void {
  const active = exec();
  const row = vgprRow(load<u16>(rec, Rec.DST));
  const selectors = ((<u64>scalar(rec, 2)) << 32) | <u64>scalar(rec, 1);
  const mods = load<u32>(rec, Rec.MODS);
  const fetchInactive = (mods >> Mod.OP_SEL_SHIFT) & 1;
  const boundControl = (mods >> (Mod.OP_SEL_SHIFT + 1)) & 1;
  for (let l: u32 = 0; l < 32; l++) {
    const half = other ? (l & 16) ^ 16 : l & 16;
    const from = half | (<u32>(selectors >> (4 * (l & 15))) & 15);
    const ok = fetchInactive || (active >> from) & 1;
    const old = load<u32>(row + ((<usize>l) << 2));
    store<u32>(TEMP_BASE + ((<usize>l) << 2), ok ? source0(rec, from) : boundControl ? 0 : old);
  }
  for (let l: u32 = 0; l < 32; l++) {
    if ((active >> l) & 1) store<u32>(row + ((<usize>l) << 2), load<u32>(TEMP_BASE + ((<usize>l) << 2)));
  }
}

/** VGPR number `base` + M0, or a fault. */
function indexed(base: u32): u32 {
  const number = base + load<u32>(wave, Wave.M0);
  if (number >= load<u32>(wave, Wave.VGPRS)) raiseDetail(FaultKind.BAD_REGISTER, number, RegisterClass.VGPR);
  return number & 255;
}

function copyRow(to: usize, from: usize): void {
  const active = exec();
  for (let l: u32 = 0; l < 32; l++) {
    if ((active >> l) & 1) store<u32>(to + ((<usize>l) << 2), load<u32>(from + ((<usize>l) << 2)));
  }
}

export function executeLaneOp(rec: usize): void {
  const active = exec();
  const dst = <u32>load<u16>(rec, Rec.DST);
  switch (<u32>load<u16>(rec, Rec.OP)) {
    case Op.v_readfirstlane_b32:
      setSgpr(dst, source0(rec, active == 0 ? 0 : ctz<u32>(active)));
      return;
    case Op.v_readlane_b32:
      setSgpr(dst, source0(rec, scalar(rec, 1) & 31));
      return;
    case Op.v_writelane_b32:
      store<u32>(vgprRow(dst) + ((<usize>(scalar(rec, 1) & 31)) << 2), scalar(rec, 0));
      return;
    case Op.v_permlane16_b32:
      permlane(rec, false);
      return;
    case Op.v_permlanex16_b32:
      permlane(rec, true);
      return;
    case Op.v_swap_b32: {
      const from = wave + <usize>load<u16>(rec, Rec.SRC0);
      const to = vgprRow(dst);
      for (let l: u32 = 0; l < 32; l++) {
        if (!((active >> l) & 1)) continue;
        const at = (<usize>l) << 2;
        const old = load<u32>(to + at);
        store<u32>(to + at, load<u32>(from + at));
        store<u32>(from + at, old);
      }
      return;
    }
    case Op.v_movreld_b32_e64: {
      const to = vgprRow(indexed(dst));
      for (let l: u32 = 0; l < 32; l++) if ((active >> l) & 1) store<u32>(to + ((<usize>l) << 2), source0(rec, l));
      return;
    }
    case Op.v_movrels_b32_e64: {
      const number = (<u32>load<u16>(rec, Rec.SRC0) - Wave.VGPR_FILE) >> 7;
      copyRow(vgprRow(dst), vgprRow(indexed(number)));
      return;
    }
    default:
      raiseNotModelled();
      return;
  }
}
