/** The key of `includes` that a name in `from` means: beside that file first (`local`: in quotes), then as it stands. */
export function includedPath(
  includes: Readonly<Record<string, string>>,
  from: string,
  name: string,
  local: boolean,
): string | undefined {
  const candidates = local ? [normalise(`${from.slice(0, from.lastIndexOf("/") + 1)}${name}`), name] : [name];
  candidates.push(normalise(name));
  return candidates.find((path) => Object.hasOwn(includes, path));
}

/** Takes `.` and `x/..` out of a path. */
function normalise(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  return parts.join("/");
}
