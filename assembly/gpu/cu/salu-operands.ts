/** Sources and results of scalar instructions: what they read, what they leave in SCC and EXEC. */
import { SourceCode } from "../../gen/isa-ops.ts";
import { FaultKind } from "../../gen/uapi.ts";
import { raise } from "../fault.ts";
import { Rec, Wave } from "../layout.ts";
import { scalar64, setScc, setSgpr, setSgpr64, sgpr, sgpr64, wave } from "./wave.ts";

const EXEC: u32 = SourceCode.execLo;

export function src0(rec: usize): u32 {
  return load<u32>(wave + <usize>load<u16>(rec, Rec.SRC0));
}

export function src1(rec: usize): u32 {
  return load<u32>(wave + <usize>load<u16>(rec, Rec.SRC1));
}

export function wide0(rec: usize): u64 {
  return scalar64(load<u16>(rec, Rec.SRC0), 0);
}

export function wide1(rec: usize): u64 {
  return scalar64(load<u16>(rec, Rec.SRC1), 0);
}

/** Writes a 32-bit result and SCC = (result != 0). */
export function logic(rec: usize, value: u32): void {
  setSgpr(load<u16>(rec, Rec.DST), value);
  setScc(value != 0);
}

export function logic64(rec: usize, value: u64): void {
  setSgpr64(load<u16>(rec, Rec.DST), value);
  setScc(value != 0);
}

export function plain(rec: usize, value: u32): void {
  setSgpr(load<u16>(rec, Rec.DST), value);
}

export function arithmetic(rec: usize, value: u32, carry: bool): void {
  setSgpr(load<u16>(rec, Rec.DST), value);
  setScc(carry);
}

/** Saves EXEC in the destination, then sets it. */
export function saveExec(rec: usize, value: u32): void {
  const old = sgpr(EXEC);
  setSgpr(load<u16>(rec, Rec.DST), old);
  setSgpr(EXEC, value);
  setScc(value != 0);
}

export function saveExec64(rec: usize, value: u64): void {
  const old = sgpr64(EXEC);
  setSgpr64(load<u16>(rec, Rec.DST), old);
  setSgpr64(EXEC, value);
  setScc(value != 0);
}

export function writeExec(rec: usize, value: u32): void {
  setSgpr(EXEC, value);
  logic(rec, value);
}

export function writeExec64(rec: usize, value: u64): void {
  setSgpr64(EXEC, value);
  logic64(rec, value);
}

/** Number of the SGPR `offset` past the register in a source field. */
export function movrelSource(rec: usize): u32 {
  return ((load<u16>(rec, Rec.SRC0) - Wave.SCALARS) >> 2) + load<u32>(wave, Wave.M0);
}

export function checkIndexed(number: u32, count: u32): bool {
  if (number + count <= <u32>SourceCode.ttmp0) return true;
  raise(FaultKind.BAD_REGISTER);
  return false;
}

export function shiftAdd(rec: usize, by: u32): void {
  const sum = ((<u64>src0(rec)) << by) + <u64>src1(rec);
  arithmetic(rec, <u32>sum, sum >> 32 != 0);
}
