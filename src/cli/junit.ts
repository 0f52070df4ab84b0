/** Text for XML. */
export function xml(text: string): string {
  const named: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };
  // XML has no way to write the other control characters
  return text.replace(/[<>&"]/g, (c) => named[c] ?? c).replace(/[^\t\n\r -\ud7ff\ue000-\ufffd]/g, "?");
}
