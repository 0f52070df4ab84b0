import { type TierEvent, type TierName, tierEvents } from "./tier.ts";

/** The counters of one tier, out of all counters. */
export function countersOf(
  counters: Readonly<Record<string, number>>,
  tier: TierName,
): Readonly<Record<TierEvent, number>> {
  return Object.fromEntries(tierEvents.map((event) => [event, counters[`tier.${tier}.${event}`] ?? 0])) as Record<
    TierEvent,
    number
  >;
}

/** The counters' names of one tier: made once, since counting is on the way of every hit. */
export function counterNames(tier: TierName): Readonly<Record<TierEvent, string>> {
  return Object.fromEntries(tierEvents.map((event) => [event, `tier.${tier}.${event}`])) as Record<TierEvent, string>;
}
