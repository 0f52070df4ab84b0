#!/usr/bin/env node
import * as nodeModule from "node:module";
import { isLoneCompile } from "./lone-compile.ts";

if (isLoneCompile(process.argv)) {
  nodeModule.createRequire(import.meta.url)("./kiln.cjs");
} else {
  // Node 22.8 and later keep compiled JavaScript between processes, which a cold start is half made of; Node 20 has no such call.
  (nodeModule as { enableCompileCache?: () => unknown }).enableCompileCache?.();

  // Imported after that: static imports are compiled before the first statement runs.
  await import("./kiln-all.ts");
}
