import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";

/** Stands in for bazel-remote: `/ac/` and `/cas/`, where a body that is not what its name says is refused. */
export async function startBazelRemote(): Promise<{
  readonly url: string;
  readonly files: Map<string, Buffer>;
  readonly server: Server;
}> {
  const files = new Map<string, Buffer>();
  const bodyOf = async (request: IncomingMessage) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    return Buffer.concat(parts);
  };
  const server = createServer(async (request, response) => {
    const path = request.url ?? "";
    const body = await bodyOf(request);
    if (path === "/status") {
      const size = [...files.values()].reduce((sum, file) => sum + file.length, 0);
      response.end(JSON.stringify({ NumFiles: files.size, CurrSize: size, MaxSize: 1 << 30 }));
      return;
    }
    const match = /^\/(ac|cas)\/([0-9a-f]{64})$/.exec(path);
    if (match === null) response.writeHead(400).end();
    else if (request.method === "PUT") {
      const isRight = match[1] === "ac" || createHash("sha256").update(body).digest("hex") === match[2];
      if (isRight) files.set(path, body);
      response.writeHead(isRight ? 200 : 400).end();
    } else if (request.method === "GET") {
      const file = files.get(path);
      response.writeHead(file === undefined ? 404 : 200).end(file);
    } else response.writeHead(405).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, files, server };
}
