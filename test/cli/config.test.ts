import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config.ts";

describe("config", () => {
  it("has the contract's defaults", () => {
    expect(loadConfig({}, { XDG_CACHE_HOME: "/x" })).toMatchObject({
      host: "127.0.0.1",
      port: 7420,
      cacheDir: "/x/kiln",
      apiKey: undefined,
      insecure: false,
    });
  });

  it("prefers flags to variables to defaults", () => {
    const env = { KILN_PORT: "1000", KILN_HOST: "0.0.0.0", KILN_WORKERS: "" };
    expect(loadConfig({ port: "2000" }, env)).toMatchObject({ port: 2000, host: "0.0.0.0" });
    expect(loadConfig({}, env).workers).toBeGreaterThan(0);
  });

  it("names the flag or variable with a wrong value", () => {
    expect(() => loadConfig({ cacheBytes: "1e9" }, {})).toThrow(/--cache-bytes: .*"1e9"/);
    expect(() => loadConfig({}, { KILN_PORT: "70000" })).toThrow(/70000/);
    expect(() => loadConfig({}, { KILN_WORKERS: "0" })).toThrow(/KILN_WORKERS/);
    expect(() => loadConfig({}, { KILN_INSECURE: "maybe" })).toThrow(/KILN_INSECURE/);
  });

  it("reads a file of the same settings, below the environment; refuses what is none", () => {
    const folder = mkdtempSync(join(tmpdir(), "kiln-config-"));
    const file = (content: unknown) => {
      const path = join(folder, "kiln.json");
      writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
      return path;
    };
    const config = file({ port: 1234, insecure: true, verifyRate: 0.5, sharedCache: "redis://localhost" });
    const inForce = { insecure: true, verifyRate: 0.5, sharedCache: "redis://localhost" };
    expect(loadConfig({ config }, {})).toMatchObject({ port: 1234, ...inForce });
    expect(loadConfig({}, { KILN_CONFIG: config, KILN_PORT: "99" })).toMatchObject({ port: 99, ...inForce });
    for (const wrong of [
      { nonsense: 1 },
      { port: "x" },
      { port: [1] },
      [],
      "{",
      { verifyRate: 2 },
      { sharedCache: "x" },
    ]) {
      expect(() => loadConfig({ config: file(wrong) }, {}), JSON.stringify(wrong)).toThrow(/kiln\.json/);
    }
    expect(() => loadConfig({ config: join(folder, "absent") }, {})).toThrow(/absent: no such file/);
    rmSync(folder, { recursive: true });
  });

  it("is frozen", () => {
    expect(Object.isFrozen(loadConfig({}, {}))).toBe(true);
  });
});
