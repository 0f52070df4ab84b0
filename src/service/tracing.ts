import { createRequire } from "node:module";
import type * as OpenTelemetry from "@opentelemetry/api";

type Attributes = Readonly<Record<string, string | number>>;
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Spans for whatever SDK the user has loaded; without one they go nowhere. */
export interface Tracing {
  /** Runs `work` under a span inside the current one. */
  within<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T>;
  /** Opens the span of a request, inside the caller's where the headers name it, and runs `next` under it. */
  request(name: string, headers: Headers, next: () => void): RequestSpan;
}

export interface RequestSpan {
  end(name: string, attributes: Attributes, isFailed: boolean): void;
}

/** An optional package, by a name that the bundler does not follow. */
const packageName = "@opentelemetry/api";

/** Why there can be no traces here; undefined where the package is installed. Loads nothing. */
export function tracingProblem(): string | undefined {
  try {
    createRequire(import.meta.url).resolve(packageName);
    return undefined;
  } catch {
    return `traces need the package ${packageName}: npm install ${packageName}`;
  }
}

export async function loadTracing(version: string): Promise<Tracing> {
  const api = (await import(packageName)) as typeof OpenTelemetry;
  const { context, propagation, SpanKind, SpanStatusCode, trace } = api;
  const tracer = trace.getTracer("kiln", version);
  return {
    within: (name, attributes, work) =>
      tracer.startActiveSpan(name, { attributes }, async (span) => {
        try {
          return await work();
        } catch (error) {
          span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : "failed" });
          throw error;
        } finally {
          span.end();
        }
      }),
    request: (name, headers, next) => {
      const parent = propagation.extract(context.active(), headers);
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER }, parent);
      context.with(trace.setSpan(parent, span), next);
      return {
        end: (finalName, attributes, isFailed) => {
          span.updateName(finalName);
          span.setAttributes(attributes);
          if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
  };
}
