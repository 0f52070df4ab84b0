import { decodeIoctl, decodeIoctlList, errnoName, type IoctlRow, type IoctlTrace, ioctlRows } from "../uapi/index.ts";
import { hex } from "./text.ts";

function valueText(name: string, value: number | bigint): string {
  return typeof value === "bigint" && !/size|bytes|fence|offset/i.test(name) ? hex(value) : String(value);
}

/** One line an ioctl in the manner of strace: name, decoded arguments, hex of the block, list, result, time. */
export function formatIoctl(event: IoctlTrace): string {
  const { name, before, after, result } = event;
  const head = `[${event.processName}] ioctl(${event.fd}, `;
  const shown = result >= 0 ? String(result) : `${result} ${errnoName(result) ?? "?"}`;
  const tail = `= ${shown} <${(event.microseconds / 1e6).toFixed(6)}>`;
  if (name === undefined) return `${head}${hex(event.number)}, ${before.length} bytes) ${tail}`;
  const row: IoctlRow = ioctlRows[name];
  if (before.length < row.sizeBytes) return `${head}${name}, ${before.length} of ${row.sizeBytes} bytes) ${tail}`;
  const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const input: Readonly<Record<string, number | bigint>> = decodeIoctl(name, view(before));
  const output: Readonly<Record<string, number | bigint>> = decodeIoctl(name, view(after));
  const fields = row.fields.flatMap(([field, , , way]) => {
    if (way === "in") return [`${field}=${valueText(field, input[field] ?? 0)}`];
    return result === 0 ? [`${field} -> ${valueText(field, output[field] ?? 0)}`] : [];
  });
  const list = row.tail ? decodeIoctlList(name, view(before)) : undefined;
  if (row.tail && list) fields.push(`${row.tail[0]}=[${list.slice(0, 16).join(" ")}${list.length > 16 ? " …" : ""}]`);
  const raw = [...after.subarray(0, row.sizeBytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${head}${name}, {${fields.join(", ")}} 0x${raw}) ${tail}`;
}
