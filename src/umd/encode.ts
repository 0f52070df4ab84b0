import { encodePacket, encodeSdma, PacketValue, SdmaValue } from "../uapi/index.ts";

/** Which engine runs a command buffer: the compute queues, or the copy engine. */
export type QueueName = (typeof queueNames)[number];
export const queueNames = ["compute", "transfer"] as const;

/** What a barrier orders: how memory was used before it, and how it is used after. */
export type Access = (typeof accesses)[number];
export const accesses = [
  "shaderRead",
  "shaderWrite",
  "uniformRead",
  "indirectRead",
  "transferRead",
  "transferWrite",
  "hostRead",
  "hostWrite",
] as const;

/** A barrier over all memory, or one range of it. Without lists: everything before against everything after. */
export interface BarrierScope {
  readonly from?: readonly Access[];
  readonly to?: readonly Access[];
  /** Bytes; all of memory where absent. */
  readonly range?: { readonly va: bigint; readonly sizeBytes: number };
}

/** The commands that both engines know, as dwords of their packets. Addresses are virtual, sizes in bytes. */
export interface Encoder {
  copy(src: bigint, dst: bigint, sizeBytes: number): number[];
  /** `dst` and `sizeBytes` are multiples of 4. */
  fill(dst: bigint, sizeBytes: number, value: number): number[];
  update(dst: bigint, words: ArrayLike<number>): number[];
  barrier(scope: BarrierScope): number[];
  /** Writes the clock, 64 bits, once what came before has ended. */
  timestamp(va: bigint): number[];
  /** Writes a dword once what came before has ended. */
  signal(va: bigint, value: number): number[];
  /** Waits until the dword equals `value`. */
  wait(va: bigint, value: number): number[];
  nop(): number[];
}

/** COHER_SIZE of everything: 40 bits of 256-byte units. */
const ALL_MEMORY = 0xff_ffff_ffffn;
const POLL_INTERVAL = 10;
const EVERY_BIT = 0xffff_ffff;

/** Splits `sizeBytes` into runs of at most `most`. */
function* runs(sizeBytes: number, most: number): Generator<readonly [offset: bigint, bytes: number]> {
  for (let at = 0; at < sizeBytes; at += most) yield [BigInt(at), Math.min(most, sizeBytes - at)];
}

/** The size field has 26 bits; runs stay a multiple of a page. */
const DMA_MAX_BYTES = 1 << 25;
/** Data dwords of one WRITE_DATA: the packet's count field has 14 bits. */
const WRITE_MAX_DWORDS = 4096;

function barrierPackets({ from, to, range }: BarrierScope): number[] {
  const words = encodePacket("EVENT_WRITE", {
    eventType: PacketValue.EVENT_CS_PARTIAL_FLUSH,
    eventIndex: PacketValue.EVENT_INDEX_CS_PARTIAL_FLUSH,
  });
  const needs = (list: readonly Access[] | undefined, ...kinds: readonly Access[]): boolean =>
    list === undefined || kinds.some((kind) => list.includes(kind));
  const wrote = needs(from, "shaderWrite", "transferWrite", "hostWrite");
  if (!wrote) return words;
  // The host reads behind L2: what shaders wrote must be written back before a fence tells of it.
  if (to?.includes("hostRead")) {
    const event = { eventType: PacketValue.EVENT_CACHE_FLUSH_TS, eventIndex: PacketValue.EVENT_INDEX_END_OF_PIPE };
    words.push(...encodePacket("RELEASE_MEM", { ...event, gl2Wb: 1 }));
  }
  const vector = needs(to, "shaderRead", "shaderWrite", "uniformRead") ? 1 : 0;
  const scalar = needs(to, "shaderRead", "uniformRead") ? 1 : 0;
  const l2 = from?.includes("hostWrite") ? 1 : 0;
  const indirect = to?.includes("indirectRead") ? 1 : 0;
  if (vector + scalar + l2 + indirect === 0) return words;
  const base = range === undefined ? 0n : BigInt.asUintN(48, range.va) >> 8n;
  const end = range === undefined ? 0n : (BigInt.asUintN(48, range.va) + BigInt(range.sizeBytes) + 255n) >> 8n;
  words.push(
    ...encodePacket("ACQUIRE_MEM", {
      coherSize: range === undefined ? ALL_MEMORY : end - base,
      coherBase: base,
      pollInterval: POLL_INTERVAL,
      glkInv: scalar,
      glvInv: vector,
      gl1Inv: vector,
      gl2Inv: l2,
    }),
  );
  return words;
}

/** PM4 on the compute queues. */
export const computeEncoder: Encoder & {
  /** Writes the queue's pipeline statistics, counted up to here. */
  statistics(va: bigint): number[];
} = {
  copy: (src, dst, sizeBytes) =>
    [...runs(sizeBytes, DMA_MAX_BYTES)].flatMap(([at, byteCount]) =>
      encodePacket("DMA_DATA", {
        srcSel: PacketValue.DMA_L2,
        dstSel: PacketValue.DMA_L2,
        cpSync: 1,
        src: src + at,
        dst: dst + at,
        byteCount,
      }),
    ),
  fill: (dst, sizeBytes, value) =>
    [...runs(sizeBytes, DMA_MAX_BYTES)].flatMap(([at, byteCount]) =>
      encodePacket("DMA_DATA", {
        srcSel: PacketValue.DMA_DATA,
        dstSel: PacketValue.DMA_L2,
        cpSync: 1,
        src: BigInt(value >>> 0),
        dst: dst + at,
        byteCount,
      }),
    ),
  update: (dst, words) =>
    [...runs(words.length, WRITE_MAX_DWORDS)].flatMap(([at, count]) =>
      encodePacket(
        "WRITE_DATA",
        { dstSel: PacketValue.DST_MEMORY, writeConfirm: 1, address: dst + at * 4n },
        Array.from({ length: count }, (_, i) => words[Number(at) + i] as number),
      ),
    ),
  barrier: barrierPackets,
  timestamp: (address) =>
    encodePacket("RELEASE_MEM", {
      eventType: PacketValue.EVENT_BOTTOM_OF_PIPE_TS,
      eventIndex: PacketValue.EVENT_INDEX_END_OF_PIPE,
      dataSel: PacketValue.DATA_TIMESTAMP,
      address,
    }),
  signal: (address, value) =>
    encodePacket("RELEASE_MEM", {
      eventType: PacketValue.EVENT_BOTTOM_OF_PIPE_TS,
      eventIndex: PacketValue.EVENT_INDEX_END_OF_PIPE,
      dataSel: PacketValue.DATA_32,
      address,
      data: BigInt(value >>> 0),
    }),
  wait: (address, value) =>
    encodePacket("WAIT_REG_MEM", {
      function: PacketValue.WAIT_EQUAL,
      memSpace: PacketValue.WAIT_MEMORY,
      address,
      reference: value >>> 0,
      mask: EVERY_BIT,
      pollInterval: POLL_INTERVAL,
    }),
  nop: () => encodePacket("NOP", {}, [0]),
  statistics: (address) =>
    encodePacket(
      "EVENT_WRITE",
      {
        eventType: PacketValue.EVENT_SAMPLE_PIPELINESTAT,
        eventIndex: PacketValue.EVENT_INDEX_SAMPLE_PIPELINESTAT,
      },
      [Number(address & 0xffff_ffffn), Number(BigInt.asUintN(64, address) >> 32n)],
    ),
};

/** Data dwords of one WRITE_LINEAR that the driver uses; the field has room for 2^20. */
const SDMA_WRITE_MAX_DWORDS = 16384;

/** The copy engine's packets. It runs them in order and has no caches of its own. */
export const transferEncoder: Encoder = {
  copy: (src, dst, sizeBytes) =>
    [...runs(sizeBytes, SdmaValue.MAX_BYTES)].flatMap(([at, bytes]) =>
      encodeSdma("COPY_LINEAR", { count: bytes - 1, src: src + at, dst: dst + at }),
    ),
  fill: (dst, sizeBytes, value) =>
    [...runs(sizeBytes, SdmaValue.MAX_BYTES)].flatMap(([at, bytes]) =>
      encodeSdma("CONST_FILL", {
        fillSize: SdmaValue.FILL_DWORDS,
        dst: dst + at,
        data: value >>> 0,
        count: bytes - 1,
      }),
    ),
  update: (dst, words) =>
    [...runs(words.length, SDMA_WRITE_MAX_DWORDS)].flatMap(([at, count]) =>
      encodeSdma(
        "WRITE_LINEAR",
        { dst: dst + at * 4n },
        Array.from({ length: count }, (_, i) => words[Number(at) + i] as number),
      ),
    ),
  barrier: () => [],
  timestamp: (address) => encodeSdma("TIMESTAMP_GET", { address }),
  signal: (address, value) => encodeSdma("FENCE", { address, data: value >>> 0 }),
  wait: (address, value) =>
    encodeSdma("POLL_REGMEM", {
      function: PacketValue.WAIT_EQUAL,
      memPoll: SdmaValue.POLL_MEMORY,
      address,
      reference: value >>> 0,
      mask: EVERY_BIT,
      interval: POLL_INTERVAL,
      retryCount: SdmaValue.RETRY_FOREVER,
    }),
  nop: () => encodeSdma("NOP", {}),
};
