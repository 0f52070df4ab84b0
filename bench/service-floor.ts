/** The floor of bench/service.ts: a bare Fastify route that validates the same body and sends an answer of the same size. */
import Fastify from "fastify";
import { compileBody } from "../src/http/schemas.ts";

process.once("message", async (answer: string) => {
  const app = Fastify({ ajv: { customOptions: { removeAdditional: false, coerceTypes: false } } });
  const parsed = JSON.parse(answer) as object;
  app.post("/compile", { schema: { body: compileBody } }, async () => parsed);
  await app.listen({ host: "127.0.0.1", port: 0 });
  process.send?.((app.server.address() as { port: number }).port);
});
