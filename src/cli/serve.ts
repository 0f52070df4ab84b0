import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileProblem } from "../base/index.ts";
import {
  type Access,
  type ApiKey,
  hashKey,
  isLoopbackAddress,
  parseApiKeys,
  type Server,
  startServer,
} from "../http/index.ts";
import { type CompileService, Farm, type Tracing } from "../service/index.ts";
import { CliError, complain, print, type ServeSettings } from "./environment.ts";
import { openService, openTracing } from "./open-service.ts";
import { untilStopped } from "./signals.ts";

const healthEveryMs = 5000;

function keysOf(settings: ServeSettings): ApiKey[] {
  const keys: ApiKey[] = [];
  if (settings.apiKey !== undefined) keys.push({ role: "admin", sha256: hashKey(settings.apiKey) });
  if (settings.apiKeys === undefined) return keys;
  try {
    const read = parseApiKeys(readFileSync(settings.apiKeys, "utf8"));
    if (read.length === 0) throw new CliError(2, `--api-keys ${settings.apiKeys}: there is no key in it`);
    keys.push(...read);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(2, `--api-keys ${settings.apiKeys}: ${fileProblem(error)}`);
  }
  return keys;
}

/** On loopback no key is needed; elsewhere one is, and is made where none is given. */
function accessOf(settings: ServeSettings): { readonly access: Access; readonly made?: string } {
  const loopback = isLoopbackAddress(settings.host);
  if (settings.insecure) return { access: { loopback, keys: undefined } };
  const keys = keysOf(settings);
  if (keys.length > 0) return { access: { loopback, keys: loopback ? undefined : keys } };
  if (loopback) return { access: { loopback, keys: undefined } };
  const made = randomBytes(24).toString("base64url");
  return { access: { loopback, keys: [{ role: "admin", sha256: hashKey(made) }] }, made };
}

/** One line to try: a compile of a shader that is small enough for a shell. */
function curlLine(address: string, key: string | undefined): string {
  const shader =
    "#version 450\\nlayout(local_size_x=64) in; layout(std430,binding=0) buffer B { float x[]; }; void main(){ x[gl_GlobalInvocationID.x] *= 2.0; }";
  const auth = key === undefined ? "" : ` -H 'authorization: Bearer ${key}'`;
  return `curl -s ${address}/compile${auth} -H 'content-type: application/json' -d '{"stage":"compute","source":"${shader}","emit":["asm","stats"]}'`;
}

function openFarm({ redis: url, sharedSecret: secret }: ServeSettings, service: CompileService): Farm | undefined {
  if (url === undefined) return undefined;
  const { buildId } = service.build;
  const onTrouble = (message: string) => complain(`kiln: ${message}`);
  return new Farm({ url, buildId, onTrouble, ...(secret !== undefined && { secret }) });
}

interface Serving {
  readonly service: CompileService;
  readonly access: Access;
  readonly farm: Farm | undefined;
  readonly tracing: Tracing | undefined;
}

async function listen(settings: ServeSettings, { service, access, farm, tracing }: Serving): Promise<Server> {
  const { bodyBytes, timeLimitMs, memoryLimitMb, maxWaiting, workers, logLevel, rateLimit } = settings;
  const limits = { bodyBytes, timeLimitMs, memoryLimitMb, maxWaiting, workers };
  try {
    const optional = { ...(farm !== undefined && { farm }), ...(tracing !== undefined && { tracing }) };
    const options = { service, access, limits, logLevel, rateLimit, ...optional };
    return await startServer(options, settings.host, settings.port);
  } catch (error) {
    await service.close();
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new CliError(3, `port ${settings.port} is taken: stop what uses it, or give --port`);
    throw new CliError(3, `cannot listen on ${settings.host}:${settings.port}: ${message}`);
  }
}

/** Serves until a signal comes; then drains. A second signal ends it at once. */
export async function serve(settings: ServeSettings): Promise<void> {
  const { access, made } = accessOf(settings);
  const tracing = await openTracing(settings);
  const service = openService(settings, tracing);
  const farm = openFarm(settings, service);
  const server = await listen(settings, { service, access, farm, tracing });
  const address = server.address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
  print(`kiln listens on ${server.address}`);
  if (made !== undefined) print(`API key, made for this run: ${made}`);
  print(`try: ${curlLine(address, made ?? (access.keys === undefined ? undefined : "$KILN_API_KEY"))}`);

  let isChecking = false;
  const check = async () => {
    if (isChecking) return;
    isChecking = true;
    await service.checkHealth();
    isChecking = false;
  };
  void check();
  const health = setInterval(() => void check(), healthEveryMs);

  await untilStopped();
  clearInterval(health);
  await server.close(settings.drainMs);
  await farm?.close(settings.drainMs);
  await service.close(settings.drainMs);
}
