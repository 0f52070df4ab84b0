import type { AddressInfo } from "node:net";
import { type AppOptions, createApp } from "./app.ts";

export interface Server {
  /** `http://127.0.0.1:7420`, with the port that was really taken. */
  readonly address: string;
  /** Stops listening, lets running requests end for at most `deadlineMs`, then cuts what is left. */
  close(deadlineMs: number): Promise<void>;
}

/** Listens. Errors: those of `listen` (EADDRINUSE, EACCES). */
export async function startServer(options: AppOptions, host: string, port: number): Promise<Server> {
  const app = createApp(options);
  await app.listen({ host, port });
  const bound = app.server.address() as AddressInfo;
  const name = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  return {
    address: `http://${name}:${bound.port}`,
    close: async (deadlineMs) => {
      const timer = setTimeout(() => app.server.closeAllConnections(), deadlineMs);
      // A kept-alive connection that answers its last request now would else be waited for until it times out.
      const idle = setInterval(() => app.server.closeIdleConnections(), 25);
      await app.close();
      clearTimeout(timer);
      clearInterval(idle);
    },
  };
}
