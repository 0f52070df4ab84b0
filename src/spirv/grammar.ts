import { invariant } from "../base/index.ts";
import { maskKinds, valueKinds } from "./rows/enumerants.ts";
import { glslStd450Rows } from "./rows/glsl-std-450.ts";
import { instructionRows } from "./rows/instructions.ts";

/** One operand of an instruction or parameter of an enumerant. `pair` holds the second half of a pair. */
export interface OperandRow {
  readonly kind: string;
  readonly pair?: string;
  readonly quantifier: "" | "?" | "*";
  /** `kind` as a number (`OperandCode`), and that of `pair`, -1 without one. */
  readonly code: number;
  readonly pairCode: number;
}

/** Numbers of operand kinds; from `firstEnum` on kinds with enumerants (`enumKindOf`). */
export const OperandCode = {
  type: 0,
  result: 1,
  id: 2,
  word: 3,
  string: 4,
  number: 5,
  specop: 6,
  firstEnum: 7,
} as const;

/** An instruction row as the reader, the validator and the text tools use it. */
export interface InstructionRow {
  readonly opcode: number;
  readonly name: string;
  readonly hasType: boolean;
  readonly hasResult: boolean;
  /** All operands in word order, result type and result included. */
  readonly operands: readonly OperandRow[];
  /** All operands are single words that are always there: the common case, walked without looking at each. */
  readonly plain: boolean;
  /** One of these must be declared; empty: none is needed. */
  readonly capabilities: readonly string[];
  /** `OpType…`. */
  readonly isType: boolean;
  /** `OpConstant…`, `OpSpecConstant…`. */
  readonly isConstant: boolean;
  /** `major << 16 | minor << 8`, as in a module's header; 0: always there. */
  readonly minVersion: number;
}

/** An enumerant row. */
export interface EnumerantRow {
  readonly value: number;
  readonly name: string;
  readonly parameters: readonly OperandRow[];
  readonly capabilities: readonly string[];
  readonly minVersion: number;
}

/** An operand kind with enumerants; `mask` kinds combine bits. */
export interface EnumKind {
  readonly kind: string;
  readonly mask: boolean;
  readonly byValue: ReadonlyMap<number, EnumerantRow>;
  readonly byName: ReadonlyMap<string, EnumerantRow>;
}

type RawRow = readonly [number, string, string?, string?, string?];

const words = (text: string | undefined): readonly string[] => (text ? text.split(" ") : []);

const plainCodes: Readonly<Record<string, number>> = {
  type: OperandCode.type,
  result: OperandCode.result,
  id: OperandCode.id,
  scope: OperandCode.id,
  semantics: OperandCode.id,
  int: OperandCode.word,
  extinst: OperandCode.word,
  string: OperandCode.string,
  number: OperandCode.number,
  specop: OperandCode.specop,
};
const enumCodes = new Map<string, number>();
const enumNames: string[] = [];

function codeOf(kind: string): number {
  const plain = plainCodes[kind];
  if (plain !== undefined) return plain;
  let code = enumCodes.get(kind);
  if (code === undefined) {
    code = OperandCode.firstEnum + enumNames.length;
    enumCodes.set(kind, code);
    enumNames.push(kind);
  }
  return code;
}

/** Rows with the same text share what it parses to: each start of a process makes the whole table. */
const parsedOperands = new Map<string, readonly OperandRow[]>();

function parseOperands(text = ""): readonly OperandRow[] {
  let parsed = parsedOperands.get(text);
  if (parsed === undefined) {
    parsed = words(text).map((word) => {
      const quantifier = word.endsWith("?") ? "?" : word.endsWith("*") ? "*" : "";
      const [kind = "", pair] = (quantifier === "" ? word : word.slice(0, -1)).split("+");
      return pair === undefined
        ? { kind, quantifier, code: codeOf(kind), pairCode: -1 }
        : { kind, pair, quantifier, code: codeOf(kind), pairCode: codeOf(pair) };
    });
    parsedOperands.set(text, parsed);
  }
  return parsed;
}

function parseVersion(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  const [major = "0", minor = "0"] = text.split(".");
  return (Number(major) << 16) | (Number(minor) << 8);
}

const singleWords: ReadonlySet<string> = new Set(["type", "result", "id", "scope", "semantics", "int"]);

/** Above the highest opcode of a row. */
const opcodeLimit = 6656;

/** Rows as they stand; what a row says is taken apart when somebody asks for it, since each start of a process pays for it. */
interface RawRows {
  readonly all: readonly RawRow[];
  readonly byOpcode: readonly (RawRow | undefined)[];
}

let rawRows: RawRows | undefined;

function raw(): RawRows {
  if (rawRows !== undefined) return rawRows;
  const all = instructionRows() as readonly RawRow[];
  const byOpcode: (RawRow | undefined)[] = new Array(opcodeLimit).fill(undefined);
  for (const row of all) {
    invariant(row[0] < opcodeLimit, `opcode ${row[0]} is beyond the tables`);
    byOpcode[row[0]] ??= row;
  }
  rawRows = { all, byOpcode };
  return rawRows;
}

function parseInstruction([opcode, name, operands, capabilities, version]: RawRow): InstructionRow {
  const parsed = parseOperands(operands);
  return {
    opcode,
    name,
    hasType: parsed[0]?.kind === "type",
    hasResult: parsed[0]?.kind === "result" || parsed[1]?.kind === "result",
    operands: parsed,
    plain: parsed.every((o) => o.quantifier === "" && o.pair === undefined && singleWords.has(o.kind)),
    capabilities: words(capabilities),
    isType: name.startsWith("OpType"),
    isConstant: name.startsWith("OpConstant") || name.startsWith("OpSpecConstant"),
    minVersion: parseVersion(version),
  };
}

const byOpcode: (InstructionRow | undefined)[] = new Array(opcodeLimit).fill(undefined);
let allByName: ReadonlyMap<string, InstructionRow> | undefined;

/** Aliases are rows of their own. */
function byName(): ReadonlyMap<string, InstructionRow> {
  const { all, byOpcode: first } = raw();
  allByName ??= new Map(
    all.map((row) => {
      const parsed = first[row[0]] === row ? instructionRow(row[0]) : undefined;
      return [row[1], parsed ?? parseInstruction(row)];
    }),
  );
  return allByName;
}

const kinds = new Map<string, EnumKind>();
type KindRows = Readonly<Record<string, () => readonly RawRow[]>>;

function parseKindOf(kind: string): EnumKind | undefined {
  const masks: KindRows = maskKinds;
  const values: KindRows = valueKinds;
  if (Object.hasOwn(masks, kind)) return parseKind(kind, masks[kind]!(), true);
  return Object.hasOwn(values, kind) ? parseKind(kind, values[kind]!(), false) : undefined;
}

function parseKind(kind: string, rows: readonly RawRow[], mask: boolean): EnumKind {
  const byValue = new Map<number, EnumerantRow>();
  const names = new Map<string, EnumerantRow>();
  for (const [value, name, parameters, capabilities, version] of rows) {
    const row: EnumerantRow = {
      value,
      name,
      parameters: parseOperands(parameters),
      capabilities: words(capabilities),
      minVersion: parseVersion(version),
    };
    names.set(name, row);
    if (!byValue.has(value)) byValue.set(value, row);
  }
  return { kind, mask, byValue, byName: names };
}

interface GlslTables {
  readonly byNumber: ReadonlyMap<number, { readonly name: string; readonly operands: number }>;
  readonly byName: ReadonlyMap<string, number>;
}

let glslTables: GlslTables | undefined;

function glsl(): GlslTables {
  if (glslTables !== undefined) return glslTables;
  const rows = glslStd450Rows();
  glslTables = {
    byNumber: new Map(rows.map(([number, name, operands]) => [number, { name, operands }])),
    byName: new Map(rows.map(([number, name]) => [name, number])),
  };
  return glslTables;
}

/** The row of an opcode, or undefined where the grammar has none. */
export function instructionRow(opcode: number): InstructionRow | undefined {
  const known = byOpcode[opcode];
  if (known !== undefined) return known;
  const unparsed = raw().byOpcode[opcode];
  if (unparsed === undefined) return undefined;
  const row = parseInstruction(unparsed);
  byOpcode[opcode] = row;
  return row;
}

/** The row of `OpName`-style text; aliases are found too. */
export function instructionByName(name: string): InstructionRow | undefined {
  return byName().get(name);
}

let numbersByName: ReadonlyMap<string, number> | undefined;

/** Opcode of an instruction by its full name, aliases too. */
export function opcodeByName(name: string): number | undefined {
  numbersByName ??= new Map(raw().all.map((row) => [row[1], row[0]]));
  return numbersByName.get(name);
}

/** `OpIAdd` for 128; `Op<number>` for an opcode outside the grammar. */
export function opName(opcode: number): string {
  return raw().byOpcode[opcode]?.[1] ?? `Op${opcode}`;
}

/** The operand kind's enumerants, or undefined for ids and literals. */
export function enumKind(kind: string): EnumKind | undefined {
  const known = kinds.get(kind);
  if (known !== undefined) return known;
  const table = parseKindOf(kind);
  if (table !== undefined) kinds.set(kind, table);
  return table;
}

const enumByCode: EnumKind[] = [];

/** The kind with enumerants whose number is `code`. */
export function enumKindOf(code: number): EnumKind {
  const known = enumByCode[code];
  if (known !== undefined) return known;
  const kind = enumKind(enumNames[code - OperandCode.firstEnum]!)!;
  enumByCode[code] = kind;
  return kind;
}

/** A table by opcode; opcodes beyond its end are in no row. */
export function opcodeTable(entries: Iterable<readonly [number, number]>, rest = 0): Uint8Array {
  const table = new Uint8Array(opcodeLimit).fill(rest);
  for (const [opcode, value] of entries) table[opcode] = value;
  return table;
}

/** `Uniform` for ("StorageClass", 2); the number as text for a value outside the table. */
export function enumerantName(kind: string, value: number): string {
  return enumKind(kind)?.byValue.get(value)?.name ?? String(value);
}

/** Name and operand count of a `GLSL.std.450` instruction. */
export function glslInstruction(number: number): { readonly name: string; readonly operands: number } | undefined {
  return glsl().byNumber.get(number);
}

/** Number of a `GLSL.std.450` instruction. */
export function glslInstructionByName(name: string): number | undefined {
  return glsl().byName.get(name);
}

/** Every instruction row, aliases included, by ascending opcode. */
export function allInstructions(): readonly InstructionRow[] {
  return [...byName().values()];
}

/** Every operand kind with its enumerants as [name, value], aliases included. */
export function enumTables(): readonly (readonly [string, readonly (readonly [string, number])[]])[] {
  return [...Object.keys(maskKinds), ...Object.keys(valueKinds)]
    .map((name) => enumKind(name)!)
    .map((kind) => [kind.kind, [...kind.byName.values()].map((row) => [row.name, row.value] as const)]);
}

/** `GLSL.std.450` as [name, number]. */
export function glslStd450Table(): readonly (readonly [string, number])[] {
  return [...glsl().byName];
}
