/** Whether a command line (`process.argv`) is `kiln compile`, which has a bundle of its own. */
export const isLoneCompile = (argv: readonly string[]): boolean =>
  argv[2] === "compile" && !argv.includes("--version");
