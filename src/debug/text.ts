/** Small formatting shared by the reports of this folder. */

/** `0x` and lower-case digits. */
export function hex(value: number | bigint, digits = 0): string {
  return `0x${BigInt.asUintN(64, BigInt(value)).toString(16).padStart(digits, "0")}`;
}

/** A virtual address in the manner of kernel logs: 12 digits for the low half, 16 for the high one. */
export function address(va: bigint): string {
  return hex(va, va >> 47n === 0n ? 12 : 16);
}

/** Bytes with the largest binary unit that divides them. */
export function bytesText(bytes: number): string {
  if (bytes >= 1 << 20 && bytes % (1 << 20) === 0) return `${bytes >> 20} MiB`;
  if (bytes >= 1 << 10 && bytes % (1 << 10) === 0) return `${bytes >> 10} KiB`;
  return `${bytes} bytes`;
}
