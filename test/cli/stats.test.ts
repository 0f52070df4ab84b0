import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { brokenBounds, parseBudget } from "../../src/cli/budget.ts";
import { type StatRow, statNames } from "../../src/cli/stat-rows.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "kiln-stats-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const kernels = "examples/kernels";
const saved = () => join(folder, "saved.json");
function stats(...args: string[]) {
  const done = spawnSync(process.execPath, ["dist/kiln.js", "stats", ...args], { encoding: "utf8" });
  return { status: done.status, stdout: done.stdout, stderr: done.stderr };
}
interface Saved {
  shaders: { name: string; stats: Record<string, number> }[];
}

/** The saved file with one value of one shader moved by `by`. */
function savedWith(name: string, stat: string, by: number): string {
  const all = JSON.parse(readFileSync(saved(), "utf8")) as Saved;
  const row = all.shaders.find((shader) => shader.name.endsWith(name));
  if (row === undefined) throw new Error(`no ${name}`);
  row.stats[stat] = (row.stats[stat] as number) + by;
  const file = join(folder, "moved.json");
  writeFileSync(file, JSON.stringify(all));
  return file;
}

describe("kiln stats", () => {
  it("prints a row a shader and a total that adds up, and saves the rows", () => {
    const done = stats(kernels, "--save", saved(), "--format", "json");
    expect(done).toMatchObject({ status: 0, stderr: "" });
    const { shaders, total } = JSON.parse(done.stdout) as Saved & { total: Record<string, number> };
    expect(shaders.map(({ name }) => name)).toEqual(
      ["mandelbrot", "matmul_naive", "matmul_tiled", "nbody", "reduce", "saxpy"].map(
        (name) => `${kernels}/${name}.comp`,
      ),
    );
    const all = (stat: string) => shaders.map((shader) => shader.stats[stat] as number);
    expect(total.instructions).toBe(all("instructions").reduce((a, b) => a + b));
    expect(total.vgprs).toBe(Math.max(...all("vgprs")));
    expect(total.occupancyWaves).toBe(Math.min(...all("occupancyWaves")));
    // The tiled product keeps two tiles of 16 by 16 floats.
    expect(shaders[2]?.stats.ldsBytes).toBe(2 * 16 * 16 * 4);
    expect((JSON.parse(readFileSync(saved(), "utf8")) as Saved).shaders).toEqual(shaders);
  });

  it("shows differences from the saved file, and ends with 1 over budget", () => {
    const same = stats(kernels, "--compare", saved(), "--budget", "instructions<=+0,vgprs<=+0");
    expect(same).toMatchObject({ status: 0, stderr: "" });
    expect(same.stdout).not.toContain("(");
    const fewer = savedWith("saxpy.comp", "instructions", -1);
    const over = stats(kernels, "--compare", fewer, "--budget", "instructions<=+0");
    expect(over.status).toBe(1);
    expect(over.stderr).toMatch(
      /^examples\/kernels\/saxpy\.comp: over budget: instructions \d+ -> \d+, budget instructions<=\+0\n$/,
    );
    expect(over.stdout).toMatch(/saxpy\.comp +\d+ \(\+1\)/);
    expect(stats(kernels, "--compare", fewer, "--budget", "instructions<=+50%").status).toBe(0);
    const csv = stats(kernels, "--compare", fewer, "--format", "csv").stdout.trim().split("\n");
    expect(csv[0]).toBe(`shader,${statNames.map((name) => `${name},${name}Difference`).join(",")}`);
    expect(csv.filter((line) => /^[^,]+,\d+,1,/.test(line)).map((line) => line.split(",")[0])).toEqual([
      `${kernels}/saxpy.comp`,
      "total",
    ]);
  });

  it("goes on after a bad shader, names what is gone, and writes JUnit", () => {
    const bad = join(folder, "bad.frag");
    writeFileSync(bad, '#version 450\nvoid main() { "<&>" }\n');
    const done = stats(bad, `${kernels}/saxpy.comp`, "--compare", saved(), "--format", "junit");
    expect(done.status).toBe(1);
    expect(done.stdout).toContain('<testsuite name="kiln stats" tests="2" failures="1">');
    expect(done.stdout).toContain(`<testcase classname="kiln.stats" name="${kernels}/saxpy.comp"/>`);
    expect(done.stdout).toMatch(new RegExp(`name="${bad}"><failure message="${bad}:2:\\d+: error: `));
    expect(done.stderr).toContain("nbody.comp: saved, but no longer among the shaders");
    expect(done.stderr).toContain(`${bad}: new, there is nothing saved to compare it with`);
    expect(done.stderr).not.toContain("saxpy.comp: new");
  });

  it("refuses a wrong command line with 2", () => {
    for (const args of [
      [kernels, "--budget", "instructions<=+1%"],
      [kernels, "--budget", "instructions<1"],
      [kernels, "--budget", "beauty<=1"],
      [kernels, "--budget", "vgprs<=1%"],
      [kernels, "--compare", "package.json"],
      [kernels, "--compare", join(folder, "nothing.json")],
      [kernels, "--format", "xml"],
      [join(folder, "nothing")],
      [],
    ]) {
      expect([args, stats(...args).status]).toEqual([args, 2]);
    }
    expect(stats(kernels, "--budget", "vgprs<=1").status).toBe(1);
  });

  it("holds bounds both ways, to the value, the difference and the percentage", () => {
    const row = (value: number): StatRow => ({
      name: "x",
      stats: Object.fromEntries(statNames.map((name) => [name, value])) as unknown as StatRow["stats"],
    });
    const broken = (now: number, before: number | undefined, text: string) =>
      brokenBounds(row(now), before === undefined ? undefined : row(before), parseBudget(text)).length;
    expect(broken(101, 100, "instructions<=+1%")).toBe(0);
    expect(broken(102, 100, "instructions<=+1%")).toBe(1);
    expect(broken(98, 100, "occupancyWaves>=-2")).toBe(0);
    expect(broken(97, 100, "occupancyWaves>=-2")).toBe(1);
    expect(broken(99, 100, "vgprs<=-2%,sgprs<=-1")).toBe(1);
    expect(broken(64, undefined, "vgprs<=64,vgprs<=+0")).toBe(0);
    expect(broken(65, undefined, "vgprs<=64")).toBe(1);
  });
});

describe("the example of an action", () => {
  interface Action {
    readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
    readonly runs: { readonly using: string; readonly steps: readonly Step[] };
  }
  interface Step {
    readonly shell: string;
    readonly run: string;
    readonly env: Readonly<Record<string, string>>;
  }

  /** Runs the step as a runner does: inputs put into `env`, the script by bash that ends at the first failure. */
  function runAction(given: Readonly<Record<string, string>>) {
    const { inputs, runs } = parse(readFileSync("examples/github-action/action.yml", "utf8")) as Action;
    expect(runs.using).toBe("composite");
    const [step] = runs.steps;
    if (step === undefined) throw new Error("no step");
    expect(step.shell).toBe("bash");
    const inputOf = (_all: string, name: string) => given[name] ?? inputs[name]?.default ?? "";
    const env = Object.entries(step.env).map(([name, text]) => [
      name,
      text.replace(/\$\{\{ inputs\.(\w+) \}\}/g, inputOf),
    ]);
    return spawnSync("bash", ["-e", "-o", "pipefail", "-c", step.run], {
      env: { ...process.env, ...Object.fromEntries(env) },
      encoding: "utf8",
    });
  }

  it("passes within the budget and fails the build over it, with a report", () => {
    mkdirSync(join(folder, "out"));
    const given = {
      paths: kernels,
      junit: join(folder, "out/budget.xml"),
      kiln: `${process.execPath} ${resolve("dist/kiln.js")}`,
    };
    expect(runAction({ ...given, baseline: saved() }).status).toBe(0);
    expect(readFileSync(given.junit, "utf8")).toContain('tests="6" failures="0"');
    const over = runAction({ ...given, baseline: savedWith("nbody.comp", "vgprs", -1) });
    expect(over.status).toBe(1);
    expect(readFileSync(given.junit, "utf8")).toContain('tests="6" failures="1"');
  });
});
