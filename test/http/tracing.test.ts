import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  type ContextManager,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  trace,
} from "@opentelemetry/api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createApp } from "../../src/http/index.ts";
import { type CompileService, loadTracing } from "../../src/service/index.ts";
import { startService } from "../service/harness.ts";

interface Recorded {
  name: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly attributes: Record<string, unknown>;
  isEnded: boolean;
}
const spans: Recorded[] = [];

/** The least of an SDK: spans in a list, the context by AsyncLocalStorage, the parent from `traceparent`. */
function startSdk(): void {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...args) => storage.run(active, () => work.apply(self as never, args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  context.setGlobalContextManager(manager);
  propagation.setGlobalPropagator({
    inject: () => {},
    fields: () => ["traceparent"],
    extract: (into, carrier) => {
      const [, traceId, spanId] = String((carrier as Record<string, unknown>).traceparent ?? "").split("-");
      if (traceId === undefined || spanId === undefined) return into;
      return trace.setSpanContext(into, { traceId, spanId, traceFlags: 1 });
    },
  });
  const startSpan = (name: string, options: { attributes?: object } = {}, from = context.active()): Span => {
    const parent = trace.getSpanContext(from)?.spanId;
    const recorded: Recorded = {
      name,
      id: String(spans.length),
      parent,
      attributes: { ...options.attributes },
      isEnded: false,
    };
    spans.push(recorded);
    const span = {
      spanContext: () => ({ traceId: "t", spanId: recorded.id, traceFlags: 1 }),
      setStatus: () => span,
      updateName: (to: string) => {
        recorded.name = to;
        return span;
      },
      setAttributes: (more: object) => {
        Object.assign(recorded.attributes, more);
        return span;
      },
      end: () => {
        recorded.isEnded = true;
      },
    };
    return span as unknown as Span;
  };
  const startActiveSpan = (name: string, options: object, work: (span: Span) => unknown) => {
    const span = startSpan(name, options);
    return context.with(trace.setSpan(context.active(), span), () => work(span));
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan, startActiveSpan }) } as never);
}

let service: CompileService;
let app: ReturnType<typeof createApp>;
beforeAll(async () => {
  startSdk();
  const tracing = await loadTracing("1.2.3");
  service = await startService({ pool: { workers: 1, tracing } });
  const limits = { bodyBytes: 1 << 20, timeLimitMs: 5000, memoryLimitMb: 64, maxWaiting: 100, workers: 1 };
  app = createApp({ service, limits, access: { loopback: true, keys: undefined }, tracing });
});
afterAll(async () => {
  await app.close();
  await service.close();
  for (const api of [trace, context, propagation]) api.disable();
});

it("traces a request, its wait for a worker and its compile, inside the caller's trace", async () => {
  const compile = (source: string) =>
    app.inject({
      method: "POST",
      url: "/compile",
      headers: { traceparent: "00-trace-caller-01" },
      payload: { source, stage: "compute" },
    });
  const answers = await Promise.all([compile("sleep 50\none"), compile("two")]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  expect(spans.every(({ isEnded }) => isEnded)).toBe(true);
  const requests = spans.filter(({ name }) => name === "POST /compile");
  expect(requests).toMatchObject([
    { parent: "caller", attributes: { "http.route": "/compile", "http.response.status_code": 200 } },
    { parent: "caller" },
  ]);
  const ids = requests.map(({ id }) => id);
  const parents = (wanted: string) => spans.filter(({ name }) => name === wanted).map(({ parent }) => parent);
  expect(parents("kiln.compile").sort()).toEqual(ids);
  // One worker: the second waited.
  expect(parents("kiln.queue")).toEqual([ids[1]]);
});
