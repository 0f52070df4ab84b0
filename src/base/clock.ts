/** Microseconds of a clock that only goes forwards. The first use of `performance` loads a dozen modules of Node's; this does not. */
export function clockUs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e6 + nanoseconds / 1000;
}
