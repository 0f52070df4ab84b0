import { readFileSync } from "node:fs";
import { fileProblem } from "../base/index.ts";
import { createClient } from "../client/index.ts";
import type { ShaderCompiler } from "../codeobj/index.ts";
import { type DriverManifest, readManifest } from "../umd/index.ts";
import { CliError, complain, type ServeSettings } from "./environment.ts";
import { remoteService } from "./remote.ts";

function load(path: string): DriverManifest {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError(3, `KILN_ICD_FILENAMES: manifest ${path}: ${fileProblem(error)}`);
  }
  return readManifest(path, text);
}

/**
 * Where pipelines are compiled: by `--server`, else as the first manifest of `KILN_ICD_FILENAMES` says, else in this
 * process. Every manifest must be right: one that is not ends the command, with its path.
 */
export function driverCompiler(settings: ServeSettings, inProcess: () => ShaderCompiler): ShaderCompiler {
  const { icdFilenames, debug, apiKey } = settings;
  const [manifest] = icdFilenames.map(load);
  const service = remoteService(settings);
  if (service !== undefined) return service;
  if (manifest === undefined) return inProcess();
  const { path, apiVersion, driverVersion, compile } = manifest;
  if (debug.includes("api")) {
    complain(
      `api driver kiln ${driverVersion}, API ${apiVersion}, from ${path}: compiles ${compile ?? "in this process"}`,
    );
  }
  if (compile === undefined) return inProcess();
  return createClient({ baseUrl: compile, ...(apiKey === undefined ? {} : { apiKey }) });
}
