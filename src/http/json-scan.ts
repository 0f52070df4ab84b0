const [quote, backslash] = [0x22, 0x5c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];
/** No request needs a tenth of it. */
const maxDepth = 64;
/** Below this size brackets alone are parsed in a few milliseconds. */
const smallBytes = 64 << 10;

/** Past the string that begins at `at`; the end where it has none. */
export function skipString(bytes: Buffer, at: number): number {
  for (let end = bytes.indexOf(quote, at + 1); end >= 0; end = bytes.indexOf(quote, end + 1)) {
    let escapes = end;
    while (bytes[escapes - 1] === backslash) escapes--;
    if ((end - escapes) % 2 === 0) return end + 1;
  }
  return bytes.length;
}

/** Whether lists and objects stand in each other deeper than in any request: megabytes of brackets take a parser a second. */
export function isTooDeep(bytes: Buffer): boolean {
  if (bytes.length < smallBytes) return false;
  for (let at = 0, depth = 0; at < bytes.length; ) {
    const byte = bytes[at];
    if (byte === quote) {
      at = skipString(bytes, at);
      continue;
    }
    if (byte === openList || byte === openObject) {
      if (++depth > maxDepth) return true;
    } else if (byte === closeList || byte === closeObject) depth--;
    at++;
  }
  return false;
}
