import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { assemble, printModule, readModule } from "../../src/spirv/index.ts";
import { oracle } from "../oracles.ts";
import { each, run } from "./reference.ts";

const usage = "usage: npm run conformance -- assembler --root DIR… [--jobs N]";

/** A text of SPIR-V assembly and where it stands. */
interface Assembly {
  readonly name: string;
  readonly text: string;
}

/** Lines that open a section of assembly in an Amber script and in a VkScript one. */
const amberStart = /^\s*SHADER\s+\S+\s+(\S+)\s+SPIRV-ASM\b/;
const vkScriptStart = /^\[\w+(?: \w+)* shader spirv\]/;

/** The sections of assembly in the text of a script. */
function assemblySections(text: string): string[] {
  const sections: string[] = [];
  let lines: string[] | undefined;
  let end = /^\s*END\s*$/;
  for (const line of text.split(/\r?\n/)) {
    if (lines === undefined) {
      const amber = amberStart.test(line);
      if (!amber && !vkScriptStart.test(line)) continue;
      end = amber ? /^\s*END\s*$/ : /^\[/;
      lines = [];
    } else if (end.test(line)) {
      sections.push(lines.join("\n"));
      lines = vkScriptStart.test(line) ? [] : undefined;
    } else lines.push(line);
  }
  if (lines !== undefined) sections.push(lines.join("\n"));
  return sections;
}

function filesBelow(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesBelow(join(path, name)));
}

/** The words of a module without the generator's number, which each tool writes as its own. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array(new Uint8Array(bytes).buffer);
  words[2] = 0;
  return words;
}

function sameWords(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((word, at) => word === b[at]);
}

/** Our words for a text, or the first message. */
function ours(text: string): Uint32Array | string {
  const result = assemble(text);
  if (!result.ok) return result.diagnostics.map(({ line, message }) => `${line}: ${message}`)[0] ?? "rejected";
  return wordsOf(new Uint8Array(result.words.buffer, result.words.byteOffset, result.words.byteLength));
}

/** Our text of a module, or why there is none. */
function printed(words: Uint32Array): { readonly text: string } | string {
  const module = readModule(words);
  return module.ok ? { text: printModule(module.module) } : `read: ${module.diagnostics[0]?.message}`;
}

/**
 * `--root DIR`: the assembly in each .amber script and .spvasm file below it through our assembler and
 * `spirv-as --preserve-numeric-ids`: the same words, or both reject. Then those modules and each .spv: our text of it, put
 * through both assemblers again, gives the same words. True where nothing differs.
 */
export async function assemblerConformance(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: { root: { type: "string", multiple: true }, jobs: { type: "string", default: "2" } },
  });
  const roots = values.root ?? [];
  if (roots.length === 0) {
    console.error(usage);
    return false;
  }
  if (oracle("spirv-as") === undefined) {
    console.error("spirv-as is not installed");
    return false;
  }
  const texts: Assembly[] = [];
  const modules: { readonly name: string; readonly words: Uint32Array }[] = [];
  for (const root of roots) {
    for (const file of filesBelow(root)) {
      const name = relative(root, file);
      if (file.endsWith(".spv")) modules.push({ name, words: wordsOf(readFileSync(file)) });
      else if (file.endsWith(".spvasm")) texts.push({ name, text: readFileSync(file, "utf8") });
      else if (file.endsWith(".amber")) {
        const sections = assemblySections(readFileSync(file, "utf8"));
        for (const [at, text] of sections.entries()) texts.push({ name: `${name}#${at + 1}`, text });
      }
    }
  }
  const folder = mkdtempSync(join(tmpdir(), "kiln-assembler-"));
  let serial = 0;
  const theirs = async (text: string): Promise<Uint32Array | string> => {
    const [source, out] = [join(folder, `${serial}.spvasm`), join(folder, `${serial++}.spv`)];
    writeFileSync(source, text);
    const command = ["--target-env", "spv1.6", "--preserve-numeric-ids", "-o", out, source];
    const { status, output } = await run("spirv-as", command);
    const words = status === 0 ? wordsOf(readFileSync(out)) : output.trim();
    rmSync(source);
    rmSync(out, { force: true });
    return words;
  };
  const differences: string[] = [];
  const counts = { same: 0, rejected: 0, again: 0 };
  try {
    await each(texts, Number(values.jobs), async ({ name, text }) => {
      const [own, other] = [ours(text), await theirs(text)];
      if (typeof own === "string" && typeof other === "string") counts.rejected++;
      else if (typeof own === "string") differences.push(`${name}: we reject: ${own}`);
      else if (typeof other === "string") differences.push(`${name}: spirv-as rejects: ${other}`);
      else if (!sameWords(own, other)) differences.push(`${name}: other words`);
      else {
        counts.same++;
        modules.push({ name, words: own });
      }
    });
    await each(modules, Number(values.jobs), async ({ name, words }) => {
      const text = printed(words);
      if (typeof text === "string") {
        differences.push(`${name}: ${text}`);
        return;
      }
      // both assemblers write version 1.6, and no id above the highest used: the rest must be the module's
      const wanted = Uint32Array.from(words);
      wanted[1] = 0x10600;
      for (const [tool, again] of [
        ["ours", ours(text.text)],
        ["spirv-as", await theirs(text.text)],
      ] as const) {
        if (typeof again === "string") differences.push(`${name}: our text, ${tool}: ${again}`);
        else if (
          !sameWords(again.subarray(0, 3), wanted.subarray(0, 3)) ||
          !sameWords(again.subarray(4), wanted.subarray(4))
        )
          differences.push(`${name}: our text, ${tool}: other words`);
      }
      counts.again++;
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const difference of differences.sort()) console.log(difference);
  console.log(`${texts.length} texts: ${counts.same} with the words of spirv-as, ${counts.rejected} rejected by both`);
  console.log(`${counts.again} modules printed and assembled again; ${differences.length} differences`);
  return differences.length === 0 && counts.again > 0;
}
