/** Composites, vectors and matrices: parts put together, taken out, exchanged; matrix products. */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvOp } from "../../gen/spirv.ts";
import { constant, constBits, isConst, undef } from "../ir/index.ts";
import { dot } from "./alu.ts";
import { bin, fmul, sel } from "./fold-build.ts";
import {
  idAt,
  idLeaf,
  idType,
  leafPool,
  malformed,
  newLeaves,
  setValue,
  typeA,
  typeB,
  typeKind,
  typeLeaves,
  wordAt,
} from "./ids.ts";
import { leaves, operand, rawResult, result, resultCount, valueAt } from "./operands.ts";
import { irWidth } from "./pointers.ts";
import { scalars, scalarsOf, unitOf } from "./scalars.ts";
import { partLeaf, partType, scalarWidth, TypeKind, typeAt } from "./types.ts";

/** The part of a composite that literal indices from word `from` to `end` name: its type in `partFound`; scalar offset. */
let partFound: u32 = 0;

function walkLiterals(type: u32, from: u32, end: u32): u32 {
  let t = type;
  let offset: u32 = 0;
  for (let k = from; k < end && !failed(); k++) {
    const index = wordAt(k);
    const part = partType(t, index);
    if (part == 0) {
      malformed(k);
      return 0;
    }
    offset += partLeaf(t, index);
    t = part;
  }
  partFound = t;
  return offset;
}

export function compositeExtract(at: u32, count: u32, first: u32): void {
  const id = valueAt(at + first);
  if (failed()) return;
  const offset = walkLiterals(idType[id], at + first + 1, at + count);
  if (failed()) return;
  if (partFound != idAt(at + 1)) malformed(at + 1);
  else setValue(idAt(at + 2), partFound, idLeaf[id] + offset);
}

export function compositeInsert(at: u32, count: u32, first: u32): void {
  const object = valueAt(at + first);
  const composite = valueAt(at + first + 1);
  if (failed()) return;
  const type = idType[composite];
  const offset = walkLiterals(type, at + first + 2, at + count);
  if (failed() || partFound != idType[object] || type != idAt(at + 1)) {
    malformed(at);
    return;
  }
  const out = newLeaves(typeLeaves[type]);
  if (failed()) return;
  for (let k: u32 = 0; k < typeLeaves[type]; k++) leafPool[out + k] = leafPool[idLeaf[composite] + k];
  for (let k: u32 = 0; k < typeLeaves[idType[object]]; k++) leafPool[out + offset + k] = leafPool[idLeaf[object] + k];
  setValue(idAt(at + 2), type, out);
}

export function compositeConstruct(at: u32, count: u32): void {
  const out = rawResult(at);
  const n = typeLeaves[idAt(at + 1)];
  let next: u32 = 0;
  for (let k: u32 = 3; k < count && !failed(); k++) {
    const id = valueAt(at + k);
    const m: u32 = failed() ? 0 : typeLeaves[idType[id]];
    if (next + m > n) {
      malformed(at + k);
      return;
    }
    for (let j: u32 = 0; j < m; j++) leafPool[out + next + j] = leafPool[idLeaf[id] + j];
    next += m;
  }
  if (next != n) malformed(at);
}

export function vectorShuffle(at: u32, count: u32, first: u32): void {
  const a = valueAt(at + first);
  const b = valueAt(at + first + 1);
  const out = rawResult(at);
  if (failed()) return;
  const type = idAt(at + 1);
  const unit = unitOf(type);
  const n = scalarsOf(type);
  const na = scalarsOf(idType[a]);
  const nb = scalarsOf(idType[b]);
  if (count != first + 2 + n || unitOf(idType[a]) != unit || unitOf(idType[b]) != unit) {
    malformed(at);
    return;
  }
  const width = scalarWidth(type);
  for (let k: u32 = 0; k < n && !failed(); k++) {
    const index = wordAt(at + first + 2 + k);
    if (index >= na + nb && index != 0xffff_ffff) malformed(at);
    for (let u: u32 = 0; u < unit; u++) {
      if (index < na) leafPool[out + k * unit + u] = leafPool[idLeaf[a] + index * unit + u];
      else if (index < na + nb) leafPool[out + k * unit + u] = leafPool[idLeaf[b] + (index - na) * unit + u];
      else leafPool[out + k * unit + u] = width == 8 || width == 16 ? constant(0) : undef(irWidth(width));
    }
  }
}

export function vectorExtractDynamic(at: u32): void {
  const id = valueAt(at + 3);
  const i = leafPool[operand(at + 4, 1)];
  const out = rawResult(at);
  if (failed()) return;
  const unit = unitOf(idType[id]);
  const n = scalarsOf(idType[id]);
  if (typeLeaves[idAt(at + 1)] != unit) {
    malformed(at);
    return;
  }
  for (let u: u32 = 0; u < unit; u++) {
    const v = idLeaf[id] + u;
    if (isConst(i)) {
      leafPool[out + u] = leafPool[v + min<u32>(constBits(i), n - 1) * unit];
      continue;
    }
    let value = leafPool[v];
    for (let k: u32 = 1; k < n; k++) value = sel(bin(Op.IEQ, i, constant(k)), leafPool[v + k * unit], value);
    leafPool[out + u] = value;
  }
}

export function vectorInsertDynamic(at: u32): void {
  const type = typeAt(at + 1);
  if (failed()) return;
  const unit = unitOf(type);
  const v = leaves(at + 3, typeLeaves[type]);
  const part = leaves(at + 4, unit);
  const i = leafPool[operand(at + 5, 1)];
  const out = rawResult(at);
  for (let k: u32 = 0; k < typeLeaves[type] && !failed(); k++) {
    leafPool[out + k] = sel(bin(Op.IEQ, i, constant(k / unit)), leafPool[part + (k % unit)], leafPool[v + k]);
  }
}

/** Rows and columns of a matrix type; a vector counts as one column. */
export function rowsOf(type: u32): u32 {
  return typeKind[type] == TypeKind.MATRIX ? typeB[typeA[type]] : typeB[type];
}

function columnsOf(type: u32): u32 {
  return typeKind[type] == TypeKind.MATRIX ? typeB[type] : 1;
}

/** Matrix products, transpose, outer product, scaling. */
export function liftMatrix(op: u32, at: u32): void {
  const a = valueAt(at + 3);
  const b = op == SpvOp.OpTranspose ? a : valueAt(at + 4);
  const out = result(at);
  if (failed()) return;
  const ta = idType[a];
  const tb = idType[b];
  const la = scalars(a);
  const lb = scalars(b);
  const na = scalarsOf(ta);
  const nb = scalarsOf(tb);
  const n = resultCount(at);
  const rows = rowsOf(idAt(at + 1));
  const columns = columnsOf(idAt(at + 1));
  let ok = true;
  switch (op) {
    case SpvOp.OpVectorTimesScalar:
    case SpvOp.OpMatrixTimesScalar:
      ok = na == n && nb == 1;
      for (let k: u32 = 0; ok && k < n; k++) leafPool[out + k] = fmul(leafPool[la + k], leafPool[lb]);
      break;
    case SpvOp.OpTranspose:
      ok = na == n && rowsOf(ta) == columns;
      for (let k: u32 = 0; ok && k < n; k++) leafPool[out + k] = leafPool[la + (k % rows) * columns + k / rows];
      break;
    case SpvOp.OpOuterProduct:
      ok = na == rows && nb == columns;
      for (let k: u32 = 0; ok && k < n; k++)
        leafPool[out + k] = fmul(leafPool[la + (k % rows)], leafPool[lb + k / rows]);
      break;
    case SpvOp.OpVectorTimesMatrix: {
      const inner = rowsOf(tb);
      ok = na == inner && columnsOf(tb) == n;
      for (let k: u32 = 0; ok && k < n; k++) leafPool[out + k] = dot(la, 1, lb + k * inner, 1, inner);
      break;
    }
    default: {
      // MatrixTimesVector, MatrixTimesMatrix: element (c, r) is row r of a times column c of b.
      const inner = columnsOf(ta);
      ok = rowsOf(ta) == rows && rowsOf(tb) == inner && na == rows * inner && nb * rows == inner * n;
      for (let k: u32 = 0; ok && k < n; k++)
        leafPool[out + k] = dot(la + (k % rows), rows, lb + (k / rows) * inner, 1, inner);
      break;
    }
  }
  if (!ok) malformed(at);
}
