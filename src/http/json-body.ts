import type { FastifyInstance, FastifyRequest } from "fastify";
import { httpError } from "./codes.ts";
import { isTooDeep } from "./json-scan.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** A JSON body comes to the handler as `JsonBytes`, which it parses itself where it has to. */
    bodyAsBytes?: boolean;
  }
}

type Parser = ReturnType<FastifyInstance["getDefaultJsonParser"]>;

export const tooDeep = () => httpError("BAD_REQUEST", { reason: "the body nests lists and objects too deeply" });

/** A JSON body as it came. */
export class JsonBytes {
  readonly bytes: Buffer;
  readonly #parser: Parser;

  constructor(bytes: Buffer, parser: Parser) {
    this.bytes = bytes;
    this.#parser = parser;
  }

  /** Bytes of this body that are a value by themselves. */
  part(bytes: Buffer): JsonBytes {
    return new JsonBytes(bytes, this.#parser);
  }

  /** Errors: those of Fastify for bodies that are empty or no JSON; BAD_REQUEST for lists in lists without an end. */
  parse(request: FastifyRequest): unknown {
    if (isTooDeep(this.bytes)) throw tooDeep();
    let parsed: unknown;
    let failure: Error | null = null;
    // It calls back before it returns.
    this.#parser(request, this.bytes.toString("utf8"), (error, value) => {
      failure = error;
      parsed = value;
    });
    if (failure !== null) throw failure;
    return parsed;
  }
}

/** Reads `application/json` as Fastify does, except for routes that want the bytes. */
export function jsonBodies(app: FastifyInstance): void {
  const parser = app.getDefaultJsonParser("error", "error");
  app.removeContentTypeParser("application/json");
  app.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
    if (request.routeOptions.config?.bodyAsBytes === true) done(null, new JsonBytes(bytes, parser));
    else parser(request, bytes.toString("utf8"), done);
  });
}
