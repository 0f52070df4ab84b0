import { Bug } from "../base/index.ts";
import { type IoctlField, type IoctlName, type IoctlRow, ioctlRows } from "./ioctl.ts";

type Fields<N extends IoctlName> = (typeof ioctlRows)[N]["fields"][number];
type Value<F> = F extends readonly [string, number, "u64", string] ? bigint : number;

/** Input fields of an ioctl by name; `u64` fields are bigints. */
export type IoctlInput<N extends IoctlName> = {
  readonly [F in Extract<Fields<N>, readonly [string, number, string, "in"]> as F[0]]: Value<F>;
};
/** Output fields of an ioctl by name. */
export type IoctlOutput<N extends IoctlName> = {
  readonly [F in Extract<Fields<N>, readonly [string, number, string, "out"]> as F[0]]: Value<F>;
};

function readField(arg: DataView, [, offset, type]: IoctlField): number | bigint {
  if (type === "u64") return arg.getBigUint64(offset, true);
  return type === "u32" ? arg.getUint32(offset, true) : arg.getInt32(offset, true);
}

function writeField(arg: DataView, [name, offset, type]: IoctlField, value: number | bigint): void {
  if (type === "u64") arg.setBigUint64(offset, BigInt.asUintN(64, BigInt(value)), true);
  else if (!Number.isInteger(value)) throw new Bug(`ioctl field ${name}: ${value}`);
  else if (type === "u32") arg.setUint32(offset, Number(value), true);
  else arg.setInt32(offset, Number(value), true);
}

/** An argument block with its input fields and list filled in. The list's count field is set from its length. */
export function encodeIoctl<N extends IoctlName>(
  name: N,
  input: Partial<IoctlInput<N>>,
  list: readonly number[] = [],
): DataView {
  const row: IoctlRow = ioctlRows[name];
  const arg = new DataView(new ArrayBuffer(row.sizeBytes + (row.tail ? list.length * 4 : 0)));
  const given = input as Readonly<Record<string, number | bigint | undefined>>;
  for (const field of row.fields) {
    const value = row.tail?.[1] === field[0] ? list.length : given[field[0]];
    if (value !== undefined) writeField(arg, field, value);
  }
  if (row.tail) for (let i = 0; i < list.length; i++) arg.setUint32(row.sizeBytes + i * 4, list[i] as number, true);
  return arg;
}

/** All fields of an argument block: what a KMD reads, and what a trace prints. */
export function decodeIoctl<N extends IoctlName>(name: N, arg: DataView): IoctlInput<N> & IoctlOutput<N> {
  const row: IoctlRow = ioctlRows[name];
  const values = Object.fromEntries(row.fields.map((field) => [field[0], readField(arg, field)]));
  return values as IoctlInput<N> & IoctlOutput<N>;
}

/** The list after the struct; undefined where the block is too short for its count. */
export function decodeIoctlList(name: IoctlName, arg: DataView): readonly number[] | undefined {
  const row: IoctlRow = ioctlRows[name];
  if (row.tail === undefined) return [];
  const countField = row.fields.find((field) => field[0] === row.tail?.[1]);
  if (countField === undefined) throw new Bug(`${name}: no field ${row.tail[1]}`);
  const count = Number(readField(arg, countField));
  if (row.sizeBytes + count * 4 > arg.byteLength) return undefined;
  return Array.from({ length: count }, (_, i) => arg.getUint32(row.sizeBytes + i * 4, true));
}

/** Writes the answer's fields into the block. */
export function answerIoctl<N extends IoctlName>(name: N, arg: DataView, output: IoctlOutput<N>): void {
  const row: IoctlRow = ioctlRows[name];
  const given: Readonly<Record<string, number | bigint>> = output;
  for (const field of row.fields) {
    const value = field[3] === "out" ? given[field[0]] : undefined;
    if (value !== undefined) writeField(arg, field, value);
  }
}
