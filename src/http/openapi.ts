import { STATUS_CODES } from "node:http";
import swagger from "@fastify/swagger";
import Fastify, { type FastifyInstance, type RouteOptions } from "fastify";
import { serviceCodes } from "../service/index.ts";
import { httpCodes } from "./codes.ts";
import { diagnosticTable } from "./diagnostic-table.ts";
import { problemsOf } from "./schemas.ts";
import { compilersFactory } from "./validator.ts";

/** The OpenAPI document of the routes that `register` adds: their own validating schemas. The app itself stays without the generator. */
export async function openApiDocument(register: (app: FastifyInstance) => void, version: string): Promise<object> {
  const app = Fastify({ schemaController: { compilersFactory } });
  await app.register(swagger, {
    openapi: {
      openapi: "3.0.3",
      info: {
        title: "Kiln",
        version,
        description: `Compiles GLSL and SPIR-V to gfx1030 machine code. Every error is application/problem+json, with one of these codes:\n\n${codeTable()}\n\nDiagnostics of a 422 carry one of these; … is filled in:\n\n${diagnosticTable}`,
      },
      components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
    },
  });
  app.addHook("onRoute", addProblems);
  register(app);
  await app.ready();
  const document = app.swagger();
  await app.close();
  return document;
}

/** The codes that problems carry; those of diagnostics are the compiler's own. */
function codeTable(): string {
  const rows = Object.entries({ ...httpCodes, ...serviceCodes }).map(([code, { status, text }]) => {
    const meaning = text.replace(/\{\w+\}/g, "…");
    return `| ${code} | ${status} | ${meaning === "…" ? `${STATUS_CODES[status]}: …` : meaning} |`;
  });
  return ["| code | status | meaning |", "| --- | --- | --- |", ...rows].join("\n");
}

/** Any route: a Host that is none of ours, a mistake of ours, a server that stops. */
const always = [400, 403, 500, 503];
/** Where a body may come, Fastify reads it first: it may be too large or of no type that is read. */
const withBody = [413, 415];

/** The problems that a route answers for what it is, beside those that its schema names. */
function addProblems(route: RouteOptions): void {
  const schema = route.schema as { response?: Record<number, unknown>; security?: unknown } | undefined;
  if (schema === undefined) return;
  const role = route.config?.role ?? "read";
  const methods = [route.method].flat();
  // It comes with its GET, and shares the schema.
  if (methods.includes("HEAD")) return;
  const statuses = [
    ...always,
    ...(methods.includes("GET") ? [] : withBody),
    ...(role === "none" ? [] : [401]),
    ...(role === "write" ? [429] : []),
  ];
  const given = schema.response ?? {};
  schema.response = { ...problemsOf(...statuses), ...given };
  if (role !== "none") schema.security = [{ key: [] }];
}
