import { encode, type Parts } from "./encode.ts";
import { type ParsedLine, parseInstruction } from "./parse-instruction.ts";
import { AssemblyError, parseInteger } from "./parse-operands.ts";
import { type Op, opsByMnemonic } from "./table.ts";

/** A mistake in assembler text; lines count from 1. */
export interface AssemblyMistake {
  readonly line: number;
  readonly message: string;
}

export type Assembly =
  | { readonly ok: true; readonly words: Uint32Array; readonly labels: ReadonlyMap<string, number> }
  | { readonly ok: false; readonly mistakes: readonly AssemblyMistake[] };

interface Statement {
  readonly line: number;
  readonly mnemonic: string;
  readonly operands: readonly string[];
  readonly modifiers: ReadonlyMap<string, string | true>;
}

/**
 * Assembles text in llvm's syntax: one instruction a line, `label:`, `.long N`, comments after `;` or `//`.
 * A mnemonic without `_e32` or `_e64` takes the short form where it fits. DPP and SDWA text is not read.
 * `labels` gives byte offsets. All mistakes of the text come together.
 */
export function assemble(source: string): Assembly {
  const mistakes: AssemblyMistake[] = [];
  const labels = new Map<string, number>();
  const placed: { statement: Statement; at: number }[] = [];
  let at = 0;
  // A branch's length does not depend on its target, so one pass gives all addresses.
  source.split("\n").forEach((raw, index) => {
    attempt(mistakes, index + 1, () => {
      let text = raw.replace(/(;|\/\/).*$/, "").trim();
      const label = /^([A-Za-z_.$][\w.$]*):\s*(.*)$/.exec(text);
      if (label !== null) {
        if (labels.has(label[1]!)) throw new AssemblyError(`label ${label[1]} stands twice`);
        labels.set(label[1]!, at * 4);
        text = label[2]!;
      }
      if (text === "") return;
      const statement = split(text, index + 1);
      placed.push({ statement, at });
      at += translate(statement, () => 0).length;
    });
  });
  const words = new Uint32Array(at);
  if (mistakes.length > 0) return { ok: false, mistakes };
  for (const { statement, at: start } of placed) {
    attempt(mistakes, statement.line, () => {
      const length = translate(statement, () => 0).length;
      const branch = (name: string) => {
        const target = labels.get(name);
        return target === undefined ? undefined : target / 4 - (start + length);
      };
      words.set(translate(statement, branch), start);
    });
  }
  return mistakes.length > 0 ? { ok: false, mistakes } : { ok: true, words, labels };
}

function attempt(mistakes: AssemblyMistake[], line: number, action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof AssemblyError)) throw error;
    mistakes.push({ line, message: error.message });
  }
}

function translate(statement: Statement, branch: ParsedLine["branch"]): readonly number[] {
  const { mnemonic, operands, modifiers } = statement;
  if (mnemonic === ".long") return operands.map(longValue);
  const candidates = [mnemonic, `${mnemonic}_e32`, `${mnemonic}_e64`].flatMap((m): Op[] => {
    const op = opsByMnemonic().get(m);
    return op === undefined ? [] : [op];
  });
  if (candidates.length === 0) throw new AssemblyError(`unknown instruction ${mnemonic}`);
  let failure: AssemblyError | undefined;
  for (const op of candidates) {
    let parts: Parts;
    try {
      parts = parseInstruction(op, { operands, modifiers, branch });
    } catch (error) {
      if (!(error instanceof AssemblyError)) throw error;
      failure = error;
      continue;
    }
    return encode(parts);
  }
  throw failure!;
}

function longValue(text: string): number {
  const value = parseInteger(text);
  if (value === undefined || value < -0x8000_0000 || value > 0xffff_ffff)
    throw new AssemblyError(`${text} is no 32-bit number`);
  return value >>> 0;
}

/** Splits at commas outside brackets; behind the last operand stand the modifiers. */
function split(text: string, line: number): Statement {
  const space = text.search(/\s/);
  const mnemonic = space < 0 ? text : text.slice(0, space);
  const rest = space < 0 ? "" : text.slice(space).trim();
  const modifiers = new Map<string, string | true>();
  if (mnemonic === "s_waitcnt") return { line, mnemonic, operands: [rest], modifiers };
  const operands: string[] = [];
  // An export's target stands in front of its first source without a comma.
  const list = mnemonic === "exp" ? rest.replace(/^(\w+)\s+/, "$1, ") : rest;
  for (const part of splitOutside(list, ",")) {
    const words = splitOutside(part, " ").filter((w) => w !== "");
    words.forEach((word, i) => {
      const modifier = /^([a-z_0-9]+):(.+)$/.exec(word);
      if (modifier !== null) modifiers.set(modifier[1]!, modifier[2]!);
      else if (i === 0 && !switches.has(word)) operands.push(word);
      else modifiers.set(word, true);
    });
  }
  return { line, mnemonic, operands, modifiers };
}

const switches: ReadonlySet<string> = new Set(["glc", "slc", "dlc", "gds", "lds", "tfe", "offen", "idxen", "clamp"]);

function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const c of text) {
    if (c === "(" || c === "[") depth++;
    if (c === ")" || c === "]") depth--;
    if (depth === 0 && (c === separator || (separator === " " && c === "\t"))) {
      parts.push(part.trim());
      part = "";
    } else part += c;
  }
  if (part.trim() !== "") parts.push(part.trim());
  return parts;
}
