import { CliError } from "./environment.ts";
import { isStatName, type StatName, type StatRow, statNames } from "./stat-rows.ts";

/** One bound: of the value itself, or of how it differs from the saved one. */
export interface Bound {
  readonly text: string;
  readonly stat: StatName;
  readonly operator: "<=" | ">=";
  readonly amount: number;
  readonly kind: "value" | "difference" | "percent";
}

/** Reads `instructions<=+1%,vgprs<=+0,scratchBytes<=0`: a sign makes it relative to the saved value. Errors: `CliError` 2. */
export function parseBudget(text: string): Bound[] {
  return text.split(",").map((part) => {
    const match = /^\s*(\w+)\s*(<=|>=)\s*([+-]?)(\d+(?:\.\d+)?)(%?)\s*$/.exec(part);
    const [, stat = "", operator = "", sign = "", number = "", percent = ""] = match ?? [];
    if (match === null || (percent !== "" && sign === "")) {
      throw new CliError(2, `--budget ${part.trim()}: expected NAME<=+N, NAME<=+N% or NAME<=N, or with >=`);
    }
    if (!isStatName(stat)) {
      throw new CliError(2, `--budget: there is no statistic ${stat}; there are: ${statNames.join(" ")}`);
    }
    const kind = percent !== "" ? "percent" : sign !== "" ? "difference" : "value";
    const amount = Number(number) * (sign === "-" ? -1 : 1);
    return { text: part.trim(), stat, operator: operator as Bound["operator"], amount, kind };
  });
}

/** The bounds that a row breaks, in words. A shader that was not saved has no difference. */
export function brokenBounds(row: StatRow, saved: StatRow | undefined, bounds: readonly Bound[]): string[] {
  const broken: string[] = [];
  for (const { text, stat, operator, amount, kind } of bounds) {
    const now = row.stats[stat];
    const before = saved?.stats[stat];
    if (kind !== "value" && before === undefined) continue;
    const base = before ?? 0;
    const limit = kind === "value" ? amount : kind === "difference" ? base + amount : base * (1 + amount / 100);
    const holds = operator === "<=" ? now <= limit : now >= limit;
    if (!holds) broken.push(`${stat} ${kind === "value" ? "" : `${base} -> `}${now}, budget ${text}`);
  }
  return broken;
}
