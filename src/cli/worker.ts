import { startFarmWorker } from "../service/index.ts";
import { CliError, complain, print, type ServeSettings } from "./environment.ts";
import { openService, openTracing } from "./open-service.ts";
import { untilStopped } from "./signals.ts";
import { serveHealth } from "./worker-health.ts";

/** The URL without its password, for people. */
function shownUrl(url: string): string {
  const shown = new URL(url);
  if (shown.password !== "") shown.password = "***";
  return shown.href;
}

/** Takes jobs of a farm until a signal comes; what is left of a running job goes back to the queue. */
export async function worker(settings: ServeSettings): Promise<void> {
  const { redis: url, sharedSecret: secret, workers: width, drainMs } = settings;
  if (url === undefined) throw new CliError(2, "worker: give --redis URL, or set KILN_REDIS");
  const service = openService(settings, await openTracing(settings));
  const stopped = untilStopped();
  const onTrouble = (message: string) => complain(`kiln: ${message}`);
  const options = { url, service, width, onTrouble, ...(secret !== undefined && { secret }) };
  const farmWorker = await startFarmWorker(options).catch(async (error: Error) => {
    await service.close();
    throw new CliError(3, `cannot reach ${shownUrl(url)}: ${error.message}`);
  });
  print(`kiln worker: ${width} compiles at a time, jobs of build ${service.build.buildId} on ${shownUrl(url)}`);
  const { healthPort, host } = settings;
  const watched = {
    check: () => service.checkHealth(),
    isReady: () => service.isReady() && farmWorker.isConnected(),
  };
  const stopHealth =
    healthPort === undefined
      ? undefined
      : await serveHealth(host, healthPort, watched).catch(async (error: Error) => {
          await farmWorker.close(drainMs);
          await service.close();
          throw error;
        });
  await stopped;
  await stopHealth?.();
  await farmWorker.close(drainMs);
  await service.close(drainMs);
  print(`kiln worker: stopped after ${farmWorker.jobsDone()} jobs`);
}
