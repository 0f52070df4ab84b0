import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Oracle tools of the test suite and the Debian package that brings each. */
export const oraclePackages = {
  "llvm-mc-19": "llvm-19",
  "llvm-objdump-19": "llvm-19",
  "clang-19": "clang-19",
  "ld.lld-19": "lld-19",
  glslangValidator: "glslang-tools",
  "spirv-val": "spirv-tools",
  "spirv-as": "spirv-tools",
  "spirv-dis": "spirv-tools",
  "redis-server": "redis-server",
} as const;

export type OracleName = keyof typeof oraclePackages;

/** The tool's path, or undefined where it is not installed. */
export function findOracle(name: OracleName): string | undefined {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not in this folder: look in the next one
    }
  }
  return undefined;
}

/** As `findOracle`, but with `CI` set a missing oracle throws: a run there skips nothing. */
export function oracle(name: OracleName): string | undefined {
  const path = findOracle(name);
  if (path === undefined && process.env.CI) {
    throw new Error(`oracle ${name} is missing: install the Debian package ${oraclePackages[name]}`);
  }
  return path;
}

/** Runs an oracle; `input` goes to its standard input. */
export function runOracle(
  name: OracleName,
  args: readonly string[],
  input?: string | Uint8Array,
): { status: number; stdout: string; stderr: string } {
  const path = oracle(name);
  if (path === undefined) throw new Error(`oracle ${name} is missing`);
  const done = spawnSync(path, args, { input, encoding: "utf8", maxBuffer: 1 << 28 });
  if (done.error) throw done.error;
  return { status: done.status ?? -1, stdout: done.stdout, stderr: done.stderr };
}
