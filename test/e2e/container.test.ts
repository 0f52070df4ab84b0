import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../cache/redis-process.ts";

/** The image's settings and command, from its Dockerfile. */
function imageOf(dockerfile: string) {
  const last = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
  const line = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(last)?.[1] ?? "";
  const env = Object.fromEntries(
    line("ENV")
      .split(" ")
      .map((pair) => pair.split("=") as [string, string]),
  );
  const health = /^HEALTHCHECK .*\\\n\s+CMD (\[.*\])$/m.exec(last)?.[1] ?? "[]";
  return {
    env,
    command: JSON.parse(line("CMD")) as string[],
    health: JSON.parse(health) as string[],
    volume: line("VOLUME"),
    user: line("USER"),
    stopSignal: line("STOPSIGNAL"),
  };
}
const image = imageOf(readFileSync("Dockerfile", "utf8"));

/** A mount namespace where only the cache folder can be written; needs root. */
const probe = spawnSync("unshare", ["--mount", "mount", "-o", "remount,bind,ro", "/"], { encoding: "utf8" });
const reason = probe.error?.message ?? probe.stderr.trim();
const isPossible = spawnSync("unshare", ["--mount", "true"]).status === 0 && process.getuid?.() === 0;
if (!isPossible) console.log(`no mount namespaces here (${reason}): the tests of the read-only root are skipped`);

/**
 * As a container starts: every mount but the volume read-only, no folder for temporary files, a user of its own, the
 * image's settings and command.
 */
const script = `set -e
mount --make-rprivate /
mount --bind "$CACHE" "$CACHE"
mount --rbind / "$ROOT" 2>/dev/null || mount --bind / "$ROOT"
awk -v root="$ROOT" 'index($5, root) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r at; do
  case "$at" in
    "$ROOT$CACHE") ;;
    "$ROOT"/proc*|"$ROOT"/sys*|"$ROOT"/dev*) ;;
    *) mount -o remount,bind,ro "$at" ;;
  esac
done
cd "$ROOT$APP"
exec chroot --userspec=1000:1000 "$ROOT" /bin/sh -c 'cd "$APP" && exec "$@"' sh "$@"
`;

describe.skipIf(!isPossible)("the image's command on a read-only root", () => {
  let folder: string;
  let port: number;
  let child: ChildProcess;
  let log = "";
  const cache = () => join(folder, "cache");
  const variables = () => ({
    PATH: process.env.PATH ?? "",
    CACHE: cache(),
    ROOT: join(folder, "root"),
    APP: resolve("."),
    ...image.env,
    KILN_CACHE_DIR: cache(),
    KILN_PORT: String(port),
    KILN_API_KEY: "check",
    KILN_WORKERS: "1",
    KILN_DRAIN_MS: "60000",
    KILN_TIME_LIMIT_MS: "60000",
    HOME: "/nonexistent",
  });
  const inside = (command: readonly string[]) =>
    ["--mount", "--propagation", "private", "sh", "-c", script, "sh", ...command] as const;
  const address = () => `http://127.0.0.1:${port}`;
  const authorization = { authorization: "Bearer check" };
  const compile = (source: string) =>
    fetch(`${address()}/compile`, {
      method: "POST",
      headers: { ...authorization, "content-type": "application/json" },
      body: JSON.stringify({ stage: "compute", source }),
    });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "kiln-container-"));
    spawnSync("chmod", ["755", folder]);
    for (const name of ["cache", "root"]) mkdirSync(join(folder, name));
    spawnSync("chown", ["1000:1000", cache()]);
    port = await freePort();
    child = spawn("unshare", inside(image.command), { env: variables(), stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => (log += String(data)));
    for (let tries = 0; ; tries++) {
      const ready = await fetch(`${address()}/health/ready`).catch(() => undefined);
      if (ready?.status === 200) break;
      if (tries > 300 || child.exitCode !== null) throw new Error(`not ready: ${log}`);
      await new Promise((wait) => setTimeout(wait, 100));
    }
  });
  afterAll(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it("cannot write where the image may not", () => {
    expect(image).toMatchObject({ volume: image.env.KILN_CACHE_DIR, user: "node", stopSignal: "SIGTERM" });
    const tried = ["/tmp/x", "/var/tmp/x", `${resolve(".")}/x`, "/dev/shm/../../x", `${cache()}/x`].map((path) => {
      const write = `try { fs.writeFileSync(${JSON.stringify(path)}, ""); fs.unlinkSync(${JSON.stringify(path)}); console.log("can"); } catch (e) { console.log(e.code); }`;
      return spawnSync("unshare", inside(["node", "-e", write]), { env: variables(), encoding: "utf8" }).stdout.trim();
    });
    expect(tried).toEqual(["EROFS", "EROFS", "EROFS", "EROFS", "can"]);
  });

  it("listens on every address, compiles, keeps the record in the volume, and is healthy by the image's own check", async () => {
    const source = readFileSync("examples/kernels/saxpy.comp", "utf8");
    expect((await fetch(`${address()}/version`)).status).toBe(401);
    const answer = await compile(source);
    expect(answer.status).toBe(200);
    const { key } = (await answer.json()) as { key: string };
    const stats = (await (await fetch(`${address()}/cache/stats`, { headers: authorization })).json()) as {
      tiers: { name: string; entries: number; errors: number }[];
    };
    expect(stats.tiers.find(({ name }) => name === "disk")).toMatchObject({ entries: 1, errors: 0 });
    expect((await fetch(`${address()}/artifacts/${key}`, { headers: authorization })).status).toBe(200);
    const [program = "", ...args] = image.health;
    expect(spawnSync(program, args, { env: variables() }).status).toBe(0);
    expect(spawnSync(program, args, { env: { ...variables(), KILN_PORT: "1" } }).status).toBe(1);
  });

  it("drains at the image's stop signal: what runs is answered, event streams end, the status is 0", async () => {
    const many = Array.from({ length: 300 }, (_, i) => ({
      stage: "compute",
      source: `#version 450\nlayout(local_size_x = 64) in;\nlayout(std430, binding = 0) buffer B { uint x[]; };\nvoid main() { x[0] = ${i}u; }\n`,
    }));
    const batch = await fetch(`${address()}/batch`, {
      method: "POST",
      headers: { ...authorization, "content-type": "application/json" },
      body: JSON.stringify({ shaders: many }),
    });
    const { id } = (await batch.json()) as { id: string };
    const events = await fetch(`${address()}/batch/${id}/events`, { headers: authorization });
    const streamed = events.text();
    // Waits behind the batch's own shader, so that the signal comes while it runs or waits.
    const last = compile(many[0]?.source.replace("x[0]", "x[1]") ?? "");
    for (;;) {
      const text = await (await fetch(`${address()}/metrics`, { headers: authorization })).text();
      if (Number(/^kiln_compile_requests_total (\d+)$/m.exec(text)?.[1]) > 3) break;
    }
    child.kill(image.stopSignal as NodeJS.Signals);
    const ended = once(child, "exit");
    expect((await last).status).toBe(200);
    const text = await streamed;
    expect(text).toContain("id: 1\n");
    expect(text).not.toContain("event: done");
    expect(await ended).toEqual([0, null]);
    await expect(fetch(`${address()}/health/live`)).rejects.toThrow();
  });
});
