import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { type CompileService, type Farm, serviceError, type Tracing } from "../service/index.ts";
import { artifactRoutes } from "./artifact-routes.ts";
import { batchRoutes } from "./batch-routes.ts";
import { httpError } from "./codes.ts";
import { compileRoute } from "./compile-route.ts";
import { compress } from "./compress.ts";
import { docsRoutes } from "./docs-ui.ts";
import { type Access, guard } from "./guard.ts";
import { jsonBodies } from "./json-body.ts";
import { Metrics } from "./metrics.ts";
import { errorHandler, problemOf, problemType, sendProblem } from "./problem.ts";
import { limitRate } from "./rate-limit.ts";
import { answerOf, cacheStats, health, textOf, version } from "./schemas.ts";
import { traceRequests } from "./trace-requests.ts";
import { compilersFactory, loadValidator } from "./validator.ts";

export interface AppOptions {
  readonly service: CompileService;
  readonly access: Access;
  readonly limits: {
    readonly bodyBytes: number;
    readonly timeLimitMs: number;
    readonly memoryLimitMb: number;
    readonly maxWaiting: number;
    readonly workers: number;
  };
  readonly logLevel?: string;
  /** Weight that one caller may send in a minute; 0 or absent: no limit. */
  readonly rateLimit?: number;
  readonly tracing?: Tracing;
  /** Where batches of many shaders go. */
  readonly farm?: Farm;
}

const securityHeaders: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/** A server that has nothing to do yet loads then what its first request would wait for. */
const validatorAfterMs = 200;

/** A caller's id is taken where it is short and printable; else one is made. */
function requestId(given: string | string[] | undefined): string {
  return typeof given === "string" && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID();
}

/** The HTTP interface of a service. Nothing listens yet. */
export function createApp(options: AppOptions): FastifyInstance {
  const { service, limits } = options;
  const app = Fastify({
    bodyLimit: limits.bodyBytes,
    requestIdHeader: false,
    genReqId: (request) => requestId(request.headers["x-request-id"]),
    logger: options.logLevel === undefined ? false : { level: options.logLevel, stream: process.stderr },
    // A logger for each request is a good part of what a hit takes; what is logged above `info` names its request itself.
    childLoggerFactory: (logger, bindings, options) =>
      (logger as { isLevelEnabled?(level: string): boolean }).isLevelEnabled?.("info") === true
        ? logger.child(bindings, options)
        : logger,
    forceCloseConnections: "idle",
    // Its answer would be no problem document: ours is below.
    return503OnClosing: false,
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, allErrors: false, validateSchema: false } },
    schemaController: { compilersFactory },
    frameworkErrors: (error, request, reply) => {
      reply.header("x-request-id", request.id).headers(securityHeaders);
      sendProblem(reply as FastifyReply, problemOf(400, "BAD_REQUEST", error.message, request.id));
    },
    clientErrorHandler: (_error, socket) => {
      // No request exists yet: this is the whole answer.
      const body = JSON.stringify(problemOf(400, "BAD_REQUEST", "this is not an HTTP request", randomUUID()));
      if (!socket.writable) return;
      const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: ${problemType}\r\nContent-Length: ${Buffer.byteLength(body)}`;
      socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`);
    },
  });
  // Fastify reads text bodies by itself; here they are no media type that a route takes.
  app.removeContentTypeParser("text/plain");
  jsonBodies(app);
  const metrics = new Metrics(service, options.farm);
  let isClosing = false;
  app.addHook("onListen", (done) => {
    metrics.start();
    setTimeout(loadValidator, validatorAfterMs).unref();
    done();
  });
  app.addHook("preClose", async () => {
    isClosing = true;
    metrics.stop();
    options.farm?.stop();
  });
  // Hooks call back instead of giving promises: each turn less is time of every request.
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id).headers(securityHeaders);
    if (isClosing) {
      reply.header("connection", "close");
      throw serviceError("SHUTTING_DOWN", {});
    }
    const encoding = request.headers["content-encoding"];
    if (encoding !== undefined && encoding !== "identity" && request.method !== "GET" && request.method !== "HEAD") {
      reply.header("accept-encoding", "identity");
      throw httpError("CONTENT_ENCODING", {});
    }
    done();
  });
  if (options.tracing !== undefined) traceRequests(app, options.tracing);
  app.addHook("onRequest", guard(options.access));
  if (options.rateLimit !== undefined && options.rateLimit > 0) app.addHook("onRequest", limitRate(options.rateLimit));
  app.addHook("onSend", compress);
  app.addHook("onResponse", (request, reply, done) => {
    metrics.countAnswer(request.method, request.routeOptions.url ?? "none", reply.statusCode);
    done();
  });
  app.addHook("onRoute", (route) => {
    // Handlers validate (`validBody`), so that the first request compiles a schema and not the start.
    delete route.schema;
  });
  app.setErrorHandler(errorHandler(limits.bodyBytes));
  app.setNotFoundHandler(notFound(app));

  const register = (to: FastifyInstance) => registerRoutes(to, options, metrics);
  register(app);
  const makeDocument = async () => {
    const { openApiDocument } = await import("./openapi.ts");
    return openApiDocument(register, service.build.version);
  };
  app.get("/openapi.json", { config: { role: "read" }, schema: { hide: true } }, async (_request, reply) =>
    reply.type("application/json").send(JSON.stringify(await makeDocument())),
  );
  docsRoutes(app, makeDocument);
  return app;
}

function registerRoutes(app: FastifyInstance, options: AppOptions, metrics: Metrics): void {
  const { service } = options;
  compileRoute(app, service);
  artifactRoutes(app, service);
  batchRoutes(app, service, options.limits.workers, options.farm);
  statusRoutes(app, options);
  app.get(
    "/metrics",
    {
      config: { role: "read" },
      schema: {
        summary: "Prometheus metrics",
        response: { 200: answerOf("metrics", { "text/plain": textOf("Prometheus text") }) },
      },
    },
    async (_request, reply) => {
      const { type, text } = await metrics.text();
      return reply.type(type).send(text);
    },
  );
}

/** 405 where another method is routed, else 404. */
function notFound(app: FastifyInstance) {
  return (request: FastifyRequest, reply: FastifyReply): never => {
    const path = request.url.replace(/\?.*/, "");
    const methods = (["GET", "HEAD", "POST", "DELETE"] as const).filter(
      (method) => app.findRoute({ method, url: routePattern(path) }) !== null,
    );
    if (methods.length === 0) throw httpError("NOT_FOUND", { path: path.slice(0, 200) });
    reply.header("allow", methods.join(", "));
    throw httpError("METHOD_NOT_ALLOWED", { path: path.slice(0, 200), methods: methods.join(", ") });
  };
}

const routePattern = (path: string) =>
  path.replace(/^\/artifacts\/[^/]+$/, "/artifacts/:key").replace(/^\/batch\/[^/]+/, "/batch/:id");

function statusRoutes(app: FastifyInstance, { service, limits }: AppOptions): void {
  const open = { role: "none" } as const;
  app.get(
    "/health/live",
    { config: open, schema: { summary: "The process is up", response: { 200: health } } },
    async () => ({ status: "live" }),
  );
  app.get(
    "/health/ready",
    { config: open, schema: { summary: "Workers and cache answer", response: { 200: health } } },
    async () => {
      if (!service.isReady()) throw httpError("NOT_READY", {});
      return { status: "ready" };
    },
  );
  app.get(
    "/version",
    { config: { role: "read" }, schema: { summary: "Version, targets, limits", response: { 200: version } } },
    async () => ({ ...service.build, targets: ["gfx1030"], limits }),
  );
  app.get(
    "/cache/stats",
    { config: { role: "read" }, schema: { summary: "Cache statistics", response: { 200: cacheStats } } },
    async () => service.stats(),
  );
}
