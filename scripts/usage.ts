/**
 * Runs a script's command. `--help` (or `-h`) prints `usage` and ends with 0; options and names that it does not have
 * print what is wrong and `usage`, and end with 2.
 */
export async function withUsage(usage: string, args: readonly string[], run: () => Promise<boolean>): Promise<never> {
  if (args.includes("--help") || args.includes("-h")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    process.exit((await run()) ? 0 : 1);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!(error instanceof UsageError) && !code.startsWith("ERR_PARSE_ARGS")) throw error;
    console.error(`${(error as Error).message}\n${usage}`);
    process.exit(2);
  }
}

/** What a caller asked for that there is not. */
export class UsageError extends Error {}

/** A whole number above `least` - 1. UsageError on anything else. */
export function wholeNumber(text: string, what: string, least = 0): number {
  const number = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(number) && number >= least) return number;
  throw new UsageError(`${what}: ${JSON.stringify(text)} is no whole number from ${least} on`);
}
