import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RequestSpan, Tracing } from "../service/index.ts";

/** A span for each request, open until its answer is sent. */
export function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  const spans = new WeakMap<FastifyRequest, RequestSpan>();
  app.addHook("onRequest", (request, _reply, done) => {
    spans.set(request, tracing.request(request.method, request.headers, done));
  });
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "none";
    const attributes = {
      "http.request.method": request.method,
      "http.route": route,
      "http.response.status_code": reply.statusCode,
      "kiln.request_id": request.id,
    };
    spans.get(request)?.end(`${request.method} ${route}`, attributes, reply.statusCode >= 500);
    done();
  });
}
