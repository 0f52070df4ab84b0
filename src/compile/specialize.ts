import type { Diagnostic } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import type { CoreSpecialization } from "../core/index.ts";
import type { ModuleSpecConstant } from "../spirv/index.ts";
import { reportCompile } from "./codes.ts";

export type Specialized =
  | { readonly ok: true; readonly values: readonly CoreSpecialization[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

const view = new DataView(new ArrayBuffer(8));

/** Bits of the f16 nearest to `value`, ties to even. */
function halfBits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  // 65520 is the midpoint between the largest f16 and the one that would follow.
  if (size >= 65520) return sign | 0x7c00;
  const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size));
  const scaled = size * 2 ** (10 - exponent);
  const low = Math.floor(scaled);
  const rest = scaled - low;
  const mantissa = rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low;
  // A denormal has no leading one; a mantissa that rounds up carries into the exponent.
  return sign | (((exponent + 14) << 10) + mantissa);
}

function floatBits(value: number, widthBits: number): bigint {
  if (widthBits === 16) return BigInt(halfBits(value));
  view.setFloat64(0, value);
  if (widthBits === 64) return view.getBigUint64(0);
  view.setFloat32(0, value);
  return BigInt(view.getUint32(0));
}

/** The value as bits of the constant's type; undefined where it has none of that type. */
function bitsOf(value: number | boolean | string, constant: ModuleSpecConstant): bigint | undefined {
  const { type, widthBits } = constant;
  if (type === "bool") return typeof value === "string" ? undefined : value ? 1n : 0n;
  if (typeof value === "boolean") return undefined;
  if (type === "float") {
    const number = typeof value === "string" && value.trim() === "" ? Number.NaN : Number(value);
    return Number.isFinite(number) || typeof value === "number" ? floatBits(number, widthBits) : undefined;
  }
  const isWhole = typeof value === "string" ? /^-?\d{1,20}$/.test(value) : Number.isInteger(value);
  if (!isWhole) return undefined;
  const whole = BigInt(value);
  // Signed and unsigned readings of the same bits are both taken.
  const fits = whole >= -(1n << BigInt(widthBits - 1)) && whole < 1n << BigInt(widthBits);
  return fits ? BigInt.asUintN(widthBits, whole) : undefined;
}

/** The request's specialisation values as bits of the constants' declared types. Ids that the module lacks are dropped. */
export function specialize(request: CompileRequest, constants: readonly ModuleSpecConstant[]): Specialized {
  const byId = new Map(constants.map((constant) => [constant.id, constant]));
  const values: CoreSpecialization[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const { id, value } of request.specialization) {
    const constant = byId.get(id);
    if (constant === undefined) continue;
    const bits = bitsOf(value, constant);
    if (bits !== undefined) {
      values.push({ id, bits });
      continue;
    }
    const type = constant.type === "bool" ? "bool" : `${constant.widthBits}-bit ${constant.type}`;
    diagnostics.push(reportCompile("COMPILE_SPEC_VALUE", { id, type, value: String(value) }, request.filename));
  }
  return diagnostics.length > 0 ? { ok: false, diagnostics } : { ok: true, values };
}
