#!/bin/sh
/**
 * The `kiln` command as CommonJS, which starts in less time than a module. `kiln compile` runs from one script whose
 * compiled form is kept beside it: of a cold compile of a small shader, reading the compiler is the larger part. All else
 * is `kiln.js`. Called by its name, the file is a shell script first: its second line (`scripts/build.ts`) starts node.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { isLoneCompile } from "./lone-compile.ts";

/** Name of the script, with a hash of its text; put in by the build. */
declare const kilnCompileScript: string;

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** The compiler core, which other threads make ready while this one loads the rest. */
async function compileCore(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(readFileSync(join(__dirname, "wasm/compiler.release.wasm")));
}

function compileAlone(): void {
  const core = compileCore();
  // Who compiles awaits it and tells what is wrong; a command line without a compile has no use for it.
  core.catch(() => undefined);
  const filename = join(__dirname, kilnCompileScript);
  // V8's own check refuses what another version or other flags have written.
  const cacheFile = `${filename}.${process.version}-${process.arch}.cache`;
  // The script is ASCII, and is a function already: a text this long is not to be put together here.
  const text = readFileSync(filename, "latin1");
  const cachedData = read(cacheFile);
  const script = new Script(text, { filename, ...(cachedData !== undefined && { cachedData }) });
  if (cachedData === undefined || script.cachedDataRejected === true) {
    // At the end: then what has run is in it.
    process.once("exit", () => {
      try {
        const own = `${cacheFile}.${process.pid}`;
        writeFileSync(own, script.createCachedData());
        renameSync(own, cacheFile);
      } catch {
        // An installation that this user cannot write: the next start is no faster, and that is all.
      }
    });
  }
  script.runInThisContext()(require, __dirname, () => import("./kiln-all.js"), core);
}

if (isLoneCompile(process.argv)) compileAlone();
else void import("./kiln.js");
