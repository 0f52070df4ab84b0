import { formatFacts } from "../codeobj/index.ts";
import { bufferFormatBytes, typedBufferResource } from "../uapi/index.ts";
import { DriverError, valid } from "./errors.ts";
import { Lifetime } from "./lifetime.ts";
import type { Buffer } from "./memory.ts";
import type { ApiLayer } from "./validate/index.ts";

/** Elements of one view: the V# counts them in 32 bits, shaders as int. */
const maxTexels = 2 ** 27;
/** minTexelBufferOffsetAlignment, but for formats of one or two bytes, which go by their size. */
const offsetAlignmentBytes = 4;

/** Destination selects: the constants 0 and 1, then x, y, z, w of memory. */
const [ZERO, ONE, X, Y, Z, W] = [0, 1, 4, 5, 6, 7] as const;

export interface BufferViewOptions {
  readonly buffer: Buffer;
  /** Vulkan's name without `VK_FORMAT_`. */
  readonly format: string;
  readonly offsetBytes?: number;
  /** Up to the buffer's last whole element where absent. */
  readonly rangeBytes?: number;
}

/** Bytes of an element of a format that buffer views can have, by Vulkan's name without `VK_FORMAT_`; undefined for another. */
export function texelBytes(format: string): number | undefined {
  return bufferFormatBytes(formatFacts(format)?.bufferFormat ?? 0);
}

/** Elements of one format in a buffer: what texel buffers are bound to. */
export class BufferView {
  readonly buffer: Buffer;
  readonly format: string;
  readonly offsetBytes: number;
  /** Whole elements. */
  readonly rangeBytes: number;
  readonly #life: Lifetime;

  /** VALIDATION on a format that buffers cannot have, a misaligned offset, and a range that leaves the buffer. */
  constructor(options: BufferViewOptions, layer: ApiLayer | undefined) {
    const { buffer, format, offsetBytes = 0 } = options;
    const bytes = texelBytes(format);
    if (bytes === undefined) throw new DriverError("VALIDATION", `buffers have no format ${format}`);
    const left = buffer.sizeBytes - offsetBytes;
    const range = options.rangeBytes ?? Math.floor(left / bytes) * bytes;
    const align = Math.min(bytes, offsetAlignmentBytes);
    valid(offsetBytes % align === 0, `view offset ${offsetBytes} is no multiple of ${align}`);
    valid(range > 0 && range % bytes === 0, `view range ${range} is not some elements of ${bytes} bytes`);
    const fits = offsetBytes >= 0 && range <= left;
    valid(fits, `view range ${offsetBytes}+${range} leaves the buffer of ${buffer.sizeBytes} bytes`);
    valid(range / bytes <= maxTexels, `a view of ${range / bytes} elements, at most ${maxTexels}`);
    this.buffer = buffer;
    this.format = format;
    this.offsetBytes = offsetBytes;
    this.rangeBytes = range;
    this.#life = new Lifetime(`a buffer view of ${format}`, layer, this);
  }

  /** The view is no more; its buffer stays. */
  destroy(): void {
    this.#life.end(this);
  }

  /** Its V#. VALIDATION after its end. */
  words(): readonly number[] {
    this.#life.use();
    const facts = formatFacts(this.format);
    const strideBytes = texelBytes(this.format);
    if (facts === undefined || strideBytes === undefined) throw new DriverError("VALIDATION", "view without a format");
    const { bufferFormat, components, swapped } = facts;
    const [red, blue] = swapped ? [Z, X] : [X, Z];
    return typedBufferResource(this.buffer.va + BigInt(this.offsetBytes), {
      format: bufferFormat,
      strideBytes,
      count: this.rangeBytes / strideBytes,
      select: [red, components > 1 ? Y : ZERO, components > 2 ? blue : ZERO, components > 3 ? W : ONE],
    });
  }
}
