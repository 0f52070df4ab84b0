/** A comment line of a shader that belongs to the script around it. */
const marker = /^\s*\/\/\s*amber:(.*)$/;

/** A script made of a shader's comments. */
export interface CommentScript {
  readonly text: string;
  /** The shader file's line of a line of the script, both from 1; 0 stays 0. */
  lineOf(line: number): number;
}

/**
 * The script that a GLSL compute shader carries in comments `// amber: …`: the shader itself is `shader`, of type compute,
 * and the marked lines follow it. Undefined where none is marked.
 */
export function scriptFromComments(source: string): CommentScript | undefined {
  const lines = source.split(/\r?\n/);
  const marked = lines.flatMap((line, i) => {
    const found = marker.exec(line);
    return found === null ? [] : [{ text: found[1] ?? "", line: i + 1 }];
  });
  if (marked.length === 0) return undefined;
  const head = ["#!amber", "SHADER compute shader GLSL"];
  const text = [...head, ...lines, "END", ...marked.map((row) => row.text), ""].join("\n");
  const shaderEnd = head.length + lines.length;
  return {
    text,
    lineOf(line) {
      if (line <= head.length) return Math.min(line, 1);
      if (line <= shaderEnd) return line - head.length;
      return marked[Math.min(line - shaderEnd - 2, marked.length - 1)]?.line ?? 1;
    },
  };
}
