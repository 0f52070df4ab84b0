/** One token of assembler text. Places count from 1; columns count code points. */
export interface Token {
  /** `word` is anything that is no id, string or `=`: an opcode, enumerant or number. */
  readonly kind: "id" | "string" | "equals" | "word" | "bad";
  /** An id without its `%`, a string without quotes and escapes, else the text itself. */
  readonly text: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

const space = /\s/;
const idText = /^%[A-Za-z0-9_]+$/;

/** Cuts text into tokens. A string may hold line ends; `\` takes the next character as it is; `;` starts a comment. */
export function tokenize(source: string): Token[] {
  const points = Array.from(source);
  const tokens: Token[] = [];
  let line = 1;
  let lineStart = 0;
  let i = 0;
  const newLine = (at: number): void => {
    line++;
    lineStart = at + 1;
  };
  while (i < points.length) {
    const c = points[i]!;
    if (c === "\n") newLine(i++);
    else if (space.test(c)) i++;
    else if (c === ";") while (i < points.length && points[i] !== "\n") i++;
    else {
      const startLine = line;
      const column = i - lineStart + 1;
      const text: string[] = [];
      let kind: Token["kind"] = "word";
      if (c === '"') {
        kind = "bad";
        for (i++; i < points.length; i++) {
          if (points[i] === '"') {
            kind = "string";
            i++;
            break;
          }
          if (points[i] === "\\" && i + 1 < points.length) i++;
          if (points[i] === "\n") newLine(i);
          text.push(points[i]!);
        }
        // a quote that follows directly would belong to the same word
        if (i < points.length && !space.test(points[i]!) && points[i] !== ";") kind = "bad";
      } else {
        while (i < points.length && !space.test(points[i]!) && points[i] !== ";" && points[i] !== '"') {
          text.push(points[i++]!);
        }
        const whole = text.join("");
        if (whole === "=") kind = "equals";
        else if (whole.startsWith("%")) kind = idText.test(whole) ? "id" : "bad";
      }
      const whole = text.join("");
      tokens.push({
        kind,
        text: kind === "id" ? whole.slice(1) : whole,
        line: startLine,
        column,
        endLine: line,
        endColumn: i - lineStart + 1,
      });
    }
  }
  return tokens;
}
