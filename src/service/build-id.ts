import { readFileSync } from "node:fs";
import { Bug, distFile } from "../base/index.ts";

export interface BuildInfo {
  readonly version: string;
  /** Hash of every shipped file that compilation reaches; part of every cache key. */
  readonly buildId: string;
}

/** What the build wrote beside the bundles. */
export function readBuildInfo(): BuildInfo {
  try {
    return JSON.parse(readFileSync(distFile("build-id.json"), "utf8")) as BuildInfo;
  } catch (error) {
    throw new Bug(`no build id: run \`npm run build\` first (${(error as Error).message})`);
  }
}
