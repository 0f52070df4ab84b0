const swizzleSets: readonly string[] = ["xyzw", "rgba", "stpq"];
/** The swizzles that were asked for: there are no more than a thousand. */
const swizzles = new Map<string, readonly number[]>();

/** Component numbers that one to four letters of one set name; undefined for any other word. */
export function swizzleComponents(name: string): readonly number[] | undefined {
  const known = swizzles.get(name);
  if (known !== undefined) return known;
  const set = swizzleSets.find((letters) => letters.includes(name[0] ?? "?"));
  const components = [...name].map((letter) => set?.indexOf(letter) ?? -1);
  if (components.length > 4 || components.includes(-1)) return undefined;
  swizzles.set(name, components);
  return components;
}
