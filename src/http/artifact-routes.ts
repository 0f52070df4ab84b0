import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CompileService } from "../service/index.ts";
import { httpError } from "./codes.ts";
import { answerOf, artifactParams, bytesOf, problemsOf, removed } from "./schemas.ts";

interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** One `bytes=` range of RFC 9110; undefined where the header is absent, of another unit, or has several. */
function parseRange(header: string | undefined, size: number): ByteRange | "outside" | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  if (match === null || (match[1] === "" && match[2] === "")) return undefined;
  const [from, to] = [match[1] as string, match[2] as string];
  if (from === "") {
    const length = Math.min(Number(to), size);
    return length === 0 ? "outside" : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  const last = to === "" ? size - 1 : Math.min(Number(to), size - 1);
  if (to !== "" && Number(to) < first) return undefined;
  return first >= size ? "outside" : { first, last };
}

/** True where an `If-None-Match` list has the tag; weak comparison. */
function hasTag(header: string | undefined, tag: string): boolean {
  return header?.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === tag) ?? false;
}

async function sendArtifact(service: CompileService, key: string, request: FastifyRequest, reply: FastifyReply) {
  const stored = await service.artifact(key);
  if (stored === undefined) throw httpError("KEY_NOT_CACHED", {});
  const { elf } = stored;
  const tag = `"${stored.text("codeSha256")}"`;
  reply.header("etag", tag).header("cache-control", "max-age=31536000, immutable").header("accept-ranges", "bytes");
  if (hasTag(request.headers["if-none-match"], tag)) return reply.code(304).send();
  reply.type("application/x-elf");
  const bytes = Buffer.from(elf.buffer, elf.byteOffset, elf.byteLength);
  const ifRange = request.headers["if-range"];
  const wanted = ifRange === undefined || ifRange === tag ? parseRange(request.headers.range, bytes.length) : undefined;
  if (wanted === undefined) return reply.send(bytes);
  if (wanted === "outside") {
    reply.header("content-range", `bytes */${bytes.length}`);
    throw httpError("RANGE", { size: bytes.length });
  }
  const { first, last } = wanted;
  return reply
    .code(206)
    .header("content-range", `bytes ${first}-${last}/${bytes.length}`)
    .send(bytes.subarray(first, last + 1));
}

export function artifactRoutes(app: FastifyInstance, service: CompileService): void {
  app.get<{ Params: { key: string } }>(
    "/artifacts/:key",
    {
      config: { role: "read" },
      schema: {
        summary: "The ELF code object of a cached compile",
        params: artifactParams,
        response: {
          200: answerOf("the code object; its ETag is its SHA-256", { "application/x-elf": bytesOf("ELF") }),
          206: answerOf("the range that was asked for", { "application/x-elf": bytesOf("part of the ELF") }),
          304: { description: "the caller has it", type: "null" },
          ...problemsOf(404, 416),
        },
      },
    },
    (request, reply) => sendArtifact(service, request.params.key, request, reply),
  );
  app.delete<{ Params: { key: string } }>(
    "/artifacts/:key",
    {
      config: { role: "admin" },
      schema: {
        summary: "Drop one cached compile",
        params: artifactParams,
        response: { 200: removed, ...problemsOf(404) },
      },
    },
    async (request) => {
      if (!(await service.deleteArtifact(request.params.key))) throw httpError("KEY_NOT_CACHED", {});
      return { removed: 1 };
    },
  );
  app.delete(
    "/cache",
    { config: { role: "admin" }, schema: { summary: "Drop every cached compile", response: { 200: removed } } },
    async () => ({ removed: await service.clearCache() }),
  );
}
