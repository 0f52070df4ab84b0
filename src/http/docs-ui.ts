import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { httpError } from "./codes.ts";
import { compilersFactory } from "./validator.ts";

const contentSecurity =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

/** Names that the bundler does not follow: the page brings files of its own, which stay in its package. */
const packageName = "@fastify/swagger-ui";

/** `/docs`: the OpenAPI document as a page. Its server is made by the first visit, and never listens. */
export function docsRoutes(app: FastifyInstance, makeDocument: () => Promise<object>): void {
  let pages: Promise<FastifyInstance> | undefined;
  const make = async () => {
    const { default: Fastify } = await import("fastify");
    const { default: swagger } = await import("@fastify/swagger");
    const ui = ((await import(packageName)) as typeof import("@fastify/swagger-ui")).default;
    const inner = Fastify({ schemaController: { compilersFactory } });
    const document = await makeDocument();
    await inner.register(swagger, { mode: "static", specification: { document: document as never } });
    await inner.register(ui, { routePrefix: "/docs" });
    await inner.ready();
    return inner;
  };
  const show = async (request: FastifyRequest, reply: FastifyReply) => {
    pages ??= make();
    const page = await (await pages).inject({ method: "GET", url: request.url });
    if (page.statusCode === 404) throw httpError("NOT_FOUND", { path: request.url.replace(/\?.*/, "").slice(0, 200) });
    for (const name of ["content-type", "location", "cache-control", "etag"]) {
      const value = page.headers[name];
      if (value !== undefined) reply.header(name, value);
    }
    return reply.header("content-security-policy", contentSecurity).code(page.statusCode).send(page.rawPayload);
  };
  for (const url of ["/docs", "/docs/*"]) {
    app.get(url, { config: { role: "read" }, schema: { hide: true }, exposeHeadRoute: false }, show);
  }
  app.addHook("onClose", async () => (await pages?.catch(() => undefined))?.close());
}
