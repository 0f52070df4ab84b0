import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type AppOptions, createApp } from "./app.ts";

/** What clients have sent when a stop begins, or send before they can know of it, is still answered. */
const goodbyeMs = 100;

export interface Server {
  /** `http://127.0.0.1:7420`, with the port that was really taken. */
  readonly address: string;
  /** Ends each connection with its next answer, stops listening, lets running requests end for at most `deadlineMs`, then cuts what is left. */
  close(deadlineMs: number): Promise<void>;
}

/** Listens. Errors: those of `listen` (EADDRINUSE, EACCES). */
export async function startServer(options: AppOptions, host: string, port: number): Promise<Server> {
  const app = createApp(options);
  let isEnding = false;
  // The client opens no request on a connection that is about to go.
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (isEnding) reply.header("connection", "close");
    done(null, payload);
  });
  await app.listen({ host, port });
  const bound = app.server.address() as AddressInfo;
  const name = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  return {
    address: `http://${name}:${bound.port}`,
    close: async (deadlineMs) => {
      isEnding = true;
      await sleep(Math.min(goodbyeMs, deadlineMs));
      const timer = setTimeout(() => app.server.closeAllConnections(), deadlineMs);
      // A kept-alive connection that answers its last request now would else be waited for until it times out.
      const idle = setInterval(() => app.server.closeIdleConnections(), 25);
      await app.close();
      clearTimeout(timer);
      clearInterval(idle);
    },
  };
}
