import type { Redis, RedisOptions } from "ioredis";

/** Between two tries to get a lost connection back: longer each time, up to a second. */
const [retryMs, maxRetryMs] = [100, 1000];

/** Clients of one Redis that can all be ended at any time, with the copies that a queue makes of them. */
export class EndingClients {
  readonly #all: Redis[] = [];
  /** A client that connects at its first use. */
  readonly make: (options: Pick<RedisOptions, "connectTimeout" | "maxRetriesPerRequest">) => Redis;

  constructor(Client: typeof Redis, url: string) {
    const track = (client: Redis) => {
      this.#all.push(client);
      return client;
    };
    /**
     * One that ioredis is told to end between two tries to connect forgets the next try, and that it ended: whoever
     * waits for that waits for ever. So it starts the try, which ends at once.
     */
    class EndingClient extends Client {
      override duplicate(...override: Parameters<Redis["duplicate"]>): Redis {
        // How replies look is a type of its own to ioredis; nobody here changes it.
        const { replyMapping: _, ...options } = { ...this.options, ...override[0] };
        return track(new EndingClient(url, options));
      }
      override disconnect(reconnect = false): void {
        // Whether it could connect is told by its events.
        if (this.status === "reconnecting" && !reconnect) this.connect().catch(() => undefined);
        super.disconnect(reconnect);
      }
    }
    const retryStrategy = (tries: number) => Math.min(tries * retryMs, maxRetryMs);
    this.make = (options) => track(new EndingClient(url, { ...options, lazyConnect: true, retryStrategy }));
  }

  /** What waits for an answer fails. */
  end(): void {
    for (const client of this.#all) client.disconnect();
  }

  /** Waits for `close`, and ends the clients when it is done, or when the deadline is over. */
  async endAfter(close: () => Promise<void>, deadlineMs: number): Promise<void> {
    const deadline = setTimeout(() => this.end(), deadlineMs);
    await close();
    clearTimeout(deadline);
    this.end();
  }
}
