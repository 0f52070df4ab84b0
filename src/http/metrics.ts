import type { CompileService } from "../service/index.ts";

/** Requests by route and status, counted by the app. */
export type RequestCounts = ReadonlyMap<string, number>;

export const countName = (method: string, route: string, status: number) => `${method} ${route} ${status}`;

/** Prometheus text. The registry is made anew from the service's own counters, which outlive the process. */
export async function metricsText(
  service: CompileService,
  requests: RequestCounts,
): Promise<{ type: string; text: string }> {
  // The package is CommonJS: once bundled, its exports are those of `default` only.
  const { Counter, Gauge, Registry, collectDefaultMetrics } = (await import("prom-client")).default;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "kiln_" });
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames: [...labelNames], registers: [registry] });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });

  const stats = service.stats();
  counter("kiln_compile_requests_total", "compile requests").inc(stats.requests);
  counter("kiln_compiles_total", "compiles done").inc(stats.compiles);
  counter("kiln_joined_total", "requests that joined a running compile").inc(stats.joined);
  const misses = counter("kiln_cache_misses_total", "cache misses by reason", ["reason"]);
  for (const [reason, count] of Object.entries(stats.misses)) misses.inc({ reason }, count);
  const events = counter("kiln_cache_events_total", "events by tier", ["tier", "event"]);
  const [entries, bytes] = [
    gauge("kiln_cache_entries", "entries by tier", ["tier"]),
    gauge("kiln_cache_bytes", "bytes by tier", ["tier"]),
  ];
  for (const tier of stats.tiers) {
    const { hits, misses: missed, puts, evictions, corrupt, errors } = tier;
    for (const [event, count] of Object.entries({ hits, misses: missed, puts, evictions, corrupt, errors })) {
      events.inc({ tier: tier.name, event }, count);
    }
    entries.set({ tier: tier.name }, tier.entries);
    bytes.set({ tier: tier.name }, tier.bytes);
  }
  const durations = gauge("kiln_compile_microseconds", "compile time percentiles", ["quantile"]);
  const { p50, p90, p99 } = stats.compileMicroseconds;
  for (const [quantile, value] of Object.entries({ "0.5": p50, "0.9": p90, "0.99": p99 }))
    durations.set({ quantile }, value);
  const pool = service.poolStats();
  gauge("kiln_workers", "compile workers").set(pool.workers);
  gauge("kiln_workers_running", "compiles running").set(pool.running);
  gauge("kiln_queue_depth", "compiles waiting for a worker").set(pool.waiting);
  counter("kiln_worker_restarts_total", "workers replaced").inc(pool.restarts);
  const served = counter("kiln_http_requests_total", "answers by route and status", ["method", "route", "status"]);
  for (const [name, count] of requests) {
    const [method = "", route = "", status = ""] = name.split(" ");
    served.inc({ method, route, status }, count);
  }
  return { type: registry.contentType, text: await registry.metrics() };
}
