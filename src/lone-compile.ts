const others = ["--version", "--warm", "--emit", "--dump-after", "--server", "--cache-dir"];

/**
 * Whether a command line (`process.argv`) is a `kiln compile` to ELF files in this process alone: it has a script of its
 * own, in which nothing else is.
 */
export const isLoneCompile = (argv: readonly string[]): boolean =>
  argv[2] === "compile" && !argv.some((word) => others.includes(word.split("=", 1)[0] as string));
