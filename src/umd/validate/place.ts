/** Frames kept: the driver's own above the application's call are few. */
const FRAMES = 24;
/** This file lies two folders below what counts as the driver. */
const driver = new URL("../", import.meta.url).href;

/** The first frame of the stack outside the driver: `file:line:column`. In a bundle, where all is one file: the outermost. */
export function callerPlace(): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  const stack = new Error().stack ?? "";
  Error.stackTraceLimit = limit;
  const frames = stack
    .split("\n")
    .slice(1)
    .map((line) => /\(?((?:file:\/\/)?[^()\s]+:\d+:\d+)\)?$/.exec(line)?.[1] ?? "")
    .filter((frame) => frame !== "" && !frame.startsWith("node:"));
  const path = driver.replace("file://", "");
  const outside = frames.find((frame) => !frame.replace("file://", "").startsWith(path));
  return (outside ?? frames.at(-1) ?? "unknown place").replace("file://", "");
}
