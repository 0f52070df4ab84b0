import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { Registry } from "prom-client";
import type { CompileService, Farm } from "../service/index.ts";

const countName = (method: string, route: string, status: number) => `${method} ${route} ${status}`;
const compileBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const loopResolutionMs = 10;

// The package is CommonJS: once bundled, its exports are those of `default` only.
const loadClient = async () => (await import("prom-client")).default;
type PromClient = Awaited<ReturnType<typeof loadClient>>;

/** Prometheus text: the process's own metrics, the service's counters, which outlive it, and what the app counts. */
export class Metrics {
  readonly #service: CompileService;
  readonly #farm: Farm | undefined;
  readonly #requests = new Map<string, number>();
  readonly #loop: IntervalHistogram = monitorEventLoopDelay({ resolution: loopResolutionMs });
  /** Made once: the default metrics watch the process from then on. */
  #process: Promise<Registry> | undefined;

  constructor(service: CompileService, farm: Farm | undefined) {
    this.#service = service;
    this.#farm = farm;
  }

  /** From when the app serves. */
  start(): void {
    this.#loop.enable();
  }

  stop(): void {
    this.#loop.disable();
  }

  countAnswer(method: string, route: string, status: number): void {
    const name = countName(method, route, status);
    this.#requests.set(name, (this.#requests.get(name) ?? 0) + 1);
  }

  async text(): Promise<{ type: string; text: string }> {
    const client = await loadClient();
    this.#process ??= processMetrics();
    const registry = new client.Registry();
    fillService(client, registry, this.#service);
    this.#fillLoop(client, registry);
    await this.#fillFarm(client, registry);
    const served = new client.Counter({
      name: "kiln_http_requests_total",
      help: "answers by route and status",
      labelNames: ["method", "route", "status"],
      registers: [registry],
    });
    for (const [name, count] of this.#requests) {
      const [method = "", route = "", status = ""] = name.split(" ");
      served.inc({ method, route, status }, count);
    }
    const parts = [await (await this.#process).metrics(), await registry.metrics(), compileHistogram(this.#service)];
    return { type: registry.contentType, text: parts.map((part) => `${part.trimEnd()}\n`).join("\n") };
  }

  /** How much later than asked the event loop came round, since the start. */
  #fillLoop({ Gauge }: PromClient, registry: Registry): void {
    const delay = new Gauge({
      name: "kiln_event_loop_delay_seconds",
      help: "delay of the event loop since the start",
      labelNames: ["quantile"],
      registers: [registry],
    });
    const loop = this.#loop;
    const values = {
      "0.5": loop.percentile(50),
      "0.9": loop.percentile(90),
      "0.99": loop.percentile(99),
      "1": loop.max,
    };
    for (const [quantile, nanoseconds] of Object.entries(values)) {
      delay.set({ quantile }, Math.max(0, nanoseconds / 1e9 - loopResolutionMs / 1e3));
    }
  }

  async #fillFarm({ Gauge }: PromClient, registry: Registry): Promise<void> {
    const counts = await this.#farm?.counts();
    if (counts === undefined) return;
    const { workers, ...jobs } = counts;
    new Gauge({ name: "kiln_farm_workers", help: "workers of the farm", registers: [registry] }).set(workers);
    const depth = new Gauge({
      name: "kiln_farm_jobs",
      help: "jobs of the farm by state",
      labelNames: ["state"],
      registers: [registry],
    });
    for (const [state, count] of Object.entries(jobs)) depth.set({ state }, count);
    // What an autoscaler of the workers looks at.
    const unfinished = { name: "kiln_farm_unfinished_jobs", help: "jobs that wait or run", registers: [registry] };
    new Gauge(unfinished).set(jobs.waiting + jobs.active);
  }
}

async function processMetrics(): Promise<Registry> {
  const { Registry, collectDefaultMetrics } = await loadClient();
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "kiln_" });
  return registry;
}

function fillService({ Counter, Gauge }: PromClient, registry: Registry, service: CompileService): void {
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
  const verified = counter("kiln_cache_verified_total", "hits that were compiled again, by how they compared", [
    "found",
  ]);
  verified.inc({ found: "same" }, stats.verify.checked - stats.verify.wrong);
  verified.inc({ found: "wrong" }, stats.verify.wrong);
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
  const pool = service.poolStats();
  gauge("kiln_workers", "compile workers").set(pool.workers);
  gauge("kiln_workers_running", "compiles running").set(pool.running);
  gauge("kiln_queue_depth", "compiles waiting for a worker").set(pool.waiting);
  counter("kiln_worker_restarts_total", "workers replaced").inc(pool.restarts);
}

/** From the counters of the service: the package's own histogram takes samples only. */
function compileHistogram(service: CompileService): string {
  const { counts, total, sumMicroseconds } = service.compileTimes(compileBuckets.map((seconds) => seconds * 1e6));
  const name = "kiln_compile_duration_seconds";
  return [
    `# HELP ${name} time of a compile in its worker`,
    `# TYPE ${name} histogram`,
    ...compileBuckets.map((limit, i) => `${name}_bucket{le="${limit}"} ${counts[i]}`),
    `${name}_bucket{le="+Inf"} ${total}`,
    `${name}_sum ${sumMicroseconds / 1e6}`,
    `${name}_count ${total}`,
  ].join("\n");
}
