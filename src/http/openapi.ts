import swagger from "@fastify/swagger";
import Fastify, { type FastifyInstance } from "fastify";
import { serviceCodes } from "../service/index.ts";
import { httpCodes } from "./codes.ts";

/** The OpenAPI document of the routes that `register` adds: their own validating schemas. The app itself stays without the generator. */
export async function openApiDocument(register: (app: FastifyInstance) => void, version: string): Promise<object> {
  const app = Fastify();
  await app.register(swagger, {
    openapi: {
      openapi: "3.0.3",
      info: {
        title: "Kiln",
        version,
        description: `Compiles GLSL and SPIR-V to gfx1030 machine code. Every error is application/problem+json, with one of these codes:\n\n${codeTable()}`,
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

/** The codes that problems carry; those of diagnostics are the compiler's own. */
function codeTable(): string {
  const rows = Object.entries({ ...httpCodes, ...serviceCodes }).map(
    ([code, { status, text }]) => `| ${code} | ${status} | ${text} |`,
  );
  return ["| code | status | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}
