import { createServer, type Server } from "node:http";
import { CliError } from "./environment.ts";

const healthEveryMs = 5000;

interface Watched {
  /** A compile that must succeed. */
  readonly check: () => Promise<unknown>;
  readonly isReady: () => boolean;
}

/**
 * `/health/live` and `/health/ready` for probes, as the server answers them: nothing else, so no key. Ready means that
 * compiles are done and the queue is reached. Errors: `CliError` 3 for a port that cannot be had.
 */
export async function serveHealth(host: string, port: number, watched: Watched): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    const path = request.url?.replace(/\?.*/, "");
    const isReady = path === "/health/live" || (path === "/health/ready" && watched.isReady());
    const isKnown = path === "/health/live" || path === "/health/ready";
    const status = isReady ? 200 : isKnown ? 503 : 404;
    const [code, detail] = isKnown ? ["NOT_READY", "the worker is not ready"] : ["NOT_FOUND", "there is nothing here"];
    const type = `urn:kiln:problem:${code}`;
    const body = isReady ? { status: path?.slice(8) } : { type, title: detail, status, detail, code };
    const headers = { "content-type": isReady ? "application/json" : "application/problem+json" };
    response.writeHead(status, headers).end(JSON.stringify(body));
  });
  await listening(server, host, port);
  let isChecking = false;
  const check = async () => {
    if (isChecking) return;
    isChecking = true;
    await watched.check();
    isChecking = false;
  };
  void check();
  const timer = setInterval(() => void check(), healthEveryMs);
  return () => {
    clearInterval(timer);
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(new CliError(3, `--health-port: cannot listen on ${port}: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });
}
