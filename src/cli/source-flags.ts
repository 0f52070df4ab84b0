/** A flag of the command line as a row: for the parser of all commands, and for the small one of a compile alone. */
export interface FlagRow {
  readonly flag: string;
  /** Name of its value; undefined: it takes none. */
  readonly value: string | undefined;
  readonly about: string;
  /** The member of the parsed flags. */
  readonly member: string;
  /** May be given again: its values are a list. */
  readonly isList?: true;
  /** Another name. */
  readonly long?: string;
}

/** The flags that say what a shader is. */
export const sourceFlagRows: readonly FlagRow[] = [
  { flag: "--stage", value: "stage", about: "comp, vert or frag; default by the file's suffix", member: "stage" },
  { flag: "--entry", value: "name", about: "entry point, default main", member: "entry" },
  { flag: "-D", value: "name=value", about: "define a macro", member: "D", isList: true },
  { flag: "-I", value: "dir", about: "search includes here", member: "I", isList: true },
  { flag: "-O", value: "level", about: "optimisation 0, 1 or 2", member: "O" },
  { flag: "--dialect", value: "dialect", about: "vulkan or relaxed", member: "dialect" },
  {
    flag: "--main-image",
    value: undefined,
    about: "a fragment shader of Shadertoy: mainImage alone, in the relaxed dialect",
    member: "mainImage",
  },
  { flag: "--spec", value: "id=value", about: "set a specialisation constant", member: "spec", isList: true },
];

export const outputFlagRow: FlagRow = {
  flag: "-o",
  long: "--output",
  value: "path",
  about: "file, or folder for several; - is standard output",
  member: "output",
};

/** What a compile alone is given. */
export interface PlainArguments {
  readonly files: readonly string[];
  /** By `member`. */
  readonly flags: Readonly<Record<string, string | true | readonly string[]>>;
}

/**
 * Files and flags of a `kiln compile` with none but the rows' flags, read as the parser of all commands reads them.
 * Undefined where there is anything else, or no file.
 */
export function plainArguments(words: readonly string[]): PlainArguments | undefined {
  const rows = [...sourceFlagRows, outputFlagRow];
  const files: string[] = [];
  const flags: Record<string, string | true | string[]> = {};
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (word === "-" || !word.startsWith("-")) {
      files.push(word);
      continue;
    }
    // `--stage=frag`, `-O2`
    const end = word.startsWith("--") ? word.indexOf("=") : 2;
    const name = end < 0 ? word : word.slice(0, end);
    const row = rows.find(({ flag, long }) => flag === name || long === name);
    if (row === undefined) return undefined;
    const attached = name.length === word.length ? undefined : word.slice(word.startsWith("--") ? end + 1 : end);
    if (row.value === undefined) {
      if (attached !== undefined) return undefined;
      flags[row.member] = true;
      continue;
    }
    const value = attached ?? words[++at];
    if (value === undefined) return undefined;
    if (row.isList === true) flags[row.member] = [...((flags[row.member] as string[] | undefined) ?? []), value];
    else flags[row.member] = value;
  }
  return files.length === 0 ? undefined : { files, flags };
}
