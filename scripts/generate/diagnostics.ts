/** Writes `docs/diagnostics.md` and what `/docs` shows of it: every code of every folder, those of the GLSL front end with the smallest mistake. */
import type { CodeRow } from "../../src/base/index.ts";
import { compileCodes } from "../../src/compile/index.ts";
import { coreCodes } from "../../src/core/index.ts";
import { glslCodes } from "../../src/glsl/index.ts";
import { httpCodes } from "../../src/http/codes.ts";
import { serviceCodes } from "../../src/service/codes.ts";
import { spirvCodes } from "../../src/spirv/index.ts";
import { type Mistake, mistakes, unmark } from "../../test/glsl/mistakes.ts";
import type { GeneratedFile } from "../generate.ts";

const intro = `# Diagnostics

<!-- Generated from the code tables by \`npm run generate\`. -->

Each message has a code that stays the same from version to version, and a place: \`file:line:column: error: message [CODE]\`.
Lines and columns count from 1, columns in Unicode code points. Words in braces are filled in. \`notes\` name other places: a
previous declaration, the candidates of a call.

`;

const tables: readonly (readonly [title: string, about: string, codes: Readonly<Record<string, CodeRow>>])[] = [
  ["SPIR-V", "The reader, the assembler and the validator.", spirvCodes],
  ["Compile", "What a request as a whole may lack.", compileCodes],
  ["Core", "What the compiler may answer instead of code.", coreCodes],
  ["Service", "Queues, limits and workers.", serviceCodes],
  ["HTTP", "Requests as such.", httpCodes],
];

const people = { caller: "the request", host: "the machine", bug: "Kiln" } as const;

/** A row's text on one line of a table. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

function example({ source, stage = "compute", dialect, targetEnv, includes = {}, long }: Mistake): string {
  if (long === true) return "";
  const files = Object.entries(includes).map(([name, text]) => `\n\`${name}\`:\n\n${block(text)}`);
  const how = [`a ${stage} shader`, dialect === "relaxed" ? "relaxed dialect" : undefined, targetEnv];
  return `\nIn ${how.filter((part) => part !== undefined).join(", ")}:\n\n${block(source)}${files.join("")}`;
}

/** A text with the marked range pointed at on a line of its own. */
function block(marked: string): string {
  const { text, range } = unmark(marked);
  const lines = text.trimEnd().split("\n");
  if (range !== undefined) {
    const [line = 1, column = 1, endLine = line, endColumn = column] = range;
    const width = endLine === line ? Math.max(1, endColumn - column) : lines[line - 1]!.length - column + 1;
    lines.splice(line, 0, `${" ".repeat(column - 1)}${"^".repeat(width)}`);
  }
  return `\`\`\`glsl\n${lines.join("\n")}\n\`\`\`\n`;
}

function glslSection(): string {
  const sections = mistakes.map((mistake) => {
    const row: CodeRow | undefined = Object.hasOwn(glslCodes, mistake.code)
      ? glslCodes[mistake.code as keyof typeof glslCodes]
      : undefined;
    const severity = mistake.warning ? "warning" : "error";
    return `### ${mistake.code}\n\n${severity}: ${row?.text.replaceAll("<", "&lt;") ?? ""}\n${example(mistake)}`;
  });
  return `## GLSL\n\n${sections.join("\n")}`;
}

function table([title, about, codes]: (typeof tables)[number]): string {
  const rows = Object.entries(codes).map(
    ([code, { status, blame, text }]) => `| \`${code}\` | ${status} | ${people[blame]} | ${cell(text)} |`,
  );
  return `## ${title}\n\n${about}\n\n| code | status | at fault | message |\n| --- | --- | --- | --- |\n${rows.join("\n")}\n`;
}

/** The codes that diagnostics carry, a row each, as text of a module that is loaded with the document alone. */
function servedTable(): string {
  const all: Readonly<Record<string, CodeRow>> = { ...glslCodes, ...spirvCodes, ...compileCodes, ...coreCodes };
  const rows = Object.entries(all).map(([code, { text }]) => `| ${code} | ${cell(text).replace(/\{\w+\}/g, "…")} |`);
  const escaped = ["| code | message |", "| --- | --- |", ...rows].join("\n").replace(/[`\\]|\$\{/g, "\\$&");
  return `/** Generated from the code tables by \`npm run generate\`: the codes of diagnostics, as Markdown. */
export const diagnosticTable = \`${escaped}\`;
`;
}

export function generate(): readonly GeneratedFile[] {
  return [
    { path: "docs/diagnostics.md", text: `${intro}${glslSection()}\n${tables.map(table).join("\n")}` },
    { path: "src/http/diagnostic-table.ts", text: servedTable() },
  ];
}
