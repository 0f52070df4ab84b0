import { HttpStore } from "./http-store.ts";
import { loadRedis, missingRedisPackage } from "./redis-store.ts";
import type { StoreOpener } from "./shared-store.ts";

const isHttp = (url: string) => /^https?:/i.test(url);

/** Why this URL names no store that can be used here; undefined where it does. Nothing is loaded or asked. */
export function storeProblem(url: string): string | undefined {
  if (isHttp(url)) return undefined;
  return /^rediss?:/i.test(url) ? missingRedisPackage() : "expected redis://… or http://…";
}

/** Loads the client of the store that a URL names. */
export async function loadStore(url: string, timeoutMs: number): Promise<StoreOpener> {
  return isHttp(url) ? async () => new HttpStore(url, timeoutMs) : loadRedis(url, timeoutMs);
}
