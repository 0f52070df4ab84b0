import { fileProblem, isFileError } from "../base/index.ts";
import { CliError, complain } from "./environment.ts";

/** Tells what ended a command, and answers the exit status of it. */
export function statusOf(error: unknown): number {
  if (error instanceof CliError) {
    complain(error.status === 3 ? `kiln: ${error.message}` : error.message);
    return error.status;
  }
  if (error instanceof Error && error.name === "ConfigError") {
    complain(error.message);
    return 2;
  }
  // The driver tells by itself what it refuses for want of memory; its VALIDATION is misuse, which the commands prevent.
  if (error instanceof Error && error.name === "DriverError" && !error.message.startsWith("VALIDATION")) {
    complain(`kiln: ${error.message}`);
    return 3;
  }
  if (isFileError(error)) {
    complain(`kiln: ${error.path === undefined ? "" : `${error.path}: `}${fileProblem(error)}`);
    return 3;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  complain(`kiln: this is a mistake of ours; please report it with the command line and:\n${text}`);
  return 3;
}
