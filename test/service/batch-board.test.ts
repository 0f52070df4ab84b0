import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { Batch } from "../../src/service/batch.ts";
import { BatchBoard } from "../../src/service/batch-board.ts";
import { startRedis, stopRedis } from "../cache/redis-process.ts";

it("a batch is shown whole though Redis goes and comes back empty in its middle", async () => {
  const first = await startRedis();
  const clients = [0, 1].map(() => new Redis(first.url, { maxRetriesPerRequest: 1 }));
  for (const client of clients) client.on("error", () => {});
  const [owner, other] = clients.map((client) => new BatchBoard(async () => client)) as [BatchBoard, BatchBoard];
  const batch = new Batch(6);
  const add = (n: number) => batch.add({ ok: true, line: `{"index":${n}}` });
  await owner.follow(batch);
  for (const n of [0, 1, 2]) add(n);
  const watched = await other.find(batch.id);
  while ((watched?.results.length ?? 3) < 3) await watched?.changed();
  await stopRedis(first);
  for (const n of [3, 4]) add(n);
  await sleep(300);
  // Not to be seen, which says nothing of its end.
  await watched?.changed();
  expect(watched?.progress().state).toBe("running");
  const second = await startRedis(first.port);
  add(5);
  batch.end("done");
  await owner.close();
  while (watched?.progress().state === "running") await watched.changed();
  const all = [0, 1, 2, 3, 4, 5].map((n) => `{"index":${n}}`);
  expect(watched?.results).toEqual(all);
  expect(watched?.progress()).toMatchObject({ state: "done", total: 6, done: 6, failed: 0 });
  const later = await other.find(batch.id);
  await later?.load();
  expect(later?.results).toEqual(all);
  for (const client of clients) client.disconnect();
  await stopRedis(second);
}, 30_000);
