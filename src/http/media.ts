/** The weight that an `Accept`-like header gives one name; wildcards count. 0 where it is refused or not named. */
function weightOf(header: string, name: string): number {
  const [type = ""] = name.split("/");
  let [weight, exactness] = [0, -1];
  for (const part of header.split(",")) {
    const [range = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const exact = [`*/*`, "*", `${type}/*`, name].indexOf(range);
    if (exact <= exactness) continue;
    const q = parameters.find((text) => text.startsWith("q="))?.slice(2);
    exactness = exact;
    weight = q === undefined ? 1 : Math.min(1, Math.max(0, Number(q) || 0));
  }
  return weight;
}

/** True where the caller prefers this media type to JSON. */
export function wants(accept: string | undefined, type: string): boolean {
  return accept !== undefined && weightOf(accept, type) > weightOf(accept, "application/json");
}

/** The first of the encodings that the caller takes most gladly; undefined for none. */
export function encodingFor(header: string | undefined, encodings: readonly string[]): string | undefined {
  if (header === undefined) return undefined;
  let [best, weight]: [string | undefined, number] = [undefined, 0];
  for (const name of encodings) {
    const own = weightOf(header, name);
    if (own > weight) [best, weight] = [name, own];
  }
  return best;
}
