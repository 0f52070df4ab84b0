import type { Statistics } from "../codeobj/index.ts";

/** How a column sums up: counts add, of registers the most counts, of occupancy the least. */
const columns = {
  instructions: "sum",
  codeSizeBytes: "sum",
  sgprs: "max",
  vgprs: "max",
  sgprsAllocated: "max",
  vgprsAllocated: "max",
  spilledSgprs: "sum",
  spilledVgprs: "sum",
  ldsBytes: "max",
  scratchBytes: "max",
  occupancyWaves: "min",
  branches: "sum",
  waits: "sum",
  salu: "sum",
  valu: "sum",
  smem: "sum",
  vmem: "sum",
  lds: "sum",
  exports: "sum",
  estimatedCycles: "sum",
  contractions: "sum",
} as const satisfies Record<keyof Statistics, "sum" | "max" | "min">;

export type StatName = keyof Statistics;
export const statNames = Object.keys(columns) as readonly StatName[];
export const isStatName = (text: string): text is StatName => Object.hasOwn(columns, text);

/** One shader of a run of `kiln stats`. */
export interface StatRow {
  readonly name: string;
  readonly stats: Statistics;
}

/** What all shaders come to. */
export function totalOf(rows: readonly StatRow[]): StatRow {
  const merge = {
    sum: (a: number, b: number) => a + b,
    max: (a: number, b: number) => Math.max(a, b),
    min: (a: number, b: number) => Math.min(a, b),
  };
  const entries = statNames.map((name) => {
    const values = rows.map(({ stats }) => stats[name]);
    return [name, values.length === 0 ? 0 : values.reduce((a, b) => merge[columns[name]](a, b))] as const;
  });
  return { name: "total", stats: Object.fromEntries(entries) as unknown as Statistics };
}

/** One shader beside what was saved of it. */
export interface Compared {
  readonly row: StatRow;
  readonly saved: StatRow | undefined;
  /** Bounds that it breaks, in words. */
  readonly broken: readonly string[];
}

const shown = [
  "instructions",
  "codeSizeBytes",
  "vgprs",
  "sgprs",
  "spilledVgprs",
  "spilledSgprs",
  "ldsBytes",
  "scratchBytes",
  "occupancyWaves",
  "estimatedCycles",
] as const satisfies readonly StatName[];

const heads: Readonly<Record<(typeof shown)[number], string>> = {
  instructions: "instructions",
  codeSizeBytes: "bytes",
  vgprs: "vgprs",
  sgprs: "sgprs",
  spilledVgprs: "vspills",
  spilledSgprs: "sspills",
  ldsBytes: "lds",
  scratchBytes: "scratch",
  occupancyWaves: "waves",
  estimatedCycles: "cycles",
};

function cell({ row, saved }: Compared, name: StatName): string {
  const now = row.stats[name];
  const difference = now - (saved?.stats[name] ?? now);
  return difference === 0 ? String(now) : `${now} (${difference > 0 ? "+" : ""}${difference})`;
}

/** Columns for people; differences in parentheses. The last of the rows is the total. */
export function tableOf(rows: readonly Compared[]): string {
  const lines = [
    ["shader", ...shown.map((name) => heads[name])],
    ...rows.map((compared) => [compared.row.name, ...shown.map((name) => cell(compared, name))]),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  return lines
    .map((line) =>
      line
        .map((text, column) => (column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0)))
        .join("  "),
    )
    .join("\n");
}

const quoted = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Every statistic, a line a shader; beside a saved file each has a column of its difference, empty for a new shader. */
export function csvOf(rows: readonly Compared[], isCompared: boolean): string {
  const names = isCompared ? statNames.flatMap((name) => [name, `${name}Difference`]) : statNames;
  const lines = rows.map(({ row, saved }) =>
    statNames.flatMap((name) => {
      const now = row.stats[name];
      if (!isCompared) return [String(now)];
      return [String(now), saved === undefined ? "" : String(now - saved.stats[name])];
    }),
  );
  return [
    ["shader", ...names].join(","),
    ...rows.map(({ row }, i) => [quoted(row.name), ...(lines[i] ?? [])].join(",")),
  ].join("\n");
}
