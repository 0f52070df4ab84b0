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

  it("is frozen", () => {
    expect(Object.isFrozen(loadConfig({}, {}))).toBe(true);
  });
});
