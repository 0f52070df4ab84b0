#!/usr/bin/env node
import { main } from "./cli/index.ts";
import { loadConfig, searchPath } from "./config.ts";

process.exitCode = await main(process.argv.slice(2), { loadConfig, searchPath: searchPath() });
