import type { CommandBuffer } from "./command-buffer.ts";
import { valid } from "./errors.ts";
import { Lifetime } from "./lifetime.ts";
import type { ApiLayer } from "./validate/index.ts";

/** Command buffers that are reset and freed together. */
export class CommandPool {
  readonly #create: () => CommandBuffer;
  readonly #buffers = new Set<CommandBuffer>();
  readonly #life: Lifetime;

  constructor(create: () => CommandBuffer, layer: ApiLayer | undefined) {
    this.#create = create;
    this.#life = new Lifetime("a command pool", layer, this);
  }

  allocate(): CommandBuffer {
    this.#life.use();
    const buffer = this.#create();
    this.#buffers.add(buffer);
    return buffer;
  }

  free(buffer: CommandBuffer): void {
    valid(this.#buffers.has(buffer), "command buffer is not of this pool");
    buffer.destroy();
    this.#buffers.delete(buffer);
  }

  /** Every buffer of the pool is as if new. */
  reset(): void {
    this.#life.use();
    for (const buffer of this.#living()) buffer.reset();
  }

  destroy(): void {
    this.#life.end(this);
    for (const buffer of this.#living()) buffer.destroy();
    this.#buffers.clear();
  }

  /** Those that their users have not destroyed themselves. */
  #living(): CommandBuffer[] {
    return [...this.#buffers].filter(({ destroyed }) => !destroyed);
  }
}
