import { promisify } from "node:util";
import zlib from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { encodingFor } from "./media.ts";

/** Below this an answer fits a packet or two anyway. */
const leastBytes = 2048;
const compressible = /^(application\/(json|x-ndjson|problem\+json|x-elf)|text\/(plain|html|css|javascript))/;

type Compressor = (bytes: Buffer) => Promise<Buffer>;
const brotli = promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliCompress);
const gzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gzip);
/** From Node 22.15. */
const { zstdCompress } = zlib as { zstdCompress?: (bytes: Buffer, done: (e: Error | null, b: Buffer) => void) => void };

/** Best first for machines that talk to machines: speed, then size. */
const compressors = new Map<string, Compressor>([
  ...(zstdCompress === undefined ? [] : ([["zstd", promisify(zstdCompress)]] as const)),
  ["br", (bytes) => brotli(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } })],
  ["gzip", (bytes) => gzip(bytes, { level: 6 })],
]);
const names = [...compressors.keys()];

type Done = (error: Error | null, payload: unknown) => void;

/** The hook that compresses large answers, in the encoding that the caller takes. Ranges and streams go as they are. */
export function compress(request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  const compressor = isCompressible(reply, payload) ? compressorFor(request, reply) : undefined;
  if (compressor === undefined) {
    done(null, payload);
    return;
  }
  compressor.compress(Buffer.from(payload as string)).then(
    (bytes) => {
      reply.header("content-encoding", compressor.name).removeHeader("content-length");
      done(null, bytes);
    },
    (error: Error) => done(error, payload),
  );
}

function isCompressible(reply: FastifyReply, payload: unknown): boolean {
  if ((typeof payload !== "string" && !Buffer.isBuffer(payload)) || payload.length < leastBytes) return false;
  if (!compressible.test(String(reply.getHeader("content-type") ?? ""))) return false;
  return reply.statusCode !== 206 && !reply.hasHeader("etag");
}

function compressorFor(request: FastifyRequest, reply: FastifyReply) {
  reply.header("vary", "accept-encoding");
  const name = encodingFor(request.headers["accept-encoding"] as string | undefined, names);
  const compress = name === undefined ? undefined : compressors.get(name);
  return name === undefined || compress === undefined || request.method === "HEAD" ? undefined : { name, compress };
}
