import swagger from "@fastify/swagger";
import Fastify, { type FastifyInstance } from "fastify";

/** The OpenAPI document of the routes that `register` adds: their own validating schemas. The app itself stays without the generator. */
export async function openApiDocument(register: (app: FastifyInstance) => void, version: string): Promise<object> {
  const app = Fastify();
  await app.register(swagger, {
    openapi: {
      openapi: "3.0.3",
      info: {
        title: "Kiln",
        version,
        description: "Compiles GLSL and SPIR-V to gfx1030 machine code. Every error is application/problem+json.",
      },
      components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
    },
  });
  register(app);
  await app.ready();
  const document = app.swagger();
  await app.close();
  return document;
}
