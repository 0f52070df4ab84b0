/** Accesses of one lane through the caches, at virtual addresses. What crosses a line goes byte by byte. */
import { faultKind } from "../fault.ts";
import { Mod, Rec, Wave } from "../layout.ts";
import { LINE_BYTES } from "../mem/cache-layout.ts";
import { holds } from "../mem/cache-state.ts";
import { beginAccess, scalarRead, vectorRead, vectorWrite } from "../mem/hierarchy.ts";
import { settleWave } from "../mem/stores.ts";
import { READ, translate, WRITE } from "../mem/translate.ts";
import { wave } from "./wave.ts";

function crosses(va: u64, bytes: u32): bool {
  return (<u32>va & (LINE_BYTES - 1)) + bytes > LINE_BYTES;
}

/** 1, 2 or 4 bytes at `va`, zero-extended. */
export function cachedLoad(va: u64, bytes: u32): u32 {
  if (crosses(va, bytes)) {
    let value: u32 = 0;
    for (let i: u32 = 0; i < bytes && faultKind == 0; i++) value |= cachedLoad(va + i, 1) << (8 * i);
    return value;
  }
  const at = translate(va, READ);
  if (at == 0) return 0;
  const from = vectorRead(at);
  return bytes == 4 ? load<u32>(from) : bytes == 2 ? <u32>load<u16>(from) : <u32>load<u8>(from);
}

/** Stores 1, 2 or 4 bytes at `va`; one that faults writes nothing. */
export function cachedStore(va: u64, value: u32, bytes: u32): void {
  if (crosses(va, bytes)) {
    if (translate(va + bytes - 1, WRITE) == 0) return;
    for (let i: u32 = 0; i < bytes && faultKind == 0; i++) cachedStore(va + i, value >> (8 * i), 1);
    return;
  }
  const at = translate(va, WRITE);
  if (at != 0) vectorWrite(at, value, bytes);
}

/** A dword, 4-byte aligned, through the scalar cache. */
export function cachedScalar(va: u64): u32 {
  const at = translate(va, READ);
  return at == 0 ? 0 : load<u32>(scalarRead(at));
}

/** Before the accesses of the vector or scalar memory instruction `rec`. `stores`: vscnt counts it. */
export function beginCached(rec: usize, stores: bool): void {
  const mods = load<u32>(rec, Rec.MODS);
  const number = load<u32>(wave, Wave.VS_ISSUED) + 1;
  if (stores) store<u32>(wave, number, Wave.VS_ISSUED);
  beginAccess((mods & Mod.GLC) != 0, (mods & Mod.DLC) != 0, wave, number);
}

/** s_waitcnt_vscnt: all but the newest `limit` stores of the wave have arrived. */
export function waitStores(limit: u32): void {
  if (holds) settleWave(wave, load<u32>(wave, Wave.VS_ISSUED) - limit);
}
