import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** What the reference compiler says of a shader. */
export interface Verdict {
  readonly ok: boolean;
  /** Line of the first error; 0 where it gives none. */
  readonly line: number;
  readonly message: string;
  /** The environment that took it, or the last one tried. */
  readonly env: "vulkan1.0" | "vulkan1.2";
}

interface Run {
  readonly status: number;
  readonly output: string;
}

/** Runs a command; its standard output and error together. A run of over 20 seconds counts as failed. */
export function run(command: string, args: readonly string[]): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], timeout: 20_000 });
    let output = "";
    child.stdout.setEncoding("latin1").on("data", (text: string) => {
      output += text;
    });
    child.stderr.setEncoding("latin1").on("data", (text: string) => {
      output += text;
    });
    child.on("error", reject);
    child.on("close", (status) => resolve({ status: status ?? -1, output }));
  });
}

/** `work` on each item, `jobs` at a time. */
export async function each<T>(items: readonly T[], jobs: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) await work(items[at]!);
  };
  await Promise.all(Array.from({ length: jobs }, lane));
}

/** Asks glslangValidator; answers are kept in `cacheFile` by the text's hash, since each takes a process. */
export class Reference {
  private readonly cacheFile: string | undefined;
  private readonly known: Record<string, Verdict> = {};

  constructor(cacheFile: string | undefined) {
    this.cacheFile = cacheFile;
    if (cacheFile !== undefined && existsSync(cacheFile)) {
      Object.assign(this.known, JSON.parse(readFileSync(cacheFile, "utf8")));
    }
  }

  async verdict(file: string, suffix: string): Promise<Verdict> {
    const key = createHash("sha256").update(suffix).update(readFileSync(file)).digest("hex");
    const known = this.known[key];
    if (known !== undefined) return known;
    const verdict = await this.ask(file, suffix);
    this.known[key] = verdict;
    return verdict;
  }

  private async ask(file: string, suffix: string): Promise<Verdict> {
    let last: Verdict = { ok: false, line: 0, message: "no answer", env: "vulkan1.2" };
    for (const env of ["vulkan1.0", "vulkan1.2"] as const) {
      const args = ["-V", "--target-env", env, "-S", suffix, "-o", "/dev/null", file];
      const { status, output } = await run("glslangValidator", args);
      if (status === 0) return { ok: true, line: 0, message: "", env };
      const first = /^ERROR: [^\n]*?:(\d+): (.*)$/m.exec(output);
      const other = output.split("\n").find((line) => line.startsWith("ERROR")) ?? output.slice(0, 200);
      last = { ok: false, line: Number(first?.[1] ?? 0), message: first?.[2] ?? other, env };
    }
    return last;
  }

  save(): void {
    if (this.cacheFile !== undefined) writeFileSync(this.cacheFile, JSON.stringify(this.known));
  }
}
