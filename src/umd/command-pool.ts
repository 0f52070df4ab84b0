import type { CommandBuffer } from "./command-buffer.ts";
import { valid } from "./errors.ts";

/** Command buffers that are reset and freed together. */
export class CommandPool {
  readonly #create: () => CommandBuffer;
  readonly #buffers = new Set<CommandBuffer>();

  constructor(create: () => CommandBuffer) {
    this.#create = create;
  }

  allocate(): CommandBuffer {
    const buffer = this.#create();
    this.#buffers.add(buffer);
    return buffer;
  }

  free(buffer: CommandBuffer): void {
    valid(this.#buffers.delete(buffer), "command buffer is not of this pool");
    buffer.destroy();
  }

  /** Every buffer of the pool is as if new. */
  reset(): void {
    for (const buffer of this.#buffers) buffer.reset();
  }

  destroy(): void {
    for (const buffer of this.#buffers) buffer.destroy();
    this.#buffers.clear();
  }
}
