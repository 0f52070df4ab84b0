import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** Lines of the `sh` blocks of a page. */
function commandsOf(page: string): string[] {
  const blocks = readFileSync(page, "utf8").matchAll(/^```sh\n([\s\S]*?)^```/gm);
  return [...blocks].flatMap(([, text = ""]) => text.trim().split("\n"));
}

/** What each page promises of its commands, in order: exit status, and what must stand in the output. */
const pages: Readonly<Record<string, readonly (readonly [status: number, output: readonly RegExp[]])[]>> = {
  "docs/learn/README.md": [[0, [/CTX_CREATE/, /VA_MAP/, /DISPATCH_DIRECT/, /WAIT_FENCE/, /^ {2}right$/m]]],
  "docs/triage.md": [
    [1, [/^GPU timeout in exec: halted on request/, /source .*hang\.comp:9:/, /descriptor set 0 binding 0 Flags/]],
    [1, [/^GPU timeout in exec: halted on request/, /source .*hang\.comp:\d+:/]],
    [1, [/ SUBMIT, .*fence -> 1/, / WAIT_FENCE, .*-125 ECANCELED/]],
    [1, [/^api BO 3, /m, /DISPATCH_DIRECT groups 1x1x1/, /^crash dump in kiln-crash-/m]],
  ],
};

describe("commands of the documentation", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "kiln-docs-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  for (const [page, promises] of Object.entries(pages)) {
    const commands = commandsOf(page);
    it(`${page} has the commands that are checked here`, () => {
      expect(commands.length).toBe(promises.length);
    });
    for (const [i, [status, output]] of promises.entries()) {
      it(`${page}: ${commands[i]}`, () => {
        // In a folder of its own, as dumps are written to the current one.
        const words = (commands[i] ?? "").split(" ").filter((word) => word !== "npx");
        const env = { ...process.env, KILN_RUNTIME_DIR: join(folder, "run") };
        while (/^KILN_\w+=/.test(words[0] ?? "")) {
          const [name = "", value = ""] = (words.shift() ?? "").split("=");
          Object.assign(env, { [name]: value });
        }
        const tool =
          words.shift() === "kiln"
            ? [resolve("dist/kiln.js")]
            : ["--import", resolve("node_modules/tsx/dist/esm/index.mjs")];
        const args = words.map((word) => (word.startsWith("examples/") ? resolve(word) : word));
        const done = spawnSync(process.execPath, [...tool, ...args], {
          cwd: folder,
          env,
          encoding: "utf8",
          timeout: 60_000,
        });
        const text = done.stdout + done.stderr;
        for (const expected of output) expect(text).toMatch(expected);
        expect(done.status).toBe(status);
      });
    }
  }
});
