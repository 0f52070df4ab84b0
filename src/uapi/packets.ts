import type { FieldRow } from "./registers.ts";

/** A body word of a packet: a plain dword, a 64-bit value in two dwords (low first), or bit fields. */
export type PacketWord =
  | readonly [name: string, kind: "u32" | "u64"]
  | readonly [name: string, fields: readonly FieldRow[]];

export interface PacketRow {
  readonly opcode: number;
  readonly words: readonly PacketWord[];
  /** Dwords that follow the fixed words: their name, at least how many, at most how many where that is fixed. */
  readonly tail?: readonly [name: string, min: number, max?: number];
  readonly about: string;
}

/** Type-3 header: 3<<30 | (body dwords - 1)<<16 | opcode<<8 | shader_type<<1 | predicate. Type 2 is a one-dword filler. */
export const Pm4Header = {
  TYPE_LSB: 30,
  COUNT_LSB: 16,
  COUNT_MASK: 0x3fff,
  OPCODE_LSB: 8,
  SHADER_TYPE_COMPUTE: 1 << 1,
  TYPE2_FILLER: 0x8000_0000,
  /** A NOP with this count is one dword. */
  ONE_DWORD_NOP_COUNT: 0x3fff,
} as const;

const gcrRelease = [
  ["eventType", 0, 6],
  ["eventIndex", 8, 4],
  ["glmWb", 12, 1],
  ["glmInv", 13, 1],
  ["glvInv", 14, 1],
  ["gl1Inv", 15, 1],
  ["gl2Inv", 20, 1],
  ["gl2Wb", 21, 1],
] as const;

const initiator = [
  ["computeShaderEn", 0, 1],
  ["partialTgEn", 1, 1],
  ["forceStartAt000", 2, 1],
  ["useThreadDimensions", 5, 1],
  ["csW32En", 15, 1],
] as const;

/** PM4 packets. Source: public AMD packet documentation, as in Mesa's and Linux's headers. VMID bits as the kernel uses them. */
export const packetRows = {
  NOP: { opcode: 0x10, words: [], tail: ["data", 1], about: "skips its body" },
  SET_BASE: {
    opcode: 0x11,
    words: [
      ["index", [["baseIndex", 0, 4]]],
      ["address", "u64"],
    ],
    about: "index 1: base of indirect dispatch arguments",
  },
  DISPATCH_DIRECT: {
    opcode: 0x15,
    words: [
      ["groupsX", "u32"],
      ["groupsY", "u32"],
      ["groupsZ", "u32"],
      ["initiator", initiator],
    ],
    about: "launches groupsX * groupsY * groupsZ workgroups with the COMPUTE_* registers",
  },
  DISPATCH_INDIRECT: {
    opcode: 0x16,
    words: [
      ["address", "u64"],
      ["initiator", initiator],
    ],
    about: "as DISPATCH_DIRECT, with the three group counts read from memory; the compute queues' form",
  },
  WRITE_DATA: {
    opcode: 0x37,
    words: [
      [
        "control",
        [
          ["dstSel", 8, 4],
          ["oneAddress", 16, 1],
          ["writeConfirm", 20, 1],
          ["engine", 30, 2],
        ],
      ],
      ["address", "u64"],
    ],
    tail: ["data", 1],
    about: "writes its data to memory (dstSel 5) or registers (dstSel 0)",
  },
  WAIT_REG_MEM: {
    opcode: 0x3c,
    words: [
      [
        "control",
        [
          ["function", 0, 3],
          ["memSpace", 4, 1],
          ["engine", 8, 2],
        ],
      ],
      ["address", "u64"],
      ["reference", "u32"],
      ["mask", "u32"],
      ["pollInterval", "u32"],
    ],
    about:
      "waits until (memory dword & mask) compares with reference: function 0 always, 1 <, 2 <=, 3 ==, 4 !=, 5 >=, 6 >",
  },
  INDIRECT_BUFFER: {
    opcode: 0x3f,
    words: [
      ["address", "u64"],
      [
        "control",
        [
          ["sizeDwords", 0, 20],
          ["chain", 20, 1],
          ["valid", 23, 1],
          ["vmid", 24, 4],
        ],
      ],
    ],
    about: "runs the packets at address; in the ring, under the given VMID",
  },
  COPY_DATA: {
    opcode: 0x40,
    words: [
      [
        "control",
        [
          ["srcSel", 0, 4],
          ["dstSel", 8, 4],
          ["countSel", 16, 1],
          ["writeConfirm", 20, 1],
        ],
      ],
      ["src", "u64"],
      ["dst", "u64"],
    ],
    about:
      "copies one (countSel 0) or two dwords: from memory (1, 2), its own src as a value (5) or the clock (9) to an SH register (0, dst in dwords) or memory (2, 5)",
  },
  EVENT_WRITE: {
    opcode: 0x46,
    words: [
      [
        "event",
        [
          ["eventType", 0, 6],
          ["eventIndex", 8, 4],
        ],
      ],
    ],
    tail: ["address", 0, 2],
    about:
      "index 4, type 7 CS, 15 VS, 16 PS partial flush: waits until such work before it has ended; index 2, type 30: writes the pipeline statistics of the queue, 11 times 64 bits, to address (u64, a multiple of 8): the last is the compute invocations, graphics' are 0",
  },
  RELEASE_MEM: {
    opcode: 0x49,
    words: [
      ["event", gcrRelease],
      [
        "select",
        [
          ["dstSel", 16, 2],
          ["intSel", 24, 3],
          ["dataSel", 29, 3],
        ],
      ],
      ["address", "u64"],
      ["data", "u64"],
      ["contextId", "u32"],
    ],
    about:
      "after the work before it: flushes, writes data (dataSel 0 none, 1 32-bit, 2 64-bit, 3 timestamp), interrupts",
  },
  DMA_DATA: {
    opcode: 0x50,
    words: [
      [
        "control",
        [
          ["engine", 0, 1],
          ["srcCachePolicy", 13, 2],
          ["dstSel", 20, 2],
          ["dstCachePolicy", 25, 2],
          ["srcSel", 29, 2],
          ["cpSync", 31, 1],
        ],
      ],
      ["src", "u64"],
      ["dst", "u64"],
      [
        "command",
        [
          ["byteCount", 0, 26],
          ["rawWait", 30, 1],
          ["disableWriteConfirm", 31, 1],
        ],
      ],
    ],
    about: "copies byteCount bytes (srcSel 0 or 3), or fills them with the dword src (srcSel 2; whole dwords)",
  },
  ACQUIRE_MEM: {
    opcode: 0x58,
    words: [
      ["coherControl", "u32"],
      ["coherSize", "u64"],
      ["coherBase", "u64"],
      ["pollInterval", "u32"],
      [
        "gcrControl",
        [
          ["gliInv", 0, 2],
          ["glmWb", 4, 1],
          ["glmInv", 5, 1],
          ["glkWb", 6, 1],
          ["glkInv", 7, 1],
          ["glvInv", 8, 1],
          ["gl1Inv", 9, 1],
          ["gl2Inv", 14, 1],
          ["gl2Wb", 15, 1],
        ],
      ],
    ],
    about: "invalidates and writes back caches, base and size in 256-byte units",
  },
  SET_CONTEXT_REG: {
    opcode: 0x69,
    words: [["register", [["offset", 0, 16]]]],
    tail: ["values", 1],
    about: "writes consecutive context registers from (byte offset - 0x28000) / 4 on, at most up to 0x29000",
  },
  SET_UCONFIG_REG: {
    opcode: 0x79,
    words: [["register", [["offset", 0, 16]]]],
    tail: ["values", 1],
    about: "writes consecutive user configuration registers from (byte offset - 0x30000) / 4 on, at most up to 0x31000",
  },
  SET_SH_REG: {
    opcode: 0x76,
    words: [["register", [["offset", 0, 16]]]],
    tail: ["values", 1],
    about: "writes consecutive SH registers from (byte offset - 0xb000) / 4 on",
  },
} as const satisfies Readonly<Record<string, PacketRow>>;

export type PacketName = keyof typeof packetRows;

/** Values of packet fields with a meaning of their own. */
export const PacketValue = {
  DST_MEMORY: 5,
  EVENT_CS_PARTIAL_FLUSH: 7,
  EVENT_VS_PARTIAL_FLUSH: 15,
  EVENT_PS_PARTIAL_FLUSH: 16,
  EVENT_INDEX_CS_PARTIAL_FLUSH: 4,
  EVENT_SAMPLE_PIPELINESTAT: 30,
  EVENT_INDEX_SAMPLE_PIPELINESTAT: 2,
  /** 64-bit counters that the sample writes, and which of them counts compute invocations. */
  PIPELINESTAT_COUNTERS: 11,
  PIPELINESTAT_CS_INVOCATIONS: 10,
  EVENT_CACHE_FLUSH_TS: 0x14,
  EVENT_BOTTOM_OF_PIPE_TS: 0x28,
  EVENT_INDEX_END_OF_PIPE: 5,
  INT_NONE: 0,
  INT_AFTER_WRITE_CONFIRM: 2,
  DATA_NONE: 0,
  DATA_32: 1,
  DATA_64: 2,
  DATA_TIMESTAMP: 3,
  WAIT_ALWAYS: 0,
  WAIT_LESS: 1,
  WAIT_LESS_EQUAL: 2,
  WAIT_EQUAL: 3,
  WAIT_NOT_EQUAL: 4,
  WAIT_GREATER_EQUAL: 5,
  WAIT_GREATER: 6,
  WAIT_MEMORY: 1,
  COPY_REGISTER: 0,
  COPY_MEMORY: 1,
  COPY_L2: 2,
  COPY_IMMEDIATE: 5,
  COPY_TIMESTAMP: 9,
  COPY_DST_MEMORY: 5,
  DMA_ADDRESS: 0,
  DMA_DATA: 2,
  DMA_L2: 3,
} as const;
