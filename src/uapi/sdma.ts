import { Bug } from "../base/index.ts";
import { getField } from "./fields.ts";
import { PacketValue, type PacketWord } from "./packets.ts";
import type { FieldRow } from "./registers.ts";

/** An SDMA packet. Its header dword: opcode [7:0], sub-opcode [15:8], and the row's own fields above. */
export interface SdmaRow {
  readonly opcode: number;
  readonly subOpcode: number;
  readonly header: readonly FieldRow[];
  readonly words: readonly PacketWord[];
  /** Dwords that follow: their name, the field that counts them, and what the field lacks to the count. */
  readonly tail?: readonly [name: string, countField: string, lessBy: number];
  readonly about: string;
}

const tiling = [
  ["dstSwap", 16, 2],
  ["srcSwap", 24, 2],
] as const;

/** Packets of SDMA 5.2. Source: public AMD packet definitions, as in Linux's navi10_sdma_pkt_open.h. */
export const sdmaRows = {
  NOP: {
    opcode: 0,
    subOpcode: 0,
    header: [["count", 16, 14]],
    words: [],
    tail: ["data", "count", 0],
    about: "skips count dwords",
  },
  COPY_LINEAR: {
    opcode: 1,
    subOpcode: 0,
    header: [],
    words: [
      ["size", [["count", 0, 22]]],
      ["parameter", tiling],
      ["src", "u64"],
      ["dst", "u64"],
    ],
    about: "copies count + 1 bytes, any alignment",
  },
  COPY_SUB_WINDOW: {
    opcode: 1,
    subOpcode: 4,
    header: [["elementSize", 29, 3]],
    words: [
      ["src", "u64"],
      [
        "srcPlace",
        [
          ["srcX", 0, 14],
          ["srcY", 16, 14],
        ],
      ],
      [
        "srcPitchZ",
        [
          ["srcZ", 0, 13],
          ["srcPitch", 13, 19],
        ],
      ],
      ["srcSlice", [["srcSlicePitch", 0, 28]]],
      ["dst", "u64"],
      [
        "dstPlace",
        [
          ["dstX", 0, 14],
          ["dstY", 16, 14],
        ],
      ],
      [
        "dstPitchZ",
        [
          ["dstZ", 0, 13],
          ["dstPitch", 13, 19],
        ],
      ],
      ["dstSlice", [["dstSlicePitch", 0, 28]]],
      [
        "rect",
        [
          ["rectX", 0, 14],
          ["rectY", 16, 14],
        ],
      ],
      ["rectDepth", [["rectZ", 0, 13], ...tiling]],
    ],
    about:
      "copies a box of linear images; elements of 1 << elementSize bytes; pitches, slice pitches (in elements) and the box's sizes are less by 1",
  },
  WRITE_LINEAR: {
    opcode: 2,
    subOpcode: 0,
    header: [],
    words: [
      ["dst", "u64"],
      ["size", [["count", 0, 20]]],
    ],
    tail: ["data", "count", 1],
    about: "writes count + 1 dwords of its own",
  },
  INDIRECT: {
    opcode: 4,
    subOpcode: 0,
    header: [["vmid", 16, 4]],
    words: [
      ["address", "u64"],
      ["size", [["sizeDwords", 0, 20]]],
      ["csa", "u64"],
    ],
    about: "runs the packets at address (32-byte aligned) under the VMID; only in the ring",
  },
  FENCE: {
    opcode: 5,
    subOpcode: 0,
    header: [["mtype", 16, 3]],
    words: [
      ["address", "u64"],
      ["data", "u32"],
    ],
    about: "after the work before it: writes a dword",
  },
  TRAP: {
    opcode: 6,
    subOpcode: 0,
    header: [],
    words: [["context", [["contextId", 0, 28]]]],
    about: "raises an interrupt",
  },
  POLL_REGMEM: {
    opcode: 8,
    subOpcode: 0,
    header: [
      ["hdpFlush", 26, 1],
      ["function", 28, 3],
      ["memPoll", 31, 1],
    ],
    words: [
      ["address", "u64"],
      ["reference", "u32"],
      ["mask", "u32"],
      [
        "retry",
        [
          ["interval", 0, 16],
          ["retryCount", 16, 12],
        ],
      ],
    ],
    about:
      "waits until (memory dword & mask) compares with reference, functions as in WAIT_REG_MEM; retryCount 0xfff: for ever",
  },
  CONST_FILL: {
    opcode: 11,
    subOpcode: 0,
    header: [
      ["swap", 16, 2],
      ["fillSize", 30, 2],
    ],
    words: [
      ["dst", "u64"],
      ["data", "u32"],
      ["size", [["count", 0, 22]]],
    ],
    about: "fills count + 1 bytes with data's low 1 << fillSize bytes, whole elements",
  },
  TIMESTAMP_GET: {
    opcode: 13,
    subOpcode: 2,
    header: [],
    words: [["address", "u64"]],
    about: "writes the machine's clock, 64 bits",
  },
} as const satisfies Readonly<Record<string, SdmaRow>>;

export type SdmaName = keyof typeof sdmaRows;

/** Values of SDMA packet fields with a meaning of their own. */
export const SdmaValue = {
  FILL_BYTES: 0,
  FILL_HALFWORDS: 1,
  FILL_DWORDS: 2,
  /** Most bytes of one COPY_LINEAR or CONST_FILL. */
  MAX_BYTES: 1 << 22,
  POLL_MEMORY: 1,
  RETRY_FOREVER: 0xfff,
  /** An indirect buffer's address is a multiple of this many bytes. */
  IB_ALIGN: 32,
} as const;

type Fields<R> = R extends readonly (infer F)[]
  ? F extends readonly [infer N extends string, number, number]
    ? N
    : never
  : never;
type WordFields<W> = W extends readonly [string, infer K] ? Fields<K> : never;
type LongNames<W> = W extends readonly [infer N extends string, "u64"] ? N : never;
type DwordNames<W> = W extends readonly [infer N extends string, "u32"] ? N : never;
type Words<P extends SdmaName> = (typeof sdmaRows)[P]["words"][number];

/** Values of a packet's fields by name; absent ones are 0, 64-bit ones are bigints. */
export type SdmaValues<P extends SdmaName> = {
  readonly [K in Fields<(typeof sdmaRows)[P]["header"]> | WordFields<Words<P>> | DwordNames<Words<P>>]?: number;
} & { readonly [K in LongNames<Words<P>>]?: bigint };

/** A decoded SDMA packet. */
export interface DecodedSdma {
  readonly offsetDwords: number;
  readonly sizeDwords: number;
  readonly name: SdmaName;
  readonly values: Readonly<Record<string, number | bigint>>;
  readonly tail: readonly number[];
}

function place(fields: readonly FieldRow[], given: Readonly<Record<string, number | bigint | undefined>>): number {
  let sum = 0;
  for (const [name, lsb, width] of fields) {
    const value = Number(given[name] ?? 0);
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** width) {
      throw new Bug(`SDMA field ${name}: ${value} does not fit ${width} bits`);
    }
    sum += value * 2 ** lsb;
  }
  return sum;
}

/** Header and fixed dwords of a row. */
export function sdmaDwords(row: SdmaRow): number {
  return 1 + row.words.reduce((sum, [, kind]) => sum + (kind === "u64" ? 2 : 1), 0);
}

/** One SDMA packet as dwords. The count of a tail is set from its length. Throws `Bug` on a value that does not fit. */
export function encodeSdma<P extends SdmaName>(name: P, values: SdmaValues<P>, tail: ArrayLike<number> = []): number[] {
  const row: SdmaRow = sdmaRows[name];
  if (row.tail === undefined && tail.length > 0) throw new Bug(`${name} takes no data`);
  const given: Record<string, number | bigint | undefined> = { ...values };
  if (row.tail !== undefined) given[row.tail[1]] = tail.length - row.tail[2];
  const words = [place(row.header, given) + row.subOpcode * 256 + row.opcode];
  for (const [word, kind] of row.words) {
    if (kind === "u64") {
      const value = BigInt.asUintN(64, BigInt(given[word] ?? 0n));
      words.push(Number(value & 0xffff_ffffn), Number(value >> 32n));
    } else words.push(kind === "u32" ? place([[word, 0, 32]], given) : place(kind, given));
  }
  for (let i = 0; i < tail.length; i++) words.push((tail[i] as number) >>> 0);
  return words;
}

const byCode = new Map<number, readonly [SdmaName, SdmaRow]>(
  (Object.entries(sdmaRows) as [SdmaName, SdmaRow][]).map(([name, row]) => [
    row.subOpcode * 256 + row.opcode,
    [name, row],
  ]),
);

/** Decodes the packet at dword `at`; a reason where it is none. */
export function decodeSdma(
  words: ArrayLike<number>,
  at: number,
): DecodedSdma | { readonly offsetDwords: number; readonly header: number; readonly reason: string } {
  const header = (words[at] as number) >>> 0;
  const bad = (reason: string) => ({ offsetDwords: at, header, reason });
  const entry = byCode.get(header & 0xffff);
  if (entry === undefined) return bad(`unknown SDMA packet ${header & 0xff}.${(header >>> 8) & 0xff}`);
  const [name, row] = entry;
  const fixed = sdmaDwords(row);
  if (at + fixed > words.length) return bad(`${name} runs past the end of the buffer`);
  const values: Record<string, number | bigint> = {};
  const fields = (word: number, rows: readonly FieldRow[]) => {
    for (const [field, lsb, width] of rows) values[field] = getField(word, lsb, width);
  };
  fields(header, row.header);
  let next = at + 1;
  for (const [word, kind] of row.words) {
    const low = (words[next++] as number) >>> 0;
    if (kind === "u64") values[word] = (BigInt((words[next++] as number) >>> 0) << 32n) | BigInt(low);
    else fields(low, kind === "u32" ? [[word, 0, 32]] : kind);
  }
  const count = row.tail === undefined ? 0 : Number(values[row.tail[1]]) + row.tail[2];
  if (next + count > words.length) return bad(`${name} runs past the end of the buffer`);
  const tail = Array.from({ length: count }, (_, i) => (words[next + i] as number) >>> 0);
  return { offsetDwords: at, sizeDwords: fixed + count, name, values, tail };
}

/** Names of compare functions of WAIT_REG_MEM and POLL_REGMEM. */
export const compareNames: Readonly<Record<number, string>> = {
  [PacketValue.WAIT_ALWAYS]: "always",
  [PacketValue.WAIT_LESS]: "<",
  [PacketValue.WAIT_LESS_EQUAL]: "<=",
  [PacketValue.WAIT_EQUAL]: "==",
  [PacketValue.WAIT_NOT_EQUAL]: "!=",
  [PacketValue.WAIT_GREATER_EQUAL]: ">=",
  [PacketValue.WAIT_GREATER]: ">",
};
