import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { oracle } from "../oracles.ts";

export interface RedisProcess {
  readonly url: string;
  readonly child: ChildProcess;
}

/** A port that nothing listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** A Redis that keeps nothing on disk; `port` to start one again where another was. */
export async function startRedis(port?: number): Promise<RedisProcess & { readonly port: number }> {
  const path = oracle("redis-server");
  if (path === undefined) throw new Error("redis-server is missing");
  const own = port ?? (await freePort());
  const args = ["--port", String(own), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const child = spawn(path, args, { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (data) => {
      text += String(data);
      if (text.includes("Ready to accept connections")) resolve();
    });
    child.on("exit", (code) => reject(new Error(`redis-server ended (${code}): ${text}`)));
  });
  return { url: `redis://127.0.0.1:${own}`, child, port: own };
}

export async function stopRedis({ child }: RedisProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
