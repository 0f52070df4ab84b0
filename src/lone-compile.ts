const others = ["--version", "--warm"];

/** Whether a command line (`process.argv`) is a `kiln compile` that starts no workers: it has a bundle of its own. */
export const isLoneCompile = (argv: readonly string[]): boolean =>
  argv[2] === "compile" && !others.some((flag) => argv.includes(flag));
