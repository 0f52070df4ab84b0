import type { AddressInfo } from "node:net";
import Fastify from "fastify";
import { compileBody } from "./schemas.ts";

/**
 * What benches compare with: a bare route that validates the body of `POST /compile` and sends one answer, as Fastify
 * does by itself. Answers the address.
 */
export async function startFloor(answer: object): Promise<string> {
  const app = Fastify({ ajv: { customOptions: { removeAdditional: false, coerceTypes: false } } });
  app.post("/compile", { schema: { body: compileBody } }, async () => answer);
  await app.listen({ host: "127.0.0.1", port: 0 });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}
